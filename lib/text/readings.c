#include "text/readings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "text/bytes.h"

struct own { size_t rank; const struct attn_added_token *token; };
struct reading { const char *s; size_t len; };

struct attn_readings {
    const struct attn_vocab *vocab;
    struct own *own; size_t owns;       /* for the added tokens, by rank */
    pthread_mutex_t lock;               /* guards what follows */
    bool made;
    struct reading *table;              /* by rank */
    char *pool;
};

/* ---- added tokens ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void list_own(struct attn_readings *r, const struct attn_added *a)
{
    for (size_t i = 0; i < a->n; i++)
        r->own[r->owns++] = (struct own){attn_vocab_rank(r->vocab, a->token[i].id), &a->token[i]};
}

/* NULL: it is not an added token. */
static const struct attn_added_token *find_own(const struct attn_readings *r, size_t rank)
{
    const struct own *o = bsearch(&(struct own){.rank = rank}, r->own, r->owns, sizeof *o, compare);
    return o ? o->token : NULL;
}

/* ---- one token ------------------------------------------------------------------------- */

size_t attn_readings_room(const struct attn_readings *r, size_t rank)
{
    const struct attn_added_token *own = find_own(r, rank);
    size_t len;
    attn_vocab_at(r->vocab, rank, &len);
    return own ? own->len : len;        /* the spelling of a byte takes at least one byte */
}

size_t attn_readings_spell(const struct attn_readings *r, size_t rank, char *out)
{
    const struct attn_added_token *own = find_own(r, rank);
    size_t len, n;
    if (own) {
        memcpy(out, own->text, own->len);
        return own->len;
    }
    const char *word = attn_vocab_at(r->vocab, rank, &len);
    n = attn_bytes_read(out, word, len);
    if (n != SIZE_MAX)
        return n;
    memcpy(out, word, len);
    return len;
}

/* ---- all of them ----------------------------------------------------------------------- */

static void make(struct attn_readings *r)
{
    char *at = r->pool;
    for (size_t i = 0; i < attn_vocab_size(r->vocab); i++) {
        size_t n = attn_readings_spell(r, i, at);
        r->table[i] = (struct reading){at, n};
        at[n] = '\0';
        at += n + 1;
    }
}

const char *attn_readings_at(struct attn_readings *r, size_t rank, size_t *len)
{
    pthread_mutex_lock(&r->lock);
    if (!r->made)
        make(r);
    r->made = true;
    pthread_mutex_unlock(&r->lock);
    *len = r->table[rank].len;
    return r->table[rank].s;
}

struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_added added[2])
{
    size_t n = attn_vocab_size(v), bytes = attn_vocab_bytes(v);
    struct attn_readings *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->vocab = v;
    pthread_mutex_init(&r->lock, NULL);
    r->own = malloc((added[0].n + added[1].n + 1) * sizeof *r->own);
    r->table = malloc((n + 1) * sizeof *r->table);
    if (r->own && r->table) {
        list_own(r, &added[0]);
        list_own(r, &added[1]);
        qsort(r->own, r->owns, sizeof *r->own, compare);
        for (size_t i = 0; i < r->owns; i++)
            bytes += r->own[i].token->len + 1;
        r->pool = malloc(bytes + 1);
    }
    if (r->pool)
        return r;
    attn_readings_free(r);
    return NULL;
}

void attn_readings_free(struct attn_readings *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r->own);
    free(r->table);
    free(r->pool);
    free(r);
}

/* readings.c - how each token of a vocabulary reads. */
#include "text/readings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "text/added.h"

struct own { size_t rank; const struct attn_added_token *token; };

struct attn_readings {
    const struct attn_vocab *vocab;
    const struct attn_decoder *decoder;
    struct own *own; size_t owns;       /* for the added tokens, by rank */
    pthread_mutex_t lock;               /* guards what follows */
    bool made;
    struct attn_slice *table;              /* by rank */
    char *pool;
};

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

const struct attn_added_token *attn_readings_own(const struct attn_readings *r, size_t rank)
{
    const struct own *o = bsearch(&(struct own){.rank = rank}, r->own, r->owns, sizeof *o, compare);
    return o ? o->token : NULL;
}

size_t attn_readings_room(const struct attn_readings *r, size_t rank)
{
    const struct attn_added_token *own = attn_readings_own(r, rank);
    size_t len;
    attn_vocab_at(r->vocab, rank, &len);
    return own ? own->len : attn_decoder_room(r->decoder, len);
}

size_t attn_readings_spell(const struct attn_readings *r, size_t rank, char *out)
{
    const struct attn_added_token *own = attn_readings_own(r, rank);
    size_t len;
    if (own) {
        memcpy(out, own->text, own->len);
        return own->len;
    }
    const char *word = attn_vocab_at(r->vocab, rank, &len);
    return attn_decoder_read(r->decoder, word, len, out);
}

static void make(struct attn_readings *r)
{
    char *at = r->pool;
    for (size_t i = 0; i < attn_vocab_size(r->vocab); i++) {
        size_t n = attn_readings_spell(r, i, at);
        r->table[i] = (struct attn_slice){at, n};
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

struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_decoder *d, const struct attn_added *added)
{
    size_t n = attn_vocab_size(v), bytes = attn_decoder_room(d, attn_vocab_bytes(v));
    struct attn_readings *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->vocab = v;
    r->decoder = d;
    pthread_mutex_init(&r->lock, NULL);
    r->own = malloc(((added ? added[0].n + added[1].n : 0) + 1) * sizeof *r->own);
    r->table = malloc((n + 1) * sizeof *r->table);
    if (r->own && r->table) {
        for (size_t k = 0; added && k < 2; k++)
            list_own(r, &added[k]);
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

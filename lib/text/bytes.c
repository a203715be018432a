#include "text/bytes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/subword.h"

/* The bytes that are not spelled by the character with their number lie in three ranges. */
enum { BLANKS = 0x21, HIGH = 0x7F, HIGH_END = 0xA1, HYPHEN = 0xAD, FIRST = 0x100,
       FIRST_HIGH = FIRST + BLANKS, FIRST_HYPHEN = FIRST_HIGH + HIGH_END - HIGH };

size_t attn_bytes_spell(char out[4], unsigned char byte)
{
    uint32_t c = byte;
    if (byte < BLANKS)
        c = FIRST + c;
    else if (byte >= HIGH && byte < HIGH_END)
        c = FIRST_HIGH + (c - HIGH);
    else if (byte == HYPHEN)
        c = FIRST_HYPHEN;
    return attn_utf8_put(out, c);
}

/* The byte that a character spells; -1 if it spells none. */
static int byte_of(uint32_t c)
{
    if (c >= FIRST)
        return c < FIRST_HIGH ? (int)(c - FIRST) : c < FIRST_HYPHEN ? (int)(c - FIRST_HIGH + HIGH) :
               c == FIRST_HYPHEN ? HYPHEN : -1;
    return c < BLANKS || (c >= HIGH && c < HIGH_END) || c == HYPHEN ? -1 : (int)c;
}

size_t attn_bytes_read(char *out, const char *s, size_t len)
{
    size_t n = 0, step;
    for (size_t at = 0; at < len; at += step) {
        unsigned char first = (unsigned char)s[at];
        step = 1;
        int byte = first >= BLANKS && first < HIGH ? first : byte_of(attn_utf8_next(s + at, len - at, &step));
        if (byte < 0)
            return SIZE_MAX;
        out[n++] = (char)byte;
    }
    return n;
}

/* ---- readings -------------------------------------------------------------------------- */

struct own { size_t rank; const struct attn_added_token *token; };

struct attn_readings {
    const struct attn_vocab *vocab;
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

/* NULL: it is not an added token. */
static const struct attn_added_token *find_own(const struct attn_readings *r, size_t rank)
{
    const struct own *o = bsearch(&(struct own){.rank = rank}, r->own, r->owns, sizeof *o, compare);
    return o ? o->token : NULL;
}

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

struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_added *added)
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

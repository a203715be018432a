/* attention.h - what one head does with a band of queries.
 *
 *     dots    = q k'                      [rows, keys]
 *     scores  = dots * scale, -inf where hidden; some models add a number for each key, or bound scores softly
 *     pattern = softmax(scores)           each row sums to 1, exactly 0 where hidden
 *     context = pattern v                 [rows, dv]
 *
 * A band is some rows of queries against all the keys they may see.  Its dots become scores and then
 * the pattern in place, in a scratch of rows x keys numbers, so memory is linear in the length of the
 * sentence.  Loop bounds leave out the keys that no row of the band may see: they cost nothing.  Scores
 * that nobody looks at are not written: the softmax scales the dots while it reads them.
 *
 * A product takes several rows up to the last key that any of them sees; rows that do not see it have
 * weight 0 there.  So the division into bands changes no bit of a context, except the sign of a zero,
 * as long as values are finite.  But 0 times NaN or infinity is NaN: whoever owns padding must clear it.
 *
 * attention.c takes these steps for all kinds except those with a method of their own: sparse.c, online.c, linear.c. */
#ifndef ATTN_COMPUTE_ATTENTION_H
#define ATTN_COMPUTE_ATTENTION_H

#include "compute/mask.h"

/* The definition of causal attention of one head (scaled_dot_product.c), which the tests compare with: no bands, no
 * SIMD.  q[Tq, dh], k[Tk, dh], v[Tk, dv]; query t is at position pos + t and sees the keys up to there.  Results:
 * pattern[Tq, Tk], context[Tq, dv]. */
void attn_attention_plain(float *context, float *pattern, const float *q, const float *k, const float *v, size_t Tq,
                          size_t Tk, size_t dh, size_t dv, size_t pos, float scale);

/* ---- keys and values of one head, in the layout that products read fastest (keys_values.c) ----
 *
 * Keys are transposed, 64 to a panel, [panels, dh, 64]: a product computes the dots with 64 keys side by side,
 * each one chain over dh.  Values are rows, [n, ldv].  Columns of a panel that have no key yet are undefined, and
 * so are up to 64 numbers behind the last value: products read them and throw the results away. */

struct attn_keys {
    float *k, *v; size_t dh, dv, ldv;
    const float *rows; size_t ldk;      /* the same keys as rows, ldk apart; NULL: there are only panels */
};

/* How many floats n keys and values take, in whole cache lines; SIZE_MAX: more than can be counted. */
size_t attn_keys_size(size_t n, size_t dh, size_t dv);
/* Lays out n keys and values at `at`, where attn_keys_size floats are. */
struct attn_keys attn_keys_in(float *at, size_t n, size_t dh, size_t dv);

/* Puts n keys, from number `first` on, from rows of dh numbers, ld apart; likewise values. */
void attn_keys_put(const struct attn_keys *to, size_t first, const float *k, size_t ld, size_t n);
void attn_values_put(const struct attn_keys *to, size_t first, const float *v, size_t ld, size_t n);

/* Gets keys back: one as a row of dh numbers; the n listed ones (at most 64) as a panel. */
void attn_keys_row(float *to, const struct attn_keys *from, size_t at);
void attn_keys_gather(float *to, const struct attn_keys *from, const size_t *list, size_t n);

/* ---- the steps ---- */

/* What some methods need of a worker besides its band: numbers, and two lists with room for every position. */
struct attn_method_scratch { float *x; size_t *list, *swaps; };

struct attn_head {                      /* one head of one sentence */
    struct attn_keys keys;              /* at least the first attn_band_keys of them */
    float *context; size_t ldc;         /* [Tq, dv] */
    size_t Tq, Tk, dh, dv;
    size_t pos;                         /* position of the first query */
    float scale;
    const float *bias;                  /* [Tk] added to the scores of each key; NULL: nothing */
    float cap;                          /* then scores become cap * tanh(score / cap); 0: they do not */
    struct attn_kind kind;
    struct attn_head_drop drop;
    const uint8_t *mask;                /* ATTN_MASKED: [Tq, Tk] */
    struct attn_method_scratch scratch;
    bool shown;                         /* an observer sees m: fill all Tk columns */
    bool shown_dots;                    /* an observer sees the dots, which are not masked: compute all of them */
    bool edited;                        /* an observer may have unmasked a key: read all Tk columns */
    bool scored;                        /* the scores step is done; else the softmax reads dots and scales them */
};

enum { ATTN_BAND = 48 };                /* most rows of a band: whole tiles of the product */

/* q: the queries row0 .. row0 + rows.  m[rows, ld] is their scratch; ld is at least Tk, rounded up to whole panels. */
struct attn_band { size_t row0, rows; const float *q; size_t ldq; float *m; size_t ld; };

/* Rows that something is wrong with: how many, and the first. */
struct attn_row_count { size_t rows, first; };
static inline void attn_count_row(struct attn_row_count *c, size_t row)
{
    if (c->rows++ == 0)
        c->first = row;
}

/* empty: rows that see nothing, or whose weights were all rounded to 0; they become all zeros.  nonfinite: rows with
 * a dot, scaled or not, that is inf or NaN before any mask or edit; their results are what IEEE says. */
struct attn_found { struct attn_row_count empty, nonfinite; };

/* How many keys and values, from the first on, the steps of a band read. */
size_t attn_band_keys(const struct attn_head *h, const struct attn_band *b);
/* Whether the softmax can do the scaling, so that the scores step is needed only if an observer wants scores. */
bool attn_head_scales(const struct attn_head *h);

/* Turns n dots with the keys in `list`, or from `first` on if that is NULL, into scores in place. */
void attn_head_score_dots(const struct attn_head *h, float *dots, const size_t *list, size_t first, size_t n);

void attn_band_dots(const struct attn_head *h, const struct attn_band *b);
void attn_band_scores(const struct attn_head *h, const struct attn_band *b);
struct attn_found attn_band_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_band_context(const struct attn_head *h, const struct attn_band *b);

/* ---- parts of these steps that the other methods share ---- */

struct attn_range attn_head_seen(const struct attn_head *h, size_t t);      /* bounds of the keys that query t sees */
/* n scores of query t, or dots if they are not `scored`, the first `hidden` of which are not seen. */
struct attn_softmax {
    float *row;
    size_t hidden, n, t;
    bool empty;                         /* a result: the query sees nothing, and the row becomes zeros */
};
enum { ATTN_TOGETHER = 4 };             /* most rows that take each step of the softmax in turn: 2 to 8 are as fast */
/* The softmax of at most so many rows, in place.  Adds to those found rows with dots that are not finite; empty ones
 * are the caller's. */
void attn_head_softmax(const struct attn_head *h, struct attn_softmax *s, size_t rows, struct attn_found *found);
/* y[rows, dv] (+)= weights [rows, K] v[K, dv].  Columns are taken in whole panels, beyond dv where need be: y and v
 * must go on as far. */
void attn_head_mix(const struct attn_head *h, float *y, size_t ldy, const float *weights, size_t ld, size_t rows,
                   const float *v, size_t ldv, size_t K, bool more);

/* ---- the methods ---- */

/* Steps, in their order. */
enum { ATTN_DOTS = 1, ATTN_SCORES = 2, ATTN_PATTERN = 4, ATTN_CONTEXT = 8 };

struct attn_heads;
struct attn_team;

struct attn_method {                    /* a step that a method does not have is NULL */
    void (*dots)(const struct attn_head *h, const struct attn_band *b);
    void (*scores)(const struct attn_head *h, const struct attn_band *b);
    struct attn_found (*pattern)(const struct attn_head *h, const struct attn_band *b);
    void (*context)(const struct attn_head *h, const struct attn_band *b);
    /* contexts from queries in one step */
    struct attn_found (*rows)(const struct attn_head *h, const struct attn_band *b);
    unsigned steps;                     /* steps that contexts need; the others are for observers only */
    unsigned keys, values;              /* steps that read panels of keys; steps that read values */
    /* Puts what the method has in place of keys, of n keys from number `first` on, into `to`; NULL: the keys
     * themselves.  `one` is scratch for one key. */
    void (*put)(const struct attn_keys *to, size_t first, const struct attn_keys *from, size_t n, float *one);
    size_t (*scratch)(size_t keys, size_t dh, size_t dv);       /* floats of attn_method_scratch.x; NULL: none */
    /* Computes the contexts of all queries of all sentences, not from bands. */
    void (*run)(struct attn_heads *a, struct attn_team *team);
};

extern const struct attn_method
    attn_dense,                         /* attention.c: rows of all keys between bounds, for every kind but linear */
    attn_sparse, attn_sparse_shown,     /* sparse.c: each row gathers the keys it sees; the same, shown to observers */
    attn_online,                        /* online.c: a block of keys at a time */
    attn_linear, attn_linear_shown;     /* linear.c: sums over keys; the same by way of the pattern */

/* How many columns the band of an online softmax needs for Tk keys. */
size_t attn_online_columns(size_t block, size_t Tk);
/* How many floats the sums of linear attention, which take the place of cached keys, need for one key/value head. */
size_t attn_linear_size(size_t dh, size_t dv);

#endif

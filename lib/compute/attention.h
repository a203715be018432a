/* attention.h - what one head does with a band of queries.
 *
 *     dots    = q k'                      [rows, keys]
 *     scores  = dots * scale, -inf where hidden
 *     pattern = softmax(scores)           each row sums to 1, exactly 0 where hidden
 *     context = pattern v                 [rows, dv]
 *
 * A band is some rows of queries against all the keys they may see, worked on in place in a scratch
 * of rows x keys numbers, so memory is linear in the length of the text.  Keys that no row of the
 * band may see cost nothing: they are left out by loop bounds.  Scores that nobody looks at are
 * scaled while the softmax reads them.
 *
 * Rows that a product takes together go to the last key that one of them sees, and the others weigh
 * it 0.  So which rows make a band changes no bit while values are finite, but for the sign of a
 * zero; weights of 0 do not hide a value that is not: whoever owns padding clears it. */
#ifndef ATTN_COMPUTE_ATTENTION_H
#define ATTN_COMPUTE_ATTENTION_H

#include "compute/drop.h"
#include "compute/keys.h"
#include "compute/kind.h"

/* Room of a thread that some kinds need besides (way.h). */
struct attn_spare { float *x; size_t *list, *swaps; };

struct attn_head {
    struct attn_keys keys;              /* as many as attn_band_keys says, at least */
    float *context; size_t ldc;         /* [Tq, dv] */
    size_t Tq, Tk, dh, dv;
    size_t pos;                         /* of the first query */
    float scale;
    struct attn_kind kind;
    struct attn_head_drop drop;
    const uint8_t *mask;                /* ATTN_MASKED: [Tq, Tk] */
    struct attn_spare spare;
    bool shown;                         /* somebody looks at m: fill it to Tk columns */
    bool shown_dots;                    /* at the dots, which are not masked: compute them all */
    bool edited;                        /* somebody may have unmasked a key: read all Tk columns */
    bool scored;                        /* the scores step comes before the pattern's */
};

enum { ATTN_BAND = 48 };                /* rows in a band, at most: whole tiles of the product */

/* q: the queries row0 .. row0 + rows.  m[rows, ld] is their scratch, ld at least Tk in whole panels. */
struct attn_band { size_t row0, rows; const float *q; size_t ldq; float *m; size_t ld; };

/* Rows that see nothing, or whose weights were all rounded to 0: they are all zeros. */
struct attn_empty { size_t rows, first; };
void attn_empty_add(struct attn_empty *e, size_t row);

/* Keys and values are read up to this one. */
size_t attn_band_keys(const struct attn_head *h, const struct attn_band *b);
/* Whether the scores step may be left out where nobody looks at scores. */
bool attn_head_scales(const struct attn_head *h);

void attn_band_dots(const struct attn_head *h, const struct attn_band *b);
void attn_band_scores(const struct attn_head *h, const struct attn_band *b);
struct attn_empty attn_band_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_band_context(const struct attn_head *h, const struct attn_band *b);

/* What of these steps other kinds do alike. */

struct attn_range attn_head_seen(const struct attn_head *h, size_t t);      /* bounds of the keys that query t sees */
/* One row of n scores, or of dots, in place; false: it sees nothing and is all zeros. */
bool attn_head_softmax(const struct attn_head *h, float *row, size_t n);
/* y[rows, dv] (+)= weights [rows, K] v[K, dv], the values `ldv` apart; of y and v whole panels are written and read. */
void attn_head_mix(const struct attn_head *h, float *y, size_t ldy, const float *weights, size_t ld, size_t rows,
                   const float *v, size_t ldv, size_t K, bool more);
#endif

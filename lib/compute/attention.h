/* attention.h - what one head does with a band of queries.
 *
 *     dots    = q k'                      [rows, keys]
 *     scores  = dots * scale, -inf where hidden
 *     pattern = softmax(scores)           each row sums to 1, exactly 0 where hidden
 *     context = pattern v                 [rows, dv]
 *
 * A band is some rows of queries against all the keys they may see, worked on in place in a scratch
 * of rows x keys numbers, so memory is linear in the length of the text.  Keys that no row of the
 * band may see cost nothing: they are left out by loop bounds.  Which rows make a band never
 * changes a bit.  Scores that nobody looks at are scaled while the softmax reads them. */
#ifndef ATTN_COMPUTE_ATTENTION_H
#define ATTN_COMPUTE_ATTENTION_H

#include "compute/keys.h"

#include "attn.h"

struct attn_head {
    const float *q; size_t ldq;         /* [Tq, dh] */
    struct attn_keys keys;              /* as many as attn_band_keys says, at least */
    float *context; size_t ldc;         /* [Tq, dv] */
    size_t Tq, Tk, dh, dv;
    size_t pos;                         /* causal: query t sees keys 0 .. pos + t */
    size_t window;                      /* causal: of these only the last so many; 0: all */
    float scale;
    enum attn_masking masking;
    const uint8_t *mask;                /* ATTN_MASKED: [Tq, Tk] */
    bool shown;                         /* somebody looks at m: fill it to Tk columns */
    bool shown_dots;                    /* at the dots, which are not masked: compute them all */
    bool edited;                        /* somebody may have unmasked a key: read all Tk columns */
    bool scored;                        /* attn_band_scores comes before attn_band_pattern */
};

enum { ATTN_BAND = 48 };                /* rows in a band, at most: whole tiles of the product */

/* m[rows, ld] is the scratch of queries row0 .. row0 + rows, ld a multiple of 64 of at least Tk. */
struct attn_band { size_t row0, rows; float *m; size_t ld; };

/* What query t may see: lo <= key < hi, of which an arbitrary mask hides some besides. */
void attn_head_sees(const struct attn_head *h, size_t t, size_t *lo, size_t *hi);
/* Keys and values are read up to this one. */
size_t attn_band_keys(const struct attn_head *h, const struct attn_band *b);
/* Whether attn_band_scores may be left out where nobody looks at scores. */
bool attn_head_scales(const struct attn_head *h);

void attn_band_dots(const struct attn_head *h, const struct attn_band *b);
void attn_band_scores(const struct attn_head *h, const struct attn_band *b);
/* Returns how many rows see nothing: they are all zeros. */
size_t attn_band_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_band_context(const struct attn_head *h, const struct attn_band *b);

#endif

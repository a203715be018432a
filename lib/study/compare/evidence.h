/* evidence.h - the form of a difference between two arrays.
 *
 * Each function asks one question about the numbers of two sides, a and b, and knows nothing of files, names or
 * wording (causes.c).  A hypothesis makes one side from the other; its gap is the root mean square of the remaining
 * difference divided by that of b.  It explains a difference if its gap is at most a tenth of the original one and
 * not above what rounding causes. */
#ifndef ATTN_EVIDENCE_H
#define ATTN_EVIDENCE_H

#include "attn.h"

/* Both sides of one activation: element (h, t, j) is a[h * ld_head + t * ld + j]. */
struct attn_pair { const float *a, *b; size_t H, T, n, ld_head, ld; };

struct attn_pair attn_pair_of(const float *a, const float *b, size_t H, size_t T, size_t n);    /* [H,T,n] */
/* Whether the numbers of both lie in the same way. */
static inline bool attn_pair_alike(const struct attn_pair *x, const struct attn_pair *y)
{
    return x->H == y->H && x->T == y->T && x->n == y->n && x->ld == y->ld && x->ld_head == y->ld_head;
}
/* Takes p, [T, H * n] with heads side by side, as H heads of [T, n]. */
struct attn_pair attn_pair_split(const struct attn_pair *p, size_t H);

/* The gap over numbers that are finite on both sides; infinite if some number is finite on only one. */
double attn_gap(const float *a, const float *b, size_t n);
double attn_pair_gap(const struct attn_pair *p);
bool attn_gap_explained(double after, double before);

/* Counts the numbers that are NaN on one side only; reports the side with more of them, and where its first one is. */
struct attn_nans { size_t n, h, t, j; bool of_a; };
struct attn_nans attn_count_nans(const struct attn_pair *p);
/* Whether one side is the other rounded to 16 bits, except for the few numbers that rounding in float32 moves. type:
 * "bf16", "float16" or NULL. */
struct attn_stored { const char *type; bool a_is; double rtol; };
float attn_round_bf16(float x);
/* To 11 significant bits, fewer below 2^-14.  Numbers too large are returned unchanged instead of as infinity. */
float attn_round_f16(float x);
struct attn_stored attn_seems_stored(const struct attn_pair *p);

/* ---- general forms of a difference ---- */

bool attn_seems_scaled(const struct attn_pair *p, double *factor);          /* a = factor * b */
/* Each head is compared with each, and a dump may say that it has more than any model: those are not compared. */
enum { ATTN_HEADS_TRIED = 1024 };
/* Head h of a is head map[h] of b, and at least one has moved; map has H entries. */
bool attn_seems_reordered(const struct attn_pair *p, size_t *map);
bool attn_seems_offset(const struct attn_pair *p);                          /* a - b is the same in every row */
bool attn_seems_merged_wrong(const struct attn_pair *p, bool *a_is_wrong);  /* [T,n,H] where [T,H,n] should be */
bool attn_seems_shuffled(const struct attn_pair *p);                        /* rows have the same numbers, reordered */
bool attn_seems_sum(const struct attn_pair *p, const float *term, double *sign);    /* a = b + sign * term */
/* Row t of a is row t + by of b, with at least two such rows. */
bool attn_seems_later(const struct attn_pair *p, const float *a, const float *b, size_t *by);
/* Row t of a is row t + 1 of b, except for the last one; true also if only b has the additional row. */
bool attn_seems_late(const float *a, size_t Ta, const float *b, size_t Tb, size_t n);

/* ---- the stream and its ends (evidence_stream.c) ---- */

/* a = factor * b + an offset of each column */
bool attn_seems_stretched(const struct attn_pair *p, double *factor);
/* One side is cap * tanh(the other / cap). */
bool attn_seems_capped(const struct attn_pair *p, double *cap, bool *a_is);
/* How often, 0, 1 or 2 times, x is made of each of some terms, all [T, n]; NULL: there is no such term.  Of sums that
 * explain x as well, the one of the fewest terms; false: none does. */
enum { ATTN_SUM_TERMS = 8 };
bool attn_fit_sum(int *times, double *gap, const float *x, const float *const *term, size_t terms, size_t T, size_t n);
double attn_fit_sum_gap(const int *times, const float *x, const float *const *term, size_t terms, size_t T, size_t n);
/* The gap of logits [T, V] of tokens whose ids these are to the products of x and the tokens' embedding, both [T, n],
 * times the factor that fits best. */
double attn_fit_tied(const float *logits, size_t V, const float *x, const float *embed, const int32_t *id, size_t T,
                     size_t n);

/* ---- attention ---- */

enum attn_mask_kind { ATTN_MASK_SAME, ATTN_MASK_NUMBER, ATTN_MASK_FUTURE, ATTN_MASK_PAST, ATTN_MASK_OTHER };
struct attn_mask_found {
    enum attn_mask_kind kind;
    bool a_hides;                       /* a hides what b shows */
    float number;                       /* ATTN_MASK_NUMBER: what is used instead of -inf */
    size_t window;                      /* ATTN_MASK_PAST: number of keys that stay visible, in every row */
    size_t hidden[2], q, k;             /* how many keys a hides and b shows, and b hides and a shows; the first one */
};
/* A key is hidden if its score is -inf or very negative, or if its pattern is exactly 0. */
struct attn_mask_found attn_seems_masked(const struct attn_pair *p, bool pattern);
bool attn_seems_tempered(const struct attn_pair *p, double *factor);        /* a = softmax(factor * scores of b) */
bool attn_seems_wrong_axis(const float *x, const struct attn_pair *shape);  /* columns sum to 1, rows do not */
bool attn_seems_flipped(const struct attn_pair *p);                         /* a[h][i][j] = b[h][j][i] */

/* Row 0 of the stacked heads of q, k and v: [3 * H, dh] on each side. */
enum attn_restacking { ATTN_STACK_OTHER, ATTN_STACK_A_INTERLEAVED, ATTN_STACK_B_INTERLEAVED, ATTN_STACK_NUMBERS };
bool attn_seems_restacked(const float *a, const float *b, size_t H, size_t dh, enum attn_restacking *as);

/* ---- attention, from what it is computed from (evidence_attention.c) ---- */

/* Scores as cap * tanh(scale * dot / cap), cap INFINITY: scale * dot; both have the form of p. */
struct attn_score_fit { double scale, cap, gap; };
struct attn_score_fit attn_fit_scores(const struct attn_pair *p, const float *scores, const float *dots);
/* The gap under a given cap; sets the scale that fits best. */
double attn_scores_gap(const struct attn_pair *p, const float *scores, const float *dots, double *scale, double cap);
/* Scores as scale * dot + slope[h] * key, up to a number for each row.  plain: the gap without slopes. */
struct attn_slopes_fit { double scale, gap, plain; };
struct attn_slopes_fit attn_fit_score_slopes(double *slope, const struct attn_pair *p, const float *scores,
                                             const float *dots);
/* One side hides from each query its own key, and no other that the other side shows. */
bool attn_seems_blind_to_itself(const struct attn_pair *p, bool pattern, bool *a_is);
bool attn_seems_hidden_by_zero(const struct attn_pair *p, bool *a_is);      /* scores of 0 where -inf should be */
bool attn_seems_over_heads(const struct attn_pair *p, const float *x);      /* heads sum to 1, rows do not */
double attn_row_sum(const float *x, size_t n);
/* The rows of one side are the other's times numbers below 1, so that they do not add up to 1. */
bool attn_seems_short_of_one(const struct attn_pair *p, bool *a_is);
/* ... by what the softmax of all scale * dots gives to keys that are hidden. */
bool attn_seems_hidden_late(const struct attn_pair *p, bool a_is, const float *dots, double scale);
/* Some numbers of one side, at random, are 0 and the others 1 / (1 - rate) times the other side's. */
bool attn_seems_dropped(const struct attn_pair *p, bool *a_is, double *rate);
bool attn_seems_unswapped(const struct attn_pair *p, bool *a_is);           /* [H,T,n] read as if it were [T,H,n] */
bool attn_seems_by_number(const struct attn_pair *p, bool *a_is);           /* row 0: heads take every H-th number */
/* Dots from queries and keys, or context from pattern and values, of one side each; x: the result, as heads. */
struct attn_grouped { const struct attn_pair *x, *from, *kv; const float *x_x, *from_x, *kv_x; };
/* tiled: head h reads h % Hkv; else h / (H / Hkv). */
double attn_grouped_dots_gap(const struct attn_grouped *g, bool tiled);
double attn_grouped_context_gap(const struct attn_grouped *g, bool tiled);
/* Row t of one side is row t + by of the other; by is at least 2. */
bool attn_seems_ahead(const struct attn_pair *p, size_t *by, bool *a_is);

/* ---- rotary positions (evidence_model.c) ---- */

enum attn_pairing { ATTN_UNROTATED, ATTN_HALVES, ATTN_ADJACENT };
struct attn_rotation {
    enum attn_pairing pairing;
    double theta;
    size_t r; long start;               /* how many numbers of a head are rotated; the position of row 0 */
    const double *inv_freq;             /* [r/2] radians from each position to the next; NULL: theta^(-2i/r) */
    double attention_factor;            /* what is rotated is multiplied by it; 0: it is not */
    bool backwards;                     /* by angles of the other sign */
    size_t first;                       /* the number of a head from which on r are rotated */
};
/* Whether both sides come from the same numbers, by two rotations that differ in one respect.  theta is the
 * model's; 0: unknown. */
bool attn_seems_rotated(const struct attn_pair *p, double theta, struct attn_rotation *a, struct attn_rotation *b);
/* Whether one side is rotated as `right` is and the other as one of n others, which is reported. */
bool attn_seems_misrotated(const struct attn_pair *p, const struct attn_rotation *right,
                           const struct attn_rotation *other,
                           size_t n, size_t *which, bool *a_is_other);
/* Radians by which each pair of x is ahead of that of y from each row to the next: [r/2].  y is packed as by
 * attn_rotate_back.  Returns by what x is longer. */
double attn_rope_measure(double *inv_freq, const float *x, const float *y, const struct attn_pair *shape,
                         const struct attn_rotation *as);
/* Whether both are rotated alike, from numbers whose difference is the same in every row. */
bool attn_seems_rotated_offset(const struct attn_pair *p, double theta);
/* Undoes the rotation of x; y is packed [H,T,dh]. */
void attn_rotate_back(float *y, const float *x, const struct attn_pair *shape, const struct attn_rotation *by);

/* ---- norms (evidence_model.c) ---- */

enum attn_norm_form { ATTN_FIT_LAYER, ATTN_FIT_RMS, ATTN_FIT_KINDS };
struct attn_norm_fit { enum attn_norm_form kind; double eps, gap; };        /* gap: what no weight and bias explain */
/* Finds the norm that best makes y from x, both [T, n]; false: too few rows to tell. */
bool attn_fit_norm(struct attn_norm_fit *out, const float *x, const float *y, size_t T, size_t n);
/* The largest epsilon and the smallest that fit about as well: many do where it is small beside the variance; least 0:
 * any smaller one does. */
struct attn_eps_range { double least, most; };
struct attn_eps_range attn_fit_norm_range(const struct attn_norm_fit *best, const float *x, const float *y, size_t T,
                                          size_t n);
/* The root mean square of the weights that fit. */
double attn_fit_norm_gain(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n);
double attn_fit_norm_gap(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n);

/* ---- activation functions ---- */

enum attn_bend { ATTN_BEND_GELU, ATTN_BEND_GELU_NEW, ATTN_BEND_QUICK, ATTN_BEND_SILU, ATTN_BEND_RELU, ATTN_BENDS };
/* Finds the function with post = bend(pre) * linear, where linear may be NULL.  ATTN_BENDS: none of them. */
enum attn_bend attn_fit_bend(const float *post, const float *pre, const float *linear, size_t n);

#endif

#include "compare/reading.h"

#include <string.h>

/* What the shape of one array may mean.  H 0: heads side by side, and nobody knows how many; w is the width of all. */
struct form { size_t H, T, w; bool rows_first; };
enum { FORMS = 3 };

bool attn_reads_heads(int act)
{
    return act == ATTN_ACT_Q || act == ATTN_ACT_K || act == ATTN_ACT_V || act == ATTN_ACT_CONTEXT ||
           act == ATTN_ACT_RESULT;
}

bool attn_reading_ours(int act) { return act == ATTN_ACT_CONTEXT; }

bool attn_reading_swaps(const struct attn_heads_reading *r)
{
    return r->rows_first[0] != r->rows_first[1] && r->H > 1 && r->T > 1;
}

static size_t forms(struct form out[FORMS], const struct attn_array *x)
{
    size_t n = 0;
    for (int axes = 3; axes >= 2; axes--) {
        int lead = x->ndim - axes;
        bool ones = lead >= 0;
        for (int i = 0; i < lead; i++)
            ones &= x->shape[i] == 1;
        if (!ones)
            continue;
        const size_t *s = x->shape + lead;
        if (axes == 3) {
            out[n++] = (struct form){s[0], s[1], s[2], false};
            out[n++] = (struct form){s[1], s[0], s[2], true};
        } else {
            out[n++] = (struct form){0, s[0], s[1], true};
        }
    }
    return n;
}

static bool agree(struct attn_heads_reading *out, const struct form *a, const struct form *b)
{
    size_t all_a = a->H ? a->H * a->w : a->w, all_b = b->H ? b->H * b->w : b->w, H = a->H ? a->H : b->H ? b->H : 1;
    *out = (struct attn_heads_reading){H, a->T, all_a / H, {a->rows_first, b->rows_first}};
    return a->T == b->T && all_a == all_b && (!a->H || !b->H || a->H == b->H);
}

/* How well a reading fits what is known otherwise.  Where names say nothing, B is the reference. */
static int score(const struct form *a, const struct form *b, const bool rows_first[2], size_t tokens)
{
    return 4 * (tokens && a->T == tokens) + 2 * (!b->H || b->rows_first == rows_first[1]) +
           (!a->H || a->rows_first == rows_first[0]);
}

size_t attn_readings(struct attn_heads_reading out[ATTN_READINGS], const struct attn_array *a,
                     const struct attn_array *b, int act, const bool rows_first[2], size_t tokens)
{
    struct form fa[FORMS], fb[FORMS];
    struct attn_heads_reading best[2], r;
    int points[2] = {-1, -1};
    if (!attn_reads_heads(act) || a->n != b->n || !a->n)
        return 0;
    size_t na = forms(fa, a), nb = forms(fb, b);
    for (size_t i = 0; i < na * nb; i++) {
        const struct form *x = &fa[i / nb], *y = &fb[i % nb];
        if (!agree(&r, x, y))
            continue;
        bool swaps = attn_reading_swaps(&r);
        int reached = score(x, y, rows_first, tokens);
        if (reached > points[swaps]) {
            points[swaps] = reached;
            best[swaps] = r;
        }
    }
    bool swapped_first = points[1] > points[0];
    size_t n = 0;
    for (int k = 0; k < 2; k++)
        if (points[k ^ swapped_first] >= 0)
            out[n++] = best[k ^ swapped_first];
    return n;
}

bool attn_reading_moves(const struct attn_heads_reading *r, int side, bool rows_first)
{
    return r->rows_first[side] != rows_first && r->H > 1 && r->T > 1;
}

void attn_reading_move(float *out, const float *x, const struct attn_heads_reading *r, int side)
{
    size_t outer = r->rows_first[side] ? r->T : r->H, inner = r->rows_first[side] ? r->H : r->T;
    for (size_t i = 0; i < outer; i++)
        for (size_t k = 0; k < inner; k++)
            memcpy(out + (k * outer + i) * r->w, x + (i * inner + k) * r->w, r->w * sizeof *out);
}

struct attn_pair attn_reading_pair(const struct attn_heads_reading *r, int act, const float *a, const float *b)
{
    return attn_reading_ours(act) ? attn_pair_of(a, b, 1, r->T, r->H * r->w) : attn_pair_of(a, b, r->H, r->T, r->w);
}

void attn_reading_place(size_t at[3], const struct attn_heads_reading *r, int act, bool rows_first)
{
    size_t h = at[rows_first], t = at[!rows_first], j = at[2];
    bool side_by_side = attn_reading_ours(act);
    at[0] = side_by_side ? 0 : h;
    at[1] = t;
    at[2] = side_by_side ? h * r->w + j : j;
}

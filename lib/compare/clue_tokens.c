/* clue_tokens.c - causes that show before any number is compared: other tokens, other shapes. */
#include "compare/clue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether y's tokens are those of x from `skip` on. */
static bool follows(const struct attn_dump *x, const struct attn_dump *y, size_t skip)
{
    for (size_t i = 0; i < y->tokens.n; i++)
        if (i + skip >= x->tokens.n || x->tokens.item[i + skip].id != y->tokens.item[i].id)
            return false;
    return y->tokens.n > 0;
}

static bool one_more(struct clue *c, const struct attn_dump *more, const struct attn_dump *fewer, bool a)
{
    if (more->tokens.n != fewer->tokens.n + 1 || !follows(more, fewer, 1))
        return false;
    return attn_clue_say(c, "%c has one more token in front: id %" PRId32 "; a beginning-of-sequence token (BOS) was added on one "
                         "side only", attn_clue_side(a), more->tokens.item[0].id);
}

bool attn_clue_bos(struct clue *c)
{
    return one_more(c, c->d->a, c->d->b, true) || one_more(c, c->d->b, c->d->a, false);
}

/* Without lists of tokens: looks whether the rows of a [T,n] array are shifted by one. */
bool attn_clue_bos_by_rows(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    const struct attn_dumped *x = attn_dump_find(c->d->a, c->row->name), *y = attn_dump_find(c->d->b, c->row->name);
    if (c->p.H || !x || !y || c->row->ndim[0] != 2 || c->row->ndim[1] != 2 || a[1] != b[1])
        return false;
    bool more_a = a[0] == b[0] + 1 && !attn_gap(x->of.data + a[1], y->of.data, y->of.n);
    bool more_b = b[0] == a[0] + 1 && !attn_gap(x->of.data, y->of.data + a[1], x->of.n);
    return (more_a || more_b) && attn_clue_say(c, "%c has one more row in front and is otherwise the same: a beginning-of-sequence "
                                               "token (BOS) was added on one side only", attn_clue_side(more_a));
}

bool attn_clue_tokens(struct clue *c)
{
    const struct attn_dump *a = c->d->a, *b = c->d->b;
    size_t n = a->tokens.n < b->tokens.n ? a->tokens.n : b->tokens.n, i = 0;
    while (i < n && a->tokens.item[i].id == b->tokens.item[i].id)
        i++;
    if (!n || (i == n && a->tokens.n == b->tokens.n))
        return false;
    if (i == n)
        return attn_clue_say(c, "A has %zu tokens, B %zu: the shorter list is the beginning of the longer", a->tokens.n, b->tokens.n);
    return attn_clue_say(c, "the sides ran on different tokens: token %zu has id %" PRId32 " in A and %" PRId32 " in B", i,
                         a->tokens.item[i].id, b->tokens.item[i].id);
}

static int descending(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

bool attn_clue_axes(struct clue *c)
{
    size_t a[8], b[8];
    if (c->p.H || c->row->ndim[0] != c->row->ndim[1])
        return false;
    memcpy(a, c->row->shape[0], sizeof a);
    memcpy(b, c->row->shape[1], sizeof b);
    qsort(a, 8, sizeof *a, descending);
    qsort(b, 8, sizeof *b, descending);
    return !memcmp(a, b, sizeof a) && memcmp(c->row->shape[0], c->row->shape[1], sizeof a) != 0 &&
           attn_clue_say(c, "the same axes in another order: one side is transposed");
}

/* One side has [T, heads * width] where the other has [heads, T, width], as all of our own arrays have. */
bool attn_clue_flat_heads(struct clue *c)
{
    for (int side = 0; side < 2; side++) {
        const size_t *flat = c->row->shape[side], *ours = c->row->shape[!side];
        if (c->row->ndim[side] == 2 && c->row->ndim[!side] == 3 && flat[0] == ours[1] && flat[1] == ours[0] * ours[2])
            return attn_clue_say(c, "%c has heads side by side, [tokens, heads * width], and %c apart: reshape %c to [%zu,%zu,%zu] and swap its "
                                 "first two axes", attn_clue_side(!side), attn_clue_side(side), attn_clue_side(!side), flat[0], ours[0], ours[2]);
    }
    return false;
}

/* Whether the shapes are the same except for the number of tokens. */
bool attn_clue_length(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    int ndim = c->row->ndim[0], token = ndim - 2;
    if (c->p.H || ndim != c->row->ndim[1] || ndim < 2 || a[token] == b[token])
        return false;
    bool square = ndim == 3 && a[2] == a[1] && b[2] == b[1];
    if ((ndim == 3 && a[0] != b[0]) || (a[ndim - 1] != b[ndim - 1] && !square))
        return false;
    return attn_clue_say(c, "A has %zu tokens, B has %zu", a[token], b[token]);
}

#include "compute/way.h"

#include "compute/linear.h"
#include "compute/online.h"
#include "compute/sparse.h"

enum { ALL = ATTN_DOTS | ATTN_SCORES | ATTN_PATTERN | ATTN_CONTEXT };

/* Rows of all keys between the bounds: every kind but linear can be computed so. */
static const struct attn_way dense = {
    attn_band_dots, attn_band_scores, attn_band_pattern, attn_band_context, .steps = ALL, .keys = ATTN_DOTS, .values = ATTN_CONTEXT};
static const struct attn_way sparse = {.rows = attn_sparse_rows, .steps = ATTN_CONTEXT, .values = ATTN_CONTEXT};
static const struct attn_way sparse_shown = {
    attn_band_dots, attn_band_scores, attn_sparse_pattern, attn_sparse_context, .steps = ALL, .keys = ATTN_DOTS,
    .values = ATTN_CONTEXT};
static const struct attn_way online = {
    attn_band_dots, attn_band_scores, attn_band_pattern, .rows = attn_online_rows, .steps = ATTN_CONTEXT,
    .keys = ATTN_DOTS | ATTN_CONTEXT, .values = ATTN_CONTEXT};
static const struct attn_way linear = {
    attn_linear_dots, .pattern = attn_linear_pattern, .keys = ATTN_DOTS, .features = true, .apart = true};
static const struct attn_way linear_by_pattern = {
    attn_linear_dots, .pattern = attn_linear_pattern, .context = attn_band_context,
    .steps = ATTN_DOTS | ATTN_PATTERN | ATTN_CONTEXT, .keys = ATTN_DOTS, .values = ATTN_CONTEXT, .features = true};

const struct attn_way *attn_way_of(const struct attn_head *h)
{
    bool changed = h->edited || h->kind.dropout > 0;
    switch (h->kind.form) {
    case ATTN_STRIDED:
    case ATTN_RANDOM: return h->edited ? &dense : h->shown ? &sparse_shown : &sparse;
    case ATTN_BLOCK:  return changed ? &dense : &online;
    case ATTN_LINEAR: return changed ? &linear_by_pattern : &linear;
    default:          return &dense;
    }
}

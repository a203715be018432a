/* worksheet.h - a derivation with gaps, to be filled with pencil and paper. */
#ifndef ATTN_EXPLAIN_WORKSHEET_H
#define ATTN_EXPLAIN_WORKSHEET_H

#include "explain/derivation.h"

struct attn_worksheet_opts { size_t gaps; uint64_t seed; bool answers; };      /* answers: filled in and marked */
/* Fails if fewer numbers than that can be computed from those that are printed. */
int attn_worksheet_make(struct attn_derivation *d, const struct attn_worksheet_opts *o, struct attn_err *err);

#endif

/* select.h - which activations, layers and heads somebody asked for.
 *
 * The list is names ("blocks.0.attn.pattern"), globs ("blocks.*.attn.*") and short names
 * ("pattern": in every layer), commas between; "tokens" is the token table, "*" everything.  Layers
 * and heads are like 0,2-4.  Heads are query heads: of k and v the heads that serve them, once.
 * Names and globs may lack leading components: "attn.out", "mlp.*".  A plain name must mean one
 * activation ("out" could be two) and one the model has; of a glob, what the model has counts. */
#ifndef ATTN_TRACE_SELECT_H
#define ATTN_TRACE_SELECT_H

#include "trace/names.h"

/* The public constructor attn_select_new calls this.  `model` is for messages. */
int attn_select_make(struct attn_select **out, const struct attn_stage *stage, const char *model, const char *show,
                     const char *layers, const char *heads, struct attn_err *err);

bool attn_select_wants(const struct attn_select *s, int act, int layer);
bool attn_select_tokens(const struct attn_select *s);               /* the token table was named */
/* The kept heads of an activation, ascending; *n is 0 without a head axis.  Lives as long as s. */
const size_t *attn_select_heads(const struct attn_select *s, int act, size_t *n);
/* How many activations, and how many matrices (one a kept head) they make; the token table counts as neither. */
size_t attn_select_activations(const struct attn_select *s);
size_t attn_select_matrices(const struct attn_select *s);
/* Several of dots, scores and pattern are wanted of one layer: their bands come interleaved, so who
 * writes one stream must ask for them whole. */
bool attn_select_interleaved(const struct attn_select *s, int layer);

/* The lists as they were given; layers and heads NULL: all. */
struct attn_asked { const char *show, *layers, *heads; };
struct attn_asked attn_select_asked(const struct attn_select *s);

/* keep[n]: which of n layers or heads (`noun`) a list like 0,2-4 names; text NULL: all.  For messages: they are those
 * of the `owner` ("model", "dump") called `name`. */
struct attn_spec { const char *option, *noun, *text; size_t n; const char *owner, *name; };
int attn_spec_parse(bool *keep, const struct attn_spec *spec, struct attn_err *err);

#endif

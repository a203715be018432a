/* select.h - which activations, layers and heads to show.
 *
 * The list of activations has names ("blocks.0.attn.pattern"), globs ("blocks.*.attn.*") and short names
 * ("pattern": in every layer), separated by commas; "tokens" is the token table, "*" everything but what is derived.
 * A place goes before a name (L3H0.pattern, L0-2.mlp.out) or stands for itself: L3H0 is the pattern of a head, L3
 * pattern and context of a layer.  Lists of layers and heads are those of spec.h.  Heads are query heads; of k and v,
 * the heads that serve these are shown, each once.  Names and globs may lack leading components: "attn.out", "mlp.*".
 * A plain name must mean one activation ("out" could be two) that the model has; a glob selects those that the model
 * has, at least one.  Names of TransformerLens and Hugging Face mean ours (hooks.h). */
#ifndef ATTN_TRACE_SELECT_H
#define ATTN_TRACE_SELECT_H

#include "trace/trace.h"

/* The public constructor, attn_select_new, calls this.  `model` is the model's name, for messages. */
int attn_select_make(struct attn_select **out, const struct attn_hook_points *hooks, const char *model,
                     const char *show, const char *layers, const char *heads, struct attn_err *err);

bool attn_select_tokens(const struct attn_select *s);               /* the token table was named */
/* The selected heads of an activation of a layer, ascending; *n is 0 without a head axis.  Lives as long as s. */
const size_t *attn_select_heads(const struct attn_select *s, int act, int layer, size_t *n);
/* How many activations are selected, and how many matrices they have, one for each selected head.  The table of tokens
 * does not count. */
size_t attn_select_activations(const struct attn_select *s);
size_t attn_select_matrices(const struct attn_select *s);
/* Whether several are selected whose bands alternate in a layer (attn_act_alternates), so that a sink that
 * writes one stream must ask for whole activations. */
bool attn_select_interleaved(const struct attn_select *s, int layer);

/* The lists as they were given; layers and heads NULL: all. */
struct attn_asked { const char *show, *layers, *heads; };
struct attn_asked attn_select_asked(const struct attn_select *s);

#endif

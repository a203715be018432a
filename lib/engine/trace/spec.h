/* spec.h - lists of layers and heads, and places that begin with them.
 *
 *     0,2-4      counted from 0         -1, last   the last; -2 is the one before it         all, *   every one
 *     L3H0       head 0 of layer 3      L0-2H*     each head of the first three layers       L-1      the last layer */
#ifndef ATTN_TRACE_SPEC_H
#define ATTN_TRACE_SPEC_H

#include "attn.h"

/* Sets keep[n] to which of n layers or heads (`noun`) a list names; text NULL: all.  For messages, `option` is where
 * the list was given, `owner` ("model", "dump") and `name` say whose layers or heads they are. */
struct attn_spec { const char *option, *noun, *text; size_t n; const char *owner, *name; };
int attn_spec_parse(bool *keep, const struct attn_spec *spec, struct attn_err *err);

/* The lists after L and H; heads NULL: there is no H. */
struct attn_spec_place { const char *layers, *heads; size_t n_layers, n_heads; };
/* How long the place is that the text begins with; 0: it begins with none. */
size_t attn_spec_place(struct attn_spec_place *out, const char *text);
/* Reads --layer and --head, either NULL where it was not given; --head may be a place, which has its layers in it. */
int attn_spec_both(bool *keep_layer, bool *keep_head, const struct attn_spec *layers, const struct attn_spec *heads,
                   struct attn_err *err);
/* The same where one head is asked for, the first of the first layer if nothing is: a set is refused. */
int attn_spec_one(size_t *layer, size_t *head, const struct attn_spec *layers, const struct attn_spec *heads,
                  struct attn_err *err);

#endif

/* names.h - the activations a decoder announces, their names and shapes: one table.
 *
 * The names are public: scripts select by them and files are named after them.  Activations outside the
 * blocks have one name ("logits"); those inside have "blocks.N." before it ("blocks.0.attn.pattern"). */
#ifndef ATTN_TRACE_NAMES_H
#define ATTN_TRACE_NAMES_H

#include "attn.h"

enum { ATTN_NAME_MAX = 48 };            /* "blocks.18446744073709551615.attn.pattern" fits */

/* Which activations a model announces. */
struct attn_stage { size_t L, H, Hkv; bool has[ATTN_ACTS]; };

/* "blocks.0.attn.pattern" for (ATTN_ACT_PATTERN, 0), "logits" for (ATTN_ACT_LOGITS, -1). */
void attn_act_name(char buf[ATTN_NAME_MAX], int act, int layer);
/* The activation and layer of a name; -1: it is not one of ours.  *layer is -1 outside the blocks. */
int attn_act_find(const char *name, int *layer);
const char *attn_act_tail(int act);     /* "attn.pattern": without the block */
const char *attn_act_short(int act);    /* "pattern" */
const char *attn_act_title(int act);    /* "attention pattern" */
const char *attn_act_axes(int act);     /* " (rows: queries, columns: keys)"; "" where there is nothing to say */
bool attn_act_per_layer(int act);
size_t attn_act_heads(const struct attn_stage *s, int act);         /* how many heads it has; 0: no head axis */
bool attn_act_kv(int act);              /* its heads are key/value heads */
bool attn_act_square(int act);          /* its columns are keys: dots, scores, pattern */
/* The shape of the whole activation for T tokens that look at Tk keys, [T,n] or [H,T,n]; returns how many axes. */
int attn_act_shape(size_t shape[3], const struct attn_info *m, int act, size_t T, size_t Tk);

/* Whether the glob matches the name: `*` matches any characters, dots included, `?` any single one. */
bool attn_glob(const char *glob, size_t len, const char *name);
/* Whether the glob matches the whole name of the activation or, for any layer, its last components: "attn.pattern",
 * "pattern". */
bool attn_act_match(const char *glob, size_t len, int act, int layer);

#endif

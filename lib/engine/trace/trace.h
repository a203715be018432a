/* trace.h - the activations a decoder announces, and those who observe them.
 *
 * Names, titles and shapes are one table.  The names are public: scripts select by them and files are named after them.
 * Activations outside the blocks have one name ("logits"); those inside have "blocks.N." before it
 * ("blocks.0.attn.pattern").
 *
 * The forward pass announces bands of named activations and does not care who observes them.  When a run is planned,
 * each observer is asked once what it wants.  attn_trace_announce runs all edits in the order given and then all
 * watchers, so that these record what the next step reads.  The first failure of an observer stays in the trace, like
 * the error of a FILE, and ends all announcements; run.c checks for it after each block. */
#ifndef ATTN_TRACE_TRACE_H
#define ATTN_TRACE_TRACE_H

#include "attn.h"

enum { ATTN_NAME_MAX = 48 };            /* "blocks.18446744073709551615.attn.pattern" fits */

/* Which part a model must have for it to announce an activation; MLP_APART: both. */
enum attn_act_needs { ATTN_NEEDS_ANY, ATTN_NEEDS_POSITIONS, ATTN_NEEDS_NORM1, ATTN_NEEDS_OUT, ATTN_NEEDS_APART,
                      ATTN_NEEDS_MLP, ATTN_NEEDS_MID, ATTN_NEEDS_NORM2, ATTN_NEEDS_GATE, ATTN_NEEDS_MLP_APART,
                      ATTN_NEEDS_FINAL, ATTN_NEEDS_UNEMBED };
enum attn_act_needs attn_act_needs(int act);

/* Which activations a model announces, and which of them other libraries keep in another state: queries and keys before
 * rotation, norms or clipping; embeddings before their factor; logits before theirs. */
struct attn_hook_points { size_t L, H, Hkv; bool has[ATTN_ACTS], turned, embed_scaled, logits_scaled; };

/* "blocks.0.attn.pattern" for (ATTN_ACT_PATTERN, 0), "logits" for (ATTN_ACT_LOGITS, -1). */
void attn_act_name(char buf[ATTN_NAME_MAX], int act, int layer);
const char *attn_act_tail(int act);     /* "attn.pattern": without the block */
/* The tail of the activation before number `end` that a mistyped tail or short name probably means; NULL if none is
 * close to it. */
const char *attn_act_nearest(const char *typed, int end);
/* Whether a word that others use means this name, as "attentions" means pattern. */
bool attn_act_meant(const char *typed, size_t len, const char *name);
const char *attn_act_short(int act);    /* "pattern" */
const char *attn_act_title(int act);    /* "attention pattern" */
const char *attn_act_axes(int act);     /* " (rows: queries, columns: keys)"; "" where there is nothing to say */
bool attn_act_per_layer(int act);
size_t attn_act_heads(const struct attn_hook_points *s, int act);   /* how many heads it has; 0: no head axis */
bool attn_act_kv_heads(int act);        /* its heads are those of keys and values, which may be fewer than queries' */
bool attn_act_of_keys(int act);         /* its rows are keys: k, v; with --cross, tokens of the other text */
bool attn_act_derived(int act);         /* computed for observers alone; wildcards never mean it */
bool attn_act_square(int act);          /* its columns are keys: dots, scores, pattern, norms, rollout, masks */
bool attn_act_alternates(int act);      /* its bands come in turn with those of others: of the steps of attention */
/* The shape of the whole activation for T tokens that look at Tk keys, [T,n] or [H,T,n]; returns how many axes. */
int attn_act_shape(size_t shape[3], const struct attn_info *m, int act, size_t T, size_t Tk);

/* The index of an activation of each block, or outside them (layer -1), in tables of slots(L) entries. */
size_t attn_act_slot(int act, int layer);
size_t attn_act_slots(size_t L);

/* Whether the glob matches the name: `*` matches any characters, dots included, `?` any single one. */
bool attn_glob(const char *glob, size_t len, const char *name);
/* Whether the glob matches the activation's whole name or, in any layer, its last components: "attn.pattern",
 * or only "pattern". */
bool attn_act_match(const char *glob, size_t len, int act, int layer);

/* ---- observers ---- */

struct attn_trace {
    const struct attn_observer *obs;    /* of the run, which has copied them from its caller */
    size_t n_obs, L;
    unsigned *want;                     /* [n_obs, slots] flags */
    struct attn_err err;                /* the first failure; code ATTN_OK: there was none */
};

/* Asks observers, from number `first` on, about all that the model announces; `want` must have room for the answers. */
void attn_trace_ask(struct attn_trace *t, const struct attn_hook_points *hooks, size_t first);

/* Whether an observer asked for the activation with one of `flags`; layer -1 is outside the blocks. */
bool attn_trace_wants(const struct attn_trace *t, int act, int layer, unsigned flags);

/* Whether an observer sees or edits one of the activations from `first` to `end` - 1 in this layer. */
bool attn_trace_wants_among(const struct attn_trace *t, int first, int end, int layer);

/* Whether an observer of the activation needs more than the last row. */
bool attn_trace_wants_all(const struct attn_trace *t, int act, int layer);

/* Whether to show a band: every one, except in cross-attention, where sentence 0 looks at the keys of sentence 1: then
 * k and v of sentence 1 are shown, and everything else of sentence 0. */
bool attn_trace_is_shown(const struct attn_probe *p, bool cross);

/* Announces a band.  The caller fills in `band` except for its name and data, which are added here. */
void attn_trace_announce(struct attn_trace *t, const struct attn_probe *band, float *data);

#endif

/* hooks.h - what TransformerLens and Hugging Face call the activations.
 *
 * TransformerLens names the places where it hooks in (blocks.3.attn.hook_z); in Hugging Face's models a module has a
 * name (model.layers.3.self_attn.o_proj, transformer.h.3.mlp), and what is meant is what comes out of it.  Some of
 * their names are numbers that no activation of ours has: those are refused with the reason. */
#ifndef ATTN_TRACE_HOOKS_H
#define ATTN_TRACE_HOOKS_H

#include "trace/trace.h"

/* A name of TransformerLens, without "blocks.3.". */
struct attn_hook {
    const char *tail; int act;
    bool added;                         /* only where the model has this activation; else a later row counts */
    bool bare;                          /* before weight and bias in some versions, after them in others */
    bool unturned;                      /* before rotation: ours only in models that do not rotate */
};
/* In the order in which they count where several are one of ours; NULL: there are no more. */
const struct attn_hook *attn_hook_at(size_t i);

enum { ATTN_HOOK_ROOM = 64 };
/* Our name for one of theirs, with its block and wildcards for it; "": it is none of theirs.  Fails where the model has
 * no such number; `where` begins the message. */
int attn_hook_translate(char out[ATTN_HOOK_ROOM], const char *name, size_t len, const struct attn_hook_points *model,
                        const char *where, struct attn_err *err);

#endif

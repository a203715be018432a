/* edit_place.h - what the place of an edit is in a model: which activations, layers, heads and columns. */
#ifndef ATTN_ASK_EDIT_PLACE_H
#define ATTN_ASK_EDIT_PLACE_H

#include "ask/edit.h"
#include "ask/ranges.h"
#include "trace/trace.h"

struct attn_edit_reach {                     /* what an edit reaches of one activation */
    const struct attn_edit *edit;
    int act;
    struct attn_ranges layers;          /* layer + 1; 0: outside the blocks */
    struct attn_ranges heads;           /* query or key/value heads, as the activation has; {0, 1} if it has none */
    struct attn_ranges cols;            /* where columns are not keys */
};
struct attn_edit_reaches { struct attn_edit_reach *item; size_t n, room; };

/* linear: the kind of attention */
struct attn_venue { struct attn_info info; struct attn_hook_points hooks; bool linear; };

/* Adds what an edit reaches, at least one activation. */
int attn_place_find(struct attn_edit_reaches *out, const struct attn_edit *e, const struct attn_venue *v,
                    struct attn_err *err);
void attn_edit_reaches_free(struct attn_edit_reaches *r);

/* Fails with "edit '...': " before the message. */
int attn_edit_fail(const struct attn_edit *e, struct attn_err *err, const char *fmt,
                   ...) __attribute__((format(printf, 3, 4)));

#endif

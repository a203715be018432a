/* remembered.h - the activations of a text, kept from pass to pass, so that a change computes only what depends on it.
 *
 * Where no token sees a later one, the rows before the first token that changed stay as they are: keys and values are
 * in a cache.  A pass of edits begins at the first layer that one of them reaches, with what that layer reads of the
 * unedited pass; it has the layers from there on.  All bits are those of a whole pass. */
#ifndef ATTN_LIVE_REMEMBERED_H
#define ATTN_LIVE_REMEMBERED_H

#include "model/model.h"

struct attn_editor;

struct attn_remembered {
    const struct attn_model *model;
    struct attn_info info;
    struct attn_kind kind;
    struct attn_hook_points hooks;
    size_t slots;
    bool *wanted;                       /* [slots] which activations */
    float **data;                       /* [slots] [T,n] or [H,T,n]; NULL: not kept, or of a layer before `from` */
    float **reads;                      /* [L] what blocks read, before anybody edits it: [T, d] */
    float *logits; bool predicted;      /* [V] of the last row, which there are */
    int32_t *ids; size_t T;
    int from;                           /* the first layer it has; -1: also what is before layers; L: what is after */
    size_t first;                       /* rows before this one are those of an earlier pass */
    struct attn_kv *kv; size_t room;    /* of the rows; NULL: nothing can be continued */
};

/* What to keep, of a model with that kind of attention; wanted [attn_act_slots] is taken over. */
int attn_remembered_new(struct attn_remembered **out, const struct attn_model *m, const struct attn_kind *kind,
                        bool *wanted,
                  struct attn_err *err);
void attn_remembered_free(struct attn_remembered *k);               /* NULL is fine */
/* The whole of an activation; NULL: it is not here. */
const float *attn_remembered_at(const struct attn_remembered *k, int act, int layer);
/* Whether a longer text leaves earlier rows of all that is kept as they are. */
bool attn_remembered_grows(const struct attn_remembered *k);

/* Runs the ids, from the first that is not as it was.  After an error nothing is kept. */
int attn_remembered_run(struct attn_remembered *k, const int32_t *ids, size_t T, struct attn_err *err);
/* Runs the text of `plain` once more, with edits; the editor was told all of it.  same: the edits are those of the last
 * pass, and leave rows alone that a longer text does not change. */
int attn_remembered_edit(struct attn_remembered *k, const struct attn_remembered *plain,
                         struct attn_editor *e, bool same,
                   struct attn_err *err);

#endif

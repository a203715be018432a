/* index.h - model.safetensors.index.json: which file each tensor of a sharded checkpoint is in.
 *
 * {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}.  File names must be
 * plain: no directory, no leading dot.  Entries are sorted by tensor. */
#ifndef ATTN_MODEL_INDEX_H
#define ATTN_MODEL_INDEX_H

#include "attn.h"

struct attn_index {
    char **file; size_t files;          /* in the order of first mention; owned */
    struct attn_index_entry { char *tensor; size_t file; } *entry; size_t n;    /* owned */
};

int attn_index_read(struct attn_index *out, const char *text, size_t len, const char *name, struct attn_err *err);
const struct attn_index_entry *attn_index_find(const struct attn_index *x, const char *tensor);     /* NULL: not there */
void attn_index_free(struct attn_index *x);                         /* zeroed is fine */

#endif

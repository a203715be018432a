/* pickle_tree.h - what a pickle holds beside its tensors, as a tree of JSON.
 *
 * Settings of a training and tables of characters are dictionaries of numbers, truth values, texts, lists and further
 * dictionaries.  Anything else (tensors, classes, keys that are no texts) is left out, and so is what lies deeper than
 * ATTN_PICKLE_DEEP or is more than ATTN_PICKLE_VALUES. */
#ifndef ATTN_IO_PICKLE_TREE_H
#define ATTN_IO_PICKLE_TREE_H

#include "base/tree.h"
#include "io/pickle.h"

enum { ATTN_PICKLE_DEEP = 3, ATTN_PICKLE_VALUES = 1 << 17 };

/* The tree of a value, to be freed by cJSON_Delete; of the dictionary v the entry `without` is left out (NULL: none).
 * NULL: no memory. */
cJSON *attn_pickle_tree(const struct attn_pickle *p, const struct attn_pickled *v, const struct attn_pickled *without);

/* Reads a file that is one pickle of such values; it must be a dictionary. */
int attn_pickle_read_tree(cJSON **out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err);

#endif

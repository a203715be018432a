/* strays.h - tensors of a file that no part of the model reads.
 *
 * Buffers of the family, weights of another model beside the one of texts, and a copy of the embedding as output layer
 * may be there; any other tensor might change a number, and is an error. */
#ifndef ATTN_MODEL_STRAYS_H
#define ATTN_MODEL_STRAYS_H

#include "model/model.h"

/* The output layer that a file stores although it is tied to the embedding; NULL: there is none. */
const struct attn_st_tensor *attn_strays_tied(const struct attn_model *m, const struct attn_shard **in);
/* Fails at a tensor that is neither `used` nor one of those above.  Copies that differ become the model's warning. */
int attn_strays_find(struct attn_model *m, const bool *used, struct attn_err *err);
/* What an index lists may be absent if nothing reads it.  Writers that leave out buffers, and the second name of shared
 * numbers, often copy the index of files that have them. */
int attn_strays_absent(const struct attn_model *m, struct attn_err *err);

#endif

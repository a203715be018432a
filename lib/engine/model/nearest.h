/* nearest.h - which family is nearest to a model of a type that is not read? */
#ifndef ATTN_MODEL_NEAREST_H
#define ATTN_MODEL_NEAREST_H

#include "base/json_keys.h"

/* The names of a model's tensors: the i-th, NULL after the last.  at NULL: nobody knows them. */
struct attn_tensor_names { const char *(*at)(void *self, size_t i); void *self; };

/* Fails because of the "model_type" v, NULL: there is none.  Names the family whose keys and tensors are most like the
 * model's, or if none is, those that are read. */
int attn_nearest_fail(const struct attn_key_reader *r, const cJSON *root, const cJSON *v,
                      const struct attn_tensor_names *names);

#endif

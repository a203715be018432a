/* quantized.h - models whose weights were quantised by a method that is not read: which, and what to take instead.
 *
 * Most say so in config.json ("quantization_config"); older ones only by the names and types of their tensors. */
#ifndef ATTN_MODEL_QUANTIZED_H
#define ATTN_MODEL_QUANTIZED_H

#include "base/json_keys.h"
#include "model/shards.h"

/* Fails if the value of "quantization_config" names a method; v NULL: there is none. */
int attn_quantized_config(const struct attn_key_reader *r, const cJSON *v);
/* Fails if tensors are those of a method. */
int attn_quantized_tensors(const struct attn_shards *s, struct attn_err *err);

#endif

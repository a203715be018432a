/* mlx.h - directories that MLX has quantised: matrices of 2, 4 or 8 bits, in groups of 32, 64 or 128 numbers.
 *
 * config.json has "quantization": {"group_size": 64, "bits": 4}, and members named like a module with numbers of their
 * own, or false.  X.weight is U32 [out, in bits / 32], the first number in the lowest bits; X.scales and X.biases are
 * [out, in / group]: w = scale q + bias.  Such a matrix becomes float32 when the weights are opened: for 4 bits, eight
 * times the bytes that it has in the file.  config.json is seen without what says that it is quantised. */
#ifndef ATTN_MODEL_MLX_H
#define ATTN_MODEL_MLX_H

#include "model/course.h"
#include "model/shards.h"

/* Looks into the config.json of a directory; *out NULL: it is not MLX's. */
int attn_mlx_open(struct attn_course **out, const char *dir, const char *path, struct attn_err *err);
/* The tensors of file i of `all` with matrices decoded; they replace those of that file. */
int attn_mlx_decode(struct attn_st **out, const struct attn_shards *all, size_t i, const struct attn_course *c,
                    struct attn_err *err);

#endif

/* pickled.h - writes tensors as torch.save does, without PyTorch: a zip archive with a pickle that says where
 * each tensor lies. */
#ifndef TESTS_PICKLED_H
#define TESTS_PICKLED_H

#include "io/safetensors.h"

/* Replaces a file.  Tensors with the same data are views of one storage.  Matrices are stored column by column if
 * `turned`, as views of transposed ones are. */
void pickled_write(const char *path, const struct attn_st_tensor *t, size_t n, bool turned);

#endif

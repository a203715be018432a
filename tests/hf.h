/* hf.h - a directory as Hugging Face would write it, with random weights, made without the library's idea
 * of where a family puts its tensors.
 *
 * Each call adds a tensor of the file and remembers its numbers under the name, and in the layout, that a
 * native model has for them: reference.h asks for those. */
#ifndef ATTN_TESTS_HF_H
#define ATTN_TESTS_HF_H

#include "io/safetensors.h"

enum { HF_MAX = 128 };

struct hf {
    struct attn_st_tensor t[HF_MAX]; size_t n;          /* names and data owned */
    struct { char *name; double *x; } native[HF_MAX]; size_t natives;
    const char *dtype;                  /* of all tensors; NULL: each has its own */
};

/* ".weight" and ".bias" are added to both names. */
void hf_table(struct hf *h, const char *native, const char *name, size_t rows, size_t cols);
void hf_norm(struct hf *h, const char *native, const char *name, size_t n, bool bias);
void hf_linear(struct hf *h, const char *native, const char *name, size_t in, size_t out, bool by_output, bool bias);
/* "NATIVE.q", ".k" and ".v" in one tensor: [in, 3 * heads * dh] side by side, or [3 * heads * dh, in] head by head. */
void hf_thirds(struct hf *h, const char *native, const char *name, size_t in, size_t heads, size_t dh, bool by_head, bool bias);
/* The same numbers once more. */
void hf_copy(struct hf *h, const char *name, const char *of);
void hf_buffer(struct hf *h, const char *name, const char *dtype, size_t rows, size_t cols);

/* A ref_weight: ctx is the hf. */
const double *hf_weight(void *ctx, const char *native);
/* A directory of its own in the scratch directory, to be freed.  files: 1, or so many with an index.  odd: the data
 * begins at an odd byte. */
char *hf_write(const struct hf *h, const char *config, size_t files, bool odd);
void hf_free(struct hf *h);

char *hf_dir(void);
char *hf_path(const char *dir, const char *file);       /* to be freed */
void hf_put(const char *dir, const char *file, const void *data, size_t len);

/* "%s" and the rest, in one of 32 buffers. */
const char *hf_name(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

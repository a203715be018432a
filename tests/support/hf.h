/* hf.h - writes a model directory as Hugging Face would, with random weights, and independently of the library's own
 * tables of where a family puts its tensors.
 *
 * Each call adds a tensor to the file and remembers its numbers under the name and in the layout of a native model,
 * which are those that reference.h asks for. */
#ifndef ATTN_TESTS_HF_H
#define ATTN_TESTS_HF_H

#include "io/safetensors.h"

enum { HF_MAX = 256 };

struct hf {
    struct attn_st_tensor t[HF_MAX]; size_t n;          /* owns names and data */
    struct { char *name; double *x; } native[HF_MAX]; size_t natives;
    const char *dtype;                  /* of all tensors; NULL: each draws its own */
    bool from_one;                      /* weights of norms are what is added to 1 */
    /* As trained models are: powers of two; 0: as others are drawn. */
    /* tables are so many times smaller; one of their columns so many times larger */
    double small, outlier;
    double sharp;                       /* products of queries and keys are so many times larger */
};

/* These append ".weight" and ".bias" to both names. */
void hf_table(struct hf *h, const char *native, const char *name, size_t rows, size_t cols);
void hf_norm(struct hf *h, const char *native, const char *name, size_t n, bool bias);
/* A norm without biases whose weights are a table with a row for each head. */
void hf_norm_rows(struct hf *h, const char *native, const char *name, size_t heads, size_t n);
void hf_linear(struct hf *h, const char *native, const char *name, size_t in, size_t out, bool transposed, bool bias);
/* "NATIVE.q", ".k" and ".v" in one tensor: side by side as [in, 3 * heads * dh], or head by head as [3 * heads
 * * dh, in]. */
void hf_thirds(struct hf *h, const char *native, const char *name, size_t in, size_t heads, size_t dh,
               bool by_head, bool bias);
/* Several matrices in one, [out, in], as `groups` groups of rows: each has as many of every part's, in their order. */
struct hf_part { const char *native; size_t out; };
void hf_fused(struct hf *h, const struct hf_part *part, size_t parts, size_t groups, const char *name,
              size_t in, bool bias);
void hf_bias(struct hf *h, const char *native, const char *name, size_t n);
/* A table of positions whose first rows are never used; the native one has only `rows` that follow. */
void hf_positions(struct hf *h, const char *native, const char *name, size_t skip, size_t rows, size_t cols);
/* A tensor "NAME.J.weight" for each head; the native one has them one after the other. */
void hf_own_norms(struct hf *h, const char *native, const char *name, size_t heads, size_t n);
/* Adds a tensor with the same numbers under another name. */
void hf_copy(struct hf *h, const char *name, const char *of);
void hf_rename(struct hf *h, const char *name, const char *from);
void hf_buffer(struct hf *h, const char *name, const char *dtype, size_t rows, size_t cols);

/* A ref_weight; ctx is the struct hf. */
const double *hf_weight(void *ctx, const char *native);
/* Writes into a new directory in the scratch directory and returns its path, to be freed.  files: 1, or the number of
 * shards, which get an index.  odd: the data begins at an odd byte. */
char *hf_write(const struct hf *h, const char *config, size_t files, bool odd);
void hf_free(struct hf *h);

char *hf_dir(void);
char *hf_path(const char *dir, const char *file);       /* to be freed */
void hf_put(const char *dir, const char *file, const void *data, size_t len);

#endif

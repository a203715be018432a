/* shards.h - a model's weights: model.safetensors, or the files that model.safetensors.index.json lists; where neither
 * is, pytorch_model.bin or the files of its index; or what another container has.
 *
 * The index is an allow-list: its file names are plain names in the same directory.  A tensor may be in another of them
 * than it is said to be in, or not be mentioned, but it must not be in two. */
#ifndef ATTN_MODEL_SHARDS_H
#define ATTN_MODEL_SHARDS_H

#include "base/strings.h"
#include "io/tensors.h"
#include "model/source.h"

/* path: for messages; before: how many tensors the files before it have. */
struct attn_shard { struct attn_map map; struct attn_st *st; char *path; size_t before; };

struct attn_shards {
    struct attn_shard *shard; size_t n;
    size_t tensors;                     /* of all files */
    struct attn_strings names;          /* where there are several files: those of all tensors, in their order.  None is
                                         * there twice, so that the number of a name is that of its tensor */
    size_t bytes;                       /* of all files */
    bool lent;                          /* maps and tensors are the source's */
    const char *index;                  /* the name of the index; NULL: it is one file */
    struct attn_absent { char *tensor; size_t file; } *absent; size_t n_absent;     /* tensors that the index lists and
                                         * no file has; owned */
};

int attn_shards_open(struct attn_shards *out, const struct attn_source *s, struct attn_err *err);
/* For containers: the files of a directory. */
int attn_shards_of_directory(struct attn_shards *out, const struct attn_source *s, struct attn_err *err);
/* ... Counts in the tensors of a file and, where there are several files, notes their names.  twice: gets those that a
 * file before it has. */
int attn_shards_count(struct attn_shards *s, struct attn_shard *sh, bool several, struct attn_strings *twice,
                      struct attn_err *err);
/* One file of weights that a user named; torch.save's is told by its first bytes. */
int attn_shards_open_file(struct attn_shards *out, const char *path, struct attn_err *err);
void attn_shards_close(struct attn_shards *s);                      /* zeroed is fine */

/* Finds a tensor by name and, in *in, the file that has it; NULL: none has it. */
const struct attn_st_tensor *attn_shards_find(const struct attn_shards *s, const char *name,
                                              const struct attn_shard **in);
/* Whether there are weights, which only a directory may lack. */
bool attn_shards_there(const struct attn_source *s);
/* The i-th of the tensors of all files; the number of a tensor among them. */
const struct attn_st_tensor *attn_shards_at(const struct attn_shards *s, size_t i, const struct attn_shard **in);
size_t attn_shards_index(const struct attn_shards *s, const struct attn_st_tensor *t);
/* What messages call the weights as a whole. */
const char *attn_shards_path(const struct attn_shards *s);
/* Fails because of a tensor that is absent. */
int attn_shards_lack(const struct attn_shards *s, const struct attn_absent *a, struct attn_err *err);

/* The index: {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}.  File names
 * must be plain: no directory, no leading dot.  Entries are sorted by tensor. */
struct attn_index {
    char **file; size_t files;          /* in the order of first mention; owned */
    struct attn_index_entry { char *tensor; size_t file; } *entry; size_t n;    /* owned */
};

int attn_index_read(struct attn_index *out, const char *text, size_t len, const char *name, struct attn_err *err);
/* NULL: not there */
const struct attn_index_entry *attn_index_find(const struct attn_index *x, const char *tensor);
void attn_index_free(struct attn_index *x);                         /* zeroed is fine */

#endif

/* gguf_model.h - a GGUF model as the directory that it stands for.
 *
 * Everything a model needs is in one file, or in its shards: configuration and tokenizer are metadata.  What reads
 * them elsewhere are files of Hugging Face's kind, so here those files are made of the metadata, as text: config.json
 * (gguf_config.c), tokenizer_config.json and, as the tokenizer is of one kind or the other, tokenizer.json or
 * tokenizer.model (gguf_tokenizer.c).  Tensors keep the names and the order of rows that llama.cpp's converter gave
 * them; gguf_family.c says where each part of the model is. */
#ifndef ATTN_MODEL_GGUF_MODEL_H
#define ATTN_MODEL_GGUF_MODEL_H

#include "io/gguf.h"
#include "model/container.h"
#include "model/family.h"

struct attn_gguf_part { char *path; struct attn_map map; struct attn_gguf *of; };

struct attn_gguf_model {
    struct attn_gguf_part *part; size_t n;      /* the shards in their order; the first has the metadata */
    const struct attn_gguf *meta;
    const struct attn_gguf_arch *arch;  /* NULL: not one of ours, see attn_gguf_model_check */
    bool tied;                          /* the output layer is known to be a copy of the embedding */
    struct attn_family family;          /* how the tensors are named and stored: see attn_gguf_family */
};

/* Fails if its architecture is none of ours, so that only its tokenizer is read. */
int attn_gguf_model_check(const struct attn_gguf_model *m, struct attn_err *err);

/* ---- what it says ---- */

const struct attn_st_tensor *attn_gguf_model_tensor(const struct attn_gguf_model *m, const char *name);

/* A value of "A.KEY", A being the architecture.  *there: whether it is there.  Fails if it is of another kind, or an
 * array of different values. */
int attn_gguf_size(const struct attn_gguf_model *m, const char *key, size_t *out, bool *there, struct attn_err *err);
int attn_gguf_number(const struct attn_gguf_model *m, const char *key, double *out, bool *there, struct attn_err *err);
int attn_gguf_bool(const struct attn_gguf_model *m, const char *key, bool *out, bool *there, struct attn_err *err);
int attn_gguf_string(const struct attn_gguf_model *m, const char *key, struct attn_str_view *out, bool *there,
                     struct attn_err *err);

/* ---- its files ---- */

/* The text of one. */
int attn_gguf_model_text(const struct attn_gguf_model *m, const char *file, struct attn_map *to, struct attn_err *err);
/* The model as it is saved: whether its output layer is a copy of the embedding is found out, by reading both. */
struct attn_gguf_model attn_gguf_tied(const struct attn_gguf_model *m);

/* See struct attn_container. */
int attn_gguf_recast(struct attn_recast **out, const struct attn_model *m, const struct attn_save_opts *o,
                     struct attn_err *err);
int attn_gguf_metadata(struct attn_metadata *out, const struct attn_source *s, size_t i, struct attn_err *err);

struct attn_out;
int attn_gguf_config(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);
bool attn_gguf_has_tokenizer(const struct attn_gguf_model *m);
/* Fails if what it says of tokens contradicts itself: lists of other lengths, ids of tokens that are not there. */
int attn_gguf_tokens_check(const struct attn_gguf_model *m, struct attn_err *err);
bool attn_gguf_is_sentencepiece(const struct attn_gguf_model *m);
int attn_gguf_tokenizer_config(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);
int attn_gguf_tokenizer_json(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);
int attn_gguf_tokenizer_model(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);

/* ---- architectures ---- */

/* How the keys of a family's config.json are called; NULL: it has none. */
struct attn_gguf_names { const char *layers, *context, *width, *heads, *kv, *mlp, *head, *eps; };

struct attn_gguf_arch {
    const char *name, *model_type;      /* as general.architecture and config.json call it */
    const struct attn_gguf_names *names;
    bool rms;                           /* norms are RMS norms */
    bool paired;                        /* rows of queries and keys are stored for rotation of neighbours */
    const char *constant;               /* members of config.json that are the same for all */
    int (*more)(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);
};
const struct attn_gguf_arch *attn_gguf_arch_find(struct attn_str_view name);        /* NULL: not one of ours */

/* Where the tensors of a model are whose configuration was read: puts m->family in c->family. */
void attn_gguf_family(struct attn_gguf_model *m, struct attn_config *c);

#endif

/* container.h - in what the files of a model lie: a directory, a GGUF file, the file of a course, a directory that MLX
 * has quantised, the program itself.
 *
 * All else asks for what a directory of Hugging Face's has: config.json, files of a tokenizer, tensors.  A container is
 * a row that says how it is told, and gives what it has as if it were such a directory.  A further one is a file with
 * its row, and a word in the list of source.c. */
#ifndef ATTN_MODEL_CONTAINER_H
#define ATTN_MODEL_CONTAINER_H

#include "attn_tools.h"
#include "io/tensors.h"
#include "model/source.h"

struct attn_config;
struct attn_file_told;
struct attn_shards;

/* A model's tensors as a directory of its family has them, where its container has others. */
struct attn_recast {
    struct attn_st st;                  /* their names, shapes and types, without bytes */
    /* The numbers of one, in float32, or what is none as its type has it. */
    int (*make)(const struct attn_recast *r, size_t i, float *to, struct attn_err *err);
    void (*free)(struct attn_recast *r);
};

/* Members without a comment on NULL are in every row. */
struct attn_container {
    const char *name;                   /* one word, which stands for "model_type" where it is whole */
    const char *what, *says;            /* "is a GGUF file", "whose metadata says": it says itself what --as and --vocab
                                         * would; says NULL: they say it */
    const char *config;                 /* what says how its tensors are to be: "config.json" */
    const char *const *endings;         /* of the names of its files, then NULL; NULL: it is no file */
    bool whole;                         /* one file, or its parts, has it all; config.json and the tokenizer are made */
    bool tested;                        /* a test has looked at every weight */

    /* ---- how it is told: each calls attn_source_is if it is of this kind ---- */

    /* By the bytes of a file that a user named, which it may keep.  NULL: none is. */
    int (*open)(struct attn_source *s, const char *path, struct attn_map *file, const struct attn_lacking *given,
                struct attn_err *err);
    /* By what lies in a directory; weights: files of weights do, too.  NULL: none is. */
    int (*enter)(struct attn_source *s, bool weights, const struct attn_lacking *given, struct attn_err *err);
    void (*close)(void *of);            /* NULL: there is nothing to close */

    /* ---- its files: see attn_source_path and those after it ---- */

    char *(*path)(const struct attn_source *s, const char *file);
    bool (*has)(const struct attn_source *s, const char *file);
    int (*read)(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                struct attn_err *err);
    /* Tells what is read when the model is opened once more (every_file.h).  NULL: files that it has, and weights. */
    int (*tell)(const struct attn_source *s, const struct attn_file_told *to, struct attn_err *err);
    const void *(*index)(const struct attn_source *s);      /* see attn_source_index; NULL: it has none */
    /* Fails, as there is no file of a tokenizer.  NULL: what is said of a directory is said. */
    int (*no_tokenizer)(const struct attn_source *s, struct attn_err *err);
    /* Pair i of its metadata: see attn_model_metadata.  NULL: it has none. */
    int (*metadata)(struct attn_metadata *out, const struct attn_source *s, size_t i, struct attn_err *err);
    bool (*known)(const struct attn_source *s);             /* whether its family is read; NULL: config.json says it */

    /* ---- its weights ---- */

    int (*tensors)(struct attn_shards *out, const struct attn_source *s, struct attn_err *err);

    /* Where it names and stores them in a way of its own, which takes all of these; else they are NULL: */
    void (*family)(const struct attn_source *s, struct attn_config *c);         /* changes c->family to that way */
    /* o NULL: in the types that it has. */
    int (*recast)(struct attn_recast **out, const struct attn_model *m, const struct attn_save_opts *o,
                  struct attn_err *err);
    /* Its files as they are saved with such tensors. */
    bool (*saves)(const struct attn_source *s, const char *file);
    int (*save)(const struct attn_source *s, const char *file, struct attn_map *out, struct attn_err *err);
};

extern const struct attn_container attn_container_directory, attn_container_builtin;

/* ---- for rows ---- */

/* The source is of this kind.  of: what the kind knows of it, which is closed with it, also if this fails.  path: of
 * the file that it is, NULL: none; beside: other files of it may lie beside that one. */
int attn_source_is(struct attn_source *s, const struct attn_container *kind, void *of, const char *path, bool beside,
                   struct attn_err *err);
/* The model of this name, if it is built in. */
bool attn_builtin_named(struct attn_source *s, const char *name);

bool attn_directory_is(const char *path);                           /* whether one is there */
char *attn_directory_path(const struct attn_source *s, const char *file);
bool attn_directory_has(const struct attn_source *s, const char *file);
int attn_directory_read(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                        struct attn_err *err);

#endif

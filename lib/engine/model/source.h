/* source.h - where a model's files come from, found by its name.
 *
 * A name with a slash is a directory, or a file.  Any other is looked up among the models built in, in the directories
 * of ATTN_MODEL_PATH, among the installed ones, and as ./NAME.  What is not there, with or without a slash, may be in
 * Hugging Face's cache (hub.h).  Whatever is found is seen as a directory of Hugging Face's form (container.h). */
#ifndef ATTN_MODEL_SOURCE_H
#define ATTN_MODEL_SOURCE_H

#include "base/map.h"

enum { ATTN_CONFIG_LIMIT = 1 << 20 };    /* most bytes of a config.json, which usually has a page of text */

struct attn_assumptions;
struct attn_lacking;
struct attn_source {
    const struct attn_container *kind;  /* NULL: nothing was found */
    void *of;                           /* what the kind knows of it */
    char *name;                         /* the last component of its path, or its built-in name */
    char *dir;                          /* where its files lie; NULL: in no directory */
    char *path;                         /* of the file that it is; NULL: it is none */
    const struct attn_assumptions *assumed;                         /* what was assumed of it; NULL: nothing */
    const char *as, *vocabulary;        /* what --as said of it, and where a vocabulary is that is neither in it nor
                                         * beside it; NULL: nothing, nowhere */
};

/* name NULL: the default model.  given: what a user has said that its file lacks; NULL: nothing. */
int attn_source_find(struct attn_source *out, const char *name, const struct attn_lacking *given, struct attn_err *err);
void attn_source_free(struct attn_source *s);                       /* zeroed is fine */
const char *attn_source_installed(void);                            /* the directory of installed models */
/* What it is called in answers: its directory or its file; NULL: built in. */
static inline const char *attn_source_where(const struct attn_source *s) { return s->path ? s->path : s->dir; }

struct attn_assumed;
const struct attn_assumed *attn_source_assumed(const struct attn_source *s, size_t *n);     /* *n 0: nothing was */

/* The index of a built-in model's vocabulary and rules (text/index.h); NULL: it has none. */
const void *attn_source_index(const struct attn_source *s);

/* The path of a file, like "DIR/config.json", in malloc'd memory, for messages and for opening; NULL: no memory. */
char *attn_source_path(const struct attn_source *s, const char *file);
/* True, too, if nobody can tell: then opening it says why.  Leaving a file out would change tokens and digests. */
bool attn_source_has(const struct attn_source *s, const char *file);
int attn_source_open(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err);
/* The same of files as they are saved, with tensors as its family has them. */
bool attn_source_saves(const struct attn_source *s, const char *file);
int attn_source_saved(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                      struct attn_err *err);

#endif

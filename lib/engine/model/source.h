/* source.h - where a model's files come from: a directory, a GGUF file, or the program itself.
 *
 * A name with a slash is a directory, or a GGUF file.  Any other is looked up among the models built in, in the
 * directories of ATTN_MODEL_PATH, among the installed ones, and as ./NAME.  What is not there, with or without a slash,
 * may be in Hugging Face's cache (hub.h).  The file of a course, or the one in a directory that has no other weights,
 * is seen as the directory that it would be (course.h). */
#ifndef ATTN_MODEL_SOURCE_H
#define ATTN_MODEL_SOURCE_H

#include "base/map.h"

enum { ATTN_CONFIG_LIMIT = 1 << 20 };    /* most bytes of a config.json, which usually has a page of text */

struct attn_gguf_model;
struct attn_lacking;
struct attn_course;                     /* a file that a course's program wrote (course.h) */
struct attn_builtin;                    /* a model whose files are embedded in the program */
struct attn_source {
    char *name;                         /* the last component of its path, or its built-in name */
    char *dir;                          /* NULL: built in */
    const struct attn_builtin *builtin;
    struct attn_gguf_model *gguf;       /* NULL or a GGUF model: its metadata makes the files, and dir is its path */
    struct attn_course *course;         /* NULL: it is a directory; dir is then that of the file */
};

/* `name` NULL: the default model. */
int attn_source_find(struct attn_source *out, const char *name, struct attn_err *err);
/* The same where a user has said what the file of a course lacks; given NULL: nothing. */
int attn_source_find_with(struct attn_source *out, const char *name, const struct attn_lacking *given,
                          struct attn_err *err);
/* What says how its tensors are to be: "config.json", or what stands for it. */
const char *attn_source_config(const struct attn_source *s);
/* What was assumed of the file of a course; *n 0: nothing. */
struct attn_assumed;
const struct attn_assumed *attn_source_assumed(const struct attn_source *s, size_t *n);
/* What it is called in answers: its directory or its file; NULL: built in. */
const char *attn_source_where(const struct attn_source *s);
bool attn_source_is_file(const struct attn_source *s);              /* whether it is the file of a course */
void attn_source_free(struct attn_source *s);
const char *attn_source_installed(void);                            /* the directory of installed models */

/* The index of a built-in model's vocabulary and rules (text/index.h); NULL: it has none. */
const void *attn_source_index(const struct attn_source *s);

/* The path of a file, like "DIR/config.json", in malloc'd memory, for messages and for opening; NULL: no memory. */
char *attn_source_path(const struct attn_source *s, const char *file);
/* True, too, if nobody can tell: then opening it says why.  Leaving a file out would change tokens and digests. */
bool attn_source_has(const struct attn_source *s, const char *file);
int attn_source_open(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err);

#endif

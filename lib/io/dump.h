/* dump.h - reads back the activations that a run wrote: named arrays and tokens.
 *
 * A path is one of: a directory of NAME.npy, or of NAME.csv and NAME.headK.csv, with or without our manifest.json
 * (which adds tokens and heads), or that manifest; an .npz archive; one .npy or .csv file; the JSON document of
 * `run --format json`; the table of `run --format tidy`.  Names are not interpreted here: the comparison knows which
 * are activations.
 *
 * If a directory has steps.npy with one number for each index of the others' first axis, that axis is time: the
 * arrays were recorded during training.
 *
 * JSON cannot express numbers that are not finite: they are written as null and read as NaN, and `loose` says that a
 * NaN here may have been any of them. */
#ifndef ATTN_IO_DUMP_H
#define ATTN_IO_DUMP_H

#include "io/array.h"

struct attn_dumped {
    char *name;
    struct attn_array of;               /* [T,n] or [heads,T,n], if it is an activation */
    size_t *heads, n_heads;             /* which heads of the model; NULL: unknown, or no head axis */
    bool loose;
};
struct attn_dump_token { int32_t id; char *text; size_t len; };     /* text NULL: unknown */
struct attn_dump_list { struct attn_dump_token *item; size_t n, room; };

struct attn_dump {
    struct attn_dumped *item; size_t n, room;
    struct attn_dump_list tokens;       /* empty: unknown */
    struct attn_dump_list keys;         /* of the other text, to which the tokens attend; empty: the same tokens */
    float *steps; size_t n_steps;       /* training steps, if the first axis of arrays is time; else NULL */
    struct attn_dump_list rows, cols;   /* labels of a table, with id -1; empty: unknown */
    const char *path;                   /* the path in messages while it is read */
    bool single;                        /* a file with a single array, whose name may mean nothing */
};

/* Takes ownership of what `of` and `heads` point to, also on failure. */
int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what, struct attn_err *err);
void attn_dump_drop(struct attn_dumped *what);
int attn_dump_add_token(struct attn_dump *d, struct attn_dump_list *to, int32_t id, const char *text, size_t len, struct attn_err *err);
const struct attn_dumped *attn_dump_find(const struct attn_dump *d, const char *name);  /* NULL: not there */

/* dump_json.c: reads the document of `run --format json`; or a manifest's tokens, and the heads of arrays already
 * read. */
int attn_dump_read_document(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_manifest(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump_csv.c: reads one matrix [T,n], with or without labels in its first row and column; then those labels. */
int attn_dump_read_csv(struct attn_array *out, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_labels(struct attn_dump *d, const char *text, size_t len, struct attn_err *err);
/* dump_tidy.c: reads the long table of `run --format tidy`, with rows and columns in the order it is written. */
bool attn_dump_is_tidy(const char *text, size_t len);
int attn_dump_read_tidy(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump_heads.c: joins NAME.head0, NAME.head1... into one array NAME. */
int attn_dump_join_heads(struct attn_dump *d, struct attn_err *err);

#endif

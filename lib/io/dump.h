/* dump.h - the activations of one run, read back from what a run wrote: named arrays and tokens.
 *
 * A path is one of: a directory of NAME.npy, or of NAME.csv and NAME.headK.csv, with or without our
 * manifest.json (which adds tokens and heads), or that manifest; an .npz archive; one .npy or .csv file; the JSON
 * document of `run --format json`; the table of `run --format tidy`.  Names are not looked into: whoever compares knows which are activations.
 *
 * Where a directory has steps.npy, one number for each place of the others' first axis, that axis is time: it is what
 * was watched in training.
 *
 * JSON has no numbers that are not finite: they are null, read as NaN, and `loose` says that a NaN here may have
 * been any of them. */
#ifndef ATTN_IO_DUMP_H
#define ATTN_IO_DUMP_H

#include "io/array.h"

struct attn_dumped {
    char *name;
    struct attn_array of;               /* [T,n] or [heads,T,n], as far as we are concerned */
    size_t *heads, n_heads;             /* which of the model's; NULL: not known, or no head axis */
    bool loose;
};
struct attn_dump_token { int32_t id; char *text; size_t len; };     /* text NULL: not known */
struct attn_dump_list { struct attn_dump_token *item; size_t n, room; };

struct attn_dump {
    struct attn_dumped *item; size_t n, room;
    struct attn_dump_list tokens;       /* none: not known */
    struct attn_dump_list keys;         /* those of the other text, at which they look; none: themselves */
    float *steps; size_t n_steps;       /* of training: the first axis of arrays is time; NULL: it is not */
    struct attn_dump_list rows, cols;   /* what a table calls them, id -1; none: not known */
    const char *path;                   /* what messages call it, while it is read */
    bool single;                        /* one array alone in a file: what the file is called says little */
};

/* Takes over what `of` and `heads` point to, also on failure. */
int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what, struct attn_err *err);
void attn_dump_drop(struct attn_dumped *what);
int attn_dump_add_token(struct attn_dump *d, struct attn_dump_list *to, int32_t id, const char *text, size_t len, struct attn_err *err);
const struct attn_dumped *attn_dump_find(const struct attn_dump *d, const char *name);  /* NULL: not there */

/* dump_json.c: the document of `run --format json`; of a manifest the tokens, and the heads of arrays that are there. */
int attn_dump_read_document(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_manifest(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump_csv.c: one matrix [T,n] with labels in its first row and column; those labels. */
int attn_dump_read_csv(struct attn_array *out, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_labels(struct attn_dump *d, const char *text, size_t len, struct attn_err *err);
/* dump_tidy.c: the long table of `run --format tidy`, rows and columns in its order. */
bool attn_dump_is_tidy(const char *text, size_t len);
int attn_dump_read_tidy(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump_heads.c: NAME.head0, NAME.head1... become one array NAME. */
int attn_dump_join_heads(struct attn_dump *d, struct attn_err *err);

#endif

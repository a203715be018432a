/* dump.h - reads back the activations that a run wrote: named arrays and tokens.
 *
 * A path is one of: a directory of NAME.npy, or of NAME.csv and NAME.headK.csv, with or without attn-cli's
 * manifest.json (which adds tokens and heads), or of one archive alone; or that manifest; an .npz archive, whose
 * members tokens and context_tokens may be texts and whose comments may name heads; a .safetensors file, whose tensor
 * tokens may hold ids; one .npy or .csv file; the JSON document of `run --format json`; the table of `run --format
 * tidy`.  Names are not interpreted here: the comparison knows which are activations.
 *
 * If a directory has steps.npy with one number for each index of the others' first axis, that axis is time: the
 * arrays were recorded during training.
 *
 * JSON cannot express numbers that are not finite: they are written as null and read as NaN, and `loose` says that a
 * NaN here may have been any of them. */
#ifndef ATTN_IO_DUMP_H
#define ATTN_IO_DUMP_H

#include "attn_tools.h"
#include "base/map.h"
#include "io/npy.h"
#include "base/strings.h"

/* Bytes of the largest file we read. */
#define ATTN_DUMP_LARGEST ((size_t)(SIZE_MAX < 1ull << 40 ? SIZE_MAX : 1ull << 40))

struct attn_dumped {
    char *name;
    struct attn_array of;               /* [T,n] or [heads,T,n], if it is an activation */
    size_t *heads, n_heads;             /* which heads of the model; NULL: unknown, or no head axis */
    char mask[ATTN_KIND_TEXT];          /* what hid keys, as the text of a kind (run/masked.h); "": nobody says */
    bool loose;
    char *wrong;                        /* why it is no array of floats, see attn_dump_open_some; NULL: it is one */
};
struct attn_dump_token { int32_t id; char *text; size_t len; };     /* id -1, text NULL: unknown */
struct attn_dump_list { struct attn_dump_token *item; size_t n, room; };

struct attn_dump {
    struct attn_dumped *item; size_t n, room;
    struct attn_strings names;          /* of the items, with the same numbers */
    struct attn_dump_list tokens;       /* empty: unknown */
    struct attn_dump_list keys;         /* of the other text, to which the tokens attend; empty: the same tokens */
    float *steps; size_t n_steps;       /* training steps, if the first axis of arrays is time; else NULL */
    struct attn_dump_list rows, cols;   /* labels of a table, with id -1; empty: unknown */
    const char *path;                   /* the path in messages while it is read */
    char *warning;                      /* see attn_dump_warning */
    bool single;                        /* a file with a single array, whose name may mean nothing */
    bool some;                          /* opened by attn_dump_open_some */
};

/* As attn_dump_open, for those who ask for some members of an archive by name: one that is no array of floats is listed
 * with what is wrong with it, and does no harm to others. */
int attn_dump_open_some(struct attn_dump **out, const char *path, struct attn_err *err);

/* Takes ownership of what `of` and `heads` point to, also on failure. */
int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what,
                  struct attn_err *err);
void attn_dump_drop(struct attn_dumped *what);
void attn_dump_list_free(struct attn_dump_list *list);
int attn_dump_add_token(struct attn_dump *d, struct attn_dump_list *to, int32_t id, const char *text, size_t len,
                        struct attn_err *err);
/* Numbers the names anew after items were moved; fails if one is there twice. */
int attn_dump_index(struct attn_dump *d, struct attn_err *err);
const struct attn_dumped *attn_dump_item(const struct attn_dump *d, const char *name);  /* NULL: not there */

/* dump.c: the contents of one file of a directory, named without its ending.  attn_dump_stem is the length of
 * "blocks.0.attn.q.npy" without its ending; 0 if it has another ending. */
int attn_dump_add_npy(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err);
int attn_dump_add_csv(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err);
/* all its members */
int attn_dump_add_npz(struct attn_dump *d, const struct attn_map *m, const char *path, struct attn_err *err);
size_t attn_dump_stem(const char *file, size_t len, const char *ending);
/* As attn_dump_open_some lists what is no array of floats. */
int attn_dump_add_wrong(struct attn_dump *d, const char *name, size_t len, const char *why, struct attn_err *err);
/* dump_tensors.c: reads the arrays of a .safetensors file. */
int attn_dump_read_tensors(struct attn_dump *d, const struct attn_map *m, const char *path, struct attn_err *err);
/* dump_directory.c: reads the arrays of a directory. */
int attn_dump_read_directory(struct attn_dump *d, const char *path, struct attn_err *err);
/* dump_json.c: reads the document of `run --format json`; or a manifest's tokens, and the heads of arrays already
 * read; or, before, which files it lists. */
struct attn_dump_listing {
    bool lists;                         /* it has a list of files, whoever wrote it */
    bool native, of_run;                /* attn-cli wrote it: a run, or a training, which does not list steps.npy */
    struct attn_strings files;
};
int attn_dump_read_listing(struct attn_dump_listing *out, const char *text, size_t len, const char *path,
                           struct attn_err *err);
int attn_dump_read_document(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_manifest(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump_table.c: reads one matrix [T,n], with or without labels in its first row and column; then those labels. */
int attn_dump_read_csv(struct attn_array *out, const char *text, size_t len, const char *path, struct attn_err *err);
/* Fails if the text is a table that another command writes, which is no dump, and says what to do. */
int attn_dump_refuse_answers(const char *text, size_t len, const char *path, struct attn_err *err);
int attn_dump_read_labels(struct attn_dump *d, const char *text, size_t len, struct attn_err *err);
/* dump_table.c: reads the long table of `run --format tidy`, with rows and columns in the order it is written. */
bool attn_dump_is_tidy(const char *text, size_t len);
/* Whether a table holds several arrays, and not one matrix. */
bool attn_dump_is_of_several(const char *text, size_t len);
int attn_dump_read_tidy(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err);
/* dump.c: joins NAME.head0, NAME.head1... into one array NAME. */
int attn_dump_join_heads(struct attn_dump *d, struct attn_err *err);

#endif

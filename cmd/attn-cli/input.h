/* input.h - what commands work on: files, a text or token ids from -s, -f or --ids, models and dumps. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "attn_tools.h"
#include "table.h"

enum { FILE_LIMIT_MB = 1024 };          /* a longer text is refused */
/* Reads a file, or standard input for "-", into malloc'd memory with a NUL after the last byte. */
int file_read(char **text, size_t *len, const char *path, struct attn_err *err);

/* All print warnings unless --quiet is given. */
int open_model(struct attn_model **out, const struct command *c, struct attn_err *err);     /* of -m, with its --as */
/* The same with a vocabulary where its file has none, and another list than that of --as. */
int open_model_with(struct attn_model **out, const struct command *c, const struct attn_lacking *given,
                    struct attn_err *err);
/* Of which nothing is said any more; one that answers further texts stays open. */
void close_model(struct attn_model *m);
void close_tokenizer(struct attn_tokenizer *t);
/* What --as says of the model of -m, and of the other one; NULL: nothing. */
const struct attn_lacking *given_of(bool other);
/* Says what was assumed of a file. */
void note_assumed(const char *file, const struct attn_assumed *assumed, size_t n);
void compare_model(struct attn_model *m);                           /* attn_model_compare */
/* That of -m, unless *out is one already.  Where it contradicts the model that is open, a note says so, once. */
int open_tokenizer(struct attn_tokenizer **out, struct attn_err *err);
/* The same where tokens are ids, which need none: there may be none, and what is of no use is told. */
int try_tokenizer(struct attn_tokenizer **out, const struct attn_model *m, struct attn_err *err);
/* That note for a tokenizer that a batch opened, and for another model; `side` names it. */
void doubt_tokenizer(void *unused, const struct attn_tokenizer *t);
void doubt_side(const struct command *c, const char *side, const struct attn_model *m, const struct attn_tokenizer *t);
int open_dump(struct attn_dump **out, const char *path, const struct command *c, struct attn_err *err);

struct input {
    const char *text; size_t len;       /* text NULL: ids were given */
    int32_t *ids; size_t n;
    char *owned;                        /* the text's memory if it was read from a file */
};

/* Reads what -s, -f or --ids give; a usage error if none of them is there. */
int input_read(struct input *in, struct attn_err *err);
/* Reads the other text, which is optional: without it text and ids are NULL. */
int input_read_other(struct input *in, struct attn_err *err);
/* Reads what is given of a text, a file and ids, at most one. */
int input_read_any(struct input *in, const char *text, const char *file, const char *ids, struct attn_err *err);
/* Parses a list of ids into ids and n. */
int input_parse_ids(struct input *in, const char *list, struct attn_err *err);
struct attn_encode_opts input_encode_opts(void);        /* what --special and --bos say */
/* The tokens of a text or of ids.  Opens *tokenizer for a text if it is NULL; tokens made from ids have no text. */
int input_tokens(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in,
                 struct attn_err *err);
/* The same for the other text, of at least one token; *out NULL: there is no other text. */
int input_tokens_other(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in,
                       struct attn_err *err);
/* Names tokens that were made from ids, as --labels says; by default those that people will look at (`seen`), by the
 * model's tokenizer, which it opens if *tokenizer is NULL. */
extern const struct option label_options[];
int input_label(struct attn_tokens *t, struct attn_tokenizer **tokenizer, const struct input *in,
                const struct attn_model *m, bool seen, struct attn_err *err);
/* The same for naming tokens of many texts by id; *out NULL: nothing does.  It lives until the next input_free. */
int input_labels(const struct attn_labels **out, struct attn_tokenizer **tokenizer, const struct attn_model *m,
                 bool seen, struct attn_err *err);
/* Fails if a file of labels is given and no ids, as input_read does. */
int input_check_labels(struct attn_err *err);
const struct attn_labels *input_labels_read(void);      /* those of a file, if any was read; NULL: none */
void input_free(struct input *in);      /* and the labels; all zero is fine */

#endif

/* input.h - what the commands work on: a text or token ids, from -s, -f or --ids. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "attn.h"

struct input {
    const char *text; size_t len;       /* NULL: ids were given */
    int32_t *ids; size_t n;
    char *owned;                        /* text that came from a file */
};

/* What the options say; wrong usage when there is none of them. */
int input_read(struct input *in, struct attn_err *err);
/* The same of the other text; there may be none: text and ids are NULL. */
int input_read_other(struct input *in, struct attn_err *err);
/* The text is a list of ids: sets ids and n. */
int input_parse_ids(struct input *in, const char *list, struct attn_err *err);
struct attn_encode_opts input_encode_opts(void);        /* what --special and --bos say */
/* The tokens of the text, as --special and --bos say. */
int input_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const struct input *in, struct attn_err *err);
/* Their ids alone: faster.  malloc'd. */
int input_encode_ids(int32_t **ids, size_t *n, const struct attn_tokenizer *t, const struct input *in, struct attn_err *err);
/* Its tokens, by *tokenizer, which is opened where it is NULL; ids need none, and get no text. */
int input_tokens(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in, struct attn_err *err);
/* Those of the other text, at least one; NULL: there is none. */
int input_tokens_other(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in, struct attn_err *err);
int input_ids(int32_t **out, const struct attn_tokens *t, struct attn_err *err);        /* malloc'd */
void input_free(struct input *in);      /* zeroed is fine */

#endif

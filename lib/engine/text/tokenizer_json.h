/* tokenizer_json.h - a tokenizer.json while it is read: what tokenizer_json.c and tokenizer_model.c share. */
#ifndef ATTN_TEXT_TOKENIZER_JSON_H
#define ATTN_TEXT_TOKENIZER_JSON_H

#include "base/json.h"
#include "text/subword.h"

struct attn_tokenizer_file {
    const struct attn_text_file *file;
    struct attn_subword *b;
    struct attn_err *err;
};

/* ---- members, read in place (tokenizer_json.c) ---- */

/* Where the value of a member is in the file; end 0 if it is absent. */
struct attn_json_span { size_t start, end; };

/* The members of an object: their names, and a function that reads the value of one. */
struct attn_members {
    const char *what, *const *names; size_t n;
    int (*take)(const struct attn_tokenizer_file *r, struct attn_json *j, size_t i);
};
/* Reads the object that is the reader's next value. */
int attn_members_take(const struct attn_tokenizer_file *r, struct attn_json *j, const struct attn_members *m,
                      struct attn_json_span *values);
int attn_members_skip(const struct attn_tokenizer_file *r, struct attn_json *j);
/* Starts a reader at a place of the file. */
void attn_members_at(const struct attn_tokenizer_file *r, struct attn_json *j, size_t at);
/* Which of n names the reader's string is; n: none of them. */
size_t attn_members_find(const struct attn_json *j, const char *const *names, size_t n);

/* ---- the model (tokenizer_model.c) ---- */

/* Reads it in one pass, since it is most of the file. */
int attn_tokenizer_model_take(const struct attn_tokenizer_file *r, struct attn_json *j);
/* Once it is known whether tokens spell bytes, and before tokens are added that no text may match. */
int attn_tokenizer_model_finish(const struct attn_tokenizer_file *r);

#endif

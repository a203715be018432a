/* reader.h - reads the text of an edit from left to right; each error names the column, and what was expected there. */
#ifndef ATTN_ASK_READER_H
#define ATTN_ASK_READER_H

#include <string.h>

#include "ask/edit.h"

/* where: what messages call the text, as in "--edit". */
struct attn_reader { struct attn_edit *e; const char *text; size_t len, at; const char *where; struct attn_err *err; };

/* Fails with what is at a place and what was expected there. */
int attn_reader_expected(const struct attn_reader *r, size_t at, const char *what);
int attn_reader_no_memory(const struct attn_reader *r);
/* Keeps a copy of a text in the edit. */
int attn_reader_keep(struct attn_reader *r, struct attn_edit_part *out, const char *s, size_t len);
/* Reads a string in quotes, with JSON's escapes; a whole number up to INT32_MAX. */
int attn_reader_string(struct attn_reader *r, struct attn_edit_part *out);
int attn_reader_whole(struct attn_reader *r, size_t *out);
/* edit_value.c: reads the VALUE behind the operation, up to the end of the text. */
int attn_reader_value(struct attn_reader *r);

static inline char peek(const struct attn_reader *r) { return r->at < r->len ? r->text[r->at] : '\0'; }
static inline char after(const struct attn_reader *r) { return r->at + 1 < r->len ? r->text[r->at + 1] : '\0'; }
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
/* Whether a * stands for all, and does not begin the operation *=. */
static inline bool at_star(const struct attn_reader *r) { return peek(r) == '*' && after(r) != '='; }

static inline void skip_blanks(struct attn_reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t')
        r->at++;
}

static inline bool take(struct attn_reader *r, const char *word)
{
    size_t n = strlen(word);
    if (r->len - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

#endif

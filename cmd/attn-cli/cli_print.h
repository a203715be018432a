/* cli_print.h - text, tokens and JSON on standard output, as the commands print them themselves. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "attn_ask.h"

#include <stdio.h>

/* Prints text of unknown origin, with U+FFFD for bytes that are not UTF-8.  On a terminal control characters are made
 * visible, as in \x1B, except line feeds and tabs. */
void print_text(FILE *f, const char *s, size_t len, bool terminal);
/* Prints a token as run's table does: · for a space, ↵ and → for line feed and tab, \xNN for other control bytes and
 * parts of characters.  Prints nothing if f is NULL.  Returns the columns it takes on a terminal. */
size_t print_visible(FILE *f, const char *s, size_t len);
size_t print_reading(FILE *f, const struct attn_token *t);        /* the same of what people read of a token */

/* Breaks lines between words where a terminal of `most` columns would break them anywhere, and indents what goes on. */
void print_wrapped(FILE *f, const char *text, size_t most);

/* ---- JSON ---- */

/* A quoted string; bytes that are not UTF-8 become U+FFFD.  s NULL prints null. */
void json_string(FILE *f, const char *s, size_t len);
/* The same for eyes: what would be invisible or steer a terminal becomes its number, as attn_utf8_visible writes it. */
void json_visible(FILE *f, const char *s, size_t len);
void json_text(FILE *f, const char *s);                 /* NUL-terminated */
/* The shortest digits that read back as the same double; null if it is not finite, which JSON cannot express. */
void json_real(FILE *f, double x);
/* An object that identifies the model: name, family, digest. */
int json_model(FILE *f, const struct attn_model *m, struct attn_err *err);
/* What differs from the model's own attention, each after a comma: , "attention": "window:4", "scale": "none" */
void json_kind(FILE *f, struct attn_kind kind);
/* The edits in canonical form, with a comma before the member: , "edits": ["L1H2 = 0"]; without edits nothing. */
void json_edits(FILE *f, const struct attn_edits *edits);
/* The first members of a token's object: id, text, raw; the caller closes it. */
void json_token(FILE *f, const struct attn_token *t);

#endif

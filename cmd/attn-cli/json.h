/* json.h - the little JSON that commands print themselves. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "attn.h"

#include <stdio.h>

/* With its quotes; what is no UTF-8 becomes U+FFFD.  s NULL: null. */
void json_string(FILE *f, const char *s, size_t len);
void json_text(FILE *f, const char *s);                 /* NUL-terminated */
/* The shortest digits that read back as the same double. */
void json_real(FILE *f, double x);
/* What identifies it, as an object: name, family, digest. */
int json_model(FILE *f, const struct attn_model *m, struct attn_err *err);
/* ,"attention": "window:4", "scale": "none", "dropout": 0.1, "seed": 7: of attention, what is not the model's own. */
void json_kind(FILE *f, struct attn_kind kind);
/* The first members of a token's object: id, text, raw. */
void json_token(FILE *f, const struct attn_token *t);

#endif

/* pick_token.h - which token of a text an option such as --query means. */
#ifndef CLI_PICK_TOKEN_H
#define CLI_PICK_TOKEN_H

#include "attn.h"

/* `given` is an index, or a text that occurs once, as a token or as several: then the last of these.  `option` and
 * `text`, what the text is called, are for messages. */
int pick_token(size_t *out, const char *option, const char *given, const struct attn_tokens *t, const char *text,
               struct attn_err *err);

#endif

/* asking.h - what the commands that ask a model share: tokens and metrics as they are typed. */
#ifndef CLI_ASKING_H
#define CLI_ASKING_H

#include "attn_ask.h"

/* The token of --target or --foil, with a note where the same word with a blank before it is one, too. */
int read_token(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t,
               struct attn_err *err);
/* Binds a metric to a text of n tokens.  If *tokenizer is NULL, opens that of -m for a metric that names tokens. */
int bind_metric(struct attn_metric *m, const struct attn_model *model, struct attn_tokenizer **tokenizer,
                const int32_t *ids, size_t n, struct attn_err *err);

#endif

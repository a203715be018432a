/* open.h - opens models and dumps for a command, and prints their warnings unless --quiet is given. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "table.h"

int open_model(struct attn_model **out, const struct command *c, struct attn_err *err);     /* of -m */
int open_dump(struct attn_dump **out, const char *path, const struct command *c, struct attn_err *err);

#endif

/* open.h - opens the model that the options name. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "table.h"

/* Opens -m for a command, and prints the model's warning about its files, if it has one, unless --quiet is given. */
int open_model(struct attn_model **out, const struct command *c, struct attn_err *err);

#endif

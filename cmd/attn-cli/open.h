/* open.h - the model the options name, and what is odd about it. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "table.h"

/* Opens -m for a command; something odd about its files is said as the command's warning, unless --quiet. */
int open_model(struct attn_model **out, const struct command *c, struct attn_err *err);

#endif

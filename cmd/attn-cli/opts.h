/* opts.h - parses the command line of one command by its rows.
 *
 * Accepts `--name value`, `--name=value`, `-n value`, `-nvalue` and flags together as in `-qh`, in any order; the last one
 * wins; `--` ends the options.  Names are never abbreviated, and numbers never rounded. */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "table.h"

/* argv: the arguments after the command's name, NULL after the last. */
int opts_parse(const struct command *c, char **argv, struct attn_err *err);

#endif

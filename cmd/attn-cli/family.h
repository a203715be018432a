/* family.h - writes the config.json of a Hugging Face family from the size options of init. */
#ifndef CLI_FAMILY_H
#define CLI_FAMILY_H

#include "table.h"

#include <stdio.h>

extern const char *const family_names[];                /* NULL after the last */

/* Writes the configuration of a family: sizes that were given come from the rows, all others are the family's defaults.  A
 * vocab_size other than 0 replaces that default.  A row that was given but has no key in the family is a usage error. */
int family_write(FILE *f, const char *family, const struct option *rows, size_t vocab_size, struct attn_err *err);

#endif

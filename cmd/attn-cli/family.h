/* family.h - the config.json of Hugging Face's families, from the size options of init. */
#ifndef CLI_FAMILY_H
#define CLI_FAMILY_H

#include "table.h"

#include <stdio.h>

extern const char *const family_names[];                /* NULL after the last */

/* Writes the configuration of a family: sizes as the rows have them, others as the family's defaults
 * say.  vocab_size 0: as the rows or defaults.  Wrong usage names a row the family has no key for. */
int family_write(FILE *f, const char *family, const struct option *rows, size_t vocab_size, struct attn_err *err);

#endif

/* families.h - the config.json of a new model of another family than our own, for init and train with --family. */
#ifndef CLI_FAMILIES_H
#define CLI_FAMILIES_H

#include "table.h"

const char *family_choice(size_t i);                    /* NULL after the last */
/* Lists the names, and what is to be known of each, for the help of --family. */
void family_list(char *out, size_t size);
/* Writes the configuration of a family: sizes that were given come from the rows, all others are the family's defaults.
 * A vocab_size other than 0 replaces that default.  If the family has no key for a given row, that is a usage error. */
int family_write(FILE *f, const char *family, const struct option *rows, size_t vocab_size, struct attn_err *err);

#endif

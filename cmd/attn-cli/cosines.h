/* cosines.h - how alike the rows of a matrix are: the cosine of the angle between each two. */
#ifndef CLI_COSINES_H
#define CLI_COSINES_H

#include "attn_tools.h"

extern const char *const cosine_rows[];                 /* of what, NULL after the last */
/* Writes a table: a row for each row, a column for each; of several heads, one below the other. */
int cosines_write(const struct attn_attend *a, const char *of, const char *format, const char *path,
                  struct attn_err *err);

#endif

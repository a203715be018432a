/* canonical.h - the command line that gives the same numbers and files again.
 *
 * It is written into manifests, so it must not depend on how the options were typed: it has long names, in the order of the
 * rows, quoted for a shell, and only options that change a number or a file. */
#ifndef CLI_CANONICAL_H
#define CLI_CANONICAL_H

#include "table.h"

char *canonical_command(const struct command *c);       /* malloc'd; NULL: no memory */

#endif

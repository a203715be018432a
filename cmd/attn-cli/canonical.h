/* canonical.h - the command line that gives the same numbers and files again.
 *
 * It stands in manifests, so that it must not depend on how things were typed: long names, in the
 * order of the rows, quoted for a shell, and only what changes a number or a file. */
#ifndef CLI_CANONICAL_H
#define CLI_CANONICAL_H

#include "table.h"

char *canonical_command(const struct command *c);       /* malloc'd; NULL: no memory */

#endif

/* spare.h - what is read is not written over.
 *
 * A typing error such as `plot a.npy -o a.npy` would cost what nobody can make again. */
#ifndef CLI_SPARE_H
#define CLI_SPARE_H

#include "table.h"

/* Fails where an output of c, as it was typed, is one of its inputs or a file of a model. */
int spare_inputs(const struct command *c, struct attn_err *err);

#endif

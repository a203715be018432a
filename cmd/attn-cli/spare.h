/* spare.h - keeps outputs from overwriting inputs.
 *
 * A slip such as `plot a.npy -o a.npy` would destroy data that may be impossible to make again. */
#ifndef CLI_SPARE_H
#define CLI_SPARE_H

#include "table.h"

/* Fails if an output of c is the same file as one of its inputs, or is a file of a model. */
int spare_inputs(const struct command *c, struct attn_err *err);

#endif

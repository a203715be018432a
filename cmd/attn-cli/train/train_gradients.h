/* train_gradients.h - computes the loss of a model on a text and its gradient by every weight. */
#ifndef CLI_TRAIN_GRADIENTS_H
#define CLI_TRAIN_GRADIENTS_H

#include "table.h"

int train_gradients(const char *path, struct attn_err *err);        /* path: the output file */

#endif

/* train_loop.h - training a model on a text, from flags to the last checkpoint. */
#ifndef CLI_TRAIN_LOOP_H
#define CLI_TRAIN_LOOP_H

#include "table.h"

extern const struct option train_file_options[], train_run_options[];

int train_loop(const char *corpus, struct attn_err *err);           /* corpus: the file */

#endif

/* train_loop.h - trains a model on a text: from the options to the last checkpoint. */
#ifndef CLI_TRAIN_LOOP_H
#define CLI_TRAIN_LOOP_H

#include "table.h"

extern const struct option train_file_options[], train_run_options[];

int train_loop(const char *corpus, struct attn_err *err);           /* corpus: path of the text */

#endif

/* train_config.h - what a training is asked to be: its options, and the JSON they stand for. */
#ifndef CLI_TRAIN_CONFIG_H
#define CLI_TRAIN_CONFIG_H

#include "table.h"

extern const struct option train_model_options[], train_step_options[];

/* A config.json of the options, where they say nothing of the defaults, for a vocabulary of so many tokens; malloc'd. */
int train_config(char **text, size_t *len, size_t tokens, bool bpe, struct attn_err *err);
/* A train.json of the options that were given; malloc'd. */
int train_settings(char **text, size_t *len, struct attn_err *err);
/* One of the options that config.json stands for; NULL: none was given. */
const struct option *train_config_given(void);

#endif

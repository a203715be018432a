/* train_config.h - the options that configure a training, and the JSON files they stand for. */
#ifndef CLI_TRAIN_CONFIG_H
#define CLI_TRAIN_CONFIG_H

#include "table.h"

extern const struct option train_model_options[], train_step_options[];

/* Makes a config.json from the options and, where they say nothing, the defaults, for a vocabulary of `tokens`; malloc'd. */
int train_config(char **text, size_t *len, size_t tokens, bool bpe, struct attn_err *err);
/* Makes a train.json from the options that were given; malloc'd. */
int train_settings(char **text, size_t *len, struct attn_err *err);
/* The first option given that config.json has a key for; NULL: none was given. */
const struct option *train_config_given(void);

#endif

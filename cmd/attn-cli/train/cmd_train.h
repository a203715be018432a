/* cmd_train.h - the parts of the command train: the options that configure a training, and the training itself. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "table.h"

/* ---- from the options to JSON files (train_config.c) ---- */

extern const struct option train_model_options[], train_step_options[];

/* Makes a config.json, of our own format or of a family, from the options and, where they say nothing, the defaults,
 * for a vocabulary of `tokens`; malloc'd. */
int train_config(char **text, size_t *len, const char *family, size_t tokens, const char *kind, struct attn_err *err);
/* Refuses the share of a text that is not there. */
int train_check_shares(bool also, bool against, struct attn_err *err);
/* Makes a train.json from the options that were given; malloc'd. */
int train_settings(char **text, size_t *len, struct attn_err *err);
/* Whether --steps was given. */
bool train_steps_given(void);
bool train_warmup_given(void);
/* The first option given that config.json has a key for; NULL: none was given. */
const struct option *train_config_given(void);

/* ---- from the options to the last checkpoint (train_loop.c) ---- */

extern const struct option train_file_options[], train_run_options[];

/* corpus: path of the text; from: the model to begin with; NULL: weights are drawn. */
int train_loop(const char *corpus, const char *from, struct attn_err *err);

#endif

/* config_check.h - checks that involve several keys of a native config.json.
 *
 * The table in config.c says what each key may be; here sizes that were left out are derived, and combinations
 * without a meaning are refused. */
#ifndef ATTN_MODEL_CONFIG_CHECK_H
#define ATTN_MODEL_CONFIG_CHECK_H

#include "model/config.h"

/* Fills in the sizes that are 0 because their keys are absent. */
int attn_config_derive(struct attn_config *c, const char *name, struct attn_err *err);
int attn_config_check(const struct attn_config *c, const char *name, struct attn_err *err);
int attn_config_check_tokenizer(const struct attn_config *c, const char *name, struct attn_err *err);

#endif

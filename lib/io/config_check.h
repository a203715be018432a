/* config_check.h - what the keys of a native config.json mean together.
 *
 * The table in config.c says what each key may be; here is what follows from several: sizes left out,
 * and combinations that have no meaning. */
#ifndef ATTN_IO_CONFIG_CHECK_H
#define ATTN_IO_CONFIG_CHECK_H

#include "io/config.h"

/* Fills in the sizes that are 0 because their keys are absent. */
int attn_config_derive(struct attn_config *c, const char *name, struct attn_err *err);
int attn_config_check(const struct attn_config *c, const char *name, struct attn_err *err);
int attn_config_check_tokenizer(const struct attn_config *c, const char *name, struct attn_err *err);

#endif

/* keys.h - options that stand for keys of a JSON file: they have the keys' names with - for _. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include "table.h"

#include <stdio.h>

#define SIZE_OPTION(name, to, help) {0, name, OPT_NUMBER, to, "N", help, .min = 1, .max = INT32_MAX}
#define COUNT_OPTION(name, to, help) {0, name, OPT_NUMBER, to, "N", help, .max = INT32_MAX}
#define REAL_OPTION(name, to, help) {0, name, OPT_REAL, to, "X", help, .flags = 0}
#define CHOICE_OPTION(name, to, list, help) {0, name, OPT_CHOICE, to, "KIND", help, .choices = list}
#define SWITCH_OPTION(name, to, help) {0, name, OPT_SWITCH, to, "true|false", help, .choices = key_truths}

extern const char *const key_truths[], *const key_positions[], *const key_norms[], *const key_mlps[], *const key_masks[],
    *const key_scales[], *const key_dtypes[];

/* Writes `"key": value, ` for each option that was given. */
void keys_write(FILE *f, const struct option *rows);

#endif

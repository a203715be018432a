/* attention.h - which attention computes: --attention, --scale, --dropout and its --seed, options of run, explain, generate
 * and score. */
#ifndef CLI_ATTENTION_H
#define CLI_ATTENTION_H

#include "table.h"

extern const struct option attention_options[];
/* --seed, for commands that have none of their own; those put it into dropout_seed all the same. */
extern const struct option dropout_seed_options[];
extern struct number dropout_seed;

/* What --attention takes, for the help. */
extern const char attention_title[];
extern const struct pair attention_kinds[];

/* What the options say; zero: the model's own. */
struct attn_kind attention_kind(void);

#endif

/* attention.h - the options that say which kind of attention is computed (--attention, --scale, --dropout and the latter's
 * --seed), for run, batch, explain, generate and score. */
#ifndef CLI_ATTENTION_H
#define CLI_ATTENTION_H

#include "table.h"

extern const struct option attention_options[];
/* --seed, for commands that have none of their own; commands with a --seed of their own store it in dropout_seed as well. */
extern const struct option dropout_seed_options[];
extern struct number dropout_seed;

/* The values that --attention takes, for the help. */
extern const char attention_title[];
extern const struct pair attention_kinds[];

/* The kind of attention that the options describe; all zero is the model's own. */
struct attn_kind attention_kind(void);

#endif

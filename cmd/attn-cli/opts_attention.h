/* opts_attention.h - which kind of attention is computed: the options that say it (--attention, --scale, --dropout and
 * the latter's --seed), for run, batch, explain, generate and score, and what causal-renorm costs. */
#ifndef CLI_ATTENTION_H
#define CLI_ATTENTION_H

#include "table.h"

extern const struct option attention_options[];
extern const struct option kind_options[];              /* --kind, another name for --attention */
/* --seed for commands that have none of their own; commands that do store theirs in dropout_seed, too. */
extern const struct option dropout_seed_options[];
extern struct number dropout_seed;

/* The values that --attention takes, for the help. */
extern const char attention_title[];
const struct pair *attention_kinds(void);
/* How the kinds are written, as in "window:W". */
const struct pair *attention_forms(bool notes);

/* The kind of attention that the options describe; all zero is the model's own. */
struct attn_kind attention_kind(void);
/* Says that --seed changes nothing, where --dropout alone would draw and is not given; explain draws gaps, too. */
void note_unused_seed(const struct command *c);
/* A plan with that kind, and with the threads and the precision of their options. */
struct attn_plan plan_asked(void);

/* Reports what causal-renorm costs on a text: how far its weights are from those of causal, and which rows it loses.
 * Prints notes if --attention is causal-renorm and --quiet is not given; runs the text once more for each note. */
int renorm_report(const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err);

#endif

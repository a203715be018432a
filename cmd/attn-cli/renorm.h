/* renorm.h - reports what causal-renorm costs on a text: how far its weights are from those of causal, which rows it loses. */
#ifndef CLI_RENORM_H
#define CLI_RENORM_H

#include "attn.h"

/* Prints notes if --attention is causal-renorm and --quiet is not given; runs the text once more for each note. */
int renorm_report(const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err);

#endif

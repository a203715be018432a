/* renorm.h - what causal-renorm costs on a text: how far its weights are from those of causal, which rows it loses. */
#ifndef CLI_RENORM_H
#define CLI_RENORM_H

#include "attn.h"

/* Notes, if that is what --attention asks for and notes are wanted: runs the text once more with each. */
int renorm_report(const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err);

#endif

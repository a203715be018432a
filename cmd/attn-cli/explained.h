/* explained.h - what explain and lesson share: one weight of a text, step by step. */
#ifndef CLI_EXPLAINED_H
#define CLI_EXPLAINED_H

#include "attn_tools.h"
#include "table.h"

extern const struct option explained_options[];
/* What these options and those of both commands say. */
struct attn_explain_opts explained_opts(void);
/* Derives a weight of the text that was given, as e says. */
int explained_write(const struct command *c, const struct attn_explain_opts *e, struct attn_err *err);
int explained_check_path(struct attn_err *err);         /* its ending stands for a format that these commands write */
void explained_note(int code);                          /* what a PDF's letters lack, if it was written */
/* The first of these options that was given, by its name; NULL: none. */
const char *explained_given(void);

#endif

/* diff_dumps.h - what `diff` is to compare: which of A and B are dumps, and which activations their arrays are. */
#ifndef DIFF_DUMPS_H
#define DIFF_DUMPS_H

#include "attn_tools.h"
#include "table.h"

extern const struct option diff_dump_options[];
bool diff_dumps_given(void);            /* whether one of them is */
int diff_names_read(struct attn_naming **names, struct attn_err *err);

bool diff_is_model(const char *path, const struct attn_naming *names);
/* Whether a file that could be a model's weights may also be a dump, as it stands alone. */
bool diff_may_be_dump(const char *path);
/* Tells where two dumps are of different texts, before anything is compared. */
void diff_warn_of_tokens(const struct attn_dump *a, const struct attn_dump *b);

#endif

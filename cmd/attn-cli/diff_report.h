/* diff_report.h - what `diff` prints. */
#ifndef DIFF_REPORT_H
#define DIFF_REPORT_H

#include "attn_ask.h"
#include "attn_tools.h"

struct differences {
    const struct attn_diff *diff;
    const struct attn_diff_opts *opts;
    const struct attn_dump *a, *b;
    const char *name_a, *name_b;
    bool all;                           /* list tensors that agree, too */
    bool same_ids;                      /* both sides ran the tokens of a, which are listed */
    const struct attn_edits *edits;     /* of a; NULL: none */
};

void diff_print(const struct differences *r);
void diff_print_json(const struct differences *r);

#endif

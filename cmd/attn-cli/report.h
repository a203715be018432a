/* report.h - prints what diff found, as text or JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "attn.h"

struct report {
    const struct attn_diff *diff;
    const struct attn_diff_opts *opts;
    const struct attn_dump *a, *b;
    const char *name_a, *name_b;
    bool all;                           /* list tensors that agree, too */
    bool same_ids;                      /* both sides ran the tokens of a, which are listed */
};

void report_text(const struct report *r);
void report_json(const struct report *r);

#endif

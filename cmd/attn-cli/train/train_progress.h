/* train_progress.h - shows on standard error how far a training is. */
#ifndef CLI_TRAIN_PROGRESS_H
#define CLI_TRAIN_PROGRESS_H

#include "table.h"

struct train_progress {
    bool on, terminal;
    double start, last;                 /* seconds; `last`: when a line was last printed */
    size_t step, tokens;                /* their values when this process began */
    int shown;                          /* columns of the line that the next one overwrites */
};

/* asked: show it even if standard error is no terminal. */
void train_progress_start(struct train_progress *p, bool asked, const struct attn_train_state *s);
void train_progress_show(struct train_progress *p, const struct attn_train_state *s);
void train_progress_end(struct train_progress *p);

#endif

/* train_progress.h - how far a training has come, on standard error. */
#ifndef CLI_TRAIN_PROGRESS_H
#define CLI_TRAIN_PROGRESS_H

#include "table.h"

struct train_progress {
    bool on, terminal;
    double start, last;                 /* seconds; when something was last told */
    size_t step, tokens;                /* when it started */
    int shown;                          /* columns of the line that the next one overwrites */
};

/* asked: tell it even where there is no terminal. */
void train_progress_start(struct train_progress *p, bool asked, const struct attn_train_state *s);
void train_progress_show(struct train_progress *p, const struct attn_train_state *s);
void train_progress_end(struct train_progress *p);

#endif

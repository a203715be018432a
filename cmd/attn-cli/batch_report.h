/* batch_report.h - what a batch tells its user: its progress, which records failed, what a dry run expects. */
#ifndef CLI_BATCH_REPORT_H
#define CLI_BATCH_REPORT_H

#include "attn.h"

struct batch_report {
    const char *input;                  /* for messages */
    bool lines, shows;                  /* print progress as plain lines; print progress at all */
    double start, told;                 /* seconds */
    uint64_t failures;                  /* reported so far */
    int shown;                          /* columns of the progress line now on the terminal */
};

void batch_report_start(struct batch_report *r, const char *input, bool lines);
/* Callbacks of attn_batch; self is the report. */
void batch_report_progress(void *self, const struct attn_batch_state *s);
void batch_report_failed(void *self, const struct attn_record *record, const char *why);
void batch_report_end(struct batch_report *r, const struct attn_batch_state *s);
void batch_report_estimate(const struct attn_batch_estimate *e);

#endif

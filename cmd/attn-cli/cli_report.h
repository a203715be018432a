/* cli_report.h - what the user is told of a run over many records: how far it is, which of them failed. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "attn_tools.h"

struct report {
    const char *command, *input;        /* for messages */
    bool lines, shows;                  /* print progress as plain lines; print progress at all */
    bool patient;                       /* nothing is printed in the first second */
    double start, last;                 /* seconds; last: when progress was last printed */
    uint64_t failures;                  /* reported so far */
    char first[320];                    /* where the first was and why; "": there is none */
    int shown;                          /* columns of the progress line now on the terminal */
};
/* input: its path. */
void report_start(struct report *r, const char *command, const char *input, bool lines);
/* Callbacks of attn_batch and attn_heads; self is the report. */
void report_progress(void *self, const struct attn_batch_state *s);
void report_failed(void *self, const struct attn_record *record, const char *why);
void report_column(void *self, const char *name, size_t len);               /* of a table, which may be a sentence */
void report_end(struct report *r, const struct attn_batch_state *s);            /* of a batch, which can be resumed */
/* How many failed, --quiet or not: the exit status says so, too.  Quietly, it also says what the first failure was, in
 * place of a line for each.  so: what that means. */
void report_failures(const struct report *r, uint64_t failed, uint64_t all, const char *so);
void report_overflow(const struct report *r, uint64_t records);         /* how many records have dots that overflow */

#endif

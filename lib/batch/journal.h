/* journal.h - records the progress of an output, so that no record is done twice and none is lost.
 *
 * OUT.part.json (sidecar.h) is kept beside the output while it grows and is rewritten after each pass, once the data
 * it describes has been written.  In the end it becomes OUT.json.  Outputs written in place, such as standard output,
 * have no journal.  The writer holds a lock on it, so that nobody else writes to the same output meanwhile. */
#ifndef ATTN_BATCH_JOURNAL_H
#define ATTN_BATCH_JOURNAL_H

#include "batch/sidecar.h"

enum attn_journal_state {
    ATTN_JOURNAL_NEW,                   /* there is nothing to continue */
    ATTN_JOURNAL_CONTINUED,             /* side tells the progress */
    ATTN_JOURNAL_ENDING,                /* all is written, but some files are not renamed yet */
    ATTN_JOURNAL_COMPLETE
};

struct attn_journal {
    struct attn_sidecar side;           /* filled in by the caller, except for the progress */
    char *path;                         /* of the output; NULL: no journal */
    char *part_json, *json;
    int fd;                             /* of part_json, locked */
    bool begun;                         /* something was written to it */
};

/* path is that of the output, with links followed; NULL: no journal.  All members but side must be zeroed. */
int attn_journal_open(struct attn_journal *j, const char *path, bool resume, bool force, enum attn_journal_state *state,
                      struct attn_err *err);
/* Starts or continues the journal, when the output begins to be written. */
int attn_journal_start(struct attn_journal *j, struct attn_err *err);
int attn_journal_note(struct attn_journal *j, bool disk, struct attn_err *err);
int attn_journal_finish(struct attn_journal *j, struct attn_err *err);
void attn_journal_withdraw(struct attn_journal *j);     /* removes OUT.part.json */
void attn_journal_close(struct attn_journal *j);        /* frees side, too */

/* Whether PATH.part exists, and its length. */
bool attn_part_size(const char *path, uint64_t *bytes);
/* Renames PATH.part to PATH; it is no error if that has been done or, unless `must`, if neither exists. */
int attn_part_rename(const char *path, bool must, struct attn_err *err);

#endif

/* journal.h - how far an output has come, so that no record is done twice and none is lost.
 *
 * OUT.part.json (sidecar.h) lies beside the output while it grows and is rewritten after each pass, when what it
 * tells of has been written.  In the end it becomes OUT.json.  Whatever is written in place, such as standard
 * output, has none.  Whoever writes holds a lock on it, so that nobody else writes to the same output meanwhile. */
#ifndef ATTN_BATCH_JOURNAL_H
#define ATTN_BATCH_JOURNAL_H

#include "batch/sidecar.h"

enum attn_journal_state {
    ATTN_JOURNAL_NEW,                   /* nothing is there, or nothing that matters */
    ATTN_JOURNAL_CONTINUED,             /* side tells how far it has come */
    ATTN_JOURNAL_ENDING,                /* all is written, but not yet all under its name */
    ATTN_JOURNAL_COMPLETE
};

struct attn_journal {
    struct attn_sidecar side;           /* filled by the caller; how far it has come is the journal's */
    char *path;                         /* of the output; NULL: there is no journal */
    char *part_json, *json;
    int fd;                             /* of part_json, locked */
    bool begun;                         /* something was written to it */
};

/* path: of the output, its links followed; NULL: no journal.  Zeroed before, but for side. */
int attn_journal_open(struct attn_journal *j, const char *path, bool resume, bool force, enum attn_journal_state *state,
                      struct attn_err *err);
/* The output begins, or goes on. */
int attn_journal_start(struct attn_journal *j, struct attn_err *err);
int attn_journal_note(struct attn_journal *j, bool disk, struct attn_err *err);
int attn_journal_finish(struct attn_journal *j, struct attn_err *err);
void attn_journal_withdraw(struct attn_journal *j);     /* OUT.part.json is no more */
void attn_journal_close(struct attn_journal *j);        /* frees side, too */

/* Whether PATH.part is there, and how long it is. */
bool attn_part_size(const char *path, uint64_t *bytes);
/* PATH.part gets its name; fine if it has it already, and if it need not be there. */
int attn_part_rename(const char *path, bool must, struct attn_err *err);

#endif

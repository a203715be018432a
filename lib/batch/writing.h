/* writing.h - writes one record: its line of the stream, its directory, its line of the summary.
 *
 * The sinks format a sentence; this module decides which of them and where to. */
#ifndef ATTN_BATCH_WRITING_H
#define ATTN_BATCH_WRITING_H

#include "batch/capture.h"
#include "batch/group.h"
#include "batch/place.h"
#include "batch/summary.h"

struct attn_writer {
    const char *name;
    const struct attn_format *stream;   /* one line for each record; NULL: the summary is the stream */
    const struct attn_format *each;     /* format of a directory for each record, or NULL */
    const char *file;                   /* its file there, for formats with a single file */
    bool stack;                         /* also writes arrays of all records */
};
const struct attn_writer *attn_writer_find(const char *name);           /* NULL: unknown name */
const char *attn_writer_list(void);
bool attn_writer_has_directory(const struct attn_writer *k);

struct attn_writing {                   /* what all records have in common */
    const struct attn_writer *writer;
    struct attn_sink_job job;           /* except for what differs between records */
    const char *dir;                    /* where the directories of records are made */
    const struct attn_capture *capture;
    const struct attn_summary *summary; /* NULL: not requested */
};

/* The sink of a record that is written while the model runs, because it is too large to be kept. */
struct attn_live {
    const struct attn_format *format;   /* NULL: only the summary watches */
    void *self;
    struct attn_sink_job job;
    struct attn_sink_record record;
    struct attn_record_dir place;
    char *file;
};
/* `to`: the stream. */
int attn_live_open(struct attn_live *l, const struct attn_writing *w, const struct attn_item *item, struct attn_out *to,
                   struct attn_team *team, struct attn_err *err);
int attn_live_finish(struct attn_live *l, struct attn_err *err);
void attn_live_close(struct attn_live *l);              /* zeroed is fine */

/* The malloc'd lines for the stream and for a separate summary; either may be NULL. */
struct attn_lines_of { char *line, *row; size_t line_len, row_len; };
/* i counts the captured items, which excludes failed ones; `live`: the activations have been written already. */
int attn_writing_lines(struct attn_lines_of *out, const struct attn_writing *w, const struct attn_item *item, size_t i, bool live,
                       struct attn_err *err);
void attn_writing_lines_free(struct attn_lines_of *l);
/* Writes what a stream begins with. */
void attn_writing_header(const struct attn_writing *w, struct attn_out *stream);

#endif

/* writing.h - one record as bytes: its line of the stream, its directory, its line of the summary.
 *
 * What a format writes of one sentence comes from the sinks; here is which of them, and where to. */
#ifndef ATTN_BATCH_WRITING_H
#define ATTN_BATCH_WRITING_H

#include "batch/capture.h"
#include "batch/group.h"
#include "batch/place.h"
#include "batch/summary.h"

struct attn_writer {
    const char *name;
    const struct attn_format *stream;   /* a line a record; NULL: the summary is the stream */
    const struct attn_format *each;     /* besides a directory for each, NULL: none */
    const char *file;                   /* in it, for formats of one file */
    bool stack;                         /* besides arrays of all of them */
};
const struct attn_writer *attn_writer_find(const char *name);           /* NULL: none of that name */
const char *attn_writer_list(void);
bool attn_writer_has_directory(const struct attn_writer *k);

struct attn_writing {                   /* how all of them are written */
    const struct attn_writer *writer;
    struct attn_sink_job job;           /* but for what differs */
    const char *dir;                    /* of the directories */
    const struct attn_capture *capture;
    const struct attn_summary *summary; /* NULL: nobody asks for it */
};

/* A sink of one record while the model runs, for those too large to be kept. */
struct attn_live {
    const struct attn_format *format;   /* NULL: nothing hears it but the summary */
    void *self;
    struct attn_sink_job job;
    struct attn_sink_record record;
    struct attn_place place;
    char *file;
};
/* `to`: the stream. */
int attn_live_open(struct attn_live *l, const struct attn_writing *w, const struct attn_item *item, struct attn_out *to,
                   struct attn_team *team, struct attn_err *err);
int attn_live_finish(struct attn_live *l, struct attn_err *err);
void attn_live_close(struct attn_live *l);              /* zeroed is fine */

/* What goes to the stream and to the summary beside it, malloc'd; either may be NULL. */
struct attn_lines_of { char *line, *row; size_t line_len, row_len; };
/* Item i of those that did not fail was captured; `live`: its activations were heard already. */
int attn_writing_lines(struct attn_lines_of *out, const struct attn_writing *w, const struct attn_item *item, size_t i, bool live,
                       struct attn_err *err);
void attn_writing_lines_free(struct attn_lines_of *l);
/* What a stream begins with. */
void attn_writing_header(const struct attn_writing *w, struct attn_out *stream);

#endif

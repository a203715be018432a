/* sink.h - what every writer of activations is given and gives.
 *
 * A sink is an observer: it is told bands and writes numbers to an attn_out, never to stdout by
 * name.  `open` prepares and may write what comes first, `watch` hears each band in the order
 * attn.h promises (a band of several heads holds all their rows), `finish` writes what comes last
 * and commits; `close` without finish leaves no trace.  One sentence a sink.  A closed pipe ends
 * the writing, not the run: outputs swallow what nobody reads.  One file a format; sink.c has the
 * table of formats. */
#ifndef ATTN_SINKS_SINK_H
#define ATTN_SINKS_SINK_H

#include "base/team.h"
#include "trace/select.h"

/* What of attention is not the model's own. */
struct attn_sink_kind {
    const char *attention, *scale;      /* as on the command line; NULL: the model's */
    double dropout; uint64_t seed;
    const char *note;                   /* all of it, to follow a matrix's title; NULL or "": nothing */
};

struct attn_out;

/* One of many sentences that go to the same output. */
struct attn_sink_record { const struct attn_record *of; const char *key; };

struct attn_sink_job {                  /* borrowed, outlives the sink */
    const struct attn_info *model;
    const char *digest;                 /* of the model; may be NULL for formats that do not show it */
    const char *cpu;                    /* attn_cpu_target() */
    const struct attn_select *select;
    const struct attn_tokens *tokens;
    const char *text; size_t text_len;  /* NULL: ids only */
    const struct attn_tokens *cross;    /* of the other text, at whose keys this one looks; NULL: there is none */
    const char *cross_text; size_t cross_len;
    const char *command;
    struct attn_sink_kind kind;
    const char *path;                   /* NULL or "-": standard output */
    struct attn_out *to;                /* ndjson and tidy: added to this, which stays open; NULL: path */
    const struct attn_sink_record *record;      /* ndjson and tidy say which one it is; NULL: the only sentence */
    struct attn_team *team;             /* for what is worth sharing out; NULL: the caller alone */
    int precision, width;
    size_t limit;
    bool color;
    struct attn_picture_opts picture;
    /* How a token of the vocabulary reads (NULL: unknown); the function may be NULL. */
    const char *(*token_text)(void *ctx, int32_t id, size_t *len);
    void *token_ctx;
};

struct attn_format {
    const char *name;
    bool digest;                        /* needs job.digest */
    int (*open)(void **self, const struct attn_sink_job *job, struct attn_err *err);
    unsigned (*wants)(void *self, int act, int layer);
    int (*watch)(void *self, const struct attn_probe *p, struct attn_err *err);
    int (*finish)(void *self, struct attn_err *err);
    void (*close)(void *self);          /* NULL is fine */
};

/* The tokens that are keys, and those that the rows of an activation stand for: of k and v, the keys. */
const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job);
const struct attn_tokens *attn_sink_rows(const struct attn_sink_job *job, int act);

extern const struct attn_format attn_format_text, attn_format_json, attn_format_ndjson, attn_format_csv, attn_format_tidy,
    attn_format_npy, attn_format_npz, attn_format_term, attn_format_png, attn_format_svg,
    attn_format_html;

const struct attn_format *attn_format_find(const char *name);       /* NULL: none of that name */
/* Where a format of one stream writes, and what it does when it has written all. */
int attn_sink_stream(struct attn_out **out, const struct attn_sink_job *job, struct attn_err *err);
int attn_sink_stream_end(struct attn_out *out, const struct attn_sink_job *job, struct attn_err *err);
void attn_sink_stream_close(struct attn_out *out, const struct attn_sink_job *job);
/* "text, json, csv" and so on */
const char *attn_format_list(void);

#endif

/* sink.h - the interface of all writers of activations.
 *
 * A sink is an observer that writes the numbers of bands to an attn_out, never to stdout by name.
 * `open` prepares it and may write what comes first; `watch` gets each band, in the order that attn.h
 * promises (a band of several heads has all their rows); `finish` writes what comes last and commits.
 * `close` without finish leaves nothing behind.  A sink writes one sentence.  If the reader of a pipe
 * closes it, the run goes on, and what is written is thrown away.  Each format is one file; sink.c
 * has the table of formats. */
#ifndef ATTN_SINKS_SINK_H
#define ATTN_SINKS_SINK_H

#include "base/team.h"
#include "run/kind.h"
#include "trace/select.h"

struct attn_out;

/* One sentence of a batch, whose sentences go to the same output. */
struct attn_sink_record { const struct attn_record *of; const char *key; };

struct attn_sink_job {                  /* borrowed, outlives the sink */
    const struct attn_info *model;
    const char *digest;                 /* of the model; may be NULL for formats that do not show it */
    const char *cpu;                    /* attn_cpu_target() */
    const struct attn_select *select;
    const struct attn_tokens *tokens;
    const char *text; size_t text_len;  /* NULL: ids only */
    const struct attn_tokens *cross;    /* cross-attention: of the other text, whose keys this one looks at; else NULL */
    const char *cross_text; size_t cross_len;
    const char *command;
    struct attn_sink_kind kind;
    const char *path;                   /* NULL or "-": standard output */
    bool staged;                        /* path is an empty directory that is renamed when it is complete */
    struct attn_out *to;                /* ndjson and tidy append to this and leave it open; NULL: they write to path */
    const struct attn_sink_record *record;      /* of a batch, for ndjson and tidy; NULL: the only sentence */
    struct attn_team *team;             /* threads for large outputs; NULL: only the calling thread works */
    int precision, width;
    size_t limit;
    bool color;
    struct attn_picture_opts picture;
    /* Returns the text of a token of the vocabulary, NULL if it is unknown; the function may be NULL. */
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
    const char *(*note)(void *self);    /* of what was written, for the user; NULL: there never is one */
    void (*close)(void *self);          /* NULL is fine */
};

/* The tokens that are keys; the tokens of the rows of an activation, which for k and v are the keys. */
const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job);
const struct attn_tokens *attn_sink_rows(const struct attn_sink_job *job, int act);

extern const struct attn_format attn_format_text, attn_format_json, attn_format_ndjson, attn_format_csv, attn_format_tidy,
    attn_format_npy, attn_format_npz, attn_format_term, attn_format_png, attn_format_svg,
    attn_format_html;

const struct attn_format *attn_format_find(const char *name);       /* NULL: none of that name */
/* For formats that write one stream: opens it, commits it when all is written, closes it. */
int attn_sink_stream(struct attn_out **out, const struct attn_sink_job *job, struct attn_err *err);
int attn_sink_stream_end(struct attn_out *out, const struct attn_sink_job *job, struct attn_err *err);
void attn_sink_stream_close(struct attn_out *out, const struct attn_sink_job *job);
/* The names of all formats, "text, json, csv" and so on. */
const char *attn_format_list(void);

#endif

/* sink.h - the interface of all writers of activations.
 *
 * A sink is an observer that writes the numbers of bands to an attn_out, never to stdout by name.
 * `open` prepares it and may write what comes first; `watch` gets each band, in the order that attn.h
 * promises (a band of several heads has all their rows); `finish` writes what comes last and commits.
 * `close` without finish leaves nothing behind.  A sink writes one sentence.  If the reader of a pipe
 * closes it, the run goes on, and what is written is thrown away.
 *
 * A format is a row of formats.h and a file with its methods, which are declared below.  Who else may name one, and
 * why, is listed in tests/cmd/test_additions.c.  The rows are in formats.c, their methods in writers.c: who asks what
 * formats there are, and writes tables, gets no fonts and no PNG with them. */
#ifndef ATTN_SINKS_SINK_H
#define ATTN_SINKS_SINK_H

#include "attn_ask.h"
#include "attn_tools.h"
#include "base/err.h"
#include "base/team.h"
#include "language/language.h"
#include "model/kind.h"
#include "trace/select.h"

struct attn_out;
struct attn_words;
struct attn_album;
struct attn_album_live;
struct attn_look;
struct attn_tensor_sheet;

/* One sentence of a batch, whose sentences go to the same output. */
struct attn_sink_record { const struct attn_record *of; const char *key; };

struct attn_sink_job {                  /* borrowed, outlives the sink */
    const struct attn_info *model;
    const struct attn_model *of;        /* the same model; NULL: what is written has no run of its own */
    const char *digest;                 /* of the model; may be NULL for formats that do not show it */
    const char *cpu;                    /* the instructions that compute */
    const struct attn_select *select;
    const struct attn_tokens *tokens;   /* that are shown: with words, these */
    const struct attn_tokens *pieces, *context_pieces;  /* those of the run, and of its other text */
    const struct attn_words *rows, *keys;       /* merge pieces into words, in the sentence and in the keys; or NULL */
    bool words;                         /* they are merged, here or in the page */
    bool joined;                        /* nobody asked for that: see attn_sink_methods.joins */
    const char *text; size_t text_len;  /* NULL: ids only */
    const struct attn_tokens *cross;    /* of the other text, whose keys this one looks at; NULL: there is none */
    const char *cross_text; size_t cross_len;
    const char *command;
    struct attn_kind attention;         /* how it attends, and in words */
    struct attn_sink_kind kind;
    const struct attn_sink_gradient *gradient;  /* NULL: activations are shown */
    const struct attn_edits *edits;     /* NULL: none */
    const struct attn_compare *compare; /* complete when the sink finishes; NULL: none */
    const struct attn_ablated *ablated; size_t n_ablated;   /* what comes next without each head; NULL: not asked for */
    const struct attn_album_live *live; /* the model, for a page that computes; NULL: it only shows */
    const struct attn_sink_hint *hints; /* commands to go on with, then one of NULL; NULL: none */
    const struct attn_language *language;       /* of a screen */
    const char *path;                   /* NULL or "-": standard output */
    bool staged;                        /* path is an empty directory that is renamed when it is complete */
    struct attn_out *to;                /* ndjson and tidy append to this and leave it open; NULL: they write to path */
    const struct attn_sink_record *record;      /* of a batch, for ndjson and tidy; NULL: the only sentence */
    struct attn_team *team;             /* threads for large outputs; NULL: only the calling thread works */
    int precision, width;
    size_t limit;
    bool color, csv_safe;
    struct attn_picture_opts picture;
    /* Returns the text of a token of the vocabulary, NULL if it is unknown; the function may be NULL. */
    const char *(*token_text)(void *ctx, int32_t id, size_t *len);
    void *token_ctx;
};

struct attn_sink_methods {
    int (*open)(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err);
    unsigned (*wants)(void *self, int act, int layer);
    int (*watch)(void *self, const struct attn_probe *p, struct attn_err *err);
    /* Gets bands before they are merged into words, then `watch` what they complete; NULL: it needs none. */
    int (*pieces)(void *self, const struct attn_probe *p, struct attn_err *err);
    int (*finish)(void *self, struct attn_err *err);
    const char *(*note)(void *self);    /* of what was written, for the user; NULL: there never is one */
    void (*close)(void *self);          /* NULL is fine */
    /* ATTN_FORMAT_LINES only: what comes before all sentences of a batch; writes a sentence that failed. */
    const char *header;
    void (*failed)(struct attn_out *o, const struct attn_sink_job *job, const char *why);
    /* ATTN_FORMAT_PICTURE only: reads how pictures are to look; draws an album. */
    int (*look)(struct attn_look *out, const struct attn_picture_opts *o, struct attn_err *err);
    int (*draw)(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
    /* ATTN_FORMAT_TENSOR only: writes a tensor of a model. */
    int (*tensor)(const struct attn_tensor_sheet *w, struct attn_err *err);
    /* Adds the model to a page that computes; NULL: it never does. */
    int (*live)(struct attn_album_live **out, const struct attn_sink_job *job, const struct attn_tokenizer *t,
                struct attn_err *err);
    void (*live_free)(struct attn_album_live *live);
    bool joins;                         /* shows words, as if asked for, where many tokens are parts of characters */
    bool merges;                        /* merges tokens into words itself */
    bool next;                          /* shows what comes next, too, that without each head, and that of the lens */
};

extern const struct attn_sink_methods attn_text_methods, attn_json_methods, attn_ndjson_methods, attn_csv_methods,
    attn_tidy_methods, attn_npy_methods, attn_npz_methods, attn_term_methods, attn_png_methods, attn_svg_methods,
    attn_pdf_methods, attn_html_methods, attn_screen_methods;

/* Those of a format; NULL: a batch alone writes it. */
const struct attn_sink_methods *attn_format_methods(const struct attn_format *f);
/* How pictures of a format of ATTN_FORMAT_PICTURE look, and drawing an album in it; a program may draw none. */
#if defined(__wasm__)                   /* the compiler sees that what follows is never done */
static inline int attn_format_look(struct attn_look *out, const char *format, const struct attn_picture_opts *o,
                                   struct attn_err *err)
{
    (void)out, (void)o;
    (void)attn_fail(err, ATTN_EUSAGE, "a page draws by itself: expected a format other than '%s'", format);
    return ATTN_EUSAGE;
}
#else
int attn_format_look(struct attn_look *out, const char *format, const struct attn_picture_opts *o,
                     struct attn_err *err);
#endif
int attn_format_draw(struct attn_out *o, const char *format, const struct attn_album *a, const struct attn_look *look,
                     struct attn_err *err);

/* Lists the names of the formats that have one of the flags, "text, json, csv" and so on. */
enum { ATTN_FORMAT_LIST = 128 };
const char *attn_format_list(char list[ATTN_FORMAT_LIST], unsigned flags);
/* Fails unless the format, NULL: text, has any of `uses`, which are flags, too. */
int attn_format_check(const char *format, unsigned uses, struct attn_err *err);

/* What titles say of gradients, before what the note of a kind says. */
enum { ATTN_GRADIENT_NOTE = 160 };
void attn_sink_gradient_note(char note[ATTN_GRADIENT_NOTE], const struct attn_sink_gradient *g,
                             const struct attn_language *l);

/* The tokens that are keys. */
const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job);

/* For formats that write one stream: opens it, commits it when all is written, closes it. */
int attn_sink_stream(struct attn_out **out, const struct attn_sink_job *job, struct attn_err *err);
int attn_sink_stream_end(struct attn_out *out, const struct attn_sink_job *job, struct attn_err *err);
void attn_sink_stream_close(struct attn_out *out, const struct attn_sink_job *job);

#endif

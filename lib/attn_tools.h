/* attn_tools.h - what the program attn-cli is made of besides attn.h: output in every format, pictures, many sentences, saved
 * activations and their comparison, derivations, making and training models, measuring the machine.
 *
 * The rules of attn.h hold here, too. */
#ifndef ATTN_TOOLS_H
#define ATTN_TOOLS_H

#include "attn.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ---- ends in an emergency -------------------------------------------------------------- */

/* Both may be called in a signal handler.  Models are mapped, so that a file which shrinks while it is used raises SIGBUS: a
 * program may want to say which one it was (si_addr), remove its unfinished output and exit. */
const char *attn_file_mapped_at(const void *address);               /* the path of the file mapped there; NULL: none */
void attn_files_abandon(void);          /* removes the temporary files of all output that is not committed yet */

/* ---- writing files --------------------------------------------------------------------------- */

/* Writes a file whole or, on failure, leaves what was there as it was; all functions here write files so.  "-" or NULL is
 * standard output, where a pipe closed by its reader is no error. */
int attn_write_file(const char *path, const char *data, size_t len, struct attn_err *err);

/* ---- formats, pictures, sinks ---------------------------------------------------------------- */

/* How matrices are drawn; all zero is the default. */
struct attn_picture_opts {
    const char *palette;                /* viridis (NULL), magma, cividis, gray, balance */
    const char *scale;                  /* of colours: "linear" (NULL), "log", "row": each row is divided by its largest number */
    bool hide_first;                    /* leave column 0 blank and out of the colour scale; other weights stay as they are */
    size_t cell;                        /* width of a number's cell in pixels, on a terminal in columns; 0: what fits */
    int colors;                         /* how many the terminal has: 0 (shades are drawn), 256, 1 << 24 */
    uint64_t reserved[2];
};

/* The formats of output are the rows of one table: options, help, messages and the choice by the ending of a path follow from
 * them. */
enum {
    ATTN_FORMAT_RUN = 1,                /* shows one sentence: what run and generate write */
    ATTN_FORMAT_LINES = 2,              /* a batch writes it as one stream, some lines for each sentence, */
    ATTN_FORMAT_APART = 4,              /* or as a directory for each sentence, */
    ATTN_FORMAT_STACK = 8,              /* or as arrays of all sentences, */
    ATTN_FORMAT_SUMMARY = 16,           /* or as one line of figures for each */
    ATTN_FORMAT_PICTURE = 32,           /* matrices are drawn: plot and variants write it, too */
    ATTN_FORMAT_BINARY = 64,            /* not for a terminal */
    ATTN_FORMAT_MANY = 128,             /* a file for each matrix or activation, unless there is only one: in a directory */
    ATTN_FORMAT_DIGEST = 256,           /* names the model's digest */
    ATTN_FORMAT_COMPARE = 512,          /* says what edits did to the next token */
    ATTN_FORMAT_ABLATED = 1024          /* says what comes next without each head, if that is known */
};
struct attn_format {
    const char *name;
    const char *ending;                 /* of paths that mean it, as in ".csv"; NULL: none does */
    const char *help;                   /* in a few words; NULL: the name says it */
    const char *show;                   /* the activations to show if none are asked for; NULL: as everywhere */
    unsigned flags;                     /* ATTN_FORMAT_... */
    const struct attn_sink_methods *methods;    /* for the library; NULL: a batch alone writes it */
};
/* The row after f, the first for NULL; NULL: there are no more. */
const struct attn_format *attn_format_next(const struct attn_format *f);
const struct attn_format *attn_format_find(const char *name);           /* NULL: there is none of that name */
/* The format that the ending of a path means, in upper or lower case; NULL: none.  path may be NULL. */
const struct attn_format *attn_format_of_path(const char *path);

/* What a sink is shown in place of activations: derivatives of a metric with respect to them, or these times the activations. */
struct attn_sink_gradient { const char *metric; double value; bool times; };
struct attn_sink_opts {
    const char *format;                 /* one of ATTN_FORMAT_RUN or ATTN_FORMAT_LINES; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    const struct attn_model *model;
    const struct attn_select *select;
    const struct attn_tokens *tokens;   /* of sentence 0 of the run: this sentence is shown */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    const struct attn_tokens *cross;    /* cross-attention: tokens of sentence 1, whose k and v are shown; else NULL */
    const char *cross_text; size_t cross_len;
    const struct attn_tokenizer *tokenizer; /* to spell the likeliest next tokens; may be NULL */
    const char *command;                /* a command line that makes it again, for the manifest */
    struct attn_kind kind;              /* of attention, for titles and documents */
    const struct attn_sink_gradient *gradient;  /* NULL: activations */
    const struct attn_edits *edits;     /* of the run, for documents; NULL: none */
    const struct attn_compare *compare; /* what they did to the next token, known at the end; NULL: not compared */
    const struct attn_ablated *ablated; size_t n_ablated;   /* what comes next without each head; NULL: not asked for */
    int threads;                        /* 0: as many as this process may use; the output is the same */
    int precision;                      /* text only: digits after the point */
    int width;                          /* text only: columns of the terminal; 0: no limit */
    size_t limit;                       /* text only: beyond so many numbers in all, each activation is summarised; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    uint64_t reserved[4];
};
/* A sink is an observer that writes what it sees.  Give attn_sink_observer(s) to a run and call attn_sink_finish after
 * it: only then do files appear under their names.  Closing an unfinished sink leaves no file. */
struct attn_sink;
int attn_sink_open(struct attn_sink **out, const struct attn_sink_opts *o, struct attn_err *err);
struct attn_observer attn_sink_observer(struct attn_sink *s);
int attn_sink_finish(struct attn_sink *s, struct attn_err *err);
/* After finish, what the user should know of the directory written to; NULL: nothing.  Lives as long as the sink. */
const char *attn_sink_note(const struct attn_sink *s);
void attn_sink_close(struct attn_sink *s);                          /* NULL is fine */

/* ---- edits ------------------------------------------------------------------------------------ */

/* A list of edits: which numbers of which activations to change, and how.  They are applied in the order in which they were added.
 * "L1H2 = 0" removes a head, "L0.mlp.out[pos=-1] += 2*vector.npy" steers a row; lib/ask/edit.h has the grammar, and the manual
 * explains it. */
struct attn_edits;
/* Each of these adds to *list, which is made if it is NULL; after an error it is as it was.  Messages name the column. */
int attn_edits_parse(struct attn_edits **list, const char *edit, struct attn_err *err);
/* The text of a file, an edit a line; lines that begin with # are comments. */
int attn_edits_read(struct attn_edits **list, const char *text, size_t len, const char *path, struct attn_err *err);
int attn_edits_ablate(struct attn_edits **list, const char *places, struct attn_err *err);      /* "L0H1,L2.mlp.out": each = 0 */
int attn_edits_patch(struct attn_edits **list, const char *places, const char *source, struct attn_err *err);   /* each = source */
/* "FILE.npy:2@0-3", "FILE.npz:2": resid_post of layers 0-3, or of each layer N for which the archive has direction.N, += 2*FILE. */
int attn_edits_steer(struct attn_edits **list, const char *spec, struct attn_err *err);
void attn_edits_free(struct attn_edits *list);                      /* NULL is fine, and an empty list, here and below */
size_t attn_edits_count(const struct attn_edits *list);
const char *attn_edits_text(const struct attn_edits *list, size_t i);           /* its canonical form; lives as long as the list */
bool attn_edits_from(const struct attn_edits *list);                /* whether one takes values from the other text, `from` */

/* An editor is the observer that does the edits.  Give attn_editor_observer(e) to a run before those that watch.  What is wrong
 * with edits for this model is found when it is made; with those for a text, by attn_editor_text. */
struct attn_editor_opts {
    const struct attn_edits *edits;     /* must outlive the editor unchanged, and so must all that follows; NULL: none */
    const struct attn_model *model;
    const char *tokenizer;              /* name of the model whose tokenizer reads texts; it is opened when it is needed */
    struct attn_encode_opts encode;     /* for text("...") and texts(FILE) */
    const struct attn_tokens *from;     /* the other text that `from` means; NULL: there is none */
    const struct attn_tokens *cross;    /* cross-attention: the other text, for the text and for sources; else NULL */
    struct attn_plan plan;              /* of the runs that are edited, and of unedited ones for sources: threads, bf16, kind */
    uint64_t reserved[4];
};
struct attn_editor;
int attn_editor_new(struct attn_editor **out, const struct attn_editor_opts *o, struct attn_err *err);
void attn_editor_free(struct attn_editor *e);                       /* NULL is fine */
/* Tells the tokens of sentence `seq` of the passes to come; a text that is longer than the model's context is read in windows, as by
 * attn_score.  grows: it is a prompt, to which attn_editor_more adds the tokens of each further pass that continues its cache. */
int attn_editor_text(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, bool grows, struct attn_err *err);
int attn_editor_more(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, struct attn_err *err);
/* The next pass reads the text that has grown once more, from its start. */
int attn_editor_replay(struct attn_editor *e, size_t seq, struct attn_err *err);
/* Runs the texts that values are taken from.  Call it once, after the first text and before the first pass. */
int attn_editor_start(struct attn_editor *e, struct attn_err *err);
struct attn_observer attn_editor_observer(struct attn_editor *e);

/* What an edit changes of one activation; lists are as in "0,2-4".  heads: those that the activation has, which are key/value heads
 * where `kv` says so; of context the query heads whose columns are changed; NULL: none.  Hidden cells do not count. */
struct attn_touch {
    size_t edit;                        /* number of the edit in its list */
    const char *name, *heads, *rows, *cols;
    bool keys, kv;                      /* the columns are keys; the heads are key/value heads that serve several */
    uint64_t numbers;
    uint64_t reserved[2];
};
struct attn_touch_watch { int (*tell)(void *self, const struct attn_touch *t, struct attn_err *err); void *self; };
/* Tells what the edits change of a text that the editor was told, in their order.  Sources need not have run. */
int attn_editor_touches(struct attn_editor *e, size_t seq, const struct attn_touch_watch *watch, struct attn_err *err);

/* What edits did to the next token: `before` goes to an unedited run of the text, `after` to the edited one, as their last
 * observers. */
struct attn_compare;
enum { ATTN_COMPARED = 5 };
struct attn_compared {
    double kl;                          /* KL(before || after) of the last position, in nats */
    struct attn_likely before[ATTN_COMPARED], after[ATTN_COMPARED]; size_t n_before, n_after;   /* likeliest next tokens */
};
int attn_compare_new(struct attn_compare **out, const struct attn_model *m, struct attn_err *err);
void attn_compare_free(struct attn_compare *c);                     /* NULL is fine */
struct attn_observer attn_compare_before(struct attn_compare *c);
struct attn_observer attn_compare_after(struct attn_compare *c);
/* Fails if logits are not finite, as attn_logits_top does. */
int attn_compare_result(const struct attn_compare *c, struct attn_compared *out, struct attn_err *err);

/* What comes next without each head: for each, a run in which its context is 0, as after the edit "L1H2 = 0". */
struct attn_select;
struct attn_ablated {
    size_t layer, head;
    double kl;                          /* KL(with all heads || without this one) of the last position, in nats; NaN: a logit is not finite */
    struct attn_likely after[ATTN_COMPARED]; size_t n;      /* the likeliest next tokens */
};
struct attn_ablate_opts {
    const struct attn_tokens *tokens;
    const struct attn_select *heads;    /* those whose pattern, scores, dots or norms it selects */
    struct attn_editor *editor;         /* of all runs; started, with the tokens as its text 0.  NULL: nothing else is edited */
    struct attn_plan plan;              /* threads, bf16 and kind */
    int (*step)(void *self, size_t done, size_t all, struct attn_err *err);     /* called now and then; a code ends it */
    void *self;                         /* for step, which may be NULL */
    uint64_t reserved[4];
};
/* *out is malloc'd, by layer, then head. */
int attn_ablate_heads(struct attn_ablated **out, size_t *n, const struct attn_model *m, const struct attn_ablate_opts *o,
                      struct attn_err *err);

/* ---- what heads do --------------------------------------------------------------------- */

/* Numbers that say what a head does are the rows of one table.  All but one are means over the rows of the head's patterns; a row
 * that offers nothing does not count. */
enum {
    ATTN_SCORE_SHARE = 1,               /* a share of the attention: the largest of these says what the head does most */
    ATTN_SCORE_NO_TEXT = 2              /* computed from the weights of the model */
};
struct attn_head_row;
struct attn_head_score {
    const char *name, *brief;           /* "induction"; for narrow columns, "induct" */
    const char *help;
    unsigned flags;                     /* ATTN_SCORE_... */
    bool (*of)(double *out, struct attn_head_row *r);       /* for the library */
};
/* The row after s, the first for NULL; NULL: there are no more. */
const struct attn_head_score *attn_head_score_next(const struct attn_head_score *s);
const struct attn_head_score *attn_head_score_find(const char *name);  /* NULL: there is none of that name */
size_t attn_head_score_count(void);

/* Texts r r of random tokens, in which induction heads show: r is n distinct ids that neither begin nor end a text.  Where the
 * tokenizer puts a token in front of a text, these have it, too. */
struct attn_repeat_opts {
    const struct attn_tokenizer *tokenizer;     /* NULL: nothing is put in front */
    enum attn_bos bos;                  /* as in attn_encode_opts */
    size_t n;                           /* 0: 24, or as many as fit */
    size_t texts;                       /* 0: 8 */
    uint64_t seed;
    uint64_t reserved[2];
};
struct attn_repeated { int32_t *ids; size_t texts, T, n; };     /* ids: malloc'd, [texts, T] */
int attn_repeat(struct attn_repeated *out, const struct attn_model *m, const struct attn_repeat_opts *o, struct attn_err *err);

/* ---- many sentences -------------------------------------------------------------------- */

/* The share of an input's records that one of `count` processes takes; index is 0..count-1.  Of N records these are
 * N*index/count up to, without it, N*(index+1)/count; with stride, record `index` and every count-th after it.  All
 * zero: every record. */
struct attn_share { uint64_t index, count; bool stride; };
/* Reads "2/7" or "auto", which takes both numbers from the environment variables of Slurm, Open MPI or PMI; `get` looks
 * them up as getenv does.  Leaves stride as it is. */
int attn_share_parse(struct attn_share *out, const char *text, char *(*get)(const char *name), struct attn_err *err);

/* Reads sentences from a file one at a time: memory grows with the longest one only.  The manual describes the formats
 * under `batch`. */
struct attn_records_opts {
    const char *path;                   /* NULL or "-": standard input */
    const char *format;                 /* text ndjson csv tsv; NULL: by the ending of the path, else text */
    const char *column;                 /* csv, tsv: name or index of the column with the text; NULL: "text", or the only one */
    bool headless;                      /* csv, tsv: the first row is a record, not a header */
    struct attn_share share;
    bool (*stop)(void *self);           /* asked several times a second while waiting for input; NULL: never stop */
    void *self;                         /* for stop */
    const char *const *fields; size_t n_fields;     /* ndjson, csv, tsv: names of other members or columns to read; they must
                                         * outlive the reader */
    size_t n_columns;                   /* csv, tsv: the first of them, which the table must have */
    uint64_t reserved[1];
};
/* What a record has under one of these names: a text, or ids, of which a number is one; neither: it does not have it. */
struct attn_record_field { const char *name, *text; size_t len; const int32_t *ids; size_t n; };
struct attn_record {
    uint64_t number, line;              /* number: its place in the whole input, from 0; line: where it begins, from 1 */
    const char *id; size_t id_len;      /* its id in the input, not necessarily unique; NULL: it has none */
    bool id_is_number;                  /* id is a JSON number, spelled as in the input; else it is a string */
    const char *text; size_t text_len;  /* UTF-8, which may contain NULs; NULL: there are ids or an error instead */
    const int32_t *ids; size_t n;
    const char *error;                  /* what is wrong with the record, without file and line; NULL: nothing */
    const struct attn_record_field *field; size_t n_fields;     /* in the order in which they were asked for */
};
enum attn_records_event { ATTN_RECORDS_NEXT, ATTN_RECORDS_END, ATTN_RECORDS_STOPPED };

struct attn_records;
/* Opens the input; of a pipe nothing is read yet.  A share without stride needs a regular file, whose records are counted
 * first. */
int attn_records_open(struct attn_records **out, const struct attn_records_opts *o, struct attn_err *err);
void attn_records_close(struct attn_records *r);                    /* NULL is fine */
/* Reads the next record; its pointers are valid until the next call.  A bad record is no failure but has an `error`: the
 * function fails only if reading cannot go on. */
int attn_records_next(struct attn_records *r, struct attn_record *out, enum attn_records_event *what, struct attn_err *err);
/* Skips records of the share, without parsing them, so that the next one has number `to` or above. */
int attn_records_skip(struct attn_records *r, uint64_t to, struct attn_err *err);
/* Whether attn_records_next would return at once.  Reads what input there is. */
bool attn_records_ready(struct attn_records *r);
const char *attn_records_format(const struct attn_records *r);      /* "text", "ndjson"... */
const char *attn_records_path(const struct attn_records *r);        /* for messages; "standard input" */
/* How many records the whole input has; UINT64_MAX: not known before the end is reached. */
uint64_t attn_records_total(const struct attn_records *r);
uint64_t attn_records_blank(const struct attn_records *r);          /* blank lines skipped so far */
/* Returns how many bytes of the input were read so far; *all is its size, 0 if that is not known. */
uint64_t attn_records_bytes(const struct attn_records *r, uint64_t *all);

/* Runs a model over many sentences.  Each input record becomes one output record, in the order of the input; those that
 * cannot be run become records that say why. */
struct attn_batch_state {
    uint64_t records, failed;           /* records done, those of resumed earlier runs included; how many of them failed */
    uint64_t before;                    /* records done by earlier runs */
    uint64_t tokens;                    /* in this run */
    uint64_t overflowed;                /* records of this run with dots that overflow float32: see attn_run_overflow */
    uint64_t total;                     /* records of this share; UINT64_MAX: not known */
    uint64_t read, all;                 /* bytes of the input read so far; its size, 0: not known */
    bool complete;                      /* false: it was stopped and can be resumed */
    bool unread;                        /* it ended early since the reader of its output closed the pipe; counts as complete */
    uint64_t reserved[4];
};
struct attn_batch_option { const char *name, *value; };
/* In place of activations: the grid of patches of each record, as attn_patch_new makes it.  Records have a second text, "from" (or
 * "from_ids"), of as many tokens, and the fields that the metric names, a text that is one token or its id; in csv and tsv digits
 * alone are an id.  The formats are ndjson, tidy, and summary: the means of each cell over all records, which a shard's has not yet,
 * but one line for each cell of each record, so that attn_merge finds the same bits as one process. */
struct attn_batch_grid { const char *what, *over, *metric, *method; };         /* as in attn_patch_opts */
struct attn_batch_opts {
    const struct attn_model *model;
    const char *tokenizer;              /* name of the model whose tokenizer is used; it is opened for the first text */
    const struct attn_select *select;
    const struct attn_records_opts *records;    /* its `stop` is also asked between passes */
    struct attn_encode_opts encode;
    const char *format;                 /* ndjson (NULL), tidy, summary: a stream; csv, npy, npz, png, svg: a directory with files
                                         * for each record; stack: a directory with one array for each activation */
    const char *path;                   /* NULL or "-": standard output, for streams only */
    const char *summary;                /* a file that gets a summary besides; NULL: none */
    const char *summary_form;           /* of that or of format summary: wide (NULL), a line a record; tidy, a line a head */
    const struct attn_batch_option *options; size_t n_options;    /* all options that change the output, as they were given:
                                         * a resumed batch must have the same */
    const char *command;                /* a command line that makes it again, for manifests */
    struct attn_picture_opts picture;
    const struct attn_edits *edits;     /* of every record; NULL: none.  Records that lack a position or token of one fail */
    const struct attn_tokens *from;     /* the other text that `from` means in edits; NULL: there is none, or that of each grid */
    const struct attn_batch_grid *grid; /* NULL: activations are written */
    struct attn_plan plan;              /* rows, seqs and keys are not read; the number of threads does not change the output */
    bool resume, force;                 /* continue an unfinished output; overwrite it */
    bool fail_fast;                     /* the first bad record is an error */
    void (*progress)(void *self, const struct attn_batch_state *state);     /* called after each pass; may be NULL */
    void (*failed)(void *self, const struct attn_record *r, const char *why);   /* called for bad records in order; may be NULL */
    void *self;                         /* for progress and failed */
    uint64_t reserved[3];
};
int attn_batch(struct attn_batch_state *out, const struct attn_batch_opts *o, struct attn_err *err);

/* Ranks heads by their scores, pooled over the rows of many texts, and writes a table of them. */
struct attn_heads_opts {
    const struct attn_batch_opts *over; /* the texts and how they are run: model, tokenizer, select, records, encode, edits, from,
                                         * plan, progress, failed, self; the other members are not read */
    const int32_t *ids; const size_t *T; size_t texts;  /* texts as ids, one after the other, of T[i] tokens; 0: the records */
    bool copying;                       /* also the score that needs no text; sorting by it asks for it, too */
    const char *by;                     /* the score to sort by; NULL: the largest share */
    size_t top;                         /* report so many heads, the largest ones; 0: all.  Pictures have all */
    const char *format;                 /* text json csv, or a picture; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    const char *about;                  /* what the texts are, for titles; NULL: nothing */
    int width;                          /* columns of the terminal; 0: no limit */
    bool bars;                          /* text only: draws a bar for each head where there is room */
    struct attn_picture_opts picture;
    /* Is told what part of the work on `copying` is done, and ends it by returning non-zero; NULL: nobody asks. */
    int (*step)(void *self, double done, struct attn_err *err);
    void *step_self;
    uint64_t reserved[4];
};
struct attn_heads_state { uint64_t texts, failed, overflowed; uint64_t reserved[4]; };     /* overflowed: see attn_run_overflow */
int attn_heads(struct attn_heads_state *out, const struct attn_heads_opts *o, struct attn_err *err);

/* Estimates what a batch would take: reads all of the input, runs the first of it to measure time, and writes nothing. */
struct attn_batch_estimate {
    uint64_t records, failed, tokens;
    uint64_t numbers, bytes;            /* how many numbers are shown; bytes of the output, an estimate */
    uint64_t memory;                    /* bytes, an estimate */
    double seconds;                     /* an estimate; 0: there is nothing to run */
    uint64_t reserved[4];
};
int attn_batch_estimate(struct attn_batch_estimate *out, const struct attn_batch_opts *o, struct attn_err *err);

/* Joins the outputs of all shards of a batch into what one process would have written, byte for byte.  Fails unless all
 * shards are there, finished, and made alike: with the same version, model, options, input and kind of processor. */
struct attn_merge_opts {
    const char *const *shard; size_t n; /* paths of the shards' outputs, in any order */
    const char *path;                   /* NULL or "-": standard output, for streams only */
    const char *summary;                /* a file that gets their joined summaries; NULL: none */
    uint64_t reserved[4];
};
int attn_merge(const struct attn_merge_opts *o, struct attn_err *err);

/* ---- saved activations ----------------------------------------------------------------- */

/* A dump holds activations of one run: read from the files it wrote, or recorded while a model runs. */
struct attn_dump;
/* path: a directory of .npy or .csv files or its manifest.json, an .npz archive, one .npy or .csv file, or the JSON
 * document or tidy table of a run. */
int attn_dump_open(struct attn_dump **out, const char *path, struct attn_err *err);
/* Runs a sentence as attn_run_tokens does and records `what`.  `observer`, unless NULL, observes the run, too. */
int attn_dump_run(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                  const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *plan,
                  const struct attn_observer *observer, struct attn_err *err);
/* What of a directory was not read, or was missing, and why; NULL: nothing.  Lives as long as the dump. */
const char *attn_dump_warning(const struct attn_dump *d);
void attn_dump_free(struct attn_dump *d);                           /* NULL is fine */
size_t attn_dump_tokens(const struct attn_dump *d);                 /* how many tokens the sentence had; 0: not known */
/* Array i of the dump: its name, its shape, row-major numbers.  Returns how many axes it has, -1 if there is no array i. */
struct attn_dump_array { const char *name; size_t shape[8]; const float *data; };      /* lives as long as the dump */
int attn_dump_array(const struct attn_dump *d, size_t i, struct attn_dump_array *out);
/* The text of a token, NUL-terminated; NULL: only the id is known. */
const char *attn_dump_token(const struct attn_dump *d, size_t i, int32_t *id, size_t *len);

/* Draws what a dump holds. */
struct attn_plot_opts {
    const char *format;                 /* term png svg html */
    const char *path;                   /* NULL or "-": standard output */
    const char *title;
    const char *show, *layers, *heads;  /* as attn_select_new takes them, but with the names in the dump; show NULL: pattern,
                                         * or everything if the dump has no pattern */
    int width;                          /* columns of the terminal; 0: no limit */
    size_t frames;                      /* of activations watched in training: the most steps drawn side by side; 0: 8 */
    struct attn_picture_opts picture;
    uint64_t reserved[4];
};
int attn_plot(const struct attn_dump *d, const struct attn_plot_opts *o, struct attn_err *err);

/* ---- comparing ------------------------------------------------------------------------- */

enum attn_diff_kind {
    ATTN_DIFF_SAME, ATTN_DIFF_CLOSE,    /* bit for bit; within the tolerance */
    ATTN_DIFF_NUMBERS, ATTN_DIFF_SHAPE, /* numbers beyond the tolerance; different shapes */
    ATTN_DIFF_ONLY_A, ATTN_DIFF_ONLY_B
};
struct attn_diff_row {                  /* how one array of dump a compares with that of dump b */
    const char *name;                   /* lives as long as both dumps */
    int act, layer;                     /* enum attn_act; -1: the name is not one of ours */
    enum attn_diff_kind kind;
    int ndim[2]; size_t shape[2][8];    /* of a and of b */
    /* The members below are set where numbers could be compared. */
    size_t count, differing;            /* how many were compared; how many are beyond the tolerance */
    double max_abs, mean_abs;           /* of |a - b| */
    double nmse;                        /* mean square of a - b, divided by the variance of b */
    uint64_t max_ulp;                   /* the largest difference in units in the last place: float32 numbers from a to b */
    size_t at[3]; float a, b;           /* head, row and column of the largest difference, and the numbers there */
};
struct attn_diff_opts {
    double atol, rtol;                  /* numbers agree when |a - b| <= atol + rtol * |b| */
    bool exact;                         /* ... or, instead, only when their bits are the same */
    const struct attn_model *model_a, *model_b; /* their weights help to find a cause; may be NULL */
    uint64_t reserved[4];
};
/* Compares two dumps; b is the reference.  It is an error if they have no name in common. */
struct attn_diff;
int attn_diff_new(struct attn_diff **out, const struct attn_dump *a, const struct attn_dump *b,
                  const struct attn_diff_opts *o, struct attn_err *err);
void attn_diff_free(struct attn_diff *d);                           /* NULL is fine */
/* All arrays in the order of the forward pass; those whose names are not ours come last. */
const struct attn_diff_row *attn_diff_rows(const struct attn_diff *d, size_t *n);
const struct attn_diff_row *attn_diff_first(const struct attn_diff *d);         /* the first that differs; NULL: none does */
/* The likely mistake behind the first difference, in a sentence that calls the dumps A and B; *kind, unless kind is NULL,
 * becomes one word for it, for scripts.  NULL: it looks like no mistake we know. */
const char *attn_diff_cause(const struct attn_diff *d, const char **kind);

/* ---- asking: tokens and metrics --------------------------------------------------------- */

/* The id of one token: from its text, which must be one token (the error lists the tokens if it is several); or as options
 * take it, where digits alone are an id, and a text may stand in quotes with the escapes of JSON.  The tokenizer may be NULL
 * where there is none. */
int attn_token_of_text(int32_t *id, const char *text, size_t len, const struct attn_model *m, const struct attn_tokenizer *t,
                       struct attn_err *err);
int attn_token_parse(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t,
                     struct attn_err *err);

/* A metric is a number measured of a run's logits: terms such as logit(" Mary")-2*prob(5,pos=3), loss, or kl. */
struct attn_metric;
int attn_metric_new(struct attn_metric **out, const char *text, struct attn_err *err);
void attn_metric_free(struct attn_metric *m);                       /* NULL is fine */
const char *attn_metric_text(const struct attn_metric *m);          /* as it was written */
bool attn_metric_has_words(const struct attn_metric *m);            /* whether it names tokens by text, which takes a tokenizer */
bool attn_metric_has_fields(const struct attn_metric *m);           /* whether it names fields of records, as in logit({answer}) */
bool attn_metric_is_smooth(const struct attn_metric *m);            /* whether it has derivatives: all but rank have */
bool attn_metric_refers(const struct attn_metric *m);               /* whether it is kl, which needs a reference */

/* Finds the ids of its tokens and the rows of its positions in a text of T tokens.  The ids must outlive its use. */
struct attn_metric_field { const char *name, *text; size_t len; int64_t id; };      /* text NULL: the id says which token */
struct attn_metric_of {
    const struct attn_model *model; const struct attn_tokenizer *tokenizer;
    const int32_t *ids; size_t T;
    const struct attn_metric_field *field; size_t n_fields;
    uint64_t reserved[2];
};
int attn_metric_bind(struct attn_metric *m, const struct attn_metric_of *of, struct attn_err *err);
/* For kl: the reference's logits [V] of the last position, which are copied. */
int attn_metric_refer(struct attn_metric *m, const float *logits, struct attn_err *err);

/* An observer that measures: it watches the logits of sentence `seq` that the metric reads and adds up its value. */
struct attn_measure { const struct attn_metric *metric; size_t seq; double value; };
struct attn_observer attn_measure_observer(struct attn_measure *x);

/* For kl: makes an unedited run of the tokens the reference, unless the metric needs none. */
int attn_metric_refer_to(struct attn_metric *m, const struct attn_model *model, const struct attn_tokens *tokens,
                         const struct attn_plan *plan, struct attn_err *err);

/* ---- asking: gradients with respect to activations --------------------------------------- */

/* The derivatives of a metric with respect to the activations of a run, each as if that activation were replaced and everything
 * after it computed again: with the activations' own names and shapes, in float32.  Hidden cells of dots, scores and pattern
 * have 0. */
struct attn_slopes_opts {
    const struct attn_metric *metric;   /* bound to the tokens; all but rank have derivatives */
    const struct attn_select *select;   /* which activations' derivatives to keep */
    bool times;                         /* keep each derivative times the activation */
    struct attn_plan plan;              /* threads and kind, which must have a softmax and no dropout */
    struct attn_editor *editor;         /* started, with the tokens as its text 0; NULL: nothing is edited.  Derivatives are
                                         * then those of the edited run, by what the edits made; what these overwrote has 0 */
    const struct attn_observer *observers; size_t n_observers;      /* of the forward pass */
    uint64_t reserved[4];
};
/* Whether gradients can be computed as asked, for any text; observers and editor are not read. */
int attn_slopes_check(const struct attn_model *m, const struct attn_slopes_opts *o, struct attn_err *err);
struct attn_slopes;
int attn_slopes_new(struct attn_slopes **out, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_slopes_opts *o, struct attn_err *err);
void attn_slopes_free(struct attn_slopes *s);                       /* NULL is fine */
double attn_slopes_value(const struct attn_slopes *s);              /* of the metric */
/* Shows them to an observer, such as a sink's, in the order of the forward pass. */
int attn_slopes_show(const struct attn_slopes *s, const struct attn_observer *to, struct attn_err *err);

/* ---- asking: patching --------------------------------------------------------------------- */

/* What a metric of a text becomes when a piece of an activation is taken from the run of another text, for each piece of a grid:
 * by a run of each (exact), or predicted from gradients. */
enum { ATTN_OVER_LAYER = 1, ATTN_OVER_HEAD = 2, ATTN_OVER_POS = 4 };
struct attn_patch_cell {
    int layer, head, pos;               /* -1: no axis of the grid.  A head of k or v is a key/value head */
    double metric, effect;              /* effect: (metric - metric_text) / (metric_from - metric_text); NaN: both are equal */
};
struct attn_patch_result {              /* lives as long as the grid */
    const char *what;                   /* "attn.context" */
    unsigned over;                      /* ATTN_OVER_...: its axes */
    size_t grid[3];                     /* how many layers, heads, positions; 1 where there is no such axis */
    const struct attn_patch_cell *cell; size_t n;       /* by layer, head, position */
    double metric_text, metric_from;
    uint64_t reserved[2];
};
struct attn_patch_opts {
    const struct attn_tokens *tokens, *from;            /* of the text, and of the other one: as many */
    const char *what;                   /* name of an activation: context, attn.out, resid_pre, embed */
    const char *over;                   /* layer, or with commas layer,head,pos; pos alone outside of the layers */
    const char *method;                 /* exact (NULL), gradient, or ig:STEPS: the mean gradient over that many runs on the way
                                         * from the text's embedding to the other's */
    const struct attn_metric *metric;   /* bound to the text */
    struct attn_plan plan;              /* threads, bf16 and kind */
    struct attn_editor *editor;         /* of all runs of the text, not of the other; started, with the tokens as its text 0.
                                         * NULL: nothing is edited but what is patched */
    int (*step)(void *self, size_t done, size_t all, struct attn_err *err);     /* called now and then; a code ends it */
    void *self;                         /* for step, which may be NULL */
    uint64_t reserved[4];
};
struct attn_patch;
int attn_patch_new(struct attn_patch **out, const struct attn_model *m, const struct attn_patch_opts *o, struct attn_err *err);
void attn_patch_free(struct attn_patch *p);                         /* NULL is fine */
void attn_patch_get(const struct attn_patch *p, struct attn_patch_result *out);

struct attn_patch_report_opts {
    const char *format;                 /* text (NULL), json, csv, tidy, or a picture: term png svg html */
    const char *path;                   /* NULL or "-": standard output */
    const struct attn_model *model;
    const struct attn_tokens *tokens, *from;            /* of both texts */
    const char *text, *from_text; size_t text_len, from_len;        /* NULL: there are ids only */
    const char *what, *method, *metric; /* as they were asked for */
    const struct attn_edits *edits;     /* NULL: none */
    struct attn_kind kind;
    int precision, width;               /* text only: digits after the point; columns of the terminal, 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    uint64_t reserved[4];
};
int attn_patch_write(const struct attn_patch *p, const struct attn_patch_report_opts *o, struct attn_err *err);

/* ---- explaining ------------------------------------------------------------------------ */

#define ATTN_KEY_LARGEST SIZE_MAX
struct attn_explain_opts {
    size_t layer, head, query, key;     /* which weight; key ATTN_KEY_LARGEST: the largest weight of the query */
    const struct attn_tokens *cross;    /* the other text whose keys are looked at; NULL: the sentence looks at itself */
    bool all;                           /* print long vectors in full */
    const char *format;                 /* text md html; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int precision;                      /* digits after the point */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color;                         /* text only */
    int threads;
    struct attn_kind kind;              /* of attention */
    const struct attn_observer *observer;   /* observes the run, too; NULL: none */
    const struct attn_edits *edits;     /* what it edits, which is said; NULL: nothing */
    const char *run;                    /* the command line "attn-cli run ..." for the same input, to be quoted; NULL: none */
    uint64_t reserved[4];
};
/* Derives one attention weight and the context vector of its query step by step, with the numbers of a run. */
int attn_explain(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_explain_opts *o,
                 struct attn_err *err);
/* Works through an article ("life") from its sentence to its context vectors, and compares each number it prints with
 * the run.  Layer, head, query and key of the options are not read: the article has its own. */
int attn_explain_article(const char *article, const struct attn_explain_opts *o, struct attn_err *err);

/* ---- reading the residual stream -------------------------------------------------------- */

struct attn_lens_opts {
    const struct attn_tokenizer *tokenizer;     /* to spell tokens; may be NULL */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    const int32_t *target;              /* a token to follow; NULL: none */
    size_t top;                         /* how many of the likeliest tokens; 0: 1 in text and pictures, else 5 */
    bool all;                           /* also between attention and MLP */
    const char *format;                 /* text json csv tidy, or a picture: png svg html; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    int threads;
    bool bf16;                          /* as in attn_plan */
    struct attn_kind kind;              /* of attention; zero: the model's own */
    const struct attn_observer *observers; size_t n_observers;      /* of the run, before the lens: those that edit, too */
    const struct attn_edits *edits;     /* what these edit, for documents; NULL: nothing */
    uint64_t reserved[4];
};
/* Writes what the model would predict at each position if it ended at each point of the residual stream: the final norm and the
 * output layer applied to the embedding and to what each layer leaves. */
int attn_lens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_lens_opts *o, struct attn_err *err);

struct attn_attribute_opts {
    const struct attn_tokenizer *tokenizer;     /* to spell tokens; may be NULL */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    int32_t target;                     /* the token whose logit is taken apart */
    const int32_t *foil;                /* a token whose logit is subtracted; NULL: none */
    int64_t pos;                        /* the position whose prediction it is; negative ones count from the end */
    size_t neurons;                     /* how many of the neurons largest in size are listed besides */
    size_t top;                         /* text only: how many of the largest parts; 0: all, in the order of the forward pass */
    const char *format;                 /* text json csv tidy; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color, bars;                   /* text only */
    int threads;
    struct attn_kind kind;              /* of attention; zero: the model's own */
    const struct attn_observer *observers; size_t n_observers;      /* of the run, first: those that edit, too */
    const struct attn_edits *edits;     /* what these edit, for documents; NULL: nothing */
    uint64_t reserved[4];
};
/* Writes what each part of the residual stream adds to a logit when the scale of the final norm is frozen: embeddings, heads,
 * biases, MLPs.  Fails for a model without residual connections. */
int attn_attribute(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_attribute_opts *o,
                   struct attn_err *err);

/* ---- comparing kinds of attention ------------------------------------------------------ */

struct attn_variants_opts {
    const char *kinds;                  /* as attn_kind_parse takes them, separated by blanks or commas; NULL: one of each */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    size_t layer, head;                 /* whose pattern is drawn; all layers and heads are compared */
    const char *format;                 /* text, json, or a picture: term png svg html; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text and term; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    int threads;
    bool bf16;
    const struct attn_observer *observer;   /* observes all runs, too; NULL: none */
    uint64_t reserved[4];
};
/* Runs one sentence under several kinds of attention on the same weights, and reports how far each is from the model's
 * own attention, what it costs and how long it takes. */
int attn_variants(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_variants_opts *o,
                  struct attn_err *err);

/* ---- making models --------------------------------------------------------------------- */

struct attn_init_opts {
    const char *config; size_t config_len; /* text of a config.json of any family */
    const char *config_name;            /* what messages call it; NULL: config */
    const char *draw;                   /* native models: the recipe for drawing each tensor (see the help of init); NULL: what
                                         * torch draws when it builds the modules in the order of the forward pass.  Other
                                         * families: norms are 1, biases 0, all else normal(0, 0.02) */
    uint64_t seed;
    bool scalar;                        /* draw what torch draws on a processor without AVX2 */
    const char *dtype;                  /* how numbers are stored: "F32", "F16", "BF16" */
    const char *vocab; size_t vocab_len;/* text of vocab.json, or NULL */
    uint64_t reserved[4];
};
/* Writes an open model as a Hugging Face directory: config.json and the files of its tokenizer as they are, and one
 * model.safetensors with all tensors as they are stored.  `replace`: a model that is there is overwritten. */
int attn_model_save(const struct attn_model *m, const char *dir, bool replace, size_t *tensors, struct attn_err *err);

/* The models that attn_model_open finds by name: built in, in ATTN_MODEL_PATH, installed, and in Hugging Face's cache.  path is
 * NULL for what is built in; a name that is taken is replaced by the path. */
struct attn_listed { const char *name, *path, *where; uint64_t reserved[2]; };
int attn_models_list(struct attn_listed **list, size_t *n, struct attn_err *err);
void attn_models_free(struct attn_listed *list, size_t n);          /* NULL is fine */

/* Makes a model with random weights: writes config.json, model.safetensors and, if one is given, vocab.json into
 * directory `path`. */
int attn_init(const char *path, const struct attn_init_opts *o, struct attn_err *err);

/* drop: the characters to leave out, or NULL; unknown: the token for words not in the vocabulary, or NULL. */
struct attn_vocab_opts { const char *drop; bool lowercase; const char *unknown; };
/* Makes a vocabulary of the distinct words of a text, sorted by code point, with the `unknown` word last, as a JSON
 * object in malloc'd memory; *words is how many there are. */
int attn_vocab_build(char **json, size_t *len, size_t *words, const char *text, size_t text_len,
                     const struct attn_vocab_opts *o, struct attn_err *err);

enum { ATTN_BPE_LEAST = 257, ATTN_BPE_MOST = 1 << 20 };
/* Learns a byte-level BPE vocabulary of at most `size` tokens, ATTN_BPE_LEAST to ATTN_BPE_MOST, and writes it into
 * directory `path` in GPT-2's format: vocab.json and merges.txt.  The last token is <|endoftext|>, which may separate
 * documents in the text.  *tokens is how many there are: fewer than `size` if no pair is left that occurs twice. */
int attn_bpe_learn(const char *path, size_t *tokens, const char *text, size_t len, size_t size, struct attn_err *err);

/* ---- training -------------------------------------------------------------------------- */

struct attn_train_opts {
    const char *text; size_t text_len;  /* to train on; documents are separated by <|endoftext|> */
    const char *also; size_t also_len;  /* more to train on, none of it held out; NULL: nothing */
    /* Needed to begin a training.  To go on with one, each must be what it was, or NULL. */
    const char *tokenizer;              /* directory with vocab.json and, for BPE, merges.txt: they are copied */
    const char *config; size_t config_len; const char *config_name; /* text of a config.json of our own format; what
                                         * messages call it, NULL: config */
    const char *draw;                   /* as in attn_init_opts; NULL: normal(0,0.02), smaller for what a branch adds to x */
    /* Texts of a train.json; `changes` override `settings`.  NULL: what the training had, or the defaults. */
    const char *settings; size_t settings_len; const char *settings_name;
    const char *changes; size_t changes_len;
    bool resume;                        /* go on from the checkpoint in the directory, or begin if there is none */
    int threads;                        /* 0: as many as this process may use */
    uint64_t reserved[4];
};
struct attn_train_state {
    size_t step, steps;                 /* steps done; steps in all */
    size_t tokens, step_tokens;         /* tokens predicted so far; in the last step */
    size_t parameters, text_tokens, also_tokens, held_out_tokens;
    double lr, loss, gradient;          /* learning rate, loss and norm of the gradient in the last step */
    double held_out, bits_per_byte;     /* loss on the held-out text after it; NaN: not measured after this step */
    uint64_t reserved[4];
};

/* A training in directory `path`, which holds the model it makes (config.json, vocab.json, merges.txt, model.safetensors),
 * train.json, checkpoint.safetensors, loss.csv and loss.png.  Each step depends on those before, the seed and the texts alone:
 * threads and interruptions change no bit. */
struct attn_train;
/* Fails if the directory has a training or another process is writing one there: for those who are about to write other
 * files into it, so that hours of work are not overwritten. */
int attn_train_spare(const char *path, struct attn_err *err);
bool attn_train_exists(const char *path);                           /* whether there is a checkpoint to go on from */
int attn_train_may_begin(const char *path, struct attn_err *err);   /* fails if there is a model that no training made */
/* Checks the settings and, if it is given, the config, as far as that is possible before there is a vocabulary. */
int attn_train_check(const struct attn_train_opts *o, struct attn_err *err);
int attn_train_open(struct attn_train **out, const char *path, const struct attn_train_opts *o, struct attn_err *err);
void attn_train_close(struct attn_train *t);                        /* does not save; NULL is fine */
void attn_train_get(const struct attn_train *t, struct attn_train_state *out);
/* Does one step and, when it is due, measures the held-out loss.  The error names the step; what was saved before stays. */
int attn_train_step(struct attn_train *t, struct attn_err *err);
/* Writes the checkpoint, the model and the loss curve as they are now, each file whole or not at all. */
int attn_train_save(struct attn_train *t, struct attn_err *err);
/* The model as it is now; valid until the next step. */
const struct attn_model *attn_train_model(const struct attn_train *t);

struct attn_train_watch_opts {
    const char *text; size_t len;       /* the sentence to watch */
    const char *show, *layers, *heads;  /* as attn_select_new takes them; show NULL: pattern */
    size_t every;                       /* record it every so many steps (at least 1), and at the first and the last one */
    int threads;
    uint64_t reserved[4];
};
/* Records activations of a sentence as the training goes on.  attn_train_save saves them with the rest: watch/NAME.npy,
 * whose first axis is time, watch/steps.npy and watch/manifest.json.  attn_plot draws them side by side.  Call this
 * before the first step. */
int attn_train_watch(struct attn_train *t, const struct attn_train_watch_opts *o, struct attn_err *err);

/* Computes the loss of a model and its gradient with respect to each tensor; the tensors themselves do not change.  rows:
 * the most tokens of all sentences together.  The model must outlive it. */
struct attn_gradient;
int attn_gradient_new(struct attn_gradient **out, const struct attn_model *m, size_t rows, int threads, struct attn_err *err);
void attn_gradient_free(struct attn_gradient *g);                   /* NULL is fine */
/* ids has n sentences of T[i] tokens, one after the other.  The loss is the mean of -log p(token | those before it in its
 * sentence) over all tokens but the first of each sentence.  A loss that is not finite is an error that names the place. */
int attn_gradient_run(struct attn_gradient *g, double *loss, const int32_t *ids, const size_t *T, size_t n, struct attn_err *err);
/* Of the last run, the gradient with respect to tensor i of attn_model_tensor, in that tensor's layout; and the Euclidean
 * norm of the whole gradient. */
const float *attn_gradient_of(const struct attn_gradient *g, size_t tensor, size_t *count);
double attn_gradient_norm(const struct attn_gradient *g);
/* Writes it as .safetensors, in float32 under the tensors' own names; path NULL or "-": standard output. */
int attn_gradient_save(const struct attn_gradient *g, const char *path, struct attn_err *err);

/* ---- measuring ------------------------------------------------------------------------- */

/* Upper bounds of what this machine can do, to judge measured speeds by. */
enum attn_limit {
    ATTN_LIMIT_F32, ATTN_LIMIT_BF16,    /* operations a second of independent multiply-adds in registers, by the
                                         * instructions that matrix products in float32 and in bf16 use */
    ATTN_LIMIT_PRODUCTS,                /* operations a second of the micro-kernel of float32 products on operands in the L1
                                         * cache: many processors lower their clock when arithmetic reads memory */
    ATTN_LIMIT_READ,                    /* bytes a second read from main memory */
    ATTN_LIMIT_WRITE                    /* bytes a second written to new files, one per thread, by write() */
};
struct attn_limits;                     /* owns the threads and the memory that is read */
/* dir: where ATTN_LIMIT_WRITE writes its files, which are removed after each measurement. */
int attn_limits_new(struct attn_limits **out, const char *dir, struct attn_err *err);
void attn_limits_free(struct attn_limits *l);                       /* NULL is fine */
/* One short measurement of about 10 ms, meant to be repeated.  threads: at least 1. */
int attn_limits_measure(double *out, struct attn_limits *l, enum attn_limit which, int threads, struct attn_err *err);
size_t attn_limits_caches(const struct attn_limits *l);             /* bytes of the last-level caches; 0: not known */
size_t attn_limits_buffer(const struct attn_limits *l);             /* bytes of the buffer that ATTN_LIMIT_READ reads from */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

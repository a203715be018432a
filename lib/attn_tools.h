/* attn_tools.h - what the program attn-cli is made of besides attn.h: output in every format, pictures, many sentences,
 * saved activations and their comparison, derivations, making and training models, measuring the machine.
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

/* Both may be called in a signal handler.  Models are mapped, so that a file which shrinks while it is used raises
 * SIGBUS: a program may want to say which one it was (si_addr), remove its unfinished output and exit. */
const char *attn_file_mapped_at(const void *address);               /* the path of the file mapped there; NULL: none */
void attn_files_abandon(void);          /* removes the temporary files of all output that is not committed yet */

/* ---- writing files --------------------------------------------------------------------------- */

/* Writes a file whole or, on failure, leaves what was there as it was; all functions here write files so.  "-" or NULL
 * is standard output, where a pipe closed by its reader is no error. */
int attn_write_file(const char *path, const char *data, size_t len, struct attn_err *err);

/* ---- formats, pictures, sinks ---------------------------------------------------------------- */

enum {
    ATTN_PRECISION_MOST = 17,           /* digits after the point: so many tell any two doubles apart */
    ATTN_LETTERS_LEAST = 3, ATTN_LETTERS_MOST = 72      /* points */
};

enum { ATTN_PLOT_NOTE = 256 };          /* bytes of a note on a picture */

/* How matrices are drawn; all zero is the default. */
struct attn_picture_opts {
    const char *palette;                /* viridis, magma, cividis, gray, balance; light: blues, ink; NULL: of figures
                                         * blues, or balance where numbers have both signs; elsewhere viridis or,
                                         * on a terminal for both signs, blue and orange around a dark middle */
    const char *scale;                  /* of colours: "linear", "sqrt", "log", "row": each row is divided by its
                                         * largest number; NULL: sqrt for patterns of many tokens, else linear */
    bool hide_first;                    /* leave column 0 blank and out of the colour scale; no other weight changes */
    bool light;                         /* the ground of the terminal is light: colours begin with it, as figures do */
    size_t cell;                        /* width of a number's cell in pixels, on a terminal in columns; 0: what fits */
    int colors;                         /* how many the terminal has: 0 (shades are drawn), 256, 1 << 24 */
    /* Of figures (png, svg, pdf): */
    double width;                       /* in millimetres, exactly; 0: as it comes out */
    double letters;                     /* size of labels in points, ATTN_LETTERS_LEAST to ATTN_LETTERS_MOST; 0: 7 */
    const char *title;                  /* in place of the model and the sentence; "": none; NULL: these */
    size_t columns;                     /* matrices beside each other; 0: as fits */
    bool numbers;                       /* in the cells */
    /* Of png and pdf: a TrueType font that is taken where it has a character, before the built-in faces (NULL: none),
     * and which one of a collection. */
    const char *font; size_t font_index;
    const char *figure;                 /* attn_figure_name: "heatmap", "grid": small panels without labels; "lines"
                                         * from word to word; "words": the sentence, shaded; "vectors" of tokens, with
                                         * their cosines; NULL: heat maps, smaller where a page has no room */
    const char *query;                  /* of lines and words: the token that looks, its index or its text; NULL: of
                                         * lines all, of words the last */
    char *note;                         /* of figures: gets what was arranged otherwise than asked for, or "": room for
                                         * ATTN_PLOT_NOTE bytes; NULL: nobody asks */
    const char *axes;                   /* of vectors: which two or three coordinates, "0,1"; "principal"; NULL: all of
                                         * at most three, else the principal ones */
    const char *lang;                   /* html: what the page says, as in struct attn_explain_opts */
};

/* The kinds of figures, the default first; NULL after the last. */
const char *attn_figure_name(size_t i);
/* What they show of a run unless something is chosen; NULL: what the format does. */
const char *attn_figure_show(const char *figure);
/* Whether a format draws figures of a kind. */
bool attn_figure_draws(const char *figure, const char *format);
/* Whether they use an option of struct attn_picture_opts that is of some kinds: "query", "axes". */
bool attn_figure_takes(const char *figure, const char *option);

/* The formats of output are the rows of one table: options, help, messages and the choice by the ending of a path
 * follow from them. */
enum {
    ATTN_FORMAT_RUN = 1,                /* shows one sentence: what run and generate write */
    ATTN_FORMAT_LINES = 2,              /* a batch writes it as one stream, some lines for each sentence, */
    ATTN_FORMAT_APART = 4,              /* or as a directory for each sentence, */
    ATTN_FORMAT_STACK = 8,              /* or as arrays of all sentences, */
    ATTN_FORMAT_SUMMARY = 16,           /* or as one line of figures for each */
    ATTN_FORMAT_PICTURE = 32,           /* matrices are drawn: plot and variants write it, too */
    ATTN_FORMAT_BINARY = 64,            /* not for a terminal */
    ATTN_FORMAT_MANY = 128,             /* several matrices or activations become files of a directory */
    ATTN_FORMAT_DIGEST = 256,           /* names the model's digest */
    ATTN_FORMAT_COMPARE = 512,          /* says what edits did to the next token */
    ATTN_FORMAT_ABLATED = 1024,         /* says what comes next without each head, if that is known */
    ATTN_FORMAT_TABLE = 2048,           /* an answer is a table: score, heads, lens and the like write it */
    ATTN_FORMAT_TENSOR = 4096,          /* a tensor of a model; pictures have it, too */
    ATTN_FORMAT_FIGURE = 8192,          /* a picture that is a figure, of any size on paper */
    ATTN_FORMAT_COLOR = 16384,          /* colours or shades stand for numbers */
    ATTN_FORMAT_LETTERS = 32768,        /* draws its letters itself, from fonts */
    ATTN_FORMAT_SAYS = 65536            /* explains what it shows, in a language: see attn_language_row */
};
struct attn_format {
    const char *name;
    const char *ending;                 /* of paths that mean it, as in ".csv"; NULL: none does */
    const char *help;                   /* in a few words; NULL: the name says it */
    const char *show;                   /* the activations to show if none are asked for; NULL: as everywhere */
    unsigned flags;                     /* ATTN_FORMAT_... */
};
/* The row after f, the first for NULL; NULL: there are no more. */
const struct attn_format *attn_format_next(const struct attn_format *f);
const struct attn_format *attn_format_find(const char *name);           /* NULL: there is none of that name */
/* The format that the ending of a path means, in upper or lower case; NULL: none.  path may be NULL. */
const struct attn_format *attn_format_of_path(const char *path);

/* What a sink is shown in place of activations: derivatives of a metric with respect to them, multiplied by the
 * activations if `times` is set. */
struct attn_sink_gradient { const char *metric; double value; bool times; };
struct attn_labels;
/* "heads"; of_head: --head with what the screen shows is added. */
struct attn_sink_hint { const char *command; bool of_head; };
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
    const struct attn_labels *labels;   /* by id: to spell them in its place; NULL: none */
    const char *command;                /* a command line that makes it again, for the manifest */
    struct attn_kind kind;              /* of attention, for titles and documents */
    const struct attn_sink_gradient *gradient;  /* NULL: activations */
    const struct attn_edits *edits;     /* of the run, for documents; NULL: none */
    const struct attn_compare *compare; /* what they did to the next token, known at the end; NULL: not compared */
    const struct attn_ablated *ablated; size_t n_ablated;   /* what comes next without each head; NULL: not asked for */
    int threads;                        /* 0: as many as this process may use; the output is the same */
    int precision;                      /* text only: digits after the point, at most ATTN_PRECISION_MOST */
    int width;                          /* text only: columns of the terminal; 0: no limit */
    size_t limit;                       /* text only: activations are summarised beyond so many numbers in all; or 0 */
    bool color;                         /* text only */
    bool csv_safe;                      /* csv, tidy: a quote before text that a spreadsheet would run as a formula */
    bool bf16;                          /* the run multiplies in bf16, for the manifest */
    struct attn_picture_opts picture;
    const struct attn_sink_hint *hints; /* screen only: commands to go on with, then one of NULL; NULL: none */
    /* Tokens that make a word are shown as one, in every format: of pattern and rollout sums over the tokens of a key's
     * word, and means over those of a query's; of context, means.  Other activations are an error, and so are gradients
     * and ids without text. */
    bool words;
    /* html only: the page holds the model and computes with it.  Fails for a model of more than 64 MB of weights, of
     * gradients and of cross-attention.  Of a library without a page engine it only shows, as attn_sink_note says. */
    bool live;
    const char *lang;                   /* screen and html: see struct attn_explain_opts */
};
/* A sink is an observer that writes what it sees of one pass over all of `tokens`.  Give attn_sink_observer(s) to a run
 * and, if that succeeds, call attn_sink_finish once after it: only then do files appear under their names.  Closing an
 * unfinished sink leaves no file. */
struct attn_sink;
int attn_sink_open(struct attn_sink **out, const struct attn_sink_opts *o, struct attn_err *err);
struct attn_observer attn_sink_observer(struct attn_sink *s);
int attn_sink_finish(struct attn_sink *s, struct attn_err *err);
/* After finish, what the user should know of the directory written to, or of the picture; NULL: nothing.  Lives as long
 * as the sink. */
const char *attn_sink_note(const struct attn_sink *s);
void attn_sink_close(struct attn_sink *s);                          /* NULL is fine */

/* ---- a model and its tokenizer ---------------------------------------------------------------- */

/* The i-th contradiction between a model's files and its tokenizer, as a sentence: ids that only one of them has, other
 * tokens that begin or end texts, and, for a text of T tokens, a limit that the tokenizer states.  false after the
 * last.  None is an error: ids that the model has can be run. */
enum { ATTN_DOUBT = 320 };
bool attn_model_doubt(char out[ATTN_DOUBT], size_t i, const struct attn_model *m, const struct attn_tokenizer *t,
                      size_t T);

/* ---- names for ids ---------------------------------------------------------------------------- */

/* Tokens made from ids have no text.  Labels name them, for people: by a tokenizer, or by the lines of a file. */
struct attn_labels;
int attn_labels_new(struct attn_labels **out, const struct attn_tokenizer *t, struct attn_err *err);    /* borrows t */
/* Lines of UTF-8, copied: one for each of `vocabulary` entries of a model, or one for each token.  Which of them, the
 * number of lines says; if it is both, entries.  A blank line leaves the id.  `name` is that of the file. */
int attn_labels_read(struct attn_labels **out, const char *text, size_t len, const char *name, size_t vocabulary,
                     struct attn_err *err);
bool attn_labels_by_id(const struct attn_labels *l);    /* false: one line for each token */
size_t attn_labels_count(const struct attn_labels *l);  /* lines of the file, or entries of the tokenizer */
/* The label of an id, NUL-terminated, if labels are by id, else NULL.  Lives as long as labels and tokenizer. */
const char *attn_labels_text(const struct attn_labels *l, int32_t id, size_t *len);
/* Names the tokens that have no text; the names live as long as the labels and their tokenizer.  Fails, with both
 * numbers, where there are neither as many lines as entries nor as tokens. */
int attn_tokens_label(struct attn_tokens *t, const struct attn_labels *l, struct attn_err *err);
void attn_labels_free(struct attn_labels *l);           /* NULL is fine */

/* ---- many sentences -------------------------------------------------------------------- */

/* The share of an input's records that one of `count` processes takes; index is 0..count-1.  Of N records these are
 * N*index/count up to, without it, N*(index+1)/count; with stride, record `index` and every count-th after it.  All
 * zero: every record. */
struct attn_share { uint64_t index, count; bool stride; };
/* Reads "2/7" or "auto", which takes both numbers from the environment variables of Slurm, Open MPI or PMI; `get` looks
 * them up as getenv does.  Leaves stride as it is. */
int attn_share_parse(struct attn_share *out, const char *text, char *(*get)(const char *name), struct attn_err *err);

/* Reads sentences from a file one at a time, so that memory grows only with the longest.  The manual describes the
 * formats under `batch`. */
struct attn_records_opts {
    const char *path;                   /* NULL or "-": standard input */
    const char *format;                 /* text ndjson csv tsv; NULL: by the ending of the path, else text */
    const char *column;                 /* csv, tsv: name or index of the text's column; NULL: "text" or the only one */
    bool headless;                      /* csv, tsv: the first row is a record, not a header */
    struct attn_share share;
    bool (*stop)(void *self);           /* asked several times a second while waiting for input; NULL: never stop */
    void *self;                         /* for stop and guessed */
    const char *const *fields; size_t n_fields;     /* ndjson, csv, tsv: names of other members or columns to read; they
                                                     * must outlive the reader */
    size_t n_columns;                   /* csv, tsv: the first of them, which the table must have */
    /* Called with the only column's name, as written, where nothing says that it is one and not a sentence; or NULL. */
    void (*guessed)(void *self, const char *name, size_t len);
    const char *const *texts; size_t n_texts;   /* these are the records, in place of a file; NULL: none */
};
/* What a record has under one of these names: a text; ids (one for a number); neither if it lacks the name. */
struct attn_record_field { const char *name, *text; size_t len; const int32_t *ids; size_t n; };
struct attn_record {
    uint64_t number, line;              /* its place in the whole input, from 0; the line where it begins, from 1 */
    const char *id; size_t id_len;      /* its id in the input, not necessarily unique; NULL: it has none */
    bool id_is_number;                  /* id is a JSON number, spelled as in the input; else it is a string */
    const char *text; size_t text_len;  /* UTF-8, which may contain NULs; NULL: there are ids or an error instead */
    const int32_t *ids; size_t n;
    const char *error;                  /* what is wrong with the record, without file and line; NULL: nothing */
    const struct attn_record_field *field; size_t n_fields;     /* in the order in which they were asked for */
};
enum attn_records_event { ATTN_RECORDS_NEXT, ATTN_RECORDS_END, ATTN_RECORDS_STOPPED };

struct attn_records;
/* Opens the input; nothing is read from a pipe yet.  A share without stride needs a regular file, so that its records
 * can be counted first. */
int attn_records_open(struct attn_records **out, const struct attn_records_opts *o, struct attn_err *err);
void attn_records_close(struct attn_records *r);                    /* NULL is fine */
/* Reads the next record; its pointers are valid until the next call.  A bad record is no failure but has an `error`:
 * the function fails only if reading cannot go on. */
int attn_records_next(struct attn_records *r, struct attn_record *out, enum attn_records_event *what,
                      struct attn_err *err);
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
    uint64_t records, failed;           /* done, with those of resumed earlier runs; how many of them failed */
    uint64_t before;                    /* records done by earlier runs */
    uint64_t tokens;                    /* in this run */
    uint64_t overflowed;                /* records of this run with dots that overflow float32: see attn_run_overflow */
    uint64_t total;                     /* records of this share; UINT64_MAX: not known */
    uint64_t read, all;                 /* bytes of the input read so far; its size, 0: not known */
    bool complete;                      /* false: it was stopped and can be resumed */
    bool unread;                        /* it ended early, as the reader closed the pipe; this counts as complete */
    uint64_t reserved[4];
};
struct attn_batch_option { const char *name, *value; };
/* In place of activations: the grid of patches of each record, as attn_patch_new makes it.  Records have a second text,
 * "from" (or "from_ids"), of as many tokens, and the fields that the metric names, a text that is one token or its id;
 * in csv and tsv digits alone are an id.  The formats are ndjson, tidy, and summary: the means of each cell over all
 * records, which a shard's has not yet, but one line for each cell of each record, so that attn_merge finds the same
 * bits as one process. */
struct attn_batch_grid { const char *what, *over, *metric, *method; };         /* as in attn_patch_opts */
struct attn_batch_opts {
    const struct attn_model *model;     /* its tokenizer is opened for the first text */
    const struct attn_select *select;
    const struct attn_records_opts *records;    /* its `stop` is also asked between passes */
    struct attn_encode_opts encode;
    const char *format;                 /* NULL: ndjson.  Streams: ndjson, tidy, summary.  Directories with files for
                                         * each record: csv, npy, npz, png, svg, pdf; with arrays of them all: stack */
    const char *path;                   /* NULL or "-": standard output, for streams only */
    const char *summary;                /* a file that gets a summary besides; NULL: none */
    const char *summary_form;           /* of any summary: wide (NULL), one line per record; tidy, one line per head */
    const struct attn_batch_option *options; size_t n_options;    /* all options that change the output, as they were
                                                                   * given: a resumed batch must have the same */
    const char *command;                /* a command line that makes it again, for manifests */
    struct attn_picture_opts picture;
    const struct attn_edits *edits;     /* of every record, which fails without the position or token of one; or NULL */
    const struct attn_tokens *from;     /* what `from` means in edits; NULL: nothing, or the other text of each grid */
    const struct attn_batch_grid *grid; /* NULL: activations are written */
    struct attn_plan plan;              /* rows, seqs and keys are not read; threads do not change the output */
    bool resume, force;                 /* continue an unfinished output; overwrite it */
    bool fail_fast;                     /* the first bad record is an error */
    bool csv_safe;                      /* as of a sink; also in summaries */
    void (*progress)(void *self, const struct attn_batch_state *state);     /* called after each pass; may be NULL */
    /* called for bad records in order; may be NULL */
    void (*failed)(void *self, const struct attn_record *r, const char *why);
    void *self;                         /* for progress, failed and opened */
    const struct attn_labels *labels;   /* of records that are ids, by id; NULL: none */
    /* called once the tokenizer is open; may be NULL */
    void (*opened)(void *self, const struct attn_tokenizer *t);
    uint64_t reserved[1];
};
int attn_batch(struct attn_batch_state *out, const struct attn_batch_opts *o, struct attn_err *err);

/* Estimates what a batch would take: reads all of the input, times the beginning of it, and writes nothing. */
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
/* path: a directory of .npy or .csv files or its manifest.json, an .npz archive, a .safetensors file, one .npy or .csv
 * file, or the JSON document or tidy table of a run. */
int attn_dump_open(struct attn_dump **out, const char *path, struct attn_err *err);
/* Runs a sentence as attn_run_tokens does and records `what`.  `observer`, unless NULL, observes the run, too. */
int attn_dump_run(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                  const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *plan,
                  const struct attn_observer *observer, struct attn_err *err);
/* The same with any number of observers, which observe before it is recorded: what it records is what they leave. */
int attn_dump_run_with(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                       const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *plan,
                       const struct attn_observer *obs, size_t n_obs, struct attn_err *err);
/* What of a directory was not read, or was missing, and why; NULL: nothing.  Lives as long as the dump. */
const char *attn_dump_warning(const struct attn_dump *d);
void attn_dump_free(struct attn_dump *d);                           /* NULL is fine */
size_t attn_dump_tokens(const struct attn_dump *d);                 /* how many tokens the sentence had; 0: not known */
/* Array i of the dump: its name, its shape, row-major numbers.  Returns how many axes it has, -1 if there is none. */
struct attn_dump_array {                /* lives as long as the dump */
    const char *name; size_t shape[8]; const float *data;
    const double *f64;                  /* the same before it was rounded to float32; NULL: that changed no number */
};
int attn_dump_array(const struct attn_dump *d, size_t i, struct attn_dump_array *out);
/* The same of the array with this name, as in "blocks.0.attn.pattern". */
int attn_dump_find(const struct attn_dump *d, const char *name, struct attn_dump_array *out);
/* The text of a token, NUL-terminated; NULL: only the id is known.  *id is -1 where only the text is. */
const char *attn_dump_token(const struct attn_dump *d, size_t i, int32_t *id, size_t *len);

/* Draws what a dump holds. */
struct attn_plot_opts {
    const char *format;                 /* term png svg pdf html */
    const char *path;                   /* NULL or "-": standard output */
    const char *title;
    const char *show, *layers, *heads;  /* as attn_select_new takes them, but with the names in the dump; show NULL:
                                         * pattern, or everything if the dump has no pattern */
    int width;                          /* columns of the terminal; 0: no limit */
    size_t frames;                      /* the most steps of a training that are drawn side by side; 0: 8 */
    struct attn_picture_opts picture;
    const struct attn_labels *labels;   /* one line per token or row, instead of what the dump calls them; or NULL */
    char *note;                         /* gets what one may want to know of the picture, or "": room for ATTN_PLOT_NOTE
                                         * bytes; NULL: nobody asks */
    bool words;                         /* as in struct attn_sink_opts; arrays of other names are taken for patterns */
    uint64_t reserved[1];
};
int attn_plot(const struct attn_dump *d, const struct attn_plot_opts *o, struct attn_err *err);

/* ---- weights --------------------------------------------------------------------------- */

/* The number of a tensor for attn_model_tensor; an error names the nearest ones. */
int attn_tensor_find(size_t *i, const struct attn_model *m, const char *name, struct attn_err *err);
struct attn_tensor_opts {
    const char *format;                 /* one of ATTN_FORMAT_TENSOR or ATTN_FORMAT_PICTURE; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    const struct attn_tokenizer *tokenizer;     /* names tokens of embedding and output layer; NULL: by number */
    int precision, width;               /* of text: digits after the point; columns of the terminal, 0: no limit */
    size_t limit;                       /* of text: a tensor of more numbers is summarised; 0: none is */
    bool color, csv_safe;
    struct attn_picture_opts picture;
    char *note;                         /* as in struct attn_plot_opts */
    /* Of a tensor in blocks of few bits, in place of its numbers: "integers", those few bits; "scales" or "minima", one
     * for each group of them, so that a number is scale * integer + minimum.  NULL: the numbers. */
    const char *stored;
    uint64_t reserved[3];
};
/* Writes tensor i as a matrix of float32 in the file's own layout.  A vector is one row; of more than two axes, all but
 * the last make the rows. */
int attn_tensor_write(const struct attn_model *m, size_t i, const struct attn_tensor_opts *o, struct attn_err *err);

/* ---- comparing ------------------------------------------------------------------------- */

enum attn_diff_kind {
    ATTN_DIFF_SAME, ATTN_DIFF_CLOSE,    /* bit for bit; within the tolerance */
    ATTN_DIFF_NUMBERS, ATTN_DIFF_SHAPE, /* numbers beyond the tolerance; different shapes */
    ATTN_DIFF_ONLY_A, ATTN_DIFF_ONLY_B
};
struct attn_diff_row {                  /* how one array of dump a compares with that of dump b */
    const char *name;                   /* lives as long as the comparison and both dumps */
    int act, layer;                     /* enum attn_act; -1: the name is not one of ours */
    enum attn_diff_kind kind;
    int ndim[2]; size_t shape[2][8];    /* of a and of b */
    /* The members below are set where numbers could be compared. */
    size_t count, differing;            /* how many were compared; how many are beyond the tolerance */
    double max_abs, mean_abs;           /* of |a - b| */
    double nmse;                        /* mean square of a - b, divided by the variance of b */
    uint64_t max_ulp;                   /* the largest difference in units in the last place: float32 from a to b */
    size_t at[3]; float a, b;           /* head, row and column of the largest difference, and the numbers there */
    /* Of activations: the largest difference relative to the size of what was summed, how much of that rounding
     * explains in the light of what the activation is computed from, and how many numbers are beyond. */
    double gap, explained; size_t beyond;
};
/* Rules that say which activation an array is: "layer{}_att=blocks.{}.attn.pattern", where {} is the number of the
 * layer; on the right also a short name.  *rules is NULL at first and grows; free what a failed call leaves of it. */
struct attn_naming;
int attn_naming_add(struct attn_naming **rules, const char *rule, struct attn_err *err);
/* One rule per line; lines that begin with # are comments.  `path` is for messages. */
int attn_naming_read(struct attn_naming **rules, const char *text, size_t len, const char *path, struct attn_err *err);
void attn_naming_free(struct attn_naming *rules);                   /* NULL is fine */

struct attn_editor;
struct attn_diff_opts {
    double atol, rtol;                  /* numbers agree when |a - b| <= atol + rtol * |b| */
    bool exact;                         /* ... or, instead, only when their bits are the same */
    bool rounding;                      /* ... or, instead, as far as rounding explains: see attn_diff_row */
    const struct attn_model *model_a, *model_b; /* their weights help to find a cause; may be NULL */
    const struct attn_editor *editor_a; /* what edited the run of dump a; NULL: nothing */
    const struct attn_naming *naming;   /* which activations arrays of other names are; NULL: nobody says */
    const struct attn_contrasted *contrast;     /* of two models: their types may be the cause; may be NULL */
    uint64_t reserved[1];
};
/* Compares two dumps; b is the reference.  Arrays belong together that have the same name, or are the same activation:
 * by our names, by TransformerLens's, or by `naming`.  It is an error if no two belong together. */
struct attn_diff;
int attn_diff_new(struct attn_diff **out, const struct attn_dump *a, const struct attn_dump *b,
                  const struct attn_diff_opts *o, struct attn_err *err);
void attn_diff_free(struct attn_diff *d);                           /* NULL is fine */
/* All arrays in the order of the forward pass; those whose names are not ours come last. */
const struct attn_diff_row *attn_diff_rows(const struct attn_diff *d, size_t *n);
/* the first that differs; NULL: none does */
const struct attn_diff_row *attn_diff_first(const struct attn_diff *d);
/* By no more than rounding explains, whatever limits were asked for; and whether at[0] is a head. */
bool attn_diff_is_rounding(const struct attn_diff_row *row);
bool attn_diff_has_heads(const struct attn_diff_row *row);
bool attn_diff_square(const struct attn_diff_row *row);          /* its columns are keys */
struct attn_diff_counts { size_t compared, differ, close, rounding; };
struct attn_diff_counts attn_diff_count(const struct attn_diff *d);
/* What a side, 0 or 1, calls the array of a row itself; NULL: it has none. */
const char *attn_diff_name(const struct attn_diff *d, const struct attn_diff_row *row, int side);
/* How the arrays of a row were read, where their shapes leave a choice; NULL: they leave none. */
const char *attn_diff_note(const struct attn_diff *d, const struct attn_diff_row *row);
/* The form that a side, *side unless side is NULL, has the activation of a row in, with the same predictions: it was
 * compared in one form, and the numbers of the row are of that.  "centred", "folded", "moved", "shifted" or "mask": see
 * compare/other_forms.h; NULL: both have it alike. */
const char *attn_diff_form(const struct attn_diff *d, const struct attn_diff_row *row, int *side);
/* Whether a .safetensors file holds activations: arrays with our names, TransformerLens's, or those of the rules. */
bool attn_diff_takes(const char *path, const struct attn_naming *rules);
/* "bf16", "float16" or "TF32" if one side has such numbers, or products of such, and rounding to them explains where
 * both begin to differ; else NULL. */
const char *attn_diff_rounded_to(const struct attn_diff *d);
/* The likely mistake behind the first difference, in a sentence that calls the dumps A and B; *kind, unless kind is
 * NULL, becomes one word for it, for scripts.  NULL: it looks like no mistake we know. */
const char *attn_diff_cause(const struct attn_diff *d, const char **kind);

/* Where no known mistake fits: those that come nearest, and what part of the difference they leave, which speaks
 * against them; text "": there is no further one. */
enum { ATTN_DIFF_NEAREST = 2 };
struct attn_diff_near { char text[96]; double left; };
const struct attn_diff_near *attn_diff_nearest(const struct attn_diff *d);      /* ATTN_DIFF_NEAREST of them */

/* B - A of every activation that both sides have with the same shape, as it was compared, under its name and with the
 * tokens, as a dump: for attn_plot. */
int attn_diff_dump(struct attn_dump **out, const struct attn_diff *d, struct attn_err *err);

/* What comes next on both sides, where both dumps have logits of the same shape. */
enum { ATTN_DIFF_NEXT = 5 };
struct attn_diff_next {
    size_t rows, V;                     /* rows of logits; 0: there are none to compare */
    /* KL(B || A) and KL(A || B) of the two distributions, in nats: at the last row, and the mean over all rows; NaN: a
     * logit is not finite, and so not a distribution; inf: one side rules out what the other allows. */
    double kl_ba, kl_ba_mean, kl_ab, kl_ab_mean;
    double max_abs; int32_t at; float a, b;             /* the largest difference of last logits; its id, its logits */
    /* likeliest next tokens; 0: NaN */
    struct attn_likely next_a[ATTN_DIFF_NEXT], next_b[ATTN_DIFF_NEXT]; size_t n_a, n_b;
};
void attn_diff_next(struct attn_diff_next *out, const struct attn_diff *d);

/* What each part of a model adds to the difference of the stream after the last block, in the order of the forward
 * pass.  n is 0 if the dumps lack the streams or what is added to them, or do not differ.  Free the list. */
struct attn_diff_added {
    const char *part; int layer;        /* "embed", layer -1; "attn" or "mlp" */
    double error;                       /* root mean square of a - b, over that of b, of what the part adds */
    double share;                       /* of the difference of the last stream, in its direction: all add up to 1 */
    double stream;                      /* as error, of the stream after the addition; NaN: it is not there */
};
int attn_diff_parts(struct attn_diff_added **out, size_t *n, const struct attn_diff *d, struct attn_err *err);

/* Two models as their files say it: configuration, vocabulary, tokenizer, weights; nothing is run, so that the
 * architecture need not be one that can be.  A side is a model as attn_model_open takes it, or one file of weights:
 * .safetensors, or what torch.save wrote.  b is the reference. */
struct attn_contrast_opts {
    double atol, rtol;                  /* weights agree when |a - b| <= atol + rtol * |b|; both 0: if they are equal */
    /* Called now and then with the bytes compared and those there are; a code ends it.  May be NULL. */
    int (*step)(void *self, uint64_t done, uint64_t all, struct attn_err *err);
    void *self;
    const struct attn_lacking *given[2];                /* what a and b do not say; NULL: nothing is given */
};
struct attn_contrast_field { const char *name, *a, *b; };           /* "rope_scaling.factor"; its JSON, or NULL */
/* spelling; NULL: no such id */
struct attn_contrast_token { int32_t id; const char *a, *b; size_t a_len, b_len; };
/* the first line that differs, from 1 */
struct attn_contrast_file { const char *name; bool has_a, has_b; size_t line; };
struct attn_contrast_weight {
    const char *name, *name_b;          /* in each file, perhaps with a prefix, "transformer."; equal if one lacks it */
    enum attn_diff_kind kind;
    const char *dtype[2];               /* "F32"; NULL: the side does not have it */
    int ndim[2]; size_t shape[2][8];
    /* Of all numbers or, where shapes differ in one dimension, of the part that both sides have; count 0: of none. */
    size_t count, differing;            /* differing: beyond the tolerance */
    /* The largest |a - b|, where, and the numbers there.  max_abs inf: one is not finite; NaN: numbers of a type that
     * only compares as bytes, and the first place. */
    size_t at[8]; double max_abs, a, b;
    bool of_tokens;                     /* its rows are tokens: it is the embedding */
    int rounded;                        /* 1: numbers of a are those of b rounded to a's type; 2: the other way round */
    /* Of weights of the same shape that differ: the sums of (a - b)^2 and of b^2, the root of whose quotient is the
     * relative error; else 0. */
    double squares, squares_b;
};
/* Weights that have these types on the two sides: those that differ and were measured, and their relative error. */
struct attn_contrast_type {
    const char *dtype[2];
    bool blocks[2];                     /* whether its numbers share scales: the side is quantised */
    size_t weights, rounded[2];         /* rounded: those whose numbers on this side are the other's, rounded */
    size_t same;                        /* those besides that do not differ, where the types do */
    double squares, squares_b;          /* the sums over all of them */
    double worst_relative;              /* the largest relative error of one, */
    const char *worst;                  /* which is this; NULL: there is no error */
};
struct attn_contrasted {                /* lives as long as the contrast */
    bool config[2], weights[2];         /* whether a side has them */
    bool translated;                    /* fields have our own config.json's words, as the families differ */
    const struct attn_contrast_field *field; size_t fields;         /* those that differ */
    const struct attn_assumed *assumed[2]; size_t n_assumed[2];     /* as attn_model_assumed */
    const struct attn_tokenizer *tokenizer[2];          /* NULL: none that can be read, */
    const char *why[2];                 /* which says why; NULL: a file of weights, or no files of a tokenizer */
    size_t vocab[2], only[2];           /* tokens; those whose spelling only this side has */
    const struct attn_contrast_token *token; size_t tokens;         /* ids that differ */
    const struct attn_contrast_file *file; size_t files;            /* files of the tokenizer that differ */
    /* all, in the order of a's forward pass; those of b last */
    const struct attn_contrast_weight *weight; size_t weight_rows;
    size_t compared, differing;         /* weights that both have; those that differ, or are on one side alone */
    const struct attn_contrast_type *type; size_t types;            /* in the order of their first weights */
};
struct attn_contrast;
/* Whether the path, or the name if there is no such path, is one that a side may have; a directory of arrays may
 * be given, too. */
bool attn_contrast_takes(const char *path);
int attn_contrast_new(struct attn_contrast **out, const char *a, const char *b, const struct attn_contrast_opts *o,
                      struct attn_err *err);                        /* o NULL: all zero */
void attn_contrast_free(struct attn_contrast *c);                   /* NULL is fine */
const struct attn_contrasted *attn_contrast_result(const struct attn_contrast *c);
bool attn_contrast_differs(const struct attn_contrasted *r);
/* The relative error of such sums: the root mean square of a - b as a part of that of b; NaN: not measured. */
double attn_contrast_relative(double squares, double squares_b);
/* The first weight that differs and is quantised on one side alone, and that side; NULL: there is none. */
const struct attn_contrast_weight *attn_contrast_quantised(const struct attn_contrasted *r, int *side);

/* ---- languages ------------------------------------------------------------------------- */

/* Code and name of a language in which lessons are said, as "zh" and its name in that language; English is the first.
 * False: there are no more. */
bool attn_language_row(size_t i, const char **code, const char **name);

/* ---- attention on numbers of one's own -------------------------------------------------- */

/* What may be given: queries, keys, values; the products q.k, or what the softmax reads; which keys are seen; or what
 * queries, keys and values are made of: the rows of a text, those of another text that it looks at, weights and what is
 * added to their products; and the weights of the output, which read the contexts of all heads, and what is added. */
enum attn_attend_input {
    ATTN_ATTEND_Q, ATTN_ATTEND_K, ATTN_ATTEND_V, ATTN_ATTEND_DOTS, ATTN_ATTEND_SCORES, ATTN_ATTEND_MASK,
    ATTN_ATTEND_X, ATTN_ATTEND_CROSS, ATTN_ATTEND_WQ, ATTN_ATTEND_WK, ATTN_ATTEND_WV, ATTN_ATTEND_WO,
    ATTN_ATTEND_BQ, ATTN_ATTEND_BK, ATTN_ATTEND_BV, ATTN_ATTEND_BO, ATTN_ATTEND_INPUTS
};
/* How scores become weights: exp of each divided by the sum of these, or each divided by their sum. */
enum attn_weighing { ATTN_WEIGHTS_SOFTMAX, ATTN_WEIGHTS_SUM };
struct attn_attend_opts {
    /* Numbers as typed, "1 0 1; 0 2 2", or the path of a file; - is standard input; NULL: not given.  Rows are those of
     * tokens, of weights those of inputs; heads lie side by side in the columns, or are a first axis of three.  A mask
     * of 0 and 1 has 1 where a query sees a key; any other is added to the scores, with -inf where it hides one.  It
     * may have one row, for all queries.  Rows of a text without weights are their own queries, keys and values. */
    const char *given[ATTN_ATTEND_INPUTS];
    const char *names, *key_names;      /* words that name rows, and those of keys; NULL: labels of files, or numbers */
    size_t heads;                       /* query heads; 0: as many as the arrays of three axes have, else one */
    bool hides;                         /* a mask of 0 and 1 has 1 where a key is hidden */
    bool transposed;                    /* weights are [out, in], as torch's Linear has them */
    bool causal;                        /* as a model's own mask: kinds that follow the model see no later key */
    bool vectors;                       /* there may be vectors alone, and no attention */
    double cap;                         /* scores become cap * tanh(score / cap); 0: they do not */
    enum attn_weighing weights;
    bool late;                          /* masks come after that: weights of hidden keys become 0, all others stay */
    struct attn_kind kind;              /* that will be run with, to check that each query sees a key */
    uint64_t reserved[4];
};
/* A model of one block, whose attention reads these numbers in place of its own, to be run (by attn_run_tokens), shown
 * and explained as any other: with the tokens and, unless they are NULL, the keys as the other text of cross-attention.
 * There, too, kinds of attention mask by position, counted from 0 in both.  All of it is computed in double precision,
 * from the numbers as they were typed to those that observers see (attn_probe.f64); it cannot be edited.  All that is
 * returned lives as long as the whole. */
struct attn_attend;
int attn_attend_open(struct attn_attend **out, const struct attn_attend_opts *o, struct attn_err *err);
void attn_attend_close(struct attn_attend *a);                      /* NULL is fine */
const struct attn_model *attn_attend_model(const struct attn_attend *a);
const struct attn_tokens *attn_attend_tokens(const struct attn_attend *a);
const struct attn_tokens *attn_attend_keys(const struct attn_attend *a);
/* What is given and what comes of it, with shapes: "q [3, 2], k [3, 2], v [3, 4]: 1 head, pattern [1, 3, 3], ...". */
const char *attn_attend_about(const struct attn_attend *a);

/* ---- explaining ------------------------------------------------------------------------ */

#define ATTN_KEY_LARGEST SIZE_MAX
struct attn_explain_opts {
    size_t layer, head, query, key;     /* which weight; key ATTN_KEY_LARGEST: the largest weight of the query */
    const struct attn_tokens *cross;    /* the other text whose keys are looked at; NULL: the sentence's own keys */
    bool all;                           /* print long vectors in full */
    const char *format;                 /* text md html pdf; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int precision;                      /* digits after the point */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color;                         /* text only */
    int threads;
    struct attn_kind kind;              /* of attention */
    const struct attn_observer *observer;   /* observes the run, too; NULL: none */
    const struct attn_edits *edits;     /* what it edits, which is said; NULL: nothing */
    const char *run;                    /* "attn-cli run ..." for the same input, to be quoted; NULL: no command */
    size_t gaps;                        /* leave so many results out, for a worksheet; 0: none */
    uint64_t seed;                      /* of which ones */
    bool answers;                       /* give them after all, marked */
    const char *font; size_t font_index;        /* pdf only: as in struct attn_picture_opts */
    char *note;                         /* gets which characters could not be drawn, or "": room for ATTN_PLOT_NOTE
                                         * bytes; NULL: nobody asks */
    const char *lang;                   /* what it is said in, as "zh", see attn_language_row; NULL: English */
    uint64_t reserved[1];
};
/* The weight that tells most of a text: the largest on another key than the first and the query itself; of several the
 * first by layer, head, query and key.  weight 0: there is none.  `edits`: what edits the run; NULL: nothing. */
struct attn_telling { float weight; size_t layer, head, query, key; };
int attn_telling_find(struct attn_telling *out, const struct attn_model *m, const struct attn_plan *plan,
                      const struct attn_tokens *tokens, const struct attn_observer *edits, struct attn_err *err);
/* Derives one attention weight and the context vector of its query step by step, with the numbers of a run. */
int attn_explain(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_explain_opts *o,
                 struct attn_err *err);
/* Works through the listings of an article, and compares each number that it prints with the one computed from the
 * article's inputs, weights or seed.  `article` is its number or name, as in "00" and "life"; "list" lists them with
 * what each covers.  Layer, head, query and key of the options are not read: the article has its own. */
int attn_explain_article(const char *article, const struct attn_explain_opts *o, struct attn_err *err);
/* Number, name and title of an article; false: there are no more. */
bool attn_article_row(size_t i, const char **number, const char **name, const char **title);

/* ---- comparing kinds of attention ------------------------------------------------------ */

struct attn_variants_opts {
    const char *kinds;                  /* as attn_kind_parse takes them, between blanks or commas; NULL: one of each */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    size_t layer, head;                 /* whose pattern is drawn; all layers and heads are compared */
    const char *format;                 /* of ATTN_FORMAT_TABLE or ATTN_FORMAT_PICTURE; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text and term; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    int threads;
    bool bf16;
    const struct attn_observer *observer;   /* observes all runs, too; NULL: none */
    bool difference;                    /* draw each pattern less the model's own */
    uint64_t reserved[3];
};
/* Runs one sentence under several kinds of attention on the same weights, and reports how far each is from the model's
 * own attention, what it costs and how long it takes. */
int attn_variants(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_variants_opts *o,
                  struct attn_err *err);

/* ---- making models --------------------------------------------------------------------- */

/* What MLPs compute between their products, "none" first: y = act(x in), or where it is gated act(x gate) * (x in). */
struct attn_mlp_row {
    const char *name;                   /* as in struct attn_info */
    const char *note;                   /* which form of its function it is; NULL: there is one */
    bool gated, own;                    /* own: a config.json of our own format may have it */
};
/* The row after m, the first for NULL; NULL: there are no more. */
const struct attn_mlp_row *attn_mlp_next(const struct attn_mlp_row *m);
const struct attn_mlp_row *attn_mlp_find(const char *name);             /* NULL: there is none of that name */

struct attn_init_opts {
    const char *config; size_t config_len; /* text of a config.json of any family */
    const char *config_name;            /* what messages call it; NULL: config */
    const char *draw;                   /* native models: the recipe for drawing each tensor (see the help of init);
                                         * NULL: what torch draws when it builds the modules in the order of the forward
                                         * pass.  Other families: norms are 1, biases 0, all else normal(0, 0.02) */
    uint64_t seed;
    bool scalar;                        /* draw what torch draws on a processor without AVX2 */
    const char *dtype;                  /* how numbers are stored: "F32", "F16", "BF16" */
    const char *vocab; size_t vocab_len;/* text of vocab.json, or NULL */
    const char *vocab_name;             /* what messages call it; NULL: vocabulary */
    uint64_t reserved[3];
};
/* Pair i of a GGUF file's metadata.  value is JSON, malloc'd: of a long array the first values, of a long string the
 * beginning, then `cut`; NULL: there is no such pair, as in all other files. */
struct attn_metadata { const char *key, *type; size_t n; bool cut; char *value; uint64_t reserved[2]; };
int attn_model_metadata(struct attn_metadata *out, const struct attn_model *m, size_t i, struct attn_err *err);

/* Writes an open model as a Hugging Face directory: config.json and the files of its tokenizer as they are, and one
 * model.safetensors with all tensors as they are stored; *tensors: how many.  Of a GGUF model, names, shapes and order
 * of rows become those of its family.  o NULL: all zero. */
struct attn_save_opts {
    bool replace;                       /* overwrite a model that is there */
    /* Is told how many bytes of the weights are written, and ends it by returning non-zero; NULL: nobody asks. */
    int (*step)(void *self, uint64_t done, uint64_t all, struct attn_err *err);
    void *self;
    const char *dtype;                  /* "F32", "F16" or "BF16": what all tensors are written in; NULL: as they are
                                         * stored, and quantised ones in F16 */
    uint64_t reserved[3];
};
int attn_model_save(const struct attn_model *m, const char *dir, const struct attn_save_opts *o, size_t *tensors,
                    struct attn_err *err);

/* What a file of a course, such as a ckpt.pt without its training's settings, does not say; NULL: nothing is given.
 * as: words of attn_as_word with commas between them, or "heads=N"; vocab: a file of tokens and ids, any tokenizer's
 * file, or a directory with such files. */
struct attn_lacking { const char *as, *vocab; uint64_t reserved[6]; };
int attn_model_open_with(struct attn_model **out, const char *name, const struct attn_lacking *given,
                         struct attn_err *err);
int attn_tokenizer_open_with(struct attn_tokenizer **out, const char *model, const struct attn_lacking *given,
                             struct attn_err *err);
/* Whether there are files of a tokenizer, which attn_model_tokenizer would open, or nobody can tell. */
bool attn_model_spells(const struct attn_model *m);
/* What was assumed of an open model, as its file does not say it and nobody else did, in the order "scale", "act",
 * "norm", "embed"; lives as long as the model. */
struct attn_assumed { const char *key, *value; };
const struct attn_assumed *attn_model_assumed(const struct attn_model *m, size_t *n);
/* The i-th word of a list, a name as "nanogpt" or a key with a value as "scale=width"; the i-th value of a key; NULL
 * after the last. */
const char *attn_as_word(size_t i);
const char *attn_as_value(const char *key, size_t i);

/* The models that attn_model_open finds by name: built in, in ATTN_MODEL_PATH, installed, and in Hugging Face's cache.
 * path is NULL for what is built in; a name that is taken is replaced by the path. */
struct attn_listed { const char *name, *path, *where; uint64_t reserved[2]; };
int attn_models_list(struct attn_listed **list, size_t *n, struct attn_err *err);
void attn_models_free(struct attn_listed *list, size_t n);          /* NULL is fine */

/* Makes a model with random weights: writes config.json, model.safetensors and, if a vocabulary is given, vocab.json
 * into directory `path`. */
int attn_init(const char *path, const struct attn_init_opts *o, struct attn_err *err);

/* drop: the characters to leave out, or NULL; unknown: the token for words not in the vocabulary, or NULL; chars: each
 * character is a word, white space too. */
struct attn_vocab_opts { const char *drop; bool lowercase; const char *unknown; bool chars; };
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
    const char *from;                   /* a model, as attn_model_open takes it, with whose weights, configuration and
                                         * tokenizer a training begins; tokenizer, config and draw are then NULL.  NULL:
                                         * weights are drawn */
    const struct attn_lacking *given;   /* what the file `from` does not say; NULL: nothing is given */
    /* Needed to begin a training without `from`.  To go on with one, each must be what it was, or NULL. */
    const char *tokenizer;              /* directory with vocab.json and, for BPE, merges.txt; for models of other
                                         * formats, any tokenizer's: its files are copied */
    const char *config; size_t config_len; const char *config_name; /* a config.json; its name, NULL: config */
    const char *draw;                   /* as in attn_init_opts; NULL: normal(0,0.02), in our own format smaller for
                                         * what a branch adds to x */
    /* Texts of a train.json; `changes` override `settings`.  NULL: what the training had, or the defaults. */
    const char *settings; size_t settings_len; const char *settings_name;
    const char *changes; size_t changes_len;
    bool resume;                        /* go on from the checkpoint in the directory, or begin if there is none */
    int threads;                        /* 0: as many as this process may use */
    /* Texts that repeat themselves: it learns not to say again what is said there again.  NULL: nothing. */
    const char *against; size_t against_len;
    uint64_t reserved[1];
};
struct attn_train_state {
    size_t step, steps;                 /* steps done; steps in all */
    size_t tokens, step_tokens;         /* tokens predicted so far; in the last step */
    size_t parameters, text_tokens, also_tokens, held_out_tokens;
    double lr, loss, gradient;          /* learning rate, loss and norm of the gradient in the last step */
    double held_out, bits_per_byte;     /* loss on the held-out text after it; NaN: not measured after this step */
    uint64_t warmup;                    /* the learning rate rises for so many steps */
    uint64_t reserved[3];
};

/* A training in directory `path`, which holds the model it makes (config.json, vocab.json, merges.txt,
 * model.safetensors), train.json, checkpoint.safetensors, loss.csv and loss.png.  Each step depends on those before,
 * the seed and the texts alone: threads and interruptions change no bit. */
struct attn_train;
/* Fails if the directory has a training or another process is writing one there: for those who are about to write other
 * files into it, so that hours of work are not overwritten. */
int attn_train_spare(const char *path, struct attn_err *err);
bool attn_train_exists(const char *path);                           /* whether there is a checkpoint to go on from */
/* fails if there is a model that no training made */
int attn_train_may_begin(const char *path, struct attn_err *err);
/* Checks the settings and, if it is given, the config, as far as that is possible before there is a vocabulary. */
int attn_train_check(const struct attn_train_opts *o, struct attn_err *err);
int attn_train_open(struct attn_train **out, const char *path, const struct attn_train_opts *o, struct attn_err *err);
void attn_train_close(struct attn_train *t);                        /* does not save; NULL is fine */
void attn_train_get(const struct attn_train *t, struct attn_train_state *out);
/* Before the first step: chooses the number of steps so that the training, with what it measures and saves every
 * `save_every` steps, takes about so many seconds, and notes it in train.json; a warm-up of the usual length is then at
 * most a tenth of them.  For that it takes some steps, for a twentieth of the time and at most 2 s, at least one, and
 * takes them back.  *step: seconds of one. */
int attn_train_fit(struct attn_train *t, double seconds, size_t save_every, double *step, struct attn_err *err);
/* Does one step and, when it is due, measures the held-out loss.  The error names the step; earlier saves stay. */
int attn_train_step(struct attn_train *t, struct attn_err *err);
/* Writes the checkpoint, the model and the loss curve as they are now, each file whole or not at all. */
int attn_train_save(struct attn_train *t, struct attn_err *err);
/* The model as it is now; valid until the next step. */
const struct attn_model *attn_train_model(const struct attn_train *t);

struct attn_train_watch_opts {
    const char *text; size_t len;       /* the sentence to watch */
    const char *show, *layers, *heads;  /* as attn_select_new takes them; show NULL: pattern */
    size_t every;                       /* record it at the first step, every so many (at least 1), and at the last */
    int threads;
    struct attn_encode_opts encode;     /* how the sentence becomes tokens */
    uint64_t reserved[4];
};
/* Records activations of a sentence as the training goes on.  attn_train_save saves them with the rest: watch/NAME.npy,
 * whose first axis is time, watch/steps.npy and watch/manifest.json.  attn_plot draws them side by side.  Call this
 * once, before the first step. */
int attn_train_watch(struct attn_train *t, const struct attn_train_watch_opts *o, struct attn_err *err);

/* Computes the loss of a model and its gradient with respect to each tensor; the tensors themselves do not change.
 * rows: the most tokens of all sentences together.  The model must outlive it. */
struct attn_gradient;
int attn_gradient_new(struct attn_gradient **out, const struct attn_model *m, size_t rows, int threads,
                      struct attn_err *err);
void attn_gradient_free(struct attn_gradient *g);                   /* NULL is fine */
/* ids has n sentences of T[i] tokens, one after the other.  The loss is the mean of -log p(token | those before it in
 * its sentence) over all tokens but the first of each sentence.  If it is not finite, the error says at which place. */
int attn_gradient_run(struct attn_gradient *g, double *loss, const int32_t *ids, const size_t *T, size_t n,
                      struct attn_err *err);
/* Of the last run, the gradient with respect to tensor i of attn_model_tensor, in that tensor's layout; and the
 * Euclidean norm of the whole gradient. */
const float *attn_gradient_of(const struct attn_gradient *g, size_t tensor, size_t *count);
double attn_gradient_norm(const struct attn_gradient *g);
/* Writes it as .safetensors, in float32 under the tensors' own names; path NULL or "-": standard output. */
int attn_gradient_save(const struct attn_gradient *g, const char *path, struct attn_err *err);

/* ---- measuring ------------------------------------------------------------------------- */

/* The share that libxsmm's kernels have in the multiply-adds of products of two rows and more, attention's included,
 * since the count began anew, in all of this process; NaN: there were none.  Gradients of weights are not counted. */
double attn_products_by_libxsmm(void);
void attn_products_count(void);
/* What multiplies in this process, in words: "libxsmm 1.17, avx512, kernels made in this process"; or plain loops, and
 * why it is these. */
void attn_products_say(char *out, size_t size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

/* batch.h - many sentences: records come in, are run through the model, and leave as lines and files, in order.
 *
 * batch.c drives it all.  In the order of a record's life:
 *
 *     group.c     reads records together, gives each its key, tokenizes them
 *     engine.c    has what a batch works with, and runs records through the model, many in a pass
 *     capture.c   keeps the selected numbers of a pass
 *     summary.c   computes lines of plottable numbers for each sentence
 *     grids.c     makes a grid of patches for each record instead; grids.h says how they are written
 *     means.c     the mean of each cell of these grids over all records
 *     writing.c   formats one record: its line of the stream, its directory, its line of the summary
 *     stack.c     appends each sentence to one array for each activation
 *     output.c    puts what was written where it belongs, in order
 *     journal.c   keeps OUT.part.json up to date meanwhile, so that a batch can be continued (sidecar.h)
 *     written.c   finds out whether what is continued is as it was written
 *
 * estimate.c does the same without writing anything, to say what a batch would take.  shard.c finds out which records
 * this process takes; merge.h puts the outputs of several processes together. */
#ifndef ATTN_BATCH_BATCH_H
#define ATTN_BATCH_BATCH_H

#include "attn_ask.h"
#include "attn_tools.h"
#include "ask/scores.h"
#include "base/out.h"
#include "base/sha256.h"
#include "base/team.h"
#include "batch/grids.h"
#include "batch/sidecar.h"
#include "model/kind.h"
#include "sinks/sink.h"

/* ---- group.c ---- */

struct attn_item {
    struct attn_record of;              /* points into copy */
    void *copy;
    char key[65];
    struct attn_tokens *tokens;         /* NULL: it failed */
    int32_t *ids;                       /* of the tokens */
    struct attn_tokens *from;           /* of the other text of a grid */
    struct attn_err failure;            /* code ATTN_OK: it has not failed, or not yet */
};

/* Fails if what failed is no fault of the record: no memory, or a file that cannot be read. */
int attn_item_blame(const struct attn_item *item, struct attn_err *err);

struct attn_group { struct attn_item *item; size_t n, room; };

/* What is needed to tokenize records. */
struct attn_reading {
    const struct attn_model *model;     /* its tokenizer is opened for the first text */
    bool table;                         /* records are rows of a table */
    struct attn_tokenizer *tokenizer;
    void (*opened)(void *self, const struct attn_tokenizer *t); void *self;     /* called when it is; may be NULL */
    struct attn_encode_opts encode;
    const struct attn_labels *labels;   /* of records that are ids; NULL: none */
    struct attn_sha256 context;         /* what is hashed before the text for every key */
    size_t n_ctx;                       /* the model's */
    struct attn_team *team;
};

/* Reads what the input has without waiting, up to a limit, but at least one record.  *end: the input has ended;
 * *stopped: the user stopped it. */
int attn_group_read(struct attn_group *g, struct attn_records *from, const struct attn_reading *reading, bool *end,
                    bool *stopped, struct attn_err *err);
/* Adds a copy of a record from elsewhere. */
int attn_group_add(struct attn_group *g, const struct attn_record *r, const struct attn_reading *reading,
                   struct attn_err *err);
/* Opens the tokenizer, if nobody has. */
int attn_reading_tokenizer(struct attn_reading *reading, struct attn_err *err);
/* The text of a token, for those who get a function and its context (the reading); NULL: there is none. */
const char *attn_reading_text(void *reading, int32_t id, size_t *len);
/* Tokenizes each item, or notes why that failed. */
int attn_group_encode(struct attn_group *g, struct attn_reading *reading, struct attn_err *err);
void attn_group_clear(struct attn_group *g);

/* ---- capture.c ---- */

struct attn_capture;
int attn_capture_new(struct attn_capture **out, const struct attn_info *info, const struct attn_select *select,
                     struct attn_err *err);
void attn_capture_free(struct attn_capture *c);                     /* NULL is fine */
/* How many numbers a sentence of T tokens yields; UINT64_MAX: too many to count. */
uint64_t attn_capture_numbers(const struct attn_capture *c, size_t T);
uint64_t attn_capture_bytes(const struct attn_capture *c);          /* of memory in use */
/* Makes room for n sentences of seq[i].T tokens, which the observer then fills. */
int attn_capture_start(struct attn_capture *c, const struct attn_seq *seq, size_t n, struct attn_err *err);
struct attn_observer attn_capture_observer(struct attn_capture *c);
/* Announces sentence i to a watcher, in the order of the forward pass.  Threads may do so at once, one per sentence. */
int attn_capture_announce(const struct attn_capture *c, size_t i,
                          int (*watch)(void *, const struct attn_probe *, struct attn_err *), void *self,
                          struct attn_err *err);

/* ---- summary.c ---- */

struct attn_summary;
extern const char attn_summary_of_heads[];              /* the form that has all scores of heads, and nothing else */
/* Covers the heads of the patterns that o->select selects, in the form of o->summary_form.  reading: whose
 * tokenizer, once it is open, says what tokens read. */
int attn_summary_new(struct attn_summary **out, const struct attn_batch_opts *o, struct attn_reading *reading,
                     struct attn_team *team, struct attn_err *err);
void attn_summary_free(struct attn_summary *s);                     /* NULL is fine */
void attn_summary_header(const struct attn_summary *s, struct attn_out *o);
/* Prepares for a pass of these n sentences, which the observer then watches. */
int attn_summary_start(struct attn_summary *s, const int32_t *ids, const struct attn_seq *seq, size_t n,
                       struct attn_err *err);
struct attn_observer attn_summary_observer(struct attn_summary *s);
const struct attn_scores *attn_summary_scores(const struct attn_summary *s);
/* Writes the lines of sentence i of the pass or, unless `failed` is NULL, that of a sentence which failed, and why. */
void attn_summary_line(const struct attn_summary *s, size_t i, const char *failed, struct attn_out *o,
                       const struct attn_sink_job *job);

/* ---- writing.c ---- */

/* The format of that name, if a batch writes it; else NULL.  The names of all: streams, then what a record gets a
 * directory for, then stacks. */
const struct attn_format *attn_batch_format(const char *name);
enum { ATTN_BATCH_FORMATS = 3 * ATTN_FORMAT_LIST };
const char *attn_batch_formats(char list[ATTN_BATCH_FORMATS]);
bool attn_batch_in_directory(const struct attn_format *f);

struct attn_writing {                   /* what all records have in common */
    const struct attn_format *format;
    struct attn_sink_job job;           /* except for what differs between records */
    const char *dir;                    /* where the directories of records are made */
    const struct attn_capture *capture;
    const struct attn_summary *summary; /* NULL: not requested */
    const struct attn_grids *grids;     /* NULL: activations are written */
    bool rows;                          /* a summary is written besides */
};

/* The single file that a format writes to a record's directory; NULL: it writes a manifest, or no directory. */
enum { ATTN_RECORD_FILE = 32 };
const char *attn_record_file(char name[ATTN_RECORD_FILE], const struct attn_format *f);
/* Whether a directory of an output is called like that of a record: "000012". */
bool attn_record_named(const char *name);
/* Removes the directories of records that an older batch left in `dir` and that are not in this share of `total`, but
 * for files of somebody else. */
int attn_writing_clear(const char *dir, const struct attn_share *share, uint64_t total, struct attn_err *err);

/* The malloc'd lines for the stream and for a separate summary; either may be NULL. */
struct attn_record_lines { char *line, *row; size_t line_len, row_len; };
/* i counts the captured items, which excludes failed ones; `live`: the activations have been written already. */
int attn_writing_lines(struct attn_record_lines *out, const struct attn_writing *w, const struct attn_item *item,
                       size_t i, bool live, struct attn_err *err);
void attn_writing_lines_free(struct attn_record_lines *l);
struct attn_engine;
/* Runs a sentence with too many numbers to keep, and writes its activations meanwhile: to `to`, the stream, to its
 * directory or, if the format has neither, to `watcher`. */
int attn_writing_live(struct attn_engine *e, const struct attn_item *item, struct attn_out *to,
                      const struct attn_observer *watcher, struct attn_err *err);
/* Writes what a stream begins with, and what a summary begins with. */
void attn_writing_header(const struct attn_writing *w, struct attn_out *stream);
void attn_writing_summary_header(const struct attn_writing *w, struct attn_out *rows);

/* ---- engine.c ---- */

struct attn_engine {
    struct attn_editor *editor;         /* NULL: nothing is edited */
    bool edits;                         /* its sources have run */
    const struct attn_batch_opts *o;
    struct attn_info info;              /* of the model */
    char digest[80];
    struct attn_kind_words kind;        /* of attention */
    struct attn_team *team;
    struct attn_records *in;
    struct attn_reading reading;
    struct attn_group group;            /* records that are read but not done yet */
    struct attn_capture *capture;       /* keeps nothing if only the summary is written */
    struct attn_summary *summary;       /* NULL: not requested */
    struct attn_grids *grids;           /* NULL: records run through the model once, and activations are written */
    bool stopped;                       /* the user ended a pass in the middle: its record is not done */
    struct attn_writing writing;
    size_t rows;                        /* of a pass, unless a sentence is longer */
    struct attn_plan plan;
    struct attn_run *run;               /* NULL: not planned yet */
    int32_t *ids; size_t ids_room;      /* of the sentences of a pass */
    struct attn_seq *seq; size_t seq_room;
    uint64_t overflowed;                /* sentences whose dots overflowed */
};

/* Writes nothing.  Without o->records it has no input: records are added to its group. */
int attn_engine_open(struct attn_engine *e, const struct attn_batch_opts *o, struct attn_err *err);
void attn_engine_close(struct attn_engine *e);          /* zeroed is fine */

/* Tokenizes the group and notes which of its records do not fit the edits, or make no grid. */
int attn_engine_encode(struct attn_engine *e, struct attn_err *err);
/* How many of n items the next pass takes, counting failed ones; *live: a single one with too many numbers to keep. */
size_t attn_engine_take(const struct attn_engine *e, const struct attn_item *item, size_t n, bool *live);
int attn_engine_run(struct attn_engine *e, const struct attn_item *item, size_t n, struct attn_err *err);
/* Announces the run to `watcher`, unless its wants is NULL. */
int attn_engine_live(struct attn_engine *e, const struct attn_item *item, const struct attn_observer *watcher,
                     struct attn_err *err);
/* how many are written of an item */
uint64_t attn_engine_numbers(const struct attn_engine *e, const struct attn_item *item);
/* The memory that a separate plan takes, and what was kept, in bytes. */
int attn_engine_memory(const struct attn_engine *e, uint64_t tokens, uint64_t *bytes, struct attn_err *err);

/* ---- stack.c ---- */

struct attn_stack;
int attn_stack_new(struct attn_stack **out, const struct attn_info *info, const struct attn_select *select,
                   const char *dir, struct attn_err *err);
void attn_stack_free(struct attn_stack *s);                         /* NULL is fine */
size_t attn_stack_tokens(const struct attn_stack *s);               /* 0: unknown yet */
/* T is the length of the sentences in the `rows` rows already written; 0: unknown, since all of them failed.  `sum` is
 * what they must come to; "": it is not known. */
int attn_stack_continue(struct attn_stack *s, size_t T, uint64_t rows, const char *sum, struct attn_err *err);
/* The first sentence determines the length of all. */
int attn_stack_set_tokens(struct attn_stack *s, size_t T, struct attn_err *err);
/* A row is announced in bands; then it must be ended.  One that failed is ended without. */
struct attn_observer attn_stack_observer(struct attn_stack *s);
void attn_stack_end_row(struct attn_stack *s, bool failed);
/* Removes what an older batch left in the directory: arrays that it did not finish; those that it did and that are not
 * of the stack `s`, which is NULL where none was made. */
int attn_stack_clear_begun(const struct attn_stack *s, struct attn_err *err);
int attn_stack_clear_others(const char *dir, const struct attn_stack *s, struct attn_err *err);
int attn_stack_flush(struct attn_stack *s, bool disk, struct attn_err *err);
void attn_stack_finish(struct attn_stack *s);                       /* writes the headers; flush must follow */
/* Writes that many bytes of NaN in place of the numbers of a failed record. */
void attn_stack_write_nan(struct attn_out *o, size_t bytes);
/* Checks that all arrays of so many rows are there as they were written, renamed or not. */
int attn_stack_check_end(struct attn_stack *s, size_t T, uint64_t rows, const char *sum, struct attn_err *err);
/* What their rows come to: see sidecar.h. */
void attn_stack_sum(const struct attn_stack *s, char sum[65]);
/* Hashes what comes before the rows of an array. */
void attn_stack_hash_name(struct attn_sha256 *sha, const char *name, size_t len);
/* Gives the files their final names; if all sentences failed there are none. */
int attn_stack_rename(const struct attn_stack *s, struct attn_err *err);

/* ---- written.c ---- */

/* How long a file is so far, and its SHA-256. */
void attn_written_note(struct attn_written *w, const struct attn_out *o);
/* Hashes the bytes of a file from `from` to `to`. */
int attn_written_hash(struct attn_sha256 *sha, const char *file, uint64_t from, uint64_t to, bool text,
                      struct attn_err *err);
/* Checks that a text begins as it was written; `sha` has hashed that then. */
int attn_written_check(struct attn_sha256 *sha, const char *file, const struct attn_written *w, struct attn_err *err);

/* ---- journal.c ---- */

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
void attn_journal_close(struct attn_journal *j);        /* frees side, too */

/* Whether PATH.part exists, and its length. */
bool attn_part_size(const char *path, uint64_t *bytes);
/* Reads n bytes of PATH.part from `at` on; false if they are not there. */
bool attn_part_peek(const char *path, void *to, size_t n, uint64_t at);
/* PATH.part if it is there, else PATH; malloc'd. */
char *attn_part_found(const char *path);
/* Checks that PATH or, while it is being renamed and where it still is there, PATH.part is as it was written. */
int attn_part_check(const char *path, bool renaming, const struct attn_written *w, struct attn_err *err);
/* Renames PATH.part to PATH; it is no error if that has been done or, unless `must`, if neither exists. */
int attn_part_rename(const char *path, bool must, struct attn_err *err);

/* ---- output.c ---- */

struct attn_output {
    struct attn_engine *e;
    struct attn_stack *stack;           /* NULL: not requested */
    struct attn_journal journal;
    char *path, *stream_path, *summary_path;    /* links followed; NULL: standard output, or none */
    struct attn_sha256 kept, kept_rows;         /* of what an earlier run wrote of the stream and the summary */
    struct attn_out *stream, *rows;     /* rows of the summary */
    double synced;                      /* time of the last sync to the disk, in seconds */
};

/* Writes nothing yet; out->journal.side.now tells how far an earlier run has come. */
int attn_output_open(struct attn_output *out, struct attn_engine *e, enum attn_journal_state *state,
                     struct attn_err *err);
int attn_output_start(struct attn_output *out, struct attn_err *err);
/* Writes items in order; `live`: the item's activations were written while it ran. */
int attn_output_put(struct attn_output *out, const struct attn_item *item, size_t n, bool live, struct attn_err *err);
/* Stops the batch such that it can be continued. */
int attn_output_pause(struct attn_output *out, struct attn_err *err);
int attn_output_finish(struct attn_output *out, uint64_t total, struct attn_err *err);
/* Checks that all is still there that a killed run had written, which `end` then gives its names. */
int attn_output_check_end(const struct attn_output *out, struct attn_err *err);
int attn_output_end(struct attn_output *out, struct attn_err *err);
/* Removes all files of a batch that has not done anything. */
void attn_output_withdraw(struct attn_output *out);
void attn_output_close(struct attn_output *out);

#endif

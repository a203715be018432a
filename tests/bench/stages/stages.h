/* stages.h - what is measured, and how.
 *
 * A stage is a row of the table in stages.c: its name, what it needs of a model, and the limit it is compared with.
 * Its kind prepares the work once and then repeats it; each repetition gives a sample.  Samples of the stage alternate
 * with samples of its limit, so that both see the machine in the same state; their medians are reported. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "attn_tools.h"
#include "machine.h"

#include <stdio.h>

struct sample { double value, seconds; };               /* value in the unit of its stage */

/* The least that a part of some work takes.  Products with weights are computed in the type of the stage,
 * attention always in float32; scores counts numbers that become weights in a softmax, hidden those that enter
 * the MLP's activation. */
struct least { double products, attention, scores, hidden /* how many operations, and numbers */,
              bytes /* of memory */; };

/* Work that is prepared once and repeated; each call of `once` gives a sample. */
struct work {
    int (*once)(void *self, struct sample *out, struct attn_err *err);
    void (*end)(void *self);            /* NULL: nothing to free */
    void *self;
    struct least blocks, output;        /* the least that one repetition takes: blocks, then the output layer */
};

struct bench {                          /* what all stages share */
    const struct attn_model *model;
    struct attn_info info;
    const char *dtype;                  /* of most of the weights: "F32", "F16", "Q4_K" and so on */
    struct attn_tokenizer *tokenizer;   /* NULL: there is none */
    struct attn_limits *limits;
    const char *name, *program, *dir;   /* -m; attn-cli, beside this program; a directory for files */
    int threads;                        /* of the current measurement */
};

struct stage;
struct stage_kind {
    const char *(*lacks)(const struct stage *s, const struct bench *b);    /* why it cannot be run; NULL: it can */
    int (*start)(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err);
};
/* malloc'd; spread over the vocabulary */
int32_t *bench_ids(const struct attn_info *n, size_t T, struct attn_err *err);
extern const struct stage_kind prefill_kind, batch_kind, train_kind, decode_kind, tokenize_kind, files_kind,
    program_kind;

/* What a stage is held against.  That of F32, BF16 and READ is a roof: neither arithmetic, with its operands in the
 * nearest cache, nor reading memory, from a buffer as large as what the stage reads, can be faster than alone. */
enum held_against { TO_F32, TO_BF16, TO_READ, TO_WRITE, TO_EMPTY_PROCESS };
struct stage {
    const char *name;
    const struct stage_kind *kind;
    enum held_against limit;
    const char *unit; double scale;     /* value and limit are what is done in a second, divided by scale */
    size_t n;                           /* tokens, or sentences */
    bool watched;                       /* an observer is shown every pattern */
    bool alone;                         /* on one thread only */
    const char *what;                   /* dtype, format, or which program */
    bool copied;                        /* the weights are in panels, as a run that has computed many rows has them */
};

/* ---- measuring (measure.c) ---- */

struct result {
    const struct stage *stage;
    int threads;
    double value, limit;                /* medians; limit 0: the stage has none */
    double seconds;                     /* median of a sample */
    double libxsmm;                     /* the share of products that its kernels took; NaN: all have one row */
    size_t runs;
};

/* Fills w and returns w->self, zeroed memory that `end` must free; NULL: no memory. */
void *bench_work(struct work *w, size_t size, int (*once)(void *, struct sample *, struct attn_err *),
                 void (*end)(void *), struct attn_err *err);
/* Alternates stage and limit for about so many seconds, for at least three samples of the stage.  limit->once may be
 * NULL: there is no limit. */
int bench_measure(struct result *r, const struct work *stage, const struct work *limit, double seconds,
                  struct attn_err *err);
/* After SIGINT or SIGTERM every measurement fails, so that the caller can remove its files before it ends. */
void bench_catch_signals(void);
int bench_signal(void);                 /* 0: none was caught */

/* ---- limits (measure.c) ---- */

/* What the machine can do at most, each a row of the table and a key of the JSON. */
enum { PEAKS = 6 };
struct peak { const char *name, *key, *unit; enum attn_limit which; unsigned of; };     /* of: bits of held_against */
extern const struct peak bench_peaks[PEAKS];
struct peaks { int threads; double fast[PEAKS]; };      /* a second; 0: not measured */
struct machine { char cpu[128]; int threads; size_t caches, buffer; struct peaks peak[2]; int peaks; };

/* The limit of a stage whose work is `of`. */
int bench_limit_start(struct work *w, const struct stage *s, const struct work *of, const struct bench *b,
                      struct attn_err *err);
int bench_empty_process(struct work *w, struct attn_err *err);          /* in ms; w->once stays NULL if there is none */
void bench_know_machine(struct machine *m, const struct bench *b);      /* fills in everything but the peaks */
/* Adds the peaks of b->threads threads that stages held against these, as bits, are compared with. */
int bench_measure_peaks(struct machine *m, const struct bench *b, unsigned against, double seconds,
                        struct attn_err *err);

#endif

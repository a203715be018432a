/* trainer.h - a training: a directory in which a model grows.
 *
 *     config.json, vocab.json, merges.txt   as every model of ours has them, with what else its tokenizer says of
 *     itself
 *     train.json                            how it is trained (settings.c)
 *     checkpoint.safetensors                its state (checkpoint.c)
 *     model.safetensors, loss.csv, loss.png its results so far
 *     watch/                                the watched activations (watch.c)
 *
 * directory.c begins a training or checks that one can go on, model_files.c takes over a tokenizer and a configuration,
 * trainer.c opens and closes it, train_step.c takes the steps, fit.c finds out how many of them take a given time. */
#ifndef ATTN_TRAIN_TRAINER_H
#define ATTN_TRAIN_TRAINER_H

#include "attn_tools.h"
#include "base/out.h"
#include "base/team.h"
#include "gradient/grad.h"
#include "gradient/params.h"
#include "model/model.h"

/* ---- how a model is trained: train.json (settings.c) ---- */

enum attn_store { ATTN_STORE_F32, ATTN_STORE_F16, ATTN_STORE_BF16 };

struct attn_train_settings {
    size_t steps, batch, accumulate;    /* a step reads batch * accumulate contexts */
    double lr, lr_end; size_t warmup;   /* rises to lr in `warmup` steps, then falls along a cosine to lr * lr_end */
    double beta1, beta2, eps, weight_decay;
    double clip;                        /* largest norm of a gradient; 0: no limit */
    double dropout;
    double held_out;                    /* percent of the text held out */
    size_t eval_every;                  /* steps; 0: only at the end */
    double also_share;                  /* share of contexts from the other text; 0: in proportion to its length */
    double against_share;               /* share of all contexts that come from the text against which it is trained */
    size_t seed;
    bool join;                          /* contexts may continue across the ends of documents */
    bool best;                          /* keep the model of the lowest held-out loss, not the last one */
    char *draw;                         /* how the first weights were drawn; NULL: as in GPT-2; owned */
    enum attn_store dtype;              /* in which the finished model is stored */
    char *from;                         /* digest of the model it began with; NULL: weights were drawn; owned */
    char *text, *also, *against;        /* SHA-256 of each; NULL: none; owned */
};

extern const struct attn_train_settings attn_train_settings_defaults;

/* On failure t is left as attn_train_settings_free leaves it. */
int attn_train_settings_read(struct attn_train_settings *t, const char *text, size_t len, const char *name,
                             struct attn_err *err);
/* whether all of it is possible */
int attn_train_settings_check(const struct attn_train_settings *t, struct attn_err *err);
void attn_train_settings_free(struct attn_train_settings *t);
/* Writes every key, one per line. */
void attn_train_settings_write(struct attn_out *out, const struct attn_train_settings *t);

const char *attn_store_name(enum attn_store s);         /* "F16" */

/* ---- which tokens a step reads (contexts.c) ---- */

/* A text as token ids, document by document. */
struct attn_corpus {
    int32_t *ids; size_t n, room;
    size_t *end; size_t documents, end_room;            /* where each document ends, which is where the next begins */
};

/* Bytes of the text before the held-out part; all of it if that is 0 percent. */
size_t attn_corpus_cut(const char *text, size_t len, double percent);
/* Appends the documents of a text. */
int attn_corpus_add(struct attn_corpus *c, const struct attn_tokenizer *t, const char *text, size_t len,
                    struct attn_err *err);
void attn_corpus_free(struct attn_corpus *c);                       /* zeroed is fine */
/* The document that contains the token at `at`. */
size_t attn_corpus_document(const struct attn_corpus *c, size_t at);

/* The id of <|endoftext|>; -1: the vocabulary has none. */
int attn_corpus_mark(int32_t *mark, const struct attn_tokenizer *t, struct attn_err *err);

struct attn_token_range { size_t at, n; };     /* a range of tokens of a corpus */

/* Sentences in the form that gradient/grad.h takes. */
struct attn_contexts {
    int32_t *ids, *targets; size_t n, room;             /* tokens */
    size_t *T, seqs;                                    /* [room] */
    size_t N;                                           /* targets */
};

int attn_contexts_new(struct attn_contexts *c, size_t room, struct attn_err *err);
void attn_contexts_free(struct attn_contexts *c);                   /* zeroed is fine */
void attn_contexts_clear(struct attn_contexts *c);
/* Adds a sentence, for which there must be room. */
void attn_contexts_add(struct attn_contexts *c, const struct attn_corpus *from, const struct attn_token_range *s,
                       bool join);
/* The same, to learn nothing but not to say again what it says again. */
void attn_contexts_add_against(struct attn_contexts *c, const struct attn_corpus *from,
                               const struct attn_token_range *s);

/* A text from which contexts are drawn. */
struct attn_deck {
    const struct attn_corpus *corpus;
    size_t length;                      /* tokens of the longest context */
    bool join;
    uint64_t seed, epoch;               /* epoch: the current one */
    struct attn_token_range *context; size_t count;            /* of the current epoch; the count is the same in each */
};

/* Fails, naming the text as `name`, if it is shorter than one context and the token after it. */
int attn_deck_new(struct attn_deck *d, const struct attn_corpus *corpus, size_t length, bool join, uint64_t seed,
                  const char *name, struct attn_err *err);
void attn_deck_free(struct attn_deck *d);                           /* zeroed is fine */
/* Context i, counted over all epochs. */
struct attn_token_range attn_deck_at(struct attn_deck *d, uint64_t i);

/* ---- updates of the parameters (optimizer.c) ---- */

struct attn_optimizer {
    struct attn_params *p;              /* borrowed */
    const struct attn_train_settings *settings;         /* borrowed */
    float *m, *v;                       /* laid out like the values */
    struct piece *piece; size_t pieces;
};

int attn_optimizer_new(struct attn_optimizer *o, struct attn_params *p, const struct attn_train_settings *settings,
                       struct attn_err *err);
void attn_optimizer_free(struct attn_optimizer *o);                 /* zeroed is fine */
/* Takes step number `step`, counted from 0; *norm gets |g| before clipping.  Changes nothing if that is not finite. */
int attn_optimizer_step(struct attn_optimizer *o, size_t step, double *norm, struct attn_team *team,
                        struct attn_err *err);

/* The learning rate of a step, counted from 0. */
double attn_optimizer_rate(const struct attn_train_settings *t, size_t step);

/* ---- how far it has come (checkpoint.c) ---- */

struct attn_point {
    double step;                        /* from 1 */
    double tokens;                      /* number of tokens predicted so far */
    double lr, loss;                    /* loss: of this step's contexts, in nats per token */
    double gradient;                    /* its norm before clipping */
    double held_out, bits_per_byte;     /* on the held-out text after this step: nats per token; bits per byte */
};
enum { ATTN_POINT_NUMBERS = sizeof(struct attn_point) / sizeof(double) };

struct attn_curve { struct attn_point *point; size_t n, room; };

bool attn_curve_add(struct attn_curve *c, const struct attn_point *p);          /* false: no memory */
void attn_curve_write(struct attn_out *out, const struct attn_curve *c);
void attn_curve_free(struct attn_curve *c);                         /* zeroed is fine */
/* The lowest held-out loss so far; infinite if none was measured. */
double attn_curve_best(const struct attn_curve *c);
/* Writes DIR/loss.csv and draws DIR/loss.png. */
int attn_curve_save(const char *dir, const struct attn_curve *c, struct attn_err *err);

int attn_checkpoint_write(const char *dir, const struct attn_optimizer *o, const struct attn_curve *curve,
                          struct attn_err *err);
/* Reads parameters, moments and curve, which are not valid after a failure. */
int attn_checkpoint_read(const char *dir, struct attn_optimizer *o, struct attn_curve *curve, struct attn_err *err);

/* ---- a training ---- */

struct attn_train {
    char *dir; int lock;                /* lock: on the directory while it is open; -1: none */
    struct attn_train_settings settings;
    struct attn_tokenizer *tokenizer;
    uint32_t *bytes;                    /* [V] bytes of each token's text; 0 for the end of a text */
    struct attn_corpus text, also, against, held_out;
    struct attn_deck deck, other, repeats;              /* draw from text, also and against */
    double share, repeats_share;        /* of contexts: from `also`, if not from `against`; from `against` */
    struct attn_model *model, live;     /* as in the directory; with the current parameters */
    struct attn_params *params;
    struct attn_grad *grad;
    struct attn_optimizer optimizer;
    struct attn_team *team;
    struct attn_contexts batch;
    struct attn_curve curve;            /* one point for each step done */
    struct attn_watch *watch;           /* NULL: nothing is watched */
};

/* ---- its steps (train_step.c) ---- */

/* Takes step number `step`, counted from 0, and nothing of what comes between steps. */
int attn_train_update(struct attn_train *t, size_t step, struct attn_point *p, size_t *targets, struct attn_err *err);
/* Measures the first tokens of what is held out, for the time it takes. */
int attn_train_measure_part(struct attn_train *t, size_t tokens, struct attn_err *err);

/* ---- its directory (directory.c) ---- */

/* Makes all files of a new model in t->dir or, if the training goes on, checks that those there match what is asked
 * for; both fill in t->settings. */
int attn_train_begin(struct attn_train *t, const struct attn_train_opts *o, bool goes_on, struct attn_err *err);

/* Writes train.json. */
int attn_train_settings_save(const struct attn_train *t, struct attn_err *err);

/* ---- what it takes over (model_files.c) ---- */

/* Opens DIR/FILE; *path gets a malloc'd path for messages. */
int attn_train_file(struct attn_map *map, char **path, const char *dir, const char *file, struct attn_err *err);
/* Copies the files of a tokenizer that `from` has, or fails if one differs in `dir`; native: for our own format. */
int attn_train_tokenizer_copy(const char *dir, const char *from, bool native, struct attn_err *err);
int attn_train_tokenizer_compare(const char *dir, const char *from, bool native, struct attn_err *err);
/* What config.json gets, for a config that was read from the options and joined with a vocabulary; malloc'd. */
int attn_train_config_text(char **text, size_t *len, const struct attn_train_opts *o, const struct attn_config *c,
                           struct attn_err *err);

/* ---- what is watched (watch.c) ---- */

struct attn_watch;
/* step: the training's current step; what was noted later is dropped. */
int attn_watch_open(struct attn_watch **out, const char *dir, const struct attn_model *live,
                    const struct attn_tokenizer *t, const struct attn_train_watch_opts *o, size_t step,
                    struct attn_err *err);
void attn_watch_close(struct attn_watch *w);                        /* NULL is fine */
/* Notes the activations if it is time to, given `steps` in all; w may be NULL. */
int attn_watch_note(struct attn_watch *w, const struct attn_model *live, size_t step, size_t steps,
                    struct attn_err *err);
int attn_watch_save(const struct attn_watch *w, struct attn_err *err);          /* w may be NULL */

#endif

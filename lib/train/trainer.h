/* trainer.h - a training: a directory in which a model grows.
 *
 *     config.json, vocab.json, merges.txt   as every model of ours has them
 *     train.json                            how it is trained (training.h)
 *     checkpoint.safetensors                its state (checkpoint.h)
 *     model.safetensors, loss.csv, loss.png its results so far
 *     watch/                                the watched activations (watch.h)
 *
 * start.c begins a training, resume.c checks whether one can be continued, files.c reads and writes the files,
 * steps.c takes the steps. */
#ifndef ATTN_TRAINER_H
#define ATTN_TRAINER_H

#include "train/training.h"
#include "model/model.h"
#include "train/contexts.h"
#include "train/curve.h"
#include "gradient/grad.h"
#include "train/optimizer.h"
#include "train/watch.h"

struct attn_train {
    char *dir; int held;                /* held: lock on the directory while it is open; -1: none */
    struct attn_training how;
    struct attn_tokenizer *tokenizer;
    uint32_t *bytes;                    /* [V] bytes of each token's text; 0 for the end of a text */
    struct attn_corpus text, also, held_out;
    struct attn_deck deck, other;       /* draw from text and also */
    double share;                       /* of contexts that come from `also` */
    struct attn_model *model, live;     /* as in the directory; with the current parameters */
    struct attn_params *params;
    struct attn_grad *grad;
    struct attn_optimizer optimizer;
    struct attn_team *team;
    struct attn_contexts batch;
    struct attn_curve curve;            /* one point for each step done */
    struct attn_watch *watch;           /* NULL: nothing is watched */
};

#define ATTN_TRAIN_SETTINGS "train.json"

/* Fills in names for messages. */
struct attn_train_opts attn_train_named(const struct attn_train_opts *o);
/* Applies the settings of a file and of options on top of those in `how`, and notes which texts they are for. */
int attn_train_settle(struct attn_training *how, const struct attn_train_opts *o, struct attn_err *err);
/* Both settle t->how and make sure that t->dir has all files of a model: make writes new ones, go_on checks that
 * those of an existing training match the request. */
int attn_train_make(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err);
int attn_train_go_on(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err);

/* *path gets a malloc'd path for messages. */
int attn_train_open_file(struct attn_map *map, char **path, const char *dir, const char *file, struct attn_err *err);
int attn_train_copy_tokenizer(const char *dir, const char *from, struct attn_err *err);
int attn_train_compare_tokenizer(const char *dir, const char *from, struct attn_err *err);
/* Writes the current parameters as model.safetensors. */
int attn_train_write_model(const struct attn_train *t, struct attn_err *err);

#endif

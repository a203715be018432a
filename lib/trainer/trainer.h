/* trainer.h - a training: a directory that a model grows in.
 *
 *     config.json, vocab.json, merges.txt   as every model of ours has them
 *     train.json                            how it is trained (io/training.h)
 *     checkpoint.safetensors                where it is (train/checkpoint.h)
 *     model.safetensors, loss.csv, loss.png what there is to see of it
 *     watch/                                what was watched (watch.h)
 *
 * start.c begins one, resume.c looks whether one can go on, files.c reads and writes
 * the files, steps.c takes the steps. */
#ifndef ATTN_TRAINER_H
#define ATTN_TRAINER_H

#include "io/training.h"
#include "model.h"
#include "train/contexts.h"
#include "train/curve.h"
#include "train/grad.h"
#include "train/optimizer.h"
#include "trainer/watch.h"

struct attn_train {
    char *dir; int held;                /* the directory, this process's alone while it is open; -1: not yet */
    struct attn_training how;
    struct attn_tokenizer *tokenizer;
    uint32_t *bytes;                    /* [V] that each token reads as; the end of a text as none */
    struct attn_corpus text, also, held_out;
    struct attn_deck deck, other;       /* of text and of also */
    double share;                       /* of contexts that come from also */
    struct attn_model *model, live;     /* as it lies in the directory; with the parameters as they are now */
    struct attn_params *params;
    struct attn_grad *grad;
    struct attn_optimizer optimizer;
    struct attn_team *team;
    struct attn_contexts batch;
    struct attn_curve curve;            /* its points are the steps that are done */
    struct attn_watch *watch;           /* NULL: nothing is watched */
};

#define ATTN_TRAIN_SETTINGS "train.json"

/* With names for messages. */
struct attn_train_opts attn_train_named(const struct attn_train_opts *o);
/* The settings in a file and in options, on top of those that are there, and which texts they are for. */
int attn_train_settle(struct attn_training *how, const struct attn_train_opts *o, struct attn_err *err);
/* Both have t->how settled and all files of a model in t->dir: new ones, or those of the training that is there, which
 * must be as it is asked for. */
int attn_train_make(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err);
int attn_train_go_on(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err);

/* *path, malloc'd, is for messages. */
int attn_train_open_file(struct attn_map *map, char **path, const char *dir, const char *file, struct attn_err *err);
int attn_train_copy_tokenizer(const char *dir, const char *from, struct attn_err *err);
int attn_train_compare_tokenizer(const char *dir, const char *from, struct attn_err *err);
/* model.safetensors of the parameters as they are. */
int attn_train_write_model(const struct attn_train *t, struct attn_err *err);

#endif

/* trainer.h - a training: a directory in which a model grows.
 *
 *     config.json, vocab.json, merges.txt   as every model of ours has them
 *     train.json                            how it is trained (settings.h)
 *     checkpoint.safetensors                its state (checkpoint.h)
 *     model.safetensors, loss.csv, loss.png its results so far
 *     watch/                                the watched activations (watch.c)
 *
 * directory.c begins a training or checks that one can go on, trainer.c opens and closes it, steps.c takes the steps. */
#ifndef ATTN_TRAIN_TRAINER_H
#define ATTN_TRAIN_TRAINER_H

#include "attn_tools.h"
#include "gradient/grad.h"
#include "model/model.h"
#include "train/checkpoint.h"
#include "train/contexts.h"
#include "train/optimizer.h"
#include "train/settings.h"

struct attn_train {
    char *dir; int lock;                /* lock: on the directory while it is open; -1: none */
    struct attn_train_settings settings;
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

#define ATTN_TRAIN_SETTINGS_FILE "train.json"

/* ---- directory.c ---- */

/* Makes all files of a new model in t->dir or, if the training goes on, checks that those there match what is asked for;
 * both fill in t->settings. */
int attn_train_begin(struct attn_train *t, const struct attn_train_opts *o, bool goes_on, struct attn_err *err);

/* ---- watch.c ---- */

struct attn_watch;
/* step: the training's current step; what was noted later is dropped. */
int attn_watch_open(struct attn_watch **out, const char *dir, const struct attn_model *live, const struct attn_tokenizer *t,
                    const struct attn_train_watch_opts *o, size_t step, struct attn_err *err);
void attn_watch_close(struct attn_watch *w);                        /* NULL is fine */
/* Notes the activations if it is time to, given `steps` in all; w may be NULL. */
int attn_watch_note(struct attn_watch *w, const struct attn_model *live, size_t step, size_t steps, struct attn_err *err);
int attn_watch_save(const struct attn_watch *w, struct attn_err *err);          /* w may be NULL */

#endif

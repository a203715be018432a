/* settings.h - how a model is trained: the file train.json.
 *
 * One JSON object; all of its keys, which are the fields below, are optional.  A key that is absent leaves its field
 * unchanged, so that a file and then options in the same form can be read into one struct.  `text` and `also`
 * identify the texts that were read. */
#ifndef ATTN_TRAIN_SETTINGS_H
#define ATTN_TRAIN_SETTINGS_H

#include "attn.h"

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
    size_t seed;
    bool join;                          /* contexts may continue across the ends of documents */
    bool best;                          /* keep the model of the lowest held-out loss, not the last one */
    char *draw;                         /* how the first weights were drawn; NULL: as in GPT-2; owned */
    enum attn_store dtype;              /* in which the finished model is stored */
    char *text, *also;                  /* SHA-256 of each; NULL: none; owned */
};

extern const struct attn_train_settings attn_train_settings_defaults;

/* On failure t is left as attn_train_settings_free leaves it. */
int attn_train_settings_read(struct attn_train_settings *t, const char *text, size_t len, const char *name,
                             struct attn_err *err);
int attn_train_settings_check(const struct attn_train_settings *t, struct attn_err *err);       /* whether all of it is possible */
void attn_train_settings_free(struct attn_train_settings *t);
/* Writes every key, one a line. */
struct attn_out;
void attn_train_settings_write(struct attn_out *out, const struct attn_train_settings *t);

const char *attn_store_name(enum attn_store s);         /* "F16" */

#endif

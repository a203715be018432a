/* training.h - how a model is trained: the file train.json.
 *
 * One JSON object whose keys are those below, all optional, no others: what is absent stays as it was, so
 * that a file, then options written the same way, are read into one struct.  `text` and `also` identify
 * the texts that were read. */
#ifndef ATTN_IO_TRAINING_H
#define ATTN_IO_TRAINING_H

#include "attn.h"

enum attn_store { ATTN_STORE_F32, ATTN_STORE_F16, ATTN_STORE_BF16 };

struct attn_training {
    size_t steps, batch, accumulate;    /* a step reads batch * accumulate contexts */
    double lr, lr_end; size_t warmup;   /* up to lr over so many steps, then along a cosine down to lr * lr_end */
    double beta1, beta2, eps, weight_decay;
    double clip;                        /* the longest gradient; 0: any */
    double dropout;
    double held_out;                    /* percent of the text */
    size_t eval_every;                  /* steps; 0: at the end only */
    double also_share;                  /* of contexts that come from the other text; 0: as its length has it */
    size_t seed;
    bool join;                          /* contexts go on across the ends of documents */
    bool best;                          /* keep the model of the lowest held-out loss, not the last one */
    char *draw;                         /* how the first weights were drawn; NULL: as GPT-2's; owned */
    enum attn_store dtype;              /* of the finished model */
    char *text, *also;                  /* SHA-256; NULL: none; owned */
};

extern const struct attn_training attn_training_defaults;

/* On failure t is as attn_training_free leaves it. */
int attn_training_read(struct attn_training *t, const char *text, size_t len, const char *name, struct attn_err *err);
int attn_training_check(const struct attn_training *t, struct attn_err *err);       /* whether all of it can be done */
void attn_training_free(struct attn_training *t);
/* Every key, one a line. */
struct attn_out;
void attn_training_write(struct attn_out *out, const struct attn_training *t);

const char *attn_store_name(enum attn_store s);         /* "F16" */

#endif

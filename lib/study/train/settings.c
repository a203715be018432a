/* settings.c - how a model is trained: the file train.json.
 *
 * One JSON object; all of its keys, which are the fields of struct attn_train_settings, are optional.  A key that is
 * absent leaves its field unchanged, so that a file and then options in the same form can be read into one struct.
 * `text`, `also` and `against` identify the texts that were read, `from` the model whose weights came first. */
#include "train/trainer.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json_keys.h"
#include "base/out.h"

enum { VALUES_MAX = 256 };

const struct attn_train_settings attn_train_settings_defaults = {
    .steps = 2000, .batch = 16, .accumulate = 1, .lr = 1e-3, .lr_end = 0.1, .warmup = 100, .beta1 = 0.9, .beta2 = 0.95,
    .eps = 1e-8, .weight_decay = 0.1, .clip = 1, .held_out = 5, .eval_every = 250, .against_share = 0.25};

static const struct attn_word documents[] = {{"join", 1}, {"part", 0}, {0}};
static const struct attn_word kept[] = {{"best", 1}, {"last", 0}, {0}};
static const struct attn_word stores[] = {
    {"F32", ATTN_STORE_F32}, {"F16", ATTN_STORE_F16}, {"BF16", ATTN_STORE_BF16}, {0}};

#define KEY(name, type, words) {#name, ATTN_KEY_##type, offsetof(struct attn_train_settings, name), words, NULL}
static const struct attn_key keys[] = {
    KEY(steps, SIZE, NULL), KEY(batch, SIZE, NULL), KEY(accumulate, SIZE, NULL),
    KEY(lr, REAL, NULL), KEY(lr_end, REAL, NULL), KEY(warmup, COUNT, NULL),
    KEY(beta1, REAL, NULL), KEY(beta2, REAL, NULL), KEY(eps, REAL, NULL), KEY(weight_decay, REAL, NULL),
    KEY(clip, REAL, NULL), KEY(dropout, REAL, NULL),
    KEY(held_out, REAL, NULL), KEY(eval_every, COUNT, NULL), KEY(also_share, REAL, NULL),
    KEY(against_share, REAL, NULL), KEY(seed, COUNT, NULL),
    {"documents", ATTN_KEY_EITHER, offsetof(struct attn_train_settings, join), documents, NULL},
    {"keep", ATTN_KEY_EITHER, offsetof(struct attn_train_settings, best), kept, NULL},
    KEY(draw, NAME, NULL), KEY(dtype, CHOICE, stores),
    KEY(from, NAME, NULL), KEY(text, NAME, NULL), KEY(also, NAME, NULL), KEY(against, NAME, NULL),
    {0}
};

static void forget_sources(struct attn_train_settings *t)
{
    free(t->from);
    free(t->text);
    free(t->also);
    free(t->against);
    t->from = t->text = t->also = t->against = NULL;
}

int attn_train_settings_read(struct attn_train_settings *t, const char *text, size_t len, const char *name,
                             struct attn_err *err)
{
    struct attn_key_reader r = {.to = t, .name = name, .section = "", .err = err};
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    forget_sources(t);                  /* they belong to the file that is read now */
    if (!rc)
        rc = attn_keys_read(&r, keys, root);
    cJSON_Delete(root);
    if (rc)
        attn_train_settings_free(t);
    return rc;
}

/* All is computed in float32, in which what is a little less than 1 is 1. */
static int check_below(double x, double limit, const char *key, struct attn_err *err)
{
    if ((float)x < (float)limit)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "\"%s\" is %.10g, expected less than %g%s", key, x, limit,
                     x < limit ? ", in float32, too" : "");
}

int attn_train_settings_check(const struct attn_train_settings *t, struct attn_err *err)
{
    int rc;
    if ((rc = check_below(t->beta1, 1, "beta1", err)) || (rc = check_below(t->beta2, 1, "beta2", err)) ||
        (rc = check_below(t->dropout, 1, "dropout", err)) || (rc = check_below(t->held_out, 100, "held_out", err)) ||
        (rc = check_below(t->also_share, 1, "also_share", err)) ||
        (rc = check_below(t->against_share, 1, "against_share", err)))
        return rc;
    if (t->lr_end > 1)
        return attn_fail(err, ATTN_EUSAGE, "\"lr_end\" is %g, expected at most 1: it is a share of \"lr\"", t->lr_end);
    if ((float)t->eps == 0)             /* else a gradient of 0 would be divided by 0 */
        return attn_fail(err, ATTN_EUSAGE,
                         "\"eps\" is %g, expected more%s", t->eps, t->eps > 0 ? ": in float32 it is 0" : "");
    if (t->best && t->held_out == 0)
        return attn_fail(err, ATTN_EUSAGE, "\"keep\" is \"best\", which needs a held-out text, but \"held_out\" is 0");
    return ATTN_OK;
}

void attn_train_settings_free(struct attn_train_settings *t)
{
    forget_sources(t);
    free(t->draw);
    t->draw = NULL;
}

void attn_train_settings_write(struct attn_out *out, const struct attn_train_settings *t)
{
    attn_keys_write(out, keys, t, 2);
    attn_out_char(out, '\n');
}

const char *attn_store_name(enum attn_store s)
{
    return attn_word_of(stores, s);
}

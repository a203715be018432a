/* A new training: its settings, and a model with its first weights. */
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "model/config.h"
#include "making/recipe.h"

static int no_memory(struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory to start training");
}

struct attn_train_opts attn_train_named(const struct attn_train_opts *o)
{
    struct attn_train_opts named = *o;
    named.config_name = o->config_name ? o->config_name : "config";
    named.settings_name = o->settings_name ? o->settings_name : "settings";
    return named;
}

/* ---- settings ------------------------------------------------------------------------------ */

static char *digest(const char *text, size_t len)
{
    struct attn_sha256 h;
    char hex[65];
    attn_sha256_start(&h);
    attn_sha256_add(&h, text, len);
    attn_sha256_end(&h, hex);
    return strdup(hex);
}

/* Reads options; a fault in what a user typed is a usage error, not that of a file. */
static int read_options(struct attn_training *how, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_training_read(how, o->changes, o->changes_len, "options", &why);
    return rc ? attn_fail(err, rc == ATTN_EFORMAT ? ATTN_EUSAGE : why.code, "%s", why.msg) : ATTN_OK;
}

static int read_draw(struct attn_training *how, const char *draw, struct attn_err *err)
{
    free(how->draw);
    how->draw = strdup(draw);
    return how->draw ? ATTN_OK : no_memory(err);
}

/* Reads all settings but the texts. */
static int read_all(struct attn_training *how, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (o->settings)
        rc = attn_training_read(how, o->settings, o->settings_len, o->settings_name, err);
    if (!rc && o->changes)
        rc = read_options(how, o, err);
    if (!rc && o->draw)
        rc = read_draw(how, o->draw, err);
    return rc ? rc : attn_training_check(how, err);
}

int attn_train_settle(struct attn_training *how, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = read_all(how, o, err);
    if (rc)
        return rc;
    free(how->text);
    free(how->also);
    how->text = digest(o->text, o->text_len);
    how->also = o->also ? digest(o->also, o->also_len) : NULL;
    return how->text && (!o->also || how->also) ? ATTN_OK : no_memory(err);
}

static int write_settings(const struct attn_train *t, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, t->dir, ATTN_TRAIN_SETTINGS, err);
    if (rc)
        return rc;
    attn_training_write(out, &t->how);
    rc = attn_out_commit(out, err);
    attn_out_close(out);
    return rc;
}

/* ---- a new model --------------------------------------------------------------------------- */

/* Adds the initialisation of GPT-2: a branch's last matrix gets the smaller numbers the more branches there are. */
static void add_step(struct attn_out *recipe, const struct attn_draw *d, const struct attn_slot *s)
{
    const double std = 0.02;
    bool norm = s->part == ATTN_PART_NORM1 || s->part == ATTN_PART_NORM2 || s->part == ATTN_PART_NORM_FINAL;
    bool ends = s->part == ATTN_PART_O || s->part == ATTN_PART_MLP_OUT;
    if (s->is_bias || s->layer > 0)
        return;
    if (norm)
        attn_out_printf(recipe, "%s:ones;", attn_part_name(s->part));
    else
        attn_out_printf(recipe, "%s:normal(0,%.17g);", attn_part_name(s->part),
                        ends ? std / sqrt(2.0 * (double)d->config->L) : std);
}

static int default_recipe(char **recipe, const struct attn_config *c, struct attn_err *err)
{
    struct attn_draw d;
    struct attn_out *out = NULL;
    size_t len;
    int rc = attn_draw_open(&d, c, err);
    if (!rc)
        rc = attn_out_open_memory(&out, err);
    for (size_t i = 0; i < d.n && !rc; i++)
        add_step(out, &d, &d.t[i].slot);
    if (!rc) {
        attn_out_char(out, '\0');
        rc = attn_out_take(out, recipe, &len, err);
    }
    attn_out_close(out);
    attn_draw_close(&d);
    return rc;
}

/* Checks that config and vocabulary agree; the token that ends a text is taken from the vocabulary. */
static int join_vocabulary(struct attn_config *c, const struct attn_tokenizer *t, const char *name, const char *dir, struct attn_err *err)
{
    size_t tokens = attn_tokenizer_size(t);
    bool bpe = strcmp(attn_tokenizer_kind(t), "bpe") == 0;
    int32_t mark;
    if (bpe != c->tokenizer.bpe)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"tokenizer.type\" is \"%s\", but %s has %s", name, c->tokenizer.bpe ? "bpe" : "word",
                         dir, bpe ? "merges.txt" : "words");
    if (tokens > c->V)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"vocab_size\" is %zu, but %s has %zu tokens", name, c->V, dir, tokens);
    int rc = attn_corpus_mark(&mark, t, err);
    if (!rc && c->end == 0 && mark > 0)
        c->end = (size_t)mark;
    return rc;
}

static int read_config(struct attn_config *c, const struct attn_train_opts *o, struct attn_err *err)
{
    const char *name = o->config_name;
    int rc = attn_config_read(c, o->config, o->config_len, name, err);
    if (rc)
        return rc;
    if (!c->family->ours)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"model_type\" is \"%s\", expected \"attn-decoder\": only our own are trained from "
                         "a text", name, c->family->name);
    if (!c->unembed || !c->causal)
        return attn_fail(err, ATTN_EFORMAT, "%s: %s, so there is nothing to predict; expected %s", name,
                         c->unembed ? "\"mask\" is \"none\"" : "\"unembed\" is false",
                         c->unembed ? "\"causal\"" : "true");
    return ATTN_OK;
}

static int check_vocabulary(struct attn_config *c, const char *name, const char *dir, struct attn_err *err)
{
    struct attn_tokenizer *t = NULL;
    int rc = attn_tokenizer_open(&t, dir, err);
    if (!rc)
        rc = join_vocabulary(c, t, name, dir, err);
    attn_tokenizer_close(t);
    return rc;
}

/* Tries the recipe before any file is written, by drawing the weights. */
static int check_draw(const char *recipe, const struct attn_config *c, struct attn_err *err)
{
    struct attn_draw d;
    int rc = recipe ? attn_draw_open(&d, c, err) : ATTN_OK;
    if (!recipe || rc)
        return rc;
    rc = attn_recipe_follow(&d, recipe, err);
    attn_draw_close(&d);
    return rc;
}

int attn_train_check(const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_train_opts named = attn_train_named(o);
    struct attn_training how = attn_training_defaults;
    struct attn_config c = {0};
    int rc = read_all(&how, &named, err);
    if (!rc && o->config)
        rc = read_config(&c, &named, err);
    attn_config_free(&c);
    attn_training_free(&how);
    return rc;
}

static int write_config(char **text, size_t *len, const struct attn_config *c, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_out_open_memory(&out, err);
    if (rc)
        return rc;
    attn_config_write(out, c);
    rc = attn_out_take(out, text, len, err);
    attn_out_close(out);
    return rc;
}

static int make_model(const struct attn_train *t, const struct attn_train_opts *o, const struct attn_config *c, struct attn_err *err)
{
    char *recipe = NULL, *config = NULL;
    struct attn_init_opts init = {.config_name = o->config_name, .draw = t->how.draw, .seed = t->how.seed, .dtype = "F32"};
    int rc = write_config(&config, &init.config_len, c, err);
    if (!rc && !init.draw)
        rc = default_recipe(&recipe, c, err);
    init.config = config;
    if (recipe)
        init.draw = recipe;
    if (!rc)
        rc = attn_init(t->dir, &init, err);
    free(recipe);
    free(config);
    return rc;
}

int attn_train_make(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_config c = {0};
    bool made;
    if (!o->config || !o->tokenizer)
        return attn_fail(err, ATTN_EUSAGE, "%s: there is no training to go on with, so that a config and a vocabulary are needed", t->dir);
    t->how = attn_training_defaults;
    int rc = attn_train_settle(&t->how, o, err);
    if (!rc)
        rc = read_config(&c, o, err);
    if (!rc)
        rc = check_vocabulary(&c, o->config_name, o->tokenizer, err);
    if (!rc)
        rc = check_draw(t->how.draw, &c, err);
    if (!rc)
        rc = attn_folder_make(t->dir, &made, err);
    if (!rc && t->held < 0)
        rc = attn_folder_hold(&t->held, t->dir, err);
    if (!rc)
        rc = write_settings(t, err);            /* first: they show whose model it is */
    if (!rc)
        rc = attn_train_copy_tokenizer(t->dir, o->tokenizer, err);
    if (!rc)
        rc = make_model(t, o, &c, err);
    attn_config_free(&c);
    return rc;
}


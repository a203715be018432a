/* attn_init: makes a model directory from a config, a recipe and a vocabulary. */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "io/safetensors.h"
#include "text/vocab.h"
#include "making/draw.h"

/* ---- files --------------------------------------------------------------------------------- */

static struct attn_st_tensor entry_of(const struct attn_drawn *t, const struct attn_narrow *type)
{
    struct attn_st_tensor e = {.name = t->slot.name, .dtype = type->name, .ndim = t->slot.ndim, .count = t->count,
                               .bytes = t->count * type->size, .data = (unsigned char *)t->x};
    memcpy(e.shape, t->slot.shape, sizeof t->slot.shape);
    return e;
}

/* Writes the tensors that have been drawn. */
static int write_drawn(struct attn_out *out, struct attn_draw *d, const struct attn_narrow *type,
                       struct attn_st_tensor *list, struct attn_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct attn_drawn *t = &d->t[i];
        int rc = t->x ? attn_narrow(type, t->x, t->count, t->slot.name, err) : ATTN_OK;
        if (rc)
            return rc;
        if (t->x)
            list[n++] = entry_of(t, type);
    }
    return attn_st_write(out, list, n, err);
}

/* Draws each tensor when it is written, so that only one is in memory at a time. */
static int write_drawing(struct attn_out *out, struct attn_draw *d, const struct attn_narrow *type,
                         struct attn_st_tensor *list, struct attn_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->t[i].slot.required)
            list[n++] = entry_of(&d->t[i], type);
    int rc = attn_st_write_header(out, list, n, err);
    for (size_t i = 0; i < d->n && !rc; i++) {
        struct attn_drawn *t = &d->t[i];
        rc = attn_draw_plain(d, i, err);
        if (!rc && t->x)
            rc = attn_narrow(type, t->x, t->count, t->slot.name, err);
        if (!rc && t->x)
            attn_out_write(out, t->x, t->count * type->size);
        free(t->x);
        t->x = NULL;
    }
    return rc;
}

static int write_weights(struct attn_out *out, struct attn_draw *d, const struct attn_narrow *type,
                         struct attn_err *err)
{
    struct attn_st_tensor *list = calloc(d->n + 1, sizeof *list);
    if (!list)
        return attn_no_memory(err, NULL, "for a list of %zu tensors", d->n);
    int rc = d->config->family->native ? write_drawn(out, d, type, list, err) : write_drawing(out, d, type, list, err);
    free(list);
    return rc;
}

/* Our own format is written with all its keys; another family's config is copied as given. */
static void write_config(struct attn_out *out, const struct attn_init_opts *o, const struct attn_config *config)
{
    if (config->family->native)
        attn_config_write(out, config);
    else
        attn_out_write(out, o->config, o->config_len);
}

/* Writes everything completely before the first file replaces its target. */
static int write_directory(const char *dir, const struct attn_init_opts *o, const struct attn_config *config,
                           struct attn_draw *d, const struct attn_narrow *type, struct attn_err *err)
{
    struct attn_out *json = NULL, *vocab = NULL, *weights = NULL;
    int rc;
    if ((rc = attn_folder_open(&json, dir, "config.json", err)) ||
        (rc = attn_folder_open(&weights, dir, "model.safetensors", err)) ||
        (o->vocab && (rc = attn_folder_open(&vocab, dir, "vocab.json", err))))
        goto out;
    write_config(json, o, config);
    if (vocab)
        attn_out_write(vocab, o->vocab, o->vocab_len);
    rc = write_weights(weights, d, type, err);
    if (!rc)
        rc = attn_out_commit_all((struct attn_out *const[]){json, vocab, weights}, 3, err);
out:
    attn_out_close(json);
    attn_out_close(vocab);
    attn_out_close(weights);
    return rc;
}

static int check_vocab(const struct attn_init_opts *o, const struct attn_config *config, struct attn_err *err)
{
    struct attn_vocab *v = NULL;
    const char *name = o->vocab_name ? o->vocab_name : "vocabulary";
    int rc = attn_vocab_read(&v, o->vocab, o->vocab_len, name, err);
    if (!rc && attn_vocab_top(v) >= 0 && (size_t)attn_vocab_top(v) >= config->V)
        rc = attn_vocab_size(v) == config->V
           ? attn_fail(err, ATTN_EFORMAT, "%s: the largest id is %d, expected 0 to %zu, as there are %zu words", name,
                       (int)attn_vocab_top(v), config->V - 1, config->V)
           : attn_fail(err, ATTN_EFORMAT, "%s: the largest id is %d, but the config has vocab_size %zu", name,
                       (int)attn_vocab_top(v), config->V);
    const char *unknown = config->tokenizer.unknown;
    if (!rc && unknown && config->tokenizer.kind != ATTN_RULE_BPE && attn_vocab_id(v, unknown, strlen(unknown)) < 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the token '%.*s' for unknown words is not in it: add it, or name "
                       "another", name, attn_shown(unknown, strlen(unknown)), unknown);
    attn_vocab_free(v);
    return rc;
}

int attn_init_held(const char *path, const struct attn_init_opts *o, struct attn_err *err)
{
    struct attn_config config = {0};
    struct attn_draw draw = {0};
    const struct attn_narrow *type = attn_narrow_find(o->dtype ? o->dtype : "F32");
    if (!type)
        return attn_fail(err, ATTN_EUSAGE, "dtype is '%s', expected F32, F16 or BF16", o->dtype);
    int rc = attn_config_read(&config, o->config, o->config_len, o->config_name ? o->config_name : "config", err);
    if (rc || (o->vocab && (rc = check_vocab(o, &config, err))) || (rc = attn_draw_open(&draw, &config, err)))
        goto out;
    draw.rng.scalar = o->scalar;
    attn_rng_seed(&draw.rng, o->seed);
    if (config.family->native)
        rc = o->draw ? attn_recipe_follow(&draw, o->draw, err) : attn_draw_default(&draw, err);
    else if (o->draw)
        rc = attn_fail(err, ATTN_EUSAGE, "a recipe draws attn-decoder models, not \"%s\"", config.family->name);
    if (!rc)
        rc = write_directory(path, o, &config, &draw, type, err);
out:
    attn_draw_close(&draw);
    attn_config_free(&config);
    return rc;
}

int attn_init(const char *path, const struct attn_init_opts *o, struct attn_err *err)
{
    struct attn_held held;
    int rc = attn_folder_begin(&held, path, err);
    if (!rc)
        rc = attn_folder_spare_training(path, err);
    if (!rc)
        rc = attn_init_held(path, o, err);
    return attn_folder_end(&held, rc);
}

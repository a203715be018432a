/* attn_init: a model directory from a config, a recipe and a vocabulary. */
#include "base/err.h"
#include "base/out.h"
#include "io/safetensors.h"
#include "io/vocab.h"
#include "recipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- storing numbers in fewer bits, rounded to nearest even -------------------------------- */

/* bits >> drop, rounded. */
static uint32_t round_off(uint32_t bits, unsigned drop)
{
    uint32_t half = UINT32_C(1) << (drop - 1);
    return (bits + half - 1 + (bits >> drop & 1)) >> drop;
}

static uint32_t to_f32(uint32_t bits)
{
    return bits;
}

static uint32_t to_bf16(uint32_t bits)
{
    return round_off(bits, 16);
}

static uint32_t to_f16(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
    if (exponent < 102)                 /* below half of the smallest subnormal, 2^-24 */
        return sign;
    if (exponent < 113) {               /* subnormal: units of 2^-24 */
        uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
        return sign | round_off(significand, 126 - exponent);
    }
    uint32_t rounded = round_off(magnitude - (112u << 23), 13);
    return sign | (rounded < 0x7c00 ? rounded : 0x7c00);
}

static const struct dtype {
    const char *name; size_t size;
    uint32_t (*narrow)(uint32_t bits);
    uint32_t sign, infinity;
} dtypes[] = {
    {"F32", 4, to_f32, 0x80000000, 0x7f800000},
    {"F16", 2, to_f16, 0x8000, 0x7c00},
    {"BF16", 2, to_bf16, 0x8000, 0x7f80},
};

static const struct dtype *find_dtype(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcasecmp(name, dtypes[i].name) == 0)
            return &dtypes[i];
    return NULL;
}

/* Narrows x[0..n) where it lies, in little-endian order. */
static int narrow(float *x, size_t n, const struct dtype *type, const char *name, struct attn_err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = type->narrow(bits);
        if ((bits & ~type->sign) >= type->infinity)
            return attn_fail(err, ATTN_EUSAGE, "%s[%zu] is %g, which a model in %s cannot hold", name, i, (double)x[i],
                             type->name);
        memcpy((unsigned char *)x + i * type->size, &bits, type->size);
    }
    return ATTN_OK;
}

/* ---- files --------------------------------------------------------------------------------- */

static int open_in(struct attn_out **out, const char *dir, const char *file, struct attn_err *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a path", dir);
    int rc = attn_out_open(out, path, err);
    free(path);
    return rc;
}

static int write_weights(struct attn_out *out, struct attn_draw *d, const struct dtype *type, struct attn_err *err)
{
    struct attn_st_tensor *list = calloc(d->n ? d->n : 1, sizeof *list);
    size_t n = 0;
    int rc = ATTN_OK;
    if (!list)
        return attn_fail(err, ATTN_ENOMEM, "no memory for a list of %zu tensors", d->n);
    for (size_t i = 0; !rc && i < d->n; i++) {
        struct attn_drawn *t = &d->t[i];
        size_t count = t->slot.shape[0] * (t->slot.ndim == 2 ? t->slot.shape[1] : 1);
        if (!t->set)
            continue;
        list[n] = (struct attn_st_tensor){.name = t->slot.name, .dtype = type->name, .ndim = t->slot.ndim,
                                          .count = count, .bytes = count * type->size, .data = (unsigned char *)t->x};
        memcpy(list[n].shape, t->slot.shape, sizeof t->slot.shape);
        n++;
        rc = narrow(t->x, count, type, t->slot.name, err);
    }
    if (!rc)
        rc = attn_st_write(out, list, n, err);
    free(list);
    return rc;
}

/* Everything is written before the first file is put in its place. */
static int write_directory(const char *dir, const struct attn_init_opts *o, const struct attn_config *config,
                           struct attn_draw *d, const struct dtype *type, struct attn_err *err)
{
    struct attn_out *json = NULL, *vocab = NULL, *weights = NULL;
    int rc = ATTN_OK;
    bool made = mkdir(dir, 0777) == 0;
    if (!made && errno != EEXIST)
        return attn_fail_errno(err, dir, "make this directory");
    if ((rc = open_in(&json, dir, "config.json", err)) || (rc = open_in(&weights, dir, "model.safetensors", err)) ||
        (o->vocab && (rc = open_in(&vocab, dir, "vocab.json", err))))
        goto out;
    attn_config_write(json, config);
    if (vocab)
        attn_out_write(vocab, o->vocab, o->vocab_len);
    if ((rc = write_weights(weights, d, type, err)) || (rc = attn_out_commit(json, err)) ||
        (vocab && (rc = attn_out_commit(vocab, err))))
        goto out;
    rc = attn_out_commit(weights, err);
out:
    attn_out_close(json);
    attn_out_close(vocab);
    attn_out_close(weights);
    if (rc && made)
        rmdir(dir);
    return rc;
}

static int check_vocab(const struct attn_init_opts *o, const struct attn_config *config, struct attn_err *err)
{
    struct attn_vocab *v = NULL;
    int rc = attn_vocab_read(&v, o->vocab, o->vocab_len, "vocabulary", err);
    if (!rc && attn_vocab_top(v) >= 0 && (size_t)attn_vocab_top(v) >= config->V)
        rc = attn_fail(err, ATTN_EFORMAT, "vocabulary: the largest id is %d, but the config has vocab_size %zu",
                       (int)attn_vocab_top(v), config->V);
    attn_vocab_free(v);
    return rc;
}

int attn_init(const char *path, const struct attn_init_opts *o, struct attn_err *err)
{
    struct attn_config config = {0};
    struct attn_draw draw = {0};
    const struct dtype *type = find_dtype(o->dtype ? o->dtype : "F32");
    if (!type)
        return attn_fail(err, ATTN_EUSAGE, "dtype is '%s', expected F32, F16 or BF16", o->dtype);
    int rc = attn_config_read(&config, o->config, o->config_len, "config", err);
    if (rc || (o->vocab && (rc = check_vocab(o, &config, err))) || (rc = attn_draw_open(&draw, &config, err)))
        goto out;
    draw.rng.scalar = o->scalar;
    attn_rng_seed(&draw.rng, o->seed);
    rc = o->draw ? attn_recipe_follow(&draw, o->draw, err) : attn_draw_default(&draw, err);
    if (!rc)
        rc = write_directory(path, o, &config, &draw, type, err);
out:
    attn_draw_close(&draw);
    attn_config_free(&config);
    return rc;
}

#include "made.h"

#include "scratch.h"

#include "base/out.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

/* ---- the model that a test draws ---- */

const struct made_sizes made_small = {6, 1, 1, 3, 2, 4, ""};

struct attn_init_opts made_options(char text[MADE_CONFIG], const struct made_sizes *s, const char *draw)
{
    snprintf(text, MADE_CONFIG,
             "{\"model_type\": \"attn-decoder\", \"vocab_size\": %zu, \"n_ctx\": 16, \"n_layer\": %zu, "
             "\"n_head\": %zu, \"n_kv_head\": %zu, \"d_model\": %zu, \"d_head\": %zu, \"d_value\": %zu, "
             "\"unembed\": false%s, \"tokenizer\": {\"type\": \"word\"}}",
             s->V, s->L, s->H, s->H, s->d, s->dh, s->dv, s->more);
    return (struct attn_init_opts){.config = text, .config_len = strlen(text), .draw = draw};
}

const char *made_path(const char *file)
{
    return scratch_path(printed("model%s%s", *file ? "/" : "", file));
}

void made_init(const struct attn_init_opts *o)
{
    struct attn_err err = {0};
    ck_assert_msg(attn_init(made_path(""), o, &err) == ATTN_OK, "%s", err.msg);
}

const char *made_model(const char *config, uint64_t seed, const char *dtype)
{
    made_init(&(struct attn_init_opts){.config = config, .config_len = strlen(config), .seed = seed, .dtype = dtype});
    return made_path("");
}

/* ---- tensors ---- */

struct attn_st_tensor made_tensor(const char *name, const float *x, size_t rows, size_t cols)
{
    size_t n = rows * (cols ? cols : 1);
    return (struct attn_st_tensor){.name = name, .dtype = "F32", .ndim = cols ? 2 : 1,
                                   .shape = {rows, cols}, .count = n,
                                   .bytes = n * sizeof *x, .data = (const unsigned char *)x};
}

void made_write(const char *path, const struct attn_st_tensor *t, size_t n)
{
    struct attn_err err = {0};
    struct attn_out *out = NULL;
    ck_assert_msg(!attn_out_open(&out, path, &err) && !attn_st_write(out, t, n, &err) && !attn_out_commit(out, &err),
                  "%s", err.msg);
    attn_out_close(out);
}

struct made_weights made_read(const char *path)
{
    struct attn_err err = {0};
    struct made_weights w = {0};
    ck_assert_msg(!attn_map_open(&w.map, path, SIZE_MAX, &err) &&
                  !attn_st_open(&w.st, w.map.data, w.map.len, path, &err), "%s", err.msg);
    return w;
}

void made_close(struct made_weights *w)
{
    attn_st_close(w->st);
    attn_map_close(&w->map);
}

const struct attn_st_tensor *made_find(const struct made_weights *w, const char *name)
{
    const struct attn_st_tensor *t = attn_st_find(w->st, name);
    ck_assert_msg(t != NULL, "no tensor '%s'", name);
    return t;
}

/* ---- opening ---- */

struct attn_model *made_open(const char *dir)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    ck_assert_msg(!attn_model_open(&m, dir, &err), "%s", err.msg);
    return m;
}

void made_refused(const char *dir, const char *words)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    char list[256], *save = NULL;
    ck_assert_msg(attn_model_open(&m, dir, &err) != 0, "accepted, expected %s", words);
    ck_assert_ptr_null(m);
    snprintf(list, sizeof list, "%s", words);
    for (char *w = strtok_r(list, "|", &save); w; w = strtok_r(NULL, "|", &save))
        ck_assert_msg(strstr(err.msg, w) != NULL, "'%s' lacks '%s'", err.msg, w);
    ck_assert_ptr_nonnull(strstr(err.msg, dir));
}

#include "made.h"
#include "attn_tools.h"

#include "scratch.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

const struct made_sizes made_small = {6, 1, 1, 3, 2, 4, ""};

struct attn_init_opts made_options(char text[MADE_CONFIG], const struct made_sizes *s, const char *draw)
{
    snprintf(text, MADE_CONFIG, "{\"model_type\": \"attn-decoder\", \"vocab_size\": %zu, \"n_ctx\": 16, \"n_layer\": %zu, "
             "\"n_head\": %zu, \"n_kv_head\": %zu, \"d_model\": %zu, \"d_head\": %zu, \"d_value\": %zu, "
             "\"unembed\": false%s, \"tokenizer\": {\"type\": \"word\"}}",
             s->V, s->L, s->H, s->H, s->d, s->dh, s->dv, s->more);
    return (struct attn_init_opts){.config = text, .config_len = strlen(text), .draw = draw};
}

const char *made_path(const char *file)
{
    char leaf[64];
    snprintf(leaf, sizeof leaf, "model%s%s", *file ? "/" : "", file);
    return scratch_path(leaf);
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

void made_open(struct made_weights *w)
{
    struct attn_err err = {0};
    const char *path = made_path("model.safetensors");
    *w = (struct made_weights){0};
    ck_assert_msg(attn_map_open(&w->map, path, SIZE_MAX, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_st_open(&w->st, w->map.data, w->map.len, path, &err) == ATTN_OK, "%s", err.msg);
}

void made_close(struct made_weights *w)
{
    attn_st_close(w->st);
    attn_map_close(&w->map);
}

const struct attn_st_tensor *made_tensor(const struct made_weights *w, const char *name)
{
    const struct attn_st_tensor *t = attn_st_find(w->st, name);
    ck_assert_msg(t != NULL, "no tensor '%s'", name);
    return t;
}

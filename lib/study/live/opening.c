/* opening.c - opens a model, and says what it is. */
#include "attn_tools.h"
#include "live/talk.h"

#include <string.h>

#include "base/err.h"

static void close_all(struct attn_talk *t)
{
    attn_last_free(&t->last);
    attn_sampler_free(t->sampler);
    attn_labels_free(t->labels);
    attn_tokenizer_close(t->tokenizer);
    attn_model_close(t->model);
    t->model = NULL;
    t->tokenizer = NULL;
    t->labels = NULL;
    t->sampler = NULL;
    t->no_tokenizer = (struct attn_err){0};
}

static void put_word(struct attn_out *o, const char *key, const char *s)
{
    attn_out_printf(o, ",\"%s\":", key);
    if (s)
        attn_out_json(o, s, strlen(s));
    else
        attn_out_str(o, "null");
}

static void put_flags(struct attn_out *o, const struct attn_talk *t)
{
    const struct attn_info *i = &t->info;
    const struct { const char *name; bool is; } flags[] = {
        {"residual", i->residual}, {"tied", i->tied}, {"unembed", i->unembed}, {"parallel", i->parallel},
        {"causal", t->model->w.causal}};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        attn_out_printf(o, ",\"%s\":%s", flags[k].name, flags[k].is ? "true" : "false");
}

static void put_sizes(struct attn_out *o, const struct attn_info *i)
{
    const struct { const char *name; uint64_t n; } sizes[] = {
        {"L", i->L}, {"d", i->d}, {"H", i->H}, {"Hkv", i->Hkv}, {"dh", i->dh}, {"dv", i->dv}, {"m", i->m}, {"V", i->V},
        {"n_ctx", i->n_ctx}, {"rotary", i->rotary}, {"window", i->window}, {"local", i->local},
        {"parameters", i->parameters}, {"bytes", i->bytes}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        attn_out_printf(o, ",\"%s\":", sizes[k].name);
        attn_out_u64(o, sizes[k].n);
    }
    attn_out_str(o, ",\"norm_eps\":");
    attn_out_f64(o, i->norm_eps);
    attn_out_str(o, ",\"rope_theta\":");
    attn_out_f64(o, i->rope_theta);
}

static void put_model(struct attn_out *o, const struct attn_talk *t)
{
    const struct attn_info *i = &t->info;
    const struct attn_config *c = &t->model->config;
    attn_out_str(o, "\"name\":");
    attn_out_json(o, i->name, strlen(i->name));
    put_word(o, "version", attn_version());
    attn_out_str(o, ",\"info\":{\"family\":");
    attn_out_json(o, i->family, strlen(i->family));
    put_word(o, "position", i->position);
    put_word(o, "norm", i->norm);
    put_word(o, "mlp", i->mlp);
    put_word(o, "mask", i->mask);
    put_word(o, "scale", i->scale);
    put_flags(o, t);
    put_sizes(o, i);
    attn_out_char(o, '}');
    put_word(o, "warning", attn_model_warning(t->model));
    put_word(o, "tokenizer", t->tokenizer ? attn_tokenizer_kind(t->tokenizer) : NULL);
    if (!t->tokenizer)
        put_word(o, "noTokenizer", t->no_tokenizer.msg);
    attn_out_str(o, ",\"ends\":[");
    for (size_t k = 0; k < c->n_eos; k++)
        attn_out_printf(o, "%s%d", k ? "," : "", (int)c->eos[k]);
    attn_out_char(o, ']');
}

int attn_live_open(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    close_all(t);
    attn_live_at(t, ATTN_MEMBER_MODEL, -1);
    const struct attn_lacking given = {.as = q->as.s, .vocab = q->vocab.s};
    int rc = attn_model_open_with(&t->model, q->model.s, given.as || given.vocab ? &given : NULL, err);
    if (rc)
        return rc;
    attn_model_info(t->model, &t->info);
    rc = attn_model_tokenizer(&t->tokenizer, t->model, &t->no_tokenizer);
    if (rc == ATTN_ENOMEM)
        return attn_fail_as(err, &t->no_tokenizer);
    rc = t->tokenizer ? attn_labels_new(&t->labels, t->tokenizer, err) : ATTN_OK;
    if (rc)
        return rc;
    put_model(o, t);
    attn_live_lists(o, t);
    return ATTN_OK;
}

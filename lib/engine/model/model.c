#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "base/simd.h"
#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/stack_left.h"
#include "compute/position.h"
#include "compute/vec.h"
#include "model/container.h"
#include "model/family.h"
#include "model/hints.h"
#include "model/nearest.h"

/* ---- opening ---- */

static void fill_stage(struct attn_model *m)
{
    const struct attn_weights *w = &m->w;
    const bool mlp = w->mlp != ATTN_MLP_NONE, norms = m->config.norm != ATTN_NORM_NONE;
    const bool part[] = {
        [ATTN_NEEDS_ANY] = true, [ATTN_NEEDS_POSITIONS] = attn_adds_positions(w),
        [ATTN_NEEDS_NORM1] = w->n.L ? attn_has(&w->block[0].norm1) : norms,
        [ATTN_NEEDS_OUT] = m->config.output_projection, [ATTN_NEEDS_APART] = attn_adds_apart(w),
        [ATTN_NEEDS_MLP] = mlp, [ATTN_NEEDS_MID] = mlp && !w->parallel,
        [ATTN_NEEDS_NORM2] = mlp && (w->n.L ? attn_has(&w->block[0].norm2) : norms),
        [ATTN_NEEDS_GATE] = attn_mlp_gated(w->mlp), [ATTN_NEEDS_MLP_APART] = mlp && attn_adds_apart(w),
        [ATTN_NEEDS_FINAL] = attn_has(&w->final), [ATTN_NEEDS_UNEMBED] = w->unembed.data != NULL};
    m->hooks = (struct attn_hook_points){
        .L = w->n.L, .H = w->n.H, .Hkv = w->n.Hkv,
        .turned = w->rotary || w->clip > 0 || (w->n.L && attn_has(&w->block[0].q_norm)),
        .embed_scaled = w->embed_scale > 0 || w->project_in.data, .logits_scaled = w->logit_scale > 0 ||
            w->logit_cap > 0};
    for (int act = 0; act < ATTN_ACTS; act++)
        m->hooks.has[act] = part[attn_act_needs(act)];
}

struct attn_hook_points attn_model_hook_points(const struct attn_model *m, const struct attn_kind *kind)
{
    struct attn_hook_points hooks = m->hooks;
    if (kind->form == ATTN_LINEAR)
        hooks.has[ATTN_ACT_DOTS] = hooks.has[ATTN_ACT_SCORES] = false;
    hooks.has[ATTN_ACT_DIVISORS] &= kind->form == ATTN_CAUSAL_RENORM;
    return hooks;
}

static void say_scale(struct attn_model *m)
{
    const struct attn_config *c = &m->config;
    bool own = c->attention_scale > 0 || c->query_scalar > 0;
    if (own)
        m->scale[attn_num_f64(m->scale, c->attention_scale > 0 ? c->attention_scale : 1 / sqrt(c->query_scalar))] =
            '\0';
    else
        snprintf(m->scale, sizeof m->scale, "%s", c->scale ? "sqrt" : "none");
}

/* The names of a model's tensors, for which its files are opened when somebody asks. */
struct tensor_names { const struct attn_source *source; struct attn_shards shards; bool asked; };

static const char *tensor_name(void *self, size_t i)
{
    struct tensor_names *n = self;
    const struct attn_shard *in;
    struct attn_err ignored = {0};
    if (!n->asked && attn_shards_open(&n->shards, n->source, &ignored))
        attn_shards_close(&n->shards);
    n->asked = true;
    return i < n->shards.tensors ? attn_shards_at(&n->shards, i, &in)->name : NULL;
}

static int read_config(struct attn_model *m, struct attn_err *err)
{
    int rc = attn_source_has(&m->source, "config.json") ? ATTN_OK : attn_hint_no_config(&m->source, err);
    if (!rc)
        rc = attn_source_open(&m->source, "config.json", ATTN_CONFIG_LIMIT, &m->config_map, err);
    if (rc)
        return rc;
    char *path = attn_source_path(&m->source, "config.json");
    if (!path)
        return attn_no_memory(err, NULL, "for a path");
    struct tensor_names weights = {.source = &m->source};
    const struct attn_tensor_names names = {tensor_name, &weights};
    rc = attn_config_read_named(&m->config, (const char *)m->config_map.data, m->config_map.len, path, &names, err);
    attn_shards_close(&weights.shards);
    if (!rc && m->source.kind->family)
        m->source.kind->family(&m->source, &m->config);
    if (!rc && m->config.doubt && attn_asprintf(&m->warning, "%s: %s", path, m->config.doubt) < 0)
        m->warning = NULL;
    free(path);
    return rc;
}

/* What ends a text when it is continued is said there, too, and then counts: the end of a turn, where config.json has
 * that of a document. */
static int read_ends(struct attn_model *m, struct attn_err *err)
{
    static const char file[] = "generation_config.json";
    struct attn_map map = {0};
    if (m->config.family->native || !attn_source_has(&m->source, file))
        return ATTN_OK;
    char *path = attn_source_path(&m->source, file);
    int rc = path ? attn_source_open(&m->source, file, ATTN_CONFIG_LIMIT, &map, err) :
             attn_no_memory(err, NULL, "for a path");
    if (!rc)
        rc = attn_config_read_ends(&m->config, (const char *)map.data, map.len, path, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

static int open_weights(struct attn_model *m, struct attn_err *err)
{
    int rc = attn_shards_open(&m->weights, &m->source, err);
    return rc ? rc : attn_model_bind(m, err);
}

int attn_model_open(struct attn_model **out, const char *name, struct attn_err *err)
{
    return attn_model_open_with(out, name, NULL, err);
}

int attn_model_open_with(struct attn_model **out, const char *name, const struct attn_lacking *given,
                         struct attn_err *err)
{
    *out = NULL;
    int rc = attn_cpu_check(err);
    if (!rc)
        rc = attn_stack_check(err);
    if (rc)
        return rc;
    struct attn_model *m = calloc(1, sizeof *m);
    if (!m)
        return attn_no_memory(err, NULL, "for a model");
    rc = attn_source_find(&m->source, name, given, err);
    if (!rc)
        rc = read_config(m, err);
    if (!rc)
        rc = read_ends(m, err);
    if (!rc)
        rc = open_weights(m, err);
    if (!rc && attn_model_is_small(m)) {
        rc = m->source.kind->tested ? ATTN_OK : attn_model_check(m, err);
        m->checked = true;
    }
    if (rc) {
        attn_model_close(m);
        return rc;
    }
    fill_stage(m);
    say_scale(m);
    *out = m;
    return ATTN_OK;
}

void attn_model_close(struct attn_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->copy && i < m->weights.tensors; i++)
        free(m->copy[i]);
    free(m->copy);
    free(m->tensor);
    free(m->w.block);
    free(m->inv_freq[0]);
    free(m->inv_freq[1]);
    for (size_t i = 0; i < m->n_made; i++)
        free(m->made[i].x);
    free(m->made);
    free(m->warning);
    free(m->digest);
    attn_shards_close(&m->weights);
    attn_config_free(&m->config);
    attn_map_close(&m->config_map);
    attn_source_free(&m->source);
    free(m);
}

/* ---- describing ---- */

const char *attn_model_family(const struct attn_model *m)
{
    return m->config.family->name;
}

const struct attn_assumed *attn_model_assumed(const struct attn_model *m, size_t *n)
{
    return attn_source_assumed(&m->source, n);
}

int attn_model_metadata(struct attn_metadata *out, const struct attn_model *m, size_t i, struct attn_err *err)
{
    *out = (struct attn_metadata){0};
    return m->source.kind->metadata ? m->source.kind->metadata(out, &m->source, i, err) : ATTN_OK;
}

const char *attn_model_warning(const struct attn_model *m)
{
    return m->warning;
}

static size_t count_local(const struct attn_config *c)
{
    size_t n = 0;
    for (size_t i = 0; c->local && i < c->L; i++)
        n += c->local[i];
    return n;
}

void attn_model_info(const struct attn_model *m, struct attn_info *out)
{
    const struct attn_config *c = &m->config;
    *out = (struct attn_info){
        .name = m->source.name, .path = attn_source_where(&m->source), .family = c->family->name,
        .position = attn_position_name(c->position), .norm = attn_norm_name(c->norm), .mlp = attn_mlp_name(c->mlp),
        .mask = c->causal ? "causal" : "none", .scale = m->scale,
        .residual = c->residual, .output_projection = c->output_projection, .tied = c->tied, .unembed = c->unembed,
        .L = c->L, .d = c->d, .H = c->H, .Hkv = c->Hkv, .dh = c->dh, .dv = c->dv, .m = c->m, .V = c->V,
        .n_ctx = c->n_ctx, .parallel = c->parallel, .rotary = c->rotary,
        .window = c->local ? c->window : 0, .local = count_local(c), .norm_eps = c->norm_eps,
        .rope_theta = c->rope_theta,
        .tensors = m->tensors};
    for (size_t i = 0; i < m->tensors; i++) {
        out->parameters += m->tensor[i]->count;
        out->bytes += m->tensor[i]->bytes;
    }
}

void attn_model_tensor(const struct attn_model *m, size_t i, struct attn_tensor_info *out)
{
    const struct attn_st_tensor *t = m->tensor[i];
    *out = (struct attn_tensor_info){.name = t->name, .dtype = t->dtype, .ndim = t->ndim, .bytes = t->bytes};
    memcpy(out->shape, t->shape, sizeof t->shape);
}

bool attn_model_keeps(const struct attn_model *m, size_t have, size_t n)
{
    return attn_rope_cache_valid(&m->w, have, n);
}

bool attn_model_ends(const struct attn_model *m, int32_t id)
{
    for (size_t i = 0; i < m->config.n_eos; i++)
        if (m->config.eos[i] == id)
            return true;
    return false;
}

static bool has_id(const struct attn_model *m, int32_t id)
{
    return id >= 0 && (size_t)id < m->w.n.V;
}

int attn_model_check_ids(const struct attn_model *m, const int32_t *ids, size_t n, struct attn_err *err)
{
    for (size_t t = 0; t < n; t++)
        if (!has_id(m, ids[t]))
            return attn_fail(err, ATTN_EFORMAT, "token %zu has id %d, but model %s has ids 0 to %zu (vocab_size %zu)",
                             t, (int)ids[t], m->source.name, m->w.n.V - 1, m->w.n.V);
    return ATTN_OK;
}

int attn_model_check_tokens(const struct attn_model *m, const struct attn_tokens *t, struct attn_err *err)
{
    enum { MOST = 40 };
    size_t i = 0;
    while (i < t->n && has_id(m, t->tok[i].id))
        i++;
    if (i == t->n)
        return ATTN_OK;
    const struct attn_token *k = &t->tok[i];
    if (k->known && !k->named)
        return attn_fail(err, ATTN_EFORMAT, "token %zu, '%.*s', has id %d, but model %s has ids 0 to %zu (vocab_size "
                                            "%zu): the tokenizer has more tokens than the embedding has rows; do both "
                                            "belong together?", i,
                         attn_shown_of(k->text, k->text_len, MOST), k->text, (int)k->id, m->source.name,
                         m->w.n.V - 1, m->w.n.V);
    return attn_fail(err, ATTN_EFORMAT,
                     "token %zu has id %d, but model %s has ids 0 to %zu (vocab_size %zu)", i, (int)k->id,
                     m->source.name, m->w.n.V - 1, m->w.n.V);
}

/* ---- looking at every weight ---- */

static int not_finite(const struct attn_model *m, const struct attn_st_tensor *t, size_t i, float x,
                      struct attn_err *err)
{
    const struct attn_shard *in = NULL;
    attn_shards_at(&m->weights, attn_shards_index(&m->weights, t), &in);
    const char *what = isnan(x) ? "NaN" : x > 0 ? "inf" : "-inf";
    if (t->ndim == 2)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' holds %s at row %zu, column %zu: the weights are damaged",
                         in->path, t->name, what, i / t->shape[1], i % t->shape[1]);
    return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' holds %s at index %zu: the weights are damaged",
                     in->path, t->name, what, i);
}

static int check_tensor(const struct attn_model *m, const struct attn_st_tensor *t, struct attn_err *err)
{
    enum { CHUNK = 1024 };
    float part[CHUNK];
    enum attn_dtype type;
    attn_dtype_named(t->dtype, &type);
    for (size_t at = 0; at < t->count; at += CHUNK) {
        unsigned char aligned[CHUNK * sizeof(float)] __attribute__((aligned(64)));
        size_t n = t->count - at < CHUNK ? t->count - at : CHUNK;
        memcpy(aligned, t->data + attn_dtype_bytes(type, at), attn_dtype_bytes(type, n));
        attn_vec_widen(part, aligned, type, 0, n);
        if (attn_vec_finite(part, n))
            continue;
        for (size_t i = 0; i < n; i++)
            if (!isfinite(part[i]))
                return not_finite(m, t, at + i, part[i], err);
    }
    return ATTN_OK;
}

int attn_model_check(const struct attn_model *m, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < m->tensors && !rc; i++)
        rc = check_tensor(m, m->tensor[i], err);
    return rc;
}

/* ---- a hash that identifies it ----
 *
 * SHA-256 over each file that matters, in a fixed order: its name, its size and its bytes.  The sampled form hashes, of
 * the weights, only the header and the first and last 4 KiB of each tensor. */

enum { SAMPLE = 4096 };

static void add_name(struct attn_sha256 *h, const char *file, size_t len)
{
    char head[320];                     /* a name in a directory has at most 255 bytes */
    int n = snprintf(head, sizeof head, "%s %zu\n", file, len);
    attn_sha256_add(h, head, (size_t)n);
}

static int add_file(struct attn_sha256 *h, const struct attn_source *s, const char *file, struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_has(s, file))
        return ATTN_OK;
    int rc = attn_source_open(s, file, SIZE_MAX, &map, err);
    if (rc)
        return rc;
    add_name(h, file, map.len);
    attn_sha256_add(h, map.data, map.len);
    attn_map_close(&map);
    return ATTN_OK;
}

static void add_samples(struct attn_sha256 *h, const struct attn_shard *s)
{
    attn_sha256_add(h, s->st->header, s->st->header_len);
    for (size_t i = 0; i < attn_st_count(s->st); i++) {
        const struct attn_st_tensor *t = attn_st_at(s->st, i);
        size_t n = t->bytes < SAMPLE ? t->bytes : SAMPLE;
        attn_sha256_add(h, t->data, n);
        attn_sha256_add(h, t->data + t->bytes - n, n);
    }
}

int attn_model_digest(const struct attn_model *m, bool full, char out[80], struct attn_err *err)
{
    static const char *const files[] = {"vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                        "added_tokens.json", "tokenizer.model", "tokenizer.bin",
                                        "model.safetensors.index.json"};
    struct attn_sha256 h;
    char hex[65];
    if (m->digest) {
        snprintf(out, 80, "%s", m->digest);
        return ATTN_OK;
    }
    attn_sha256_start(&h);
    const bool apart = !m->source.kind->whole;                      /* else its header has it all */
    if (apart) {
        add_name(&h, "config.json", m->config_map.len);
        attn_sha256_add(&h, m->config_map.data, m->config_map.len);
    }
    const char *index = m->weights.index;
    for (size_t i = 0; apart && i < sizeof files / sizeof *files; i++) {
        int rc = add_file(&h, &m->source, files[i], err);
        if (rc)
            return rc;
    }
    if (index && !strcmp(index, "pytorch_model.bin.index.json")) {
        int rc = add_file(&h, &m->source, index, err);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < m->weights.n; i++) {
        const struct attn_shard *s = &m->weights.shard[i];
        const char *slash = strrchr(s->path, '/');
        add_name(&h, slash ? slash + 1 : s->path, s->map.len);
        if (full)
            attn_sha256_add(&h, s->map.data, s->map.len);
        else
            add_samples(&h, s);
    }
    attn_sha256_end(&h, hex);
    snprintf(out, 80, "%s:%s", full ? "sha256" : "sampled", hex);
    return ATTN_OK;
}

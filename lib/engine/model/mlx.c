#include "model/mlx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "compute/vec.h"
#include "model/source.h"

enum { VALUES_MAX = 1 << 16, NAME = 256, WORD = 32, GROUP_MAX = 128 };

/* ---- config.json ----------------------------------------------------------------------- */

/* The section, if it is that of MLX: a copy of it under the other name has no method. */
static bool is_mlx(const cJSON *root)
{
    const cJSON *q = attn_tree_member(root, "quantization"), *copy = attn_tree_member(root, "quantization_config");
    return cJSON_IsObject(q) && !attn_tree_member(copy, "quant_method");
}

static int take_config(struct attn_course *c, cJSON *root, struct attn_err *err)
{
    const cJSON *mode = attn_tree_member(attn_tree_member(root, "quantization"), "mode");
    char found[ATTN_TREE_SHOWN];
    if (mode && !(cJSON_IsString(mode) && !strcmp(mode->valuestring, "affine")))
        return attn_fail(err, ATTN_EFORMAT, "%s: the weights are quantised by MLX with \"mode\" %s, expected "
                                            "\"affine\": take the model that they were made from", c->path,
                         attn_tree_show(mode, found));
    cJSON_Delete(cJSON_DetachItemFromObjectCaseSensitive(root, "quantization_config"));
    c->rules = cJSON_DetachItemFromObjectCaseSensitive(root, "quantization");
    char *text = cJSON_Print(root);
    return attn_course_add(c, "config.json", text, text ? strlen(text) : 0, err);
}

/* Most files say nothing of it, which a look at the text tells. */
static bool may_be_mlx(const struct attn_map *m)
{
    static const char key[] = "\"quantization\"";
    return memmem(m->data, m->len, key, sizeof key - 1);
}

int attn_mlx_open(struct attn_course **out, const char *dir, const char *path, struct attn_err *err)
{
    struct attn_map map;
    struct attn_err why = {0};
    cJSON *root = NULL;
    *out = NULL;
    if (attn_map_open_found(&map, path, ATTN_CONFIG_LIMIT, ATTN_LINKS_FOLLOWED, &why))
        return ATTN_OK;                 /* whoever reads it says what is wrong with it */
    int rc = ATTN_OK;
    if (may_be_mlx(&map) && !attn_tree_read(&root, (const char *)map.data, map.len, path, VALUES_MAX, &why) &&
        is_mlx(root)) {
        struct attn_course *c = calloc(1, sizeof *c);
        if (c)
            *c = (struct attn_course){.path = strdup(path), .dir = strdup(dir), .directory = true};
        rc = c && c->path && c->dir ? take_config(c, root, err) : attn_no_memory(err, path, "to open it");
        if (rc)
            attn_course_close(c);
        else
            *out = c;
    }
    cJSON_Delete(root);
    attn_map_close(&map);
    return why.code == ATTN_ENOMEM ? attn_fail_as(err, &why) : rc;
}

/* ---- one matrix ------------------------------------------------------------------------ */

struct matrix {
    const struct attn_shard *in;
    const struct attn_st_tensor *q, *scales, *biases;
    size_t out, cols, group, bits;
};

static int refuse(const struct matrix *m, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' is quantised by MLX, %s", m->in->path,
                     attn_shown(m->q->name, strlen(m->q->name)), m->q->name, what);
}

/* "X" of the tensor "X.weight", with another ending. */
static const struct attn_st_tensor *sibling(const struct attn_shards *all, const char *name, const char *ending)
{
    char other[NAME];
    const struct attn_shard *in;
    size_t n = strlen(name) - strlen(".weight");
    return snprintf(other, sizeof other, "%.*s%s", (int)n, name, ending) < NAME ? attn_shards_find(all, other, &in) :
           NULL;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n > k && n < NAME && !strcmp(name + n - k, ending);
}

static bool is_quantised(const struct attn_shards *all, const struct attn_st_tensor *t)
{
    return !strcmp(t->dtype, "U32") && ends_with(t->name, ".weight") && sibling(all, t->name, ".scales");
}

/* Scales and biases of what is decoded are no tensors any more. */
static bool is_part(const struct attn_shards *all, const struct attn_st_tensor *t)
{
    static const char *const endings[] = {".scales", ".biases"};
    for (size_t i = 0; i < 2; i++) {
        char weight[NAME];
        const struct attn_shard *in;
        if (!ends_with(t->name, endings[i]))
            continue;
        snprintf(weight, sizeof weight, "%.*s.weight", (int)(strlen(t->name) - strlen(endings[i])), t->name);
        const struct attn_st_tensor *q = attn_shards_find(all, weight, &in);
        return q && is_quantised(all, q);
    }
    return false;
}

static size_t rule_of(const cJSON *own, const cJSON *rules, const char *key)
{
    const cJSON *v = cJSON_IsObject(own) && attn_tree_member(own, key) ? attn_tree_member(own, key) :
                     attn_tree_member(rules, key);
    double x;
    return v && attn_tree_whole(v, 1, 1024, &x) ? (size_t)x : 0;
}

static int read_rule(struct matrix *m, const cJSON *rules, struct attn_err *err)
{
    char module[NAME];
    snprintf(module, sizeof module, "%.*s", (int)(strlen(m->q->name) - strlen(".weight")), m->q->name);
    const cJSON *own = attn_tree_member(rules, module);
    m->group = rule_of(own, rules, "group_size");
    m->bits = rule_of(own, rules, "bits");
    if (own && cJSON_IsFalse(own))
        return refuse(m, "but config.json says that it is not", err);
    if (m->bits != 2 && m->bits != 4 && m->bits != 8)
        return refuse(m, "expected \"bits\" 2, 4 or 8 in config.json: take the model that it was made from", err);
    return m->group == 32 || m->group == 64 || m->group == 128 ? ATTN_OK :
           refuse(m, "expected \"group_size\" 32, 64 or 128 in config.json", err);
}

static bool has_type(const struct attn_st_tensor *t, enum attn_dtype *type)
{
    static const struct { const char *name; enum attn_dtype type; } types[] = {
        {"F32", ATTN_F32}, {"F16", ATTN_F16}, {"BF16", ATTN_BF16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(t->dtype, types[i].name))
            return *type = types[i].type, true;
    return false;
}

/* Sizes: of each group there is a scale and a bias, of one type. */
static int check_shapes(struct matrix *m, struct attn_err *err)
{
    const struct attn_st_tensor *q = m->q, *s = m->scales, *b = m->biases;
    enum attn_dtype type;
    if (q->ndim != 2 || !q->count)
        return refuse(m, "expected a matrix", err);
    if (!b || s->ndim != 2 || b->ndim != 2 || strcmp(s->dtype, b->dtype) != 0 || !has_type(s, &type))
        return refuse(m, "expected 'scales' and 'biases' beside it, matrices of F32, F16 or BF16", err);
    m->out = q->shape[0];
    if (__builtin_mul_overflow(q->shape[1], WORD / m->bits, &m->cols) || m->cols % m->group ||
        s->shape[0] != m->out || b->shape[0] != m->out || s->shape[1] != m->cols / m->group ||
        b->shape[1] != s->shape[1])
        return refuse(m, "but its 'scales' and 'biases' do not have a number for each group of each row", err);
    return ATTN_OK;
}

/* Numbers of a row's groups, widened; they may lie at any address. */
static void widen(float *to, const struct attn_st_tensor *t, size_t row, size_t n)
{
    enum attn_dtype type = ATTN_F32;
    has_type(t, &type);
    attn_vec_widen(to, t->data, type, row * n, n);
}

static void decode_row(const struct matrix *m, float *to, size_t row, const float *scale, const float *bias)
{
    size_t per = WORD / m->bits, words = m->q->shape[1], per_group = m->group / per;
    uint32_t mask = (uint32_t)((1u << m->bits) - 1);
    const unsigned char *from = m->q->data + row * words * sizeof mask;
    for (size_t w = 0; w < words; w++) {
        uint32_t word;
        float s = scale[w / per_group], b = bias[w / per_group];
        memcpy(&word, from + w * sizeof word, sizeof word);
        for (size_t i = 0; i < per; i++, word >>= m->bits)
            *to++ = fmaf(s, (float)(word & mask), b);
    }
}

static int decode(const struct matrix *m, float *to, struct attn_err *err)
{
    size_t groups = m->cols / m->group;
    float *scale = malloc(2 * groups * sizeof *scale);
    if (!scale)
        return attn_no_memory(err, m->in->path, "to decode '%s'", m->q->name);
    for (size_t row = 0; row < m->out; row++) {
        widen(scale, m->scales, row, groups);
        widen(scale + groups, m->biases, row, groups);
        decode_row(m, to + row * m->cols, row, scale, scale + groups);
    }
    free(scale);
    return ATTN_OK;
}

/* ---- the tensors of a file ------------------------------------------------------------- */

static int add_matrix(struct attn_st *st, struct matrix *m, const struct attn_shards *all, const struct attn_course *c,
                      struct attn_err *err)
{
    m->scales = sibling(all, m->q->name, ".scales");
    m->biases = sibling(all, m->q->name, ".biases");
    int rc = read_rule(m, c->rules, err);
    if (!rc)
        rc = check_shapes(m, err);
    if (rc)
        return rc;
    struct attn_st_tensor t = {.dtype = "F32", .ndim = 2, .shape = {m->out, m->cols}};
    if (!attn_st_elements(t.shape, 2, sizeof(float), &t.count))
        return refuse(m, "but decoded it has more bytes than 64 bits can count", err);
    t.bytes = t.count * sizeof(float);
    float *x = attn_st_keep(st, t.bytes);
    if (!x)
        return attn_no_memory(err, m->in->path, "to decode '%s' into %zu bytes", m->q->name, t.bytes);
    t.data = (const unsigned char *)x;
    rc = decode(m, x, err);
    return rc ? rc : attn_course_tensor(c, st, m->q->name, &t, err);
}

int attn_mlx_decode(struct attn_st **out, const struct attn_shards *all, size_t i, const struct attn_course *c,
                    struct attn_err *err)
{
    const struct attn_shard *in = &all->shard[i];
    struct attn_st *st = calloc(1, sizeof *st);
    int rc = st ? ATTN_OK : attn_no_memory(err, in->path, "for the list of its tensors");
    for (size_t k = 0; k < attn_st_count(in->st) && !rc; k++) {
        const struct attn_st_tensor *t = attn_st_at(in->st, k);
        struct matrix m = {.in = in, .q = t};
        if (is_quantised(all, t))
            rc = add_matrix(st, &m, all, c, err);
        else if (!is_part(all, t))
            rc = attn_course_tensor(c, st, t->name, t, err);
    }
    if (rc) {
        attn_st_close(st);
        return rc;
    }
    attn_st_name(st);
    st->header = in->st->header;
    st->header_len = in->st->header_len;
    *out = st;
    return ATTN_OK;
}

/* mlx.c - directories that MLX has quantised: matrices of 2, 4 or 8 bits, in groups of 32, 64 or 128 numbers.
 *
 * config.json has "quantization": {"group_size": 64, "bits": 4}, and members named like a module with numbers of their
 * own, or false.  X.weight is U32 [out, in bits / 32], the first number in the lowest bits; X.scales and X.biases are
 * [out, in / group]: w = scale q + bias.  Such a matrix becomes float32 when the weights are opened: for 4 bits, eight
 * times the bytes that it has in the file.  config.json is seen without what says that it is quantised. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/tree.h"
#include "compute/vec.h"
#include "model/container.h"
#include "model/shards.h"

enum { VALUES_MAX = 1 << 16, NAME = 256, WORD = 32, GROUP_MAX = 128 };
extern const struct attn_container attn_container_mlx;

/* config.json without rules, and the rules: how matrices are stored. */
struct mlx { char *config; cJSON *rules; };

/* ---- config.json ----------------------------------------------------------------------- */

/* The section, if it is that of MLX: a copy of it under the other name has no method. */
static bool is_mlx(const cJSON *root)
{
    const cJSON *q = attn_tree_member(root, "quantization"), *copy = attn_tree_member(root, "quantization_config");
    return cJSON_IsObject(q) && !attn_tree_member(copy, "quant_method");
}

static void close_mlx(void *of)
{
    struct mlx *x = of;
    cJSON_Delete(x->rules);
    free(x->config);
    free(x);
}

static int take_config(struct mlx *x, cJSON *root, const char *path, struct attn_err *err)
{
    const cJSON *mode = attn_tree_member(attn_tree_member(root, "quantization"), "mode");
    char found[ATTN_TREE_SHOWN];
    if (mode && !(cJSON_IsString(mode) && !strcmp(mode->valuestring, "affine")))
        return attn_fail(err, ATTN_EFORMAT, "%s: the weights are quantised by MLX with \"mode\" %s, expected "
                                            "\"affine\": take the model that they were made from", path,
                         attn_tree_show(mode, found));
    cJSON_Delete(cJSON_DetachItemFromObjectCaseSensitive(root, "quantization_config"));
    x->rules = cJSON_DetachItemFromObjectCaseSensitive(root, "quantization");
    x->config = cJSON_Print(root);
    return x->config ? ATTN_OK : attn_no_memory(err, path, "for its config.json");
}

static int take(struct attn_source *s, cJSON *root, const char *path, struct attn_err *err)
{
    struct mlx *x = calloc(1, sizeof *x);
    int rc = x ? attn_source_is(s, &attn_container_mlx, x, NULL, false, err) : attn_no_memory(err, path, "to open it");
    return rc ? rc : take_config(x, root, path, err);
}

/* Most files say nothing of it, which a look at the text tells. */
static bool may_be_mlx(const struct attn_map *m)
{
    static const char key[] = "\"quantization\"";
    return memmem(m->data, m->len, key, sizeof key - 1);
}

/* What keeps its config.json from being read, whoever reads it will say. */
static int enter(struct attn_source *s, bool weights, const struct attn_lacking *given, struct attn_err *err)
{
    struct attn_map map = {0};
    struct attn_err unseen = {0}, why = {0};
    cJSON *root = NULL;
    char *path = weights ? attn_directory_path(s, "config.json") : NULL;
    int rc = weights && !path ? attn_no_memory(err, NULL, "for a path") : ATTN_OK;
    (void)given;
    if (path && !attn_map_open_found(&map, path, ATTN_CONFIG_LIMIT, ATTN_LINKS_FOLLOWED, &unseen) &&
        may_be_mlx(&map) && !attn_tree_read(&root, (const char *)map.data, map.len, path, VALUES_MAX, &why) &&
        is_mlx(root))
        rc = take(s, root, path, err);
    cJSON_Delete(root);
    attn_map_close(&map);
    free(path);
    return why.code == ATTN_ENOMEM ? attn_fail_as(err, &why) : rc;
}

static int read_file(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    const struct mlx *x = s->of;
    if (strcmp(file, "config.json"))
        return attn_directory_read(s, file, limit, out, err);
    return attn_map_copy(out, x->config, strlen(x->config)) ? ATTN_OK : attn_no_memory(err, NULL, "for a path");
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

static int add(struct attn_st *st, const char *name, const struct attn_st_tensor *t, const struct attn_shard *in,
               struct attn_err *err)
{
    return attn_st_add(st, name, t) ? ATTN_OK : attn_no_memory(err, in->path, "for the list of its tensors");
}

static int add_matrix(struct attn_st *st, struct matrix *m, const struct attn_shards *all, const struct mlx *x,
                      struct attn_err *err)
{
    m->scales = sibling(all, m->q->name, ".scales");
    m->biases = sibling(all, m->q->name, ".biases");
    int rc = read_rule(m, x->rules, err);
    if (!rc)
        rc = check_shapes(m, err);
    if (rc)
        return rc;
    struct attn_st_tensor t = {.dtype = "F32", .ndim = 2, .shape = {m->out, m->cols}};
    if (!attn_st_elements(t.shape, 2, sizeof(float), &t.count))
        return refuse(m, "but decoded it has more bytes than 64 bits can count", err);
    t.bytes = t.count * sizeof(float);
    float *to = attn_st_keep(st, t.bytes);
    if (!to)
        return attn_no_memory(err, m->in->path, "to decode '%s' into %zu bytes", m->q->name, t.bytes);
    t.data = (const unsigned char *)to;
    rc = decode(m, to, err);
    return rc ? rc : add(st, m->q->name, &t, m->in, err);
}

/* The tensors of file i of `all` with matrices decoded. */
static int decode_file(struct attn_st **out, const struct attn_shards *all, size_t i, const struct mlx *x,
                       struct attn_err *err)
{
    const struct attn_shard *in = &all->shard[i];
    struct attn_st *st = calloc(1, sizeof *st);
    int rc = st ? ATTN_OK : attn_no_memory(err, in->path, "for the list of its tensors");
    for (size_t k = 0; k < attn_st_count(in->st) && !rc; k++) {
        const struct attn_st_tensor *t = attn_st_at(in->st, k);
        struct matrix m = {.in = in, .q = t};
        if (is_quantised(all, t))
            rc = add_matrix(st, &m, all, x, err);
        else if (!is_part(all, t))
            rc = add(st, t->name, t, in, err);
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

/* Counts and names the tensors anew. */
static int recount(struct attn_shards *s, struct attn_err *err)
{
    struct attn_strings twice = {0};
    int rc = ATTN_OK;
    attn_strings_clear(&s->names);
    s->tensors = 0;
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = attn_shards_count(s, &s->shard[i], s->n > 1, &twice, err);
    attn_strings_free(&twice);
    return rc;
}

/* Puts decoded matrices in the place of quantised ones, whose parts may be in any of the files. */
static int decode_all(struct attn_shards *s, const struct mlx *x, struct attn_err *err)
{
    struct attn_st **st = calloc(s->n + 1, sizeof *st);
    int rc = st ? ATTN_OK : attn_no_memory(err, NULL, "for the list of weight files");
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = decode_file(&st[i], s, i, x, err);
    for (size_t i = 0; st && i < s->n; i++) {
        attn_st_close(rc ? st[i] : s->shard[i].st);
        s->shard[i].st = rc ? s->shard[i].st : st[i];
    }
    free(st);
    return rc ? rc : recount(s, err);
}

static int open_tensors(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    int rc = attn_shards_of_directory(out, s, err);
    return rc ? rc : decode_all(out, s->of, err);
}

const struct attn_container attn_container_mlx = {
    .name = "mlx", .what = "is a directory", .says = "whose config.json says", .config = "config.json",
    .enter = enter, .close = close_mlx, .path = attn_directory_path, .has = attn_directory_has, .read = read_file,
    .tensors = open_tensors};

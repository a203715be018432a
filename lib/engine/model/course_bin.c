/* course_bin.c - the weights of llama2.c and llm.c: a header of whole numbers, then tensors in a fixed order.
 *
 * llama2.c, version 1: "24ka", 1, seven sizes, a byte that says whether the output layer is the embedding, zeros up to
 * byte 256.  Version 0 begins with the sizes, and a vocabulary below 0 says that there is an output layer; it is told
 * by the file's length, which the sizes must give.  It computes a Llama whose rotation turns neighbours; so that the
 * model is a Llama to everybody, the rows of queries and keys are put in the order of halves, in a copy.  llm.c: a
 * number of its own, 3 (float32) or 5 (bfloat16), sizes, zeros up to byte 1024.  It is a GPT-2 with matrices
 * [out, in]; of the embedding the rows that pad it are left out.  All but those copies are views of the file. */
#include "model/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"

enum { SIZES_MAX = INT32_MAX, NAME = 96 };

static int32_t int_at(const struct attn_map *m, size_t i)
{
    int32_t x;
    memcpy(&x, m->data + i * sizeof x, sizeof x);
    return x;
}

/* ---- tensors one after the other ------------------------------------------------------- */

/* What a name has for each layer; rows and cols in elements, rows 0: a vector. */
struct piece { const char *name; size_t rows, cols; enum { PLAIN, TURNED_Q, TURNED_K, SKIPPED } how; };

struct cursor {
    struct attn_course *c;
    struct attn_st *st;                 /* NULL: the bytes are only counted */
    const char *dtype;
    size_t element, at;                 /* at: the next byte */
    bool overflow;
};

static void advance(struct cursor *k, size_t rows, size_t cols, size_t times)
{
    size_t n;
    k->overflow |= __builtin_mul_overflow(rows ? rows : 1, cols, &n) || __builtin_mul_overflow(n, k->element, &n) ||
                   __builtin_mul_overflow(n, times, &n) || __builtin_add_overflow(k->at, n, &k->at);
}

/* Rows 2 i and 2 i + 1 of each head go to i and i + half of it. */
static int turn_rows(struct cursor *k, struct attn_st_tensor *t, size_t heads, struct attn_err *err)
{
    size_t row = t->shape[1] * k->element, e = t->shape[0] / heads;
    unsigned char *to = attn_course_room(k->c, k->st, t->bytes, err);
    if (!to)
        return err ? (int)err->code : ATTN_ENOMEM;
    for (size_t r = 0; r < t->shape[0]; r++) {
        size_t i = r % e, half = i / 2 + (i % 2) * (e / 2);
        memcpy(to + (r - i + half) * row, t->data + r * row, row);
    }
    t->data = to;
    return ATTN_OK;
}

static int take(struct cursor *k, const struct piece *p, const char *name, struct attn_err *err)
{
    size_t from = k->at, count = (p->rows ? p->rows : 1) * p->cols;
    advance(k, p->rows, p->cols, 1);
    if (p->how == SKIPPED)
        return ATTN_OK;
    struct attn_st_tensor t = {.dtype = k->dtype, .ndim = p->rows ? 2 : 1, .count = count,
                               .shape = {p->rows ? p->rows : p->cols, p->rows ? p->cols : 0},
                               .bytes = count * k->element, .data = k->c->map.data + from};
    int rc = p->how == PLAIN ? ATTN_OK : turn_rows(k, &t, p->how == TURNED_Q ? k->c->H : k->c->Hkv, err);
    return rc ? rc : attn_course_tensor(k->c, k->st, name, &t, err);
}

/* A name with a star is there once for each layer.  Counting does not walk over layers, whose number may be made up. */
static int take_all(struct cursor *k, const struct piece *p, size_t n, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const char *star = strchr(p[i].name, '*');
        size_t times = star ? k->c->L : 1;
        if (!k->st)
            advance(k, p[i].rows, p[i].cols, times);
        for (size_t layer = 0; layer < times && k->st && !rc; layer++) {
            char name[NAME];
            int before = star ? (int)(star - p[i].name) : 0;
            if (star)
                snprintf(name, sizeof name, "%.*s%zu%s", before, p[i].name, layer, star + 1);
            rc = take(k, &p[i], star ? name : p[i].name, err);
        }
    }
    return rc;
}

static const char *const kinds[] = {"llama2.c", "llm.c"};

/* The sizes of a header, those below 1 included, which are very large here. */
static int check_sizes(const struct attn_course *c, const char *what, struct attn_err *err)
{
    const struct { const char *name; size_t n; } sizes[] = {
        {"the width", c->d}, {"the width of the MLP", c->m}, {"the number of layers", c->L},
        {"the number of heads", c->H}, {"the number of key/value heads", c->Hkv}, {"the vocabulary", c->V},
        {"the context", c->ctx}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].n < 1 || sizes[i].n > SIZES_MAX)
            return attn_fail(err, ATTN_EFORMAT, "%s: is a file of %s, whose header says that %s is %d, expected at "
                                                "least 1", c->path, what, sizes[i].name, (int)(int32_t)sizes[i].n);
    if (c->d % c->H || c->H % c->Hkv || (what == kinds[0] && c->d / c->H % 2))
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of %s, whose header says a width of %zu, %zu heads and %zu "
                                            "key/value heads, expected each to be a multiple of the next%s", c->path,
                         what, c->d, c->H, c->Hkv, what == kinds[0] ? ", and heads of an even width" : "");
    return ATTN_OK;
}

static int check_length(const struct cursor *k, const char *what, struct attn_err *err)
{
    size_t len = k->c->map.len;
    if (!k->overflow && k->at == len)
        return ATTN_OK;
    if (k->overflow)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of %s, whose header asks for more bytes than 64 bits can "
                                            "count", k->c->path, what);
    return attn_fail(err, ATTN_EFORMAT, "%s: is a file of %s, whose header asks for %zu bytes, but it has %zu%s",
                     k->c->path, what, k->at, len, len < k->at ? ": cut short?" : "");
}

/* ---- llama2.c -------------------------------------------------------------------------- */

enum { MAGIC = 0x616b3432, OLD_HEADER = 28, NEW_HEADER = 256, SHARED_AT = 36 };       /* a byte after nine numbers */

static void read_llama_sizes(struct attn_course *c, size_t first)
{
    size_t *const to[] = {&c->d, &c->m, &c->L, &c->H, &c->Hkv, &c->V, &c->ctx};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        *to[i] = (size_t)int_at(&c->map, first + i);
}

/* Walks over the tensors, to count their bytes or to take them. */
static int walk_llama(struct cursor *k, bool old, struct attn_err *err)
{
    const struct attn_course *c = k->c;
    size_t d = c->d, m = c->m, kv = d / c->H * c->Hkv;
    const struct piece embed = {"model.embed_tokens.weight", c->V, d, PLAIN},
        final = {"model.norm.weight", 0, d, PLAIN}, norm1 = {"model.layers.*.input_layernorm.weight", 0, d, PLAIN},
        norm2 = {"model.layers.*.post_attention_layernorm.weight", 0, d, PLAIN},
        tables = {"", c->ctx, d / c->H, SKIPPED}, head = {"lm_head.weight", c->V, d, PLAIN};
    const struct piece attention[] = {
        {"model.layers.*.self_attn.q_proj.weight", d, d, TURNED_Q},
        {"model.layers.*.self_attn.k_proj.weight", kv, d, TURNED_K},
        {"model.layers.*.self_attn.v_proj.weight", kv, d, PLAIN},
        {"model.layers.*.self_attn.o_proj.weight", d, d, PLAIN}};
    const struct piece mlp[] = {
        {"model.layers.*.mlp.gate_proj.weight", m, d, PLAIN}, {"model.layers.*.mlp.down_proj.weight", d, m, PLAIN},
        {"model.layers.*.mlp.up_proj.weight", m, d, PLAIN}};
    const struct { const struct piece *piece; size_t n; } parts[2][8] = {
        {{&norm1, 1}, {&norm2, 1}, {&final, 1}, {&embed, 1}, {attention, 4}, {mlp, 3}, {&head, !c->tied}, {NULL, 0}},
        {{&embed, 1}, {&norm1, 1}, {attention, 4}, {&norm2, 1}, {mlp, 3}, {&final, 1}, {&tables, 1},
         {&head, !c->tied}}};
    int rc = ATTN_OK;
    for (size_t i = 0; i < 8 && !rc; i++)
        rc = take_all(k, parts[old][i].piece, parts[old][i].n, err);
    return rc;
}

static int write_llama(struct attn_course *c, struct attn_err *err)
{
    static const char said[] = "{\"add_bos_token\": true}\n";
    char *text = NULL;
    int n = attn_asprintf(&text,
                          "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"],\n"
                          " \"vocab_size\": %zu, \"max_position_embeddings\": %zu, \"hidden_size\": %zu, "
                          "\"intermediate_size\": %zu,\n \"num_hidden_layers\": %zu, \"num_attention_heads\": %zu, "
                          "\"num_key_value_heads\": %zu,\n \"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-05, "
                          "\"rope_theta\": 10000.0, \"bos_token_id\": 1, \"eos_token_id\": 2, "
                          "\"tie_word_embeddings\": %s}\n", c->V, c->ctx, c->d, c->m, c->L, c->H, c->Hkv,
                          c->tied ? "true" : "false");
    int rc = attn_course_add(c, "config.json", n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n, err);
    if (!rc)
        rc = attn_course_add(c, "tokenizer_config.json", strdup(said), sizeof said - 1, err);
    return rc ? rc : attn_course_vocabulary(c, NULL, err);
}

static struct cursor llama_cursor(struct attn_course *c, bool old, struct attn_st *st)
{
    return (struct cursor){.c = c, .st = st, .dtype = "F32", .element = 4, .at = old ? OLD_HEADER : NEW_HEADER};
}

static int open_llama(struct attn_course *c, struct attn_err *err)
{
    struct cursor k = llama_cursor(c, false, NULL);
    int version = c->map.len < NEW_HEADER ? 0 : int_at(&c->map, 1);
    if (c->map.len < NEW_HEADER)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of llama2.c, cut short in its header of %d bytes", c->path,
                         NEW_HEADER);
    if (version != 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of llama2.c of version %d%s, expected version 1 (or 0, "
                                            "which has no number): write it with 'export.py --version 1'", c->path,
                         version,
                         version == 2 ? " (in 8 bits)" : "");
    read_llama_sizes(c, 2);
    c->tied = c->map.data[SHARED_AT];
    int rc = check_sizes(c, kinds[0], err);
    if (!rc)
        rc = walk_llama(&k, false, err);
    if (!rc)
        rc = check_length(&k, kinds[0], err);
    return rc ? rc : write_llama(c, err);
}

static int fill_llama(struct attn_course *c, struct attn_st *st, struct attn_err *err)
{
    struct cursor k = llama_cursor(c, false, st);
    st->header = c->map.data;
    st->header_len = NEW_HEADER;
    return walk_llama(&k, false, err);
}

static bool is_llama(const struct attn_map *m)
{
    return m->len >= 4 && int_at(m, 0) == MAGIC;
}

/* ---- its older form: no number tells it, so all of it must fit ------------------------- */

static void read_old_sizes(struct attn_course *c)
{
    read_llama_sizes(c, 0);
    int32_t V = int_at(&c->map, 5);
    c->tied = V > 0;
    c->V = (size_t)(V < 0 ? -(int64_t)V : V);
}

static bool is_old_llama(const struct attn_map *m)
{
    struct attn_err why = {0};
    struct attn_course c = {.map = *m, .path = ""};
    if (m->len < OLD_HEADER)
        return false;
    read_old_sizes(&c);
    struct cursor k = llama_cursor(&c, true, NULL);
    return !check_sizes(&c, kinds[0], &why) && !walk_llama(&k, true, &why) && !k.overflow &&
           k.at == m->len;
}

static int open_old_llama(struct attn_course *c, struct attn_err *err)
{
    read_old_sizes(c);
    return write_llama(c, err);
}

static int fill_old_llama(struct attn_course *c, struct attn_st *st, struct attn_err *err)
{
    struct cursor k = llama_cursor(c, true, st);
    st->header = c->map.data;
    st->header_len = OLD_HEADER;
    return walk_llama(&k, true, err);
}

/* ---- llm.c ----------------------------------------------------------------------------- */

enum { LLMC_MAGIC = 20240326, LLMC_HEADER = 1024, F32_VERSION = 3, BF16_VERSION = 5 };

static int walk_llmc(struct cursor *k, struct attn_err *err)
{
    const struct attn_course *c = k->c;
    size_t d = c->d, padded = (size_t)int_at(&c->map, 7);
    const struct piece pieces[] = {
        {"transformer.wte.weight", c->V, d, PLAIN}, {"", padded - c->V, d, SKIPPED},
        {"transformer.wpe.weight", c->ctx, d, PLAIN},
        {"transformer.h.*.ln_1.weight", 0, d, PLAIN}, {"transformer.h.*.ln_1.bias", 0, d, PLAIN},
        {"transformer.h.*.attn.c_attn.weight", 3 * d, d, PLAIN}, {"transformer.h.*.attn.c_attn.bias", 0, 3 * d, PLAIN},
        {"transformer.h.*.attn.c_proj.weight", d, d, PLAIN}, {"transformer.h.*.attn.c_proj.bias", 0, d, PLAIN},
        {"transformer.h.*.ln_2.weight", 0, d, PLAIN}, {"transformer.h.*.ln_2.bias", 0, d, PLAIN},
        {"transformer.h.*.mlp.c_fc.weight", c->m, d, PLAIN}, {"transformer.h.*.mlp.c_fc.bias", 0, c->m, PLAIN},
        {"transformer.h.*.mlp.c_proj.weight", d, c->m, PLAIN}, {"transformer.h.*.mlp.c_proj.bias", 0, d, PLAIN},
        {"transformer.ln_f.weight", 0, d, PLAIN}, {"transformer.ln_f.bias", 0, d, PLAIN}};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    int rc = take_all(k, pieces, 1, err);
    if (!rc && padded > c->V)
        rc = take_all(k, pieces + 1, 1, err);
    return rc ? rc : take_all(k, pieces + 2, PIECES - 2, err);
}

static struct cursor llmc_cursor(struct attn_course *c, struct attn_st *st)
{
    bool half = int_at(&c->map, 1) == BF16_VERSION;
    return (struct cursor){.c = c, .st = st, .dtype = half ? "BF16" : "F32", .element = half ? 2 : 4,
                           .at = LLMC_HEADER};
}

static int check_llmc(const struct attn_course *c, struct attn_err *err)
{
    int version = int_at(&c->map, 1), padded = int_at(&c->map, 7);
    if (version != F32_VERSION && version != BF16_VERSION)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of llm.c of version %d, expected 3 (float32) or 5 "
                                            "(bfloat16) of a GPT-2, as train_gpt2.py writes them", c->path, version);
    int rc = check_sizes(c, kinds[1], err);
    if (rc || (padded >= 0 && (size_t)padded >= c->V))
        return rc;
    return attn_fail(err, ATTN_EFORMAT, "%s: is a file of llm.c, whose header says that a vocabulary of %zu is padded "
                                        "to %d, expected no fewer", c->path, c->V, padded);
}

static int open_llmc(struct attn_course *c, struct attn_err *err)
{
    char *text = NULL;
    if (c->map.len < LLMC_HEADER)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a file of llm.c, cut short in its header of %d bytes", c->path,
                         LLMC_HEADER);
    size_t *const to[] = {&c->ctx, &c->V, &c->L, &c->H, &c->d};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        *to[i] = (size_t)int_at(&c->map, 2 + i);
    c->Hkv = c->H;
    c->m = c->d <= SIZES_MAX / 4 ? 4 * c->d : 0;
    c->tied = true;
    int rc = check_llmc(c, err);
    struct cursor k = llmc_cursor(c, NULL);
    if (!rc)
        rc = walk_llmc(&k, err);
    if (!rc)
        rc = check_length(&k, kinds[1], err);
    if (rc)
        return rc;
    int n = attn_asprintf(&text, "{\"model_type\": \"nanogpt\",\n \"vocab_size\": %zu, \"block_size\": %zu, "
                                 "\"n_layer\": %zu, \"n_head\": %zu, \"n_embd\": %zu,\n \"activation_function\": "
                                 "\"gelu_new\", \"bias\": true, \"tie_word_embeddings\": true}\n", c->V, c->ctx, c->L,
                          c->H, c->d);
    rc = attn_course_add(c, "config.json", n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n, err);
    return rc ? rc : attn_course_vocabulary(c, NULL, err);
}

static int fill_llmc(struct attn_course *c, struct attn_st *st, struct attn_err *err)
{
    struct cursor k = llmc_cursor(c, st);
    st->header = c->map.data;
    st->header_len = LLMC_HEADER;
    return walk_llmc(&k, err);
}

static bool is_llmc(const struct attn_map *m)
{
    return m->len >= 8 && int_at(m, 0) == LLMC_MAGIC;
}

/* ---- the rows -------------------------------------------------------------------------- */

const struct attn_course_format attn_course_llama2c = {
    .what = "is a file of llama2.c", .is = is_llama, .open = open_llama, .fill = fill_llama};
const struct attn_course_format attn_course_llama2c_old = {
    .what = "is a file of llama2.c", .is = is_old_llama, .open = open_old_llama,
    .fill = fill_old_llama};
const struct attn_course_format attn_course_llmc = {
    .what = "is a file of llm.c", .is = is_llmc, .open = open_llmc, .fill = fill_llmc};

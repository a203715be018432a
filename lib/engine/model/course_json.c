/* course_json.c - microgpt's weights.json: {"metadata": {...}, "weights": {"wte": [[...], ...], "layer0.attn_wq": ...}}
 *
 * Matrices may stand at the top, too, without "weights" or "state_dict" around them, and so may what "metadata" has.
 *
 * It is a model of our own format whose norms have no weights: one after the embedding, one before each branch, none at
 * the end.  Matrices are [out, in]; numbers become float32, each matrix once, when the weights are opened.  Nothing of
 * the weights becomes a tree: the text is walked over twice, first to see that all rows of a matrix are as long. */
#include "model/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/json.h"
#include "base/num.h"

static const char what[] = "is a weights.json of microgpt";
enum { METADATA_MAX = 1 << 17, MATRICES_MAX = 1 << 16, NAME = 64 };

/* ---- walking over the text ------------------------------------------------------------- */

static int broken(const struct attn_json *j, const char *expected, struct attn_err *err)
{
    size_t line, column;
    if (j->failed)
        return attn_json_error(j, err);
    attn_json_position(j, j->start, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: expected %s", j->name, line, column, expected);
}

static void start_at(const struct attn_course *c, struct attn_json *j, size_t at)
{
    attn_json_start(j, (const char *)c->map.data + at, c->map.len - at, c->path);
}

/* Reads a row, [x, y, ...], whose first event was read: number i goes to to[i * step].  to NULL: it is only counted. */
static int read_row(struct attn_json *j, size_t *n, float *to, size_t step, struct attn_err *err)
{
    enum attn_json_event e;
    double x;
    for (*n = 0; (e = attn_json_next(j)) == ATTN_JSON_NUMBER; ++*n) {
        if (!attn_num_parse_f64(j->text + j->token, j->token_len, &x) || !isfinite((float)x))
            return broken(j, "a number that float32 can hold", err);
        if (to)
            to[*n * step] = (float)x;
    }
    return e == ATTN_JSON_ARRAY_END && *n ? ATTN_OK : broken(j, "a row of at least one number", err);
}

/* Counts a matrix, [[...], ...], whose first event was read. */
static int measure(struct attn_json *j, struct attn_st_tensor *t, struct attn_err *err)
{
    enum attn_json_event e;
    while ((e = attn_json_next(j)) == ATTN_JSON_ARRAY) {
        size_t n;
        int rc = read_row(j, &n, NULL, 0, err);
        if (!rc && t->shape[0] && n != t->shape[1])
            rc = broken(j, "rows of equal length", err);
        if (rc)
            return rc;
        t->shape[0]++;
        t->shape[1] = n;
    }
    return e == ATTN_JSON_ARRAY_END && t->shape[0] ? ATTN_OK : broken(j, "a matrix, a list of rows of numbers", err);
}

/* Notes name, place and shape of a matrix, whose name was read. */
static int list_matrix(struct attn_course *c, struct attn_json *j, struct attn_err *err)
{
    char name[NAME];
    struct attn_st_tensor t = {.dtype = "F32", .ndim = 2};
    if (j->token_len >= sizeof name || attn_st_count(c->st) == MATRICES_MAX)
        return broken(j, "at most 65536 matrices with short names", err);
    name[attn_json_string(j, name)] = '\0';
    if (attn_json_next(j) != ATTN_JSON_ARRAY)
        return broken(j, "a matrix, a list of rows of numbers", err);
    t.data = (const unsigned char *)j->text + j->start;
    int rc = measure(j, &t, err);
    t.count = t.shape[0] * t.shape[1];
    t.bytes = t.count * sizeof(float);
    return rc ? rc : attn_course_tensor(c, c->st, name, &t, err);
}

static int list_matrices(struct attn_course *c, struct attn_json *j, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (attn_json_next(j) != ATTN_JSON_OBJECT)
        return broken(j, "an object of matrices", err);
    while (!rc && attn_json_next(j) == ATTN_JSON_KEY)
        rc = list_matrix(c, j, err);
    return rc ? rc : j->failed ? attn_json_error(j, err) : ATTN_OK;
}

/* ---- what it is ------------------------------------------------------------------------ */

struct reading { cJSON *metadata, *top; };              /* top: what of it stands at the top */

/* Reads a value of settings as a tree. */
static int read_tree(cJSON **out, struct attn_json *j, struct attn_err *err)
{
    enum attn_json_event e = attn_json_next(j);
    size_t from = j->start;
    if (!attn_json_skip(j, e))
        return attn_json_error(j, err);
    return attn_tree_read_any(out, j->text + from, j->at - from, j->name, METADATA_MAX, err);
}

static int read_metadata(struct reading *r, struct attn_json *j, struct attn_err *err)
{
    if (r->metadata)
        return attn_json_next(j), broken(j, "an object, once", err);
    int rc = read_tree(&r->metadata, j, err);
    return rc || cJSON_IsObject(r->metadata) ? rc : broken(j, "an object, once", err);
}

/* What stands at the top beside matrices: a value of settings, or what is not read. */
static int read_further(struct reading *r, struct attn_json *j, struct attn_err *err)
{
    static const char *const settings[] = {"n_head", "uchars", "BOS"};
    cJSON *value = NULL;
    size_t i = 0;
    while (i < sizeof settings / sizeof *settings && !attn_json_is(j, settings[i]))
        i++;
    if (i == sizeof settings / sizeof *settings)
        return attn_json_skip(j, attn_json_next(j)) ? ATTN_OK : attn_json_error(j, err);
    if (!r->top && !(r->top = cJSON_CreateObject()))
        return attn_no_memory(err, j->name, "for its settings");
    int rc = read_tree(&value, j, err);
    if (!rc && !cJSON_AddItemToObject(r->top, settings[i], value)) {
        cJSON_Delete(value);
        rc = attn_no_memory(err, j->name, "for its settings");
    }
    return rc;
}

static bool is_matrix(const struct attn_json *j)
{
    const char *name = j->text + j->token;
    return attn_json_is(j, "wte") || attn_json_is(j, "wpe") || attn_json_is(j, "lm_head") ||
           (j->token_len > 5 && !memcmp(name, "layer", 5));
}

static int read_document(struct attn_course *c, struct reading *r, struct attn_err *err)
{
    struct attn_json j;
    int rc = ATTN_OK;
    start_at(c, &j, 0);
    if (attn_json_next(&j) != ATTN_JSON_OBJECT)
        return broken(&j, "an object", err);
    while (!rc && attn_json_next(&j) == ATTN_JSON_KEY)
        rc = attn_json_is(&j, "metadata") ? read_metadata(r, &j, err) :
             attn_json_is(&j, "weights") || attn_json_is(&j, "state_dict") ? list_matrices(c, &j, err) :
             is_matrix(&j) ? list_matrix(c, &j, err) : read_further(r, &j, err);
    return rc ? rc : attn_json_next(&j) == ATTN_JSON_DONE ? ATTN_OK : broken(&j, "nothing more", err);
}

static int read_sizes(struct attn_course *c, const struct reading *r, struct attn_err *err)
{
    const struct attn_st_tensor *wte = attn_st_find(c->st, "wte"), *wpe = attn_st_find(c->st, "wpe"),
        *fc1 = attn_st_find(c->st, "layer0.mlp_fc1");
    const cJSON *const settings[] = {r->metadata, r->top};
    char name[NAME];
    if (!wte || !wpe || !fc1)
        return attn_fail(err, ATTN_EFORMAT, "%s: %s, but there is no \"%s\", neither at its top nor in \"weights\" or "
                                            "\"state_dict\" there", c->path, what,
                         !wte ? "wte" : !wpe ? "wpe" : "layer0.mlp_fc1");
    c->V = wte->shape[0];
    c->d = wte->shape[1];
    c->ctx = wpe->shape[0];
    c->m = fc1->shape[0];
    do
        snprintf(name, sizeof name, "layer%zu.attn_wq", c->L);
    while (attn_st_find(c->st, name) && ++c->L);
    return attn_course_heads(c, what, settings, sizeof settings / sizeof *settings, err);
}

/* ---- the directory that it would have -------------------------------------------------- */

static int write_config(struct attn_course *c, long begin, struct attn_err *err)
{
    static const struct attn_fact facts[ATTN_AS_HEADS] = {
        [ATTN_AS_SCALE] = {.value = "head"}, [ATTN_AS_ACT] = {"relu", " relu relu2 ", false},
        [ATTN_AS_NORM] = {.value = "pre"}, [ATTN_AS_EMBED] = {.value = "plain"}};
    const char *value[ATTN_AS_HEADS];
    for (int key = 0; key < ATTN_AS_HEADS; key++)
        if (attn_as_settle(&value[key], &c->assumed, (enum attn_as_key)key, &facts[key], &c->as, c->path, what, err))
            return ATTN_EUSAGE;
    if (c->as.name)
        return attn_fail(err, ATTN_EUSAGE, "%s: %s, so it cannot be read as '%s'", c->path, what, c->as.name);
    char *text = NULL, end[32] = "null";
    if (begin >= 0)
        snprintf(end, sizeof end, "%ld", begin);
    int n = attn_asprintf(&text,
                          "{\"model_type\": \"attn-decoder\",\n \"vocab_size\": %zu, \"n_ctx\": %zu, \"n_layer\": %zu, "
                          "\"n_head\": %zu, \"d_model\": %zu, \"d_mlp\": %zu,\n \"position\": \"learned\", \"norm\": "
                          "\"rmsnorm\", \"norm_eps\": 1e-05, \"norm_weight\": false, \"norm_embed\": true, "
                          "\"final_norm\": false,\n \"mlp\": \"%s\", \"residual\": true, \"output_projection\": true, "
                          "\"unembed\": true, \"tied\": false, \"eos_token_id\": %s}\n", c->V, c->ctx, c->L, c->H, c->d,
                          c->m, value[ATTN_AS_ACT], end);
    return attn_course_add(c, "config.json", n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n, err);
}

/* Ids are places in "uchars", and after the last comes the token that begins and ends a text. */
static int write_tokens(struct attn_course *c, const struct reading *r, long *begin, struct attn_err *err)
{
    const cJSON *of = attn_tree_member(r->metadata, "uchars") ? r->metadata : r->top;
    const cJSON *chars = attn_tree_member(of, "uchars"), *bos = attn_tree_member(of, "BOS");
    size_t n = (size_t)cJSON_GetArraySize(chars);
    double id = -1;
    *begin = -1;
    if (!cJSON_IsArray(chars) || c->vocab)
        return attn_course_vocabulary(c, NULL, err);
    if (bos && (!attn_tree_whole(bos, 0, INT32_MAX, &id) || id != (double)n))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"BOS\" is %g, expected %zu, the id after those of \"uchars\"",
                         c->path, cJSON_IsNumber(bos) ? bos->valuedouble : -1, n);
    *begin = (long)id;
    return attn_course_characters(c, chars, c->path, *begin, err);
}

static int open_microgpt(struct attn_course *c, struct attn_err *err)
{
    struct reading r = {0};
    long begin;
    c->st = calloc(1, sizeof *c->st);
    int rc = c->st ? read_document(c, &r, err) : attn_no_memory(err, c->path, "for the list of its matrices");
    if (!rc)
        rc = read_sizes(c, &r, err);
    if (!rc)
        rc = write_tokens(c, &r, &begin, err);
    if (!rc)
        rc = write_config(c, begin, err);
    cJSON_Delete(r.metadata);
    cJSON_Delete(r.top);
    return rc;
}

/* ---- tensors --------------------------------------------------------------------------- */

static const struct { const char *from, *to; bool in, turned; } renamed[] = {
    {"wte", "embed", false, false}, {"wpe", "pos_embed", false, false}, {"lm_head", "unembed", false, true},
    {"attn_wq", "attn.q", true, true}, {"attn_wk", "attn.k", true, true}, {"attn_wv", "attn.v", true, true},
    {"attn_wo", "attn.o", true, true}, {"mlp_fc1", "mlp.in", true, true}, {"mlp_fc2", "mlp.out", true, true}};

/* Reads the numbers, so that element [r, k] is at to[r * row + k * column]. */
static int read_matrix(const struct attn_course *c, const struct attn_st_tensor *t, float *to, size_t row,
                       size_t column, struct attn_err *err)
{
    struct attn_json j;
    size_t n;
    start_at(c, &j, (size_t)(t->data - c->map.data));
    attn_json_next(&j);
    for (size_t r = 0; r < t->shape[0]; r++) {
        attn_json_next(&j);
        int rc = read_row(&j, &n, to + r * row, column, err);
        if (rc)
            return rc;
    }
    return ATTN_OK;
}

static int take_matrix(struct attn_course *c, struct attn_st *st, const char *name, const struct attn_st_tensor *t,
                       size_t i, const char *number, struct attn_err *err)
{
    bool turned = renamed[i].turned;
    size_t rows = t->shape[0], cols = t->shape[1];
    struct attn_st_tensor out = {.dtype = "F32", .ndim = 2, .shape = {turned ? cols : rows, turned ? rows : cols},
                                 .count = t->count, .bytes = t->bytes};
    char to[NAME * 2];
    float *x = attn_st_keep(st, t->bytes);
    if (!x)
        return attn_no_memory(err, c->path, "for matrix '%s'", name);
    out.data = (const unsigned char *)x;
    int rc = read_matrix(c, t, x, turned ? 1 : cols, turned ? rows : 1, err);
    if (renamed[i].in)
        snprintf(to, sizeof to, "blocks.%s.%s.weight", number, renamed[i].to);
    else
        snprintf(to, sizeof to, "%s.weight", renamed[i].to);
    return rc ? rc : attn_course_tensor(c, st, to, &out, err);
}

static int take_named(struct attn_course *c, struct attn_st *st, const struct attn_st_tensor *t, const char *name,
                      struct attn_err *err)
{
    size_t digits = strncmp(name, "layer", 5) ? 0 : strspn(name + 5, "0123456789");
    bool in = digits && digits < 10 && name[5 + digits] == '.';
    char number[16];
    snprintf(number, sizeof number, "%.*s", in ? (int)digits : 0, in ? name + 5 : "");
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (renamed[i].in == in && !strcmp(in ? name + 5 + digits + 1 : name, renamed[i].from))
            return take_matrix(c, st, name, t, i, number, err);
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, but matrix '%.*s' has no place in it",
                     c->path, what, attn_shown(name, strlen(name)), name);
}

static int fill(struct attn_course *c, struct attn_st *st, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < attn_st_count(c->st) && !rc; i++)
        rc = take_named(c, st, attn_st_at(c->st, i), attn_strings_at(&c->st->names, i, NULL), err);
    st->header = c->map.data;
    return rc;
}

static bool is_microgpt(const struct attn_map *m)
{
    static const char first[] = "\"layer0.attn_wq\"";
    size_t i = 0;
    while (i < m->len && strchr(" \t\r\n", m->data[i]) && m->data[i])
        i++;
    return i < m->len && m->data[i] == '{' && memmem(m->data, m->len, first, sizeof first - 1);
}

const struct attn_course_format attn_course_microgpt = {
    .what = what, .asks = true, .is = is_microgpt, .open = open_microgpt,
    .fill = fill};

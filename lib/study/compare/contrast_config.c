/* contrast_config.c - which fields of two configurations differ?
 *
 * Where both are of one "model_type", that is asked of the files, field by field; no field needs a meaning here.
 * Families spell the same size differently, so two of different families are compared by what was read, in the words of
 * our own format. */
#include "compare/contrast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "base/tree.h"
#include "model/family.h"

enum { VALUES_MAX = 1 << 16, NAME_MAX_BYTES = 1 << 12 };

/* The scalars of a document, and empty arrays and objects: where each is, and its value as JSON. */
struct flat {
    struct attn_strings name;
    const cJSON **value; size_t room;
    char path[NAME_MAX_BYTES];
};

static int no_memory(struct attn_err *err) { return attn_no_memory(err, NULL, "to compare two configurations"); }

static int add_value(struct flat *f, size_t len, const cJSON *v, struct attn_err *err)
{
    const cJSON **value = attn_grow(f->value, &f->room, f->name.n + 1, sizeof *value);
    if (!value)
        return no_memory(err);
    f->value = value;
    size_t at = attn_strings_add(&f->name, f->path, len);
    if (at == ATTN_STRINGS_NONE)
        return no_memory(err);
    value[at] = v;                      /* a name with dots in it may mean two places: the later one counts */
    return ATTN_OK;
}

/* Depth is bounded by the reader of the document, length by the room for a path: what is longer is cut. */
static int flatten(struct flat *f, size_t len, const cJSON *v, struct attn_err *err)
{
    const cJSON *child;
    size_t i = 0;
    int rc = ATTN_OK;
    if (!v->child)
        return add_value(f, len, v, err);
    cJSON_ArrayForEach(child, v) {
        size_t room = sizeof f->path - len;
        int n = cJSON_IsObject(v) ? snprintf(f->path + len, room, "%s%s", len ? "." : "", child->string)
                                  : snprintf(f->path + len, room, "[%zu]", i++);
        rc = flatten(f, len + ((size_t)n < room ? (size_t)n : room - 1), child, err);
        if (rc)
            return rc;
    }
    return rc;
}

static bool same_value(const cJSON *a, const cJSON *b)
{
    if (!a || !b || (a->type & 0xff) != (b->type & 0xff))
        return !a && !b;
    if (cJSON_IsNumber(a))
        return a->valuedouble == b->valuedouble;
    return !cJSON_IsString(a) || !strcmp(a->valuestring, b->valuestring);
}

/* Takes ownership of a and b, which may be NULL: not there. */
static int add_field(struct attn_contrast *c, const char *name, char *a, char *b, struct attn_err *err)
{
    struct attn_contrast_field *f = attn_grow(c->field, &c->field_room, c->result.fields + 1, sizeof *f);
    char *copy = strdup(name);
    if (f)
        c->field = f;
    if (!f || !copy) {
        free(copy);
        free(a);
        free(b);
        return no_memory(err);
    }
    f += c->result.fields++;
    f->name = copy;
    f->a = a;
    f->b = b;
    return ATTN_OK;
}

static int add_values(struct attn_contrast *c, const char *name, const cJSON *a, const cJSON *b, struct attn_err *err)
{
    char *x = a ? cJSON_PrintUnformatted(a) : NULL, *y = b ? cJSON_PrintUnformatted(b) : NULL;
    if ((a && !x) || (b && !y)) {
        free(x);
        free(y);
        return no_memory(err);
    }
    return add_field(c, name, x, y, err);
}

/* In the order of a, then what only b has. */
static int compare_flat(struct attn_contrast *c, const struct flat *a, const struct flat *b, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < a->name.n && !rc; i++) {
        size_t len, at;
        const char *name = attn_strings_at(&a->name, i, &len);
        at = attn_strings_find(&b->name, name, len);
        const cJSON *other = at == ATTN_STRINGS_NONE ? NULL : b->value[at];
        if (!same_value(a->value[i], other))
            rc = add_values(c, name, a->value[i], other, err);
    }
    for (size_t i = 0; i < b->name.n && !rc; i++) {
        size_t len;
        const char *name = attn_strings_at(&b->name, i, &len);
        if (attn_strings_find(&a->name, name, len) == ATTN_STRINGS_NONE)
            rc = add_values(c, name, NULL, b->value[i], err);
    }
    return rc;
}

static int compare_trees(struct attn_contrast *c, const cJSON *a, const cJSON *b, struct attn_err *err)
{
    struct flat *f = calloc(2, sizeof *f);
    if (!f)
        return no_memory(err);
    int rc = flatten(&f[0], 0, a, err);
    if (!rc)
        rc = flatten(&f[1], 0, b, err);
    if (!rc)
        rc = compare_flat(c, &f[0], &f[1], err);
    for (int i = 0; i < 2; i++) {
        attn_strings_free(&f[i].name);
        free(f[i].value);
    }
    free(f);
    return rc;
}

/* ---- in the words of our own format ---- */

/* Adds the field if the texts differ. */
static int note(struct attn_contrast *c, const char *name, const char *a, const char *b, struct attn_err *err)
{
    if (!strcmp(a, b))
        return ATTN_OK;
    char *x = strdup(a), *y = strdup(b);
    if (x && y)
        return add_field(c, name, x, y, err);
    free(x);
    free(y);
    return no_memory(err);
}

static int note_word(struct attn_contrast *c, const char *name, const char *a, const char *b, struct attn_err *err)
{
    char x[96], y[96];                  /* names of families and kinds, which need no escapes */
    snprintf(x, sizeof x, "\"%s\"", a);
    snprintf(y, sizeof y, "\"%s\"", b);
    return note(c, name, x, y, err);
}

static int note_number(struct attn_contrast *c, const char *name, double a, double b, struct attn_err *err)
{
    char x[ATTN_NUM_MAX + 1], y[ATTN_NUM_MAX + 1];
    x[attn_num_f64(x, a)] = '\0';
    y[attn_num_f64(y, b)] = '\0';
    return note(c, name, x, y, err);
}

static int compare_read(struct attn_contrast *c, const struct attn_config *a, const struct attn_config *b,
                        struct attn_err *err)
{
    const struct { const char *name; double a, b; } numbers[] = {
        {"vocab_size", (double)a->V, (double)b->V}, {"n_ctx", (double)a->n_ctx, (double)b->n_ctx},
        {"n_layer", (double)a->L, (double)b->L}, {"n_head", (double)a->H, (double)b->H},
        {"n_kv_head", (double)a->Hkv, (double)b->Hkv}, {"d_model", (double)a->d, (double)b->d},
        {"d_head", (double)a->dh, (double)b->dh}, {"d_value", (double)a->dv, (double)b->dv},
        {"d_mlp", (double)a->m, (double)b->m}, {"norm_eps", a->norm_eps, b->norm_eps},
        {"rotary numbers of a head", (double)a->rotary, (double)b->rotary},
        {"rope_theta", a->rope_theta, b->rope_theta},
        {"window", a->local ? (double)a->window : 0, b->local ? (double)b->window : 0}};
    const struct { const char *name, *a, *b; } words[] = {
        {"position", attn_position_name(a->position), attn_position_name(b->position)},
        {"norm", attn_norm_name(a->norm), attn_norm_name(b->norm)},
        {"mlp", attn_mlp_name(a->mlp), attn_mlp_name(b->mlp)}};
    const struct { const char *name; bool a, b; } truths[] = {
        {"causal", a->causal, b->causal}, {"residual", a->residual, b->residual},
        {"parallel", a->parallel, b->parallel}, {"norm_weight", !a->plain_norms, !b->plain_norms},
        {"norm_embed", a->norm_embed, b->norm_embed}, {"final_norm", !a->no_final, !b->no_final},
        {"bias", a->bias, b->bias}, {"tied", a->tied, b->tied}, {"unembed", a->unembed, b->unembed}};
    int rc = note_word(c, "model_type", a->family->name, b->family->name, err);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !rc; i++)
        rc = note_number(c, numbers[i].name, numbers[i].a, numbers[i].b, err);
    for (size_t i = 0; i < sizeof words / sizeof *words && !rc; i++)
        rc = note_word(c, words[i].name, words[i].a, words[i].b, err);
    for (size_t i = 0; i < sizeof truths / sizeof *truths && !rc; i++)
        rc = note(c, truths[i].name, truths[i].a ? "true" : "false", truths[i].b ? "true" : "false", err);
    return rc;
}

int attn_contrast_configs(struct attn_contrast *c, struct attn_err *err)
{
    const struct attn_contrast_side *a = &c->side[0], *b = &c->side[1];
    cJSON *x = NULL, *y = NULL;
    if (!a->map.data || !b->map.data)
        return ATTN_OK;
    c->result.translated = a->known && b->known && a->config.family != b->config.family;
    if (c->result.translated)
        return compare_read(c, &a->config, &b->config, err);
    int rc = attn_tree_read(&x, (const char *)a->map.data, a->map.len, a->path, VALUES_MAX, err);
    if (!rc)
        rc = attn_tree_read(&y, (const char *)b->map.data, b->map.len, b->path, VALUES_MAX, err);
    if (!rc)
        rc = compare_trees(c, x, y, err);
    cJSON_Delete(x);
    cJSON_Delete(y);
    return rc;
}

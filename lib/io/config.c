#include "io/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/out.h"
#include "io/config_check.h"
#include "io/near.h"
#include "io/strings.h"
#include "io/tree.h"

enum { VALUES_MAX = 4096 };

/* ---- the table ------------------------------------------------------------------------- */

enum type {
    FIXED,                              /* words[0], nothing else */
    SIZE, COUNT,                        /* size_t from 1, from 0 */
    REAL,                               /* double, not negative */
    CHOICE,                             /* an enum: the index of one of words */
    EITHER,                             /* bool: words[0] is false, words[1] true */
    FLAG,                               /* bool */
    TEXT, NAME,                         /* char *: "" is NULL; null is NULL, "" is refused */
    SECTION                             /* an object with keys of its own */
};

struct key {
    const char *name;
    enum type type;
    size_t at;                          /* offset of the field in struct attn_config */
    const char *const *words;
    const struct key *keys;             /* SECTION; ends with a row without a name */
};

static const char *const model_types[] = {"attn-decoder", NULL};
static const char *const positions[] = {"none", "learned", "rope", NULL};
static const char *const norms[] = {"none", "layernorm", "rmsnorm", NULL};
static const char *const mlps[] = {"none", "gelu", "gelu_new", "swiglu", NULL};
static const char *const masks[] = {"none", "causal", NULL};
static const char *const scales[] = {"none", "sqrt", NULL};
static const char *const tokenizers[] = {"word", "bpe", NULL};

#define FIELD(f) offsetof(struct attn_config, f)

static const struct key tokenizer_keys[] = {
    {"type", EITHER, FIELD(tokenizer.bpe), tokenizers, NULL},
    {"drop", TEXT, FIELD(tokenizer.drop), NULL, NULL},
    {"lowercase", FLAG, FIELD(tokenizer.lowercase), NULL, NULL},
    {"unknown", NAME, FIELD(tokenizer.unknown), NULL, NULL},
    {0}
};

static const struct key config_keys[] = {
    {"model_type", FIXED, 0, model_types, NULL},
    {"vocab_size", SIZE, FIELD(V), NULL, NULL},
    {"n_ctx", SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_layer", SIZE, FIELD(L), NULL, NULL},
    {"n_head", SIZE, FIELD(H), NULL, NULL},
    {"n_kv_head", SIZE, FIELD(Hkv), NULL, NULL},
    {"d_model", SIZE, FIELD(d), NULL, NULL},
    {"d_head", SIZE, FIELD(dh), NULL, NULL},
    {"d_value", SIZE, FIELD(dv), NULL, NULL},
    {"d_mlp", COUNT, FIELD(m), NULL, NULL},
    {"position", CHOICE, FIELD(position), positions, NULL},
    {"norm", CHOICE, FIELD(norm), norms, NULL},
    {"norm_eps", REAL, FIELD(norm_eps), NULL, NULL},
    {"mlp", CHOICE, FIELD(mlp), mlps, NULL},
    {"mask", EITHER, FIELD(causal), masks, NULL},
    {"scale", EITHER, FIELD(scale), scales, NULL},
    {"residual", FLAG, FIELD(residual), NULL, NULL},
    {"output_projection", FLAG, FIELD(output_projection), NULL, NULL},
    {"bias", FLAG, FIELD(bias), NULL, NULL},
    {"tied", FLAG, FIELD(tied), NULL, NULL},
    {"unembed", FLAG, FIELD(unembed), NULL, NULL},
    {"rope_theta", REAL, FIELD(rope_theta), NULL, NULL},
    {"tokenizer", SECTION, 0, NULL, tokenizer_keys},
    {0}
};

/* What an absent key means; sizes that are still 0 follow from others (config_check.c). */
static const struct attn_config defaults = {
    .norm_eps = 1e-5, .rope_theta = 10000, .causal = true, .scale = true, .tied = true
};

const char *attn_position_name(enum attn_position p)
{
    return positions[p];
}

const char *attn_norm_name(enum attn_norm_kind n)
{
    return norms[n];
}

const char *attn_mlp_name(enum attn_mlp_kind m)
{
    return mlps[m];
}

/* ---- reading --------------------------------------------------------------------------- */

struct reader {
    struct attn_config *c;
    const char *name, *section;         /* of the file; "" or "tokenizer." */
    struct attn_err *err;
};

static int unexpected(const struct reader *r, const struct key *k, const cJSON *v, const char *expected)
{
    char found[ATTN_TREE_SHOWN];
    return attn_fail(r->err, ATTN_EFORMAT, "%s: \"%s%s\" is %s, expected %s", r->name, r->section, k->name,
                     attn_tree_show(v, found), expected);
}

static const char size_from_1[] = "a whole number from 1 to 2147483647";

static int read_size(const struct reader *r, const struct key *k, const cJSON *v, void *field)
{
    double x;
    if (!attn_tree_whole(v, k->type == COUNT ? 0 : 1, INT32_MAX, &x))
        return unexpected(r, k, v, k->type == COUNT ? "a whole number from 0 to 2147483647" : size_from_1);
    *(size_t *)field = (size_t)x;
    return ATTN_OK;
}

static int read_real(const struct reader *r, const struct key *k, const cJSON *v, void *field)
{
    if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || v->valuedouble < 0)
        return unexpected(r, k, v, "a finite number that is not negative");
    *(double *)field = v->valuedouble;
    return ATTN_OK;
}

static int read_word(const struct reader *r, const struct key *k, const cJSON *v, unsigned *index)
{
    char expected[96] = "";
    for (unsigned i = 0; k->words[i]; i++) {
        if (cJSON_IsString(v) && strcmp(v->valuestring, k->words[i]) == 0) {
            *index = i;
            return ATTN_OK;
        }
        size_t n = strlen(expected);
        const char *lead = i == 0 ? "" : k->words[i + 1] ? ", " : " or ";
        snprintf(expected + n, sizeof expected - n, "%s\"%s\"", lead, k->words[i]);
    }
    return unexpected(r, k, v, expected);
}

static int read_text(const struct reader *r, const struct key *k, const cJSON *v, char **field)
{
    if (k->type == NAME && cJSON_IsNull(v))
        return ATTN_OK;
    if (!cJSON_IsString(v) || (k->type == NAME && !*v->valuestring))
        return unexpected(r, k, v, k->type == NAME ? "a token or null" : "a string");
    if (!*v->valuestring)
        return ATTN_OK;
    if (asprintf(field, "%s", v->valuestring) >= 0)                 /* strdup: gcc's analyzer loses track of it */
        return ATTN_OK;
    *field = NULL;
    return attn_fail(r->err, ATTN_ENOMEM, "%s: no memory for \"%s\"", r->name, k->name);
}

static int read_keys(const struct reader *r, const struct key *keys, const cJSON *object);

static int read_section(const struct reader *r, const struct key *k, const cJSON *v)
{
    struct reader inner = *r;
    if (!cJSON_IsObject(v))
        return unexpected(r, k, v, "an object");
    inner.section = "tokenizer.";
    return read_keys(&inner, k->keys, v);
}

static int read_value(const struct reader *r, const struct key *k, const cJSON *v)
{
    char *field = (char *)r->c + k->at;
    unsigned index = 0;
    int rc;
    switch (k->type) {
    case SIZE: case COUNT: return read_size(r, k, v, field);
    case REAL: return read_real(r, k, v, field);
    case TEXT: case NAME: return read_text(r, k, v, (char **)field);
    case SECTION: return read_section(r, k, v);
    case FLAG:
        if (!cJSON_IsBool(v))
            return unexpected(r, k, v, "true or false");
        *(bool *)field = cJSON_IsTrue(v);
        return ATTN_OK;
    case FIXED: case EITHER: case CHOICE:
        break;
    }
    rc = read_word(r, k, v, &index);
    if (k->type == EITHER)
        *(bool *)field = index == 1;
    if (k->type == CHOICE)
        memcpy(field, &index, sizeof index);                        /* each enum has its own type */
    return rc;
}
_Static_assert(sizeof(enum attn_position) == sizeof(unsigned) && sizeof(enum attn_norm_kind) == sizeof(unsigned)
               && sizeof(enum attn_mlp_kind) == sizeof(unsigned), "a CHOICE is stored as an unsigned");

static int unknown_key(const struct reader *r, const struct key *keys, const char *found)
{
    const struct key *nearest = NULL;
    unsigned best = ATTN_FAR;
    for (const struct key *k = keys; k->name; k++) {
        unsigned d = attn_near(found, strlen(found), k->name, strlen(k->name));
        if (d < best) {
            best = d;
            nearest = k;
        }
    }
    return attn_fail(r->err, ATTN_EFORMAT, "%s: unknown key \"%s%.*s\"%s%s%s%s", r->name, r->section,
                     attn_shown(found, strlen(found)), found, nearest ? ", did you mean \"" : "",
                     nearest ? r->section : "", nearest ? nearest->name : "", nearest ? "\"?" : "");
}

static int read_keys(const struct reader *r, const struct key *keys, const cJSON *object)
{
    const cJSON *v;
    int rc = ATTN_OK;
    cJSON_ArrayForEach(v, object) {
        const struct key *k = keys;
        while (k->name && strcmp(k->name, v->string) != 0)
            k++;
        rc = k->name ? read_value(r, k, v) : unknown_key(r, keys, v->string);
        if (rc)
            break;
    }
    return rc;
}

static const struct key *key_named(const char *name)
{
    const struct key *k = config_keys;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

static const cJSON *child_named(const cJSON *object, const char *name)
{
    const cJSON *v = object->child;
    while (v && strcmp(v->string, name) != 0)
        v = v->next;
    return v;
}

/* Before all else: of another kind of model every key would be wrong. */
static int read_model_type(const struct reader *r, const cJSON *root)
{
    const struct key *k = key_named("model_type");
    const cJSON *v = child_named(root, k->name);
    return v ? read_value(r, k, v) : attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"%s\", expected \"%s\"",
                                               r->name, k->name, k->words[0]);
}

static int require_sizes(const struct reader *r)
{
    static const char *const required[] = {"vocab_size", "n_ctx", "n_layer", "n_head", "d_model"};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const struct key *k = key_named(required[i]);
        if (*(size_t *)((char *)r->c + k->at) == 0)
            return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"%s\", expected %s", r->name, k->name,
                             size_from_1);
    }
    return ATTN_OK;
}

static int read_model(const struct reader *r, const cJSON *root)
{
    int rc = read_model_type(r, root);
    if (!rc)
        rc = read_keys(r, config_keys, root);
    if (!rc)
        rc = require_sizes(r);
    if (!rc)
        rc = attn_config_derive(r->c, r->name, r->err);
    return rc ? rc : attn_config_check(r->c, r->name, r->err);
}

static int read_tokenizer(const struct reader *r, const cJSON *root)
{
    const struct key *k = key_named("tokenizer");
    const cJSON *v = child_named(root, k->name);
    int rc = v ? read_value(r, k, v) : ATTN_OK;
    return rc ? rc : attn_config_check_tokenizer(r->c, r->name, r->err);
}

static int read_with(int (*part)(const struct reader *r, const cJSON *root), struct attn_config *out,
                     const char *text, size_t len, const char *name, struct attn_err *err)
{
    struct reader r = {.c = out, .name = name, .section = "", .err = err};
    cJSON *root = NULL;
    *out = defaults;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (!rc)
        rc = part(&r, root);
    cJSON_Delete(root);
    if (rc)
        attn_config_free(out);
    return rc;
}

int attn_config_read(struct attn_config *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    return read_with(read_model, out, text, len, name, err);
}

int attn_config_read_tokenizer(struct attn_config *out, const char *text, size_t len, const char *name,
                               struct attn_err *err)
{
    return read_with(read_tokenizer, out, text, len, name, err);
}

void attn_config_free(struct attn_config *c)
{
    free(c->tokenizer.drop);
    free(c->tokenizer.unknown);
    *c = (struct attn_config){0};
}

/* ---- writing --------------------------------------------------------------------------- */

static void put_real(struct attn_out *out, double x)
{
    char text[ATTN_NUM_MAX];
    attn_out_write(out, text, attn_num_f64(text, x));
}

static void put_text(struct attn_out *out, const char *s)
{
    attn_out_json(out, s, strlen(s));
}

static void put_keys(struct attn_out *out, const struct key *keys, const struct attn_config *c, int indent);

static void put_value(struct attn_out *out, const struct key *k, const struct attn_config *c, int indent)
{
    const char *field = (const char *)c + k->at, *text;
    unsigned index = 0;
    switch (k->type) {
    case FIXED: put_text(out, k->words[0]); break;
    case SIZE: case COUNT: attn_out_u64(out, *(const size_t *)(const void *)field); break;
    case REAL: put_real(out, *(const double *)(const void *)field); break;
    case CHOICE:
        memcpy(&index, field, sizeof index);
        put_text(out, k->words[index]);
        break;
    case EITHER: put_text(out, k->words[*(const bool *)field]); break;
    case FLAG: attn_out_str(out, *(const bool *)field ? "true" : "false"); break;
    case TEXT: case NAME:
        text = *(char *const *)(const void *)field;
        if (text || k->type == TEXT)
            put_text(out, text ? text : "");
        else
            attn_out_str(out, "null");
        break;
    case SECTION: put_keys(out, k->keys, c, indent + 2); break;
    }
}

static void put_keys(struct attn_out *out, const struct key *keys, const struct attn_config *c, int indent)
{
    for (const struct key *k = keys; k->name; k++) {
        attn_out_printf(out, "%s\n%*s\"%s\": ", k == keys ? "{" : ",", indent, "", k->name);
        put_value(out, k, c, indent);
    }
    attn_out_printf(out, "\n%*s}", indent - 2, "");
}

void attn_config_write(struct attn_out *out, const struct attn_config *c)
{
    put_keys(out, config_keys, c, 2);
    attn_out_char(out, '\n');
}

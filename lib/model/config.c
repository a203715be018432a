#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "model/config_check.h"
#include "model/family.h"

enum { VALUES_MAX = 4096 };

/* ---- the family ------------------------------------------------------------------------ */

static int unknown_family(const struct attn_key_reader *r, const cJSON *v)
{
    char expected[160] = "";
    for (size_t i = 0; attn_families[i]; i++) {
        size_t n = strlen(expected);
        const char *lead = i == 0 ? "" : attn_families[i + 1] ? ", " : " or ";
        snprintf(expected + n, sizeof expected - n, "%s\"%s\"", lead, attn_families[i]->name);
    }
    if (v)
        return attn_key_unexpected(r, "model_type", v, expected);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"model_type\", expected %s", r->name, expected);
}

static const struct attn_family *family_named(const cJSON *v)
{
    for (size_t i = 0; attn_families[i]; i++)
        if (cJSON_IsString(v) && strcmp(v->valuestring, attn_families[i]->name) == 0)
            return attn_families[i];
    return NULL;
}

static int require_keys(const struct attn_key_reader *r, const struct attn_config *c)
{
    for (const char *const *name = c->family->required; *name; name++) {
        const struct attn_key *k = attn_key_named(c->family->keys, *name);
        if (*(const size_t *)(const void *)((const char *)c + k->at) == 0)
            return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"%s\", expected %s", r->name, k->name,
                             attn_size_from_1);
    }
    return ATTN_OK;
}

/* ---- keys that are not scalars ---------------------------------------------------------- */

static int no_memory(const struct attn_key_reader *r)
{
    return attn_fail(r->err, ATTN_ENOMEM, "%s: no memory for the configuration", r->name);
}

static const char layer_kinds[] = "\"global\" or \"local\" for each layer";
static const char repeated_kinds[] = "lists of kinds and how often each repeats";

static int read_kind(const struct attn_key_reader *r, const cJSON *v, unsigned char *local)
{
    if (!cJSON_IsString(v) || (strcmp(v->valuestring, "local") && strcmp(v->valuestring, "global")))
        return attn_key_unexpected(r, "attention_layers", v, layer_kinds);
    *local = v->valuestring[0] == 'l';
    return ATTN_OK;
}

/* Reads a list such as ["global", "local", ...]. */
static int read_layers(const struct attn_key_reader *r, struct attn_config *c, const cJSON *list)
{
    const cJSON *v;
    size_t n = 0;
    int rc = ATTN_OK;
    if (!cJSON_IsArray(list))
        return attn_key_unexpected(r, "attention_layers", list, layer_kinds);
    cJSON_ArrayForEach(v, list) {
        if (n < c->L && !rc)
            rc = read_kind(r, v, &c->local[n]);
        n++;
    }
    if (rc || n == c->L)
        return rc;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: the attention layers are %zu, expected \"num_layers\" %zu", r->name, n, c->L);
}

/* Reads pairs such as [[["global", "local"], 2], ...]: a list of kinds and how often it repeats. */
static int read_types(const struct attn_key_reader *r, struct attn_config *c, const cJSON *types)
{
    const cJSON *type, *v;
    size_t n = 0;
    double times;
    if (!cJSON_IsArray(types))
        return attn_key_unexpected(r, "attention_types", types, repeated_kinds);
    cJSON_ArrayForEach(type, types) {
        const cJSON *list = cJSON_IsArray(type) ? type->child : NULL;
        if (!list || !cJSON_IsArray(list) || !list->next || !attn_tree_whole(list->next, 0, INT32_MAX, &times))
            return attn_key_unexpected(r, "attention_types", type, repeated_kinds);
        size_t each = (size_t)cJSON_GetArraySize(list), at = n;
        n += each * (size_t)times;
        for (v = list->child; at < n && at < c->L; at++, v = v->next ? v->next : list->child) {
            int rc = read_kind(r, v, &c->local[at]);
            if (rc)
                return rc;
        }
    }
    if (n == c->L)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: \"attention_types\" describes %zu layers, expected \"num_layers\" %zu", r->name,
                     n, c->L);
}

/* Finds the layers with a local window: every other one unless the file says otherwise. */
static int read_local(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    enum { LAYERS_MAX = 1 << 20 };
    const cJSON *layers = attn_tree_member(root, "attention_layers"), *types = attn_tree_member(root, "attention_types");
    if (c->window == 0)
        return ATTN_OK;
    if (c->L > LAYERS_MAX)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"num_layers\" is %zu, expected at most %d", r->name, c->L, LAYERS_MAX);
    c->local = calloc(c->L, 1);
    if (!c->local)
        return no_memory(r);
    if (layers && !cJSON_IsNull(layers))
        return read_layers(r, c, layers);
    if (types && !cJSON_IsNull(types))
        return read_types(r, c, types);
    for (size_t i = 1; i < c->L; i += 2)
        c->local[i] = 1;
    return ATTN_OK;
}

/* Reads a number or a list of them.  If some do not fit, a generated text only gets longer. */
static void read_eos(struct attn_config *c, const cJSON *v)
{
    double id;
    const cJSON *at = cJSON_IsArray(v) ? v->child : v;
    for (; at && c->n_eos < sizeof c->eos / sizeof *c->eos; at = cJSON_IsArray(v) ? at->next : NULL)
        if (attn_tree_whole(at, 0, INT32_MAX, &id))
            c->eos[c->n_eos++] = (int32_t)id;
}

/* ---- reading --------------------------------------------------------------------------- */

/* Reads the family first: it determines the meaning of every other key. */
static int read_model(struct attn_key_reader *r, const cJSON *root)
{
    struct attn_config *c = r->to;
    const cJSON *type = attn_tree_member(root, "model_type");
    const struct attn_family *family = family_named(type);
    if (!family)
        return unknown_family(r, type);
    *c = *family->defaults;
    c->family = family;
    r->lax = r->none = !family->ours;
    int rc = attn_keys_read(r, family->keys, root);
    if (!rc)
        rc = require_keys(r, c);
    if (!rc)
        rc = read_local(r, c, root);
    if (!rc && r->lax)
        read_eos(c, attn_tree_member(root, "eos_token_id"));
    else if (!rc && c->end > 0)
        c->eos[c->n_eos++] = (int32_t)c->end;
    if (!rc)
        rc = attn_config_derive(c, r->name, r->err);
    return rc ? rc : attn_config_check(c, r->name, r->err);
}

/* Reads the native section; the tokenizers of other families have files of their own. */
static int read_tokenizer(struct attn_key_reader *r, const cJSON *root)
{
    struct attn_config *c = r->to;
    const struct attn_key *k = attn_key_named(attn_families[0]->keys, "tokenizer");
    const cJSON *v = attn_tree_member(root, k->name);
    int rc = v ? attn_key_read(r, k, v) : ATTN_OK;
    return rc ? rc : attn_config_check_tokenizer(c, r->name, r->err);
}

static int read_with(int (*part)(struct attn_key_reader *r, const cJSON *root), struct attn_config *out,
                     const char *text, size_t len, const char *name, struct attn_err *err)
{
    struct attn_key_reader r = {.to = out, .name = name, .section = "", .err = err};
    cJSON *root = NULL;
    *out = *attn_families[0]->defaults;
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
    free(c->local);
    free(c->tokenizer.drop);
    free(c->tokenizer.unknown);
    *c = (struct attn_config){0};
}

void attn_config_write(struct attn_out *out, const struct attn_config *c)
{
    attn_keys_write(out, attn_families[0]->keys, c, 2);
    attn_out_char(out, '\n');
}

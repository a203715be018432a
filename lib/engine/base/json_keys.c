#include "base/json_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "base/out.h"
#include "base/strings.h"

const char attn_size_from_1[] = "a whole number from 1 to 2147483647";

/* ---- looking up ------------------------------------------------------------------------ */

const struct attn_key *attn_key_named(const struct attn_key *keys, const char *name)
{
    const struct attn_key *k = keys;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

const char *attn_key_at(const struct attn_key *keys, size_t at)
{
    const char *name = "";
    for (const struct attn_key *k = keys; k->name; k++)
        if (k->at == at && k->type >= ATTN_KEY_SIZE && k->type <= ATTN_KEY_ABOVE)
            name = k->name;             /* the last row is the spelling we write */
    return name;
}

const char *attn_word_of(const struct attn_word *words, unsigned value)
{
    const struct attn_word *w = words;
    while (w->value != value)
        w++;
    return w->word;
}

/* ---- reading --------------------------------------------------------------------------- */

int attn_key_unexpected(const struct attn_key_reader *r, const char *key, const cJSON *v, const char *expected)
{
    char found[ATTN_TREE_SHOWN];
    return attn_fail(r->err, ATTN_EFORMAT, "%s: \"%s%s\" is %s, expected %s", r->name, r->section, key,
                     attn_tree_show(v, found), expected);
}

static int unexpected(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, const char *expected)
{
    return attn_key_unexpected(r, k->name, v, expected);
}

static int read_size(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, void *field)
{
    double x;
    bool from_0 = k->type == ATTN_KEY_COUNT || k->type == ATTN_KEY_ID;
    *(size_t *)field = 0;
    if ((k->type == ATTN_KEY_MAYBE || k->type == ATTN_KEY_ID) && cJSON_IsNull(v))
        return ATTN_OK;
    if (!attn_tree_whole(v, from_0 ? 0 : 1, INT32_MAX, &x))
        return unexpected(r, k, v, from_0 ? "a whole number from 0 to 2147483647" : attn_size_from_1);
    *(size_t *)field = (size_t)x + (k->type == ATTN_KEY_ID);
    return ATTN_OK;
}

static int read_real(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, void *field)
{
    if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || v->valuedouble < 0)
        return unexpected(r, k, v, "a finite number that is not negative");
    *(double *)field = v->valuedouble;
    return ATTN_OK;
}

static int read_above(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, double *field)
{
    if (!cJSON_IsNull(v) && (!cJSON_IsNumber(v) || !isfinite((float)v->valuedouble) || !((float)v->valuedouble > 0)))
        return unexpected(r, k, v, "a finite number above 0, or null");         /* as float32, too */
    *field = cJSON_IsNull(v) ? 0 : v->valuedouble;
    return ATTN_OK;
}

static int read_reals(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v,
                      struct attn_reals *field)
{
    const cJSON *item;
    if (!cJSON_IsArray(v))
        return unexpected(r, k, v, "a list of numbers");
    free(field->x);                     /* a key may come twice, in two spellings */
    *field = (struct attn_reals){.x = calloc((size_t)cJSON_GetArraySize(v) + 1, sizeof *field->x)};
    if (!field->x)
        return attn_no_memory(r->err, r->name, "for \"%s\"", k->name);
    cJSON_ArrayForEach(item, v) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble <= 0)
            return unexpected(r, k, item, "a list of finite numbers above 0");
        field->x[field->n++] = item->valuedouble;
    }
    return ATTN_OK;
}

static int read_word(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, unsigned *value)
{
    char expected[128] = "";
    for (const struct attn_word *w = k->words; w->word; w++) {
        if (cJSON_IsString(v) && strcmp(v->valuestring, w->word) == 0) {
            *value = w->value;
            return ATTN_OK;
        }
        size_t n = strlen(expected);
        const char *lead = w == k->words ? "" : w[1].word ? ", " : " or ";
        snprintf(expected + n, sizeof expected - n, "%s\"%s\"", lead, w->word);
    }
    return unexpected(r, k, v, expected);
}

static int read_text(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v, char **field)
{
    if (k->type == ATTN_KEY_NAME && cJSON_IsNull(v))
        return ATTN_OK;
    if (!cJSON_IsString(v) || (k->type == ATTN_KEY_NAME && !*v->valuestring))
        return unexpected(r, k, v, k->type == ATTN_KEY_NAME ? "a text or null" : "a string");
    if (!*v->valuestring)
        return ATTN_OK;
    free(*field);                       /* may be set by a file read before */
    *field = strdup(v->valuestring);
    return *field ? ATTN_OK : attn_no_memory(r->err, r->name, "for \"%s\"", k->name);
}

static int read_section(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    char section[64];
    struct attn_key_reader inner = *r;
    if (!cJSON_IsObject(v))
        return unexpected(r, k, v, "an object");
    snprintf(section, sizeof section, "%s%s.", r->section, k->name);
    inner.section = section;
    inner.lax = false;
    return attn_keys_read(&inner, k->keys, v);
}

static int read_off(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    if (cJSON_IsFalse(v) || cJSON_IsNull(v) || (cJSON_IsObject(v) && !v->child))
        return ATTN_OK;
    return unexpected(r, k, v, "it not to be there: this cannot be computed here");
}

static int read_on(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    return cJSON_IsTrue(v) ||
           cJSON_IsNull(v) ? ATTN_OK : unexpected(r, k, v, "true: its absence cannot be computed here");
}

static int read_one(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    if (cJSON_IsNull(v) || (cJSON_IsNumber(v) && v->valuedouble == 1))
        return ATTN_OK;
    return unexpected(r, k, v, "1: another cannot be computed here");
}

static int read_all(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    const char *word = k->words[0].word;
    const cJSON *item;
    char expected[64];
    snprintf(expected, sizeof expected, "a list of nothing but \"%s\"", word);
    if (!cJSON_IsArray(v))
        return cJSON_IsNull(v) ? ATTN_OK : unexpected(r, k, v, expected);
    cJSON_ArrayForEach(item, v)
        if (!cJSON_IsString(item) || strcmp(item->valuestring, word) != 0)
            return unexpected(r, k, item, expected);
    return ATTN_OK;
}

/* Handles null as Python's None. */
static int read_none(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    if (k->type == ATTN_KEY_SIZE)
        return unexpected(r, k, v, attn_size_from_1);
    if (k->type == ATTN_KEY_FLAG)
        *(bool *)(void *)((char *)r->to + k->at) = false;
    return ATTN_OK;
}

int attn_key_read(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v)
{
    char *field = (char *)r->to + k->at;
    unsigned value = 0;
    int rc;
    if (r->none && cJSON_IsNull(v) && k->type != ATTN_KEY_MAYBE && k->type != ATTN_KEY_ID && k->type != ATTN_KEY_ABOVE)
        return read_none(r, k, v);
    switch (k->type) {
    case ATTN_KEY_SIZE: case ATTN_KEY_COUNT: case ATTN_KEY_MAYBE: case ATTN_KEY_ID: return read_size(r, k, v, field);
    case ATTN_KEY_REAL: return read_real(r, k, v, field);
    case ATTN_KEY_ABOVE: return read_above(r, k, v, (double *)(void *)field);
    case ATTN_KEY_REALS: return read_reals(r, k, v, (struct attn_reals *)(void *)field);
    case ATTN_KEY_TEXT: case ATTN_KEY_NAME: return read_text(r, k, v, (char **)field);
    case ATTN_KEY_SECTION: return read_section(r, k, v);
    case ATTN_KEY_OFF: return read_off(r, k, v);
    case ATTN_KEY_ON: return read_on(r, k, v);
    case ATTN_KEY_ONE: return read_one(r, k, v);
    case ATTN_KEY_ALL: return read_all(r, k, v);
    case ATTN_KEY_FLAG: case ATTN_KEY_WHERE: case ATTN_KEY_UNLESS:
        if (!cJSON_IsBool(v))
            return unexpected(r, k, v, "true or false");
        *(bool *)field = cJSON_IsTrue(v) == (k->type != ATTN_KEY_UNLESS);
        return ATTN_OK;
    case ATTN_KEY_FIXED: case ATTN_KEY_EITHER: case ATTN_KEY_CHOICE:
        break;
    }
    rc = read_word(r, k, v, &value);
    if (!rc && k->type == ATTN_KEY_EITHER)
        *(bool *)field = value == 1;
    if (!rc && k->type == ATTN_KEY_CHOICE)
        memcpy(field, &value, sizeof value);                        /* each enum is a type of its own */
    return rc;
}

static int unknown_key(const struct attn_key_reader *r, const struct attn_key *keys, const char *found)
{
    const struct attn_key *nearest = NULL;
    unsigned best = ATTN_FAR;
    struct attn_near near;
    attn_near_start(&near, found, strlen(found));
    for (const struct attn_key *k = keys; k->name; k++) {
        unsigned d = attn_near(&near, k->name, strlen(k->name), best);
        if (d < best) {
            best = d;
            nearest = k;
        }
    }
    return attn_fail(r->err, ATTN_EFORMAT, "%s: unknown key \"%s%.*s\"%s%s%s%s", r->name, r->section,
                     attn_shown(found, strlen(found)), found, nearest ? ", did you mean \"" : "",
                     nearest ? r->section : "", nearest ? nearest->name : "", nearest ? "\"?" : "");
}

static int find_unknown(const struct attn_key_reader *r, const struct attn_key *keys, const cJSON *object)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, object) {
        const struct attn_key *k = keys;
        while (k->name && strcmp(k->name, v->string) != 0)
            k++;
        if (!k->name)
            return unknown_key(r, keys, v->string);
    }
    return ATTN_OK;
}

int attn_keys_read(const struct attn_key_reader *r, const struct attn_key *keys, const cJSON *object)
{
    for (const struct attn_key *k = keys; k->name; k++) {
        const cJSON *v = attn_tree_member(object, k->name);
        int rc = v ? attn_key_read(r, k, v) : ATTN_OK;
        if (rc)
            return rc;
    }
    return r->lax ? ATTN_OK : find_unknown(r, keys, object);
}

/* ---- writing --------------------------------------------------------------------------- */

static void put_text(struct attn_out *out, const char *s)
{
    attn_out_json(out, s, strlen(s));
}

static void put_value(struct attn_out *out, const struct attn_key *k, const void *from, int indent)
{
    const char *field = (const char *)from + k->at, *text;
    unsigned value = 0;
    switch (k->type) {
    case ATTN_KEY_FIXED: put_text(out, k->words[0].word); break;
    case ATTN_KEY_SIZE: case ATTN_KEY_COUNT: case ATTN_KEY_MAYBE: attn_out_u64(out,
                                                                               *(const size_t *)(const void *)field);
                                                                                   break;
    case ATTN_KEY_ID: attn_out_u64(out, *(const size_t *)(const void *)field - 1); break;
    case ATTN_KEY_REAL: case ATTN_KEY_ABOVE: attn_out_f64(out, *(const double *)(const void *)field); break;
    case ATTN_KEY_CHOICE:
        memcpy(&value, field, sizeof value);
        put_text(out, attn_word_of(k->words, value));
        break;
    case ATTN_KEY_EITHER: put_text(out, attn_word_of(k->words, *(const bool *)field)); break;
    case ATTN_KEY_FLAG: case ATTN_KEY_WHERE: case ATTN_KEY_UNLESS:
        attn_out_str(out, *(const bool *)field == (k->type != ATTN_KEY_UNLESS) ? "true" : "false");
        break;
    case ATTN_KEY_TEXT: case ATTN_KEY_NAME:
        text = *(char *const *)(const void *)field;
        if (text || k->type == ATTN_KEY_TEXT)
            put_text(out, text ? text : "");
        else
            attn_out_str(out, "null");
        break;
    case ATTN_KEY_SECTION: attn_keys_write(out, k->keys, from, indent + 2); break;
    case ATTN_KEY_OFF: case ATTN_KEY_ON: case ATTN_KEY_ONE: case ATTN_KEY_ALL: case ATTN_KEY_REALS: attn_out_str(out,
        "null"); break;
    }
}

/* Whether a key says nothing that its absence does not. */
static bool is_left_out(const struct attn_key *k, const void *field)
{
    if (k->type == ATTN_KEY_WHERE || k->type == ATTN_KEY_UNLESS)
        return !*(const bool *)field;
    return (k->type == ATTN_KEY_MAYBE || k->type == ATTN_KEY_ID) && *(const size_t *)field == 0;
}

void attn_keys_write(struct attn_out *out, const struct attn_key *keys, const void *from, int indent)
{
    for (const struct attn_key *k = keys; k->name; k++) {
        if (is_left_out(k, (const char *)from + k->at))
            continue;
        attn_out_printf(out, "%s\n%*s\"%s\": ", k == keys ? "{" : ",", indent, "", k->name);
        put_value(out, k, from, indent);
    }
    attn_out_printf(out, "\n%*s}", indent - 2, "");
}

/* tokenizer_steps.c - the components of a tokenizer.json around its model: what they have in common, and the last of
 * them.
 *
 * Each is null or an object with a "type"; a "Sequence" contains several.  A post_processor says which tokens are put
 * around a text: TemplateProcessing (by "single"), RobertaProcessing and BertProcessing; ByteLevel is about offsets,
 * which are exact here. */
#include "text/subword.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

/* ---- common to all --------------------------------------------------------------------- */

int attn_steps_refuse(struct attn_steps *s, const char *what)
{
    return attn_fail(s->err, ATTN_EFORMAT, "%s: %s is not supported; token ids can be given with --ids", s->name, what);
}

bool attn_steps_is_one(const char *text)
{
    size_t step = 0, len = strlen(text);
    if (len > 0)
        attn_utf8_next(text, len, &step);
    return len > 0 && step == len;
}

int attn_steps_regex(struct attn_steps *s, struct attn_regex **out, const char *pattern)
{
    const char *why;
    size_t at, len = strlen(pattern);
    int rc = attn_regex_read(out, pattern, &why, &at);
    if (rc == ATTN_ENOMEM)
        return attn_no_memory(s->err, s->name, "for a pattern");
    if (!rc)
        return ATTN_OK;
    return attn_fail(s->err, ATTN_EFORMAT,
                     "%s: %s, at byte %zu of the pattern %.*s, is not supported; token ids can be given with --ids",
                     s->name, why, at, attn_shown(pattern, len), pattern);
}

int attn_steps_keys(struct attn_steps *s, const cJSON *v, const char *const *known)
{
    char found[ATTN_TREE_SHOWN];
    const cJSON *m;
    if (!cJSON_IsObject(v))             /* what is in an array has no key */
        return attn_fail(s->err, ATTN_EFORMAT, "%s: one of them is %s, expected an object; token ids can be given with "
                                               "--ids",
                         s->name, attn_tree_show(v, found));
    cJSON_ArrayForEach(m, v) {
        const char *const *k = known;
        while (*k && strcmp(*k, m->string) != 0)
            k++;
        if (!*k)
            return attn_fail(s->err, ATTN_EFORMAT,
                             "%s: unknown key \"%.*s\"; token ids can be given with --ids", s->name,
                             attn_shown(m->string, strlen(m->string)), m->string);
    }
    return ATTN_OK;
}

int attn_steps_flag(struct attn_steps *s, const cJSON *v, const char *key, bool otherwise, bool *out)
{
    char found[ATTN_TREE_SHOWN];
    const cJSON *m = attn_tree_member(v, key);
    *out = m ? cJSON_IsTrue(m) : otherwise;
    if (!m || cJSON_IsBool(m))
        return ATTN_OK;
    return attn_fail(s->err, ATTN_EFORMAT, "%s: \"%s\" is %s, expected true or false", s->name, key,
                     attn_tree_show(m, found));
}

const char *attn_steps_text(const cJSON *v, const char *key)
{
    const cJSON *m = attn_tree_member(v, key);
    return m && cJSON_IsString(m) ? m->valuestring : "";
}

static bool has_type(const cJSON *v, const char *type)
{
    return strcmp(attn_steps_text(v, "type"), type) == 0;
}

static int refuse_type(struct attn_steps *s, const cJSON *v)
{
    char what[ATTN_TREE_SHOWN];
    const cJSON *type = attn_tree_member(v, "type");
    return attn_steps_refuse(s, attn_tree_show(type ? type : v, what));
}

/* Longer strings are in no file, but would let a small text become an endless one. */
int attn_steps_copy(struct attn_steps *s, char **out, size_t *len, const char *text)
{
    if (strlen(text) > ATTN_STRING_LONGEST)
        return attn_steps_refuse(s, "a string of more than 64 bytes");
    *out = strdup(text);
    if (len)
        *len = strlen(text);
    return *out ? ATTN_OK : attn_no_memory(s->err, s->name, "for a string");
}

int attn_steps_string(struct attn_steps *s, const cJSON *v, const char *key, const char **out)
{
    char found[ATTN_TREE_SHOWN];
    const cJSON *m = attn_tree_member(v, key);
    *out = m && cJSON_IsString(m) ? m->valuestring : NULL;
    if (*out)
        return ATTN_OK;
    return attn_fail(s->err, ATTN_EFORMAT,
                     "%s: \"%s\" is %s, expected a string", s->name, key, m ? attn_tree_show(m, found) : "not there");
}

int attn_steps_too_many(struct attn_steps *s)
{
    return attn_steps_refuse(s, "a Sequence of so many steps");
}

static int take_each(struct attn_steps *s, const struct attn_component *c, const cJSON *v)
{
    const char *const keys[] = {"type", c->list, NULL};
    const cJSON *items = attn_tree_member(v, c->list), *item;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc && !cJSON_IsArray(items))
        rc = attn_fail(s->err, ATTN_EFORMAT, "%s: a Sequence has no array \"%s\"", s->name, c->list);
    cJSON_ArrayForEach(item, items) {
        if (rc)
            break;
        rc = attn_steps_take(s, c, item);
    }
    return rc;
}

int attn_steps_take(struct attn_steps *s, const struct attn_component *c, const cJSON *v)
{
    if (cJSON_IsNull(v))
        return ATTN_OK;
    if (has_type(v, "Sequence"))
        return take_each(s, c, v);
    for (size_t i = 0; i < c->rows; i++)
        if (has_type(v, c->row[i].type))
            return c->row[i].take(s, v);
    return refuse_type(s, v);
}

/* ---- post_processor -------------------------------------------------------------------- */

static int add_around(struct attn_steps *s, struct attn_around *a, const cJSON *id)
{
    double x;
    if (!attn_tree_whole(id, 0, ATTN_VOCAB_ID_MAX, &x) || attn_vocab_rank(s->b->rules.vocab, (int32_t)x) == SIZE_MAX)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: a template has an id that is no token's", s->name);
    if (a->n == ATTN_AROUND_MAX)
        return attn_steps_refuse(s, "a template with so many tokens");
    a->id[a->n++] = (int32_t)x;
    return ATTN_OK;
}

/* Adds the ids that "special_tokens" lists for a name. */
static int take_special(struct attn_steps *s, const cJSON *v, const char *name, struct attn_around *a)
{
    const cJSON *ids = attn_tree_member(attn_tree_member(attn_tree_member(v, "special_tokens"), name), "ids"), *id;
    if (!cJSON_IsArray(ids) || !ids->child)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: \"special_tokens\" has no ids for '%.*s'", s->name,
                         attn_shown(name, strlen(name)), name);
    cJSON_ArrayForEach(id, ids) {
        int rc = add_around(s, a, id);
        if (rc)
            return rc;
    }
    return ATTN_OK;
}

static int take_template(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "single", "pair", "special_tokens", NULL};
    struct attn_subword *b = s->b;
    const cJSON *item;
    size_t texts = 0;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc && b->templated)
        return attn_steps_refuse(s, "more than one template");
    cJSON_ArrayForEach(item, attn_tree_member(v, "single")) {
        const cJSON *special = attn_tree_member(item, "SpecialToken");
        if (!rc && special)
            rc = take_special(s, v, attn_steps_text(special, "id"), texts > 0 ? &b->after : &b->before);
        else if (!rc && strcmp(attn_steps_text(attn_tree_member(item, "Sequence"), "id"), "A") == 0)
            texts++;
        else if (!rc)
            rc = attn_steps_refuse(s, "such an item in \"single\"");
    }
    if (!rc && texts != 1)
        rc = attn_steps_refuse(s, "a template in which the text is not there once");
    b->templated = true;
    if (!rc && b->before.n > 0)
        b->bos = b->before.id[0];
    return rc;
}

/* "cls" and "sep" are each a text and an id. */
static int take_pair(struct attn_steps *s, const cJSON *v, const char *key, struct attn_around *a)
{
    const cJSON *pair = attn_tree_member(v, key);
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: \"%s\" is no array of a text and an id", s->name, key);
    return add_around(s, a, cJSON_GetArrayItem(pair, 1));
}

static int take_cls_and_sep(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "cls", "sep", "trim_offsets", "add_prefix_space", NULL};
    struct attn_subword *b = s->b;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc && b->templated)
        return attn_steps_refuse(s, "more than one template");
    if (rc || (rc = take_pair(s, v, "cls", &b->before)) || (rc = take_pair(s, v, "sep", &b->after)))
        return rc;
    b->templated = true;
    b->bos = b->before.id[0];
    return ATTN_OK;
}

static int take_offsets(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    return attn_steps_keys(s, v, keys);
}

int attn_steps_post_processor(struct attn_steps *s, const cJSON *v)
{
    static const struct attn_component_row rows[] = {
        {"TemplateProcessing", take_template}, {"RobertaProcessing", take_cls_and_sep},
        {"BertProcessing", take_cls_and_sep},
        {"ByteLevel", take_offsets}};
    return attn_steps_take(s, &(struct attn_component){"processors", rows, sizeof rows / sizeof *rows}, v);
}

/* tokenizer_steps.c - the components of a tokenizer.json around its model.
 *
 * Each is null or an object with a "type"; a "Sequence" contains several.
 *     normalizer      NFC
 *     pre_tokenizer   Split by one of the patterns of pretoken.h (Isolated, not inverted), Digits, and
 *                     last ByteLevel, which may put a space in front and cut as GPT-2 does
 *     decoder         ByteLevel
 *     post_processor  ByteLevel (about offsets, which are exact here), TemplateProcessing: the tokens
 *                     around the text, by "single" */
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

int attn_steps_keys(struct attn_steps *s, const cJSON *v, const char *const *known)
{
    char found[ATTN_TREE_SHOWN];
    const cJSON *m;
    if (!cJSON_IsObject(v))             /* what is in an array has no key */
        return attn_fail(s->err, ATTN_EFORMAT, "%s: one of them is %s, expected an object; token ids can be given with --ids",
                         s->name, attn_tree_show(v, found));
    cJSON_ArrayForEach(m, v) {
        const char *const *k = known;
        while (*k && strcmp(*k, m->string) != 0)
            k++;
        if (!*k)
            return attn_fail(s->err, ATTN_EFORMAT, "%s: unknown key \"%.*s\"; token ids can be given with --ids", s->name,
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

static const char *text_of(const cJSON *v, const char *key)
{
    const cJSON *m = attn_tree_member(v, key);
    return m && cJSON_IsString(m) ? m->valuestring : "";
}

static bool has_type(const cJSON *v, const char *type)
{
    return strcmp(text_of(v, "type"), type) == 0;
}

static int refuse_type(struct attn_steps *s, const cJSON *v)
{
    char what[ATTN_TREE_SHOWN];
    const cJSON *type = attn_tree_member(v, "type");
    return attn_steps_refuse(s, attn_tree_show(type ? type : v, what));
}

/* A component: the steps it may have, and where a Sequence of them is. */
struct component {
    const char *list;                   /* NULL: there are no Sequences */
    bool optional;                      /* null is no step */
    struct { const char *type; int (*take)(struct attn_steps *s, const cJSON *v); } step[4];
};

static int take(struct attn_steps *s, const struct component *c, const cJSON *v);

static int take_each(struct attn_steps *s, const struct component *c, const cJSON *v)
{
    const char *const keys[] = {"type", c->list, NULL};
    const cJSON *items = attn_tree_member(v, c->list), *item;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc && !cJSON_IsArray(items))
        rc = attn_fail(s->err, ATTN_EFORMAT, "%s: a Sequence has no array \"%s\"", s->name, c->list);
    cJSON_ArrayForEach(item, items) {
        if (rc)
            break;
        rc = take(s, c, item);
    }
    return rc;
}

static int take(struct attn_steps *s, const struct component *c, const cJSON *v)
{
    if (c->optional && cJSON_IsNull(v))
        return ATTN_OK;
    if (c->list && has_type(v, "Sequence"))
        return take_each(s, c, v);
    if (s->byte_level && !cJSON_IsNull(v))
        return attn_steps_refuse(s, "a step after \"ByteLevel\"");
    for (size_t i = 0; c->step[i].type; i++)
        if (has_type(v, c->step[i].type))
            return c->step[i].take(s, v);
    return refuse_type(s, v);
}

static const char *const byte_level_keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};

/* ByteLevel of a decoder or post_processor, which changes nothing. */
static int take_known(struct attn_steps *s, const cJSON *v)
{
    return attn_steps_keys(s, v, byte_level_keys);
}

/* ---- normalizer ------------------------------------------------------------------------ */

static int take_nfc(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", NULL};
    s->b->nfc = true;
    return attn_steps_keys(s, v, keys);
}

/* ---- pre_tokenizer --------------------------------------------------------------------- */

static int add_cut(struct attn_steps *s, enum attn_pretoken cut)
{
    struct attn_subword *b = s->b;
    if (b->cuts == ATTN_CUTS_MAX)
        return attn_steps_refuse(s, "a Sequence of so many steps");
    b->cut[b->cuts++] = cut;
    return ATTN_OK;
}

static int take_split(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "pattern", "behavior", "invert", NULL};
    const char *pattern = text_of(attn_tree_member(v, "pattern"), "Regex");
    bool invert;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc)
        rc = attn_steps_flag(s, v, "invert", false, &invert);
    if (rc)
        return rc;
    if (invert || strcmp(text_of(v, "behavior"), "Isolated") != 0)
        return attn_steps_refuse(s, "\"Split\" that is not \"Isolated\", or inverted,");
    enum attn_pretoken cut = attn_pretoken_of(pattern);
    if (cut == ATTN_PRETOKENS)
        return attn_steps_refuse(s, "\"Split\" by a pattern that is not GPT-2's, Llama 3's or Qwen 2's");
    return add_cut(s, cut);
}

static int take_digits(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "individual_digits", NULL};
    bool alone = false;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc)
        rc = attn_steps_flag(s, v, "individual_digits", false, &alone);
    return rc ? rc : add_cut(s, alone ? ATTN_PRETOKEN_DIGITS : ATTN_PRETOKEN_DIGIT_RUNS);
}

static int take_byte_level(struct attn_steps *s, const cJSON *v)
{
    struct attn_subword *b = s->b;
    bool regex = true;
    int rc = attn_steps_keys(s, v, byte_level_keys);
    if (!rc)
        rc = attn_steps_flag(s, v, "use_regex", true, &regex);
    if (!rc)
        rc = attn_steps_flag(s, v, "add_prefix_space", true, &b->prefix);
    s->byte_level = true;
    b->prefix_cut = b->cuts;
    return rc || !regex ? rc : add_cut(s, ATTN_PRETOKEN_GPT2);
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
    if (!cJSON_IsArray(ids))
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
            rc = take_special(s, v, text_of(special, "id"), texts > 0 ? &b->after : &b->before);
        else if (!rc && strcmp(text_of(attn_tree_member(item, "Sequence"), "id"), "A") == 0)
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

/* ---- the components -------------------------------------------------------------------- */

int attn_steps_normalizer(struct attn_steps *s, const cJSON *v)
{
    static const struct component normalizer = {"normalizers", true, {{"NFC", take_nfc}}};
    return take(s, &normalizer, v);
}

int attn_steps_pre_tokenizer(struct attn_steps *s, const cJSON *v)
{
    static const struct component pre_tokenizer = {
        "pretokenizers", false, {{"Split", take_split}, {"Digits", take_digits}, {"ByteLevel", take_byte_level}}};
    int rc = take(s, &pre_tokenizer, v);
    return rc || s->byte_level ? rc : attn_steps_refuse(s, "a tokenizer without \"ByteLevel\"");
}

int attn_steps_decoder(struct attn_steps *s, const cJSON *v)
{
    static const struct component decoder = {NULL, true, {{"ByteLevel", take_known}}};
    return take(s, &decoder, v);
}

int attn_steps_post_processor(struct attn_steps *s, const cJSON *v)
{
    static const struct component post_processor = {
        "processors", true, {{"TemplateProcessing", take_template}, {"ByteLevel", take_known}}};
    return take(s, &post_processor, v);
}

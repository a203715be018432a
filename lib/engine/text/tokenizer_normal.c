/* tokenizer_normal.c - the normalizer of a tokenizer.json: a row for each type, and its options. */
#include "text/subword.h"

#include <string.h>

static const char *const type_alone[] = {"type", NULL};

static int add(struct attn_steps *s, enum attn_normal_kind kind, struct attn_normal **out)
{
    *out = attn_subword_normal(s->b, kind);
    return *out ? ATTN_OK : attn_steps_too_many(s);
}

static int add_plain(struct attn_steps *s, const cJSON *v, enum attn_normal_kind kind)
{
    struct attn_normal *n;
    int rc = attn_steps_keys(s, v, type_alone);
    return rc ? rc : add(s, kind, &n);
}

static int take_nfc(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_NFC); }
static int take_nfd(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_NFD); }
static int take_nfkc(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_NFKC); }
static int take_nfkd(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_NFKD); }
static int take_accents(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_STRIP_ACCENTS); }
static int take_lowercase(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_LOWERCASE); }
static int take_nmt(struct attn_steps *s, const cJSON *v) { return add_plain(s, v, ATTN_NORMAL_NMT); }

static int take_prepend(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "prepend", NULL};
    struct attn_normal *n;
    const char *text;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "prepend", &text)) || (rc = add(s, ATTN_NORMAL_PREPEND, &n)))
        return rc;
    return attn_steps_copy(s, &n->with, &n->with_len, text);
}

static int take_replace(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    const cJSON *pattern = attn_tree_member(v, "pattern");
    const char *find = attn_steps_text(pattern, "String"), *regex = attn_steps_text(pattern, "Regex"), *with;
    struct attn_normal *n;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "content", &with)))
        return rc;
    if (!*find && !*regex)
        return attn_steps_refuse(s, "\"Replace\" by no pattern");
    if ((rc = add(s, *find ? ATTN_NORMAL_REPLACE : ATTN_NORMAL_REGEX, &n)) ||
        (rc = *find ? attn_steps_copy(s, &n->find, &n->find_len, find) : attn_steps_regex(s, &n->regex, regex)))
        return rc;
    return attn_steps_copy(s, &n->with, &n->with_len, with);
}

static int take_strip(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "strip_left", "strip_right", NULL};
    struct attn_normal *n;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = add(s, ATTN_NORMAL_STRIP, &n)) || (rc = attn_steps_flag(s, v, "strip_left", true, &n->left)))
        return rc;
    return attn_steps_flag(s, v, "strip_right", true, &n->right);
}

/* Without a table it changes nothing. */
static int take_precompiled(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "precompiled_charsmap", NULL};
    const cJSON *map = attn_tree_member(v, "precompiled_charsmap");
    struct attn_normal *n;
    const char *text;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (map && (cJSON_IsNull(map) || (cJSON_IsString(map) && !*map->valuestring))))
        return rc;
    if ((rc = attn_steps_string(s, v, "precompiled_charsmap", &text)) || (rc = add(s, ATTN_NORMAL_PRECOMPILED, &n)))
        return rc;
    return attn_charsmap_read_base64(&n->map, text, s->name, s->err);
}

/* Several steps in one: accents are stripped where letters become lower case, unless it says otherwise. */
static int take_bert(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "clean_text", "handle_chinese_chars", "strip_accents",
                                       "lowercase", NULL};
    const cJSON *strip = attn_tree_member(v, "strip_accents");
    struct attn_normal *n;
    bool clean, chinese, lower, accents;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_flag(s, v, "clean_text", true, &clean)) ||
        (rc = attn_steps_flag(s, v, "handle_chinese_chars", true, &chinese)) ||
        (rc = attn_steps_flag(s, v, "lowercase", true, &lower)))
        return rc;
    accents = lower;
    if (strip && !cJSON_IsNull(strip) && (rc = attn_steps_flag(s, v, "strip_accents", lower, &accents)))
        return rc;
    const struct { bool wanted; enum attn_normal_kind kind; } steps[] = {
        {clean, ATTN_NORMAL_CLEAN}, {chinese, ATTN_NORMAL_SPACE_CHINESE}, {accents, ATTN_NORMAL_NFD},
        {accents, ATTN_NORMAL_STRIP_MARKS},
        {lower, ATTN_NORMAL_LOWERCASE}};
    for (size_t i = 0; !rc && i < sizeof steps / sizeof *steps; i++)
        rc = steps[i].wanted ? add(s, steps[i].kind, &n) : ATTN_OK;
    return rc;
}

int attn_steps_normalizer(struct attn_steps *s, const cJSON *v)
{
    static const struct attn_component_row rows[] = {
        {"NFC", take_nfc}, {"NFD", take_nfd}, {"NFKC", take_nfkc}, {"NFKD", take_nfkd}, {"Prepend", take_prepend},
        {"Replace", take_replace}, {"Strip", take_strip}, {"StripAccents", take_accents}, {"Lowercase", take_lowercase},
        {"Nmt", take_nmt}, {"Precompiled", take_precompiled},
        {"BertNormalizer", take_bert}};
    return attn_steps_take(s, &(struct attn_component){"normalizers", rows, sizeof rows / sizeof *rows}, v);
}

/* tokenizer_pre.c - the pre_tokenizer of a tokenizer.json: a row for each type, and its options.
 *
 * ByteLevel makes of each byte a character.  Here bytes stay what they are; a step after it that looks at characters is
 * taken only where what it does to those is known. */
#include "text/subword.h"

#include <string.h>

#include "base/err.h"
#include "base/strings.h"

static int add_step(struct attn_steps *s, struct attn_pre_step **out)
{
    *out = attn_subword_pre(s->b);
    return *out ? ATTN_OK : attn_steps_too_many(s);
}

static int add_cut(struct attn_steps *s, enum attn_pretoken pattern, enum attn_behavior behavior,
                   struct attn_split **out)
{
    struct attn_pre_step *step;
    int rc = add_step(s, &step);
    if (rc)
        return rc;
    step->cuts = true;
    step->cut = (struct attn_split){.pattern = pattern, .behavior = behavior};
    if (out)
        *out = &step->cut;
    return ATTN_OK;
}

static int add_literal(struct attn_steps *s, const char *text, enum attn_behavior behavior, bool invert)
{
    struct attn_split *cut;
    int rc = add_cut(s, ATTN_PRETOKEN_LITERAL, behavior, &cut);
    if (rc)
        return rc;
    cut->invert = invert;
    return attn_steps_copy(s, &cut->literal, &cut->literal_len, text);
}

static int refuse_after(struct attn_steps *s)
{
    return s->b->byte_level ? attn_steps_refuse(s, "such a step after \"ByteLevel\"") : ATTN_OK;
}

/* ---- Split ----------------------------------------------------------------------------- */

static int read_behavior(struct attn_steps *s, const cJSON *v, enum attn_behavior *out)
{
    static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const char *name = attn_steps_text(v, "behavior");
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum attn_behavior)i;
            return ATTN_OK;
        }
    return attn_steps_refuse(s, "such a \"behavior\"");
}

static int add_pattern(struct attn_steps *s, const char *pattern, enum attn_behavior behavior, bool invert)
{
    struct attn_split *cut = NULL;
    struct attn_regex *regex = NULL;
    enum attn_pretoken p = attn_pretoken_of(pattern);
    bool digits = strcmp(pattern, "[0-9][0-9][0-9]") == 0;          /* they are spelled as they are */
    int rc = s->b->byte_level && !digits ? refuse_after(s) : ATTN_OK;
    if (!rc && p == ATTN_PRETOKEN_REGEX)
        rc = attn_steps_regex(s, &regex, pattern);
    if (!rc)
        rc = add_cut(s, p, behavior, &cut);
    if (rc) {
        attn_regex_free(regex);
        return rc;
    }
    cut->invert = invert;
    cut->regex = regex;
    return ATTN_OK;
}

static int take_split(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "pattern", "behavior", "invert", NULL};
    const cJSON *pattern = attn_tree_member(v, "pattern");
    const char *literal = attn_steps_text(pattern, "String"), *regex = attn_steps_text(pattern, "Regex");
    enum attn_behavior behavior = ATTN_ISOLATED;
    bool invert = false;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_flag(s, v, "invert", false, &invert)) || (rc = read_behavior(s, v, &behavior)))
        return rc;
    if (!*literal)
        return *regex ? add_pattern(s, regex, behavior, invert) : attn_steps_refuse(s, "\"Split\" by no pattern");
    rc = refuse_after(s);
    return rc ? rc : add_literal(s, literal, behavior, invert);
}

static int take_delimiter(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "delimiter", NULL};
    const char *text;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = refuse_after(s)) || (rc = attn_steps_string(s, v, "delimiter", &text)))
        return rc;
    return *text ? add_literal(s, text, ATTN_REMOVED, false) : attn_steps_refuse(s, "an empty \"delimiter\"");
}

/* ---- kinds of characters --------------------------------------------------------------- */

static int take_digits(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "individual_digits", NULL};
    bool alone = false;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc)
        rc = attn_steps_flag(s, v, "individual_digits", false, &alone);
    return rc ? rc : add_cut(s, s->b->byte_level ? ATTN_PRETOKEN_SPELLED_NUMBERS : ATTN_PRETOKEN_NUMBERS,
                             alone ? ATTN_ISOLATED : ATTN_CONTIGUOUS, NULL);
}

static int take_punctuation(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "behavior", NULL};
    enum attn_behavior behavior = ATTN_ISOLATED;
    int rc = attn_steps_keys(s, v, keys);
    if (!rc)
        rc = refuse_after(s);
    if (!rc && attn_tree_member(v, "behavior"))
        rc = read_behavior(s, v, &behavior);
    return rc ? rc : add_cut(s, ATTN_PRETOKEN_PUNCTUATION, behavior, NULL);
}

static const char *const type_alone[] = {"type", NULL};

static int take_spaces(struct attn_steps *s, const cJSON *v)
{
    int rc = attn_steps_keys(s, v, type_alone);
    if (!rc)
        rc = refuse_after(s);
    return rc ? rc : add_cut(s, ATTN_PRETOKEN_SPACES, ATTN_REMOVED, NULL);
}

static int take_words(struct attn_steps *s, const cJSON *v)
{
    struct attn_split *cut;
    int rc = attn_steps_keys(s, v, type_alone);
    if (rc || (rc = refuse_after(s)) || (rc = add_cut(s, ATTN_PRETOKEN_WORDS, ATTN_REMOVED, &cut)))
        return rc;
    cut->invert = true;
    return ATTN_OK;
}

static int take_bert(struct attn_steps *s, const cJSON *v)
{
    int rc = take_spaces(s, v);
    return rc ? rc : add_cut(s, ATTN_PRETOKEN_PUNCTUATION, ATTN_ISOLATED, NULL);
}

/* ---- Metaspace ------------------------------------------------------------------------- */

static int read_prepend(struct attn_steps *s, const cJSON *v, enum attn_prepend *out)
{
    static const char *const names[] = {"always", "first", "never"};
    bool there = attn_tree_member(v, "prepend_scheme") != NULL, add;
    const char *name = attn_steps_text(v, "prepend_scheme");
    int i = 0, rc = attn_steps_flag(s, v, "add_prefix_space", true, &add);
    while (there && i < 3 && strcmp(name, names[i]) != 0)
        i++;
    *out = there ? (enum attn_prepend)i : add ? ATTN_PREPEND_ALWAYS : ATTN_PREPEND_NEVER;
    if (!rc && (i == 3 || (there && !add && i != ATTN_PREPEND_NEVER)))
        rc = attn_steps_refuse(s, "such a \"prepend_scheme\"");
    return rc;
}

static int check_replacement(struct attn_steps *s, const char *text)
{
    return attn_steps_is_one(text) ? ATTN_OK : attn_steps_refuse(s, "a \"replacement\" that is not one character");
}

static const char *const metaspace_keys[] = {"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme",
                                             "split", NULL};

static int take_metaspace(struct attn_steps *s, const cJSON *v)
{
    enum attn_prepend prepend;
    struct attn_pre_step *step;
    const char *with;
    bool split;
    int rc = attn_steps_keys(s, v, metaspace_keys);
    if (rc || (rc = refuse_after(s)) || (rc = attn_steps_string(s, v, "replacement", &with)) ||
        (rc = check_replacement(s, with)) || (rc = read_prepend(s, v, &prepend)) ||
        (rc = attn_steps_flag(s, v, "split", true, &split)) || (rc = add_step(s, &step)))
        return rc;
    step->change = (struct attn_normal){.kind = ATTN_NORMAL_METASPACE, .prepend = prepend};
    if ((rc = attn_steps_copy(s, &step->change.find, &step->change.find_len, " ")) ||
        (rc = attn_steps_copy(s, &step->change.with, &step->change.with_len, with)))
        return rc;
    return split ? add_literal(s, with, ATTN_WITH_NEXT, false) : ATTN_OK;
}

/* ---- ByteLevel ------------------------------------------------------------------------- */

static int take_byte_level(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    struct attn_pre_step *step;
    bool regex = true, space = true;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = refuse_after(s)) || (rc = attn_steps_flag(s, v, "use_regex", true, &regex)) ||
        (rc = attn_steps_flag(s, v, "add_prefix_space", true, &space)))
        return rc;
    s->b->byte_level = true;
    if (space && (rc = add_step(s, &step)))
        return rc;
    if (space)
        step->change.kind = ATTN_NORMAL_SPACE_FIRST;
    return regex ? add_cut(s, ATTN_PRETOKEN_GPT2, ATTN_ISOLATED, NULL) : ATTN_OK;
}

int attn_steps_pre_tokenizer(struct attn_steps *s, const cJSON *v)
{
    static const struct attn_component_row rows[] = {
        {"Split", take_split}, {"Digits", take_digits}, {"ByteLevel", take_byte_level}, {"Metaspace", take_metaspace},
        {"Punctuation", take_punctuation}, {"WhitespaceSplit", take_spaces}, {"Whitespace", take_words},
        {"BertPreTokenizer", take_bert}, {"CharDelimiterSplit", take_delimiter}};
    return attn_steps_take(s, &(struct attn_component){"pretokenizers", rows, sizeof rows / sizeof *rows}, v);
}

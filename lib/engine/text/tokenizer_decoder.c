/* tokenizer_decoder.c - the decoder of a tokenizer.json: a row for each type, and its options. */
#include "text/subword.h"

#include <string.h>

#include "base/size.h"

static const char *const type_alone[] = {"type", NULL};

static int add(struct attn_steps *s, enum attn_decode_kind kind, struct attn_decode_step **out)
{
    struct attn_decode_step *step = attn_subword_decode(s->b, kind);
    if (out)
        *out = step;
    return step ? ATTN_OK : attn_steps_too_many(s);
}

static int take_byte_level(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    int rc = attn_steps_keys(s, v, keys);
    return rc ? rc : add(s, ATTN_DECODE_BYTE_LEVEL, NULL);
}

static int take_bytes(struct attn_steps *s, const cJSON *v)
{
    int rc = attn_steps_keys(s, v, type_alone);
    return rc ? rc : add(s, ATTN_DECODE_BYTES, NULL);
}

static int take_fuse(struct attn_steps *s, const cJSON *v)
{
    int rc = attn_steps_keys(s, v, type_alone);
    return rc ? rc : add(s, ATTN_DECODE_FUSE, NULL);
}

/* How many times as many bytes all steps together may make of a token's. */
static size_t growth(const struct attn_decoder *d)
{
    size_t times = 1;
    for (size_t i = 0; i < d->n; i++)
        if (d->step[i].kind == ATTN_DECODE_REPLACE)
            times *= larger(1, parts_of(strlen(d->step[i].with), strlen(d->step[i].find)));
    return times;
}

static int take_replace(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    const char *find = attn_steps_text(attn_tree_member(v, "pattern"), "String"), *with;
    struct attn_decode_step *step;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "content", &with)))
        return rc;
    if (!*find)
        return attn_steps_refuse(s, "\"Replace\" by a pattern that is no string");
    if (strlen(with) > 4 * strlen(find))
        return attn_steps_refuse(s, "\"Replace\" by more than four times as many bytes");
    if ((rc = add(s, ATTN_DECODE_REPLACE, &step)) || (rc = attn_steps_copy(s, &step->find, NULL, find)) ||
        (rc = attn_steps_copy(s, &step->with, NULL, with)))
        return rc;
    return growth(&s->b->decoder) <= 64 ? ATTN_OK       /* no text grows more when it is encoded, either */
           : attn_steps_refuse(s, "\"Replace\" steps that together make so much more of a text");
}

static int take_strip(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "content", "start", "stop", NULL};
    const cJSON *start = attn_tree_member(v, "start"), *stop = attn_tree_member(v, "stop");
    double from, to;
    const char *content;
    struct attn_decode_step *step;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "content", &content)))
        return rc;
    if (!start || !stop || !attn_tree_whole(start, 0, INT32_MAX, &from) || !attn_tree_whole(stop, 0, INT32_MAX, &to))
        return attn_steps_refuse(s, "\"Strip\" without a whole number as \"start\" and \"stop\"");
    if (!attn_steps_is_one(content))
        return attn_steps_refuse(s, "\"Strip\" of what is not one character");
    if ((rc = add(s, ATTN_DECODE_STRIP, &step)))
        return rc;
    step->start = (size_t)from;
    step->stop = (size_t)to;
    return attn_steps_copy(s, &step->find, NULL, content);
}

static int take_metaspace(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme",
                                       "split", NULL};
    const char *scheme = attn_steps_text(v, "prepend_scheme"), *find;
    struct attn_decode_step *step;
    bool space;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "replacement", &find)) ||
        (rc = attn_steps_flag(s, v, "add_prefix_space", true, &space)))
        return rc;
    if (!attn_steps_is_one(find))
        return attn_steps_refuse(s, "a \"replacement\" that is not one character");
    const bool drops = !strcmp(scheme, "always") || !strcmp(scheme, "first"), never = !strcmp(scheme, "never");
    if (attn_tree_member(v, "prepend_scheme") && ((!drops && !never) || (drops && !space)))
        return attn_steps_refuse(s, "such a \"prepend_scheme\"");
    if ((rc = add(s, ATTN_DECODE_METASPACE, &step)))
        return rc;
    step->drop = *scheme ? drops : space;
    return attn_steps_copy(s, &step->find, NULL, find);
}

static int take_suffix(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "suffix", NULL};
    struct attn_decode_step *step;
    const char *find;
    int rc = attn_steps_keys(s, v, keys);
    if (rc || (rc = attn_steps_string(s, v, "suffix", &find)))
        return rc;
    if (!*find)
        return attn_steps_refuse(s, "an empty \"suffix\"");
    if ((rc = add(s, ATTN_DECODE_SUFFIX, &step)))
        return rc;
    return attn_steps_copy(s, &step->find, NULL, find);
}

static int take_word_piece(struct attn_steps *s, const cJSON *v)
{
    static const char *const keys[] = {"type", "prefix", "cleanup", NULL};
    struct attn_decode_step *step;
    const char *find = "##";
    int rc = attn_steps_keys(s, v, keys);
    if (!rc && attn_tree_member(v, "prefix"))
        rc = attn_steps_string(s, v, "prefix", &find);
    if (rc || (rc = add(s, ATTN_DECODE_WORD_PIECE, &step)) ||
        (rc = attn_steps_flag(s, v, "cleanup", true, &step->drop)))
        return rc;
    return attn_steps_copy(s, &step->find, NULL, find);
}

/* Without a decoder tokens are joined by spaces; but where tokens spell bytes, those are their text. */
int attn_steps_decoder(struct attn_steps *s, const cJSON *v)
{
    static const struct attn_component_row rows[] = {
        {"ByteLevel", take_byte_level}, {"Replace", take_replace}, {"ByteFallback", take_bytes}, {"Fuse", take_fuse},
        {"Strip", take_strip}, {"Metaspace", take_metaspace}, {"BPEDecoder", take_suffix},
        {"WordPiece", take_word_piece}};
    if (cJSON_IsNull(v))
        return add(s, s->b->byte_level ? ATTN_DECODE_BYTE_LEVEL : ATTN_DECODE_JOIN, NULL);
    return attn_steps_take(s, &(struct attn_component){"decoders", rows, sizeof rows / sizeof *rows}, v);
}

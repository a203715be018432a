#include "text/describe_text.h"

#include <stdio.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/label.h"
#include "text/subword.h"

enum { LAST_CHARACTER = 0x10FFFF, SPELT = 60 };

static void put_key(struct attn_out *o, const char *key)
{
    attn_out_printf(o, ",\"%s\":", key);
}

static void put_bool(struct attn_out *o, const char *key, bool x)
{
    put_key(o, key);
    attn_out_str(o, x ? "true" : "false");
}

static void put_int(struct attn_out *o, const char *key, int32_t x)
{
    put_key(o, key);
    attn_out_printf(o, "%d", (int)x);
}

static void put_string(struct attn_out *o, const char *key, const char *s, size_t len)
{
    put_key(o, key);
    attn_out_json(o, s, len);
}

/* ---- characters ---- */

static bool is_surrogate(uint32_t c) { return c >= 0xD800 && c < 0xE000; }

/* Whether a character has one of these kinds, which are bits of letters.h. */
static bool is_of(uint32_t c, unsigned kinds)
{
    return !is_surrogate(c) && (kinds == ATTN_IS_SPACE ? attn_utf8_space(c) : (attn_kind_of_char(c) & kinds) != 0);
}

/* Whether a text of such characters is in normal form C, in any order. */
static bool stays(uint32_t c, unsigned kinds)
{
    (void)kinds;
    return !is_surrogate(c) && attn_form_stays(c);
}

/* The characters of which this holds, as ranges. */
static void put_ranges(struct attn_out *o, const char *key, bool (*is)(uint32_t c, unsigned kinds), unsigned kinds)
{
    put_key(o, key);
    attn_out_char(o, '"');
    for (uint32_t c = 0, first; c <= LAST_CHARACTER; c++) {
        if (!is(c, kinds))
            continue;
        for (first = c; c < LAST_CHARACTER && is(c + 1, kinds);)
            c++;
        attn_out_printf(o, "\\\\u{%x}", (unsigned)first);
        if (c > first)
            attn_out_printf(o, "-\\\\u{%x}", (unsigned)c);
    }
    attn_out_char(o, '"');
}

static int32_t lower_by(uint32_t c)
{
    return is_surrogate(c) ? 0 : utf8proc_tolower((utf8proc_int32_t)c) - (int32_t)c;
}

static void put_class(struct attn_out *o, const char *key, unsigned kinds)
{
    put_ranges(o, key, is_of, kinds);
}

/* What lowercasing adds to the numbers of characters. */
static void put_lower(struct attn_out *o)
{
    char before = '[';
    put_key(o, "lower");
    for (uint32_t c = 0, first; c <= LAST_CHARACTER; c++) {
        const int32_t by = lower_by(c);
        if (!by)
            continue;
        for (first = c; c < LAST_CHARACTER && lower_by(c + 1) == by;)
            c++;
        attn_out_printf(o, "%c[%u,%u,%d]", before, (unsigned)first, (unsigned)c, (int)by);
        before = ',';
    }
    attn_out_char(o, ']');
}

void attn_describe_words(struct attn_out *out, const char *drop, bool lowercase, bool chars)
{
    attn_out_str(out, "\"word\"");
    put_string(out, "drop", drop ? drop : "", drop ? strlen(drop) : 0);
    put_bool(out, "lowercase", lowercase);
    put_bool(out, "chars", chars);
    if (lowercase)
        put_lower(out);
    put_class(out, "spaces", ATTN_IS_SPACE);
}

/* ---- pieces of words ---- */

/* What the page does not do, in words; NULL: it does all. */
static const char *strange_normal(const struct attn_normal *n)
{
    switch (n->kind) {
    case ATTN_NORMAL_NFC: case ATTN_NORMAL_PREPEND: case ATTN_NORMAL_REPLACE: case ATTN_NORMAL_METASPACE:
    case ATTN_NORMAL_SPACE_FIRST:
        return NULL;
    case ATTN_NORMAL_SENTENCEPIECE:
        return n->map ? "normalising a text by a table of characters" : n->kept ? "symbols of the user's" : NULL;
    default: return "changing a text before it is cut";
    }
}

static bool known_cut(const struct attn_split *c)
{
    const bool matches = c->behavior == ATTN_ISOLATED ? !c->invert : c->behavior == ATTN_REMOVED && c->invert;
    return c->pattern < ATTN_PRETOKEN_DEEPSEEK ? matches : c->pattern == ATTN_PRETOKEN_NUMBERS && matches && !c->invert;
}

static const char *strange(const struct attn_subword *b)
{
    if (b->unigram)
        return "tokens by a language model (Unigram)";
    if (b->lookup)
        return "tokens by whole words or their beginnings (WordLevel, WordPiece)";
    for (size_t i = 0; i < b->normals; i++)
        if (strange_normal(&b->normal[i]))
            return strange_normal(&b->normal[i]);
    for (size_t i = 0; i < b->pres; i++) {
        const struct attn_pre_step *p = &b->pre[i];
        if (p->cuts ? !known_cut(&p->cut) : strange_normal(&p->change) != NULL)
            return p->cuts ? "the pattern that cuts a text" : strange_normal(&p->change);
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < b->added[k].n; i++) {
            const struct attn_added_token *t = &b->added[k].token[i];
            if (!t->special && (t->lstrip || t->rstrip || t->word))
                return "tokens that take the spaces beside them";
        }
    if (b->rules.suffix || b->rules.unused)
        return "ends of words, or tokens that are only steps to others";
    return NULL;
}

static void put_normal(struct attn_out *o, const struct attn_normal *n)
{
    static const char *const prepends[] = {[ATTN_PREPEND_ALWAYS] = "always", [ATTN_PREPEND_FIRST] = "first",
                                           [ATTN_PREPEND_NEVER] = "never"};
    static const char *const kinds[] = {
        [ATTN_NORMAL_NFC] = "nfc", [ATTN_NORMAL_PREPEND] = "prepend", [ATTN_NORMAL_REPLACE] = "replace",
        [ATTN_NORMAL_METASPACE] = "metaspace", [ATTN_NORMAL_SPACE_FIRST] = "space-first",
        [ATTN_NORMAL_SENTENCEPIECE] = "sentencepiece"};
    attn_out_printf(o, "{\"kind\":\"%s\"", kinds[n->kind]);
    if (n->kind == ATTN_NORMAL_NFC)
        put_ranges(o, "stays", stays, 0);
    put_string(o, "find", n->find ? n->find : "", n->find_len);
    put_string(o, "with", n->with ? n->with : "", n->with_len);
    attn_out_printf(o, ",\"prepend\":\"%s\"", prepends[n->prepend]);
    put_bool(o, "dummy", n->dummy);
    put_bool(o, "dummy_behind", n->dummy_behind);
    put_bool(o, "squeeze", n->squeeze);
    put_bool(o, "escape", n->escape);
    attn_out_char(o, '}');
}

/* The classes of characters that the pattern of a cut names. */
static void put_classes(struct attn_out *o, const char *pattern)
{
    static const struct { const char *name; unsigned kinds; } classes[] = {
        {"L", ATTN_IS_LETTER}, {"N", ATTN_IS_NUMBER}, {"M", ATTN_IS_MARK}, {"Lu", ATTN_IS_UPPER}, {"Lt", ATTN_IS_UPPER},
        {"Ll", ATTN_IS_LOWER}, {"Lm", ATTN_IS_CASELESS}, {"Lo", ATTN_IS_CASELESS}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char named[16];
        snprintf(named, sizeof named, "\\p{%s}", classes[i].name);
        if (strstr(pattern, named))
            put_class(o, classes[i].name, classes[i].kinds);
    }
    put_class(o, "spaces", ATTN_IS_SPACE);
}

static void put_steps(struct attn_out *o, const struct attn_subword *b)
{
    put_key(o, "normal");
    attn_out_char(o, '[');
    for (size_t i = 0; i < b->normals; i++) {
        attn_out_str(o, i ? "," : "");
        put_normal(o, &b->normal[i]);
    }
    attn_out_char(o, ']');
    put_key(o, "pre");
    attn_out_char(o, '[');
    const char *last = NULL;            /* pattern of a cut: each names the classes of those before it, or more */
    for (size_t i = 0; i < b->pres; i++) {
        const struct attn_pre_step *p = &b->pre[i];
        attn_out_str(o, i ? "," : "");
        if (!p->cuts) {
            put_normal(o, &p->change);
            continue;
        }
        const bool numbers = p->cut.pattern == ATTN_PRETOKEN_NUMBERS;
        const char *pattern = numbers ? "\\p{N}" : attn_pretoken_pattern(p->cut.pattern);
        last = !numbers || !last ? pattern : last;
        attn_out_str(o, "{\"kind\":\"cut\"");
        put_string(o, "pattern", pattern, strlen(pattern));
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
    if (last)
        put_classes(o, last);
}

static void put_added(struct attn_out *o, const struct attn_subword *b)
{
    bool any = false;
    put_key(o, "added");
    attn_out_char(o, '[');
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < b->added[k].n; i++) {
            const struct attn_added_token *t = &b->added[k].token[i];
            if (t->special)
                continue;               /* found only where the caller asks */
            attn_out_printf(o, "%s{\"id\":%d", any ? "," : "", (int)t->id);
            put_string(o, "text", t->text, t->len);
            put_int(o, "pass", (int32_t)k);
            attn_out_char(o, '}');
            any = true;
        }
    attn_out_char(o, ']');
}

static void put_merges(struct attn_out *o, const struct attn_merges *m)
{
    put_key(o, "merges");
    attn_out_char(o, '[');
    for (size_t i = 0; i < m->n; i++)
        attn_out_printf(o, "%s%d,%d,%d", i ? "," : "", (int)m->rule[i].left, (int)m->rule[i].right, (int)m->rule[i].id);
    attn_out_char(o, ']');
}

/* How the vocabulary spells its tokens, by rank, with their scores and types where it has them. */
static void put_spellings(struct attn_out *o, const struct attn_subword *b)
{
    const struct attn_vocab *v = b->rules.vocab;
    put_key(o, "raw");
    attn_out_char(o, '[');
    for (size_t i = 0; i < attn_vocab_size(v); i++) {
        size_t len;
        const char *word = attn_vocab_at(v, i, &len);
        attn_out_str(o, i ? "," : "");
        attn_out_json(o, word, len);
    }
    attn_out_char(o, ']');
    for (size_t i = 0; b->rules.score && i < attn_vocab_size(v); i++) {
        attn_out_str(o, i ? "," : ",\"score\":[");
        attn_out_f32(o, b->rules.score[i]);
    }
    attn_out_str(o, b->rules.score ? "]" : "");
    for (size_t i = 0; b->rules.type && i < attn_vocab_size(v); i++)
        attn_out_printf(o, "%s%u", i ? "," : ",\"type\":[", (unsigned)b->rules.type[i]);
    attn_out_str(o, b->rules.type ? "]" : "");
}

void attn_describe_subword(struct attn_out *out, const struct attn_subword *b)
{
    const struct attn_bpe_rules *r = &b->rules;
    const char *why = strange(b);
    if (why) {
        attn_out_str(out, "null");
        put_string(out, "why", why, strlen(why));
        return;
    }
    attn_out_str(out, "\"bpe\"");
    put_bool(out, "chars", r->chars);
    put_bool(out, "whole_first", r->whole_first);
    put_bool(out, "drop", r->drop);
    put_bool(out, "fuse", r->fuse);
    put_bool(out, "fallback", r->fallback);
    put_key(out, "byte");
    for (size_t i = 0; i < 256; i++)
        attn_out_printf(out, "%c%d", i ? ',' : '[', (int)r->byte[i]);
    attn_out_char(out, ']');
    if (!r->score)
        put_merges(out, &r->merges);
    if (r->chars || r->whole_first)
        put_spellings(out, b);
    put_steps(out, b);
    put_added(out, b);
}

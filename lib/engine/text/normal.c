#include "text/normal.h"

#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/letters.h"

/* ---- strings --------------------------------------------------------------------------- */

static void put_in_front(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    (void)s;
    if (len > 0)
        attn_mapped_replace(out, 0, 0, n->with, n->with_len);
}

static void replace(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    const char *end = s + len, *at = s;
    if (n->find_len == 1)
        for (; at < end && (at = memchr(at, n->find[0], (size_t)(end - at))); at++)
            attn_mapped_replace(out, (size_t)(at - s), 1, n->with, n->with_len);
    else
        for (; at < end && (at = memmem(at, (size_t)(end - at), n->find, n->find_len)); at += n->find_len)
            attn_mapped_replace(out, (size_t)(at - s), n->find_len, n->with, n->with_len);
}

static void replace_matches(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    struct attn_regex_walk w = {.regex = n->regex, .s = s, .len = len, .effort = out->effort};
    size_t at, size;
    while (attn_regex_next(&w, &at, &size))
        attn_mapped_replace(out, at, size, n->with, n->with_len);
}

static void metaspace(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len, bool first)
{
    bool there = len > 0 && (s[0] == ' ' || (len >= n->with_len && memcmp(s, n->with, n->with_len) == 0));
    bool wanted = n->prepend == ATTN_PREPEND_ALWAYS || (n->prepend == ATTN_PREPEND_FIRST && first);
    if (wanted && !there && len > 0)
        attn_mapped_replace(out, 0, 0, n->with, n->with_len);
    replace(out, n, s, len);
}

static void space_first(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    (void)n;
    if (len > 0 && s[0] != ' ')
        attn_mapped_replace(out, 0, 0, " ", 1);
}

/* ---- characters ------------------------------------------------------------------------ */

static void strip(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    size_t at = 0, end = len, step;
    while (n->left && at < len && attn_utf8_space(attn_utf8_next(s + at, len - at, &step)))
        at += step;
    while (n->right && end > at) {
        size_t last = end - 1;
        while (last > at && ((unsigned char)s[last] & 0xC0) == 0x80)
            last--;
        if (!attn_utf8_space(attn_utf8_next(s + last, end - last, &step)))
            break;
        end = last;
    }
    if (at > 0)
        attn_mapped_replace(out, 0, at, "", 0);
    if (end < len)
        attn_mapped_replace(out, end, len - end, "", 0);
}

enum { KEPT = -1, DROPPED = -2 };

static int32_t without_accent(uint32_t c)
{
    utf8proc_category_t k = c < 0x300 ? UTF8PROC_CATEGORY_CN : utf8proc_category((utf8proc_int32_t)c);
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC || k == UTF8PROC_CATEGORY_ME ? DROPPED : KEPT;
}

static int32_t without_mark(uint32_t c) { return attn_is_old_mark(c) ? DROPPED : KEPT; }

static int32_t without_control(uint32_t c)
{
    if (c == '\t' || c == '\n' || c == '\r')
        return ' ';
    return c == 0xFFFD || attn_is_old_control(c) ? DROPPED : attn_utf8_space(c) ? ' ' : KEPT;
}

static int32_t cleaned(uint32_t c)
{
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F)
        return DROPPED;
    if (c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
        c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD)
        return ' ';
    return KEPT;
}

static void each_character(struct attn_mapped *out, const char *s, size_t len, int32_t (*become)(uint32_t c))
{
    size_t step;
    for (size_t at = 0; at < len; at += step) {
        char with[4];
        int32_t c = become(attn_utf8_next(s + at, len - at, &step));
        if (c != KEPT)
            attn_mapped_replace(out, at, step, with, c == DROPPED ? 0 : attn_utf8_put(with, (uint32_t)c));
    }
}

/* Only U+0130 becomes more than one character. */
static void lowercase(struct attn_mapped *out, const char *s, size_t len)
{
    size_t step;
    for (size_t at = 0; at < len; at += step) {
        char with[4];
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        uint32_t lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
        if (c == 0x130)
            attn_mapped_replace(out, at, step, "i\u0307", 3);
        else if (lower != c)
            attn_mapped_replace(out, at, step, with, attn_utf8_put(with, lower));
    }
}

static void space_chinese(struct attn_mapped *out, const char *s, size_t len)
{
    size_t step;
    for (size_t at = 0; at < len; at += step) {
        char with[6] = " ";
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        if (!attn_is_chinese(c))
            continue;
        memcpy(with + 1, s + at, step);
        with[step + 1] = ' ';
        attn_mapped_replace(out, at, step, with, step + 2);
    }
}

/* ---- by a table ------------------------------------------------------------------------ */

enum { SHORT = 6 };                     /* a cluster of as many bytes or more is taken character by character */

/* Replaces the whole of a character or cluster if a rule matches its beginning. */
static bool look_up(struct attn_mapped *out, const struct attn_charsmap *m, const char *s, size_t at, size_t len)
{
    size_t found, with_len = 0;
    const char *with = attn_charsmap_find(m, s + at, len, false, &found, &with_len);
    if (with && !(with_len == len && memcmp(with, s + at, len) == 0))
        attn_mapped_replace(out, at, len, with, with_len);
    return with != NULL;
}

static size_t cluster(const char *s, size_t len)
{
    utf8proc_int32_t state = 0;
    size_t step, at;
    uint32_t c = attn_utf8_next(s, len, &at);
    if (at < len && c >= 0x20 && c < 0x7F && (unsigned char)s[at] < 0x80)
        return at;                      /* no cluster is made of ASCII, but for CR LF */
    for (; at < len; at += step) {
        uint32_t next = attn_utf8_next(s + at, len - at, &step);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)c, (utf8proc_int32_t)next, &state))
            break;
        c = next;
    }
    return at;
}

static void precompiled(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    size_t step;
    for (size_t at = 0, size; at < len; at += size) {
        size = cluster(s + at, len - at);
        if (size < SHORT && look_up(out, n->map, s, at, size))
            continue;
        for (size_t k = 0; k < size; k += step) {
            attn_utf8_next(s + at + k, size - k, &step);
            look_up(out, n->map, s, at + k, step);
        }
    }
}

/* ---- all of them ----------------------------------------------------------------------- */

bool attn_normal_apply(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len, bool first)
{
    attn_mapped_begin(out, s, len);
    switch (n->kind) {
    case ATTN_NORMAL_NFC: case ATTN_NORMAL_NFD: case ATTN_NORMAL_NFKC: case ATTN_NORMAL_NFKD:
        return attn_form_apply(out, n->kind, s, len);
    case ATTN_NORMAL_SENTENCEPIECE:
        return attn_squeeze_apply(out, n, s, len);
    case ATTN_NORMAL_PREPEND: put_in_front(out, n, s, len); break;
    case ATTN_NORMAL_REPLACE: replace(out, n, s, len); break;
    case ATTN_NORMAL_REGEX: replace_matches(out, n, s, len); break;
    case ATTN_NORMAL_STRIP: strip(out, n, s, len); break;
    case ATTN_NORMAL_STRIP_ACCENTS: each_character(out, s, len, without_accent); break;
    case ATTN_NORMAL_LOWERCASE: lowercase(out, s, len); break;
    case ATTN_NORMAL_STRIP_MARKS: each_character(out, s, len, without_mark); break;
    case ATTN_NORMAL_CLEAN: each_character(out, s, len, without_control); break;
    case ATTN_NORMAL_SPACE_CHINESE: space_chinese(out, s, len); break;
    case ATTN_NORMAL_NMT: each_character(out, s, len, cleaned); break;
    case ATTN_NORMAL_PRECOMPILED: precompiled(out, n, s, len); break;
    case ATTN_NORMAL_METASPACE: metaspace(out, n, s, len, first); break;
    case ATTN_NORMAL_SPACE_FIRST: space_first(out, n, s, len); break;
    }
    return attn_mapped_finish(out);
}

void attn_normal_free(struct attn_normal *n)
{
    free(n->find);
    free(n->with);
    attn_charsmap_free(n->map);
    attn_regex_free(n->regex);
    *n = (struct attn_normal){0};
}

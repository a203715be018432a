#include "text/whole_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"

/* As \s of a page's expressions: that differs from Unicode's in two. */
static bool is_space(uint32_t c) { return c == 0xFEFF || (c != 0x85 && attn_utf8_space(c)); }

static bool starts_spaced(const char *s, size_t len)
{
    size_t step;
    return len && is_space(attn_utf8_next(s, len, &step));
}

/* The length of the last character; 0: there is none. */
static size_t last_length(const char *s, size_t len)
{
    size_t n = len ? 1 : 0;
    while (n && n < len && n < 4 && ((unsigned char)s[len - n] & 0xC0) == 0x80)
        n++;
    return n;
}

static bool ends_spaced(const char *s, size_t len)
{
    size_t n = last_length(s, len), step;
    return n && is_space(attn_utf8_next(s + len - n, n, &step)) && step == n;
}

static bool has_space(const struct attn_token *t)
{
    for (size_t at = 0, step; t->known && at < t->text_len; at += step)
        if (is_space(attn_utf8_next(t->text + at, t->text_len - at, &step)))
            return true;
    return false;
}

static bool is_blank(const struct attn_token *t)
{
    return t->known && t->text_len == 1 && t->text[0] == ' ';
}

static bool parts(const struct attn_token *a, const struct attn_token *b, bool placed)
{
    if (placed && (a->start == a->end || b->start == b->end || b->start > a->end))
        return true;
    return (a->known && !is_blank(a) && ends_spaced(a->text, a->text_len)) ||
           (b->known && starts_spaced(b->text, b->text_len));
}

/* Characters that are written without spaces and mean something each: Chinese ones and kana. */
static bool stands_alone(uint32_t c)
{
    static const struct { uint32_t first, last; } ranges[] = {
        {0x3005, 0x3007}, {0x3040, 0x30FF}, {0x31F0, 0x31FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF},
        {0xFF66, 0xFF9D}, {0x20000, 0x3FFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Whether a character ends at byte `at` of the text and the one before or after it stands alone. */
static bool parts_characters(const char *text, size_t len, size_t at)
{
    size_t step, before = text && at ? last_length(text, at) : 0;
    if (!before || at >= len || ((unsigned char)text[at] & 0xC0) == 0x80)
        return false;
    return stands_alone(attn_utf8_next(text + at - before, before, &step)) ||
           stands_alone(attn_utf8_next(text + at, len - at, &step));
}

/* text: which the tokens' places are in; NULL: not known. */
static void find(struct attn_words *w, const struct attn_tokens *t, bool placed, const char *text, size_t len)
{
    bool spaced = false;
    for (size_t i = 0; i < t->n && !spaced; i++)
        spaced = has_space(&t->tok[i]);
    for (size_t i = 0; i < t->n; i++)
        if (!i || !(placed || spaced) || parts(&t->tok[i - 1], &t->tok[i], placed) ||
            (!is_blank(&t->tok[i - 1]) && parts_characters(text, len, t->tok[i].start)))
            w->first[w->n++] = i;
    w->first[w->n] = t->n;
    for (size_t i = 0; i < w->n; i++)
        w->longest = w->first[i + 1] - w->first[i] > w->longest ? w->first[i + 1] - w->first[i] : w->longest;
}

/* ---- how a word reads ---- */

enum { NUMBER = ATTN_NUM_MAX };

static size_t put_token(char *to, const struct attn_token *t)
{
    if (!t->known)
        return attn_num_u64(to, (uint64_t)t->id);
    if (t->text_len)
        memcpy(to, t->text, t->text_len);
    return t->text_len;
}

/* Without the spaces in front, unless it is only these. */
static struct attn_token alone(const struct attn_token *t)
{
    struct attn_token out = *t;
    while (out.known && out.text_len > 1 && *out.text == ' ') {
        out.text++;
        out.text_len--;
    }
    return out;
}

static void trim(const char **s, size_t *len)
{
    size_t step;
    while (*len && is_space(attn_utf8_next(*s, *len, &step))) {
        *s += step;
        *len -= step;
    }
    while (*len && ends_spaced(*s, *len))
        *len -= last_length(*s, *len);
}

/* Several tokens; *pool gets their spelling and, unless the text is known, what they read together. */
static struct attn_token joined(const struct attn_token *t, size_t n, const char *text, char **pool)
{
    struct attn_token out = {.id = -1, .known = true, .named = t->named, .start = t->start, .end = t[n - 1].end};
    out.raw = *pool;
    for (size_t i = 0; i < n; i++)
        if (t[i].known && t[i].raw_len)
            *pool = mempcpy(*pool, t[i].raw, t[i].raw_len);
    out.raw_len = (size_t)(*pool - out.raw);
    *(*pool)++ = '\0';
    out.text = text ? text + t->start : *pool;
    if (text) {
        out.text_len = out.end - out.start;
        trim(&out.text, &out.text_len);
        return out;
    }
    for (size_t i = 0; i < n; i++)
        *pool += put_token(*pool, &t[i]);
    out.text_len = (size_t)(*pool - out.text);
    *(*pool)++ = '\0';
    for (; out.text_len > 1 && *out.text == ' '; out.text_len--)
        out.text++;
    return out;
}

static int allocate(struct attn_words *w, const struct attn_tokens *t, size_t len, struct attn_err *err)
{
    size_t bytes = 2 * t->n + len + 1;
    for (size_t i = 0; i < t->n; i++)
        bytes += t->tok[i].known ? t->tok[i].raw_len + t->tok[i].text_len : NUMBER;
    w->first = calloc(t->n + 1, sizeof *w->first);
    w->tokens.tok = calloc(t->n + 1, sizeof *w->tokens.tok);
    w->pool = malloc(bytes);
    return w->first && w->tokens.tok && w->pool ? ATTN_OK : attn_no_memory(err, NULL,
                                                                           "for the words of %zu tokens", t->n);
}

/* The tokens' places are in this text. */
static bool covers(const struct attn_tokens *t, size_t len)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->tok[i].start > t->tok[i].end || t->tok[i].end > len)
            return false;
    return true;
}

int attn_words_make(struct attn_words *out, const struct attn_tokens *t, const char *text, size_t len,
                    struct attn_err *err)
{
    static const char replaced[] = "\xEF\xBF\xBD";
    bool placed = false;
    *out = (struct attn_words){0};
    for (size_t i = 0; i < t->n; i++)
        placed |= t->tok[i].end > 0;
    bool readable = placed && text && covers(t, len) && attn_utf8_valid(text, len) == len &&
                    !memmem(text, len, replaced, 3);
    int rc = allocate(out, t, readable ? len : 0, err);
    if (rc) {
        attn_words_free(out);
        return rc;
    }
    char *pool = out->pool, *own = pool;
    if (readable)
        pool = mempcpy(pool, text, len);
    find(out, t, placed, readable ? text : NULL, len);
    for (size_t i = 0; i < out->n; i++) {
        const struct attn_token *first = &t->tok[out->first[i]];
        size_t n = out->first[i + 1] - out->first[i];
        out->tokens.tok[i] = n == 1 ? alone(first) : joined(first, n, readable ? own : NULL, &pool);
    }
    out->tokens.n = out->n;
    return ATTN_OK;
}

void attn_words_free(struct attn_words *w)
{
    free(w->first);
    free(w->tokens.tok);
    free(w->pool);
    *w = (struct attn_words){0};
}

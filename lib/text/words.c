#include "text/words.h"

#include <stdlib.h>
#include <string.h>
#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"

/* What becomes of a character that is not kept. */
enum { DROPPED = -1, SEPARATOR = -2, NOT_ASCII = -3 };

/* What becomes of c, the character of the len bytes at s: the one it is kept as, or one of the values above. */
static int32_t become(const struct attn_words *w, const char *s, size_t len, int32_t c)
{
    if (attn_strings_find(&w->drop, s, len) != ATTN_STRINGS_NONE)
        return DROPPED;
    if (attn_utf8_space((uint32_t)c))
        return SEPARATOR;
    return w->lowercase ? utf8proc_tolower(c) : c;
}

static int take_drop(struct attn_words *w, const char *drop, struct attn_err *err)
{
    size_t len = strlen(drop), valid = attn_utf8_valid(drop, len), step;
    if (valid < len)
        return attn_fail(err, ATTN_EUSAGE, "the characters to drop are not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)drop[valid]);
    for (size_t at = 0; at < len; at += step) {
        attn_utf8_next(drop + at, len - at, &step);
        if (attn_strings_add(&w->drop, drop + at, step) == ATTN_STRINGS_NONE)
            return attn_fail(err, ATTN_ENOMEM, "no memory for %zu characters to drop", len);
    }
    return ATTN_OK;
}

static int check_text(const char *text, size_t len, struct attn_err *err)
{
    size_t valid = attn_utf8_valid(text, len);
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
    if (nul)                            /* no vocabulary can spell it */
        return attn_fail(err, ATTN_EFORMAT, "the text has a NUL at byte %zu, expected none", (size_t)(nul - text));
    return ATTN_OK;
}

int attn_words_start(struct attn_words *w, const char *drop, bool lowercase, const char *text, size_t len,
                     struct attn_err *err)
{
    *w = (struct attn_words){.text = text, .len = len, .lowercase = lowercase};
    int rc = take_drop(w, drop ? drop : "", err);
    if (!rc)
        rc = check_text(text, len, err);
    for (int c = 0; !rc && c < 256; c++)
        w->byte[c] = (int16_t)(c < 0x80 ? become(w, &(char){(char)c}, 1, c) : NOT_ASCII);
    return rc;
}

/* Makes room for `more` bytes at the end of the word. */
static char *extend(struct attn_words *w, size_t more)
{
    char *word = attn_grow(w->word, &w->room, w->word_len + more, 1);
    w->failed = !word;
    if (!word)
        return NULL;
    w->word = word;
    return word + w->word_len;
}

/* Takes the run of kept ASCII characters at w->at, the usual case, as far as there is room; returns its length. */
static size_t take_ascii(struct attn_words *w)
{
    char *to = extend(w, 1);
    if (!to)
        return 0;
    const unsigned char *s = (const unsigned char *)w->text + w->at;
    size_t n = 0, left = w->len - w->at, room = w->room - w->word_len;
    int16_t c;
    for (left = left < room ? left : room; n < left && (c = w->byte[s[n]]) > 0; n++)
        to[n] = (char)c;
    w->word_len += n;
    return n;
}

/* Takes the character at w->at if it is kept; *step gets its length. */
static int32_t take_other(struct attn_words *w, size_t *step)
{
    const char *s = w->text + w->at;
    int32_t c = (int32_t)attn_utf8_next(s, w->len - w->at, step), kept = become(w, s, *step, c);
    char *to = kept > 0 ? extend(w, 4) : NULL;
    if (to)
        w->word_len += attn_utf8_put(to, (uint32_t)kept);
    return kept;
}

bool attn_words_next(struct attn_words *w)
{
    size_t step;
    for (w->word_len = 0; w->at < w->len && !w->failed; w->at += step) {
        size_t before = w->word_len;
        int32_t c = w->byte[(unsigned char)w->text[w->at]];
        step = c > 0 ? take_ascii(w) : 1;
        if (c == NOT_ASCII)
            c = take_other(w, &step);
        if (c == SEPARATOR && before > 0)
            break;
        if (before == 0)
            w->start = w->at;
        if (w->word_len > before)
            w->end = w->at + step;
    }
    return w->word_len > 0 && !w->failed;
}

void attn_words_free(struct attn_words *w)
{
    attn_strings_free(&w->drop);
    free(w->word);
    *w = (struct attn_words){0};
}

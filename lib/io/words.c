#include "io/words.h"

#include <stdlib.h>
#include <string.h>
#define UTF8PROC_STATIC                 /* its symbols come from the archive */
#include <utf8proc.h>

#include "base/err.h"
#include "base/utf8.h"
#include "io/grow.h"

enum { KEEP, DROP, SPACE };

/* The len bytes at s are one character. */
static unsigned char classify(const struct attn_words *w, const char *s, size_t len, uint32_t c)
{
    if (w->drop_len > 0 && memmem(w->drop, w->drop_len, s, len))    /* in UTF-8 no character is part of another */
        return DROP;
    return attn_utf8_space(c) ? SPACE : KEEP;
}

int attn_words_start(struct attn_words *w, const char *drop, bool lowercase, const char *text, size_t len,
                     struct attn_err *err)
{
    *w = (struct attn_words){.text = text, .len = len, .drop = drop ? drop : "", .lowercase = lowercase};
    w->drop_len = strlen(w->drop);
    size_t valid = attn_utf8_valid(w->drop, w->drop_len);
    if (valid < w->drop_len)
        return attn_fail(err, ATTN_EUSAGE, "the characters to drop are not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)w->drop[valid]);
    valid = attn_utf8_valid(text, len);
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
    if (nul)                            /* no vocabulary can spell it */
        return attn_fail(err, ATTN_EFORMAT, "the text has a NUL at byte %zu, expected none", (size_t)(nul - text));
    for (size_t c = 0; c < sizeof w->ascii; c++)
        w->ascii[c] = classify(w, &(char){(char)c}, 1, (uint32_t)c);
    return ATTN_OK;
}

/* Takes the step bytes at w->at, the character c, into the word. */
static bool keep(struct attn_words *w, uint32_t c, size_t step)
{
    char *word = attn_grow(w->word, &w->room, w->word_len + 4, 1);
    if (!word) {
        w->failed = true;
        return false;
    }
    w->word = word;
    if (w->word_len == 0)
        w->start = w->at;
    if (w->lowercase)
        c = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    w->word_len += attn_utf8_put(word + w->word_len, c);
    w->end = w->at + step;
    return true;
}

bool attn_words_next(struct attn_words *w)
{
    size_t step;
    for (w->word_len = 0; w->at < w->len && !w->failed; w->at += step) {
        const char *s = w->text + w->at;
        uint32_t c = attn_utf8_next(s, w->len - w->at, &step);
        unsigned char class = c < sizeof w->ascii ? w->ascii[c] : classify(w, s, step, c);
        if (class == SPACE && w->word_len > 0)
            break;
        if (class == KEEP && !keep(w, c, step))
            break;
    }
    return w->word_len > 0 && !w->failed;
}

void attn_words_free(struct attn_words *w)
{
    free(w->word);
    *w = (struct attn_words){0};
}

/* forms.c - Unicode's normal forms C, D, KC and KD.
 *
 * Text is processed by clusters: a character and the marks (or Hangul vowels and finals) that follow it.  Nothing
 * composes or changes places beyond a cluster.  A cluster already in its form, as nearly all are, is kept. */
#include "text/normal.h"

#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/grow.h"
#include "base/utf8.h"

enum {
    FIRST_MARK = 0x300,                 /* no character below composes with the one before it, and all are in NFC */
    FIRST_VOWEL = 0x1160, LAST_FINAL = 0x11FF,                      /* of Hangul syllables */
    FIRST_SYLLABLE = 0xAC00, LAST_SYLLABLE = 0xD7A3,
    LONGEST = 24                        /* most characters one decomposes into: 18 suffice, for U+FDFA in NFKD */
};

/* order: the combining class, then the position. */
struct letter { int32_t c; uint64_t order; };

struct worker {
    utf8proc_option_t form;
    struct letter *letter; size_t letter_room;                      /* of one cluster, decomposed */
    int32_t *point; size_t point_room;                              /* and composed */
    char *bytes; size_t room, len;                                  /* and as UTF-8 */
};

static utf8proc_option_t option_of(enum attn_normal_kind form)
{
    bool composed = form == ATTN_NORMAL_NFC || form == ATTN_NORMAL_NFKC, compatible = form == ATTN_NORMAL_NFKC ||
                    form == ATTN_NORMAL_NFKD;
    return (utf8proc_option_t)(UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                               (compatible ? UTF8PROC_COMPAT : 0));
}

/* Whether c is kept as it is unless marks follow it. */
static bool is_plain(const struct worker *w, uint32_t c)
{
    if (c < 0x80 || (c < FIRST_MARK && w->form == (UTF8PROC_STABLE | UTF8PROC_COMPOSE)))
        return true;
    return utf8proc_get_property((utf8proc_int32_t)c)->decomp_seqindex == UINT16_MAX &&
           ((w->form & UTF8PROC_COMPOSE) || c < FIRST_SYLLABLE || c > LAST_SYLLABLE);
}

/* Whether c belongs to the cluster of the character before: as it is, or by the first character it decomposes to. */
static bool follows(const struct worker *w, uint32_t c)
{
    utf8proc_int32_t parts[LONGEST] = {(utf8proc_int32_t)c};
    int boundary = 0;
    if (c < FIRST_MARK)
        return false;
    if ((w->form & UTF8PROC_COMPAT) &&
        utf8proc_decompose_char((utf8proc_int32_t)c, parts, LONGEST, w->form, &boundary) > 0)
        c = (uint32_t)parts[0];
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC || k == UTF8PROC_CATEGORY_ME ||
           (c >= FIRST_VOWEL && c <= LAST_FINAL);
}

/* Length of the first cluster of s.  *plain: it is one character that is in its form by itself. */
static size_t cluster(const struct worker *w, const char *s, size_t len, bool *plain)
{
    size_t first, step;
    uint32_t c = attn_utf8_next(s, len, &first);
    size_t at = first;
    while (at < len && (unsigned char)s[at] >= 0xCC && follows(w, attn_utf8_next(s + at, len - at, &step)))
        at += step;                     /* 0xCC is the first byte of U+0300 */
    *plain = at == first && is_plain(w, c);
    return at;
}

static utf8proc_propval_t combining(int32_t c)
{
    return utf8proc_get_property(c)->combining_class;
}

static bool decompose(struct worker *w, const char *s, size_t len, size_t *n)
{
    size_t step;
    *n = 0;
    for (size_t at = 0; at < len; at += step) {
        utf8proc_int32_t parts[LONGEST];
        int boundary = 0;
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        utf8proc_ssize_t got = utf8proc_decompose_char((utf8proc_int32_t)c, parts, LONGEST, w->form, &boundary);
        struct letter *letter = attn_grow(w->letter, &w->letter_room, *n + LONGEST, sizeof *letter);
        if (!letter)
            return false;
        w->letter = letter;
        if (got < 1 || got > LONGEST)
            return false;
        for (utf8proc_ssize_t i = 0; i < got; i++, ++*n)
            letter[*n] = (struct letter){parts[i], (uint64_t)combining(parts[i]) << 32 | (uint32_t)*n};
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct letter *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Between two characters of class 0, marks of different classes may come in any order; NFC sorts them by class. */
static void reorder(struct letter *letter, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (letter[i].order >> 32 == 0)
            continue;
        while (end < n && letter[end].order >> 32 != 0)
            end++;
        if (end - i > 1)
            qsort(letter + i, end - i, sizeof *letter, compare);
    }
}

static bool put(struct worker *w, uint32_t c)
{
    char *bytes = attn_grow(w->bytes, &w->room, w->len + 4, 1);
    if (!bytes)
        return false;
    w->bytes = bytes;
    w->len += attn_utf8_put(bytes + w->len, c);
    return true;
}

/* Composes the n letters, if the form is one of the composed, to bytes. */
static bool compose(struct worker *w, size_t n)
{
    int32_t *point = attn_grow(w->point, &w->point_room, n, sizeof *point);
    if (!point)
        return false;
    w->point = point;
    w->len = 0;
    for (size_t i = 0; i < n; i++)
        point[i] = w->letter[i].c;
    utf8proc_ssize_t left = (utf8proc_ssize_t)n;
    if (w->form & UTF8PROC_COMPOSE)
        left = utf8proc_normalize_utf32(point, left, w->form);
    for (utf8proc_ssize_t i = 0; i < left; i++)
        if (!put(w, (uint32_t)point[i]))
            return false;
    return true;
}

/* Brings the cluster of len bytes at s + at into its form. */
static bool take(struct attn_mapped *out, struct worker *w, const char *s, size_t at, size_t len)
{
    size_t n;
    if (!decompose(w, s + at, len, &n))
        return false;
    reorder(w->letter, n);
    if (!compose(w, n))
        return false;
    if (w->len != len || memcmp(w->bytes, s + at, len) != 0)
        attn_mapped_replace(out, at, len, w->bytes, w->len);
    return true;
}

bool attn_form_apply(struct attn_mapped *out, enum attn_normal_kind form, const char *s, size_t len)
{
    struct worker w = {.form = option_of(form)};
    bool ok = true;
    for (size_t at = 0, n; at < len && ok; at += n) {
        bool plain = true;
        size_t ascii = attn_utf8_ascii(s + at, len - at);
        /* not the last one: marks may follow it */
        n = ascii > 1 ? ascii - 1 : cluster(&w, s + at, len - at, &plain);
        ok = plain || take(out, &w, s, at, n);
    }
    free(w.letter);
    free(w.point);
    free(w.bytes);
    return attn_mapped_finish(out) && ok;
}

/* nfc.c - text in Unicode's normal form C, with a map from each byte back to the original.
 *
 * Text is processed by clusters: a character and the marks (or Hangul vowels and finals) that follow it.  Nothing
 * composes or changes places beyond a cluster.  A cluster already in NFC, as nearly all are, maps byte by byte.  A
 * changed one maps as a whole: a piece that begins inside begins at its start, and one that ends inside ends at its
 * end.  Text already in NFC is not copied. */
#include "text/subword.h"

#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/grow.h"
#include "base/utf8.h"

enum {
    FIRST_MARK = 0x300,                 /* no character below composes with the one before it, and all are in NFC */
    FIRST_VOWEL = 0x1160, LAST_FINAL = 0x11FF,                      /* of Hangul syllables */
    LONGEST = 8                         /* most characters one decomposes into: 4 suffice in Unicode 15 */
};
static const utf8proc_option_t form_c = UTF8PROC_STABLE | UTF8PROC_COMPOSE;

/* order: the combining class, then the position. */
struct letter { int32_t c; uint64_t order; };

/* Whether c belongs to the cluster of the character before it. */
static bool follows(uint32_t c)
{
    if (c < FIRST_MARK)
        return false;
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC || k == UTF8PROC_CATEGORY_ME ||
           (c >= FIRST_VOWEL && c <= LAST_FINAL);
}

/* Length of the first cluster of s.  *plain: it is one character that is in NFC by itself. */
static size_t cluster(const char *s, size_t len, bool *plain)
{
    size_t first, step;
    uint32_t c = attn_utf8_next(s, len, &first);
    size_t at = first;
    while (at < len && (unsigned char)s[at] >= 0xCC && follows(attn_utf8_next(s + at, len - at, &step)))
        at += step;                     /* 0xCC is the first byte of U+0300 */
    *plain = at == first && (c < FIRST_MARK ||
                             utf8proc_get_property((utf8proc_int32_t)c)->decomp_seqindex == UINT16_MAX);
    return at;
}

static utf8proc_propval_t combining(int32_t c)
{
    return utf8proc_get_property(c)->combining_class;
}

static bool decompose(struct attn_nfc *t, const char *s, size_t len, size_t *n)
{
    size_t step;
    *n = 0;
    for (size_t at = 0; at < len; at += step) {
        utf8proc_int32_t parts[LONGEST];
        int boundary = 0;
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        utf8proc_ssize_t got = utf8proc_decompose_char((utf8proc_int32_t)c, parts, LONGEST, form_c, &boundary);
        struct letter *letter = attn_grow(t->letter, &t->letter_room, *n + LONGEST, sizeof *letter);
        if (!letter)
            return false;
        t->letter = letter;
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

static bool append(struct attn_nfc *t, const char *s, size_t len)
{
    char *own = attn_grow(t->own, &t->room, t->len + len + 1, 1);
    if (!own)
        return false;
    t->text = t->own = own;
    memcpy(own + t->len, s, len);
    t->len += len;
    return true;
}

/* Composes the n letters and appends their bytes to the text. */
static bool compose(struct attn_nfc *t, size_t n)
{
    int32_t *point = attn_grow(t->point, &t->point_room, n, sizeof *point);
    if (!point)
        return false;
    t->point = point;
    for (size_t i = 0; i < n; i++)
        point[i] = t->letter[i].c;
    utf8proc_ssize_t left = utf8proc_normalize_utf32(point, (utf8proc_ssize_t)n, form_c);
    for (utf8proc_ssize_t i = 0; i < left; i++) {
        char buf[4] = {0};
        if (!append(t, buf, attn_utf8_put(buf, (uint32_t)point[i])))
            return false;
    }
    return true;
}

static bool note_change(struct attn_nfc *t, size_t at, size_t from, size_t from_len)
{
    struct change *change = attn_grow(t->change, &t->change_room, t->n + 1, sizeof *change);
    if (!change)
        return false;
    t->change = change;
    change[t->n++] = (struct change){.at = at, .len = t->len - at, .from = from, .from_len = from_len};
    return true;
}

/* Normalises the cluster of len bytes at s + from. */
static bool take(struct attn_nfc *t, const char *s, size_t from, size_t len)
{
    size_t n, at = t->len;
    if (!decompose(t, s + from, len, &n))
        return false;
    reorder(t->letter, n);
    if (!compose(t, n))
        return false;
    bool same = t->len - at == len && memcmp(t->text + at, s + from, len) == 0;
    return same || note_change(t, at, from, len);
}

bool attn_nfc_make(struct attn_nfc *out, const char *s, size_t len)
{
    size_t from = 0;
    out->len = out->n = 0;
    for (size_t at = 0, n; at < len; at += n) {
        bool plain = true;
        size_t ascii = attn_utf8_ascii(s + at, len - at);
        n = ascii > 1 ? ascii - 1 : cluster(s + at, len - at, &plain);          /* not the last one: marks may follow it */
        if (plain)
            continue;
        if (!append(out, s + from, at - from) || !take(out, s, at, n))
            return false;
        from = at + n;
    }
    if (from > 0)
        return append(out, s + from, len - from);
    out->text = s;
    out->len = len;
    return true;
}

/* The number of changes that begin before byte `at`. */
static size_t before(const struct attn_nfc *t, size_t at)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (t->change[middle].at < at)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static size_t origin(const struct attn_nfc *t, size_t at, bool end)
{
    size_t k = before(t, at);
    if (k == 0)
        return at;
    const struct change *c = &t->change[k - 1];
    if (at < c->at + c->len)
        return c->from + (end ? c->from_len : 0);
    return c->from + c->from_len + (at - c->at - c->len);
}

size_t attn_nfc_start(const struct attn_nfc *t, size_t at)
{
    return origin(t, at, false);
}

size_t attn_nfc_end(const struct attn_nfc *t, size_t at)
{
    return origin(t, at, true);
}

void attn_nfc_free(struct attn_nfc *t)
{
    free(t->own);
    free(t->change);
    free(t->letter);
    free(t->point);
    *t = (struct attn_nfc){0};
}

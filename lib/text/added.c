/* added.c - tokens that are found in a text before it is cut into pieces, such as <|endoftext|>.
 *
 * Their text always becomes that token, whatever the merges say.  Where several match, the longest wins.  Tokens
 * marked special are found only when the caller asks; otherwise their text is ordinary text, within which no other
 * added token is looked for. */
#include "text/byte_level.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"

bool attn_added_put(struct attn_added *a, const struct attn_added_token *t)
{
    struct attn_added_token *token = attn_grow(a->token, &a->room, a->n + 1, sizeof *token);
    if (!token) {
        free(t->text);
        return false;
    }
    a->token = token;
    token[a->n++] = *t;
    a->first[(unsigned char)t->text[0]] = true;
    a->ordinary = a->ordinary || !t->special;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct attn_added_token *x = a, *y = b;
    return strcmp(x->text, y->text);
}

void attn_added_sort(struct attn_added *a)
{
    if (a->n > 0)
        qsort(a->token, a->n, sizeof *a->token, compare);
}

void attn_added_free(struct attn_added *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->token[i].text);
    free(a->token);
    *a = (struct attn_added){0};
}

/* Among the sorted tokens lo..hi, which agree in their first k bytes: the first one whose byte k is at least c. */
static size_t lower(const struct attn_added *a, size_t lo, size_t hi, size_t k, unsigned c)
{
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if ((unsigned char)a->token[middle].text[k] < c)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The longest token that s begins with, or NULL.  Narrows the range of tokens that agree with s byte by byte. */
static const struct attn_added_token *longest(const struct attn_added *a, const char *s, size_t len)
{
    const struct attn_added_token *best = NULL;
    size_t lo = 0, hi = a->n;
    for (size_t k = 0; k < len && s[k]; k++) {                      /* no token contains a NUL */
        unsigned c = (unsigned char)s[k];
        lo = lower(a, lo, hi, k, c);
        hi = lower(a, lo, hi, k, c + 1);
        if (lo == hi)
            break;
        if (a->token[lo].len == k + 1)
            best = &a->token[lo];
    }
    return best;
}

static size_t spaces_before(const char *s, size_t at, size_t least)
{
    while (at > least) {
        size_t last = at - 1, step;
        while (last > least && ((unsigned char)s[last] & 0xC0) == 0x80)
            last--;
        if (!attn_utf8_space(attn_utf8_next(s + last, at - last, &step)))
            break;
        at = last;
    }
    return at;
}

static size_t spaces_after(const char *s, size_t len, size_t at)
{
    size_t step;
    while (at < len && attn_utf8_space(attn_utf8_next(s + at, len - at, &step)))
        at += step;
    return at;
}

bool attn_added_find(const struct attn_added *a, const char *s, size_t len, bool special, struct attn_added_hit *hit)
{
    size_t at = hit->next, done = hit->end;
    bool any = special ? a->n > 0 : a->ordinary;
    while (any && at < len) {
        const struct attn_added_token *t = a->first[(unsigned char)s[at]] ? longest(a, s + at, len - at) : NULL;
        if (t && (special || !t->special)) {
            *hit = (struct attn_added_hit){
                .token = t, .start = t->lstrip ? spaces_before(s, at, done) : at, .next = at + t->len,
                .end = t->rstrip ? spaces_after(s, len, at + t->len) : at + t->len,
            };
            return true;
        }
        at += t ? t->len : 1;
    }
    return false;
}

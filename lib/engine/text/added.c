#include "text/added.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "text/letters.h"

bool attn_added_put(struct attn_added *a, const struct attn_added_token *t)
{
    struct attn_added_token *token = attn_grow(a->token, &a->room, a->n + 1, sizeof *token);
    if (!token) {
        free(t->text);
        return false;
    }
    a->token = token;
    token[a->n++] = *t;
    a->ordinary = a->ordinary || !t->special;
    return true;
}

bool attn_added_index(struct attn_added *a)
{
    struct attn_str_view *s = a->n > 0 ? malloc(a->n * sizeof *s) : NULL;
    int32_t *number = a->n > 0 ? malloc(a->n * sizeof *number) : NULL;
    bool ok = a->n == 0;
    for (size_t i = 0; s && number && i < a->n; i++) {
        size_t k = a->n - 1 - i;        /* of equal ones the last counts there, but here the first does */
        s[i] = (struct attn_str_view){a->token[k].text, a->token[k].len};
        number[i] = (int32_t)k;
    }
    if (s && number)
        ok = attn_trie_make(&a->trie, s, number, a->n);
    free(s);
    free(number);
    return ok;
}

void attn_added_free(struct attn_added *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->token[i].text);
    free(a->token);
    attn_trie_free(&a->trie);
    *a = (struct attn_added){0};
}

/* ---- what is beside a match ------------------------------------------------------------ */

static size_t character_before(const char *s, size_t at, size_t least)
{
    size_t last = at - 1;
    while (last > least && ((unsigned char)s[last] & 0xC0) == 0x80)
        last--;
    return last;
}

static size_t spaces_before(const char *s, size_t at, size_t least)
{
    at = at > least ? at : least;       /* the token before may have taken the white space that this one stands in */
    while (at > least) {
        size_t last = character_before(s, at, least), step;
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

static bool stands_alone(const char *s, size_t len, size_t at, size_t end)
{
    size_t step, last = at > 0 ? character_before(s, at, 0) : 0;
    return !(at > 0 && attn_is_word(attn_utf8_next(s + last, at - last, &step))) &&
           !(end < len && attn_is_word(attn_utf8_next(s + end, len - end, &step)));
}

/* ---- the search ------------------------------------------------------------------------ */

bool attn_added_next(const struct attn_added *a, const char *s, size_t len, bool special, struct attn_hit *hit)
{
    size_t at = hit->next, done = hit->end, n = 1;
    bool any = special ? a->n > 0 : a->ordinary;
    for (; any && at < len; at += n) {
        n = 1;
        if (!a->trie.first[(unsigned char)s[at]])
            continue;
        int32_t number = attn_trie_longest(&a->trie, s + at, len - at, &n);
        const struct attn_added_token *t = number < 0 ? NULL : &a->token[number];
        if (!t || (t->special && !special) || (t->word && !stands_alone(s, len, at, at + n)))
            continue;
        /* white space up to `done` */
        size_t end = t->rstrip ? spaces_after(s, len, done > at + n ? done : at + n) : at + n;
        if (t->lstrip && end <= done)   /* it begins where the last one ends, and so is empty */
            continue;
        *hit = (struct attn_hit){.token = t, .start = t->lstrip ? spaces_before(s, at, done) : at, .next = at + n,
                                 .end = end};
        return true;
    }
    return false;
}

/* split.c - the pieces of a text by a pattern and what becomes of its matches. */
#include "text/pretoken.h"

#include <stdlib.h>
#include <string.h>

void attn_split_free(struct attn_split *c)
{
    free(c->literal);
    attn_regex_free(c->regex);
    *c = (struct attn_split){0};
}

/* How many bytes to go on by where there is no match.  A run of spaces that are not the last is skipped as a whole,
 * since each of them would see the rest of it again. */
static size_t skip(const struct attn_split *c, const char *s, size_t len)
{
    size_t step, n = 0;
    if (c->pattern == ATTN_PRETOKEN_SPELLED_NUMBERS)
        return 1;
    if (c->pattern != ATTN_PRETOKEN_LAST_SPACES || !attn_utf8_space(attn_utf8_next(s, len, &step))) {
        attn_utf8_next(s, len, &step);
        return step;
    }
    for (; n < len && attn_utf8_space(attn_utf8_next(s + n, len - n, &step)); n += step)
        ;
    return n;
}

/* The match at byte `at`, or the gap up to the next one. */
static struct attn_stretch stretch_at(const struct attn_split *c, const char *s, size_t len, size_t at)
{
    size_t end = at, n = 0;
    if (c->pattern == ATTN_PRETOKEN_LITERAL) {
        const char *found = memmem(s + at, len - at, c->literal, c->literal_len);
        if (found == s + at)
            return (struct attn_stretch){at, c->literal_len, true};
        return (struct attn_stretch){at, (found ? (size_t)(found - s) : len) - at, false};
    }
    while (end < len && (n = attn_pretoken_next(c->pattern, s + end, len - end)) == 0)
        end += skip(c, s + end, len - end);
    return end == at ? (struct attn_stretch){at, n, true} : (struct attn_stretch){at, end - at, false};
}

/* The same by a regular expression, whose matches may be empty. */
static struct attn_stretch stretch_by_regex(struct attn_cutter *c)
{
    if (!c->ahead) {
        c->walk.regex = c->cut->regex;
        c->walk.s = c->s;
        c->walk.len = c->len;
        c->walk.effort = c->effort;
        c->found = (struct attn_stretch){.match = true};
        if (!attn_regex_next(&c->walk, &c->found.at, &c->found.len))
            c->found = (struct attn_stretch){c->len, 0, true};
    }
    c->ahead = c->found.at > c->at;
    return c->ahead ? (struct attn_stretch){c->at, c->found.at - c->at, false} : c->found;
}

static bool take(struct attn_cutter *c, struct attn_stretch *out)
{
    if (c->waiting) {
        *out = c->next;
        c->waiting = false;
        return true;
    }
    if (c->at == c->len)
        return false;
    *out = c->cut->regex ? stretch_by_regex(c) : stretch_at(c->cut, c->s, c->len, c->at);
    c->at += out->len;
    out->match ^= c->cut->invert;
    return true;
}

/* Whether two neighbours become one piece. */
static bool belong(const struct attn_split *c, const struct attn_stretch *a, const struct attn_stretch *b)
{
    switch (c->behavior) {
    case ATTN_WITH_PREVIOUS: return !a->match && b->match;
    case ATTN_WITH_NEXT: return a->match && !b->match;
    case ATTN_CONTIGUOUS: return a->match == b->match;
    default: return false;
    }
}

/* A stretch and what becomes one piece with it. */
static bool next_piece(struct attn_cutter *c, const char **piece, size_t *len)
{
    struct attn_stretch s, next;
    do {
        if (!take(c, &s))
            return false;
    } while (c->cut->behavior == ATTN_REMOVED && s.match);
    size_t end = s.at + s.len;
    while (c->cut->behavior > ATTN_REMOVED && take(c, &next)) {
        if (!belong(c->cut, &s, &next)) {
            c->next = next;
            c->waiting = true;
            break;
        }
        end += next.len;
        if (c->cut->behavior != ATTN_CONTIGUOUS)
            break;
    }
    *piece = c->s + s.at;
    *len = end - s.at;
    return true;
}

bool attn_cutter_next(struct attn_cutter *c, const char **piece, size_t *len)
{
    do {
        if (!next_piece(c, piece, len))
            return false;
    } while (*len == 0);                /* an empty match only separates what is around it */
    return true;
}

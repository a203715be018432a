/* regex_walk.c - finds the matches of a regular expression.
 *
 * All ways through the program that the text so far allows are followed at once, in the order in which they count.  The
 * first of them that reaches the end is the match, unless one before it, which is still under way, does so later. */
#include "text/regex.h"

#include <string.h>

#include "base/utf8.h"
#include "text/letters.h"

enum { STEPS = ATTN_REGEX_STEPS };
/* What may be spent on a text: this, and so much for each of its bytes, which is ten times what patterns in use take
 * (16 to 64).  It is counted in steps, or ranges of a set that are looked at. */
enum { EFFORT = 1 << 26, EFFORT_OF_BYTE = 1 << 9, CLEARED = 64 /* marks */ };

void attn_regex_allow(struct attn_regex_effort *e, size_t bytes)
{
    e->most += (e->most ? 0 : EFFORT) + (uint64_t)bytes * EFFORT_OF_BYTE;
}

static const size_t NONE = (size_t)-1;

/* One search: the steps from `first` on.  mark: when each of them was last reached, so that none is followed twice. */
struct search {
    struct attn_regex_walk *w;
    size_t first;
    uint32_t mark[STEPS], round;
};
struct ways { uint16_t step[STEPS]; size_t n; };

static size_t find(struct attn_regex_walk *w, size_t first, size_t steps, size_t at, bool any);

/* The place of the character before `at`. */
static size_t before(const char *s, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)s[at] & 0xC0) == 0x80);
    return at;
}

static bool is_word_at(const struct attn_regex_walk *w, size_t at)
{
    size_t step;
    uint32_t c = at < w->len ? attn_utf8_next(w->s + at, w->len - at, &step) : 0;
    return at < w->len && attn_charset_is_word(c, true);
}

static bool is_edge(const struct attn_regex_walk *w, enum attn_regex_edge edge, size_t at)
{
    const bool end = at == w->len;
    switch (edge) {
    case ATTN_EDGE_LINE_START: return at == 0 || (w->s[at - 1] == '\n' && !end);
    case ATTN_EDGE_LINE_END: return end || w->s[at] == '\n';
    case ATTN_EDGE_START: return at == 0;
    case ATTN_EDGE_END: return end;
    case ATTN_EDGE_LAST_LINE_END: return end || (at + 1 == w->len && w->s[at] == '\n');
    default: return ((at > 0 && is_word_at(w, before(w->s, at))) != is_word_at(w, at)) == (edge == ATTN_EDGE_WORD);
    }
}

static bool holds(struct attn_regex_walk *w, size_t look, size_t at)
{
    const struct attn_regex_step *s = &w->regex->step[look];
    w->effort->spent += (uint64_t)s->or_to;
    for (int i = 0; i < s->or_to; i++) {
        if (at == 0)
            return s->opposite;
        at = before(w->s, at);
    }
    return (find(w, look + 1, (size_t)s->to, at, true) != NONE) != s->opposite;
}

/* Follows the steps from `step` on that take no character. */
static void follow(struct search *f, struct ways *to, size_t step, size_t at)
{
    for (;;) {
        const struct attn_regex_step *s = &f->w->regex->step[step];
        if (f->mark[step - f->first] == f->round)
            return;
        f->mark[step - f->first] = f->round;
        f->w->effort->spent++;
        switch (s->op) {
        case ATTN_REGEX_JUMP:
            step += (size_t)s->to;
            break;
        case ATTN_REGEX_FORK:
            follow(f, to, step + (size_t)s->to, at);
            step += (size_t)s->or_to;
            break;
        case ATTN_REGEX_EDGE:
            if (!is_edge(f->w, (enum attn_regex_edge)s->to, at))
                return;
            step++;
            break;
        case ATTN_REGEX_LOOK:
            if (!holds(f->w, step, at))
                return;
            step += (size_t)s->to + 1;
            break;
        default:
            to->step[to->n++] = (uint16_t)step;
            return;
        }
    }
}

/* Takes the character at `at`, if there is one, on all ways; *step gets its length.  True: one of them ends here. */
static bool advance(struct search *f, const struct ways *now, struct ways *next, size_t at, size_t *step)
{
    const struct attn_regex_walk *w = f->w;
    const uint32_t c = at < w->len ? attn_utf8_next(w->s + at, w->len - at, step) : 0;
    f->round++;
    next->n = 0;
    for (size_t i = 0; i < now->n; i++) {
        const struct attn_regex_step *s = &w->regex->step[now->step[i]];
        if (s->op == ATTN_REGEX_MATCH)
            return true;                /* those behind it do not count */
        w->effort->spent += c < 128 ? 1 : w->regex->sets.node[s->to].weight;
        if (at < w->len && attn_charset_has(&w->regex->sets, s->to, c))
            follow(f, next, now->step[i] + 1u, at + *step);
    }
    return false;
}

/* Where the match from `at` on ends, or NONE.  any: some match will do. */
static size_t find(struct attn_regex_walk *w, size_t first, size_t steps, size_t at, bool any)
{
    struct search f;
    struct ways a, b, *now = &a, *next = &b;
    size_t found = NONE, step = 0;
    f.w = w;
    f.first = first;
    f.round = 1;
    memset(f.mark, 0, steps * sizeof *f.mark);
    w->effort->spent += steps / CLEARED;
    now->n = 0;
    follow(&f, now, first, at);
    for (; now->n > 0 && (found == NONE || !any); at += step) {
        if (advance(&f, now, next, at, &step))
            found = at;
        struct ways *old = now;
        now = next;
        next = old;
        if (attn_regex_tired(w->effort))
            return NONE;
    }
    return found;
}

bool attn_regex_next(struct attn_regex_walk *w, size_t *start, size_t *len)
{
    size_t step, end;
    for (; w->at <= w->len && w->len > 0 && !attn_regex_tired(w->effort); w->at += step) {
        end = find(w, 0, w->regex->n, w->at, false);
        if (end != NONE && (end > w->at || !w->any || w->end != end)) {
            *start = w->at;
            *len = end - w->at;
            w->any = true;
            w->at = w->end = end;
            return true;
        }
        step = 1;                       /* past the end */
        if (w->at < w->len)
            attn_utf8_next(w->s + w->at, w->len - w->at, &step);
    }
    return false;
}

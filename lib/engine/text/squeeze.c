/* squeeze.c - a text as sentencepiece normalises it.
 *
 * Step by step, what stands at a place is replaced: a string that is to be kept as it is (the longest), or what the
 * table has a rule for (the longest), or one character.  With `squeeze`, spaces at the beginning and after another
 * space are dropped, and the ones at the end, where a U+2581 of the text counts as one.  A dummy space goes in front of
 * it all or behind, unless nothing is left.  Then spaces are spelled U+2581. */
#include "text/normal.h"

#include <string.h>

#include "base/utf8.h"

#define SPACE "\u2581"

struct squeezer {
    struct attn_mapped *out;
    const struct attn_normal *n;
    const char *s; size_t len;
};

/* What the step at byte `at` reads and gives. */
struct step { size_t read; const char *with; size_t len; };

static struct step step_at(const struct squeezer *q, size_t at)
{
    struct step step = {.with = q->s + at};
    const char *s = q->s + at;
    size_t left = q->len - at;
    if (q->n->kept && attn_trie_longest(q->n->kept, s, left, &step.read) >= 0) {
        step.len = step.read;
        return step;
    }
    const char *with = q->n->map ? attn_charsmap_find(q->n->map, s, left, true, &step.read, &step.len) : NULL;
    if (with) {
        step.with = with;
        return step;
    }
    attn_utf8_next(s, left, &step.read);
    step.len = step.read;
    return step;
}

static const char *space_of(const struct squeezer *q)
{
    return q->n->escape ? SPACE : " ";
}

static void put_space(const struct squeezer *q, size_t at)
{
    attn_mapped_replace(q->out, at, 0, space_of(q), strlen(space_of(q)));
}

/* Writes the result of a step, in parts if it has spaces to be spelled; the first part stands for all that was read. */
static void put(const struct squeezer *q, size_t at, struct step step)
{
    bool spell = q->n->escape && memchr(step.with, ' ', step.len);
    size_t read = step.read;
    if (!spell && step.len == read && (step.with == q->s + at || memcmp(step.with, q->s + at, read) == 0))
        return;
    do {
        bool space = spell && *step.with == ' ';
        const char *next = space ? step.with + 1 : spell ? memchr(step.with, ' ', step.len) : NULL;
        size_t n = next ? (size_t)(next - step.with) : step.len;
        attn_mapped_replace(q->out, at, read, space ? SPACE : step.with, space ? strlen(SPACE) : n);
        at += read;
        read = 0;
        step.with += n;
        step.len -= n;
    } while (step.len > 0);
}

/* The number of bytes at the beginning whose steps each give exactly one space. */
static size_t leading(const struct squeezer *q)
{
    size_t at = 0;
    while (at < q->len) {
        struct step step = step_at(q, at);
        if (step.len != 1 || step.with[0] != ' ')
            break;
        at += step.read;
    }
    return at;
}

static void put_all(const struct squeezer *q, size_t at)
{
    bool after_space = q->n->squeeze;
    for (struct step step; at < q->len; at += step.read) {
        struct step rest = step = step_at(q, at);
        while (after_space && rest.len > 0 && *rest.with == ' ') {
            rest.with++;
            rest.len--;
        }
        put(q, at, rest);
        if (rest.len > 0)
            after_space = q->n->squeeze && rest.with[rest.len - 1] == ' ';
    }
}

bool attn_squeeze_apply(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len)
{
    const struct squeezer q = {out, n, s, len};
    size_t at = n->squeeze ? leading(&q) : 0;
    if (at > 0)
        attn_mapped_replace(out, 0, at, "", 0);
    if (at == len)
        return attn_mapped_finish(out);
    if (n->dummy && !n->dummy_behind)
        put_space(&q, at);
    put_all(&q, at);
    if (n->squeeze)
        attn_mapped_trim(out, space_of(&q), strlen(space_of(&q)));
    if (n->dummy && n->dummy_behind)
        put_space(&q, len);
    return attn_mapped_finish(out);
}

#include "text/mapped.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void attn_mapped_begin(struct attn_mapped *m, const char *s, size_t len)
{
    m->from = s;
    m->from_len = len;
    m->used = m->n = m->near = m->done = 0;
    m->failed = m->changed = m->over = false;
}

static void append(struct attn_mapped *m, const char *s, size_t len)
{
    m->over = m->over || (m->most && m->used + len > m->most);
    if (m->over)
        return;
    char *own = m->failed ? NULL : attn_grow(m->own, &m->room, m->used + len + 1, 1);
    m->failed = !own;
    if (!own)
        return;
    m->own = own;
    memcpy(own + m->used, s, len);
    m->used += len;
}

static void note(struct attn_mapped *m, const struct attn_swap *c)
{
    struct attn_swap *more = m->failed ||
                             m->unmapped ? NULL : attn_grow(m->change, &m->change_room, m->n + 1, sizeof *more);
    m->failed = m->failed || (!more && !m->unmapped);
    if (!more)
        return;
    m->change = more;
    more[m->n++] = *c;
}

void attn_mapped_replace(struct attn_mapped *m, size_t from, size_t from_len, const char *with, size_t len)
{
    append(m, m->from + m->done, from - m->done);
    note(m, &(struct attn_swap){m->used, len, from, from_len});
    append(m, with, len);
    m->done = from + from_len;
    m->changed = true;
}

void attn_mapped_trim(struct attn_mapped *m, const char *end, size_t len)
{
    size_t before = m->used + m->from_len - m->done;
    append(m, m->from + m->done, m->from_len - m->done);
    m->done = m->from_len;
    m->changed = true;
    while (!m->failed && m->used >= len && memcmp(m->own + m->used - len, end, len) == 0)
        m->used -= len;
    if (m->failed || m->used == before)
        return;
    while (m->n > 0 && m->change[m->n - 1].at >= m->used)
        m->n--;
    if (m->n > 0 && m->change[m->n - 1].at + m->change[m->n - 1].len > m->used)
        m->change[m->n - 1].len = m->used - m->change[m->n - 1].at;
}

bool attn_mapped_finish(struct attn_mapped *m)
{
    if (m->changed)
        append(m, m->from + m->done, m->from_len - m->done);
    m->text = m->changed ? m->own : m->from;
    m->len = m->over ? m->most + 1 : m->changed ? m->used : m->from_len;
    return !m->failed;
}

/* The number of changes that begin before byte `at`.  Places are mostly asked for in ascending order. */
static size_t before(struct attn_mapped *m, size_t at)
{
    size_t lo = 0, hi = m->n, near = m->near;
    if (near > 0 && m->change[near - 1].at >= at)
        hi = near - 1;
    else if (near >= m->n || m->change[near].at >= at)
        return near;
    else if (near + 1 >= m->n || m->change[near + 1].at >= at)
        return m->near = near + 1;
    else
        lo = near + 1;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (m->change[middle].at < at)
            lo = middle + 1;
        else
            hi = middle;
    }
    return m->near = lo;
}

size_t attn_mapped_start(struct attn_mapped *m, size_t at)
{
    size_t k = before(m, at + 1);       /* an insertion or replacement that begins right here counts */
    if (k == 0)
        return at;
    const struct attn_swap *c = &m->change[k - 1];
    return at < c->at + c->len ? c->from : c->from + c->from_len + (at - c->at - c->len);
}

size_t attn_mapped_end(struct attn_mapped *m, size_t at)
{
    size_t k = before(m, at);
    if (k == 0)
        return at;
    const struct attn_swap *c = &m->change[k - 1];
    return at <= c->at + c->len ? c->from + c->from_len : c->from + c->from_len + (at - c->at - c->len);
}

void attn_mapped_free(struct attn_mapped *m)
{
    free(m->own);
    free(m->change);
    *m = (struct attn_mapped){0};
}

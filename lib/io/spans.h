/* spans.h - the tokens of a text while they are found: ids, and the bytes of the text they stand for. */
#ifndef ATTN_IO_SPANS_H
#define ATTN_IO_SPANS_H

#include "base/grow.h"

struct attn_span { int32_t id; size_t start, end; };
struct attn_spans { struct attn_span *span; size_t n, room; };

/* false: no memory. */
static inline bool attn_spans_add(struct attn_spans *s, int32_t id, size_t start, size_t end)
{
    struct attn_span *span = attn_grow(s->span, &s->room, s->n + 1, sizeof *span);
    if (!span)
        return false;
    s->span = span;
    span[s->n++] = (struct attn_span){.id = id, .start = start, .end = end};
    return true;
}

#endif

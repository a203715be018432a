/* spans.h - the tokens of a text while it is encoded: ids and, unless ids_only is set, the bytes of the text they
 * stand for. */
#ifndef ATTN_TEXT_SPANS_H
#define ATTN_TEXT_SPANS_H

#include "base/grow.h"

struct attn_byte_range { size_t start, end; };
struct attn_spans {
    int32_t *id; size_t n, room;
    struct attn_byte_range *place; size_t place_room;                    /* [n]; NULL with ids_only */
    bool ids_only;
};

/* Makes room for n more; false: no memory. */
static inline bool attn_spans_reserve(struct attn_spans *s, size_t n)
{
    int32_t *id = attn_grow(s->id, &s->room, s->n + n, sizeof *id);
    if (!id)
        return false;
    s->id = id;
    struct attn_byte_range *place = s->ids_only ? NULL : attn_grow(s->place, &s->place_room, s->n + n, sizeof *place);
    if (place)
        s->place = place;
    return place || s->ids_only;
}

/* false: no memory. */
static inline bool attn_spans_add(struct attn_spans *s, int32_t id, size_t start, size_t end)
{
    if (!attn_spans_reserve(s, 1))
        return false;
    s->id[s->n] = id;
    if (!s->ids_only)
        s->place[s->n] = (struct attn_byte_range){start, end};
    s->n++;
    return true;
}

static inline void attn_spans_free(struct attn_spans *s)            /* zeroed is fine */
{
    free(s->id);
    free(s->place);
}

#endif

#include "compute/room.h"

#include "base/size.h"
#include "compute/linear.h"
#include "compute/online.h"
#include "compute/sparse.h"
#include "compute/vec.h"

enum { WAVE = 1 << 20 };                /* floats of the bands of a wave, if there are so many: enough for all threads */

static size_t times(size_t a, size_t b)
{
    size_t all;
    return __builtin_mul_overflow(a, b, &all) ? SIZE_MAX : all;
}

/* Whole panels plus 16, which avoids powers of two: rows at such distances map to the same cache sets. */
size_t attn_room_ld(const struct attn_room *r, size_t keys)
{
    bool blocks = r->kind.form == ATTN_BLOCK && !r->told && r->kind.dropout <= 0;
    size_t columns = blocks ? attn_online_columns(r->kind.b, keys) : keys;
    return up(columns, ATTN_PANEL) + 16;
}

static size_t spare_of(const struct attn_room *r)
{
    switch (r->kind.form) {
    case ATTN_STRIDED:
    case ATTN_RANDOM: return attn_sparse_spare(r->keys, r->dh, r->dv);
    case ATTN_BLOCK:  return attn_online_spare(r->dv);
    case ATTN_LINEAR: return attn_linear_spare(r->dh, r->dv);
    default:          return 0;
    }
}

size_t attn_room_own(const struct attn_room *r)
{
    return r->kind.form == ATTN_LINEAR ? r->keys : r->own;
}

void attn_room_lay_out(struct attn_room *r, struct attn_arena *a)
{
    size_t ld = attn_room_ld(r, r->keys), threads = (size_t)r->threads, rows = times(threads, smaller(r->longest, ATTN_BAND));
    if (r->told)
        rows = larger(rows, smaller(WAVE / ld, times(r->H, r->rows)));
    if (r->whole)
        rows = larger(rows, times(r->H, r->longest));
    r->numbers = times(rows, ld);
    r->each = attn_keys_size(attn_room_own(r), r->dh, r->dv);
    r->spare_each = spare_of(r);
    r->seat = attn_arena_bytes(a, threads, sizeof *r->seat);
    r->place = attn_arena_f32(a, threads, r->each, 1);
    r->bands = attn_arena_f32(a, r->numbers, 1, 1);
    r->spare = attn_arena_f32(a, threads, r->spare_each, 1);
    r->list = attn_arena_bytes(a, attn_kind_picks(&r->kind) ? times(2 * threads, r->positions) : 0, sizeof *r->list);
}

struct attn_spare attn_room_spare(const struct attn_room *r, int worker)
{
    size_t *list = r->list + 2 * (size_t)worker * r->positions;
    return (struct attn_spare){r->spare + (size_t)worker * r->spare_each, list, list + r->positions};
}

static bool before(const struct attn_lost *a, const struct attn_lost *b)
{
    if (a->layer != b->layer)
        return a->layer < b->layer;
    if (a->seq != b->seq)
        return a->seq < b->seq;
    return a->head != b->head ? a->head < b->head : a->row < b->row;
}

void attn_lost_add(struct attn_lost *to, const struct attn_lost *more)
{
    size_t rows = to->rows + more->rows;
    if (more->rows && (!to->rows || before(more, to)))
        *to = *more;
    to->rows = rows;
}

/* scratch.c - how much memory attention needs, and who has which part of it: bands, and for each worker copies of keys and
 * values and what its method needs. */
#include "compute/heads.h"

#include "base/size.h"
#include "compute/vec.h"

enum { WAVE = 1 << 20 };                /* floats of the bands of a wave, if there are so many: enough for all threads */

static size_t times(size_t a, size_t b)
{
    size_t all;
    return __builtin_mul_overflow(a, b, &all) ? SIZE_MAX : all;
}

/* Whole panels plus 16, which avoids powers of two: rows at such distances map to the same cache sets. */
size_t attn_scratch_ld(const struct attn_scratch *s, size_t keys)
{
    bool blocks = s->kind.form == ATTN_BLOCK && !s->watched && s->kind.dropout <= 0;
    size_t columns = blocks ? attn_online_columns(s->kind.b, keys) : keys;
    return up(columns, ATTN_PANEL) + 16;
}

static size_t method_floats(const struct attn_scratch *s)
{
    struct attn_kind kind = s->kind;
    kind.dropout = 0;                   /* what changes weights takes no more */
    const struct attn_method *method = attn_method_of(&kind, false, false);
    return method->scratch ? method->scratch(s->keys, s->dh, s->dv) : 0;
}

void attn_scratch_lay_out(struct attn_scratch *s, struct attn_arena *a)
{
    size_t ld = attn_scratch_ld(s, s->keys), threads = (size_t)s->threads, rows = times(threads, smaller(s->longest, ATTN_BAND));
    if (s->watched)
        rows = larger(rows, smaller(WAVE / ld, times(s->H, s->rows)));
    if (s->whole)
        rows = larger(rows, times(s->H, s->longest));
    s->band_floats = times(rows, ld);
    s->copied = s->kind.form == ATTN_LINEAR ? s->keys : s->own;         /* linear attention has phi of cached keys, too */
    s->keys_floats = attn_keys_size(s->copied, s->dh, s->dv);
    s->method_floats = method_floats(s);
    s->worker = attn_arena_bytes(a, threads, sizeof *s->worker);
    s->keys_of_worker = attn_arena_f32(a, threads, s->keys_floats, 1);
    s->bands = attn_arena_f32(a, s->band_floats, 1, 1);
    s->method_x = attn_arena_f32(a, threads, s->method_floats, 1);
    s->list = attn_arena_bytes(a, attn_kind_picks(&s->kind) ? times(2 * threads, s->positions) : 0, sizeof *s->list);
}

struct attn_method_scratch attn_scratch_method(const struct attn_scratch *s, int worker)
{
    size_t *list = s->list + 2 * (size_t)worker * s->positions;
    return (struct attn_method_scratch){s->method_x + (size_t)worker * s->method_floats, list, list + s->positions};
}

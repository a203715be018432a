#include "making/draw.h"

#include "base/err.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 1 << 20 };         /* a safetensors header, at most 100 MB, could not name many more */

/* ---- the tensors of a model ---------------------------------------------------------------- */

static bool count_numbers(const struct attn_slot *s, size_t *n)
{
    size_t bytes;
    *n = s->shape[0];
    bool overflow = s->ndim == 2 && __builtin_mul_overflow(*n, s->shape[1], n);
    return !overflow && !__builtin_mul_overflow(*n, sizeof(float), &bytes) && bytes <= PTRDIFF_MAX;
}

static int no_memory(const struct attn_slot *s, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory for %s, %zu rows of %zu numbers", s->name, s->shape[0],
                     s->ndim == 2 ? s->shape[1] : 1);
}

static int add_tensor(struct attn_draw *d, const struct attn_slot *slot, size_t *room, struct attn_err *err)
{
    size_t numbers;
    if (d->n == MAX_TENSORS)
        return attn_fail(err, ATTN_EUSAGE, "%zu layers make more than %d tensors", d->config->L, (int)MAX_TENSORS);
    struct attn_drawn *t = attn_grow(d->t, room, d->n + 1, sizeof *t);
    if (!t)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu tensors", d->n + 1);
    d->t = t;
    if (!count_numbers(slot, &numbers))
        return no_memory(slot, err);
    t[d->n++] = (struct attn_drawn){.slot = *slot, .count = numbers};
    return ATTN_OK;
}

/* Whether a tensor is not drawn by itself: keys and values may share the queries' tensor, and there is no final norm
 * if the last block's output is wider or narrower than d. */
static bool is_left_out(const struct attn_config *c, const struct attn_slot *s)
{
    bool shared = s->part != ATTN_PART_Q && c->family->part[s->part].share != ATTN_ALONE;
    return shared || (s->part == ATTN_PART_NORM_FINAL && attn_layout_width(c) != c->d);
}

int attn_draw_open(struct attn_draw *d, const struct attn_config *config, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(config);
    struct attn_slot slot;
    size_t room = 0;
    int rc = ATTN_OK;
    *d = (struct attn_draw){.config = config};
    while (!rc && attn_layout_next(&walk, &slot))
        rc = is_left_out(config, &slot) ? ATTN_OK : add_tensor(d, &slot, &room, err);
    if (rc)
        attn_draw_close(d);
    return rc;
}

void attn_draw_close(struct attn_draw *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->t[i].x);
    free(d->t);
    *d = (struct attn_draw){0};
}

/* ---- drawing one tensor -------------------------------------------------------------------- */

/* Number of inputs of the linear layer that a weight or bias belongs to. */
static size_t inputs(const struct attn_config *c, enum attn_part p)
{
    switch (p) {
    case ATTN_PART_O:
        return c->H * c->dv;
    case ATTN_PART_MLP_OUT:
        return c->m;
    default:
        return c->d;
    }
}

static bool is_linear(enum attn_part p)
{
    return p >= ATTN_PART_Q && p <= ATTN_PART_UNEMBED && p != ATTN_PART_NORM2 && p != ATTN_PART_NORM_FINAL;
}

/* Head h of n heads that lie side by side in a tensor; the whole tensor is head 0 of 1. */
static struct attn_submatrix area_of(struct attn_drawn *t, size_t h, size_t n)
{
    size_t rows = t->slot.ndim == 2 ? t->slot.shape[0] : 1, cols = t->slot.shape[t->slot.ndim - 1];
    return (struct attn_submatrix){.x = t->x + h * (cols / n), .rows = rows, .cols = cols / n, .ld = cols};
}

/* Allocates the tensor, zeroed, unless that has been done. */
static int make_room(struct attn_drawn *t, struct attn_err *err)
{
    if (!t->x)
        t->x = calloc(t->count ? t->count : 1, sizeof *t->x);
    return t->x ? ATTN_OK : no_memory(&t->slot, err);
}

int attn_draw_tensor(struct attn_draw *d, size_t i, size_t h, size_t heads, const struct attn_dist *dist,
                     struct attn_err *err)
{
    struct attn_drawn *t = &d->t[i], *next = i + 1 < d->n ? t + 1 : NULL;
    if (dist->kind == ATTN_DIST_LINEAR && !is_linear(t->slot.part))
        return attn_fail(err, ATTN_EUSAGE, "linear draws matrices; %s is none: use randn, zeros or ones", t->slot.name);
    if (dist->kind == ATTN_DIST_IDENTITY && t->slot.ndim != 2)
        return attn_fail(err, ATTN_EUSAGE, "identity is a matrix; %s is none", t->slot.name);
    int rc = make_room(t, err);
    if (rc)
        return rc;
    struct attn_submatrix area = area_of(t, h, heads);
    rc = attn_dist_fill(&area, &d->rng, dist, inputs(d->config, t->slot.part), err);
    bool own_bias = next && !t->slot.is_bias && next->slot.is_bias && next->slot.part == t->slot.part;
    if (!rc && own_bias && dist->kind == ATTN_DIST_LINEAR && next->slot.required)
        return attn_draw_tensor(d, i + 1, h, heads, dist, err);
    return rc;
}

/* Whether it may not stay undrawn.  LayerNorm has a bias wherever it has a weight, which comes right before the bias. */
static bool is_needed(const struct attn_draw *d, size_t i)
{
    const struct attn_slot *s = &d->t[i].slot;
    bool of_norm = s->is_bias && !is_linear(s->part);
    return s->required || (of_norm && d->t[i - 1].x);
}

int attn_draw_finish(struct attn_draw *d, struct attn_err *err)
{
    char list[256];
    size_t missing = 0, shown = 0, len = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct attn_drawn *t = &d->t[i];
        if (t->x || !is_needed(d, i))
            continue;
        if (t->slot.is_bias) {
            int rc = make_room(t, err);
            if (rc)
                return rc;
            continue;
        }
        missing++;
        if (len + ATTN_SLOT_NAME_MAX + 2 > sizeof list)
            continue;
        len += (size_t)sprintf(list + len, "%s%s", shown ? ", " : "", t->slot.name);
        shown++;
    }
    if (missing)
        return attn_fail(err, ATTN_EUSAGE, "draw: no step draws %zu of the model's weights: %s%s", missing, list,
                         shown < missing ? ", ..." : "");
    return ATTN_OK;
}

int attn_draw_plain(struct attn_draw *d, size_t i, struct attn_err *err)
{
    static const struct attn_dist normal = {.kind = ATTN_DIST_NORMAL, .b = 0.02}, ones = {.kind = ATTN_DIST_CONSTANT, .a = 1};
    const struct attn_slot *s = &d->t[i].slot;
    if (s->is_bias)
        return s->required ? make_room(&d->t[i], err) : ATTN_OK;
    return attn_draw_tensor(d, i, 0, 1, s->ndim == 1 ? &ones : &normal, err);
}

int attn_draw_default(struct attn_draw *d, struct attn_err *err)
{
    static const struct attn_dist randn = {.kind = ATTN_DIST_NORMAL, .b = 1}, linear = {.kind = ATTN_DIST_LINEAR},
                                  ones = {.kind = ATTN_DIST_CONSTANT, .a = 1};
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_slot *s = &d->t[i].slot;
        bool table = s->part == ATTN_PART_EMBED || s->part == ATTN_PART_POS_EMBED;
        if (s->is_bias)
            continue;                   /* drawn with its weight, or zero */
        int rc = attn_draw_tensor(d, i, 0, 1, table ? &randn : is_linear(s->part) ? &linear : &ones, err);
        if (rc)
            return rc;
    }
    return attn_draw_finish(d, err);
}

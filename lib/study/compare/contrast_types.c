/* contrast_types.c - weights that a side stores in blocks of few bits have an error that their type explains. */
#include "compare/contrast.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "compute/dtype.h"

static bool in_blocks(const char *dtype)
{
    enum attn_dtype type;
    return attn_dtype_named(dtype, &type) && attn_dtype_in_blocks(type);
}

double attn_contrast_relative(double squares, double squares_b)
{
    return squares_b > 0 ? sqrt(squares / squares_b) : (double)NAN;
}

/* That of the weight, which is new where it is the first of its types; NULL: there is no memory. */
static struct attn_contrast_type *type_of(struct attn_contrast *c, const struct attn_contrast_weight *w)
{
    for (size_t i = 0; i < c->result.types; i++)
        if (!strcmp(c->type[i].dtype[0], w->dtype[0]) && !strcmp(c->type[i].dtype[1], w->dtype[1]))
            return &c->type[i];
    struct attn_contrast_type *more = attn_grow(c->type, &c->type_room, c->result.types + 1, sizeof *more);
    if (!more)
        return NULL;
    c->type = more;
    more += c->result.types++;
    *more = (struct attn_contrast_type){.dtype = {w->dtype[0], w->dtype[1]},
                                        .blocks = {in_blocks(w->dtype[0]), in_blocks(w->dtype[1])}};
    return more;
}

int attn_contrast_types(struct attn_contrast *c, struct attn_err *err)
{
    for (size_t i = 0; i < c->result.weight_rows; i++) {
        const struct attn_contrast_weight *w = &c->weight[i];
        bool retyped = w->kind == ATTN_DIFF_SAME && strcmp(w->dtype[0], w->dtype[1]) != 0;
        if (!retyped && !(w->squares_b > 0))
            continue;
        struct attn_contrast_type *t = type_of(c, w);
        if (!t)
            return attn_no_memory(err, NULL, "to compare types of weights");
        t->same += retyped;
        if (retyped)
            continue;
        if (w->rounded)
            t->rounded[w->rounded - 1]++;
        double error = attn_contrast_relative(w->squares, w->squares_b);
        t->weights++;
        t->squares += w->squares;
        t->squares_b += w->squares_b;
        t->worst = error > t->worst_relative ? w->name : t->worst;
        t->worst_relative = fmax(error, t->worst_relative);
    }
    return ATTN_OK;
}

const struct attn_contrast_weight *attn_contrast_quantised(const struct attn_contrasted *r, int *side)
{
    for (size_t i = 0; i < r->weight_rows; i++) {
        const struct attn_contrast_weight *w = &r->weight[i];
        bool differs = w->kind == ATTN_DIFF_NUMBERS || w->kind == ATTN_DIFF_SHAPE;
        if (!differs || in_blocks(w->dtype[0]) == in_blocks(w->dtype[1]))
            continue;
        *side = in_blocks(w->dtype[1]);
        return w;
    }
    return NULL;
}

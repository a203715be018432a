#include "train/curve.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/num.h"

bool attn_curve_add(struct attn_curve *c, const struct attn_point *p)
{
    struct attn_point *point = attn_grow(c->point, &c->room, c->n + 1, sizeof *point);
    if (!point)
        return false;
    c->point = point;
    point[c->n++] = *p;
    return true;
}

void attn_curve_write(struct attn_out *out, const struct attn_curve *c)
{
    attn_out_str(out, "step,tokens,lr,loss,gradient,held_out,bits_per_byte\n");
    for (size_t i = 0; i < c->n; i++) {
        double x[ATTN_POINT_NUMBERS];
        char text[ATTN_NUM_MAX];
        memcpy(x, &c->point[i], sizeof x);
        for (int k = 0; k < ATTN_POINT_NUMBERS; k++) {
            if (k > 0)
                attn_out_char(out, ',');
            if (!isnan(x[k]))
                attn_out_write(out, text, attn_num_f64(text, x[k]));
        }
        attn_out_char(out, '\n');
    }
}

void attn_curve_free(struct attn_curve *c)
{
    free(c->point);
    *c = (struct attn_curve){0};
}

double attn_curve_best(const struct attn_curve *c)
{
    double best = INFINITY;
    for (size_t i = 0; i < c->n; i++)
        if (c->point[i].held_out < best)
            best = c->point[i].held_out;
    return best;
}

#include "picture/plot.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"

enum { FRAMES = 8 };                    /* times shown, unless attn_plot_opts.frames says otherwise */

/* The size of an axis, counted from the end, of an array [times, heads, rows, cols] or [times, rows, cols]. */
static size_t axis(const struct attn_dumped *what, int from_end)
{
    return what->of.shape[what->of.ndim - from_end];
}

size_t attn_plot_history_heads(const struct attn_dumped *what)
{
    return what->of.ndim > 3 ? axis(what, 3) : 0;
}

static size_t times(const struct attn_plot *p)
{
    return smaller(p->dump->n_steps, p->o->frames ? p->o->frames : FRAMES);
}

/* The k-th of the times shown, which are evenly spread and include the first and the last one. */
static size_t time_at(const struct attn_plot *p, size_t k)
{
    size_t n = times(p), last = p->dump->n_steps - 1;
    return n > 1 ? (k * last + (n - 1) / 2) / (n - 1) : last;
}

/* Lists the steps that are shown; the list belongs to the plot. */
static const size_t *list_steps(struct attn_plot *p, size_t item)
{
    size_t n = times(p), *list = p->numbers[item] = calloc(n, sizeof *list);
    for (size_t k = 0; list && k < n; k++)
        list[k] = (size_t)p->dump->steps[time_at(p, k)];
    return list;
}

static int add_sheet(struct attn_plot *p, const struct attn_sheet *sheet, const struct attn_dumped *what, size_t head,
                     struct attn_err *err)
{
    size_t size = sheet->rows * sheet->cols, heads = attn_plot_history_heads(what);
    float *own = NULL;
    int rc = attn_album_add(&p->album, sheet, &own, err);
    for (size_t k = 0; k < sheet->n && !rc; k++) {
        size_t at = time_at(p, k) * (heads ? heads : 1) + head;
        memcpy(own + k * size, what->of.data + at * size, size * sizeof *own);
    }
    return rc;
}

int attn_plot_add_history(struct attn_plot *p, size_t item, struct attn_err *err)
{
    const struct attn_dumped *what = &p->dump->item[item];
    size_t heads = attn_plot_history_heads(what);
    if (what->of.ndim > 4 || what->of.n == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: '%s' is %s: expected a matrix, or one per head, at each time", p->o->title, what->name,
                         what->of.n ? "an array of more axes" : "empty");
    struct attn_sheet s = {.n = times(p), .rows = axis(what, 2), .cols = axis(what, 1), .steps = list_steps(p, item)};
    if (!s.steps)
        return attn_fail(err, ATTN_ENOMEM, "no memory for the times of '%s'", what->name);
    int rc = ATTN_OK;
    for (size_t h = 0; h < (heads ? heads : 1) && !rc; h++) {
        s.head = heads ? attn_plot_head(what, h) : ATTN_NO_HEAD;
        attn_plot_name(p, &s, what->name, p->keys.n == s.cols);
        if ((!heads || p->head[s.head]) && (s.layer < 0 || p->layer[s.layer]))
            rc = add_sheet(p, &s, what, h, err);
    }
    return rc;
}

/* plot.h - what a plot is made of while it is made: plot.c for one run, plot_history.c for what was watched in training. */
#ifndef ATTN_PLOT_H
#define ATTN_PLOT_H

#include "io/dump.h"
#include "picture/album.h"

struct attn_plot {
    const struct attn_dump *dump;
    const struct attn_plot_opts *o;
    bool *show, *layer, *head;          /* which items, layers and heads of the dump are wanted */
    size_t layers, heads;
    size_t **numbers;                   /* of the heads of each item, or the steps of training */
    struct attn_tokens queries, keys;
    struct attn_album album;
};

size_t attn_plot_head(const struct attn_dumped *what, size_t i);    /* the model's number of the i-th head */
/* Title and kind of a sheet whose sizes are there. */
void attn_plot_name(const struct attn_plot *p, struct attn_sheet *s, const char *name, bool labelled);

/* Of an item whose first axis is time: a sheet for each head that is wanted, a matrix for each time. */
int attn_plot_add_history(struct attn_plot *p, size_t item, struct attn_err *err);
size_t attn_plot_history_heads(const struct attn_dumped *what);     /* 0: no head axis */

#endif

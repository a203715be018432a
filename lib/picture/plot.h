/* plot.h - a plot while it is made: by plot.c of one run, by plot_history.c of activations watched in training. */
#ifndef ATTN_PLOT_H
#define ATTN_PLOT_H

#include "io/dump.h"
#include "picture/album.h"

struct attn_plot {
    const struct attn_dump *dump;
    const struct attn_plot_opts *o;
    bool *show, *layer, *head;          /* which items, layers and heads of the dump are wanted */
    size_t layers, heads;
    size_t **numbers;                   /* for each item, the numbers of its heads, or of the steps of training */
    struct attn_tokens queries, keys;
    struct attn_album album;
    size_t first[ATTN_ACTS];            /* the first sheet of each activation's kind, if there is one */
};

size_t attn_plot_head(const struct attn_dumped *what, size_t i);    /* the number in the model of the item's i-th head */
/* Sets title and kind of a sheet; its rows and cols must be set. */
void attn_plot_name(struct attn_plot *p, struct attn_sheet *s, const char *name, bool labelled);

/* Adds an item whose first axis is time: a sheet for each head that is wanted, with a matrix for each time shown. */
int attn_plot_add_history(struct attn_plot *p, size_t item, struct attn_err *err);
size_t attn_plot_history_heads(const struct attn_dumped *what);     /* how many heads it has; 0: no head axis */

#endif

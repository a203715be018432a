#include "trace/slice.h"

#include <string.h>

bool attn_slice_next(struct attn_slice *out, const struct attn_select *s, const struct attn_probe *p, size_t *at)
{
    if (!attn_select_wants(s, p->act, p->layer))
        return false;
    size_t n, T = p->shape[p->ndim - 2];
    const size_t *kept = attn_select_heads(s, p->act, &n);
    size_t i = *at, h = p->head0;
    while (i < n && kept[i] < p->head0)
        i++;
    if (i >= (n ? n : 1) || (n && kept[i] >= p->head0 + p->heads))
        return false;
    if (n)
        h = kept[i];
    *at = i + 1;
    *out = (struct attn_slice){
        .of = p, .kept = kept, .n_kept = n, .head = n ? (int)h : -1, .nth = i, .matrices = n ? n : 1,
        .row0 = p->row0, .rows = p->rows, .cols = p->cols, .T = T, .ld = p->ld,
        .data = p->data + (h - p->head0) * p->ld_head,
    };
    return true;
}

bool attn_slice_opens_matrix(const struct attn_slice *p)
{
    return p->row0 == 0;
}

bool attn_slice_ends_matrix(const struct attn_slice *p)
{
    return p->row0 + p->rows == p->T;
}

bool attn_slice_opens(const struct attn_slice *p)
{
    return p->nth == 0 && attn_slice_opens_matrix(p);
}

bool attn_slice_ends(const struct attn_slice *p)
{
    return p->nth + 1 == p->matrices && attn_slice_ends_matrix(p);
}

const float *attn_slice_row(const struct attn_slice *p, size_t i)
{
    return p->data + i * p->ld;
}

size_t attn_slice_together(const struct attn_slice *p)
{
    return p->ld == p->cols ? p->rows : 1;
}

void attn_slice_keep(float *to, const struct attn_slice *p)
{
    size_t together = attn_slice_together(p);
    for (size_t i = 0; i < p->rows; i += together)
        memcpy(to + (p->nth * p->T + p->row0 + i) * p->cols, attn_slice_row(p, i), together * p->cols * sizeof *to);
}

int attn_slice_shape(size_t shape[3], const struct attn_slice *p)
{
    int n = 0;
    if (p->n_kept)
        shape[n++] = p->n_kept;
    shape[n++] = p->T;
    shape[n++] = p->cols;
    return n;
}

unsigned attn_slice_wants(const struct attn_select *s, int act, int layer, bool one_stream)
{
    if (!attn_select_wants(s, act, layer))
        return 0;
    bool alternates = attn_act_alternates(act) && attn_select_interleaved(s, layer);
    return ATTN_WATCH | ATTN_DERIVE | (one_stream && alternates ? ATTN_WHOLE : 0);
}

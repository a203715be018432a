#include "sinks/piece.h"

bool attn_piece_next(struct attn_piece *out, const struct attn_select *s, const struct attn_probe *p, size_t *at)
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
    *out = (struct attn_piece){
        .of = p, .kept = kept, .n_kept = n, .head = n ? (int)h : -1, .nth = i, .matrices = n ? n : 1,
        .row0 = p->row0, .rows = p->rows, .cols = p->cols, .T = T, .ld = p->ld,
        .data = p->data + (h - p->head0) * p->ld_head,
    };
    return true;
}

bool attn_piece_opens_matrix(const struct attn_piece *p)
{
    return p->row0 == 0;
}

bool attn_piece_ends_matrix(const struct attn_piece *p)
{
    return p->row0 + p->rows == p->T;
}

bool attn_piece_opens(const struct attn_piece *p)
{
    return p->nth == 0 && attn_piece_opens_matrix(p);
}

bool attn_piece_ends(const struct attn_piece *p)
{
    return p->nth + 1 == p->matrices && attn_piece_ends_matrix(p);
}

const float *attn_piece_row(const struct attn_piece *p, size_t i)
{
    return p->data + i * p->ld;
}

size_t attn_piece_together(const struct attn_piece *p)
{
    return p->ld == p->cols ? p->rows : 1;
}

int attn_piece_shape(size_t shape[3], const struct attn_piece *p)
{
    int n = 0;
    if (p->n_kept)
        shape[n++] = p->n_kept;
    shape[n++] = p->T;
    shape[n++] = p->cols;
    return n;
}

unsigned attn_piece_wants(const struct attn_select *s, int act, int layer, bool one_stream)
{
    if (!attn_select_wants(s, act, layer))
        return 0;
    bool turns = attn_act_square(act) && attn_select_interleaved(s, layer);
    return ATTN_WATCH | (one_stream && turns ? ATTN_WHOLE : 0);
}

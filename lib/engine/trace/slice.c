#include "trace/slice.h"

#include <string.h>

#include "base/num.h"

bool attn_slice_next(struct attn_slice *out, const struct attn_select *s, const struct attn_probe *p, size_t *at)
{
    if (!attn_select_wants(s, p->act, p->layer))
        return false;
    size_t n, T = p->shape[p->ndim - 2];
    const size_t *kept = attn_select_heads(s, p->act, p->layer, &n);
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
        .f64 = p->f64 ? p->f64 + (h - p->head0) * p->ld_head : NULL,
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

double attn_slice_number(const struct attn_slice *p, size_t i, size_t j)
{
    return p->f64 ? p->f64[i * p->ld + j] : (double)p->data[i * p->ld + j];
}

size_t attn_slice_text(char *buf, const struct attn_slice *p, size_t i, size_t j, size_t n, char before)
{
    char *at = buf;
    if (!p->f64)
        return attn_num_f32s(buf, attn_slice_row(p, i) + j, n, before);
    for (size_t end = j + n; j < end; j++) {
        *at++ = before;
        at += attn_num_f64(at, p->f64[i * p->ld + j]);
    }
    return (size_t)(at - buf);
}

size_t attn_slice_text_most(const struct attn_slice *p, size_t n)
{
    return p->f64 ? (n + 1) * (1 + ATTN_NUM_MAX) : ATTN_NUM_F32S(n);
}

const void *attn_slice_bytes(const struct attn_slice *p, size_t i)
{
    return p->f64 ? (const void *)(p->f64 + i * p->ld) : (const void *)attn_slice_row(p, i);
}

size_t attn_slice_size(const struct attn_slice *p) { return p->f64 ? sizeof *p->f64 : sizeof *p->data; }

size_t attn_slice_together(const struct attn_slice *p)
{
    return p->ld == p->cols ? p->rows : 1;
}

void attn_slice_keep(float *to, double *f64, const struct attn_slice *p)
{
    size_t together = attn_slice_together(p), n = together * p->cols;
    for (size_t i = 0; i < p->rows; i += together) {
        size_t at = (p->nth * p->T + p->row0 + i) * p->cols;
        memcpy(to + at, attn_slice_row(p, i), n * sizeof *to);
        if (f64)
            memcpy(f64 + at, attn_slice_bytes(p, i), n * sizeof *f64);
    }
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

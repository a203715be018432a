#include "sinks/tensor_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "base/num.h"
#include "compute/vec.h"
#include "table/cells.h"

/* ---- by name ----------------------------------------------------------------------------- */

enum { NEAREST = 3 };

static void offer(const char *nearest[NEAREST], unsigned distance[NEAREST], const char *name, unsigned d)
{
    size_t at = NEAREST;
    while (at && (!nearest[at - 1] || d < distance[at - 1]))
        at--;
    if (at == NEAREST || d == ATTN_FAR)
        return;
    for (size_t i = NEAREST - 1; i > at; i--) {
        nearest[i] = nearest[i - 1];
        distance[i] = distance[i - 1];
    }
    nearest[at] = name;
    distance[at] = d;
}

/* A name that has what was typed in it, as q.weight is in blocks.0.attn.q.weight, is nearer than a slip; a slip may be
 * in the end of a name. */
static unsigned distance_to(struct attn_near *near, const char *typed, const char *known)
{
    unsigned best = *typed && strstr(known, typed) ? 0 : ATTN_FAR;
    for (const char *end = known; end && best; end = strchr(end, '.') ? strchr(end, '.') + 1 : NULL) {
        unsigned d = attn_near(near, end, strlen(end), best);
        best = d < best ? d : best;
    }
    return best;
}

static int fail_unknown(const struct attn_model *m, const char *name, struct attn_err *err)
{
    const char *nearest[NEAREST] = {NULL};
    unsigned distance[NEAREST] = {0};
    char list[160] = "";
    struct attn_near near;
    attn_near_start(&near, name, strlen(name));
    for (size_t i = 0; i < m->tensors; i++) {
        const char *known = m->tensor[i]->name;
        offer(nearest, distance, known, distance_to(&near, name, known));
    }
    for (size_t i = 0; i < NEAREST && nearest[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.48s", i ? ", " : "", nearest[i]);
    if (!*list)
        return attn_fail(err, ATTN_EUSAGE, "model %s has no tensor '%.80s'; 'attn-cli info' lists its %zu",
                         m->source.name, name, m->tensors);
    return attn_fail(err, ATTN_EUSAGE, "model %s has no tensor '%.80s'; the nearest: %s", m->source.name, name, list);
}

int attn_tensor_find(size_t *i, const struct attn_model *m, const char *name, struct attn_err *err)
{
    for (*i = 0; *i < m->tensors; ++*i)
        if (!strcmp(m->tensor[*i]->name, name))
            return ATTN_OK;
    return fail_unknown(m, name, err);
}

/* ---- what blocks store ------------------------------------------------------------------- */

static void read_stored(float *to, const struct attn_tensor_sheet *w)
{
    const struct attn_st_tensor *t = w->file;
    const size_t values = attn_dtypes[w->type].values, blocks = t->count / values;
    const bool integers = !strcmp(w->o->stored, "integers"), minima = !strcmp(w->o->stored, "minima");
    const float sign = attn_dtypes[w->type].min == ATTN_MIN_TAKEN ? -1 : 1;
    struct attn_packed b;
    for (size_t i = 0; i < blocks; i++) {
        attn_packed_read(&b, t->data, w->type, i);
        const size_t n = integers ? values : values / b.group;
        for (size_t k = 0; k < n; k++)
            *to++ = integers ? b.integer[k] : minima ? sign * b.min[k] : b.scale[k];
    }
}

/* Makes *as the tensor t with a number for each group, where that is asked for. */
static int shape_stored(struct attn_tensor_sheet *w, const struct attn_st_tensor *t, struct attn_st_tensor *as,
                        struct attn_err *err)
{
    static const char *const parts[] = {"integers", "scales", "minima"};
    struct attn_packed b;
    size_t part = 0;
    while (part < 3 && strcmp(w->o->stored, parts[part]) != 0)
        part++;
    if (part == 3)
        return attn_fail(err, ATTN_EUSAGE, "there is no '%.40s' in a block, expected integers, scales or minima",
                         w->o->stored);
    if (!attn_dtype_named(t->dtype, &w->type) || !attn_dtype_in_blocks(w->type))
        return attn_fail(err, ATTN_EUSAGE, "tensor '%s' is stored as %s: its numbers stand in the file one by one, and "
                                           "have no integers and scales", t->name, t->dtype);
    if (part == 2 && attn_dtypes[w->type].min == ATTN_MIN_NONE)
        return attn_fail(err, ATTN_EUSAGE, "tensor '%s' is stored as %s, whose groups have a scale and no minimum",
                         t->name, t->dtype);
    *as = *t;
    w->of = as;
    if (part == 0 || !t->count)
        return ATTN_OK;
    attn_packed_read(&b, t->data, w->type, 0);
    as->shape[as->ndim - 1] /= b.group;
    as->count /= b.group;
    return ATTN_OK;
}

/* ---- its numbers and labels -------------------------------------------------------------- */

/* One row after the other, by way of a copy: they may not be aligned. */
static int widen(float *to, const struct attn_tensor_sheet *w, struct attn_err *err)
{
    size_t bytes = attn_dtype_bytes(w->type, w->cols);
    void *row = attn_dtype_in_blocks(w->type) ? NULL : malloc(bytes + 1);
    if (!row && !attn_dtype_in_blocks(w->type))
        return attn_no_memory(err, w->of->name, "for a row of %zu numbers", w->cols);
    for (size_t i = 0; i < w->rows; i++) {
        if (row)
            attn_vec_widen(to + i * w->cols, memcpy(row, w->of->data + i * bytes, bytes), w->type, 0, w->cols);
        else
            attn_blocks_decode(to + i * w->cols, w->of->data, w->type, i * w->cols, w->cols);
    }
    free(row);
    return ATTN_OK;
}

static int take_numbers(struct attn_tensor_sheet *w, struct attn_err *err)
{
    const struct attn_st_tensor *t = w->of;
    struct attn_dumped what = {.of = {.ndim = 2, .n = t->count}};
    w->cols = t->ndim ? t->shape[t->ndim - 1] : 1;
    w->rows = w->cols ? t->count / w->cols : 0;
    if (!attn_dtype_named(t->dtype, &w->type))
        return attn_fail(err, ATTN_EFORMAT, "model %s: tensor '%s' is %s: only floats can be shown",
                         w->model->source.name, t->name, t->dtype);
    what.of.shape[0] = w->rows;
    what.of.shape[1] = w->cols;
    what.of.data = calloc(t->count + 1, sizeof *what.of.data);
    if (!what.of.data)
        return attn_no_memory(err, t->name, "for %zu numbers", t->count);
    w->x = what.of.data;
    int rc = ATTN_OK;
    if (w->o->stored)
        read_stored(what.of.data, w);
    else
        rc = widen(what.of.data, w, err);
    if (!rc)
        return attn_dump_add(w->dump, t->name, strlen(t->name), &what, err);
    attn_dump_drop(&what);
    return rc;
}

/* The embedding is the first tensor that a pass reads, an output layer of its own the last: these have a row, or
 * column, for each token of the vocabulary. */
bool attn_sheet_lists_tokens(const struct attn_tensor_sheet *w, size_t axis)
{
    const struct attn_model *m = w->model;
    bool end = w->file == m->tensor[0] || w->file == m->tensor[m->tensors - 1];
    return w->o->tokenizer && end && w->of->ndim == 2 && w->of->shape[axis] == m->w.n.V &&
           w->of->shape[!axis] != m->w.n.V;
}

/* Names tokens for people, and keeps the names for a picture. */
static int name(struct attn_tensor_sheet *w, struct attn_tokens *to, struct attn_dump_list *list, size_t n, bool tokens,
                struct attn_err *err)
{
    int rc = ATTN_OK;
    *to = (struct attn_tokens){.n = n, .tok = calloc(n + 1, sizeof *to->tok)};
    if (!to->tok)
        return attn_no_memory(err, w->of->name, "for %zu labels", n);
    for (size_t i = 0; i < n && !rc; i++) {
        struct attn_token *t = &to->tok[i];
        t->id = (int32_t)i;
        t->text = tokens ? attn_tokenizer_text(w->o->tokenizer, t->id, &t->text_len) : NULL;
        t->known = t->text != NULL;
        if (tokens)
            rc = attn_dump_add_token(w->dump, list, t->known ? -1 : t->id, t->text, t->text_len, err);
    }
    return rc;
}

/* ---- writing it -------------------------------------------------------------------------- */

void attn_sheet_label(const struct attn_tensor_sheet *w, const struct attn_tokens *of, size_t i)
{
    const struct attn_token *t = &of->tok[i];
    if (t->known)
        attn_cell_text(w->out, t->text, t->text_len, w->o->csv_safe);
    else
        attn_out_u64(w->out, i);
}

void attn_sheet_number(const struct attn_tensor_sheet *w, float x)
{
    char buf[ATTN_NUM_MAX];
    attn_out_write(w->out, buf, attn_num_f32(buf, x));
}

static int draw(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    const struct attn_tensor_opts *o = w->o;
    struct attn_plot_opts plot = {.format = o->format, .path = o->path, .title = w->model->source.name,
                                  .width = o->width, .picture = o->picture, .note = o->note};
    return attn_plot(w->dump, &plot, err);
}

static int write(struct attn_tensor_sheet *w, struct attn_err *err)
{
    int rc = attn_format_check(w->o->format, ATTN_FORMAT_TENSOR | ATTN_FORMAT_PICTURE, err);
    if (rc)
        return rc;
    const struct attn_format *f = attn_format_find(w->o->format ? w->o->format : "text");
    if (f->flags & ATTN_FORMAT_PICTURE)
        return draw(w, err);
    rc = attn_out_open(&w->out, w->o->path, err);
    if (!rc)
        rc = attn_format_methods(f)->tensor(w, err);
    if (!rc)
        rc = attn_out_commit(w->out, err);
    attn_out_close(w->out);
    return rc;
}

int attn_tensor_write(const struct attn_model *m, size_t i, const struct attn_tensor_opts *o, struct attn_err *err)
{
    struct attn_tensor_sheet w = {.model = m, .o = o, .of = m->tensor[i], .file = m->tensor[i],
                                  .dump = calloc(1, sizeof *w.dump)};
    if (!w.dump)
        return attn_no_memory(err, NULL, "for a tensor");
    w.dump->path = w.of->name;
    struct attn_st_tensor as;
    int rc = o->stored ? shape_stored(&w, w.of, &as, err) : ATTN_OK;
    if (!rc)
        rc = take_numbers(&w, err);
    if (!rc)
        rc = name(&w, &w.row, &w.dump->rows, w.rows, attn_sheet_lists_tokens(&w, 0), err);
    if (!rc && attn_sheet_lists_tokens(&w, 1))
        rc = name(&w, &w.col, &w.dump->cols, w.cols, true, err);
    if (!rc)
        rc = write(&w, err);
    free(w.row.tok);
    free(w.col.tok);
    attn_dump_free(w.dump);
    return rc;
}

/* touch.c - which numbers would edits change?  Told of each activation that an edit reaches, before anything runs. */
#include "ask/editor.h"

#include "base/err.h"
#include "base/out.h"
#include "base/size.h"

#include <stdlib.h>

struct touch {
    struct attn_editor *e; size_t seq; const struct attn_edit_reach *r; const struct attn_chosen *rows;
    int layer;
};

/* "0,2-4"; NULL: no memory. */
static char *spell(const struct attn_ranges *s)
{
    char *text = NULL;
    struct attn_out *o;
    size_t len;
    if (attn_out_open_memory(&o, NULL))
        return NULL;
    for (size_t i = 0; i < s->n; i++) {
        attn_out_printf(o, "%s%zu", i ? "," : "", s->r[i].lo);
        if (s->r[i].hi > s->r[i].lo + 1)
            attn_out_printf(o, "-%zu", s->r[i].hi - 1);
    }
    attn_out_take(o, &text, &len, NULL);
    attn_out_close(o);
    return text;
}

/* Query heads whose columns of the contexts are edited. */
static bool heads_of_columns(struct attn_ranges *out, const struct attn_ranges *cols, size_t dv)
{
    bool ok = true;
    for (size_t i = 0; i < cols->n && ok; i++)
        ok = attn_ranges_add(out, cols->r[i].lo / dv, (cols->r[i].hi - 1) / dv + 1);
    attn_ranges_join(out);
    return ok;
}

/* How many numbers of one head: hidden cells of scores and patterns are none. */
static int count(uint64_t *out, const struct touch *t, const struct attn_ranges *cols, size_t width,
                 struct attn_err *err)
{
    int rc = ATTN_OK;
    *out = 0;
    for (size_t i = 0; i < t->rows->rows.n; i++)
        for (size_t q = t->rows->rows.r[i].lo; q < t->rows->rows.r[i].hi && !rc; q++) {
            struct attn_edited_row row = {.layer = t->layer, .t = q};
            rc = attn_editor_cells(t->e, &row, t->r, cols, width, err);
            for (size_t c = 0; c < row.cells && !rc; c++)
                *out += row.cell[c].hi - row.cell[c].lo;
        }
    return rc;
}

static int tell_layer(const struct touch *t, const struct attn_touch_watch *watch, struct attn_err *err)
{
    const struct attn_editor *e = t->e;
    bool square = attn_act_square(t->r->act), context = t->r->act == ATTN_ACT_CONTEXT;
    const struct attn_ranges *cols = square ? &t->rows->keys : &t->r->cols;
    struct attn_ranges heads = {0};
    size_t shape[3], Tk = attn_editor_keys(e, &e->text[t->seq]);
    int n = attn_act_shape(shape, &e->venue.info, t->r->act, 1, Tk);
    uint64_t numbers;
    char name[ATTN_NAME_MAX];
    int rc = count(&numbers, t, cols, shape[n - 1], err);
    bool ok = !context || heads_of_columns(&heads, cols, e->venue.info.dv);
    bool headed = context || attn_act_heads(&e->venue.hooks, t->r->act);
    char *at_heads = headed ? spell(context ? &heads : &t->r->heads) : NULL, *at_rows = spell(&t->rows->rows),
    *at_cols = spell(cols);
    attn_act_name(name, t->r->act, t->layer);
    if (!rc && !(ok && at_rows && at_cols && (at_heads || !headed)))
        rc = attn_no_memory(err, NULL, "to list edits");
    struct attn_touch what = {.edit = (size_t)(t->r->edit - e->o.edits->edit), .name = name, .heads = at_heads,
                              .rows = at_rows,
                              .cols = at_cols, .keys = square,
                              .kv = attn_act_kv_heads(t->r->act) && e->venue.info.H != e->venue.info.Hkv,
                              .numbers = numbers * attn_ranges_count(&t->r->heads)};
    if (!rc)
        rc = watch->tell(watch->self, &what, err);
    attn_ranges_free(&heads);
    free(at_heads);
    free(at_rows);
    free(at_cols);
    return rc;
}

int attn_editor_touches(struct attn_editor *e, size_t seq, const struct attn_touch_watch *watch, struct attn_err *err)
{
    if (seq >= e->texts || !e->text[seq].n || e->text[seq].windows)
        return attn_fail(err, ATTN_EUSAGE, "the editor was not told the text of sentence %zu", seq);
    int rc = ATTN_OK;
    for (size_t i = 0; i < e->reaches.n && !rc; i++) {
        struct touch t = {.e = e, .seq = seq, .r = &e->reaches.item[i]};
        const struct attn_edited *text = &e->text[seq];
        rc = attn_editor_choose(&t.rows, e, i, seq, attn_editor_rows(e, text, t.r->act), attn_editor_keys(e, text),
                                err);
        for (size_t k = 0; k < t.r->layers.n && !rc; k++)
            for (size_t row = t.r->layers.r[k].lo; row < t.r->layers.r[k].hi && !rc; row++) {
                t.layer = (int)row - 1;
                rc = tell_layer(&t, watch, err);
            }
    }
    return rc;
}

/* Rows correspond by position where a source has several, so one token in place of a text may not have been meant. */
static bool is_one_token(const struct attn_editor *e, const struct attn_edit *edit)
{
    return edit->origin && edit->value.form != ATTN_VALUE_MEAN && attn_sources_text(e->sources, edit).n == 1;
}

/* The first reach of an edit: reaches are in the order of the edits. */
static size_t first_reach(const struct attn_edit_reaches *all, const struct attn_edit *edit)
{
    size_t lo = 0, hi = all->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (all->item[mid].edit < edit)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t attn_editor_served(struct attn_editor *e, size_t seq, size_t edit)
{
    const struct attn_edited *text = seq < e->texts ? &e->text[seq] : NULL;
    const struct attn_edit *of = &e->o.edits->edit[edit];
    size_t most = 0;
    if (!text || !text->n || text->windows || !is_one_token(e, of))
        return 0;
    for (size_t i = first_reach(&e->reaches, of); i < e->reaches.n && e->reaches.item[i].edit == of; i++) {
        const struct attn_chosen *c;
        if (!attn_editor_choose(&c, e, i, seq, attn_editor_rows(e, text, e->reaches.item[i].act),
                                attn_editor_keys(e, text), NULL))
            most = larger(most, attn_ranges_count(&c->rows));
    }
    return most > 1 ? most : 0;
}

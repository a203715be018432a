#include "sinks/grid.h"

#include "sinks/sink_csv.h"
#include "sinks/sink_json.h"

const char *const attn_grid_axes[3] = {"layer", "head", "pos"};

int attn_grid_index(const struct attn_patch_cell *c, size_t axis)
{
    return axis == 0 ? c->layer : axis == 1 ? c->head : c->pos;
}

/* ---- JSON ---- */

static void key(struct attn_out *o, const char *name, const char *eol)
{
    attn_out_printf(o, ",%s\"%s\":", eol, name);
}

static void write_from(struct attn_out *o, const struct attn_grid_doc *d, const char *eol)
{
    key(o, "from", eol);
    attn_out_str(o, "{\"text\":");
    if (d->from_text)
        attn_out_json(o, d->from_text, d->from_len);
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\"tokens\":");
    attn_doc_tokens(o, d->from, eol);
    attn_out_char(o, '}');
}

static void write_over(struct attn_out *o, unsigned over)
{
    const char *before = "[";
    for (size_t i = 0; i < 3; i++)
        if (over & 1U << i) {
            attn_out_printf(o, "%s\"%s\"", before, attn_grid_axes[i]);
            before = ",";
        }
    attn_out_char(o, ']');
}

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_patch_result *r = self;
    for (size_t axis = 0; axis < 3; axis++)
        if (r->over & 1U << axis)
            *cell++ = attn_datum_index(attn_grid_index(&r->cell[i], axis));
    cell[0] = attn_datum_number(r->cell[i].metric);
    cell[1] = attn_datum_number(r->cell[i].effect);
}

struct attn_table attn_grid_table(const struct attn_patch_result *r, struct attn_column column[ATTN_GRID_COLUMNS])
{
    size_t n = 0;
    for (size_t axis = 0; axis < 3; axis++)
        if (r->over & 1U << axis)
            column[n++] = (struct attn_column){.name = attn_grid_axes[axis], .kind = ATTN_COLUMN_WHOLE};
    column[n++] = (struct attn_column){.name = "metric", .kind = ATTN_COLUMN_REAL, .digits = 6};
    column[n++] = (struct attn_column){.name = "effect", .kind = ATTN_COLUMN_REAL, .digits = 6};
    return (struct attn_table){.column = column, .columns = n, .rows = r->n, .row = fill, .self = r};
}

int attn_grid_json(struct attn_out *o, const struct attn_sink_job *job, const struct attn_grid_doc *d, const char *eol,
                   struct attn_err *err)
{
    struct attn_column column[ATTN_GRID_COLUMNS];
    const struct attn_table rows = attn_grid_table(d->result, column);
    const struct attn_patch_result *r = d->result;
    const struct { const char *name, *text; } words[] = {{"method", d->method}, {"metric", d->metric}};
    const struct { const char *name; double x; } numbers[] = {{"metric_text", r->metric_text},
                                                              {"metric_from", r->metric_from}};
    attn_doc_opening(o, job, eol);
    write_from(o, d, eol);
    key(o, "what", eol);
    attn_doc_string(o, d->what);
    key(o, "over", eol);
    write_over(o, r->over);
    for (size_t i = 0; i < 2; i++) {
        key(o, words[i].name, eol);
        attn_doc_string(o, words[i].text);
    }
    for (size_t i = 0; i < 2; i++) {
        key(o, numbers[i].name, eol);
        attn_out_f64(o, numbers[i].x);
    }
    key(o, "rows", eol);
    attn_out_char(o, '[');
    int rc = attn_table_objects(o, &rows, eol, eol, err);
    attn_out_printf(o, "%s]}\n", eol);
    return rc;
}

/* ---- tables ---- */

void attn_grid_columns(struct attn_out *o, unsigned over)
{
    for (size_t i = 0; i < 3; i++)
        if (over & 1U << i)
            attn_out_printf(o, "%s,", attn_grid_axes[i]);
    attn_out_str(o, "metric,effect");
}

void attn_grid_row(struct attn_out *o, unsigned over, const struct attn_patch_cell *c)
{
    for (size_t i = 0; i < 3; i++)
        if (over & 1U << i)
            attn_out_printf(o, "%d,", attn_grid_index(c, i));
    attn_cell_f64(o, c->metric);
    attn_out_char(o, ',');
    attn_cell_f64(o, c->effect);
}

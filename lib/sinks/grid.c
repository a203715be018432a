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

static void write_cell(struct attn_out *o, unsigned over, const struct attn_patch_cell *c)
{
    attn_out_char(o, '{');
    for (size_t i = 0; i < 3; i++)
        if (over & 1U << i)
            attn_out_printf(o, "\"%s\":%d,", attn_grid_axes[i], attn_grid_index(c, i));
    attn_out_str(o, "\"metric\":");
    attn_out_f64(o, c->metric);
    attn_out_str(o, ",\"effect\":");
    attn_out_f64(o, c->effect);
    attn_out_char(o, '}');
}

void attn_grid_json(struct attn_out *o, const struct attn_sink_job *job, const struct attn_grid_doc *d, const char *eol)
{
    const struct attn_patch_result *r = d->result;
    const struct { const char *name, *text; } words[] = {{"method", d->method}, {"metric", d->metric}};
    const struct { const char *name; double x; } numbers[] = {{"metric_text", r->metric_text}, {"metric_from", r->metric_from}};
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
    for (size_t k = 0; k < r->n; k++) {
        attn_out_printf(o, "%s%s", k ? "," : "[", eol);
        write_cell(o, r->over, &r->cell[k]);
    }
    attn_out_printf(o, "%s%s]}\n", r->n ? "" : "[", eol);
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

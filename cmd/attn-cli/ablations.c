/* ablations.c - what comes next without each head: for people and as CSV, one line per head; rows of JSON are
 *
 *     {"layer", "head", "kl", "top": [{"id", "text", "probability"}, ...]} */
#include "ablations.h"

#include "opts_output.h"

#include "table/columns.h"

enum { BEFORE = 4, EACH = 3 };          /* columns before those of the tokens; of each token */

static const char *spelled(const struct ablations *a, int32_t id, size_t *len)
{
    return a->tokenizer ? attn_tokenizer_text(a->tokenizer, id, len) : NULL;
}

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct ablations *a = self;
    const struct attn_ablated *r = &a->row[i];
    cell[0] = attn_datum_whole(r->layer);
    cell[1] = attn_datum_whole(r->head);
    cell[2] = attn_datum_number(r->kl);
    cell[3] = attn_datum_truth(true);
    cell += BEFORE;
    for (size_t k = 0; k < r->n; k++, cell += EACH) {
        size_t len = 0;
        const char *text = spelled(a, r->after[k].id, &len);
        cell[0] = attn_datum_index(r->after[k].id);
        cell[1] = attn_datum_text(text, len);
        cell[2] = attn_datum_number(r->after[k].p);
    }
}

static void put_top(struct attn_out *out, const void *self, size_t i)
{
    const struct ablations *a = self;
    const struct attn_ablated *r = &a->row[i];
    attn_out_char(out, '[');
    for (size_t k = 0; k < r->n; k++) {
        size_t len = 0;
        const char *text = spelled(a, r->after[k].id, &len);
        attn_out_printf(out, "%s{\"id\": %d, \"text\": ", k ? ", " : "", (int)r->after[k].id);
        if (text)
            attn_out_json(out, text, len);
        else
            attn_out_str(out, "null");
        attn_out_str(out, ", \"probability\": ");
        attn_out_f64(out, r->after[k].p);
        attn_out_char(out, '}');
    }
    attn_out_char(out, ']');
}

/* People see the first three tokens, whose ids only programs need. */
#define TOKEN(k, more) \
    {.name = "top" k "_id", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT | ATTN_COLUMN_DATA}, \
    {.name = "top" k "_text", .kind = ATTN_COLUMN_TOKEN, .flags = ATTN_COLUMN_FLAT | (more), .heading = k}, \
    {.name = "top" k "_p", .kind = ATTN_COLUMN_REAL, .digits = 3, .flags = ATTN_COLUMN_FLAT | (more), .heading = "p"}
static const struct attn_column columns[] = {
    {.name = "layer", .kind = ATTN_COLUMN_WHOLE}, {.name = "head", .kind = ATTN_COLUMN_WHOLE},
    {.name = "kl", .kind = ATTN_COLUMN_REAL, .digits = 4, .heading = "KL"},
    {.name = "top", .kind = ATTN_COLUMN_NESTED, .write = put_top},
    TOKEN("1", 0), TOKEN("2", 0), TOKEN("3", 0), TOKEN("4", ATTN_COLUMN_DATA), TOKEN("5", ATTN_COLUMN_DATA)};
_Static_assert(sizeof columns / sizeof *columns == BEFORE + EACH * ATTN_COMPARED, "a column for each of the tokens");

int ablations_write(const struct ablations *a, const struct run_answer *to, struct attn_err *err)
{
    const struct attn_table t = {.column = columns, .columns = sizeof columns / sizeof *columns, .rows = a->n,
                                 .row = fill, .self = a, .spaced = true, .csv_safe = csv_safe()};
    return run_answer_write(to, &t, err);
}

/* diff_run.c - the tables of two runs: arrays in the order of the forward pass, and what follows from them. */
#include "diff_report.h"

#include "opts_output.h"

#include "base/err.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct differences *of(const void *self) { return self; }
static const struct attn_diff_row *row_at(const void *self, size_t i) { return of(self)->row[0][i]; }

/* ---- arrays ------------------------------------------------------------------------------ */

enum { TOKEN = 128, WHERE = 2 * DIFF_SHAPE + 2 * TOKEN };

static const char *token_at(char buf[TOKEN], const struct differences *r, size_t i)
{
    const struct attn_dump *d = i < attn_dump_tokens(r->a) ? r->a : r->b;
    int32_t id = 0;
    size_t len = 0;
    const char *text = i < attn_dump_tokens(d) ? attn_dump_token(d, i, &id, &len) : NULL;
    if (text)
        snprintf(buf, TOKEN, "%zu \"%.*s\"", i, diff_cut(text, len, TOKEN / 2), text);
    else
        snprintf(buf, TOKEN, i < attn_dump_tokens(d) ? "%zu (id %" PRId32 ")" : "%zu", i, id);
    return buf;
}

/* For people: "head 1, query 3, key 2". */
static const char *place_of(char buf[WHERE], const struct differences *r, const struct attn_diff_row *row)
{
    char t[2][TOKEN], head[64] = "";
    if (attn_diff_has_heads(row))
        snprintf(head, sizeof head, "head %zu, ", row->at[0]);
    if (attn_diff_square(row))
        snprintf(buf, WHERE, "%squery %s, key %s", head, token_at(t[0], r, row->at[1]), token_at(t[1], r, row->at[2]));
    else
        snprintf(buf, WHERE, "%stoken %s, column %zu", head, token_at(t[0], r, row->at[1]), row->at[2]);
    return buf;
}

static const char *where(char buf[WHERE], const struct differences *r, const struct attn_diff_row *row)
{
    char a[DIFF_SHAPE], b[DIFF_SHAPE];
    if (row->kind == ATTN_DIFF_SAME)
        return "the same bits";
    if (row->kind != ATTN_DIFF_SHAPE)
        return place_of(buf, r, row);
    diff_shape(a, row->shape[0], row->ndim[0]);
    if (!memcmp(row->shape[0], row->shape[1], sizeof row->shape[0]))
        snprintf(buf, WHERE, "%s of different heads", a);
    else
        snprintf(buf, WHERE, "found %s in A, expected %s as in B", a, diff_shape(b, row->shape[1], row->ndim[1]));
    return buf;
}

static void put_at(struct attn_out *o, const void *self, size_t i)
{
    const struct attn_diff_row *row = row_at(self, i);
    if (attn_diff_has_heads(row))
        attn_out_printf(o, "{\"head\": %zu", row->at[0]);
    else
        attn_out_str(o, "{\"head\": null");
    attn_out_printf(o, ", \"row\": %zu, \"col\": %zu}", row->at[1], row->at[2]);
}

/* Cells of columns[], in their order. */
static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    static const char *const status[] = {
        [ATTN_DIFF_SAME] = "same", [ATTN_DIFF_CLOSE] = "close", [ATTN_DIFF_NUMBERS] = "differs",
        [ATTN_DIFF_SHAPE] = "shape"};
    static char at[WHERE];
    const struct differences *r = self;
    const struct attn_diff_row *row = row_at(self, i);
    bool measured = row->kind != ATTN_DIFF_SHAPE;
    bool apart = row->kind == ATTN_DIFF_CLOSE || row->kind == ATTN_DIFF_NUMBERS;
    *cell++ = attn_datum_str(row == attn_diff_first(r->diff) ? ">" : attn_diff_is_rounding(row) ? "~" : " ");
    *cell++ = attn_datum_str(row->name);
    *cell++ = attn_datum_str(status[row->kind]);
    for (int s = 0; s < 2; s++) {       /* what a side calls the array itself */
        const char *name = attn_diff_name(r->diff, row, s);
        *cell++ = attn_datum_str(name && strcmp(name, row->name) ? name : NULL);
    }
    *cell++ = attn_datum_str(attn_diff_note(r->diff, row));
    *cell++ = attn_datum_str(attn_diff_form(r->diff, row, NULL));
    for (int s = 0; s < 2; s++)
        *cell++ = attn_datum_sizes(row->shape[s], row->ndim[s]);
    if (measured) {
        cell[0] = attn_datum_whole(row->count);
        cell[1] = attn_datum_whole(row->differing);
        cell[2] = attn_datum_real(row->max_abs);
        cell[3] = attn_datum_real(row->mean_abs);
        cell[4] = attn_datum_whole(row->max_ulp);
        cell[5] = attn_datum_real(row->nmse);
    }
    if (apart) {
        cell[6] = attn_datum_truth(true);
        if (attn_diff_has_heads(row))
            cell[7] = attn_datum_whole(row->at[0]);
        cell[8] = attn_datum_whole(row->at[1]);
        cell[9] = attn_datum_whole(row->at[2]);
        cell[10] = attn_datum_real((double)row->a);
        cell[11] = attn_datum_real((double)row->b);
    }
    if (measured && row->act >= 0 && row->act < ATTN_ACT_DERIVED) {
        cell[12] = attn_datum_real(row->gap);
        cell[13] = attn_datum_real(row->explained);
        cell[14] = attn_datum_whole(row->beyond);
    }
    cell[15] = attn_datum_str(where(at, r, row));
}

/* Optional ones are there only where they say something. */
#define DATA(title, as) \
    {.name = title, .kind = ATTN_COLUMN_##as, .flags = ATTN_COLUMN_OPTIONAL | ATTN_COLUMN_DATA}
#define FLAT(title) {.name = title, .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT | ATTN_COLUMN_DATA}
#define SHORT(title, words, of_digits) \
    {.name = title, .kind = ATTN_COLUMN_REAL, .flags = ATTN_COLUMN_OPTIONAL | ATTN_COLUMN_SIGNIFICANT, \
     .heading = words, .digits = of_digits}
static const struct attn_column columns[] = {
    {.name = "mark", .flags = ATTN_COLUMN_READ, .heading = ""},
    {.name = "name", .heading = "tensor", .gap = 1}, {.name = "status", .flags = ATTN_COLUMN_DATA},
    DATA("name_a", TEXT), DATA("name_b", TEXT), DATA("note", TEXT), DATA("form", TEXT),
    {.name = "shape_a", .kind = ATTN_COLUMN_SIZES}, {.name = "shape_b", .kind = ATTN_COLUMN_SIZES},
    DATA("count", WHOLE), DATA("differing", WHOLE), SHORT("max_abs", "max abs", 3), SHORT("mean_abs", "mean abs", 3),
    {.name = "max_ulp", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_OPTIONAL, .heading = "max ulp"},
    SHORT("nmse", "NMSE", 3),
    {.name = "at", .kind = ATTN_COLUMN_NESTED, .flags = ATTN_COLUMN_OPTIONAL, .write = put_at},
    FLAT("at_head"), FLAT("at_row"), FLAT("at_col"), SHORT("a", "A", 7), SHORT("b", "B", 7),
    DATA("gap", REAL), DATA("explained", REAL), DATA("beyond", WHOLE),
    {.name = "where", .flags = ATTN_COLUMN_READ, .heading = "largest at"}};

/* What differs, and before the first of it what still agrees. */
static bool is_listed(const void *self, size_t i)
{
    const struct differences *r = self;
    const struct attn_diff_row *row = row_at(self, i), *first = attn_diff_first(r->diff);
    const bool last = i + 1 == r->table[DIFF_TENSORS].rows;
    return r->all || row->kind >= ATTN_DIFF_NUMBERS || (!last && r->row[0][i + 1] == first);
}

/* Names that one side alone has. */
static void fill_a(struct attn_datum *cell, const void *self, size_t i)
{
    *cell = attn_datum_str(of(self)->row[1][i]->name);
}

static void fill_b(struct attn_datum *cell, const void *self, size_t i)
{
    *cell = attn_datum_str(of(self)->row[2][i]->name);
}

static const struct attn_column names[] = {{.name = NULL}};

/* ---- how they were compared: by which reading, and in which form (compare/other_forms.h) ---- */

static const struct form { const char *name, *why; bool mutual; } forms[] = {
    {"centred", "less the mean of each row, which the LayerNorm behind it takes away in any case", false},
    {"folded", "a norm before its weight and bias, which are in the weights that read it", false},
    {"moved", "apart by a bias of the values, which the bias of the output makes up for", true},
    {"shifted", "apart by a number for each row, which softmax does not see", true},
    {"mask", "numbers that hide keys, so low that softmax gives exactly 0, as it does to -inf", false}};
enum { FORMS = sizeof forms / sizeof *forms };

static const struct form *form_of(const struct differences *r, size_t i, int *side)
{
    const char *name = attn_diff_form(r->diff, r->row[0][i], side);
    size_t k = 0;
    while (name && k < FORMS && strcmp(name, forms[k].name))
        k++;
    if (!name || k == FORMS)
        return NULL;
    *side = forms[k].mutual ? 2 : *side;
    return &forms[k];
}

/* How many arrays are in the form of row i, on the same side, from the row `from` on. */
static size_t count_like(const struct differences *r, size_t i, size_t from)
{
    int side = 0, other = 0;
    size_t n = 0;
    const struct form *form = form_of(r, i, &side);
    for (size_t k = from; form && k < r->table[DIFF_TENSORS].rows; k++)
        n += form_of(r, k, &other) == form && other == side;
    return n;
}

static void fill_read(struct attn_datum *cell, const void *self, size_t i)
{
    static const char *const sides[] = {"A", "B", "both"};
    int side = 0;
    const struct form *form = form_of(self, i, &side);
    cell[0] = attn_datum_str(row_at(self, i)->name);
    cell[1] = attn_datum_str(attn_diff_note(of(self)->diff, row_at(self, i)));
    if (form) {
        cell[2] = attn_datum_str(form->name);
        cell[3] = attn_datum_str(sides[side]);
        cell[4] = attn_datum_whole(count_like(self, i, 0));
        cell[5] = attn_datum_str(form->why);
    }
}

/* Of each form the first. */
static bool is_read(const void *self, size_t i)
{
    size_t like = count_like(self, i, 0);
    return attn_diff_note(of(self)->diff, row_at(self, i)) || (like && like == count_like(self, i, i));
}

static const struct attn_column readings[] = {
    {.name = "tensor"}, {.name = "reading"}, {.name = "form"}, {.name = "of"},
    {.name = "tensors", .kind = ATTN_COLUMN_WHOLE}, {.name = "no mistake, since it is"}};

/* ---- causes ------------------------------------------------------------------------------ */

static void fill_cause(struct attn_datum *cell, const void *self, size_t i)
{
    const char *kind, *cause = attn_diff_cause(of(self)->diff, &kind);
    (void)i;
    cell[0] = attn_datum_str(kind);
    cell[1] = attn_datum_str(cause);
}

static void fill_near(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_diff_near *near = attn_diff_nearest(of(self)->diff);
    cell[0] = attn_datum_str(near[i].text);
    cell[1] = attn_datum_real(near[i].left);
}

static void fill_edit(struct attn_datum *cell, const void *self, size_t i)
{
    *cell = attn_datum_str(attn_edits_text(of(self)->edits, i));
}

#define PART(title, words, flag, of_digits) \
    {.name = title, .kind = ATTN_COLUMN_REAL, .flags = ATTN_COLUMN_PERCENT | flag, .heading = words, \
     .digits = of_digits}
static const struct attn_column cause[] = {{.name = "kind"}, {.name = "text"}};
static const struct attn_column nearest[] = {
    {.name = "text", .heading = "mistake"}, PART("left", "of the difference it leaves", ATTN_COLUMN_SIGNIFICANT, 2)};

/* ---- which part of the model adds the difference ----------------------------------------- */

static void fill_part(struct attn_datum *cell, const void *self, size_t i)
{
    static char where[64];
    const struct attn_diff_added *x = &of(self)->part[i];
    snprintf(where, sizeof where, "blocks.%d.%s", x->layer, x->part);
    cell[0] = attn_datum_str(x->layer < 0 ? x->part : where);
    cell[1] = attn_datum_str(x->part);
    cell[2] = attn_datum_index(x->layer);
    cell[3] = attn_datum_real(x->error);
    cell[4] = attn_datum_real(x->share);
    cell[5] = attn_datum_number(x->stream);
}

static const struct attn_column parts[] = {
    {.name = "where", .flags = ATTN_COLUMN_READ, .heading = "what adds the difference"},
    {.name = "part", .flags = ATTN_COLUMN_DATA},
    {.name = "layer", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_DATA},
    PART("error", "error of what it adds", ATTN_COLUMN_SIGNIFICANT, 3),
    PART("share", "share of the last stream's", 0, 1),
    PART("stream", "error of the stream", ATTN_COLUMN_SIGNIFICANT, 3)};

/* ---- what comes next --------------------------------------------------------------------- */

static void fill_token(struct attn_datum *cell, const struct attn_tokenizer *t, const struct attn_likely *next)
{
    size_t len = 0;
    const char *text = t ? attn_tokenizer_text(t, next->id, &len) : NULL;
    cell[0] = attn_datum_index(next->id);
    cell[1] = attn_datum_text(text, len);
    cell[2] = attn_datum_real(next->p);
}

static void fill_next_a(struct attn_datum *cell, const void *self, size_t i)
{
    fill_token(cell, of(self)->tokenizer[0], &of(self)->next.next_a[i]);
}

static void fill_next_b(struct attn_datum *cell, const void *self, size_t i)
{
    fill_token(cell, of(self)->tokenizer[1], &of(self)->next.next_b[i]);
}

static void fill_next(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_diff_next *x = &of(self)->next;
    const double most = x->max_abs < 0 ? (double)NAN : x->max_abs;
    const double real[] = {x->kl_ba, x->kl_ba_mean, x->kl_ab, x->kl_ab_mean, most};
    (void)i;
    *cell++ = attn_datum_whole(x->rows);
    for (size_t k = 0; k < sizeof real / sizeof *real; k++)
        *cell++ = attn_datum_real(real[k]);
    *cell++ = attn_datum_index(x->at);
    *cell++ = attn_datum_real((double)x->a);
    *cell++ = attn_datum_real((double)x->b);
    for (int side = 0; side < 2; side++)
        cell[side] = attn_datum_rows(&of(self)->table[side ? DIFF_NEXT_B : DIFF_NEXT_A]);
}

#define OF(within, title, as) {.name = title, .group = within, .kind = ATTN_COLUMN_##as}
static const struct attn_column likely[] = {OF(NULL, "id", WHOLE), {.name = "text"}, OF(NULL, "p", REAL)};
static const struct attn_column next[] = {
    OF(NULL, "rows", WHOLE), OF("kl_b_a", "last", REAL), OF("kl_b_a", "mean", REAL), OF("kl_a_b", "last", REAL),
    OF("kl_a_b", "mean", REAL), OF("logits", "max_abs", REAL), OF("logits", "id", WHOLE), OF("logits", "a", REAL),
    OF("logits", "b", REAL), OF(NULL, "a", ROWS), OF(NULL, "b", ROWS)};

/* ---- all of them ------------------------------------------------------------------------- */

/* What was compared, and what one side alone has. */
static int sort_rows(struct differences *r, size_t n[3])
{
    size_t all = 0;
    const struct attn_diff_row *row = r->diff ? attn_diff_rows(r->diff, &all) : NULL;
    for (int i = 0; i < 3; i++) {
        r->row[i] = calloc(all + 1, sizeof **r->row);
        if (!r->row[i])
            return attn_no_memory(r->err, NULL, "for %zu tensors", all);
    }
    for (size_t i = 0; i < all; i++) {
        int of = row[i].kind == ATTN_DIFF_ONLY_A ? 1 : row[i].kind == ATTN_DIFF_ONLY_B ? 2 : 0;
        r->row[of][n[of]++] = &row[i];
    }
    return ATTN_OK;
}

int diff_tables_of_run(struct differences *r)
{
    size_t n[3] = {0}, n_parts = 0, near = 0;
    struct attn_table *t = r->table;
    int code = sort_rows(r, n);
    /* Models have one input: between dumps of the same model it would only repeat the table. */
    if (!code && r->diff && r->contrast)
        code = attn_diff_parts(&r->part, &n_parts, r->diff, r->err);
    t[DIFF_TENSORS] = DIFF_TABLE(r, columns, n[0], fill);
    t[DIFF_TENSORS].listed = is_listed;
    t[DIFF_TENSORS].indent = 0;         /* their marks stand there */
    t[DIFF_TENSORS].between = "\n  ";
    t[DIFF_ONLY_A] = DIFF_TABLE(r, names, n[1], fill_a);
    t[DIFF_ONLY_B] = DIFF_TABLE(r, names, n[2], fill_b);
    if (code || !r->diff)
        return code;
    attn_diff_next(&r->next, r->diff);
    while (near < ATTN_DIFF_NEAREST && attn_diff_nearest(r->diff)[near].text[0])
        near++;
    if (attn_diff_cause(r->diff, NULL))
        t[DIFF_CAUSE] = DIFF_TABLE(r, cause, 1, fill_cause);
    if (near)
        t[DIFF_NEAREST] = DIFF_TABLE(r, nearest, near, fill_near);
    if (attn_edits_count(r->edits))
        t[DIFF_EDITS] = DIFF_TABLE(r, names, attn_edits_count(r->edits), fill_edit);
    t[DIFF_READ] = DIFF_TABLE(r, readings, n[0], fill_read);
    t[DIFF_READ].listed = is_read;
    if (n_parts)
        t[DIFF_PARTS] = DIFF_TABLE(r, parts, n_parts, fill_part);
    t[DIFF_PARTS].between = "\n  ";
    if (r->next.rows)
        t[DIFF_NEXT] = DIFF_TABLE(r, next, 1, fill_next);
    t[DIFF_NEXT_A] = DIFF_TABLE(r, likely, r->next.n_a, fill_next_a);
    t[DIFF_NEXT_B] = DIFF_TABLE(r, likely, r->next.n_b, fill_next_b);
    t[DIFF_CAUSE].alone = t[DIFF_NEXT].alone = true;
    return ATTN_OK;
}

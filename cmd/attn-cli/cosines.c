#include "cosines.h"

#include "cli_print.h"
#include "opts_attention.h"
#include "opts_output.h"

#include "base/err.h"
#include "table/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cosine_rows[] = {"x", "q", "k", "v", "context", NULL};

struct cosines {
    const struct attn_tokens *tokens;   /* what the rows are called */
    const double *x;                    /* [heads, n, width] */
    size_t heads, n, width;
    struct attn_column *column; char **name;    /* [head] [row] and n cosines; of the cosines */
};

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* NaN where a row is all zeros: it has no direction. */
static double cosine(const double *a, const double *b, size_t n)
{
    return product(a, b, n) / sqrt(product(a, a, n) * product(b, b, n));
}

static void fill(struct attn_datum *cell, const void *self, size_t row)
{
    const struct cosines *c = self;
    const double *head = c->x + row / c->n * c->n * c->width, *mine = head + row % c->n * c->width;
    const struct attn_token *t = &c->tokens->tok[row % c->n];
    if (c->heads > 1)
        *cell++ = attn_datum_whole(row / c->n);
    *cell++ = attn_datum_text(t->text, t->text_len);
    for (size_t j = 0; j < c->n; j++)
        cell[j] = attn_datum_number(cosine(mine, head + j * c->width, c->width));
}

/* Whether a column before the j-th cosine is called so. */
static bool is_taken(const struct cosines *c, const char *name, size_t j)
{
    bool taken = !strcmp(name, "row") || !strcmp(name, "head");
    for (size_t i = 0; i < j && !taken; i++)
        taken = !strcmp(c->name[i], name);
    return taken;
}

/* A column is called as its row; where another has that name, its number follows. */
static int name_column(const struct cosines *c, size_t j, struct attn_err *err)
{
    const struct attn_token *t = &c->tokens->tok[j];
    char *name = strndup(t->text, t->text_len), *longer = NULL;
    while (name && is_taken(c, name, j)) {
        if (asprintf(&longer, "%s (%zu)", name, j) < 0)
            longer = NULL;
        free(name);
        name = longer;
    }
    c->name[j] = name;
    return name ? ATTN_OK : attn_no_memory(err, NULL, "for the name of a column");
}

static size_t list_columns(const struct cosines *c, int digits)
{
    size_t n = 0;
    if (c->heads > 1)
        c->column[n++] = (struct attn_column){.name = "head", .kind = ATTN_COLUMN_WHOLE};
    c->column[n++] = (struct attn_column){.name = "row", .kind = ATTN_COLUMN_TOKEN};
    for (size_t j = 0; j < c->n; j++)
        c->column[n++] = (struct attn_column){.name = c->name[j], .kind = ATTN_COLUMN_REAL, .digits = digits};
    return n;
}

static int write_table(const struct cosines *c, const char *of, const char *format, const char *path,
                       struct attn_err *err)
{
    const struct attn_table t = {.column = c->column, .columns = list_columns(c, OUTPUT_PRECISION),
                                 .rows = c->heads * c->n, .row = fill, .self = c, .spaced = true,
                                 .csv_safe = csv_safe()};
    bool json = format && !strcmp(format, "json");
    struct attn_out *out;
    if (attn_out_open(&out, path, err))
        return err->code;
    if (json)
        attn_out_printf(out, "{\"version\": \"%s\",\n \"cosines\": \"%s\",\n \"rows\": [", attn_version(), of);
    int code = json ? attn_table_objects(out, &t, "\n  ", "\n  ", err)
                    : attn_table_write(out, &t, format ? format : "text", err);
    if (json)
        attn_out_str(out, "]}\n");
    return attn_out_end(out, code, err);
}

static int tabulate(struct cosines *c, const char *of, const char *format, const char *path, struct attn_err *err)
{
    c->column = calloc(c->n + 2, sizeof *c->column);
    c->name = calloc(c->n + 1, sizeof *c->name);
    int code = c->column && c->name ? ATTN_OK : attn_no_memory(err, NULL, "for %zu columns", c->n);
    for (size_t j = 0; j < c->n && !code; j++)
        code = name_column(c, j, err);
    if (!code)
        code = write_table(c, of, format, path, err);
    for (size_t j = 0; j < c->n && c->name; j++)
        free(c->name[j]);
    free(c->column);
    free(c->name);
    return code;
}

int cosines_write(const struct attn_attend *a, const char *of, const char *format, const char *path,
                  struct attn_err *err)
{
    const struct attn_model *m = attn_attend_model(a);
    const struct attn_tokens *keys = attn_attend_keys(a);
    const struct attn_plan plan = plan_asked();
    struct attn_select *what = NULL;
    struct attn_dump *d = NULL;
    struct attn_dump_array x;
    int code = attn_select_new(&what, m, &plan.kind, !strcmp(of, "x") ? "embed" : of, NULL, NULL, NULL);
    if (code)
        return attn_fail(err, ATTN_EUSAGE, "--cosines %s: there are no such rows: give --%s", of,
                         !strcmp(of, "context") ? "v" : of);
    code = attn_dump_run(&d, m, attn_attend_tokens(a), keys, what, &plan, NULL, err);
    if (!code) {
        int n = attn_dump_array(d, 0, &x);
        bool of_keys = keys && (*of == 'k' || *of == 'v');
        struct cosines c = {.tokens = of_keys ? keys : attn_attend_tokens(a), .x = x.f64, .n = x.shape[n - 2],
                            .heads = n > 2 ? x.shape[0] : 1, .width = x.shape[n - 1]};
        code = tabulate(&c, of, format, path, err);
    }
    attn_dump_free(d);
    attn_select_free(what);
    return code;
}

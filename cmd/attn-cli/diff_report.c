/* diff_report.c - the report of a comparison: what comes first, for people and for scripts. */
#include "diff_report.h"

#include "cli_print.h"
#include "opts_output.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what parts of it are said with ------------------------------------------------------ */

void diff_print(const struct differences *r, int table, const char *title, const char *left)
{
    struct attn_out *o;
    struct attn_table t = r->table[table];
    char *text = NULL;
    size_t len = 0, first = 0;
    while (first < t.rows && t.listed && !t.listed(t.self, first))
        first++;
    if (first == t.rows || r->err->code || attn_out_open_memory(&o, r->err))
        return;
    t.most = r->all || !left ? 0 : DIFF_MOST;
    t.left = left;
    if (title)
        puts(title);
    if (!attn_table_write(o, &t, "text", r->err) && !attn_out_take(o, &text, &len, r->err))
        fwrite(text, 1, len, stdout);
    attn_out_close(o);
    free(text);
}

const char *diff_shape(char buf[DIFF_SHAPE], const size_t *shape, int n)
{
    size_t len = (size_t)snprintf(buf, DIFF_SHAPE, "[");
    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(buf + len, DIFF_SHAPE - len, i ? ", %zu" : "%zu", shape[i]);
    snprintf(buf + len, DIFF_SHAPE - len, "]");
    return buf;
}

int diff_cut(const char *s, size_t len, size_t most) { return (int)(len > most ? attn_utf8_valid(s, most) : len); }

/* ---- for people -------------------------------------------------------------------------- */

/* What was allowed, in brackets; nothing where nothing was. */
static void print_rule(const struct differences *r, const struct attn_diff_counts *c)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    const char *to = attn_diff_rounded_to(r->diff);
    bool rounding = r->opts->rounding && (first ? first->act >= 0 : c->rounding > 0);
    if (rounding && first)
        printf(" by more than rounding%s%s explains", to ? " to " : "", to ? to : "");
    else if (rounding)
        fputs(to ? "" : " (the rest is rounding)", stdout);
    else if (!r->opts->exact && (first || c->close))
        printf(" (%s %g + %g |B|)", first ? "beyond" : "within", r->opts->atol, r->opts->rtol);
}

static void print_same(size_t n, const char *what)
{
    printf("nothing differs: %zu %s%s the same bit for bit", n, what, n == 1 ? " is" : "s are");
}

static void print_verdict(const struct differences *r, const struct attn_diff_counts *c)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    const char *to = attn_diff_rounded_to(r->diff);
    if (first)
        printf("%s differs first; %zu of %zu tensor%s differ%s", first->name, c->differ, c->compared,
               diff_plural(c->compared), c->differ == 1 ? "s" : "");
    else if (to && r->opts->rounding)
        printf("agrees to %s rounding: %zu tensor%s, %zu of them bit for bit", to, c->compared,
               diff_plural(c->compared), c->compared - c->close);
    else if (c->close)
        printf("nothing differs: %zu tensor%s, %zu of them bit for bit", c->compared,
               c->compared == 1 ? " agrees" : "s agree", c->compared - c->close);
    else
        print_same(c->compared, "tensor");
    print_rule(r, c);
}

static void print_name(const char *title, const char *name)
{
    printf("%-6s  ", title);
    print_text(stdout, name, strlen(name), terminal_is(NULL));
    putchar('\n');
}

/* The files of both models: what is the same, or where further down they differ. */
static void print_files(const struct differences *r)
{
    const struct attn_contrasted *c = r->contrast;
    bool differs = attn_contrast_differs(c);
    if (differs && r->diff) {
        fputs("models  differ: ", stdout);
        diff_print_what_differs(c);
        putchar('\n');
    } else if (!differs) {
        printf("models  the same %zu weight%s%s\n", c->compared, diff_plural(c->compared),
               !c->config[0] ? "" : c->tokenizer[0] && c->tokenizer[1] ? ", configuration and vocabulary"
                                                                       : " and configuration");
    }
}

static void print_ids(const struct attn_dump *d)
{
    int32_t id;
    size_t len;
    fputs("tokens", stdout);
    for (size_t i = 0; i < attn_dump_tokens(d); i++) {
        attn_dump_token(d, i, &id, &len);
        printf("%s%" PRId32, i ? "," : "  ", id);
    }
    putchar('\n');
}

static void print_word(const struct attn_tokenizer *t, int32_t id)
{
    size_t len;
    const char *text = t ? attn_tokenizer_text(t, id, &len) : NULL;
    if (text)
        print_visible(stdout, text, len);
    else
        printf("id %" PRId32, id);
}

static void print_side(const struct differences *r, int side, const struct attn_likely *next, size_t n)
{
    printf("  %c ", "AB"[side]);
    if (!n)
        fputs(" the logits are no distribution: one is NaN or inf", stdout);
    for (size_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        print_word(r->tokenizer[side], next[i].id);
        printf(" %.1f%%", 100 * next[i].p);
    }
    putchar('\n');
}

static void print_next(const struct differences *r)
{
    const struct attn_diff_next *x = &r->next;
    if (!x->rows)
        return;
    fputs("\nnext token, the likeliest:\n", stdout);
    print_side(r, 0, x->next_a, x->n_a);
    print_side(r, 1, x->next_b, x->n_b);
    if (x->max_abs > 0) {
        printf("  logits differ by up to %.3g in the last row: ", x->max_abs);
        print_word(r->tokenizer[1], x->at);
        printf(": A %.7g, B %.7g\n", (double)x->a, (double)x->b);
    } else {
        fputs("  logits of the last row are the same\n", stdout);
    }
    if (isnan(x->kl_ba_mean))
        fputs("  KL(B || A) is not defined in every row: a logit is NaN or inf\n", stdout);
    else
        printf("  KL(B || A) %.4g nats at the last token, %.4g in the mean over %zu row%s\n", x->kl_ba, x->kl_ba_mean,
               x->rows, diff_plural(x->rows));
}

static void print_only(const struct differences *r, int table, char side)
{
    const struct attn_table *t = &r->table[table];
    const size_t shown = r->all || t->rows < DIFF_MOST ? t->rows : DIFF_MOST;
    for (size_t i = 0; i < shown; i++) {
        struct attn_datum name;
        t->row(&name, t->self, i);
        if (!i)
            printf("\nonly in %c:", side);
        printf(" %s", name.s);
    }
    if (shown < t->rows)
        printf(" ... and %zu more (--all)", t->rows - shown);
    fputs(shown ? "\n" : "", stdout);
}

/* Nothing is called the cause that does not explain the numbers. */
static void print_cause(const struct differences *r)
{
    const char *cause = attn_diff_cause(r->diff, NULL);
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    if (!first)
        return;
    if (cause)
        printf("\nlikely cause: %s\n", cause);
    else
        puts(r->table[DIFF_NEAREST].rows ? "\nno known mistake fits; the nearest:" : "\nno known mistake fits");
    diff_print(r, DIFF_NEAREST, NULL, NULL);
    for (int s = 0; s < 2; s++) {
        const char *name = attn_diff_name(r->diff, first, s);
        if (name && strcmp(name, first->name))
            printf("\n%s is %s in %c\n", first->name, name, "AB"[s]);
    }
}

static void print_run(const struct differences *r, const struct attn_diff_counts *c)
{
    const struct attn_table *t = &r->table[DIFF_TENSORS];
    size_t rounding = 0;
    if (r->same_ids)
        print_ids(r->a);
    if (c->differ || r->all)
        diff_print(r, DIFF_TENSORS, "", "that differ (--all lists them)");
    for (size_t i = 0; i < t->rows; i++)
        rounding += attn_diff_is_rounding(r->row[0][i]) && t->listed(r, i);
    if (rounding)
        puts("~ no more than rounding explains");
    print_cause(r);
    diff_print(r, DIFF_READ, "\nhow they were compared:", "(--all lists them)");
    print_only(r, DIFF_ONLY_A, 'A');
    print_only(r, DIFF_ONLY_B, 'B');
    if (c->differ || r->all)
        diff_print(r, DIFF_PARTS, "", NULL);
    print_next(r);
}

static void print_report(const struct differences *r)
{
    const struct attn_diff_counts c = r->diff ? attn_diff_count(r->diff) : (struct attn_diff_counts){0};
    if (r->diff) {
        print_verdict(r, &c);
    } else if (r->contrast && !attn_contrast_differs(r->contrast)) {
        print_same(r->contrast->compared, "weight");
    } else {
        fputs("the models differ: ", stdout);
        diff_print_what_differs(r->contrast);
    }
    putchar('\n');
    print_name("A", r->name_a);
    for (size_t i = 0; i < attn_edits_count(r->edits); i++)
        printf("edited  %s\n", attn_edits_text(r->edits, i));
    print_name("B", r->name_b);
    if (r->contrast)
        print_files(r);
    if (r->diff)
        print_run(r, &c);
    if (r->contrast && (r->all || attn_contrast_differs(r->contrast)))
        diff_print_models(r);
}

/* ---- for scripts: a document is a row, whose tables are nested in it ------------------------- */

/* Of a report without a run, too, so that one script reads both. */
static void fill(struct attn_datum *cell, const void *self, size_t row)
{
    const struct differences *r = self;
    const struct attn_diff_row *first = r->diff ? attn_diff_first(r->diff) : NULL;
    (void)row;
    *cell++ = attn_datum_str(attn_version());
    *cell++ = attn_datum_str(r->name_a);
    *cell++ = attn_datum_str(r->name_b);
    *cell++ = attn_datum_truth(r->diff ? first != NULL : attn_contrast_differs(r->contrast));
    *cell++ = attn_datum_truth(r->opts->exact);
    *cell++ = attn_datum_real(r->opts->atol);
    *cell++ = attn_datum_real(r->opts->rtol);
    *cell++ = attn_datum_truth(r->opts->rounding);
    *cell++ = attn_datum_str(r->diff ? attn_diff_rounded_to(r->diff) : NULL);
    *cell++ = attn_datum_str(first ? first->name : NULL);
    for (int i = 0; i < DIFF_MEMBERS; i++)
        cell[i] = attn_datum_rows(r->table[i].columns ? &r->table[i] : NULL);
}

#define MEMBER(title) {.name = title, .kind = ATTN_COLUMN_ROWS}
#define OPTIONAL(title) {.name = title, .kind = ATTN_COLUMN_ROWS, .flags = ATTN_COLUMN_OPTIONAL}
static const struct attn_column document[] = {
    {.name = "version"}, {.name = "a"}, {.name = "b"}, {.name = "differs", .kind = ATTN_COLUMN_TRUTH},
    {.name = "exact", .kind = ATTN_COLUMN_TRUTH}, {.name = "atol", .kind = ATTN_COLUMN_REAL},
    {.name = "rtol", .kind = ATTN_COLUMN_REAL}, {.name = "rounding", .kind = ATTN_COLUMN_TRUTH},
    {.name = "rounded_to"}, {.name = "first"}, MEMBER("cause"), OPTIONAL("nearest"), OPTIONAL("edits"),
    MEMBER("tensors"), MEMBER("only_a"), MEMBER("only_b"), OPTIONAL("parts"), OPTIONAL("next"), OPTIONAL("models")};

static int write_report(const struct differences *r, const char *format)
{
    const struct attn_table json = DIFF_TABLE(r, document, 1, fill);
    struct wrapping w;
    if (format && !strcmp(format, "json")) {
        int code = table_objects(&json, "", "", r->err);
        fputs(code ? "" : "\n", stdout);
        return code;
    }
    if (format && strcmp(format, "text"))
        return table_print(&r->table[r->diff ? DIFF_TENSORS : DIFF_WEIGHTS], format, r->err);
    wrapping_start(&w);
    print_report(r);
    wrapping_end(&w);
    return r->err->code;
}

int diff_report(struct differences *r, const char *format)
{
    int code = diff_tables_of_run(r);
    if (r->contrast)
        diff_tables_of_models(r);
    if (!code)
        code = write_report(r, format);
    for (size_t i = 0; i < sizeof r->row / sizeof *r->row; i++)
        free(r->row[i]);
    free(r->part);
    return code;
}

/* diff_report.c - what differs between two sides, for eyes and for scripts. */
#include "diff_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "opts_output.h"
#include "cli_print.h"

#include "base/err.h"
#include "table/columns.h"

static bool compared(const struct attn_diff_row *r) { return r->kind <= ATTN_DIFF_SHAPE; }
static bool differs(const struct attn_diff_row *r)
{
    return r->kind == ATTN_DIFF_NUMBERS || r->kind == ATTN_DIFF_SHAPE;
}

static bool is_square(const struct attn_diff_row *r)
{
    return r->act == ATTN_ACT_DOTS || r->act == ATTN_ACT_SCORES || r->act == ATTN_ACT_PATTERN;
}

/* By no more than rounding explains, whatever limits were asked for. */
static bool is_rounding(const struct attn_diff_row *r)
{
    return r->act >= 0 && r->act < ATTN_ACT_DERIVED && r->max_ulp && r->kind <= ATTN_DIFF_NUMBERS && !r->beyond;
}

struct counts { size_t compared, differ, close, rounding; };

static struct counts count(const struct attn_diff_row *row, size_t n)
{
    struct counts c = {0};
    for (size_t i = 0; i < n; i++) {
        c.compared += compared(&row[i]);
        c.differ += differs(&row[i]);
        c.close += row[i].kind == ATTN_DIFF_CLOSE;
        c.rounding += is_rounding(&row[i]);
    }
    return c;
}

/* ---- for eyes ---------------------------------------------------------------------------- */

static const char *cell(char buf[32], double x)
{
    snprintf(buf, 32, x == 0 ? "0" : "%.2e", x);
    return buf;
}

static const char *ulps(char buf[32], uint64_t n)
{
    snprintf(buf, 32, n < 1000000 ? "%.0f" : "%.1e", (double)n);
    return buf;
}

enum { SHAPE = 8 * sizeof ", 18446744073709551615" };           /* room for all dimensions, however large */

static const char *shape(char buf[SHAPE], const struct attn_diff_row *r, int side)
{
    size_t n = (size_t)snprintf(buf, SHAPE, "[");
    for (int i = 0; i < r->ndim[side]; i++)
        n += (size_t)snprintf(buf + n, SHAPE - n, i ? ", %zu" : "%zu", r->shape[side][i]);
    snprintf(buf + n, SHAPE - n, "]");
    return buf;
}

static void print_token(const struct differences *r, size_t i)
{
    const struct attn_dump *d = i < attn_dump_tokens(r->a) ? r->a : r->b;
    int32_t id;
    size_t len;
    printf(" %zu", i);
    if (i >= attn_dump_tokens(d))
        return;
    const char *text = attn_dump_token(d, i, &id, &len);
    putchar(' ');
    if (text)
        json_visible(stdout, text, len);
    else
        printf("(id %" PRId32 ")", id);
}

/* Where only one side has a first axis it is a batch of one, no head; but ports have heads of some within the rows. */
static bool has_heads(const struct attn_diff_row *row)
{
    bool a = row->ndim[0] > 2, b = row->ndim[1] > 2;
    switch (row->act) {
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V: case ATTN_ACT_RESULT: return a || b;
    case ATTN_ACT_CONTEXT:                                                   return false;
    default:                                                                 return a && b;
    }
}

static void print_position(const struct differences *r, const struct attn_diff_row *row)
{
    char a[32], b[32];
    if (has_heads(row))
        printf("head %zu, ", row->at[0]);
    fputs(is_square(row) ? "query" : "token", stdout);
    print_token(r, row->at[1]);
    if (is_square(row)) {
        fputs(", key", stdout);
        print_token(r, row->at[2]);
    } else {
        printf(", column %zu", row->at[2]);
    }
    snprintf(a, sizeof a, "%.7g", (double)row->a);
    snprintf(b, sizeof b, "%.7g", (double)row->b);
    printf(": A %s, B %s", a, b);
}

static void print_row(const struct differences *r, const struct attn_diff_row *row, int width, bool first)
{
    char a[SHAPE], b[SHAPE], c[4][32];
    printf("%c %-*s  ", first ? '>' : is_rounding(row) ? '~' : ' ', width, row->name);
    if (row->kind == ATTN_DIFF_SHAPE && !memcmp(row->shape[0], row->shape[1], sizeof row->shape[0]))
        printf("%s of different heads\n", shape(a, row, 0));
    else if (row->kind == ATTN_DIFF_SHAPE)
        printf("found %s in A, expected %s as in B\n", shape(a, row, 0), shape(b, row, 1));
    else if (row->kind == ATTN_DIFF_SAME)
        printf("%8s  the same bits\n", "0");
    else {
        printf("%8s  %8s  %8s  %8s  ", cell(c[0], row->max_abs), cell(c[1], row->mean_abs), ulps(c[2], row->max_ulp),
               cell(c[3], row->nmse));
        print_position(r, row);
        putchar('\n');
    }
}

static void print_table(const struct differences *r, const struct attn_diff_row *row, size_t n)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff), *agreed = NULL;
    int width = 6;
    size_t listed = 0, left = 0, rounding = 0;
    for (size_t i = 0; i < n; i++) {
        width = (int)strlen(row[i].name) > width ? (int)strlen(row[i].name) : width;
        if (compared(&row[i]) && first && &row[i] < first)
            agreed = &row[i];
    }
    printf("\n  %-*s  %8s  %8s  %8s  %8s  largest at\n", width, "tensor", "max abs", "mean abs", "max ulp", "NMSE");
    for (size_t i = 0; i < n; i++) {
        if (!compared(&row[i]) || !(r->all || differs(&row[i]) || &row[i] == agreed))
            continue;
        if (listed++ < DIFF_MOST || r->all) {
            print_row(r, &row[i], width, &row[i] == first);
            rounding += is_rounding(&row[i]);
        } else {
            left++;
        }
    }
    if (left)
        printf("  ... and %zu more that differ (--all lists them)\n", left);
    if (rounding)
        puts("  ~ no more than rounding explains");
}

/* What was allowed, in brackets; nothing where nothing was. */
static void print_rule(const struct differences *r, const struct counts *c)
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

static void print_verdict(const struct differences *r, const struct counts *c)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    const char *plural = c->compared == 1 ? "" : "s", *to = attn_diff_rounded_to(r->diff);
    if (first)
        printf("%s differs first; %zu of %zu tensor%s differ%s", first->name, c->differ, c->compared, plural,
               c->differ == 1 ? "s" : "");
    else if (to && r->opts->rounding)
        printf("agrees to %s rounding: %zu tensor%s, %zu of them bit for bit", to, c->compared, plural,
               c->compared - c->close);
    else if (c->close)
        printf("nothing differs: %zu tensor%s, %zu of them bit for bit", c->compared, c->compared == 1 ? " agrees" :
               "s agree", c->compared - c->close);
    else
        printf("nothing differs: %zu tensor%s the same bit for bit", c->compared, c->compared == 1 ? " is" : "s are");
    print_rule(r, c);
    putchar('\n');
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

/* What the first that differs is called in each file, and which reading was taken where there were two. */
static void print_notes(const struct differences *r, const struct attn_diff_row *row, size_t n)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    for (int s = 0; s < 2 && first; s++) {
        const char *name = attn_diff_name(r->diff, first, s);
        if (name && strcmp(name, first->name))
            printf("\n%s is %s in %c\n", first->name, name, "AB"[s]);
    }
    size_t noted = 0;
    for (size_t i = 0; i < n; i++) {
        const char *note = attn_diff_note(r->diff, &row[i]);
        if (note && (noted++ < DIFF_MOST || r->all))
            printf("%s%s: %s\n", noted == 1 ? "\n" : "", row[i].name, note);
    }
    if (noted > DIFF_MOST && !r->all)
        printf("... and %zu more like that (--all)\n", noted - DIFF_MOST);
}

static void print_lonely(const struct attn_diff_row *row, size_t n, enum attn_diff_kind kind, char side, bool all)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (row[i].kind != kind)
            continue;
        if (!found)
            printf("\nonly in %c:", side);
        if (found++ < DIFF_MOST || all)
            printf(" %s", row[i].name);
    }
    if (found > DIFF_MOST && !all)
        printf(" ... and %zu more (--all)", found - DIFF_MOST);
    if (found)
        putchar('\n');
}

void diff_print_name(char side, const char *name)
{
    printf("%c       ", side);
    print_text(stdout, name, strlen(name), terminal_is(NULL));
    putchar('\n');
}

/* Nothing is called the cause that does not explain the numbers. */
static void print_nearest(const struct differences *r)
{
    const struct attn_diff_near *near = attn_diff_nearest(r->diff);
    fputs("\nno known mistake fits", stdout);
    for (size_t i = 0; i < ATTN_DIFF_NEAREST && near[i].text[0]; i++)
        printf("%s %s, which leaves %.2g %% of the difference", i ? "; then" : "; nearest is", near[i].text,
               100 * near[i].left);
    putchar('\n');
}

void diff_print(const struct differences *r)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    struct counts c = count(row, n);
    char quantised[DIFF_QUANTISED];
    const char *cause = diff_quantised(quantised, r->contrast);
    cause = cause ? cause : attn_diff_cause(r->diff, NULL);
    print_verdict(r, &c);
    diff_print_name('A', r->name_a);
    for (size_t i = 0; i < attn_edits_count(r->edits); i++)
        printf("edited  %s\n", attn_edits_text(r->edits, i));
    diff_print_name('B', r->name_b);
    if (r->contrast)
        diff_print_contrast(r->contrast, r->all);
    if (r->contrast && (r->all || attn_contrast_differs(r->contrast)))
        putchar('\n');
    if (r->same_ids)
        print_ids(r->a);
    if (c.differ || r->all)
        print_table(r, row, n);
    diff_print_forms(r);
    print_notes(r, row, n);
    print_lonely(row, n, ATTN_DIFF_ONLY_A, 'A', r->all);
    print_lonely(row, n, ATTN_DIFF_ONLY_B, 'B', r->all);
    if (c.differ && cause)
        printf("\nlikely cause: %s\n", cause);
    else if (c.differ)
        print_nearest(r);
    if (c.differ || r->all)
        diff_print_parts(r);
    diff_print_next(r);
}

/* ---- for scripts ------------------------------------------------------------------------- */

static void json_member(const char *key, double x)
{
    printf(", \"%s\": ", key);
    json_real(stdout, x);
}

/* Those that were compared, of all rows. */
struct compared { const struct differences *of; const struct attn_diff_row **row; };

static const struct attn_diff_row *row_at(const void *self, size_t i)
{
    return ((const struct compared *)self)->row[i];
}

static void put_shape_a(struct attn_out *o, const void *self, size_t i)
{
    char buf[SHAPE];
    attn_out_str(o, shape(buf, row_at(self, i), 0));
}

static void put_shape_b(struct attn_out *o, const void *self, size_t i)
{
    char buf[SHAPE];
    attn_out_str(o, shape(buf, row_at(self, i), 1));
}

static void put_at(struct attn_out *o, const void *self, size_t i)
{
    const struct attn_diff_row *row = row_at(self, i);
    if (has_heads(row))
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
    const struct attn_diff *d = ((const struct compared *)self)->of->diff;
    const struct attn_diff_row *row = row_at(self, i);
    bool measured = row->kind != ATTN_DIFF_SHAPE;
    bool apart = row->kind == ATTN_DIFF_CLOSE || row->kind == ATTN_DIFF_NUMBERS;
    *cell++ = attn_datum_str(row->name);
    *cell++ = attn_datum_str(status[row->kind]);
    for (int s = 0; s < 2; s++) {       /* what a side calls the array itself */
        const char *name = attn_diff_name(d, row, s);
        *cell++ = attn_datum_str(name && strcmp(name, row->name) ? name : NULL);
    }
    *cell++ = attn_datum_str(attn_diff_note(d, row));
    *cell++ = attn_datum_str(attn_diff_form(d, row, NULL));
    *cell++ = attn_datum_truth(true);
    *cell++ = attn_datum_truth(true);
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
        if (has_heads(row))
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
}

/* Optional ones are there only where they say something. */
#define REAL(title) {.name = title, .kind = ATTN_COLUMN_REAL, .flags = ATTN_COLUMN_OPTIONAL}
#define WHOLE(title) {.name = title, .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_OPTIONAL}
#define FLAT(title) {.name = title, .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT}
static const struct attn_column columns[] = {
    {.name = "name"}, {.name = "status"}, {.name = "name_a", .flags = ATTN_COLUMN_OPTIONAL},
    {.name = "name_b", .flags = ATTN_COLUMN_OPTIONAL}, {.name = "note", .flags = ATTN_COLUMN_OPTIONAL},
    {.name = "form", .flags = ATTN_COLUMN_OPTIONAL},
    {.name = "shape_a", .kind = ATTN_COLUMN_NESTED, .write = put_shape_a},
    {.name = "shape_b", .kind = ATTN_COLUMN_NESTED, .write = put_shape_b},
    WHOLE("count"), WHOLE("differing"), REAL("max_abs"), REAL("mean_abs"), WHOLE("max_ulp"), REAL("nmse"),
    {.name = "at", .kind = ATTN_COLUMN_NESTED, .flags = ATTN_COLUMN_OPTIONAL, .write = put_at},
    FLAT("at_head"), FLAT("at_row"), FLAT("at_col"), REAL("a"), REAL("b"), REAL("gap"), REAL("explained"),
    WHOLE("beyond")};

int diff_print_table(const struct differences *r, const char *format, struct attn_err *err)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    struct compared c = {r, calloc(n + 1, sizeof *c.row)};
    struct attn_table t = {.column = columns, .columns = sizeof columns / sizeof *columns, .row = fill, .self = &c,
                           .spaced = true, .csv_safe = csv_safe()};
    if (!c.row)
        return attn_no_memory(err, NULL, "for %zu tensors", n);
    for (size_t i = 0; i < n; i++)
        if (compared(&row[i]))
            c.row[t.rows++] = &row[i];
    int code = format ? table_print(&t, format, err) : table_objects(&t, "\n  ", "\n  ", err);
    free(c.row);
    return code;
}

static void json_lonely(const struct attn_diff_row *row, size_t n, enum attn_diff_kind kind, const char *key)
{
    size_t found = 0;
    printf(",\n \"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        if (row[i].kind != kind)
            continue;
        fputs(found++ ? ", " : "", stdout);
        json_text(stdout, row[i].name);
    }
    putchar(']');
}

static void json_nearest(const struct differences *r)
{
    const struct attn_diff_near *near = attn_diff_nearest(r->diff);
    for (size_t i = 0; i < ATTN_DIFF_NEAREST && near[i].text[0]; i++) {
        fputs(i ? ", {\"text\": " : ",\n \"nearest\": [{\"text\": ", stdout);
        json_text(stdout, near[i].text);
        json_member("left", near[i].left);
        fputs(i + 1 == ATTN_DIFF_NEAREST || !near[i + 1].text[0] ? "}]" : "}", stdout);
    }
}

static void json_head(const struct differences *r)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    char quantised[DIFF_QUANTISED];
    const char *kind = "quantised", *cause = diff_quantised(quantised, r->contrast);
    cause = cause && first ? cause : attn_diff_cause(r->diff, &kind);
    printf("{\"version\": \"%s\",\n \"a\": ", attn_version());
    json_text(stdout, r->name_a);
    fputs(",\n \"b\": ", stdout);
    json_text(stdout, r->name_b);
    printf(",\n \"differs\": %s, \"exact\": %s", first ? "true" : "false", r->opts->exact ? "true" : "false");
    json_member("atol", r->opts->atol);
    json_member("rtol", r->opts->rtol);
    printf(", \"rounding\": %s, \"rounded_to\": ", r->opts->rounding ? "true" : "false");
    json_text(stdout, attn_diff_rounded_to(r->diff));
    fputs(",\n \"first\": ", stdout);
    json_text(stdout, first ? first->name : NULL);
    fputs(",\n \"cause\": ", stdout);
    if (cause) {
        printf("{\"kind\": \"%s\", \"text\": ", kind);
        json_text(stdout, cause);
        putchar('}');
    } else {
        fputs("null", stdout);
    }
    json_nearest(r);
}

int diff_print_json(const struct differences *r, struct attn_err *err)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    json_head(r);
    json_edits(stdout, r->edits);
    fputs(",\n \"tensors\": [", stdout);
    if (diff_print_table(r, NULL, err))
        return err->code;
    putchar(']');
    json_lonely(row, n, ATTN_DIFF_ONLY_A, "only_a");
    json_lonely(row, n, ATTN_DIFF_ONLY_B, "only_b");
    diff_json_parts(r);
    diff_json_next(r);
    int code = r->contrast ? diff_json_contrast(r->contrast, err) : ATTN_OK;
    fputs("}\n", stdout);
    return code;
}

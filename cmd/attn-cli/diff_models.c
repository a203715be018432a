/* diff_models.c - the tables of two models as their files say it: configuration, vocabulary, tokenizer, weights. */
#include "diff_report.h"

#include "opts_output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct attn_contrasted *of(const void *self) { return ((const struct differences *)self)->contrast; }

/* ---- configuration ----------------------------------------------------------------------- */

/* For people a long value is cut. */
static struct attn_datum value(char buf[64], const char *json)
{
    enum { VALUE = 30 };
    struct attn_datum d = attn_datum_str(json);
    if (!json)
        return (struct attn_datum){.read = "-", .read_len = 1};
    if (d.len <= VALUE)
        return d;
    d.read = buf;
    d.read_len = (size_t)snprintf(buf, 64, "%.*s...", diff_cut(json, d.len, VALUE - 3), json);
    return d;
}

static void fill_field(struct attn_datum *cell, const void *self, size_t i)
{
    static char buf[2][64];
    const struct attn_contrast_field *f = &of(self)->field[i];
    cell[0] = attn_datum_str(f->name);
    cell[1] = value(buf[0], f->a);
    cell[2] = value(buf[1], f->b);
}

/* Programs have an optional one only where it says something. */
#define COLUMN(title, as, words) \
    {.name = title, .kind = ATTN_COLUMN_##as, .flags = ATTN_COLUMN_OPTIONAL, .heading = words}
static const struct attn_column fields[] = {{.name = "field"}, COLUMN("a", JSON, "A"), COLUMN("b", JSON, "B")};

/* ---- vocabulary and tokenizer ------------------------------------------------------------ */

static void fill_token(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_contrast_token *t = &of(self)->token[i];
    cell[0] = attn_datum_index(t->id);
    cell[1] = attn_datum_text(t->a, t->a_len);
    cell[2] = attn_datum_text(t->b, t->b_len);
}

static const struct attn_column tokens[] = {
    {.name = "id", .kind = ATTN_COLUMN_WHOLE}, {.name = "a", .kind = ATTN_COLUMN_TOKEN, .heading = "A"},
    {.name = "b", .kind = ATTN_COLUMN_TOKEN, .heading = "B"}};

static void fill_file(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_contrast_file *f = &of(self)->file[i];
    cell[0] = attn_datum_str(f->name);
    cell[1] = attn_datum_str(f->line ? "differs" : f->has_a ? "only_a" : "only_b");
    cell[2] = attn_datum_str(f->line ? "differs" : f->has_a ? "only in A" : "only in B");
    if (f->line)
        cell[3] = attn_datum_whole(f->line);
}

static const struct attn_column files[] = {
    {.name = "file", .heading = "file of the tokenizer"}, {.name = "status", .flags = ATTN_COLUMN_DATA},
    {.name = "how", .flags = ATTN_COLUMN_READ, .heading = ""}, COLUMN("line", WHOLE, "first in line")};

/* ---- weights ----------------------------------------------------------------------------- */

static bool paired(const struct attn_contrast_weight *w) { return w->kind <= ATTN_DIFF_SHAPE; }

enum { TOKEN = 40, SHAPES = 2 * DIFF_SHAPE + 128, PLACE = DIFF_SHAPE + 2 * TOKEN };

/* "[16, 16]", or what it is on either side, with the types where these differ. */
static const char *shapes(char buf[SHAPES], const struct attn_contrast_weight *w)
{
    char s[2][DIFF_SHAPE] = {"", ""};
    for (int i = 0; i < 2; i++)
        diff_shape(s[i], w->shape[i], w->ndim[i]);
    bool types = paired(w) && strcmp(w->dtype[0], w->dtype[1]) != 0, differ = paired(w) && w->kind == ATTN_DIFF_SHAPE;
    if (types || differ)
        snprintf(buf, SHAPES, "%s%s%s in A, %s%s%s in B", s[0], types ? " " : "", types ? w->dtype[0] : "",
                 differ ? s[1] : "", differ && types ? " " : "", types ? w->dtype[1] : "");
    else
        snprintf(buf, SHAPES, "%s%s", s[!w->dtype[0]], paired(w) ? "" : w->dtype[0] ? " only in A" : " only in B");
    return buf;
}

/* A row of the embedding is a token's. */
static const char *place(char buf[PLACE], const struct attn_contrasted *c, const struct attn_contrast_weight *w)
{
    size_t len = 0;
    const struct attn_tokenizer *t = c->tokenizer[0] ? c->tokenizer[0] : c->tokenizer[1];
    const char *token = w->of_tokens && t && w->at[0] <= INT32_MAX ? attn_tokenizer_raw(t, (int32_t)w->at[0], &len) :
                        NULL;
    size_t n = strlen(diff_shape(buf, w->at, w->ndim[0]));
    if (token)
        n += (size_t)snprintf(buf + n, PLACE - n, ", of \"%.*s\"", diff_cut(token, len, TOKEN), token);
    if (isnan(w->max_abs))
        snprintf(buf + n, PLACE - n, ", compared as bytes");
    return buf;
}

/* Cells of weights[], in their order. */
static void fill_weight(struct attn_datum *cell, const void *self, size_t i)
{
    static const char *const status[] = {
        [ATTN_DIFF_SAME] = "same", [ATTN_DIFF_CLOSE] = "close", [ATTN_DIFF_NUMBERS] = "differs",
        [ATTN_DIFF_SHAPE] = "shape", [ATTN_DIFF_ONLY_A] = "only_a", [ATTN_DIFF_ONLY_B] = "only_b"};
    static const char *const sides[] = {NULL, "a", "b"};
    static char shape[SHAPES], at[PLACE];
    const struct attn_contrast_weight *w = &of(self)->weight[i];
    *cell++ = attn_datum_str(w->name);
    *cell++ = attn_datum_str(strcmp(w->name, w->name_b) ? w->name_b : NULL);
    *cell++ = attn_datum_str(status[w->kind]);
    for (int side = 0; side < 2; side++) {
        *cell++ = attn_datum_str(w->dtype[side]);
        *cell++ = w->dtype[side] ? attn_datum_sizes(w->shape[side], w->ndim[side]) : (struct attn_datum){0};
    }
    *cell++ = attn_datum_str(shapes(shape, w));
    if (w->count) {
        cell[0] = attn_datum_whole(w->count);
        cell[1] = attn_datum_whole(w->differing);
    }
    cell[2] = attn_datum_str(sides[(int)w->rounded]);
    if (w->count && (w->differing || w->kind == ATTN_DIFF_CLOSE)) {
        cell[3] = attn_datum_real(w->max_abs);
        cell[4] = attn_datum_sizes(w->at, w->ndim[0]);
        cell[5] = attn_datum_real(w->a);
        cell[6] = attn_datum_real(w->b);
        if (w->squares_b > 0)
            cell[7] = attn_datum_real(attn_contrast_relative(w->squares, w->squares_b));
        cell[8] = attn_datum_str(place(at, of(self), w));
    }
}

#define DATA(title, as) {.name = title, .kind = ATTN_COLUMN_##as, .flags = ATTN_COLUMN_OPTIONAL | ATTN_COLUMN_DATA}
#define REAL(title, words, more, of_digits) \
    {.name = title, .kind = ATTN_COLUMN_REAL, .heading = words, .digits = of_digits, \
     .flags = ATTN_COLUMN_OPTIONAL | ATTN_COLUMN_SIGNIFICANT | more}
static const struct attn_column weights[] = {
    {.name = "name", .heading = "weight"}, DATA("name_b", TEXT), {.name = "status", .flags = ATTN_COLUMN_DATA},
    DATA("dtype_a", TEXT), DATA("shape_a", SIZES), DATA("dtype_b", TEXT), DATA("shape_b", SIZES),
    {.name = "shape", .flags = ATTN_COLUMN_READ}, COLUMN("count", WHOLE, "numbers"),
    COLUMN("differing", WHOLE, "differ"),
    DATA("rounded", TEXT), REAL("max_abs", "max abs", 0, 3), DATA("at", SIZES), REAL("a", "A", 0, 9),
    REAL("b", "B", 0, 9), REAL("relative", "error", ATTN_COLUMN_PERCENT, 3),
    {.name = "where", .flags = ATTN_COLUMN_READ, .heading = "largest at"}};

static bool is_listed(const void *self, size_t i)
{
    const struct attn_contrast_weight *w = &of(self)->weight[i];
    return ((const struct differences *)self)->all || (!w->rounded && w->kind >= ATTN_DIFF_NUMBERS);
}

/* Each pair of types that weights have on the two sides. */
static void fill_type(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_contrast_type *t = &of(self)->type[i];
    cell[0] = attn_datum_str(t->dtype[0]);
    cell[1] = attn_datum_str(t->dtype[1]);
    cell[2] = attn_datum_whole(t->weights);
    cell[3] = attn_datum_whole(t->rounded[0]);
    cell[4] = attn_datum_whole(t->rounded[1]);
    cell[5] = attn_datum_whole(t->same);
    cell[6] = attn_datum_number(attn_contrast_relative(t->squares, t->squares_b));
    cell[7] = attn_datum_str(t->worst);
    cell[8] = attn_datum_real(t->worst_relative);
}

#define COUNT(title, words) {.name = title, .kind = ATTN_COLUMN_WHOLE, .heading = words}
#define ERROR(title, words) \
    {.name = title, .kind = ATTN_COLUMN_REAL, .flags = ATTN_COLUMN_SIGNIFICANT | ATTN_COLUMN_PERCENT, \
     .heading = words, .digits = 3}
static const struct attn_column types[] = {
    {.name = "dtype_a", .heading = "in A"}, {.name = "dtype_b", .heading = "in B"}, COUNT("weights", "differ"),
    COUNT("rounded_a", "A is B rounded"), COUNT("rounded_b", "B is A rounded"), COUNT("same", "the same"),
    ERROR("relative", "error"), {.name = "worst", .heading = "most in"}, ERROR("worst_relative", "its error")};

static bool is_other_type(const void *self, size_t i)
{
    const struct attn_contrast_type *t = &of(self)->type[i];
    return t->blocks[0] || t->blocks[1] || strcmp(t->dtype[0], t->dtype[1]) != 0;
}

/* ---- all of it --------------------------------------------------------------------------- */

static const char *kind_of(const struct attn_contrasted *c, int side)
{
    return c->tokenizer[side] ? attn_tokenizer_kind(c->tokenizer[side]) : NULL;
}

static void fill_models(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_contrasted *c = of(self);
    const struct attn_table *t = ((const struct differences *)self)->table;
    const size_t sizes[] = {c->vocab[0], c->vocab[1], c->only[0], c->only[1]};
    *cell++ = attn_datum_truth(attn_contrast_differs(c));
    *cell++ = attn_datum_rows(&t[DIFF_FIELDS]);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        *cell++ = attn_datum_whole(sizes[i]);
    *cell++ = attn_datum_rows(&t[DIFF_TOKENS]);
    *cell++ = attn_datum_str(kind_of(c, 0));
    *cell++ = attn_datum_str(kind_of(c, 1));
    *cell++ = attn_datum_rows(&t[DIFF_FILES]);
    *cell++ = attn_datum_rows(&t[DIFF_WEIGHTS]);
    *cell++ = attn_datum_rows(&t[DIFF_TYPES]);
}

#define OF(within, title, as) {.name = title, .group = within, .kind = ATTN_COLUMN_##as}
static const struct attn_column members[] = {
    OF(NULL, "differs", TRUTH), OF(NULL, "config", ROWS), OF("vocabulary", "a", WHOLE), OF("vocabulary", "b", WHOLE),
    OF("vocabulary", "only_a", WHOLE), OF("vocabulary", "only_b", WHOLE), OF("vocabulary", "differing", ROWS),
    OF("tokenizer", "a", TEXT), OF("tokenizer", "b", TEXT), OF("tokenizer", "files", ROWS), OF(NULL, "weights", ROWS),
    OF(NULL, "types", ROWS)};

void diff_tables_of_models(struct differences *r)
{
    const struct attn_contrasted *c = r->contrast;
    struct attn_table *t = r->table;
    t[DIFF_FIELDS] = DIFF_TABLE(r, fields, c->fields, fill_field);
    t[DIFF_TOKENS] = DIFF_TABLE(r, tokens, c->tokens, fill_token);
    t[DIFF_FILES] = DIFF_TABLE(r, files, c->files, fill_file);
    t[DIFF_WEIGHTS] = DIFF_TABLE(r, weights, c->weight_rows, fill_weight);
    t[DIFF_WEIGHTS].listed = is_listed;
    t[DIFF_WEIGHTS].between = "\n   ";
    t[DIFF_TYPES] = DIFF_TABLE(r, types, c->types, fill_type);
    t[DIFF_TYPES].listed = is_other_type;
    t[DIFF_MODELS] = DIFF_TABLE(r, members, 1, fill_models);
    t[DIFF_MODELS].alone = true;
}

/* ---- for people, what is no table ---------------------------------------------------------- */

void diff_print_what_differs(const struct attn_contrasted *c)
{
    const char *between = "";
    if (c->fields || c->config[0] != c->config[1]) {
        printf("the configuration");
        between = ", ";
    }
    if (c->tokens) {
        printf("%s%zu token%s", between, c->tokens, diff_plural(c->tokens));
        between = ", ";
    }
    if (c->files) {
        printf("%sthe tokenizer", between);
        between = ", ";
    }
    if (c->differing)
        printf("%s%zu of %zu weight%s", between, c->differing, c->weight_rows, diff_plural(c->weight_rows));
}

static void print_tokenizers(const struct differences *r)
{
    const struct attn_contrasted *c = r->contrast;
    const char *a = kind_of(c, 0), *b = kind_of(c, 1);
    if (c->tokens)
        printf("\nvocabulary: %zu tokens in A, %zu in B; %zu only in A, %zu only in B\n", c->vocab[0], c->vocab[1],
               c->only[0], c->only[1]);
    diff_print(r, DIFF_TOKENS, NULL, "ids (--all lists them)");
    if (a && b && strcmp(a, b))
        printf("\ntokenizer: %s in A, %s in B\n", a, b);
    diff_print(r, DIFF_FILES, "", NULL);
    for (int i = 0; i < 2; i++)         /* one beside a side that has one, or one that cannot be read */
        if (!c->tokenizer[i] && c->config[i] && c->tokenizer[!i])
            printf("\ntokenizer: %c has none that can be read: %s\n", "AB"[i], c->why[i] ? c->why[i] : "");
}

void diff_print_models(const struct differences *r)
{
    const struct attn_contrasted *c = r->contrast;
    size_t same = 0;
    for (size_t i = 0; i < c->weight_rows; i++)
        same += c->weight[i].kind == ATTN_DIFF_SAME;
    diff_print(r, DIFF_FIELDS,
               c->translated ? "\nconfiguration, in our words, since the families differ:" : "\nconfiguration:",
               "fields (--all lists them)");
    for (int i = 0; i < 2; i++)
        if (c->config[i] && !c->config[!i])
            printf("\nconfiguration: only in %c\n", "AB"[i]);
    print_tokenizers(r);
    if (!c->differing && !r->all && !c->types)
        return;
    printf("\nweights: %zu of %zu are the same\n", same, c->compared);
    if (!c->compared)
        puts("  no name of A is one of B: with -s TEXT the numbers that both compute are compared");
    diff_print(r, DIFF_TYPES, NULL, NULL);
    diff_print(r, DIFF_WEIGHTS, NULL, "weights (--all lists them)");
}

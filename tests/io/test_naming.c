/* test_naming.c - dumps of other programs: arrays with TransformerLens's names or names of their own, and heads where
 * they have them. */
#include "suites.h"
#include "attn_tools.h"

#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "wrong.h"

#include "base/strings.h"
#include "io/dump.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t ids[] = {1, 5, 7, 2, 9, 3, 4, 8, 11};
enum { T = sizeof ids / sizeof *ids };

static struct attn_dump *run(const char *model)
{
    struct attn_err err = {0};
    struct attn_model *m = made_open(wrong_origin(model));
    struct attn_tokens *tokens = NULL;
    struct attn_select *what = NULL;
    struct attn_dump *d = NULL;
    int rc = attn_tokens_from_ids(&tokens, ids, T, &err);
    if (!rc)
        rc = attn_select_new(&what, m, NULL, "*,attn.result", NULL, NULL, &err);
    if (!rc)
        rc = attn_dump_run(&d, m, tokens, NULL, what, &(struct attn_plan){.threads = 1}, NULL, &err);
    ck_assert_msg(!rc, "%s", err.msg);
    attn_select_free(what);
    attn_tokens_free(tokens);
    attn_model_close(m);
    return d;
}

/* ---- a dump as another program has it ---- */

static const struct called { const char *ours, *theirs;
} lens[] = {{"embed", "hook_embed"},
            {"pos_embed", "hook_pos_embed"},
            {"resid_pre", "hook_resid_pre"},
            {"norm1", "ln1.hook_normalized"},
            {"attn.q", "attn.hook_q"},
            {"attn.k", "attn.hook_k"},
            {"attn.v", "attn.hook_v"},
            {"attn.scores", "attn.hook_attn_scores"},
            {"attn.pattern", "attn.hook_pattern"},
            {"attn.context", "attn.hook_z"},
            {"attn.result", "attn.hook_result"},
            {"attn.out", "hook_attn_out"},
            {"resid_mid", "hook_resid_mid"},
            {"norm2", "ln2.hook_normalized"},
            {"mlp.pre", "mlp.hook_pre"},
            {"mlp.linear", "mlp.hook_pre_linear"},
            {"mlp.post", "mlp.hook_post"},
            {"mlp.out", "hook_mlp_out"},
            {"resid_post", "hook_resid_post"},
            {"norm_final", "ln_final.hook_normalized"},
            {"logits", "logits"},
            {NULL, NULL}};

static struct attn_dumped *find(struct attn_dump *d, const char *name)
{
    struct attn_dumped *found = (struct attn_dumped *)attn_dump_item(d, name);
    ck_assert_msg(found != NULL, "no %s", name);
    return found;
}

static void rename_to(struct attn_dump *d, size_t i, const char *name)
{
    free(d->item[i].name);
    d->item[i].name = strdup(name);
    ck_assert_ptr_nonnull(d->item[i].name);
}

/* [H,T,w] to [T,H,w], or back. */
static void swap_axes(struct attn_array *x)
{
    size_t H = x->shape[0], rows = x->shape[1], w = x->shape[2];
    float *moved = malloc(x->n * sizeof *moved);
    ck_assert_ptr_nonnull(moved);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < rows; t++)
            memcpy(moved + (t * H + h) * w, x->data + (h * rows + t) * w, w * sizeof *moved);
    free(x->data);
    x->data = moved;
    x->shape[0] = rows;
    x->shape[1] = H;
}

static void batch_of_one(struct attn_array *x)
{
    memmove(x->shape + 1, x->shape, (size_t)x->ndim++ * sizeof *x->shape);
    x->shape[0] = 1;
}

/* Renames by the list, and drops what it does not have. */
static void call(struct attn_dump *d, const struct called *list)
{
    struct attn_err err = {0};
    for (size_t i = 0; i < d->n; i++) {
        int layer, act = attn_act_find(d->item[i].name, &layer);
        size_t k = 0;
        while (list[k].ours && strcmp(list[k].ours, attn_act_tail(act)) != 0)
            k++;
        if (list[k].ours)
            rename_to(d, i, layer < 0 ? list[k].theirs : printed("blocks.%d.%s", layer, list[k].theirs));
        else {
            attn_dump_drop(&d->item[i]);
            d->item[i--] = d->item[--d->n];
        }
    }
    ck_assert_msg(!attn_dump_index(d, &err), "%s", err.msg);
}

/* Heads within the tokens, as TransformerLens has them. */
static void arrange(struct attn_dump *d)
{
    size_t H = 0;
    for (size_t i = 0; i < d->n; i++)
        if (attn_ends_with(d->item[i].name, ".pattern"))
            H = d->item[i].of.shape[0];
    for (size_t i = 0; i < d->n; i++) {
        struct attn_array *x = &d->item[i].of;
        int layer, act = attn_act_find(d->item[i].name, &layer);
        if (act == ATTN_ACT_Q || act == ATTN_ACT_K || act == ATTN_ACT_V || act == ATTN_ACT_RESULT)
            swap_axes(x);
        if (act == ATTN_ACT_CONTEXT)
            *x = (struct attn_array){3, {x->shape[0], H, x->shape[1] / H}, x->n, x->data, NULL};
        batch_of_one(x);
        free(d->item[i].heads);
        d->item[i].heads = NULL;
    }
}

/* ---- comparisons ---- */

static struct attn_diff *compare(const struct attn_dump *a, const struct attn_dump *b, const struct attn_naming *naming)
{
    struct attn_err err = {0};
    struct attn_diff *d;
    const struct attn_diff_opts o = {.exact = true, .naming = naming};
    ck_assert_msg(!attn_diff_new(&d, a, b, &o, &err), "%s", err.msg);
    return d;
}

static const struct attn_diff_row *row_of(const struct attn_diff *d, const char *name)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(d, &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(row[i].name, name))
            return &row[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

/* Every array of a is one of b and has the same bits. */
static void ck_same(const struct attn_diff *d, size_t arrays)
{
    size_t n, same = 0;
    const struct attn_diff_row *row = attn_diff_rows(d, &n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(row[i].kind == ATTN_DIFF_SAME || row[i].kind == ATTN_DIFF_ONLY_B, "%s: %d", row[i].name,
                      (int)row[i].kind);
        same += row[i].kind == ATTN_DIFF_SAME;
    }
    ck_assert_uint_eq(same, arrays);
}

/* ---- names of TransformerLens ---- */

static const char *const models[] = {"gpt2-a", "llama-f", "neox-i", "neo-h"};

START_TEST(test_names_of_transformerlens)
{
    struct attn_dump *a = run(models[_i]), *b = run(models[_i]);
    arrange(a);
    call(a, lens);
    struct attn_diff *d = compare(a, b, NULL);
    ck_same(d, a->n);
    ck_assert_str_eq(attn_diff_name(d, row_of(d, "blocks.1.attn.context"), 0), "blocks.1.attn.hook_z");
    ck_assert_str_eq(attn_diff_name(d, row_of(d, "blocks.1.attn.context"), 1), "blocks.1.attn.context");
    attn_diff_free(d);
    d = compare(b, a, NULL);            /* whichever side it is */
    ck_assert_ptr_null(attn_diff_first(d));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* What differs is found, named by our name and placed as in our arrays. */
START_TEST(test_a_wrong_number_among_other_names)
{
    struct attn_dump *a = run("gpt2-a"), *b = run("gpt2-a");
    arrange(a);
    call(a, lens);
    struct attn_array *q = &find(a, "blocks.1.attn.hook_q")->of, *z = &find(a, "blocks.1.attn.hook_z")->of;
    size_t H = q->shape[2], w = q->shape[3], dv = z->shape[3];
    q->data[(5 * H + 1) * w + 3] += 1;
    z->data[(4 * H + 1) * dv + 2] += 1;
    struct attn_diff *d = compare(a, b, NULL);
    const struct attn_diff_row *row = attn_diff_first(d);
    ck_assert_str_eq(row->name, "blocks.1.attn.q");
    ck_assert(row->differing == 1 && row->at[0] == 1 && row->at[1] == 5 && row->at[2] == 3);
    row = row_of(d, "blocks.1.attn.context");
    ck_assert(row->differing == 1 && row->at[0] == 0 && row->at[1] == 4 && row->at[2] == dv + 2);
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* The search for a cause reads arrays in our order whatever they are called. */
START_TEST(test_a_cause_among_other_names)
{
    struct attn_dump *a = run("llama-f"), *b = run("llama-f");
    const char *kind;
    struct attn_array *q = &find(a, "blocks.0.attn.q")->of;
    for (size_t i = 0; i < q->n; i++)
        q->data[i] *= 2;
    arrange(a);
    call(a, lens);
    struct attn_diff *d = compare(a, b, NULL);
    ck_assert_str_eq(attn_diff_first(d)->name, "blocks.0.attn.q");
    ck_assert_msg(attn_diff_cause(d, &kind) && !strcmp(kind, "scale"), "%s", attn_diff_cause(d, NULL));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

static void add(struct attn_dump *d, const char *name, int ndim, const size_t *shape, const float *data)
{
    struct attn_err err = {0};
    struct attn_dumped what = {.of = {.ndim = ndim, .n = 1}};
    for (int i = 0; i < ndim; i++)
        what.of.n *= what.of.shape[i] = shape[i];
    what.of.data = malloc(what.of.n * sizeof *data);
    for (size_t i = 0; i < what.of.n; i++)
        what.of.data[i] = data ? data[i] : (float)i;
    ck_assert_msg(!attn_dump_add(d, name, strlen(name), &what, &err), "%s", err.msg);
}

static struct attn_dump *dump(void)
{
    struct attn_dump *d = calloc(1, sizeof *d);
    ck_assert_ptr_nonnull(d);
    return d;
}

/* Two numbers tell apart what is paired with what. */
static const struct pairing { const char *a[3], *b[3], *row, *of_a, *of_b;
} pairings[] = {
    {{"blocks.0.attn.hook_q", "blocks.0.attn.hook_rot_q"},
     {"blocks.0.attn.q"},
     "blocks.0.attn.q",
     "blocks.0.attn.hook_rot_q",
     "blocks.0.attn.q"},
    {{"blocks.0.attn.hook_q"}, {"blocks.0.attn.q"}, "blocks.0.attn.q", "blocks.0.attn.hook_q", "blocks.0.attn.q"},
    {{"blocks.0.hook_attn_out"},
     {"blocks.0.attn.out"},
     "blocks.0.attn.out",
     "blocks.0.hook_attn_out",
     "blocks.0.attn.out"},
    {{"blocks.0.hook_attn_out"},
     {"blocks.0.attn.out", "blocks.0.attn.added"},
     "blocks.0.attn.added",
     "blocks.0.hook_attn_out",
     "blocks.0.attn.added"},
    {{"blocks.0.hook_mlp_out", "blocks.0.mlp.hook_out"},
     {"blocks.0.mlp.out", "blocks.0.mlp.added"},
     "blocks.0.mlp.out",
     "blocks.0.mlp.hook_out",
     "blocks.0.mlp.out"},
    {{"blocks/2/hook_resid_pre.npy"},
     {"blocks.2.resid_pre"},
     "blocks.2.resid_pre",
     "blocks/2/hook_resid_pre.npy",
     "blocks.2.resid_pre"},
    {{"blocks/2/resid_pre"}, {"blocks.2.resid_pre"}, "blocks.2.resid_pre", "blocks/2/resid_pre", "blocks.2.resid_pre"},
    {{"blocks.3.hook_out"},
     {"blocks.3.hook_resid_post"},
     "blocks.3.resid_post",
     "blocks.3.hook_out",
     "blocks.3.hook_resid_post"},
    {{"blocks.1.hook_resid_mid"},
     {"blocks.1.hook_resid_mid"},
     "blocks.1.hook_resid_mid",
     "blocks.1.hook_resid_mid",
     "blocks.1.hook_resid_mid"},
    {{"hook_embed", "embed"}, {"embed"}, "embed", "embed", "embed"},
};

START_TEST(test_what_is_paired)
{
    const struct pairing *p = &pairings[_i];
    struct attn_dump *side[2] = {dump(), dump()};
    for (int k = 0; k < 3; k++) {
        if (p->a[k])
            add(side[0], p->a[k], 2, (size_t[]){2, 3}, NULL);
        if (p->b[k])
            add(side[1], p->b[k], 2, (size_t[]){2, 3}, NULL);
    }
    struct attn_diff *d = compare(side[0], side[1], NULL);
    const struct attn_diff_row *row = row_of(d, p->row);
    ck_assert_int_eq(row->kind, ATTN_DIFF_SAME);
    ck_assert_int_ge(row->act, 0);
    ck_assert_str_eq(attn_diff_name(d, row, 0), p->of_a);
    ck_assert_str_eq(attn_diff_name(d, row, 1), p->of_b);
    attn_diff_free(d);
    attn_dump_free(side[0]);
    attn_dump_free(side[1]);
}
END_TEST

/* A norm before its weight is our norm1 in another form; one that has no weight is our norm1 itself. */
START_TEST(test_norms_before_their_weight)
{
    const float bare[] = {1, -1, 1, -1, -1, 1, 1, -1}, weighted[] = {2, -0.5f, 2, -0.5f, -2, 0.5f, 2, -0.5f};
    const struct { const float *a, *b; bool agree, folded; } cases[] = {
        {bare, bare, true, false}, {bare, weighted, true, true}, {weighted, weighted, true, false},
        {weighted, bare, false, false}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct attn_dump *a = dump(), *b = dump();
        struct attn_diff *d;
        struct attn_err err = {0};
        const bool exact = i % 2, folded = cases[i / 2].folded && !exact;
        const struct attn_diff_opts o = {.exact = exact, .rounding = !exact};
        add(a, "blocks.0.ln1.hook_normalized", 3, (size_t[]){1, 2, 4}, cases[i / 2].a);
        add(b, "blocks.0.norm1", 2, (size_t[]){2, 4}, cases[i / 2].b);
        ck_assert_int_eq(attn_diff_new(&d, a, b, &o, &err), 0);
        size_t n;
        const struct attn_diff_row *row = attn_diff_rows(d, &n);
        const char *form = attn_diff_form(d, row, NULL);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(attn_diff_first(d) == NULL,
                         cases[i / 2].agree && (folded || cases[i / 2].a == cases[i / 2].b));
        ck_assert_int_eq(form && !strcmp(form, "folded"), folded);
        attn_diff_free(d);
        attn_dump_free(a);
        attn_dump_free(b);
    }
}
END_TEST

/* ---- shapes ---- */

/* Numbers of [H,T,w] as they lie in each form; H 2, T 3 or 2, w 4. */
enum form { OURS, ROWS_FIRST, FLAT };

static void add_as(struct attn_dump *d, const char *name, enum form form, size_t H, size_t rows, bool batch)
{
    enum { W = 4 };
    float x[2 * 3 * W];
    size_t shape[4] = {1}, *s = shape + batch;
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < rows; t++)
            for (size_t j = 0; j < W; j++)
                x[form == OURS ? (h * rows + t) * W + j : (t * H + h) * W + j] = (float)(100 * h + 10 * t * t + j);
    s[0] = form == OURS ? H : rows;
    s[1] = form == OURS ? rows : form == FLAT ? H * W : H;
    s[2] = W;
    add(d, name, (form == FLAT ? 2 : 3) + batch, shape, x);
}

static const char *const of_heads[] = {"blocks.0.attn.q", "blocks.0.attn.v", "blocks.0.attn.result",
                                       "blocks.0.attn.context"};

START_TEST(test_shapes_of_heads)
{
    for (size_t k = 0; k < 4; k++)
        for (int i = 0; i < 3 * 3 * 4 * 2; i++) {
            enum form fa = (enum form)(i % 3), fb = (enum form)(i / 3 % 3);
            size_t rows = i / 36 ? 2 : 3;
            struct attn_dump *a = dump(), *b = dump();
            add_as(a, of_heads[k], fa, 2, rows, i / 9 % 2);
            add_as(b, of_heads[k], fb, 2, rows, i / 18 % 2);
            struct attn_diff *d = compare(a, b, NULL);
            const struct attn_diff_row *row = attn_diff_rows(d, &(size_t){0});
            ck_assert_msg(row->kind == ATTN_DIFF_SAME, "%s: %d and %d, %zu tokens: %d", of_heads[k], (int)fa, (int)fb,
                          rows, (int)row->kind);
            bool said = attn_diff_note(d, row) != NULL, swapped = rows == 2 && (fa == OURS) != (fb == OURS);
            ck_assert_msg(!swapped || said, "%s: %d and %d are two readings", of_heads[k], (int)fa, (int)fb);
            ck_assert_msg(rows == 2 || !said, "%s: %d and %d are one reading", of_heads[k], (int)fa, (int)fb);
            attn_diff_free(d);
            attn_dump_free(a);
            attn_dump_free(b);
        }
}
END_TEST

/* As many heads as tokens, in arrays of ours: no reading is tried that explains nothing, and none is spoken of. */
START_TEST(test_as_many_heads_as_tokens)
{
    struct attn_dump *a = dump(), *b = dump();
    add_as(a, "blocks.0.attn.q", OURS, 2, 2, false);
    add_as(b, "blocks.0.attn.q", OURS, 2, 2, false);
    a->item[0].of.data[6] += 1;
    struct attn_diff *d = compare(a, b, NULL);
    const struct attn_diff_row *row = attn_diff_first(d);
    ck_assert(row && row->differing == 1 && row->at[0] == 0 && row->at[1] == 1 && row->at[2] == 2);
    ck_assert_ptr_null(attn_diff_note(d, row));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* Other heads, other widths or no numbers at all are not the same array. */
START_TEST(test_shapes_that_do_not_fit)
{
    static const size_t shapes[][2][4] = {{{2, 3, 4}, {3, 4, 2}},    {{2, 3, 4}, {4, 6}}, {{2, 3, 4}, {3, 9}},
                                          {{2, 3, 4}, {2, 2, 3, 4}}, {{0, 3, 4}, {3, 4}}, {{2, 0, 4}, {0, 8}},
                                          {{2, 3, 4}, {24}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct attn_dump *side[2] = {dump(), dump()};
        for (int s = 0; s < 2; s++) {
            int ndim = shapes[i][s][3] ? 4 : shapes[i][s][2] ? 3 : shapes[i][s][1] ? 2 : 1;
            add(side[s], "blocks.0.attn.q", ndim, shapes[i][s], NULL);
        }
        struct attn_diff *d = compare(side[0], side[1], NULL);
        ck_assert_int_eq(attn_diff_rows(d, &(size_t){0})->kind, ATTN_DIFF_SHAPE);
        attn_diff_free(d);
        attn_dump_free(side[0]);
        attn_dump_free(side[1]);
    }
}
END_TEST

/* ---- names that the user gives ---- */

static const struct called own[] = {{"attn.pattern", "att.weights"},
                                    {"attn.q", "query"},
                                    {"attn.context", "mix"},
                                    {"logits", "head.out"},
                                    {NULL, NULL}};

START_TEST(test_names_of_ones_own)
{
    static const char rules[] = "# a port\r\n\nblocks.{}.att.weights=pattern\n  blocks.{}.query = blocks.{}.attn.q\r\n"
                                "blocks/{}/mix=attn.context\nhead.out=logits";
    struct attn_naming *naming = NULL;
    struct attn_err err = {0};
    struct attn_dump *a = run("gpt2-a"), *b = run("gpt2-a");
    arrange(a);
    call(a, own);
    ck_assert_msg(!attn_naming_read(&naming, rules, sizeof rules - 1, "rules.txt", &err), "%s", err.msg);
    struct attn_diff *d = compare(a, b, naming);
    ck_same(d, a->n);
    ck_assert_str_eq(attn_diff_name(d, row_of(d, "logits"), 0), "head.out");
    attn_diff_free(d);
    attn_naming_free(naming);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

static const struct { const char *rule, *says; } bad_rules[] = {
    {"x", "--map 'x': expected NAME=ACTIVATION"},
    {"=q", "before '=' has 0 bytes"},
    {"x{}=", "'' is no activation of ours"},
    {"x{}=patern", "'patern' is no activation of ours, the nearest is 'attn.pattern'"},
    {"x{}=blocks.{}.resid_mit", "the nearest is 'resid_mid'"},
    {"x{}=out", "'out' is attn.out or mlp.out"},
    {"x{}y{}=q", "is there twice"},
    {"x=q", "which layer?"},
    {"x{}=logits", "logits has none"},
    {"x{}=blocks.{}.logits", "is no activation of ours"},
    {"x{}=blocks.1.attn.q", "has a number already"},
    {"x=blocks.99999999999.attn.q", "its number is too large"},
    {"blocks.{}.attn.q=k", "an activation of ours already"},
    {"embed=logits", "an activation of ours already"},
    {"\xff{}=q", "not valid UTF-8"},
};

START_TEST(test_bad_rules)
{
    struct attn_naming *naming = NULL;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_naming_add(&naming, bad_rules[_i].rule, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, bad_rules[_i].says) != NULL, "%s", err.msg);
    attn_naming_free(naming);
}
END_TEST

static const struct { const char *rule[2], *says;
} misfits[] = {
    {{"z{}=pattern"}, "--map 'z{}=pattern': no array is called like that: A has 3 arrays, such as 'x0', B 2, such as"},
    {{"x{}=pattern", "y{}=pattern"}, "two arrays of A the same: 'x0' and 'y0' are both blocks.0.attn.pattern"},
    {{"x{}=pattern", "x0=blocks.0.attn.q"},
     "'x0' of A fits two rules, --map 'x{}=pattern' and --map 'x0=blocks.0.attn.q'"},
    {{"x{}=v"}, "two arrays of A the same: 'blocks.0.attn.v' and 'x0' are both blocks.0.attn.v"},
};

START_TEST(test_rules_that_do_not_fit)
{
    static const char *const names[] = {"x0", "y0", "blocks.0.attn.v"};
    struct attn_naming *naming = NULL;
    struct attn_dump *a = dump(), *b = dump();
    struct attn_err err = {0};
    struct attn_diff *d;
    for (size_t i = 0; i < 3; i++)
        add(a, names[i], 2, (size_t[]){2, 2}, NULL);
    add(b, "blocks.0.attn.pattern", 2, (size_t[]){2, 2}, NULL);
    add(b, "blocks.0.attn.v", 2, (size_t[]){2, 2}, NULL);
    for (size_t i = 0; i < 2 && misfits[_i].rule[i]; i++)
        ck_assert_msg(!attn_naming_add(&naming, misfits[_i].rule[i], &err), "%s", err.msg);
    const struct attn_diff_opts o = {.naming = naming};
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, misfits[_i].says) != NULL, "%s", err.msg);
    attn_naming_free(naming);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* ---- the command ---- */

static void save(const struct attn_dump *d, const char *path, const char *more)
{
    struct attn_st_tensor t[200];
    size_t n = 0;
    ck_assert_uint_lt(d->n, 199);
    for (; n < d->n; n++) {
        const struct attn_array *x = &d->item[n].of;
        t[n] = made_tensor(d->item[n].name, x->data, 1, x->n);
        t[n].ndim = x->ndim;
        memcpy(t[n].shape, x->shape, (size_t)x->ndim * sizeof *x->shape);
    }
    if (more)
        t[n++] = made_tensor(more, d->item[0].of.data, 1, 1);
    made_write(path, t, n);
}

START_TEST(test_the_command)
{
    struct attn_dump *a = run("gpt2-a");
    const char *path = scratch_path("a.safetensors");
    save(a, scratch_path("b.safetensors"), NULL);
    arrange(a);
    call(a, lens);
    save(a, path, NULL);
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors", 0, "nothing differs");
    expect("\"$A\" diff $D/b.safetensors $D/a.safetensors --exact", 0, "the same bit for bit");
    for (size_t i = 0; i < a->n; i++)
        rename_to(a, i, printed("t%zu", i));
    attn_dump_index(a, NULL);
    a->item[1].of.data[0] += 1;
    save(a, path, NULL);
    save(a, scratch_path("c.safetensors"), "new");
    /* Where no name is known these are weights, as they were. */
    expect("\"$A\" diff $D/a.safetensors $D/c.safetensors", 1, "the models differ");
    expect("\"$A\" diff $D/a.safetensors $D/c.safetensors --dump", 0, "nothing differs");
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors 2>&1", 2, "no name in common: one has");
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors 2>&1", 2, "--map NAME=ACTIVATION");
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors --map t0=embed --map t1=pos_embed", 1,
           "pos_embed is t1 in A");
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors --map t0=embed --map t1=pos_embed --format json", 1,
           "\"name_a\": \"t1\"");
    expect("\"$A\" diff $D/a.safetensors $D/b.safetensors --map x{}=q 2>&1", 2, "no array is called like that");
    expect("printf 'x{}=qq' >$D/m; \"$A\" diff $D/a.safetensors $D/b.safetensors --maps $D/m 2>&1", 2,
           "m:1: 'x{}=qq': 'qq' is no activation");
    attn_dump_free(a);
}
END_TEST

/* Other texts are said before anything is compared, also where no name is ours. */
START_TEST(test_other_texts)
{
    expect("for i in 1 2; do \"$A\" run -q -m life -s \"$([ $i = 1 ] && echo Life is short || echo Life is dessert)\" "
           "--format json -o $D/$i.json; "
           "done; \"$A\" diff $D/1.json $D/2.json 2>&1 >/dev/null",
           1, "of different texts: token 2 is id 5 'short' in A and id");
    expect("sed s/blocks.0.attn.context/mine/ $D/1.json >$D/3.json; sed s/blocks.0.attn.context/mine/ $D/2.json "
           ">$D/4.json; "
           "\"$A\" diff $D/3.json $D/4.json 2>&1",
           1, "of different texts: token 2");
    expect("\"$A\" diff $D/1.json $D/1.json 2>&1 | grep -c warning", 1, "0\n");
}
END_TEST

Suite *suite_naming(void)
{
    Suite *s = suite_create("naming");
    TCase *t = tcase_create("naming");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, test_names_of_transformerlens, 0, sizeof models / sizeof *models);
    tcase_add_test(t, test_a_wrong_number_among_other_names);
    tcase_add_test(t, test_a_cause_among_other_names);
    tcase_add_loop_test(t, test_what_is_paired, 0, sizeof pairings / sizeof *pairings);
    tcase_add_test(t, test_norms_before_their_weight);
    tcase_add_test(t, test_shapes_of_heads);
    tcase_add_test(t, test_as_many_heads_as_tokens);
    tcase_add_test(t, test_shapes_that_do_not_fit);
    tcase_add_test(t, test_names_of_ones_own);
    tcase_add_loop_test(t, test_bad_rules, 0, sizeof bad_rules / sizeof *bad_rules);
    tcase_add_loop_test(t, test_rules_that_do_not_fit, 0, sizeof misfits / sizeof *misfits);
    tcase_add_test(t, test_the_command);
    tcase_add_test(t, test_other_texts);
    suite_add_tcase(s, t);
    return s;
}

/* Edits: the grammar and its canonical form; five checkpoints edited in every way, compared with double precision; what
 * is refused; what changes no bit. */
#include "suites.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include "draw.h"
#include "golden.h"
#include "keep.h"
#include "scratch.h"
#include "shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the grammar ---- */

static const char *canonical(const char *text)
{
    static char out[512];
    struct attn_edits *list = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_edits_parse(&list, text, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(attn_edits_count(list), 1);
    snprintf(out, sizeof out, "%s", attn_edits_text(list, 0));
    attn_edits_free(list);
    return out;
}

START_TEST(one_edit_has_one_canonical_form)
{
    static const char *const pairs[][2] = {
        {"L1H2 = 0", "L1H2 = 0"}, {"  L1H2=0.0 ", "L1H2 = 0"}, {"1.2 = 0", "L1H2 = 0"}, {"L4H* = 0", "L4H* = 0"},
        {"L4H*  *=2", "L4H* *= 2"}, {"L0-2,4H1,3.pattern=uniform", "L0-2,4H1,3.pattern = uniform"},
        {"L1N3,5-7 += .5", "L1N3,5-7 += 0.5"},
        {"blocks.*.attn.out *= 1e-1", "blocks.*.attn.out *= 0.1"},
        {"resid_post-=proj( v.npy )", "resid_post -= proj(v.npy)"},
        {"pattern [ key = 0 , head=1 , 3-4 ,pos = 2,-1 ] = -inf", "pattern[key=0,head=1,3-4,pos=2,-1] = -inf"},
        {"L0.mlp.out[pos=\" c\\u0061t\",0]=0", "L0.mlp.out[pos=\" cat\",0] = 0"},
        {"L0.v[pos=prompt]=1", "L0.v[pos=prompt] = 1"},
        {"L0.v[pos=new]=1", "L0.v[pos=new] = 1"}, {"L0.q[col=*]=1", "L0.q[col=*] = 1"},
        {"L0H1 = from", "L0H1 = from"}, {"L0H1 = 1*from", "L0H1 = from"}, {"L0H1 = 2.50 * from", "L0H1 = 2.5*from"},
        {"L0H1 += -1*a/b.npz:x y", "L0H1 += -1*a/b.npz:x y"}, {"L0H1 = \"a b.npz\":x", "L0H1 = \"a b.npz\":x"},
        {"L0H1 = 0.npy", "L0H1 = 0.npy"}, {"L0H1 = 2*2.npy", "L0H1 = 2*2.npy"}, {"L0H1 = \"c.npy\"", "L0H1 = c.npy"},
        {"L0H1 = text( \"a\\\"b\" )", "L0H1 = text(\"a\\\"b\")"}, {"L0H1 = ids( 1 ,2,3)", "L0H1 = ids(1,2,3)"},
        {"L0H1 = mean(texts(a (1).txt))", "L0H1 = mean(texts(\"a (1).txt\"))"},
        {"L0H1 = mean(from)", "L0H1 = mean(from)"},
        {"L0H1 -= 2*mean(ids(1))", "L0H1 -= 2*mean(ids(1))"}, {"L0H1 += noise( 0.10,7 )", "L0H1 += noise(0.1,7)"},
        {"L0H1 += noise(1,18446744073709551615)", "L0H1 += noise(1,18446744073709551615)"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ck_assert_str_eq(canonical(pairs[i][0]), pairs[i][1]);
        ck_assert_str_eq(canonical(pairs[i][1]), pairs[i][1]);
    }
}
END_TEST

START_TEST(an_error_points_at_its_column)
{
    static const struct { const char *text; int column; const char *part; } bad[] = {
        {"", 1, "expected a place"}, {"L0.mlp.out", 11, "it ends"}, {"L0.mlp.out == 0", 13, "found '='"},
        {"L0H*= 0", 4, "with a blank"},
        {"L1 = 0", 3, "H and a head"}, {"L1H = 0", 4, "3, 0,2-4, -1 for the last or *"}, {"L1H2-1 = 0", 4, "ascending"},
        {"L0H1 *= from", 9, "*= takes nothing"},
        {"L0H1 = from x", 8, "expected a value"}, {"L0H1 = nan", 8, "expected a value"},
        {"L0H1 = inf", 8, "expected a value"},
        {"L0H1 = 1e60", 8, "float32"}, {"L0H1 = 2*proj(from)", 10, "-= before proj"},
        {"L0H1 = proj(from)", 8, "-= before proj"},
        {"v[pos=1,pos=2] = 0", 9, "once"}, {"v[row=1] = 0", 3, "head="}, {"v[pos=-0] = 0", 8, "-1 for the last"},
        {"v[pos=1 = 0", 9, "]"},
        {"v[col=-0] = 0", 8, "-1 for the last"}, {"v[pos=\"a] = 0", 14, "text in double quotes"}, {"v = text(\"a\"", 13, ")"},
        {"v = texts(a.txt)", 5, "inside mean"}, {"v = mean(texts(a.txt)", 22, ")"},
        {"v = noise(1)", 12, "a comma and a seed"},
        {"v += noise(-1,2)", 12, "a standard deviation, which is not below 0"},
        {"v += noise(-1e-9,2)", 12, "not below 0"},
        {"scores -= -inf", 11, "without -inf there would be inf"},
        {"v -= proj(mean(from))", 11,
         "expected from, FILE.npy, FILE.npz:NAME, text(\"...\") or ids(1,2), and no factor"},
        {"v = mean(2*from)", 10, "and no factor"},
        {"v = ids(1,x)", 11, "a whole number"}, {"v = ids(2147483648)", 9, "2147483647"},
        {"v = a.npy:x", 5, "expected a value"},
        {"1.2,3 = 0", 4, "=, +="}, {"L0.*= 0", 4, "with a blank"},
        {"blocks.0.*= 0", 10, "with a blank"}, {"*= 0", 1, "with a blank"}, {"\xC3\xA9 = 0", 1, "expected a place"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attn_edits *list = NULL;
        struct attn_err err = {0};
        char column[32];
        snprintf(column, sizeof column, "column %d:", bad[i].column);
        ck_assert_int_eq(attn_edits_parse(&list, bad[i].text, &err), ATTN_EUSAGE);
        ck_assert_msg(strstr(err.msg, column) && strstr(err.msg, bad[i].part), "'%s': %s", bad[i].text, err.msg);
        ck_assert_uint_eq(attn_edits_count(list), 0);
        attn_edits_free(list);
    }
}
END_TEST

static void expect_list(const struct attn_edits *list, const char *const *want)
{
    size_t n = 0;
    for (; want[n]; n++)
        ck_assert_str_eq(n < attn_edits_count(list) ? attn_edits_text(list, n) : "(none)", want[n]);
    ck_assert_uint_eq(attn_edits_count(list), n);
}

START_TEST(shorter_ways_become_edits)
{
    static const char file[] = "\xEF\xBB\xBF# a comment\n\n L0H1=0\r\n\tL1.mlp.out *= 2 \n# the end";
    struct attn_edits *list = NULL;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_edits_ablate(&list, "L0H0,2,L1.mlp.out, 1.2 ,0.0,L0N3,5[pos=1,2],pattern[key=0]", &err), 0);
    ck_assert_int_eq(attn_edits_patch(&list, "L0H1,1.2[pos=-1]", "mean(from)", &err), 0);
    ck_assert_int_eq(attn_edits_read(&list, file, strlen(file), "file", &err), 0);
    ck_assert_int_eq(attn_edits_steer(&list, "a.npy@3", &err), 0);
    ck_assert_int_eq(attn_edits_steer(&list, "a b.npy:-0.5@0,2-4", &err), 0);
    expect_list(list,
                (const char *const[]){"L0H0,2 = 0", "L1.mlp.out = 0", "L1H2 = 0", "L0H0 = 0", "L0N3,5[pos=1,2] = 0",
                "pattern[key=0] = 0", "L0H1 = mean(from)", "L1H2[pos=-1] = mean(from)", "L0H1 = 0", "L1.mlp.out *= 2",
                "L3.resid_post += a.npy", "L0,2-4.resid_post += -0.5*\"a b.npy\"", NULL});
    ck_assert(attn_edits_from(list));
    size_t before = attn_edits_count(list);
    ck_assert_int_eq(attn_edits_read(&list, "L0H0 = 0\nL0H0 = \n", 17, "my.txt", &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "my.txt:2: 'L0H0 =', column 7"), "%s", err.msg);
    ck_assert_int_eq(attn_edits_steer(&list, "a.npy", &err), ATTN_EUSAGE);
    ck_assert_int_eq(attn_edits_ablate(&list, "L0H0,", &err), ATTN_EUSAGE);
    ck_assert_uint_eq(attn_edits_count(list), before);
    ck_assert(!attn_edits_file(list, 0) && !strcmp(attn_edits_file(list, 11), "a b.npy"));
    attn_edits_free(list);
    list = NULL;                        /* a list that was not there is not there after an error */
    ck_assert(attn_edits_parse(&list, "nonsense", &err) && attn_edits_read(&list, "bad", 3, "x", &err) &&
              attn_edits_ablate(&list, ",", &err) && attn_edits_steer(&list, "", &err) && !list);
}
END_TEST

/* Texts drawn from pieces of the grammar: no crash, and what is read reads again as what it is. */
START_TEST(any_text_is_read_or_refused)
{
    static const char *const piece[] = {"L", "H", "N", "0", "1", "2-3", ",", ".", "*", "*=", "=", "+=", "-=", " ", "[",
                                        "]", "head=", "pos=", "key=", "col=",
        "-1", "\"", "\"a\"", "\\", "prompt", "new", "mlp.out", "pattern", "blocks.*.attn.q", "?", "-inf", "uniform",
        "noise(", ")", "mean(", "proj(",
        "text(", "ids(", "texts(", "from", "a.npy", "b.npz:c", "1e5", "0.5*", "\xC3\xA9", "\xFF", "(",
        "99999999999999999999", ":", "@"};
    uint32_t seed = 5;
    size_t read = 0;
    for (int i = 0; i < 60000; i++) {
        char text[400] = "";
        struct attn_edits *list = NULL;
        struct attn_err err = {0};
        if (i % 3)
            strcpy(text, i % 3 == 1 ? "L0H1" : "L0.v = ");
        for (size_t n = draw_below(&seed, 12); n > 0; n--)
            strcat(text, piece[draw_below(&seed, sizeof piece / sizeof *piece)]);
        if (attn_edits_parse(&list, text, &err) == ATTN_OK) {
            read++;
            ck_assert_str_eq(canonical(attn_edits_text(list, 0)), attn_edits_text(list, 0));
        }
        attn_edits_free(list);
        list = NULL;
        if (attn_edits_ablate(&list, text, &err) || attn_edits_steer(&list, text, &err))
            ck_assert(*err.msg);
        attn_edits_free(list);
    }
    ck_assert_uint_gt(read, 1000);
}
END_TEST

START_TEST(long_texts_take_linear_time)
{
    enum { N = 200000 };
    char *text = malloc(8 * N + 64);
    struct attn_edits *list = NULL;
    struct attn_err err = {0};
    char *at = stpcpy(text, "v[pos=0");
    for (int i = 0; i < N; i++)
        at = stpcpy(at, i % 2 ? ",\"a\"" : ",1-2");
    strcpy(at, "] = 0");
    clock_t start = clock();
    ck_assert_msg(attn_edits_parse(&list, text, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_gt(strlen(attn_edits_text(list, 0)), N);
    for (at = text; at < text + 8 * N; at += 8)
        memcpy(at, "1.2 = 0\n", 8);
    ck_assert_int_eq(attn_edits_read(&list, text, 8 * N, "file", &err), 0);
    ck_assert_uint_eq(attn_edits_count(list), 1 + N);
    /* it takes 0.3 s; quadratic time would be minutes */
    ck_assert_double_lt((double)(clock() - start) / CLOCKS_PER_SEC, 20);
    attn_edits_free(list);
    free(text);
}
END_TEST

/* ---- checkpoints ---- */

static const char *const names[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};

struct golden { const char *name; cJSON *doc; struct attn_model *model; char back[4096],
                model_path[4200]; struct attn_tokens *text, *from; };

static struct attn_tokens *tokens_of(const cJSON *list)
{
    struct attn_tokens *t = NULL;
    size_t n;
    float *numbers = golden_floats(list, &n);
    int32_t *ids = calloc(n + 1, sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)numbers[i];
    ck_assert_int_eq(attn_tokens_from_ids(&t, ids, n, NULL), 0);
    free(ids);
    free(numbers);
    return t;
}

/* Paths in edits are relative to the directory of the golden data. */
static void open_golden(struct golden *g, const char *name)
{
    char path[4200];
    struct attn_err err = {0};
    g->name = name;
    ck_assert_ptr_nonnull(getcwd(g->back, sizeof g->back));
    snprintf(path, sizeof path, "tests/golden/ask/%s/edits.json", name);
    g->doc = golden_read(path);
    snprintf(g->model_path, sizeof g->model_path, "%s/tests/golden/checkpoints/%s", g->back, name);
    ck_assert_msg(attn_model_open(&g->model, g->model_path, &err) == 0, "%s", err.msg);
    g->text = tokens_of(golden_get(g->doc, "ids"));
    g->from = tokens_of(golden_get(g->doc, "from"));
    snprintf(path, sizeof path, "tests/golden/ask/%s", name);
    ck_assert_int_eq(chdir(path), 0);
}

static void close_golden(struct golden *g)
{
    ck_assert_int_eq(chdir(g->back), 0);
    attn_tokens_free(g->text);
    attn_tokens_free(g->from);
    attn_model_close(g->model);
    cJSON_Delete(g->doc);
}

static int run_edits(struct attn_dump **out, struct golden *g, const struct attn_edits *list,
                     const struct attn_tokens *tokens, const char *show, int threads, struct attn_err *err)
{
    struct attn_plan plan = {.threads = threads};
    struct attn_editor_opts o = {.edits = list, .model = g->model, .from = g->from, .plan = plan};
    struct attn_editor *e = NULL;
    struct attn_observer edit;
    struct attn_select *select = NULL;
    int32_t ids[64];
    *out = NULL;
    for (size_t i = 0; i < tokens->n; i++)
        ids[i] = tokens->tok[i].id;
    int rc = attn_select_new(&select, g->model, NULL, show, NULL, NULL, err);
    if (!rc && list)
        rc = attn_editor_new(&e, &o, err);
    if (!rc && e)
        rc = attn_editor_text(e, 0, ids, tokens->n, false, err);
    if (!rc && e)
        rc = attn_editor_start(e, err);
    if (!rc && e)
        edit = attn_editor_observer(e);
    if (!rc)
        rc = attn_dump_run(out, g->model, tokens, NULL, select, &plan, e ? &edit : NULL, err);
    attn_editor_free(e);
    attn_select_free(select);
    return rc;
}

static struct attn_edits *edits_of(const cJSON *c)
{
    struct attn_edits *list = NULL;
    struct attn_err err = {0};
    const cJSON *e;
    cJSON_ArrayForEach(e, golden_get(c, "edits"))
        ck_assert_msg(attn_edits_parse(&list, e->valuestring, &err) == 0, "%s", err.msg);
    return list;
}

static struct attn_dump_array find(const struct attn_dump *d, const char *name)
{
    struct attn_dump_array a = {0};
    for (size_t i = 0; attn_dump_array(d, i, &a) >= 0; i++)
        if (!strcmp(a.name, name))
            return a;
    ck_abort_msg("no %s", name);
    return a;
}

static size_t count(const struct attn_dump_array *a)
{
    size_t n = 1;
    for (size_t i = 0; i < 8 && a->shape[i]; i++)
        n *= a->shape[i];
    return n;
}

/* The reference is in double precision.  Six times what float32 differs from it in another implementation, or, where
 * that was lucky, 6e-6 (1 + |x|), is what rounding in another order can give. */
static double bound(double difference, double x)
{
    return fmax(6 * difference, 6e-6 * (1 + fabs(x)));
}

static double logprob(const float *logits, size_t V, int32_t id)
{
    double x;
    ck_assert_int_eq(attn_logprob(&x, logits, V, id, NULL), 0);
    return x;
}

static void check_next(const struct golden *g, const cJSON *c, const struct attn_tokens *tokens,
                       const struct attn_dump_array *logits, const struct attn_dump_array *plain)
{
    size_t V = logits->shape[1], T = logits->shape[0];
    const float *last = logits->data + (T - 1) * V, *before = plain->data + (T - 1) * V;
    const cJSON *differ = golden_get(c, "float32_max_abs_difference"), *after = golden_get(c, "after");
    double kl = 0, loss = 0, p;
    for (size_t j = 0; j < V; j++)
        kl += exp(logprob(before, V, (int32_t)j)) * (logprob(before, V, (int32_t)j) - logprob(last, V, (int32_t)j));
    for (size_t t = 0; t + 1 < T; t++)
        loss -= logprob(logits->data + t * V, V, tokens->tok[t + 1].id) / (double)(T - 1);
    const char *name = golden_string(c, "name");
    ck_assert_msg(fabs(kl - golden_number(c, "kl")) <= bound(golden_number(differ, "kl"), kl),
                  "%s %s: kl %g", g->name, name, kl);
    ck_assert_msg(fabs(loss - golden_number(c, "loss")) <= bound(golden_number(differ, "loss"), loss),
                  "%s %s: loss %.9g", g->name, name, loss);
    for (int i = 0; i < 5; i++) {
        p = cJSON_GetArrayItem(golden_get(after, "probabilities"), i)->valuedouble;
        int32_t id = cJSON_GetArrayItem(golden_get(after, "ids"), i)->valueint;
        ck_assert_msg(fabs(exp(logprob(last, V, id)) - p) <= bound(golden_number(differ, "logits"), p),
                      "%s %s: p(%d)", g->name, name, id);
    }
}

static void check_arrays(const struct golden *g, const cJSON *c, const struct attn_dump *got,
                         const struct attn_dump *want)
{
    const cJSON *a, *differ = golden_get(c, "float32_max_abs_difference");
    cJSON_ArrayForEach(a, golden_get(c, "arrays")) {
        char member[128];
        snprintf(member, sizeof member, "%s/%s", golden_string(c, "name"), a->string);
        struct attn_dump_array x = find(got, a->string), y = find(want, member);
        ck_assert_uint_eq(count(&x), count(&y));
        for (size_t i = 0; i < count(&y); i++) {
            double is = (double)x.data[i], should = (double)y.data[i];
            bool same = isfinite(should) ? fabs(is - should) <= bound(golden_number(differ, a->string), should) :
                isinf(is) && is < 0;
            ck_assert_msg(same, "%s %s[%zu] is %.9g, expected %.9g", g->name, member, i, is, should);
        }
    }
}

static void list_arrays(char *show, size_t size, const cJSON *c)
{
    const cJSON *a;
    *show = '\0';
    cJSON_ArrayForEach(a, golden_get(c, "arrays"))
        snprintf(show + strlen(show), size - strlen(show), "%s%s", *show ? "," : "", a->string);
}

static void expect_same_bits(const struct golden *g, const char *why, const struct attn_dump *a,
                             const struct attn_dump *b)
{
    struct attn_dump_array x, y;
    for (size_t i = 0; attn_dump_array(a, i, &x) >= 0; i++) {
        ck_assert_int_ge(attn_dump_array(b, i, &y), 0);
        ck_assert_msg(!memcmp(x.data, y.data, count(&x) * sizeof(float)), "%s, %s: %s", g->name, why, x.name);
    }
}

static void check_case(struct golden *g, const cJSON *c, const struct attn_dump *arrays)
{
    char show[512];
    struct attn_err err = {0};
    struct attn_dump *got = NULL, *again = NULL, *plain = NULL;
    struct attn_edits *list = edits_of(c);
    struct attn_tokens *own = golden_find(c, "ids") ? tokens_of(golden_get(c, "ids")) : NULL;
    const struct attn_tokens *tokens = own ? own : g->text;
    list_arrays(show, sizeof show, c);
    ck_assert_msg(run_edits(&got, g, list, tokens, show, 1, &err) == 0, "%s: %s", g->name, err.msg);
    ck_assert_int_eq(run_edits(&again, g, list, tokens, show, 3, &err), 0);
    ck_assert_int_eq(run_edits(&plain, g, NULL, tokens, show, 1, &err), 0);
    struct attn_dump_array logits = find(got, "logits"), before = find(plain, "logits");
    check_next(g, c, tokens, &logits, &before);
    expect_same_bits(g, "threads", got, again);
    if (golden_find(c, "same_bits"))
        expect_same_bits(g, golden_string(c, "name"), got, plain);
    if (arrays)
        check_arrays(g, c, got, arrays);
    attn_dump_free(got);
    attn_dump_free(again);
    attn_dump_free(plain);
    attn_edits_free(list);
    attn_tokens_free(own);
}

START_TEST(edited_runs_are_those_of_double_precision)
{
    struct golden g;
    struct attn_dump *arrays = NULL;
    char leaf[128];
    const cJSON *c;
    snprintf(leaf, sizeof leaf, "golden/ask/%s/edits.npz", names[_i]);
    const char *path = shared_path(leaf);
    if (path)
        ck_assert_int_eq(attn_dump_open(&arrays, path, NULL), 0);
    open_golden(&g, names[_i]);
    cJSON_ArrayForEach(c, golden_get(g.doc, "cases"))
        check_case(&g, c, arrays);
    attn_dump_free(arrays);
    close_golden(&g);
}
END_TEST

START_TEST(what_is_not_there_is_refused)
{
    struct golden g;
    const cJSON *c, *e;
    open_golden(&g, names[_i]);
    cJSON_ArrayForEach(c, golden_get(g.doc, "refused")) {
        struct attn_edits *list = NULL;
        struct attn_dump *got = NULL;
        struct attn_err err = {0};
        int rc = 0;
        cJSON_ArrayForEach(e, golden_get(c, "edits"))
            rc = rc ? rc : attn_edits_parse(&list, e->valuestring, &err);
        rc = rc ? rc : run_edits(&got, &g, list, g.text, "logits", 1, &err);
        ck_assert_msg(rc && *err.msg, "%s: %s", g.name, cJSON_PrintUnformatted(c));
        attn_edits_free(list);
    }
    close_golden(&g);
}
END_TEST

/* ---- what changes no bit ---- */

START_TEST(an_edit_that_changes_nothing_changes_no_bit)
{
    static const char *const same[] = {
        "* *= 1", "embed -= 0", "pattern -= 0*uniform", "blocks.*.mlp.* += 0*noise(1,2)", "q = OWN", "k = OWN",
        "v = OWN", "dots = OWN",
        "scores = OWN", "pattern = OWN", "context = OWN", "blocks.*.mlp.* = OWN", "embed = OWN", "logits = OWN",
        "L0H0[pos=-1] = OWN",
        "scores[pos=2] = OWN", "norm_final[pos=prompt] = OWN"};
    struct golden g;
    struct attn_dump *plain, *edited;
    struct attn_err err = {0};
    open_golden(&g, names[_i]);
    ck_assert_int_eq(run_edits(&plain, &g, NULL, g.text, "*", 2, &err), 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct attn_edits *list = NULL;
        char text[1024], own[512] = "ids(";
        for (size_t t = 0; t < g.text->n; t++)
            snprintf(own + strlen(own), sizeof own - strlen(own), "%s%d", t ? "," : "", (int)g.text->tok[t].id);
        const char *at = strstr(same[i], "OWN");
        snprintf(text, sizeof text, "%.*s%s%s", at ? (int)(at - same[i]) : (int)strlen(same[i]), same[i], at ? own : "",
                 at ? ")" : "");
        ck_assert_int_eq(attn_edits_parse(&list, text, &err), 0);
        ck_assert_msg(run_edits(&edited, &g, list, g.text, "*", 2, &err) == 0, "%s: %s", text, err.msg);
        expect_same_bits(&g, text, edited, plain);
        attn_edits_free(list);
        attn_dump_free(edited);
    }
    attn_dump_free(plain);
    close_golden(&g);
}
END_TEST

Suite *suite_edits(void)
{
    Suite *s = suite_create("edits");
    TCase *t = tcase_create("grammar");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_edit_has_one_canonical_form);
    tcase_add_test(t, an_error_points_at_its_column);
    tcase_add_test(t, shorter_ways_become_edits);
    tcase_add_test(t, any_text_is_read_or_refused);
    tcase_add_test(t, long_texts_take_linear_time);
    suite_add_tcase(s, t);
    t = tcase_create("checkpoints");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, edited_runs_are_those_of_double_precision, 0, sizeof names / sizeof *names);
    tcase_add_loop_test(t, what_is_not_there_is_refused, 0, sizeof names / sizeof *names);
    tcase_add_loop_test(t, an_edit_that_changes_nothing_changes_no_bit, 0, sizeof names / sizeof *names);
    suite_add_tcase(s, t);
    return s;
}

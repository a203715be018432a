/* The command attribute: its numbers against recorded results of five families, its formats, what it refuses.  That
 * parts add up to the logit is checked for random models of every family in agree.c. */
#include "suites.h"

#include "asked.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};
enum { NAMES = sizeof names / sizeof *names };

#define LILY "-m tiny -s 'Lily lost her red' --target ' ball'"

static cJSON *document(const char *options)
{
    char line[1024];
    snprintf(line, sizeof line, "\"$A\" attribute --format json %s", options);
    cJSON *doc = cJSON_Parse(succeed(line)->text);
    ck_assert_msg(doc != NULL, "%s\ngave no JSON", line);
    return doc;
}

/* ---- recorded results ---- */

static void near(double got, double want, double float32, const char *what)
{
    double bound = asked_limit(float32, 1 + fabs(want));
    ck_assert_msg(fabs(got - want) <= bound, "%s: %.9g, expected %.9g (bound %g)", what, got, want, bound);
}

static void compare_parts(const cJSON *got, const cJSON *want, double lost)
{
    ck_assert_int_eq(cJSON_GetArraySize(got), cJSON_GetArraySize(want));
    const cJSON *a = got->child;
    for (const cJSON *b = want->child; b; a = a->next, b = b->next) {
        ck_assert_str_eq(golden_string(a, "name"), golden_string(b, "name"));
        near(golden_number(a, "value"), golden_number(b, "value"), lost, golden_string(b, "name"));
    }
}

static void compare_case(const char *model, const char *ids, const cJSON *want)
{
    char options[512];
    double lost = golden_number(want, "float32_max_abs_difference");
    int n = snprintf(options, sizeof options,
                     "-m tests/golden/checkpoints/%s --ids %s --neurons 3 --pos %d --target %d", model,
                     ids, (int)golden_number(want, "pos"), (int)golden_number(want, "target"));
    if (golden_find(want, "foil"))
        snprintf(options + n, sizeof options - (size_t)n, " --foil %d", (int)golden_number(want, "foil"));
    cJSON *got = document(options);
    ck_assert_double_eq(golden_number(got, "pos"), golden_number(want, "pos"));
    compare_parts(golden_get(got, "rows"), golden_get(want, "rows"), lost);
    near(golden_number(got, "sum"), golden_number(want, "sum"), lost, "sum");
    near(golden_number(got, "logit"), golden_number(want, "logit"), lost, "logit");
    near(golden_number(got, "remainder"), 0, lost, "remainder");
    if (golden_number(want, "neuron_margin") >= 1e-4)           /* closer ones may change places in float32 */
        compare_parts(golden_get(got, "neurons"), golden_get(want, "neurons"), lost);
    cJSON_Delete(got);
}

START_TEST(recorded_results)
{
    char ids[256];
    const cJSON *v;
    int n = 0;
    cJSON *want = golden_read(asked_path(names[_i], "attribute.json"));
    cJSON_ArrayForEach(v, golden_get(want, "ids"))
        n += snprintf(ids + n, sizeof ids - (size_t)n, "%s%d", n ? "," : "", (int)v->valuedouble);
    cJSON_ArrayForEach(v, golden_get(want, "cases"))
        compare_case(names[_i], ids, v);
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(want, "cases")), 4);
    cJSON_Delete(want);
}
END_TEST

/* ---- what must hold for any model ---- */

/* With every neuron listed, those of a layer and the MLP's output bias, which has its share too, make the MLP. */
START_TEST(neurons_make_the_mlp)
{
    cJSON *doc = document("-m tests/golden/checkpoints/llama-f --ids 1,2,3,4,5 --target 7 --neurons 100000");
    const cJSON *v;
    double sums[2] = {0}, mlp[2] = {0}, size = 1;
    cJSON_ArrayForEach(v, golden_get(doc, "neurons")) {
        sums[(int)golden_number(v, "layer")] += golden_number(v, "value");
        size += fabs(golden_number(v, "value"));
    }
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(doc, "neurons")), 2 * 88);
    cJSON_ArrayForEach(v, golden_get(doc, "rows"))
        if (strstr(golden_string(v, "name"), ".mlp"))
            mlp[(int)golden_number(v, "layer")] = golden_number(v, "value");
    for (int layer = 0; layer < 2; layer++)
        /* the MLP's output is rounded at 24 bits */
        ck_assert_double_le(fabs(sums[layer] - mlp[layer]), 4e-6 * size);
    cJSON_Delete(doc);
}
END_TEST

/* A foil takes its share away. */
START_TEST(a_foil_is_subtracted)
{
    cJSON *both = document(LILY " --foil ' dress'"), *one = document(LILY);
    cJSON *other = document("-m tiny -s 'Lily lost her red' --target ' dress'");
    const cJSON *a = golden_get(one, "rows")->child, *b = golden_get(other, "rows")->child, *v;
    cJSON_ArrayForEach(v, golden_get(both, "rows")) {
        double x = golden_number(a, "value"), y = golden_number(b, "value");
        /* all in double */
        ck_assert_double_le(fabs(golden_number(v, "value") - (x - y)), 1e-12 * (1 + fabs(x) + fabs(y)));
        a = a->next;
        b = b->next;
    }
    ck_assert_str_eq(golden_string(golden_get(both, "foil"), "text"), " dress");
    ck_assert_ptr_null(golden_find(one, "foil"));
    cJSON_Delete(both);
    cJSON_Delete(one);
    cJSON_Delete(other);
}
END_TEST

START_TEST(formats)
{
    expect_same("\"$A\" attribute " LILY " --format csv -t 1", "\"$A\" attribute " LILY " --format tidy -t 3");
    expect_exactly("\"$A\" attribute " LILY " --format csv --neurons 2 | cut -d, -f1-3 | sed -n '1,3p;7,8p;$p' | "
                   "sed 's/N[0-9]*/N#/' | tr '\\n' ' '",
                   "name,layer,head embed,, L0H0,0,0 L0.attn.bias,0, L0.mlp,0, L4N#,4, ");
    expect("\"$A\" attribute " LILY " -o $D/x.json && grep -c '\"neurons\":\\[\\],' $D/x.json", 0, "1");
    expect("\"$A\" attribute " LILY " --pos 0", 0, "logit of ·ball after Lily (position 0)\n");
    expect("\"$A\" attribute " LILY " --top 5", 0, "\nothers ");
    expect("\"$A\" attribute " LILY " --pos -4", 0, "(position 0)\n");
    expect("\"$A\" attribute " LILY " --attention window:2", 0, "\nremainder  ");
    /* a NaN among neurons changes no order */
    expect("even=$(seq -s, 0 2 383); e=\"L4.mlp.post[col=$even]\"; "
           "\"$A\" attribute -m tiny --ids 1,2,3 --target 5 --neurons 2 --edit \"$e *= 1e38\" "
           "--edit \"$e *= 1e38\" --edit \"$e *= 0\" --edit 'L4.resid_post = 0.2' --format tidy | "
           "grep -o 'L4N[0-9]*' | head -1", 0, "L4N343\n");
    expect("\"$A\" attribute " LILY " --edit 'logits = -inf'", 0, "  none: the logit or the sum is NaN or infinite\n");
}
END_TEST

START_TEST(what_is_refused)
{
    expect("\"$A\" init -q -o $D/g --family gemma2 --vocab-size 23 --seed 1 && "
           "\"$A\" attribute -m $D/g --ids 1,5 --target 4 --edit 'L*.mlp.added = 0' 2>&1",
           2, "an edit of mlp.added comes after the parts");
    expect("\"$A\" attribute -m $D/g --ids 1,5 --target 4", 0, "(position 1), before the cap of 30\n");
    expect("\"$A\" attribute -m $D/g --ids 1,5 --target 4 --format json | jq .before_cap", 0, "30\n");
    expect("\"$A\" attribute " LILY " --ablate L2.mlp.out,L1H0", 0, "L2.mlp");
    expect("\"$A\" init -q -o $D/m --vocab data/life-vocab.json --n-layer 1 --n-head 1 --d-model 4 --unembed true "
           "--residual false && \"$A\" attribute -m $D/m -s 'Life is' --target 1 2>&1", 1,
           "has no residual connections");
}
END_TEST

/* Bars have the length and the side of their numbers, in blue below 0; the others of --top are one of them. */
START_TEST(pictures_have_signed_bars)
{
#define PARTS "\"$A\" attribute -m tiny -s 'Lily lost her red' --target ' ball' "
    succeed(PARTS "--top 9 --neurons 2 -o $D/x.svg && " PARTS "--top 9 --neurons 2 --format csv >$D/x.csv");
    expect_exactly("$PYTHON - $D/x.svg <<'END'\n"
        "import re, sys\n"
        "s = open(sys.argv[1]).read()\n"
        "bars = [(int(x), int(w), c) for x, w, c in re.findall(r'<rect x=.(\\d+). y=.\\d+. width=.(\\d+). height=.11. "
        "fill=.(#\\w+).', s)]\n"
        "numbers = [float(t) for t in re.findall(r'>(-?\\d+\\.\\d{4})<', s)]\n"
        "assert len(bars) == len(numbers) == 12, (len(bars), len(numbers))\n"
        "colours = {n < 0: c for n, (x, w, c) in zip(numbers, bars)}\n"
        "zero = next(x for n, (x, w, c) in zip(numbers, bars) if n > 0)\n"
        "unit = max((w, w / abs(n)) for n, (x, w, c) in zip(numbers, bars))[1]\n"
        "for n, (x, w, c) in zip(numbers, bars):\n"
        "    assert c == colours[n < 0] and (x + w if n < 0 else x) == zero, (n, x, w)\n"
        /* both ends are whole pixels, and so is that of the unit */
        "    assert abs(w - abs(n) * unit) <= 2, (n, w)\n"
        "print(len(colours))\nEND", "2\n");
    succeed("grep -q '>others<' $D/x.svg && grep -q '>L5.mlp<' $D/x.svg && "
            "grep -q 'logit of ·ball after ·red (position 3)' $D/x.svg");
    succeed("for f in svg png pdf; do " PARTS "--width 85mm -o $D/y.$f && " PARTS
            "--width 85mm -o $D/z.$f && cmp $D/y.$f $D/z.$f || exit; done");
    expect(PARTS "--width 20mm --font-size 20 -o $D/w.svg 2>&1", 2, "names and numbers take ");
    expect(PARTS "--width 85mm 2>&1", 0, "--width: only --format png, svg or pdf uses it, not text");
    if (no_terminal())
        return;
    const char *bars = on_terminal(PARTS "--top 5 --no-pager", 0);
    ck_assert_msg(strstr(bars, "░│\r\n") && strstr(bars, "│█"), "%s", bars);
}
END_TEST

Suite *suite_attribute(void)
{
    Suite *s = suite_create("attribute");
    TCase *c = tcase_create("attribute");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, recorded_results, 0, NAMES);
    tcase_add_test(c, neurons_make_the_mlp);
    tcase_add_test(c, a_foil_is_subtracted);
    tcase_add_test(c, formats);
    tcase_add_test(c, what_is_refused);
    tcase_add_test(c, pictures_have_signed_bars);
    suite_add_tcase(s, c);
    return s;
}

/* test_compare.c - the command diff, and the estimates that info makes of a run. */
#include "suites.h"

#include "attn.h"
#include "scratch.h"
#include "shell.h"
#include "wrong.h"

#include <stdio.h>

#define GPT2 "tests/golden/checkpoints/gpt2-a"
#define IDS "--ids 1,5,7,2,9,3,4,8"

static const char *const written[] = {"-o $D/x.npz", "-o $D/x.json", "--format npy -o $D/npy",
                                      "--format csv -o $D/csv"};
static const char *const paths[] = {"$D/x.npz", "$D/x.json", "$D/npy", "$D/csv"};

START_TEST(test_every_format_holds_the_same)
{
    expect("\"$A\" run -m " GPT2 " " IDS " --show '*' -t 3 -o $D/a.npz", 0, "");
    expect(printed("\"$A\" run -m " GPT2 " " IDS " --show '*' -t 1 %s", written[_i]), 0, "");
    expect(printed("\"$A\" diff %s $D/a.npz --exact", paths[_i]),
           0, "nothing differs: 36 tensors are the same bit for bit\n");
    if (!strcmp(paths[_i], "$D/npy"))
        expect("cd $D/npy && $A diff manifest.json ../npy/manifest.json --exact", 0, "nothing differs: 36 ");
}
END_TEST

/* One of each: close, different, of another shape, the same, and two that only one side has. */
static const char one_side[] =
    "{\"activations\":["
    "{\"name\":\"same\",\"shape\":[1,2],\"data\":[[1,2]]},"
    "{\"name\":\"close\",\"shape\":[1,2],\"data\":[[1,2]]},"
    "{\"name\":\"far\",\"shape\":[2,1,2],\"data\":[[[1,2]],[[3,4]]]},"
    "{\"name\":\"long\",\"shape\":[2],\"data\":[1,2]},"
    "{\"name\":\"a \\\"\",\"shape\":[1],\"data\":[1]},"
    "{\"name\":\"a2\",\"shape\":[1],\"data\":[1]}]}";
static const char other_side[] =
    "{\"activations\":["
    "{\"name\":\"same\",\"shape\":[1,2],\"data\":[[1,2]]},"
    "{\"name\":\"close\",\"shape\":[1,2],\"data\":[[1,2.0000005]]},"
    "{\"name\":\"far\",\"shape\":[2,1,2],\"data\":[[[1,2]],[[3,6.5]]]},"
    "{\"name\":\"long\",\"shape\":[3],\"data\":[1,2,3]},"
    "{\"name\":\"b\",\"shape\":[1],\"data\":[1]},"
    "{\"name\":\"b2\",\"shape\":[1],\"data\":[1]}]}";
static const char for_scripts[] =
    "{\"version\": \"VERSION\", \"a\": \"a.json\", \"b\": \"b.json\", \"differs\": true, \"exact\": false, \"atol\": 1e-05, \"rtol\": 1e-05, "
    "\"rounding\": true, \"rounded_to\": null, \"first\": \"far\", \"cause\": null, \"tensors\": [\n"
    "  {\"name\": \"close\", \"status\": \"close\", \"shape_a\": [1, 2], \"shape_b\": [1, 2], \"count\": 2, \"differing\": 0, \"max_abs\": 4.76837158203125e-07, \"mean_abs\": 2.384185791015625e-07, \"max_ulp\": 2, \"nmse\": 4.547469172059053e-13, \"at\": {\"head\": null, \"row\": 0, \"col\": 1}, \"a\": 2, \"b\": 2.000000476837158},\n"
    "  {\"name\": \"far\", \"status\": \"differs\", \"shape_a\": [2, 1, 2], \"shape_b\": [2, 1, 2], \"count\": 4, \"differing\": 1, \"max_abs\": 2.5, \"mean_abs\": 0.625, \"max_ulp\": 5242880, \"nmse\": 0.36363636363636365, \"at\": {\"head\": 1, \"row\": 0, \"col\": 1}, \"a\": 4, \"b\": 6.5},\n"
    "  {\"name\": \"long\", \"status\": \"shape\", \"shape_a\": [2], \"shape_b\": [3]},\n"
    "  {\"name\": \"same\", \"status\": \"same\", \"shape_a\": [1, 2], \"shape_b\": [1, 2], \"count\": 2, \"differing\": 0, \"max_abs\": 0, \"mean_abs\": 0, \"max_ulp\": 0, \"nmse\": 0}], "
    "\"only_a\": [\"a \\\"\", \"a2\"], \"only_b\": [\"b\", \"b2\"]}\n";
static const char for_people[] =
    "far differs first; 2 of 4 tensors differ (beyond 1e-05 + 1e-05 |B|)\n"
    "A       a.json\n"
    "B       b.json\n"
    "\n"
    "  tensor   max abs  mean abs  max ulp      NMSE  A    B  largest at\n"
    "  close   4.77e-07  2.38e-07        2  4.55e-13  2    2  token 0, column 1\n"
    "> far          2.5     0.625  5242880     0.364  4  6.5  head 1, token 0, column 1\n"
    "  long           -         -        -         -  -    -  found [2] in A, expected [3] as in B\n"
    "  same           0         0        0         0  -    -  the same bits\n"
    "\n"
    "no known mistake fits\n"
    "\n"
    "only in A: a \" a2\n"
    "\n"
    "only in B: b b2\n";

START_TEST(test_whole_reports)
{
    scratch_put(scratch_path("a.json"), one_side, sizeof one_side - 1);
    scratch_put(scratch_path("b.json"), other_side, sizeof other_side - 1);
    expect_exactly("cd $D && ends 1 \"$A\" diff a.json b.json --format json", of_this_version(for_scripts));
    expect_exactly("cd $D && ends 1 \"$A\" diff a.json b.json --all", for_people);
}
END_TEST

START_TEST(test_verdicts)
{
    wrong_copy("gpt2-a", "gelu_new", "gelu", NULL);
    const char *models = "\"$A\" diff -m " GPT2 " --with $D/wrong " IDS;
    expect(models, 1, "blocks.0.mlp.post differs first; 21 of 36 tensors differ by more than rounding explains\n");
    expect(models, 1, "\ntokens  1,5,7,2,9,3,4,8\n");
    expect(models, 1, "  the same bits\n> blocks.0.mlp.post ");
    expect(models, 1, "\nlikely cause: the activation function: A uses the tanh form");
    expect(models, 1, "that differ (--all lists them)\n");
    expect("\"$A\" diff -m " GPT2 " --with $D/wrong " IDS " --atol 0.01", 0,
           "nothing differs: 36 tensors agree, 15 of them bit for bit");
    expect("\"$A\" diff -m " GPT2 " --with $D/wrong " IDS " --format json", 1,
           "\"cause\": {\"kind\": \"gelu\", \"text\": \"the activation");
    expect("\"$A\" diff -m " GPT2 " --with $D/wrong " IDS " --show pattern --layer 0", 0,
           "nothing differs: 1 tensor is the same");
    expect("\"$A\" diff -m models/life --with models/life -s 'Life is short'", 0, "bit for bit");
}
END_TEST

/* --compute applies to the first model only: the reference is always computed in float32. */
START_TEST(test_rounded_products)
{
    static const char line[] = "\"$A\" diff -m " GPT2 " --with " GPT2 " " IDS;
    char text[256];
    expect(line, 0, "nothing differs: 36 tensors are the same bit for bit");
    snprintf(text, sizeof text, "%s --compute bf16", line);
    expect(text, 0, "agrees to bf16 rounding: 36 tensors, 4 of them bit for bit\n");
    expect(printed("%s --rtol 1e-5", text), 1, "blocks.0.attn.q differs first");
    expect(printed("%s --exact", text), 1, "\nlikely cause: no mistake: this is what rounding to bf16 does");
    expect(printed("%s --compute bf16 --atol 0.2 --rtol 0.1", line), 0, "nothing differs: 36 tensors agree");
}
END_TEST

/* References from other programs: other element types, column-major order, a batch axis. */
START_TEST(test_references)
{
    expect("\"$A\" diff tests/corpus/npy/y_f8.npy tests/corpus/npy/y_fortran.npy --exact", 0, "bit for bit");
    expect("\"$A\" diff tests/corpus/npy/y_f8.npy tests/corpus/npz/y_savez.npz 2>&1", 2, "no name in common");
    expect("\"$A\" diff tests/corpus/npz/y_savez.npz tests/corpus/document/y_run.json", 1,
           "found [2, 3] in A, expected [2, 2] as in B");
    expect("\"$A\" diff tests/corpus/npz/y_savez.npz tests/corpus/document/y_run.json", 1, "only in A: logits\n");
    expect("\"$A\" diff tests/corpus/npz/y_savez.npz tests/corpus/document/y_run.json", 1,
           "only in B: blocks.0.attn.pattern\n");
    /* labels of rows are tokens that have no ids */
    expect("for i in cat dog; do mkdir $D/$i && \"$A\" run -m tiny -s \"the $i sat\" --show pattern --layer 0 --head 0 "
           "-o $D/$i/blocks.0.attn.pattern.csv; done; "
           "\"$A\" diff $D/cat/*.csv $D/dog/*.csv", 1,
           "the sides ran on different tokens: token 1 is ' cat' in A and ' dog' in B");
}
END_TEST

START_TEST(test_with_weights)
{
    const struct wrong_move turned = {"h.1.attn.c_proj.weight", wrong_transposed, false};
    wrong_copy("gpt2-a", NULL, NULL, &turned);
    expect("\"$A\" run -m " GPT2 " " IDS " --show '*' -o $D/a.npz && \"$A\" run -m $D/wrong " IDS
           " --show '*' -o $D/b.npz", 0, "");
    expect("\"$A\" diff $D/b.npz $D/a.npz", 1,
           "the weight is transposed, permuted or another one (-m MODEL tries that model's weights)");
    expect("\"$A\" diff $D/b.npz $D/a.npz -m tiny 2>&1", 2, "the dumps are not of model tiny (-m): a row of their ");
    expect("\"$A\" diff $D/b.npz $D/a.npz -m " GPT2, 1, "A multiplies by the transpose of the weight that B uses");
    expect("ATTN_MODEL=/nowhere \"$A\" diff $D/b.npz $D/a.npz", 1, "blocks.1.attn.out differs first");
    expect("for i in a b; do \"$A\" run -m " GPT2 " --ids 1,2 --show '*' -o $D/$i.npz $([ $i = a ] || "
           "echo --edit 'L0.norm1[col=1,pos=0]+=0.5' --edit 'L0.norm1[col=2,pos=1]+=0.3'); "
           "done; \"$A\" diff $D/b.npz $D/a.npz", 1, "\nno known mistake fits");  /* two rows fit any norm */
}
END_TEST

START_TEST(test_edits_are_the_cause)
{
    static const char *const cases[][2] = {
        {"--ablate L0H1", "the edits of A, which change blocks.0.attn.context"},
        {"--edit 'L1.mlp.post *= 2'", "the edits of A, which change blocks.1.mlp.post"},
        {"--show attn.out,logits --ablate L0H1", "the edits of A, which come before blocks.0.attn.out"},
        {"--show logits --edit 'L1.mlp.post *= 2'", "the edits of A, which come before logits"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(printed("\"$A\" diff -m " GPT2 " --with " GPT2 " " IDS " %s", cases[i][0]), 1,
               printed("\nlikely cause: %s\n", cases[i][1]));
    expect("\"$A\" diff -m " GPT2 " --with " GPT2 " " IDS " --ablate L0H1 --format json", 1,
           "\"cause\": {\"kind\": \"edits\", ");
    wrong_copy("gpt2-a", "gelu_new", "gelu", NULL);       /* in layer 0, before an edit in layer 1 */
    expect("\"$A\" diff -m $D/wrong --with " GPT2 " " IDS " --ablate L1H1", 1,
           "\nlikely cause: the activation function: A uses");
}
END_TEST

START_TEST(test_trouble)
{
    static const struct { const char *args; int status; const char *says; } trouble[] = {
        {"", 2, "nothing to compare:"},
        {"a", 2, "nothing to compare:"},
        {"a b c", 2, "unexpected argument 'c'"},
        {"a b --with c -s x", 2, "do not go together"},
        {"a b -s x", 2, "an input is for two models"},
        {"a b --show q", 2, "are for two models"},
        {"a b --atol -1", 2, "not negative"},
        {"a b --exact --rtol 1", 2, "--exact tolerates nothing"},
        {"--with models/life --show q", 2, "are for a run of both models"},
        {"--with models/life --layer 0", 2, "are for a run of both models"},
        {"--with models/life --head 0", 2, "are for a run of both models"},
        {"--with models/life --compute bf16", 2, "are for a run of both models"},
        {"--with models/life --labels none", 2, "are for a run of both models"},
        {"--with models/life --ablate L0H0", 2, "are for a run of both models"},
        {"models/life tests/corpus/npy/y_f4.npy", 2, "models/life is a model and tests/corpus/npy/y_f4.npy is not"},
        {"tests/corpus/npy/y_f4.npy tiny", 2, "tiny is a model and tests/corpus/npy/y_f4.npy is not"},
        {"a.npz tiny", 2, "a.npz: there is no such file or directory"},
        {"tiny life -m life", 2, "-m is for dumps"},
        {"/nowhere/a /nowhere/b", 2, "/nowhere/a: cannot"},
        {"tests/corpus/npy/n_int.npy tests/corpus/npy/y_f4.npy", 2, "n_int.npy: holds numbers of type '<i8'"},
        {"-m models/life --with /nowhere/b -s Life", 2, "/nowhere/b"},
        {"-m models/life --with models/life -s Life --show nonsense", 2, "unknown activation 'nonsense'"},
        {"-m models/life --with models/life -s ''", 2, "the sentence is empty"},
    };
    for (size_t i = 0; i < sizeof trouble / sizeof *trouble; i++)
        expect(printed("\"$A\" diff %s 2>&1 >/dev/null", trouble[i].args), trouble[i].status, trouble[i].says);
}
END_TEST

/* The sizes that info predicts are those of the files that run writes. */
/* No numbers, in a shape whose text is longer than that of any model. */
START_TEST(test_long_shapes)
{
#define LONG "100000000000, 0, 1234567890123456789, 1234567890123456789, 1234567890123456789, 12345678901234567"
    succeed("npy() { printf '\\x93NUMPY\\x01\\x00\\xb6\\x00%-181s\\n' \"{'descr': '<f4', 'fortran_order': False, "
            "'shape': ($1), }\"; }; "
            "npy '" LONG "' >$D/x.npy && npy '0, 2' >$D/y.npy");
    expect("\"$A\" diff $D/x.npy $D/y.npy", 1, "found [" LONG "] in A, expected [0, 2] as in B\n");
    expect("\"$A\" diff --format json $D/x.npy $D/y.npy", 1, "\"shape_a\": [" LONG "], \"shape_b\": [0, 2]");
}
END_TEST

START_TEST(test_cost)
{
    expect("\"$A\" run -m " GPT2 " " IDS " --show '*' --format npy -o $D/npy", 0, "");
    expect("test $(cat $D/npy/*.npy | wc -c) = $(\"$A\" info -m " GPT2 " " IDS
           " --format json | sed -n 's/.*\"all\".*\"npy\": \\([0-9]*\\).*/\\1/p')",
           0, "");
    expect("\"$A\" info -m " GPT2 " " IDS, 0, "a run of 8 tokens, besides the weights\n");
    expect("\"$A\" info -m " GPT2, 0, "output layer  yes, tied to the embedding\n\n28 tensors\n");
    expect("\"$A\" info -m " GPT2 " --format json", 0, "\"run\": null,");
    expect("\"$A\" info -s 'Life is bitter' 2>&1", 1, "bitter");
}
END_TEST

Suite *suite_compare(void)
{
    Suite *s = suite_create("compare");
    TCase *c = tcase_create("compare");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, test_every_format_holds_the_same, 0, sizeof written / sizeof *written);
    tcase_add_test(c, test_verdicts);
    tcase_add_test(c, test_whole_reports);
    tcase_add_test(c, test_rounded_products);
    tcase_add_test(c, test_references);
    tcase_add_test(c, test_with_weights);
    tcase_add_test(c, test_edits_are_the_cause);
    tcase_add_test(c, test_trouble);
    tcase_add_test(c, test_long_shapes);
    tcase_add_test(c, test_cost);
    suite_add_tcase(s, c);
    return s;
}

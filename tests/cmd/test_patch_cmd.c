/* attn-cli patch. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>

#define TINY "-m tiny -s 'Lily lost her red ball' --from 'Lily lost her big ball' --metric 'logprob(\".\")' "
#define GPT2 "-m tests/golden/checkpoints/gpt2-a --ids 83,69,74,32 --from-ids 83,69,75,32 --metric 'logit(3)' "

START_TEST(text_shows_both_texts_the_grid_and_what_matters_most)
{
    expect("$A patch " TINY "--what resid_pre --over layer,pos", 0,
           "    2    ·her   ·her\n"
           "    3  * ·red   ·big\n"
           "    4    ·ball  ·ball\n"
           "\n"
           "logprob(\".\") = -");
    expect("$A patch " TINY "--what resid_pre --over layer,pos", 0,
           "     Lily  ·lost   ·her   ·red  ·ball\n"
           "L0   0.00   0.00   0.00   1.00   0.00\n");
    expect_same("$A patch " TINY "--what resid_pre --over layer,pos | sed -n 's/^  L0 pos 3      1.000  metric *//p'",
                "$A patch " TINY "--what resid_pre --over layer,pos | "
                "sed -n 's/^logprob.* for the text, \\(.*\\) for the other$/\\1/p'");
    expect("$A patch " TINY "--what resid_pre --over layer,pos | grep -A1 '^largest effects$'", 0, " pos ");
    expect("$A patch " TINY "--what context --over layer,head,pos --precision 4", 0, "\nlayer 3\n");
    /* effects and metrics of either sign stand below each other */
    expect_exactly("$A patch -m tiny -s 'Lily lost her red ball' --from 'Tom lost her red ball' --what pattern --over "
                   "layer,head --metric 'logit(\" her\")' | tail -5 | tee $D/x | sed 's/[^.]//g; s/../&/' | sort -u; "
                   "grep -c ' -0' $D/x; "
                   "sed 's/\\..*//' $D/x | awk '{print length($0)}' | sort -u", "..\n5\n17\n");
    expect("$A patch -m tiny -s 'Lily lost her red ball' --from 'Lily lost her blue ball' --metric 'logprob(\" "
           /* they are near */
           "and\")' --what v --over layer | sed 's/[0-9]/9/g'", 0,
           "= -9.999999 for the text, -9.999999 for the other\n");
    expect("$A patch " TINY "--what attn.out --over layer", 0, "    all\nL0");
    expect("$A patch -m tests/golden/checkpoints/gpt2-a --ids 1,2 --from-ids 1,2 --metric loss --what v --over layer",
           0,
           "both texts have the same metric, so there are no effects");
}
END_TEST

/* The grids of the examples that readers try first have effects. */
START_TEST(examples_show_something)
{
    expect_exactly("attn-cli() { \"$A\" \"$@\"; }; eval \"$($A help patch | grep 'method gradient')\" >$D/x.csv; "
                   "awk -F, 'NR > 1 && $4 != 0 { n++ } END { print (n > 4) }' $D/x.csv; "
                   "eval \"$($A help patch | grep 'method ig:32')\" | grep -cE '^  pos .* -?[0-9.]*[1-9]'", "1\n2\n");
}
END_TEST

START_TEST(programs_get_rows)
{
    expect("$A patch " GPT2 "--what context --over layer,head --format json", 0,
           "\"what\":\"context\",\n\"over\":[\"layer\",\"head\"],\n\"method\":\"exact\",\n\"metric\":\"logit(3)\",\n"
           "\"metric_text\":");
    expect("$A patch " GPT2 "--what context --over layer,head --format json", 0,
           "\"rows\":[\n{\"layer\":0,\"head\":0,\"metric\":");
    expect("$A patch " GPT2 "--what embed --over pos --format csv", 0, "pos,metric,effect\n0,");
    expect("$A patch " GPT2 "--what v --over layer,head,pos -o $D/v.csv && head -1 $D/v.csv && wc -l < $D/v.csv", 0,
           "layer,head,pos,metric,effect\n17\n");
    expect_same("$A patch " GPT2 "--what v --over layer --format csv",
                "$A patch " GPT2 "--what v --over layer --format tidy -t 3");
    expect_same("$A patch " GPT2 "--what v --over layer --format json --method gradient",
                "$A patch " GPT2 "--what v --over layer --format json --method gradient -t 3");
    expect("$A patch -m tests/golden/checkpoints/gpt2-a --ids 1,2 --from-ids 1,2 --metric loss --what v --over layer "
           "--format csv", 0, ",\n1,");
    succeed("$PYTHON -c 'import json,sys; json.load(sys.stdin)' < <($A patch " TINY
            "--what scores --over layer,head,pos --format json)");
    for (const char *const *f = (const char *const[]){"png", "svg", "html", NULL}; *f; f++) {
        char line[400];
        snprintf(line, sizeof line,
                 "$A patch " TINY "--what context --over layer,head,pos --method ig:2 -o $D/p.%s && test "
                 "-s $D/p.%s", *f, *f);
        succeed(line);
    }
    expect("cat $D/p.svg", 0, "effect of attn.context from the other text");
    /* a long metric is cut between characters, and that is seen */
    expect("echo '{\"a\":0,\"b\":1,\"\303\251\":2}' >$D/v.json && \"$A\" init -q -o $D/u --vocab $D/v.json --n-layer 1 "
           "--n-head 1 --d-model 4 --d-head 4 --d-value 4 --unembed true --n-ctx 4 && m='logit(0)' && "
           "for i in $(seq 7); do m=\"$m+logit(1)\"; done; "
           "\"$A\" patch -q -m $D/u --ids 0,1 --from-ids 1,0 --what v --over layer --format svg --metric "
           "\"$m+logit(\\\"\303\251\\\")\" | iconv -f UTF-8 -t UTF-8 | sed -n 's/^<text.*>\\(.*\\)<.*/\\1/p' | "
           "tr '\\n' ' ' | grep -o 'from the other text.*(rows'", 0, "…");
    expect("$A patch " TINY "--what context --over layer,head --format term", 0, "(rows: layers, columns: heads)");
    /* effects of 0 in a corner are no mask */
    succeed("$A init -o $D/small --vocab-size 8 --n-layer 1 --n-head 1 --d-model 8 --n-ctx 8 --unembed true");
    expect_exactly("$A patch -m $D/small --ids 1,2,3 --from-ids 4,2,3 --what resid_pre --over layer,pos --metric "
                   "'logit(1)' --format term | "
                   "grep -e ^L0 -e mask", "L0  \u2588\u2588\u2592\u2592\u2592\u2592\n");
}
END_TEST

START_TEST(what_cannot_be_patched_is_refused_before_anything_runs)
{
    expect("ATTN_MODEL= $A patch -s 'a b' --from B 2>&1", 2, "give --what NAME (what is taken from the other text), "
           "--over AXES (the pieces it is taken in), --metric METRIC (what is measured): attn-cli patch -s "
           "'a b' --from B --what resid_pre --over layer,pos --metric loss\n");
    expect("$A patch " TINY "--what context --over layer --format png 2>&1", 0, "PNG");
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

Suite *suite_patch_cmd(void)
{
    Suite *s = suite_create("patch_cmd");
    TCase *c = tcase_create("patch_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, text_shows_both_texts_the_grid_and_what_matters_most);
    tcase_add_test(c, examples_show_something);
    tcase_add_test(c, programs_get_rows);
    tcase_add_test(c, what_cannot_be_patched_is_refused_before_anything_runs);
    suite_add_tcase(s, c);
    return s;
}

/* Edits on the command line: in every command that has them, what they do is what an unedited run of another text, or another
 * command, shows; documents record them; what is wrong is said before anything is computed. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#define RED "-m tiny -s 'Lily lost her red ball'"
#define BIG "-m tiny -s 'Lily lost her big ball'"
#define FROM_BIG "--from 'Lily lost her big ball'"

/* ---- heads, lens, attribute ---- */

/* A text whose embedding is replaced by that of another is the other text. */
START_TEST(questions_see_the_edited_run)
{
    expect_same("$A lens " RED " --patch embed " FROM_BIG " --target 500 --format csv", "$A lens " BIG " --target 500 --format csv");
    expect_same("$A attribute " RED " --patch embed " FROM_BIG " --target 500 --neurons 9 --format csv",
                "$A attribute " BIG " --target 500 --neurons 9 --format csv");
    expect_same("$A heads " RED " --patch embed " FROM_BIG " --format csv", "$A heads " BIG " --format csv");
    expect_same("$A heads " RED " --patch pattern --patch-from 'text(\"Lily lost her big ball\")' --format csv",
                "$A heads " BIG " --format csv");
}
END_TEST

/* Where every pattern is uniform, each head spreads its attention over all keys, and the mean of 1/(q + 1) over rows 1 and 2 is 5/12. */
START_TEST(heads_score_edited_patterns)
{
    expect_exactly("$A heads -m tiny --ids 5,6,7 --edit 'pattern = uniform' --format json | jq -c "
                   "'.edits, ([.rows[] | [.previous, .self, .first, .spread | . * 1e6 | round]] | unique)'",
                   "[\"pattern = uniform\"]\n[[416667,416667,416667,1000000]]\n");
    expect_same("$A heads -m tiny --repeat 24 --edit 'L0-2H* *= 0.5' --format csv -t 1",
                "$A heads -m tiny --repeat 24 --edit 'context *= 0.5' --format csv -t 3");
    expect_same("printf 'the cat\\nOne day\\n' | $A heads -m tiny -f - --ablate L0.mlp.out --format csv",
                "printf 'the cat\\nOne day\\n' | $A heads -m tiny -f - --edit 'L0.mlp.out *= 0' --format csv");
    expect("$A heads -m tiny --ids 5,6,7 --ablate L0H0,1.2", 0, "\nedit: L0H0 = 0\nedit: L1H2 = 0\n\nhead ");
    expect("$A heads -m tiny --copying --top 1 --ablate L0H0 --format json | jq '.rows[0].copying != null'", 0, "true");
    expect("printf 'the cat\\nOne day, Tom\\n' | $A heads -m tiny -f - --ablate 'L0H0[pos=3]' 2>&1 >$D/x", 3,
           "1 of 2 records failed");
    expect("$A heads -m tiny --repeat 5 --ablate 'L0H0[pos=10]' 2>&1", 1, "the text has 10 tokens");
    expect("$A heads -m tiny --repeat 5 --ablate L4H0 2>&1", 1, "layer 4 is not there: tiny has 4 layers");
    expect("$A heads -m tiny --repeat 5 --ablate L0H0 --edit 'L0H1 = from' 2>&1", 1, "--from TEXT");
}
END_TEST

START_TEST(lens_looks_at_the_edited_stream)
{
    expect_same("$A lens " RED " --ablate L3.attn.out,L3.mlp.out --format csv | grep 2.resid_post | cut -d, -f3-",
                "$A lens " RED " --ablate L3.attn.out,L3.mlp.out --format csv | grep 3.resid_post | cut -d, -f3-");
    expect("$A lens " RED " --ablate L3.attn.out,L3.mlp.out", 0, "edit: L3.attn.out = 0\nedit: L3.mlp.out = 0\n\nlikeliest next");
    expect_exactly("$A lens " RED " --edit 'L1.resid_post[pos=\" red\"]=0' --format json | jq -c .edits",
                   "[\"L1.resid_post[pos=\\\" red\\\"] = 0\"]\n");
    expect("$A lens " RED " --steer x.npy@1 2>&1", 1, "x.npy: cannot open");
    expect("$A lens " RED " --ablate 'L0H0[pos=9]' 2>&1", 1, "position 9 is not there: the text has 5 tokens");
}
END_TEST

/* An ablated head has no part in the logit, which is that of the edited run; what replaces the stream itself is no part, and remains. */
START_TEST(attribution_is_of_the_edited_run)
{
    expect_exactly("$A attribute " RED " --target 15 --ablate L2H0,L1.mlp.out --format json >$D/x; jq -c '.edits, "
                   "[.rows[] | select(.value == 0) | .name], (.remainder | fabs < 1e-4)' $D/x",
                   "[\"L2H0 = 0\",\"L1.mlp.out = 0\"]\n[\"L1.mlp\",\"L2H0\"]\ntrue\n");
    expect_same("jq '.logit * 1e6 | round' $D/x", "$A run " RED " --ablate L2H0,L1.mlp.out --show logits --format json | "
                "jq '.activations[0].data[-1][15] * 1e6 | round'");
    expect("$A attribute " RED " --target 15 --edit 'L0.resid_post = 0' --format json | jq '.remainder | fabs > 0.1'", 0, "true");
    expect("$A attribute " RED " --target 15 --ablate L2H0", 0, "\nedit: L2H0 = 0\n");
    expect("$A attribute " RED " --target 15 --ablate L2H9 2>&1", 1, "head 9 is not there");
}
END_TEST

Suite *suite_edits_cmd(void)
{
    Suite *s = suite_create("edits_cmd");
    TCase *c = tcase_create("edits_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, questions_see_the_edited_run);
    tcase_add_test(c, heads_score_edited_patterns);
    tcase_add_test(c, lens_looks_at_the_edited_stream);
    tcase_add_test(c, attribution_is_of_the_edited_run);
    suite_add_tcase(s, c);
    return s;
}

/* attn-cli run --gradient. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#define GPT2 "-m tests/golden/checkpoints/gpt2-a --ids 83,69,74,32,68,95,56,44,42,93,2,72 "
#define JSON GPT2 "--format json --show embed,logits "

START_TEST(gradients_come_in_every_format)
{
    expect("$A run " GPT2 "--gradient 'logit(34)-logit(37)' --show norm_final", 0, "logit(34)-logit(37) = 1.1282\n");
    expect("$A run " GPT2 "--gradient 'logit(34)-logit(37)' --show pattern --head 0", 0,
           "attention pattern, gradient of logit(34)-logit(37) (rows");
    expect("$A run " JSON "--gradient loss", 0, "\"gradient\":\"loss\",\n\"value\":4.80027");
    expect("$A run " JSON "--gradient ' loss '", 0, "\n\"value\":4.80027");
    expect("$A run " JSON "--gradient loss --times", 0, "\"times\":true,\n\"activations\"");
    succeed("$A run " GPT2 "--gradient loss -o $D/g.npz && $A run " GPT2
            "--gradient loss --format npy -o $D/g && $A diff --exact $D/g.npz $D/g");
    succeed("$A run " GPT2 "--gradient loss --format tidy -o $D/g.tidy && $A diff --exact $D/g.npz $D/g.tidy");
    succeed("$A run " GPT2 "--gradient loss --show pattern -o $D/g.png && $A run " GPT2 "--gradient loss -o $D/g.html");
    expect("$A run " GPT2 "--gradient loss --show pattern -o $D/g.svg && cat $D/g.svg", 0, "gradient of loss");
    expect_exactly("$A run " GPT2 "--gradient loss --show embed | { ! grep likeliest; }", "");
    expect("$A run -m tiny -s 'Lily lost her red' --gradient 'prob(\" ball\")' --show embed --layer 0", 0,
           "prob(\" ball\") = 0.");
    expect("$A run " GPT2 "--gradient loss --show result --times --layer 1", 0, "layer 1, head 1: ");
    expect("$A run " GPT2 "--gradient loss --edit 'L0H1 = 0' --format json", 0,
           "\"edits\":[\"L0H1 = 0\"],\n\"gradient\":\"loss\"");
    expect("$A patch " GPT2
           "--from-ids 83,69,74,32,68,95,56,44,42,93,2,73 --metric 'prob(3)' --what v --over layer --edit "
           "'L0H1 = 0' --format json", 0, "\"edits\":[\"L0H1 = 0\"],\n\"from\":{\"text\":null,");
    expect_same("$A run " GPT2 "--gradient loss -t 1", "$A run " GPT2 "--gradient loss -t 3");
}
END_TEST

/* A branch that is set to 0 hides its input from the loss, and nothing else: the stream's gradient
 * passes by unchanged. */
START_TEST(edits_of_a_branch_leave_the_stream)
{
    succeed("$A run " GPT2
            "--gradient loss --edit 'L0.attn.out = 0' --edit 'L1.mlp.out = 0' --show resid_pre,resid_mid,resid_post "
            "--format json >$D/g.json");
    expect_exactly("jq -c '[.activations[].data] | [.[0] == .[1], .[1] == .[2], .[3] == .[4], .[4] == .[5], "
                   ".[0][0][0] != 0]' $D/g.json", "[true,false,false,true,true]\n");
}
END_TEST

START_TEST(what_has_no_gradient_is_refused)
{
    expect("$A run -m tiny -s 'Lily lost' --gradient kl --show embed 2>&1 >/dev/null", 0, "without edits kl is 0");
    expect_exactly("$A run -m tiny -s 'Lily lost' --gradient kl --show embed --ablate L0H0 2>&1 >/dev/null", "");
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

Suite *suite_gradient_cmd(void)
{
    Suite *s = suite_create("gradient_cmd");
    TCase *c = tcase_create("gradient_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, gradients_come_in_every_format);
    tcase_add_test(c, edits_of_a_branch_leave_the_stream);
    tcase_add_test(c, what_has_no_gradient_is_refused);
    suite_add_tcase(s, c);
    return s;
}

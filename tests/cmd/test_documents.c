/* test_documents.c - every command line and program in a document works, and prints what the
 * document says (documents.sh). */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

#include <stdio.h>

static const char *const documents[] = {
    "README.md", "cmd/README.md", "data/batch/README.md", "lib/README.md", "models/README.md", "models/tiny/README.md",
    "models/induction/README.md", "tests/bench/README.md",
};

START_TEST(what_documents_say)
{
    expect(printed("tests/documents.sh %s 2>&1", documents[_i]), 0, "commands\n");
}
END_TEST

/* What models/README.md says of our own format: see format.py. */
#define FORMAT "R=$PWD; cd $D; $PYTHON -B \"$R\"/tests/support/format.py \"$A\" \"$R\"/models/README.md "
START_TEST(keys_of_our_own_format)
{
    expect(FORMAT "keys 2>&1", 0, " agree\n");
}
END_TEST

START_TEST(tensors_of_our_own_format)
{
    succeed("printf '{\"a\": 0, \"b\": 1, \"c\": 2}' >$D/words.json; for n in 1 3; do \"$A\" init -q -o $D/$n "
            "--vocab $D/words.json --n-ctx 8 --n-layer $n --n-head 4 --n-kv-head 2 --d-model 12 --d-head 5 --d-value 7 "
            "--d-mlp 9 --mlp swiglu --norm layernorm --position learned --residual true --output-projection true "
            "--bias true --unembed true --tied false; done");
    succeed("\"$A\" init -q -o $D/4 --n-layer 1 --n-head 1 --d-model 6 --n-ctx 5 --vocab-size 7 --norm layernorm "
            "--norm-embed true");
    expect(FORMAT "tensors 1 3 4 \"$R\"/models/life \"$R\"/models/stacked \"$R\"/models/tiny 2>&1", 0, " agree\n");
}
END_TEST

/* The program of that document, with its matrices as they are, and with one in the order of torch. */
START_TEST(a_model_written_by_hand)
{
    succeed("awk '/^```python/ {on = 1; next} /^```/ {on = 0} on' models/README.md >$D/by_hand.py && cd $D && "
            "$PYTHON by_hand.py");
    expect(FORMAT "run by-hand 'cats chase mice' 2>&1", 0, " agree\n");
    expect(FORMAT "run by-hand 'mice mice cats chase' 2>&1", 0, " agree\n");
    succeed("cd $D && sed -i 's/\\[\\[1\\], \\[1\\]\\]/[[1, 1]]/' by_hand.py && $PYTHON by_hand.py");
    expect("\"$A\" run -m $D/by-hand -s cats 2>&1", 1, "expects [2, 1] (it is stored transposed: expected [in, out])");
}
END_TEST

START_TEST(the_way_through_the_code)
{
    expect("$PYTHON -B tests/support/map.py lib/README.md CONTRIBUTING.md 2>&1", 0, " agree\n");
}
END_TEST

/* Whatever the two files say at their heads. */
START_TEST(what_make_says_that_it_can_do)
{
    if (has_program("make", "make"))
        expect_exactly("unset MAKEFLAGS MAKELEVEL; make -s help >$D/help; for t in install help lint bench gallery; do "
                       "grep -c \"make $t[ :]\" $D/help; done; grep -c -e '^#' -e ':=' $D/help || :",
                       "1\n1\n1\n1\n1\n0\n");
}
END_TEST

Suite *suite_documents(void)
{
    Suite *s = suite_create("documents");
    TCase *t = tcase_create("documents");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, what_documents_say, 0, sizeof documents / sizeof *documents);
    tcase_add_test(t, keys_of_our_own_format);
    tcase_add_test(t, tensors_of_our_own_format);
    tcase_add_test(t, a_model_written_by_hand);
    tcase_add_test(t, the_way_through_the_code);
    tcase_add_test(t, what_make_says_that_it_can_do);
    suite_add_tcase(s, t);
    return s;
}

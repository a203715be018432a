/* test_documents.c - every command line and program in a document works, and prints what the document says (documents.sh). */
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

/* Whatever the two files say at their heads. */
START_TEST(what_make_says_that_it_can_do)
{
    if (has_program("make", "make"))
        expect_exactly("unset MAKEFLAGS MAKELEVEL; make -s help >$D/help; for t in install help lint bench gallery; do "
                       "grep -c \"make $t[ :]\" $D/help; done; grep -c -e '^#' -e ':=' $D/help || :", "1\n1\n1\n1\n1\n0\n");
}
END_TEST

Suite *suite_documents(void)
{
    Suite *s = suite_create("documents");
    TCase *t = tcase_create("documents");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, what_documents_say, 0, sizeof documents / sizeof *documents);
    tcase_add_test(t, what_make_says_that_it_can_do);
    suite_add_tcase(s, t);
    return s;
}

/* test_help.c - help, man page and completions: all say the same of every command, in the form that help has (help.py).
 *
 * Their words are not compared with anything: whoever improves a sentence changes no test. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

START_TEST(every_command_is_explained)
{
    expect("$PYTHON -B tests/support/help.py \"$A\" 2>&1", 0, " 0 complaints\n");
}
END_TEST

Suite *suite_help(void)
{
    Suite *s = suite_create("help");
    TCase *t = tcase_create("help");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, every_command_is_explained);
    suite_add_tcase(s, t);
    return s;
}

/* test_faults.c - a fifth of the places of the program that ask the system for something are refused once: memory,
 * opening, reading, writing; make test-attack does it with all 2,500.
 *
 * Each time the command must succeed with the right bytes or say what went wrong, and leave no half-written
 * file; see tests/attack/README.md. */
#include "sanitized.h"
#include "scratch.h"
#include "shell.h"
#include "suites.h"

START_TEST(each_place_fails_once)
{
    if (SANITIZED) {
        skipped("a malloc that is not a sanitizer's", NULL);
        return;
    }
    expect("$PYTHON -B tests/attack/faults.py places \"$A\" $FAULT 5 2>&1", 0, " places, 0 findings\n");
}
END_TEST

Suite *suite_faults(void)
{
    Suite *s = suite_create("faults");
    TCase *t = tcase_create("faults");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, each_place_fails_once);
    suite_add_tcase(s, t);
    return s;
}

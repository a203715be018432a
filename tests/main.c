/* main.c - runs all tests, or those named on the command line; the exit status is the result.
 *
 * A name is that of a suite, as "merge", or of one test, as "merge:shards_agree"; --list prints those of all tests.
 * CK_FORK=no runs everything in one process, for debuggers and sanitizers. */
#include "suites.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; Suite *(*make)(void); } suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.inc"
#undef SUITE
};

static struct { char **name; int n; bool *found, list; } asked;
static const char *suite;               /* the one that is being made */

/* Whether a test was asked for, by its name or its suite's; test NULL: any of the suite. */
static bool wanted(const char *test)
{
    size_t len = strlen(suite);
    bool any = asked.n == 0;
    for (int i = 0; i < asked.n; i++) {
        const char *name = asked.name[i];
        if (strncmp(name, suite, len) || (name[len] && (name[len] != ':' || (test && strcmp(name + len + 1, test)))))
            continue;
        any = true;
        asked.found[i] = asked.found[i] || test;
    }
    return any;
}

void attn_test_add(TCase *tc, const TTest *test, int signal, int status, int start, int end)
{
    if (asked.list)
        printf("%s:%s\n", suite, test->name);
    else if (wanted(test->name))
        (_tcase_add_test)(tc, test, signal, status, start, end);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);           /* as the program does */
    signal(SIGHUP, SIG_DFL);            /* nohup ignores it: a test of what it ends would wait for ever */
    asked.list = argc == 2 && !strcmp(argv[1], "--list");
    asked.name = argv + 1;
    asked.n = asked.list ? 0 : argc - 1;
    asked.found = calloc((size_t)argc, sizeof *asked.found);
    if (!asked.found)
        return EXIT_FAILURE;
    SRunner *runner = srunner_create(suite_create("attn-cli"));
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        suite = suites[i].name;
        if (wanted(NULL))
            srunner_add_suite(runner, suites[i].make());
    }
    bool known = true;
    for (int i = 0; i < asked.n; i++)
        if (!asked.found[i]) {
            fprintf(stderr, "no suite or test is called %s\n", asked.name[i]);
            known = false;
        }
    if (known && !asked.list)
        srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    free(asked.found);
    return !known || failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

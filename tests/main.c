/* main.c - runs all suites, or those named on the command line; the exit status is the result.
 *
 * CK_FORK=no runs everything in one process, for debuggers and sanitizers. */
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; Suite *(*make)(void); } suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.inc"
#undef SUITE
};

static int known(const char *name)
{
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (strcmp(suites[i].name, name) == 0)
            return 1;
    return 0;
}

static int asked(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);           /* as the program does */
    for (int i = 1; i < argc; i++)
        if (!known(argv[i])) {
            fprintf(stderr, "no suite is called %s\n", argv[i]);
            return EXIT_FAILURE;
        }
    SRunner *runner = srunner_create(suite_create("attn-cli"));
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (asked(suites[i].name, argc, argv))
            srunner_add_suite(runner, suites[i].make());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

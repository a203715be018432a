/* check.h - Check, for every test: an assertion that holds costs its comparison and nothing else.
 *
 * Check would write a mark to a pipe for each, so that of a test that crashes it can name the last one that held: a million
 * writes in loops over numbers.  Of such a test it names the start now; CK_FORK=no runs it where a debugger sees the rest. */
#ifndef ATTN_TESTS_CHECK_H
#define ATTN_TESTS_CHECK_H

#include <check.h>

#define _mark_point(file, line) (void)0

/* Says that a test, or a part of one, does not run for want of `what`, and how to `get` it: a shell command, or NULL where none
 * helps.  With ATTN_SKIP_NOTHING=1 the test fails if there is such a command.  What is said begins with SKIPPED, by which
 * the runner finds it; without a runner one reads it. */
void skipped(const char *what, const char *get);
#define SKIPPED "skipped for want of "

#endif

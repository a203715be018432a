/* check.h - Check, for every test: an assertion that holds costs its comparison and nothing else.
 *
 * Check itself writes a mark to a pipe for each, to name the last one that held in a test that crashes: a million
 * writes in loops over numbers.  Here it names the start of such a test; with CK_FORK=no a debugger sees the rest. */
#ifndef ATTN_TESTS_CHECK_H
#define ATTN_TESTS_CHECK_H

#include <check.h>

#define _mark_point(file, line) (void)0

/* Says that a test, or a part of one, is skipped for want of `what`, and how to `get` it, such as by a shell command;
 * NULL where nothing helps.  With ATTN_SKIP_NOTHING=1 the test fails if something does.  The runner counts the lines
 * that begin with SKIPPED. */
void skipped(const char *what, const char *get);
#define SKIPPED "skipped for want of "

#endif

/* suites.h - declares every suite; main.c runs them. */
#ifndef ATTN_TESTS_SUITES_H
#define ATTN_TESTS_SUITES_H

#include "check.h"

#define SUITE(name) Suite *suite_##name(void);
#include "suites.inc"
#undef SUITE

/* What Check's macros call to add a test to its suite: here they ask main.c first whether it is to run. */
void attn_test_add(TCase *tc, const TTest *test, int signal, int status, int start, int end);
#define _tcase_add_test(tc, test, signal, status, start, end) attn_test_add(tc, test, signal, status, start, end)

/* A loop test of n rows, each of which is run and reported by its name: "families:random_models/gemma2". */
void attn_test_add_rows(TCase *tc, const TTest *test, int n, const char *(*row)(int i));

#endif

/* suites.h - declares every suite; main.c runs them. */
#ifndef ATTN_TESTS_SUITES_H
#define ATTN_TESTS_SUITES_H

#include <check.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.inc"
#undef SUITE

#endif

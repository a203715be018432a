/* grown.h - a text that `generate` made, token by token with a cache, against the same text that `score`
 * reads at once. */
#ifndef TESTS_GROWN_H
#define TESTS_GROWN_H

/* Runs both lines, of which `score` has "IDS" where the ids go; fails the test unless each of n tokens has the same
 * log-probability, to the last digit. */
void grown_expect_same(const char *generate, const char *score, int n);

#endif

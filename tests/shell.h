/* shell.h - lines run by bash from the root of the repository; $A is the binary, $D a directory of the test's own.
 *
 * A line ends with the first step that fails, be it within a pipe.  Where a step is to end otherwise the line says so:
 * "ends 3 $A batch ..." succeeds when the command ends with 3. */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include <stddef.h>

void shell_set_up(void);                /* a fixture; scratch_remove takes it down */

struct said { int status; size_t len; char text[1 << 18]; };
/* What a line prints on standard output; the place is shared, so that a test looks at one at a time. */
const struct said *sh(const char *line);
/* The same, and fails the test unless it ends with 0. */
const struct said *succeed(const char *line);

/* Each fails the test: the status and a part of the output; status 0 and all of it; status 0 and the same, not
 * nothing, of two lines.  What is counted is all of an output: "4\n" is a part of "14\n", too. */
void expect(const char *line, int status, const char *part);
void expect_exactly(const char *line, const char *text);
void expect_same(const char *line, const char *other);

#endif

/* shell.h - runs lines in bash from the root of the repository; $A is the binary, $D the test's own directory,
 * $PYTHON a python3.
 *
 * A line ends with the first step that fails, also inside a pipe.  Where a step should end with another status the line
 * says so: "ends 3 $A batch ..." succeeds if the command ends with 3. */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void shell_set_up(void);                /* a fixture; scratch_remove undoes it */

struct said { int status; size_t len; char text[1 << 19]; };
/* Runs a line and returns its standard output, which the next call overwrites. */
const struct said *sh(const char *line);
/* The same; fails the test unless the status is 0. */
const struct said *succeed(const char *line);

/* These fail the test unless the line has this status and its output contains `part`; has status 0 and this whole
 * output; or has status 0 and the same non-empty output as the other.  Compare numbers with the whole output:
 * "14\n" contains "4\n". */
void expect(const char *line, int status, const char *part);
void expect_exactly(const char *line, const char *text);
void expect_same(const char *line, const char *other);

/* Starts a line that writes to `out` and `err`, or -1 for ours; if it `stops`, at the first step that fails.
 * shell_status waits for it. */
struct running { pid_t pid; int ends; };
struct running shell_start(const char *line, bool stops, int out, int err);
int shell_status(struct running r);

/* Starts a line that writes to ends[1] as if it were its `fd`, and closes that end here. */
pid_t start_line(const char *line, const int ends[2], int fd);

/* Runs a line on a pseudo-terminal of so many rows and columns, and returns what it writes, which the next call
 * overwrites.  There may be no pseudo-terminals, as in a chroot environment. */
const struct said *sh_on_terminal(const char *line, unsigned short rows, unsigned short columns);
/* The same on one of 60 columns; fails the test unless the line has this status. */
const char *on_terminal(const char *line, int status);
bool no_terminal(void);

/* Whether there is such a program, or a python3 with such a module: its name, or NULL.  If not, says that what needs
 * it is skipped. */
bool has_program(const char *name, const char *package);
const char *python_with(const char *module);

#endif

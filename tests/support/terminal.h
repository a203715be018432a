/* terminal.h - a terminal as far as the program uses one: it shows what is written to it, as somebody would see it.
 *
 * It knows UTF-8 and its wide characters, line ends, tabs, CSI A to D (the cursor moves), J and K (erase) and m (bold,
 * dim, reversed, colours).  Whatever else is written to it fails the test. */
#ifndef TESTS_TERMINAL_H
#define TESTS_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Writes to `to` what the terminal shows after these bytes, with the lines that have left it at its top, each after a
 * '|', or '>' if it goes on where the one above was too long.  Below a line that has any, a ':' and a letter for each
 * column that is bold or in colour.  At the end, what letters mean, and where the cursor is unless it begins a line. */
void terminal_show(FILE *to, const char *bytes, size_t len, size_t rows, size_t columns);

/* Runs a line on such a terminal; fails the test unless it has status 0, and each line that is shown, with the sign
 * before it, matches this extended regular expression: for what has times in it. */
void terminal_expect(const char *line, unsigned short rows, unsigned short columns, const char *lines);

#endif

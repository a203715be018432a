/* version.h - which program this is; version.c is the one file that is compiled again for each commit.
 *
 * attn_version() is as in "0.1.0+5f07a8f6c1d2": ATTN_VERSION, +, and the commit, or "unknown"; with ".dirty" at its end
 * where files of the program had been changed since. */
#ifndef ATTN_BASE_VERSION_H
#define ATTN_BASE_VERSION_H

/* How it was built, as in "gcc 12.2.0, release, -O2 -g". */
const char *attn_built(void);

#endif

/* scratch.h - a test's own directory, made and removed by its fixture; paths and lines put together. */
#ifndef ATTN_TESTS_SCRATCH_H
#define ATTN_TESTS_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_PATH = 256 };            /* bytes for a path in it */
extern char scratch_dir[64];            /* in $TMPDIR */

/* Both are for tcase_add_checked_fixture. */
void scratch_make(void);
/* A path of a folder that needs no quotes in a command line: that, or of a link that goes with the directory. */
const char *scratch_plain(const char *folder);
void scratch_remove(void);
void scratch_empty(void);                /* leaves the directory itself */

const char *scratch_path(const char *leaf);         /* the last four results stay valid */
void scratch_put(const char *path, const void *data, size_t len);
void scratch_expect(const char *path, const char *text);
int scratch_count(void);                            /* number of files, to check that none is left behind */

/* Formats into one of 32 buffers, used in turn: for what is used at once. */
const char *printed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A text with VERSION, as it is printed by this version, in one of those buffers. */
const char *of_this_version(const char *text);

#endif

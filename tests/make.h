/* make.h - throw-away models for tests: a config in, a directory with drawn weights out. */
#ifndef ATTN_TESTS_MAKE_H
#define ATTN_TESTS_MAKE_H

#include "attn.h"

/* Makes a directory under $TMPDIR with the given config.json and weights drawn with `seed` as
 * init does (draw NULL) or as `draw` says; fails the test when it cannot.  Free with make_remove. */
char *make_model(const char *config, const char *draw, uint64_t seed, const char *dtype);
void make_remove(char *dir);            /* the directory, its files, the string */

/* An empty directory; "DIR/file". */
char *make_dir(void);
char *make_path(const char *dir, const char *file);     /* malloc'd */
void make_file(const char *dir, const char *file, const void *data, size_t len);

#endif

/* corpus.h - tests readers of untrusted files with a corpus of small files.
 *
 * tests/corpus/FORMAT/ holds them: y_why must be read, n_why must fail with a message that names the file and contains
 * what the suite expects. */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include "attn.h"

/* The file in malloc'd memory of exactly its size, so that AddressSanitizer detects a read of one byte too many. */
char *corpus_slurp(const char *path, size_t *len);

struct corpus_fault { const char *file, *message; };                /* "n_why.ext", a part of the message */

/* Calls `read` for every file of the folder; `faults` (ends with a NULL row) lists each n_ file once. */
void corpus_check(const char *folder, const struct corpus_fault *faults,
                  int (*read)(const char *bytes, size_t len, const char *name, struct attn_err *err));

#endif

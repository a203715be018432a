/* corpus.h - readers of untrusted files against their corpora.
 *
 * tests/corpus/FORMAT/ holds small files: y_why must be read, n_why must fail with a message that
 * names the file and says what its suite expects. */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include "attn.h"

/* A file in memory of exactly its size, so that AddressSanitizer sees one byte too far; for free. */
char *corpus_slurp(const char *path, size_t *len);

struct corpus_fault { const char *file, *message; };                /* "n_why.ext", a part of the message */

/* `read` under every file of the folder; `faults` (NULL row last) lists each n_ file once. */
void corpus_check(const char *folder, const struct corpus_fault *faults,
                  int (*read)(const char *bytes, size_t len, const char *name, struct attn_err *err));

#endif

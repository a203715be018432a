/* shared.h - data that lies beside the repository and not in it. */
#ifndef ATTN_TESTS_SHARED_H
#define ATTN_TESTS_SHARED_H

/* The path of a file there, until the next call: under ATTN_SHARED, or ../shared.  NULL, said on standard error, where
 * it is absent. */
const char *shared_path(const char *leaf);

#endif

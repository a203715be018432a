/* shared.h - test data that is kept beside the repository, not in it. */
#ifndef ATTN_TESTS_SHARED_H
#define ATTN_TESTS_SHARED_H

/* The path of such a file, in $ATTN_SHARED or ../shared, until the next call.  If it is absent, reports that on
 * standard error and returns NULL. */
const char *shared_path(const char *leaf);
const char *shared_find(const char *leaf);          /* the same, in silence */

#endif

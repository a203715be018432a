/* archive.h - several files in one fuzz input, for targets that read whole directories.
 *
 * Each file is a line "@@ PATH LENGTH", then its bytes and a line feed.  An input cut short by a mutation is read as
 * far as it goes: a last file that ends early keeps what is there. */
#ifndef ATTN_TESTS_ARCHIVE_H
#define ATTN_TESTS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARCHIVE_FILES = 48, ARCHIVE_PATH = 96 };

struct archive {
    size_t n;
    struct archive_file { char path[ARCHIVE_PATH]; const uint8_t *data; size_t len; } file[ARCHIVE_FILES];
};

/* Borrows from data.  Files whose path is odd or leaves the directory are left out. */
void archive_read(struct archive *a, const uint8_t *data, size_t size);
/* Writes the files into a new directory of this process and returns its path. */
const char *archive_unpack(const struct archive *a);
void archive_remove(void);                              /* removes the directory and all in it */
const char *archive_path(const char *leaf);             /* in that directory; the last eight results stay valid */

#endif

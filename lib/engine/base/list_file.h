/* list_file.h - files that users write, with one thing per line.  Blanks around it do not count, and lines that begin
 * with # are comments. */
#ifndef ATTN_BASE_LIST_FILE_H
#define ATTN_BASE_LIST_FILE_H

#include "attn.h"

/* Where a reader of such a text stands; line counts from 1, and is 0 before the first call. */
struct attn_list_file { const char *at, *end; size_t line; };
struct attn_list_file attn_list_file_begin(const char *text, size_t len);
/* The next thing, which is not empty; false: there is none. */
bool attn_list_file_next(struct attn_list_file *l, const char **item, size_t *len);

#endif

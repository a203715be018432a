/* page_os.h - the system that a page's engine finds: files in memory, which the page puts there, and a clock.
 *
 * Nothing can be written but into memory, and nothing is asked of whoever runs the module but the time: page_os.c
 * defines what wasi-libc's archive would import.  Directories are the beginnings of names.  A file that is mapped is
 * used where it lies. */
#ifndef ATTN_BASE_PAGE_OS_H
#define ATTN_BASE_PAGE_OS_H

#include <stddef.h>

/* A file of a name such as "model/config.json", in place of one that had it; takes over bytes of malloc.  0: no memory
 * is left, and bytes still belong to the caller. */
int attn_page_file(const char *name, void *bytes, size_t n);

#endif

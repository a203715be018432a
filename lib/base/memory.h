/* memory.h - sizes of the processor's caches and of the available memory. */
#ifndef ATTN_BASE_MEMORY_H
#define ATTN_BASE_MEMORY_H

#include <stddef.h>

size_t attn_memory_cache(void);         /* bytes of all last-level caches together; 0 if unknown */
/* Bytes this process may still allocate, by the system's state and by its cgroups (v2 or v1); 0 if unknown. */
size_t attn_memory_available(void);
size_t attn_memory_available_in(const char *root);      /* `root` as in cgroup.h */

#endif

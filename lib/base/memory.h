/* memory.h - how much memory there is, near the processor and behind it. */
#ifndef ATTN_BASE_MEMORY_H
#define ATTN_BASE_MEMORY_H

#include <stddef.h>

size_t attn_memory_cache(void);         /* bytes of the last-level caches, all together; 0: not known */
/* Bytes this process may still take, by the system and by what its cgroups (v2 or v1) have left; 0: not known. */
size_t attn_memory_available(void);
size_t attn_memory_available_in(const char *root);      /* as in cgroup.h */

#endif

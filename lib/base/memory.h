/* memory.h - how much memory there is, near the processor and behind it. */
#ifndef ATTN_BASE_MEMORY_H
#define ATTN_BASE_MEMORY_H

#include <stddef.h>

size_t attn_memory_cache(void);         /* bytes of the last-level caches, all together; 0: not known */
size_t attn_memory_available(void);     /* bytes this process may still take, by the system and its cgroup; 0: not known */

#endif

/* cpu.h - what this process may use of the machine: processors, their caches, memory. */
#ifndef ATTN_BASE_CPU_H
#define ATTN_BASE_CPU_H

#include "attn.h"

/* The number of processors this process may run on or its cgroups' quota, whichever is smaller; at least 1. */
int attn_cpu_count(void);
/* How many processors' worth of time the cgroups (v2 or v1) allow; INFINITY if unlimited.  /proc and /sys are
 * looked for under `root`, which is "" except in tests. */
double attn_cpu_quota(const char *root);

size_t attn_memory_cache(void);         /* bytes of all last-level caches together; 0 if unknown */
/* Bytes this process may still allocate, by the system's state, its cgroups (v2 or v1) and ulimit -v; 0 if unknown. */
size_t attn_memory_available(void);
size_t attn_memory_available_in(const char *root);      /* `root` as above */

#endif

/* cpu.h - how many threads this process may keep busy. */
#ifndef ATTN_BASE_CPU_H
#define ATTN_BASE_CPU_H

/* The smaller of the processors it may run on and its cgroup's quota (v2 or v1), at least 1. */
int attn_cpu_count(void);

#endif

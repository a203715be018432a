/* cpu.h - what this process may use of the machine. */
#ifndef ATTN_BASE_CPU_H
#define ATTN_BASE_CPU_H

#include <stdbool.h>

/* The smaller of the processors it may run on and its cgroups' quota, at least 1. */
int attn_cpu_count(void);
/* How many processors' time its cgroups (v2 or v1) allow; INFINITY: any.  `root` as in cgroup.h. */
double attn_cpu_quota(const char *root);

/* The widest vectors our own code may use; ATTN_SIMD=generic, avx2 or avx512 in the environment asks for less. */
enum attn_simd { ATTN_SIMD_GENERIC, ATTN_SIMD_AVX2, ATTN_SIMD_AVX512 };     /* with FMA and F16C; F, BW, DQ, VL */
enum attn_simd attn_cpu_simd(void);

/* How numbers rounded to bf16 are best multiplied.  It decides bits, so it follows from the processor and is
 * never measured: by AMX where the kernel lets us use it, sixteen times as fast as float32; by vdpbf16ps on AMD's
 * processors, twice as fast (on Intel's it has half the speed of float32); else as floats.  Only where
 * AVX-512 may be used. */
enum attn_bf16 { ATTN_BF16_FLOATS, ATTN_BF16_DOTS, ATTN_BF16_TILES };
enum attn_bf16 attn_cpu_bf16(void);
bool attn_cpu_can(enum attn_bf16 how);

#endif

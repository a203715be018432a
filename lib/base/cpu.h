/* cpu.h - what this process may use of the machine: processors, their vectors, caches, memory. */
#ifndef ATTN_BASE_CPU_H
#define ATTN_BASE_CPU_H

#include "attn.h"

/* The number of processors this process may run on or its cgroups' quota, whichever is smaller; at least 1. */
int attn_cpu_count(void);
/* How many processors' worth of time the cgroups (v2 or v1) allow; INFINITY if unlimited.  /proc and /sys are
 * looked for under `root`, which is "" except in tests. */
double attn_cpu_quota(const char *root);

/* The widest vectors our own code may use.  ATTN_SIMD=generic, avx2 or avx512 in the environment can only narrow
 * them. */
/* AVX2 with FMA and F16C; AVX-512 F, BW, DQ, VL */
enum attn_simd { ATTN_SIMD_GENERIC, ATTN_SIMD_AVX2, ATTN_SIMD_AVX512 };
enum attn_simd attn_cpu_simd(void);
enum attn_simd attn_cpu_widest(void);           /* whatever the environment says */
/* Fails if ATTN_SIMD is set to anything else, or LIBXSMM_TARGET to a value that libxsmm does not know. */
int attn_cpu_check(struct attn_err *err);

/* How numbers rounded to bf16 are multiplied fastest.  The choice changes bits of the results, so it follows from the
 * processor and is never measured: AMX where the kernel lets us use it (sixteen times as fast as float32); vdpbf16ps
 * on AMD's processors (twice as fast; on Intel's it has half the speed of float32); else float32.  AMX and vdpbf16ps
 * are used only where AVX-512 may be. */
enum attn_bf16 { ATTN_BF16_FLOATS, ATTN_BF16_DOTS, ATTN_BF16_TILES };
enum attn_bf16 attn_cpu_bf16(void);
bool attn_cpu_can(enum attn_bf16 method);

size_t attn_memory_cache(void);         /* bytes of all last-level caches together; 0 if unknown */
/* Bytes this process may still allocate, by the system's state, its cgroups (v2 or v1) and ulimit -v; 0 if unknown. */
size_t attn_memory_available(void);
size_t attn_memory_available_in(const char *root);      /* `root` as above */

#endif

/* cpu.h - what this process may use of the machine. */
#ifndef ATTN_BASE_CPU_H
#define ATTN_BASE_CPU_H

/* The smaller of the processors it may run on and its cgroup's quota (v2 or v1), at least 1. */
int attn_cpu_count(void);

/* The widest vectors our own code may use; ATTN_SIMD=generic, avx2 or avx512 in the environment asks for less. */
enum attn_simd { ATTN_SIMD_GENERIC, ATTN_SIMD_AVX2, ATTN_SIMD_AVX512 };     /* with FMA and F16C; F, BW, DQ, VL */
enum attn_simd attn_cpu_simd(void);

#endif

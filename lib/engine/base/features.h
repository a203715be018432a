/* features.h - what the processor can do and the system lets us use.
 *
 * The C library found that out when the process began.  The compiler's __builtin_cpu_supports would ask the processor
 * again before main(), which takes a twentieth of a short run where each question goes through a hypervisor; and it
 * does not know all of these.  Where the C library does not say (musl, glibc before 2.33), features.c asks once. */
#ifndef ATTN_BASE_FEATURES_H
#define ATTN_BASE_FEATURES_H

#if defined(__x86_64__)
#include <stdbool.h>
#include <stdint.h>                     /* says which C library it is */

#if defined(__GLIBC__) && !defined(ATTN_PORTABLE) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

/* feature: an x86_cpu_ name of the C library, whose own CPU_FEATURE_ACTIVE shifts bits into the sign of an int. */
static inline bool attn_has_feature(unsigned feature)
{
    enum { WORD = 32, LEAF = 4 * WORD };
    return __x86_get_cpuid_feature_leaf(feature / LEAF)->active_array[feature % LEAF / WORD] >> feature % WORD & 1;
}
#else
#define ATTN_ASKS_PROCESSOR 1

/* The bit of a feature, in the leaves 1, 7 and 7.1 of cpuid one after the other, each of four registers. */
enum {
    x86_cpu_PCLMULQDQ = 64 + 1, x86_cpu_FMA = 64 + 12, x86_cpu_SSE4_1 = 64 + 19,
    x86_cpu_AVX2 = 128 + 32 + 5, x86_cpu_AVX512F = 128 + 32 + 16, x86_cpu_AVX512DQ = 128 + 32 + 17,
    x86_cpu_SHA = 128 + 32 + 29, x86_cpu_AVX512BW = 128 + 32 + 30, x86_cpu_AVX512VL = 128 + 32 + 31,
    x86_cpu_AMX_BF16 = 128 + 96 + 22, x86_cpu_AMX_TILE = 128 + 96 + 24,
    x86_cpu_AVX512_BF16 = 256 + 5
};

bool attn_has_feature(unsigned feature);
#endif
#endif

#endif

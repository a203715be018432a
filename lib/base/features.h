/* features.h - what the processor can do and the system lets us use, as the C library found out when the process began.
 *
 * The compiler's __builtin_cpu_supports would ask the processor again before main(), which takes a twentieth of a short
 * run where each question goes through a hypervisor. */
#ifndef ATTN_BASE_FEATURES_H
#define ATTN_BASE_FEATURES_H

#if defined(__x86_64__)
#include <stdbool.h>
#include <sys/platform/x86.h>

/* feature: an x86_cpu_ name of the C library, whose own CPU_FEATURE_ACTIVE shifts bits into the sign of an int. */
static inline bool attn_has_feature(unsigned feature)
{
    enum { WORD = 32, LEAF = 4 * WORD };
    return __x86_get_cpuid_feature_leaf(feature / LEAF)->active_array[feature % LEAF / WORD] >> feature % WORD & 1;
}
#endif

#endif

#include "base/features.h"

#include <stddef.h>

#ifdef ATTN_ASKS_PROCESSOR
#include <cpuid.h>
#include <pthread.h>

enum { LEAVES = 3, REGISTERS = 4 };
static unsigned active[LEAVES * REGISTERS];

/* Which registers the system saves for a process, as bits of XCR0; 0 if it does not say. */
static uint64_t saved(unsigned ecx_of_1)
{
    enum { OSXSAVE = 1 << 27 };
    uint32_t low, high;
    if (!(ecx_of_1 & OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static void keep_if(bool can, const unsigned *feature, size_t n)
{
    for (size_t i = 0; i < n && !can; i++)
        active[feature[i] / 32] &= ~(1u << feature[i] % 32);
}

static void ask(void)
{
    static const unsigned of_avx[] = {x86_cpu_FMA, x86_cpu_AVX2},
        of_avx512[] = {x86_cpu_AVX512F, x86_cpu_AVX512DQ, x86_cpu_AVX512BW, x86_cpu_AVX512VL, x86_cpu_AVX512_BF16},
        of_amx[] = {x86_cpu_AMX_BF16, x86_cpu_AMX_TILE};
    enum { AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000 };           /* what of XCR0 each needs */
    static const unsigned leaf[LEAVES][2] = {{1, 0}, {7, 0}, {7, 1}};
    unsigned parts = 0;
    for (size_t i = 0; i < LEAVES; i++) {
        unsigned *r = &active[i * REGISTERS];
        if (__get_cpuid_count(leaf[i][0], leaf[i][1], &r[0], &r[1], &r[2], &r[3]) && i == 1)
            parts = r[0];               /* the last part of leaf 7; beyond it, nothing that is said counts */
    }
    for (size_t a = 2 * REGISTERS; !parts && a < LEAVES * REGISTERS; a++)
        active[a] = 0;
    const uint64_t xcr0 = saved(active[2]);
    keep_if((xcr0 & AVX) == AVX, of_avx, sizeof of_avx / sizeof *of_avx);
    keep_if((xcr0 & AVX512) == AVX512, of_avx512, sizeof of_avx512 / sizeof *of_avx512);
    keep_if((xcr0 & AMX) == AMX, of_amx, sizeof of_amx / sizeof *of_amx);
}

bool attn_has_feature(unsigned feature)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask);
    return active[feature / 32] >> feature % 32 & 1;
}
#endif

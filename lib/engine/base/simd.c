#include "base/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define NAME(id, name) #name,
static const char *const names[] = {ATTN_SIMD_SETS(NAME)};
enum { SETS = sizeof names / sizeof *names };

/* What ATTN_SIMD asks for, the widest if it is not set; -1: nothing we know. */
static int asked(void)
{
    const char *ask = getenv("ATTN_SIMD");
    int i = SETS - 1;
    while (ask && *ask && i >= 0 && strcmp(ask, names[i]))
        i--;
    return i;
}

/* libxsmm 1.17 also takes numbers, as of its headers. */
static bool libxsmm_knows(const char *target)
{
    static const char *const targets[] = {
        "cpx", "clx", "skx", "skl", "avx512", "avx3", "knm", "knl", "mic", "hsw", "avx2", "snb", "avx", "wsm", "nhm",
        "sse4",
        "sse4_2", "sse4.2", "sse4_1", "sse4.1", "sse3", "ssse3", "ssse", "sse", "sse2", "x64", "x86", "generic",
        "none"};
    size_t i = 0, n = sizeof targets / sizeof *targets;
    while (i < n && strcmp(target, targets[i]))
        i++;
    return i < n || strspn(target, "0123456789") == strlen(target);
}

int attn_cpu_check(struct attn_err *err)
{
    const char *target = getenv("LIBXSMM_TARGET");
    if (target && !libxsmm_knows(target))
        return attn_fail(err, ATTN_EFORMAT,
                         "LIBXSMM_TARGET in the environment is '%.40s', which libxsmm does not know, expected cpx, "
                         "clx, skx, hsw, snb, wsm, x86 or generic: set one of them, or unset it", target);
    if (asked() >= 0)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT,
                     "ATTN_SIMD in the environment is '%.40s', expected " ATTN_SIMD_EXPECTED ": set one of them, or "
                     "unset it", getenv("ATTN_SIMD"));
}

/* ---- what the processor has ---------------------------------------------------------------- */

#if defined(__x86_64__)

#include <cpuid.h>

#include "base/features.h"
#include "base/os.h"

static enum attn_simd widest(void)
{
    if (!attn_has_feature(x86_cpu_AVX2) || !attn_has_feature(x86_cpu_FMA))      /* all of these have F16C, too */
        return ATTN_SIMD_GENERIC;
    bool avx512 = attn_has_feature(x86_cpu_AVX512F) && attn_has_feature(x86_cpu_AVX512BW) &&
                  attn_has_feature(x86_cpu_AVX512DQ) && attn_has_feature(x86_cpu_AVX512VL);
    return avx512 ? ATTN_SIMD_AVX512 : ATTN_SIMD_AVX2;
}

static bool request_tiles(void)
{
    return attn_has_feature(x86_cpu_AMX_BF16) && attn_has_feature(x86_cpu_AMX_TILE) && attn_os_tiles();
}

static bool is_amd(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
}

/* Any but ATTN_BF16_FLOATS. */
static bool has(enum attn_bf16 method)
{
    if (attn_cpu_simd() < ATTN_SIMD_AVX512 || !attn_has_feature(x86_cpu_AVX512_BF16))
        return false;
    return method == ATTN_BF16_DOTS || request_tiles();
}

#else                                   /* NEON is part of every AArch64; no instruction of its bf16 has x86's bits */

static enum attn_simd widest(void) { return SETS - 1; }
static bool is_amd(void) { return false; }
static bool has(enum attn_bf16 method) { return (void)method, false; }

#endif

enum attn_simd attn_cpu_widest(void) { return widest(); }
bool attn_cpu_can(enum attn_bf16 method) { return method == ATTN_BF16_FLOATS || has(method); }

static atomic_int simd_now;              /* the answer plus 1; 0: not determined yet */

enum attn_simd attn_cpu_simd(void)
{
    int known = atomic_load_explicit(&simd_now, memory_order_relaxed);
    if (!known) {                       /* threads that race here get the same answer */
        int may = asked(), can = (int)attn_cpu_widest();
        known = 1 + (may >= 0 && may < can ? may : can);
        atomic_store_explicit(&simd_now, known, memory_order_relaxed);
    }
    return (enum attn_simd)(known - 1);
}

bool attn_cpu_choose(bool generic)
{
#if defined(__wasm__)                   /* elsewhere kernels have been made, or not, by then */
    atomic_store_explicit(&simd_now, 1 + (int)(generic ? ATTN_SIMD_GENERIC : attn_cpu_widest()), memory_order_relaxed);
#endif
    return generic == (attn_cpu_simd() == ATTN_SIMD_GENERIC);
}

enum attn_bf16 attn_cpu_bf16(void)
{
    static atomic_int chosen;
    int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!known) {
        bool amd = is_amd() && attn_cpu_can(ATTN_BF16_DOTS);
        known = 1 + (int)(attn_cpu_can(ATTN_BF16_TILES) ? ATTN_BF16_TILES : amd ? ATTN_BF16_DOTS : ATTN_BF16_FLOATS);
        atomic_store_explicit(&chosen, known, memory_order_relaxed);
    }
    return (enum attn_bf16)(known - 1);
}

#include "base/cpu.h"

#include "base/cgroup.h"
#include "base/err.h"

#include <cpuid.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)    /* more processors than the set can hold */
        return (int)sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

/* How many processors a quota in microseconds per period amounts to. */
static double share_of(const char *line)
{
    long long most, period;
    return sscanf(line, "%lld %lld", &most, &period) == 2 && most > 0 && period > 0 ? (double)most / (double)period : INFINITY;
}

static double share_v2(const char *dir)
{
    char line[64];
    return attn_cgroup_line(dir, "cpu.max", line, sizeof line) ? share_of(line) : INFINITY;
}

static double share_v1(const char *dir)
{
    char most[32], period[32], both[64];
    if (!attn_cgroup_line(dir, "cpu.cfs_quota_us", most, sizeof most) ||
        !attn_cgroup_line(dir, "cpu.cfs_period_us", period, sizeof period))
        return INFINITY;
    most[strcspn(most, "\n")] = '\0';
    snprintf(both, sizeof both, "%s %s", most, period);
    return share_of(both);
}

double attn_cpu_quota(const char *root)
{
    double v2 = attn_cgroup_least(root, NULL, share_v2);
    return isinf(v2) ? attn_cgroup_least(root, "cpu", share_v1) : v2;
}

int attn_cpu_count(void)
{
    int n = affinity();
    double quota = attn_cpu_quota("");
    if (quota < n)
        n = (int)ceil(quota);
    return n < 1 ? 1 : n;
}

static enum attn_simd widest(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))     /* all of these have F16C, too */
        return ATTN_SIMD_GENERIC;
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? ATTN_SIMD_AVX512 : ATTN_SIMD_AVX2;
}

static const char *const names[] = {[ATTN_SIMD_GENERIC] = "generic", [ATTN_SIMD_AVX2] = "avx2", [ATTN_SIMD_AVX512] = "avx512"};

/* What ATTN_SIMD asks for, the widest if it is not set; -1: nothing we know. */
static int asked(void)
{
    const char *ask = getenv("ATTN_SIMD");
    int i = ATTN_SIMD_AVX512;
    while (ask && *ask && i >= 0 && strcmp(ask, names[i]))
        i--;
    return i;
}

/* libxsmm 1.17 also takes numbers, as of its headers. */
static bool libxsmm_knows(const char *target)
{
    static const char *const targets[] = {
        "cpx", "clx", "skx", "skl", "avx512", "avx3", "knm", "knl", "mic", "hsw", "avx2", "snb", "avx", "wsm", "nhm", "sse4", "sse4_2",
        "sse4.2", "sse4_1", "sse4.1", "sse3", "ssse3", "ssse", "sse", "sse2", "x64", "x86", "generic", "none"};
    size_t i = 0, n = sizeof targets / sizeof *targets;
    while (i < n && strcmp(target, targets[i]))
        i++;
    return i < n || strspn(target, "0123456789") == strlen(target);
}

int attn_cpu_check(struct attn_err *err)
{
    const char *target = getenv("LIBXSMM_TARGET");
    if (target && !libxsmm_knows(target))
        return attn_fail(err, ATTN_EUSAGE, "LIBXSMM_TARGET in the environment is '%.40s', which libxsmm does not know, expected cpx, clx, "
                         "skx, hsw, snb, wsm, x86 or generic: set one of them, or unset it", target);
    if (asked() >= 0)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "ATTN_SIMD in the environment is '%.40s', expected avx512, avx2 or generic: set one of them, or "
                     "unset it", getenv("ATTN_SIMD"));
}

enum attn_simd attn_cpu_simd(void)
{
    static atomic_int chosen;           /* the answer plus 1; 0: not determined yet */
    int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!known) {                       /* threads that race here get the same answer */
        int may = asked(), can = (int)widest();
        known = 1 + (may >= 0 && may < can ? may : can);
        atomic_store_explicit(&chosen, known, memory_order_relaxed);
    }
    return (enum attn_simd)(known - 1);
}

/* Requests AMX for this process; false if there is none.  Asking again is harmless. */
static bool tiles(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILES = 18 };   /* arch_prctl: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    const unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & amx_bf16) || !(d & amx_tile))
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILES) == 0;
}

bool attn_cpu_can(enum attn_bf16 how)
{
    if (how == ATTN_BF16_FLOATS)
        return true;
    if (attn_cpu_simd() < ATTN_SIMD_AVX512 || !__builtin_cpu_supports("avx512bf16"))
        return false;
    return how == ATTN_BF16_DOTS || tiles();
}

enum attn_bf16 attn_cpu_bf16(void)
{
    static atomic_int chosen;
    int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!known) {
        bool amd = __builtin_cpu_is("amd") && attn_cpu_can(ATTN_BF16_DOTS);
        known = 1 + (int)(attn_cpu_can(ATTN_BF16_TILES) ? ATTN_BF16_TILES : amd ? ATTN_BF16_DOTS : ATTN_BF16_FLOATS);
        atomic_store_explicit(&chosen, known, memory_order_relaxed);
    }
    return (enum attn_bf16)(known - 1);
}

/* microkernel.c - the one file that knows libxsmm. */
#include "compute/microkernel.h"

#include "base/os.h"
#include "base/simd.h"
#include "base/size.h"

#include <libxsmm.h>
#include <libxsmm_generator.h>
#include <libxsmm/libxsmm_main.h>      /* members of a descriptor */
#include <errno.h>
#include <immintrin.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MOST = 4096, SLOTS = 2 * MOST,      /* kernels of a process; slots of the table, so that half of them stay empty */
    CHUNK = 256 << 10,                  /* bytes mapped at a time: over a hundred kernels */
    LINE = 64,
    NARROW = 32                         /* kernels of fewer columns keep the summation order on AVX2 alone */
};

struct kernel { struct attn_shape shape; attn_microkernel *code; };

/* What threads read without a lock: numbers of kernels, from 1 on, which never change once they are there. */
static _Atomic(uint16_t) table[SLOTS];
static atomic_bool off;                 /* none is to be used, for tests */
static _Atomic(const char *) refused;   /* why there are no (more) kernels */
/* What only the holder of the lock changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel made[MOST];        /* read by others up to the number they found */
static size_t kernels;
static struct { char *write, *run; size_t used, bytes /* of all chunks */; } chunk;

/* ---- which instructions ------------------------------------------------------------------- */

/* What LIBXSMM_TARGET stands for; simd.c has refused names that libxsmm does not know. */
static int asked(void)
{
    static const struct { const char *name; int arch; } known[] = {
        {"cpx", LIBXSMM_X86_AVX512_CPX}, {"clx", LIBXSMM_X86_AVX512_CLX}, {"skx", LIBXSMM_X86_AVX512_CORE},
        {"skl", LIBXSMM_X86_AVX512_CORE}, {"avx512", LIBXSMM_X86_AVX512_CORE}, {"avx3", LIBXSMM_X86_AVX512_CORE},
        {"knm", LIBXSMM_X86_AVX512_KNM}, {"knl", LIBXSMM_X86_AVX512_MIC}, {"mic", LIBXSMM_X86_AVX512_MIC},
        {"hsw", LIBXSMM_X86_AVX2}, {"avx2", LIBXSMM_X86_AVX2}};
    const char *target = getenv("LIBXSMM_TARGET");
    if (!target || !*target)
        return INT_MAX;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(target, known[i].name))
            return known[i].arch;
    const unsigned long number = strtoul(target, NULL, 10);
    /* libxsmm counts from here, too; other names are older than AVX2 */
    return LIBXSMM_X86_SSE3 - 1 + (int)smaller(number, 1000);
}

/* libxsmm_cpuid would read /proc/cpuinfo.  Kernels for the many small cores of 2016 do not keep the summation order, so
 * these get those for AVX2.  0: none. */
static int find_target(void)
{
    static const int widest[] = {0, LIBXSMM_X86_AVX2, LIBXSMM_X86_AVX512_CORE};
    int can = attn_cpu_can(ATTN_BF16_DOTS) ? LIBXSMM_X86_AVX512_CPX : widest[attn_cpu_widest()], arch = asked();
    arch = arch < can ? arch : can;
    if (attn_cpu_simd() == ATTN_SIMD_GENERIC || arch < LIBXSMM_X86_AVX2)
        return 0;
    return arch < LIBXSMM_X86_AVX512_CORE ? LIBXSMM_X86_AVX2 : arch;
}

static int target(void)
{
    static atomic_int found;            /* the answer plus 1; threads that race here get the same one */
    int known = atomic_load_explicit(&found, memory_order_relaxed);
    if (!known)
        atomic_store_explicit(&found, known = 1 + find_target(), memory_order_relaxed);
    return known - 1;
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The child has the parent's kernels but not what they are written through: the parent goes on there. */
static void forget_chunk(void)
{
    if (chunk.write)
        munmap(chunk.write, CHUNK);
    chunk.write = NULL;
    pthread_mutex_unlock(&lock);
}
static void hold(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }
/* Before any thread can hold the lock while another one forks. */
static __attribute__((constructor)) void watch_forks(void) { pthread_atfork(hold, release, forget_chunk); }

static int open_memory(void)
{
    struct rlimit most;
    if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur < CHUNK) {     /* to grow it would raise a signal */
        errno = EFBIG;
        return -1;
    }
    return attn_os_memory_file("kernels");
}

static void *mapped(int fd, int protection)
{
    void *p = mmap(NULL, CHUNK, protection, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps another chunk; the one before stays, as its kernels do.  False: refused, and errno says why. */
static bool map_chunk(void)
{
    int fd = open_memory();
    const bool grown = fd >= 0 && !ftruncate(fd, CHUNK);
    char *run = grown ? mapped(fd, PROT_READ | PROT_EXEC) : NULL, *to = run ? mapped(fd, PROT_READ | PROT_WRITE) : NULL;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (run && !to)
        munmap(run, CHUNK);
    errno = error;
    if (!to)
        return false;
    if (chunk.write)
        munmap(chunk.write, CHUNK);     /* nothing more is written there */
    chunk.write = to;
    chunk.run = run;
    chunk.used = 0;
    chunk.bytes += CHUNK;
    return true;
}

/* ---- kernels ------------------------------------------------------------------------------ */

/* libxsmm is column-major: our row-major y = x w is its y' = w' x', whose m are columns of w.  In bf16 it counts
 * numbers, we count words of two.  NULL: libxsmm has no such kernel. */
static const libxsmm_gemm_descriptor *describe(libxsmm_descriptor_blob *blob, const struct attn_shape *s)
{
    const bool bf16 = s->flags & ATTN_KERNEL_BF16;
    const int each = bf16 ? 2 : 1;
    const float one = 1, beta = s->flags & ATTN_KERNEL_ADDS ? 1 : 0;
    libxsmm_gemm_descriptor *d = libxsmm_gemm_descriptor_init2(
        blob, bf16 ? LIBXSMM_GEMM_PRECISION_BF16 : LIBXSMM_GEMM_PRECISION_F32, LIBXSMM_GEMM_PRECISION_F32, s->cols,
        (int)s->rows, (int)s->steps * each, (int)s->ldw, (int)s->ldx * each, (int)s->ldy, &one, &beta,
        LIBXSMM_GEMM_FLAG_BATCH_REDUCE_STRIDE | (bf16 ? LIBXSMM_GEMM_FLAG_VNNI_A : 0), LIBXSMM_GEMM_PREFETCH_NONE);
    if (d) {                            /* bytes from one batch of steps to the next */
        d->c1 = (unsigned long long)s->steps * s->ldw * sizeof(float);
        d->c2 = s->steps * sizeof(float);
    }
    return d;
}

static bool generate(const struct attn_shape *s)
{
    libxsmm_descriptor_blob blob;
    const libxsmm_gemm_descriptor *d = describe(&blob, s);
    libxsmm_generated_code code = {.generated_code = chunk.write + chunk.used,
                                   .buffer_size = (unsigned)(CHUNK - chunk.used), .code_type = 2 /* machine code */,
                                   .arch = s->cols < NARROW ? LIBXSMM_X86_AVX2 : (unsigned)target()};
    if (!d)
        return false;
    libxsmm_generator_gemm_kernel(&code, d);
    if (code.last_error)
        return false;
    chunk.used += up(code.code_size, LINE);
    return true;
}

static const char *why_refused(int error)
{
    switch (error) {
    case EFBIG:  return "the size of files is limited (ulimit -f)";
    case ENOMEM: return "there is no memory for them";
    case EMFILE:
    case ENFILE: return "too many files are open";
    default:     return "the system refuses executable memory";
    }
}

/* Room for one more; the caller holds the lock.  A refusal is remembered, as every product would wait for another. */
static bool make_room(void)
{
    enum { LARGEST = 32 << 10 };        /* bytes: the largest kernels, of 23 rows, have 14 KB, most have 1 to 2 */
    if ((chunk.write && CHUNK - chunk.used >= LARGEST) || map_chunk())
        return true;
    atomic_store(&refused, why_refused(errno));
    return false;
}

/* NULL: libxsmm cannot make it. */
static attn_microkernel *make(const struct attn_shape *s)
{
    attn_microkernel *code = NULL;
    char *at = chunk.run + chunk.used;
    if (generate(s))
        memcpy(&code, &at, sizeof code);    /* ISO C has no cast from data to functions */
    return code;
}

static bool same(const struct attn_shape *a, const struct attn_shape *b)
{
    return a->rows == b->rows && a->steps == b->steps && a->ldx == b->ldx && a->ldw == b->ldw && a->ldy == b->ldy &&
           a->cols == b->cols && a->flags == b->flags;
}

/* The slot where the search for a shape begins. */
static size_t slot_of(const struct attn_shape *s)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    uint64_t h = ((uint64_t)s->rows << 40 ^ (uint64_t)s->steps << 20 ^ s->ldy) * odd;
    h = (h ^ h >> 29 ^ (uint64_t)s->ldx << 32 ^ s->ldw ^ (uint64_t)s->cols << 50 ^ (uint64_t)s->flags << 60) * odd;
    return h >> 40 & (SLOTS - 1);
}

/* Its entry; NULL: there is none yet, and *slot is where its number belongs. */
static const struct kernel *find(const struct attn_shape *s, _Atomic(uint16_t) **slot)
{
    for (size_t i = slot_of(s);; i = (i + 1) & (SLOTS - 1)) {
        const uint16_t n = atomic_load_explicit(*slot = &table[i], memory_order_acquire);
        if (!n)
            return NULL;
        if (same(&made[n - 1].shape, s))
            return &made[n - 1];
    }
}

static attn_microkernel *make_once(const struct attn_shape *s)
{
    _Atomic(uint16_t) *slot;
    pthread_mutex_lock(&lock);
    const struct kernel *k = find(s, &slot);            /* another thread may have been faster */
    if (!k && !atomic_load(&refused) && make_room()) {
        made[kernels] = (struct kernel){*s, make(s)};
        k = &made[kernels++];
        atomic_store_explicit(slot, (uint16_t)kernels, memory_order_release);
        if (kernels == MOST)
            atomic_store(&refused, "there are as many kernels as a process may have");
    }
    pthread_mutex_unlock(&lock);
    return k ? k->code : NULL;
}

attn_microkernel *attn_microkernel_of(const struct attn_shape *s)
{
    _Atomic(uint16_t) *slot;
    if (atomic_load_explicit(&off, memory_order_relaxed))
        return NULL;
    const struct kernel *k = find(s, &slot);
    if (k)
        return k->code;
    if (!target() || (s->flags & ATTN_KERNEL_BF16 && target() < LIBXSMM_X86_AVX512_CPX) || atomic_load(&refused))
        return NULL;
    return make_once(s);
}

/* They leave the upper halves of registers in use, which makes older instructions slow. */
__attribute__((target("avx"))) void attn_microkernel_leave(void) { _mm256_zeroupper(); }

/* ---- what others ask ---------------------------------------------------------------------- */

const char *attn_microkernel_target(const char **why)
{
    static const struct attn_shape any = {.rows = 1, .steps = 1, .ldx = 1, .ldw = 64, .ldy = 64, .cols = 64};
    *why = attn_cpu_simd() == ATTN_SIMD_GENERIC ? "these have no fused multiply-add" :
        "LIBXSMM_TARGET asks for instructions older than AVX2";
    if (!target())
        return NULL;
    bool have = attn_microkernel_of(&any) || attn_microkernel_counted().kernels > 0;
    *why = atomic_load(&refused);
    return !have ? NULL : target() >= LIBXSMM_X86_AVX512_CORE ? "avx512" : "avx2";
}

const char *attn_microkernel_library(void) { return "libxsmm " LIBXSMM_VERSION; }

struct attn_microkernel_count attn_microkernel_counted(void)
{
    pthread_mutex_lock(&lock);
    struct attn_microkernel_count c = {kernels, chunk.bytes};
    pthread_mutex_unlock(&lock);
    return c;
}

bool attn_microkernel_choose(bool use)
{
    const char *why;
    atomic_store(&off, false);
    bool have = attn_microkernel_target(&why) != NULL;
    atomic_store(&off, !use);
    return have || !use;
}

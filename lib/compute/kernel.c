/* kernel.c - the micro-kernel of products in float32, libxsmm's or our own: libxsmm stays behind this file. */
#include "compute/gemm.h"
#include "attn_tools.h"

#include <libxsmm.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { CALL = 48 };                     /* rows of x for one call of libxsmm */
static const double WORTH_LIBXSMM = 2e10;   /* operations that take so long that the start of libxsmm pays */

static _Atomic(int) forced = ATTN_KERNEL_AUTO;
static atomic_bool started;             /* libxsmm runs, and its kernels follow the chain rule */
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Multiply-adds of products with weights, computed in float32; apart from what all threads read for each of them. */
static _Alignas(64) _Atomic(uint64_t) all;
static _Atomic(uint64_t) by_libxsmm;

/* libxsmm crashes when its buffers cannot be mapped, so see first whether they can. */
static bool room_for_libxsmm(void)
{
    size_t need = (size_t)16 << 20;
    void *p = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    munmap(p, need);
    return true;
}

static void start_libxsmm(void)
{
    if (!attn_vec_fused() || !room_for_libxsmm())
        return;
    libxsmm_init();
    atomic_store(&started, libxsmm_get_target_archid() >= LIBXSMM_X86_AVX2);
}

void attn_kernel_prepare(double flops)
{
    if (flops >= WORTH_LIBXSMM)
        pthread_once(&once, start_libxsmm);
}

bool attn_kernel_choose(enum attn_kernel k)
{
    if (k == ATTN_KERNEL_LIBXSMM)
        pthread_once(&once, start_libxsmm);
    if (k == ATTN_KERNEL_LIBXSMM && !atomic_load(&started))
        return false;
    atomic_store(&forced, (int)k);
    return true;
}

/* libxsmm is column-major: our row-major y = x w is its y' = w' x', with m = 64 columns of w. */
static libxsmm_smmfunction kernel(size_t n, size_t K, size_t ldw, size_t ldx, size_t ldy, bool more)
{
    if (!atomic_load_explicit(&started, memory_order_acquire) || ldw > INT_MAX || ldx > INT_MAX || ldy > INT_MAX)
        return NULL;
    libxsmm_blasint lw = (libxsmm_blasint)ldw, lx = (libxsmm_blasint)ldx, ly = (libxsmm_blasint)ldy;
    float one = 1, beta = more ? 1 : 0;
    return libxsmm_smmdispatch(ATTN_PANEL, (libxsmm_blasint)n, (libxsmm_blasint)K, &lw, &lx, &ly, &one, &beta, NULL, NULL);
}

/* Rows of one call of libxsmm, and of all its calls, of n rows, `from` (at most CALL) of which are done.  libxsmm prefetches
 * nothing, so some rows are left to our own kernel, which does: with a quarter of as many, passes of 128 rows take 5 % longer. */
struct share { size_t call, rows; };

static struct share share_of_libxsmm(size_t from, size_t n)
{
    int force = atomic_load_explicit(&forced, memory_order_relaxed);
    if (force == ATTN_KERNEL_LIBXSMM)
        return (struct share){n - from, n - from};
    bool some = force == ATTN_KERNEL_AUTO && n >= 2 * (size_t)CALL;
    return (struct share){CALL, some ? (n - CALL) / CALL * CALL : 0};
}

bool attn_kernel_shares(size_t n)
{
    return share_of_libxsmm(0, n).rows > 0;
}

size_t attn_kernel_rows(size_t n, double flops)
{
    return flops >= WORTH_LIBXSMM && attn_vec_fused() ? share_of_libxsmm(0, n).rows : 0;
}

void attn_kernel_counts(uint64_t multiply_adds)
{
    atomic_fetch_add_explicit(&all, multiply_adds, memory_order_relaxed);
}

void attn_products_count(void)
{
    atomic_store(&all, 0);
    atomic_store(&by_libxsmm, 0);
}

double attn_products_by_libxsmm(void)
{
    uint64_t n = atomic_load(&all);
    return n > 0 ? fmin(1, (double)atomic_load(&by_libxsmm) / (double)n) : NAN;   /* panels that are not full count whole */
}

void attn_kernel_multiply(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                          size_t from, size_t n, size_t K, bool more, struct attn_ahead *ahead)
{
    struct share s = share_of_libxsmm(from, n);
    libxsmm_smmfunction f = s.rows ? kernel(s.call, K, ldw, ldx, ldy, more) : NULL;
    size_t i = from;
    for (; f && i < from + s.rows; i += s.call)
        f(w, x + i * ldx, y + i * ldy);
    if (i > from)
        atomic_fetch_add_explicit(&by_libxsmm, (i - from) * K * ATTN_PANEL, memory_order_relaxed);
    if (i < n)
        attn_vec_panel(y + i * ldy, ldy, x + i * ldx, ldx, w, ldw, n - i, K, more, ahead);
}

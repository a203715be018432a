#include "compute/gemm.h"

#include "compute/vec.h"

#include <libxsmm.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PANEL = ATTN_PANEL,
    DEPTH = 512,                        /* rows of k in a copied panel: 128 KB, in the second-level cache */
    ROWS = 64,                          /* of x per kernel call */
    IN_PLACE = 4                        /* up to so many rows the copy of a panel costs more than it saves */
};
static const double WORTH_LIBXSMM = 2e8;    /* operations our own loop does in the milliseconds libxsmm takes to start */

/* ---- which kernel ---- */

static _Atomic(int) forced = ATTN_KERNEL_AUTO;
static atomic_bool started;             /* libxsmm runs, and its kernels keep the chain */
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

void attn_gemm_prepare(double flops)
{
    if (flops >= WORTH_LIBXSMM)
        pthread_once(&once, start_libxsmm);
}

bool attn_gemm_choose(enum attn_gemm_kernel k)
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
    if (!atomic_load_explicit(&started, memory_order_relaxed) ||
        atomic_load_explicit(&forced, memory_order_relaxed) == ATTN_KERNEL_OWN)
        return NULL;
    if (ldw > INT_MAX || ldx > INT_MAX || ldy > INT_MAX)
        return NULL;
    libxsmm_blasint lw = (libxsmm_blasint)ldw, lx = (libxsmm_blasint)ldx, ly = (libxsmm_blasint)ldy;
    float one = 1, beta = more ? 1 : 0;
    return libxsmm_smmdispatch(PANEL, (libxsmm_blasint)n, (libxsmm_blasint)K, &lw, &lx, &ly, &one, &beta, NULL, NULL);
}

/* y[n, 64] (+)= x[n, K] w[K, 64], n <= ROWS, K <= DEPTH */
static void multiply(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                     size_t n, size_t K, bool more)
{
    libxsmm_smmfunction f = kernel(n, K, ldw, ldx, ldy, more);
    if (f)
        f(w, x, y);
    else
        attn_vec_panel(y, ldy, x, ldx, w, ldw, n, K, more);
}

/* ---- panels ---- */

/* Rows k0.. of columns j0.. of w, as [K, 64] floats with zeros beyond the last column. */
static void copy_rows(float *panel, const struct attn_mat *w, size_t k0, size_t K, size_t j0, size_t cols)
{
    for (size_t k = 0; k < K; k++) {
        attn_vec_widen(panel + k * PANEL, w->data, w->type, (k0 + k) * w->ld + j0, cols);
        memset(panel + k * PANEL + cols, 0, (PANEL - cols) * sizeof *panel);
    }
}

enum { STRIP = 128 };                   /* of a row that is not float32 */

/* Where numbers k.. of output j lie; those that are not float32 are widened into `wide`. */
static const float *row_of(const struct attn_mat *w, size_t j, size_t k, size_t n, float *wide)
{
    size_t at = attn_mat_place(w, j) * w->ld + k;
    if (w->type == ATTN_F32)
        return (const float *)w->data + at;
    attn_vec_widen(wide, w->data, w->type, at, n);
    return wide;
}

/* The same of a weight stored [out, in]. */
static void copy_turned(float *panel, const struct attn_mat *w, size_t k0, size_t K, size_t j0, size_t cols)
{
    static const float none[STRIP];
    float wide[ATTN_TURN][STRIP];
    const float *row[ATTN_TURN];
    for (size_t j = 0; j < PANEL; j += ATTN_TURN)
        for (size_t k = 0; k < K; k += STRIP) {
            size_t n = K - k < STRIP ? K - k : STRIP;
            for (size_t l = 0; l < ATTN_TURN; l++)
                row[l] = j + l < cols ? row_of(w, j0 + j + l, k0 + k, n, wide[l]) : none;
            attn_vec_turn(panel + k * PANEL + j, PANEL, row, n);
        }
}

static void copy_panel(float *panel, const struct attn_mat *w, size_t k0, size_t K, size_t j0, size_t cols)
{
    if (w->by_output)
        copy_turned(panel, w, k0, K, j0, cols);
    else
        copy_rows(panel, w, k0, K, j0, cols);
}

/* ---- a product ---- */

struct product {
    float *y; size_t ldy;
    const float *x; size_t ldx;
    size_t n, rows;                     /* all rows; rows of one item */
    size_t panels;
    const struct attn_mat *w;
};

static void copy_block(float *to, size_t ldto, const float *from, size_t ldfrom, size_t n, size_t cols)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * ldto, from + i * ldfrom, cols * sizeof *to);
}

/* Columns j0..j0+cols of rows i0..i1, K steps of the chain from k0 on; w[K, 64] has the weights. */
static void advance(const struct product *p, size_t i0, size_t i1, size_t j0, size_t cols,
                    const float *w, size_t ldw, size_t k0, size_t K)
{
    for (size_t i = i0; i < i1; i += ROWS) {
        size_t n = i1 - i < ROWS ? i1 - i : ROWS;
        float *y = p->y + i * p->ldy + j0;
        const float *x = p->x + i * p->ldx + k0;
        if (cols == PANEL) {
            multiply(y, p->ldy, x, p->ldx, w, ldw, n, K, k0 > 0);
        } else {
            float edge[ROWS * PANEL] = {0};
            if (k0 > 0)
                copy_block(edge, PANEL, y, p->ldy, n, cols);
            multiply(edge, PANEL, x, p->ldx, w, ldw, n, K, k0 > 0);
            copy_block(y, p->ldy, edge, PANEL, n, cols);
        }
    }
}

static void add_bias(const struct product *p, size_t i0, size_t i1, size_t j0, size_t cols)
{
    float bias[PANEL];
    for (size_t j = 0, n; j < cols; j += n) {           /* what lies side by side in one go */
        size_t group = p->w->group ? p->w->group : p->w->out, left = group - (j0 + j) % group;
        n = left < cols - j ? left : cols - j;
        attn_vec_widen(bias + j, p->w->bias.data, p->w->bias.type, attn_mat_place(p->w, j0 + j), n);
    }
    for (size_t i = i0; i < i1; i++)
        attn_vec_add(p->y + i * p->ldy + j0, bias, cols);
}

static void one_panel(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct product *p = ctx;
    const struct attn_mat *w = p->w;
    size_t j0 = item % p->panels * PANEL, i0 = item / p->panels * p->rows;
    size_t cols = w->out - j0 < PANEL ? w->out - j0 : PANEL;
    size_t i1 = p->n - i0 < p->rows ? p->n : i0 + p->rows;
    bool in_place = w->type == ATTN_F32 && !w->by_output && cols == PANEL && p->n <= IN_PLACE;
    float panel[DEPTH * PANEL];
    for (size_t k0 = 0; k0 < w->in; k0 += DEPTH) {
        size_t K = w->in - k0 < DEPTH ? w->in - k0 : DEPTH;
        if (in_place) {
            advance(p, i0, i1, j0, cols, (const float *)w->data + k0 * w->ld + j0, w->ld, k0, K);
        } else {
            copy_panel(panel, w, k0, K, j0, cols);
            advance(p, i0, i1, j0, cols, panel, PANEL, k0, K);
        }
    }
    if (w->bias.data)
        add_bias(p, i0, i1, j0, cols);
}

void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w)
{
    if (n == 0 || w->out == 0)
        return;
    struct product p = {.y = y, .ldy = ldy, .x = x, .ldx = ldx, .n = n, .rows = n, .w = w};
    p.panels = (w->out + PANEL - 1) / PANEL;
    size_t workers = (size_t)attn_team_size(t);
    const size_t some = 2 * (size_t)ROWS;
    if (p.panels < 4 * workers && n > some)             /* too few panels to share out evenly */
        p.rows = some;
    size_t items = p.panels * ((n + p.rows - 1) / p.rows);
    attn_team_run(t, items, 2.0 * (double)n * (double)w->in * (double)w->out, one_panel, &p);
}

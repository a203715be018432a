#include "compute/gemm.h"

#include "compute/pairs.h"
#include "compute/slab.h"
#include "compute/stream.h"
#include "compute/vec.h"

#include <libxsmm.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PANEL = ATTN_PANEL,
    PANELS = 16,                        /* of an item at most */
    SUMS = 512 * 2 * PANEL,             /* the same: 256 KB, in the second-level cache */
    LINE = 64,
    CALL = 48,                          /* rows of x for one call of libxsmm */
    AS_FETCHED = 16,                    /* rows multiplied in the time that weights come from memory */
    FEW_FOR_PAIRS = 96                  /* rows whose products take less time than making pairs of a slab */
};
static const double WORTH_LIBXSMM = 2e10;   /* operations beside which the milliseconds libxsmm takes to start are few */

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
    if (!atomic_load_explicit(&started, memory_order_relaxed) || ldw > INT_MAX || ldx > INT_MAX || ldy > INT_MAX)
        return NULL;
    libxsmm_blasint lw = (libxsmm_blasint)ldw, lx = (libxsmm_blasint)ldx, ly = (libxsmm_blasint)ldy;
    float one = 1, beta = more ? 1 : 0;
    return libxsmm_smmdispatch(PANEL, (libxsmm_blasint)n, (libxsmm_blasint)K, &lw, &lx, &ly, &one, &beta, NULL, NULL);
}

/* Rows of one call of libxsmm, and of all its calls.  It fetches nothing ahead, which the rows it leaves do for it. */
struct share { size_t call, rows; };

static struct share share_of_libxsmm(size_t n)
{
    int force = atomic_load_explicit(&forced, memory_order_relaxed);
    if (force == ATTN_KERNEL_LIBXSMM)
        return (struct share){n, n};
    bool some = force == ATTN_KERNEL_AUTO && n >= 2 * (size_t)CALL;
    return (struct share){CALL, some ? (n - CALL) / CALL * CALL : 0};
}

/* y[n, 64] (+)= x[n, K] w[K, 64], while `ahead` comes nearer */
static void multiply(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                     size_t n, size_t K, bool more, struct attn_ahead *ahead)
{
    struct share s = share_of_libxsmm(n);
    libxsmm_smmfunction f = s.rows ? kernel(s.call, K, ldw, ldx, ldy, more) : NULL;
    size_t i = 0;
    for (; f && i < s.rows; i += s.call)
        f(w, x + i * ldx, y + i * ldy);
    if (i < n)
        attn_vec_panel(y + i * ldy, ldy, x + i * ldx, ldx, w, ldw, n - i, K, more, ahead);
}

/* ---- a product ---- */

/* How large a piece may be: rows in whole tiles and panels of an item, steps of k of a slab; and how many items a worker
 * should find.  Few rows are multiplied about as fast as memory comes, which likes panels side by side; their slabs are
 * shallower so that those of a strip stay near.  Pairs are multiplied faster than they are made, and than sums are read and
 * written: slabs serve more rows, and are deeper.  What is streamed is read in stretches as long as there can be. */
struct cut { size_t rows, tile, strip, depth, items, fine; };
static const struct cut floats = {192, 6, 4, ATTN_SLAB, 2, 4}, few = {48, 6, PANELS, ATTN_SLAB / 2, 2, 1},
                        pairs = {512, ATTN_PAIRS_ROWS, 2, ATTN_SLAB_PAIRS, 3, 1}, streamed = {ATTN_STREAM, 1, PANELS, ATTN_SLAB, 1, 1};

/* One weight: its panels, those of an item, the number of its first strip. */
struct output { float *y; size_t ldy; const struct attn_mat *w; size_t panels, strip, first; };

struct product {
    struct output *out; size_t outs;
    const float *x; size_t ldx;         /* of pairs: words */
    const struct cut *cut;
    size_t n, in, rows;                 /* all rows; steps of k; rows of one item */
    size_t strips, items, workers;      /* strips of all outputs side by side */
    size_t whole;                       /* items that are strips; those after them are parts of one */
    enum attn_tail tail;
    bool bf16;
};

/* Rows i0..i1 of panels j0..j1 and their sums so far, [i1 - i0, ld]: side by side, because y's rows
 * may lie so far apart that they fight for the same places in a cache. */
struct item { size_t n; const struct output *to; size_t i0, i1, j0, j1; float *sum; size_t ld; };

static size_t up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static struct item item_of(const struct product *p, size_t n)
{
    size_t fine = n < p->whole ? 1 : p->cut->fine, past = n < p->whole ? 0 : n - p->whole, part = past % fine;
    size_t nth = n - past + past / fine, strip = nth % p->strips, i0 = nth / p->strips * p->rows;
    const struct output *to = &p->out[p->outs - 1];
    while (strip < to->first)
        to--;
    size_t j0 = (strip - to->first) * to->strip, panels = least(to->strip, to->panels - j0);
    return (struct item){.n = n, .to = to, .i0 = i0, .i1 = least(i0 + p->rows, p->n), .j0 = j0 + panels * part / fine,
                         .j1 = j0 + panels * (part + 1) / fine, .ld = p->cut->strip * PANEL};
}

/* ---- sums ---- */

/* The item's sums of one panel go on by the steps of slab s. */
static void add_floats(const struct product *p, const struct item *it, const struct attn_slab *s, struct attn_ahead *ahead)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    const struct attn_mat *w = it->to->w;
    const float *x = p->x + it->i0 * p->ldx + s->k;
    float *y = it->sum + s->j - it->j0 * PANEL;
    size_t n = it->i1 - it->i0, i = 0;
    struct attn_floats at = {copy, PANEL};
    if (n > ATTN_SLAB_FEW && attn_slab_whole(w, s, p->bf16))        /* the first rows leave a copy to the others */
        i = attn_vec_panel_copy(y, it->ld, x, p->ldx, copy, w->data, w->type, s->k * w->ld + s->j, w->ld, n, s->K, s->k > 0);
    else
        at = attn_slab_floats(copy, w, s, n, p->bf16);
    multiply(y + i * it->ld, it->ld, x + i * p->ldx, p->ldx, at.at, at.ld, n - i, s->K, s->k > 0, ahead);
}

static void add_pairs(const struct product *p, const struct item *it, const struct attn_slab *s, struct attn_ahead *ahead)
{
    _Alignas(LINE) float words[ATTN_SLAB_PAIRS / 2 * PANEL];
    struct attn_ahead none = {0};
    size_t n = it->i1 - it->i0;
    attn_slab_words(words, it->to->w, s, n <= FEW_FOR_PAIRS ? ahead : &none);
    attn_pairs_panel(it->sum + s->j - it->j0 * PANEL, it->ld, p->x + it->i0 * p->ldx + s->k / 2, p->ldx, words, n,
                     attn_pairs_words(s->K), s->k > 0, ahead);
}

static size_t columns(const struct item *it)
{
    return least(it->j1 * PANEL, it->to->w->out) - it->j0 * PANEL;
}

/* ---- what is fetched meanwhile: part `part` of so many of what is needed for steps k.. ---- */

/* The next steps of the item's rows of x or, at the end, its rows of y. */
static struct attn_ahead rows_ahead(const struct product *p, const struct item *it, size_t k, size_t part, size_t parts)
{
    const size_t size = sizeof *p->x, in_word = p->cut == &pairs ? 2 : 1;
    size_t rows = it->i1 - it->i0, row = it->i0 + rows * part / parts, n = it->i0 + rows * (part + 1) / parts - row;
    if (k < p->in) {
        size_t words = least(p->in - k, p->cut->depth) / in_word;
        return attn_vec_ahead(p->x + row * p->ldx + k / in_word, n, words * size, p->ldx * size);
    }
    return attn_vec_ahead(it->to->y + row * it->to->ldy + it->j0 * PANEL, n, columns(it) * size, it->to->ldy * size);
}

/* The next steps of the item's panels of w or, at the end, the first ones of the item that this thread will probably take. */
static struct attn_ahead weights_ahead(const struct product *p, const struct item *it, size_t k, size_t part, size_t parts)
{
    struct item next = *it;
    if (k >= p->in) {
        if (it->n + p->workers >= p->items)
            return (struct attn_ahead){0};
        next = item_of(p, it->n + p->workers);
        k = 0;
    }
    struct attn_slab all = {next.j0 * PANEL, columns(&next), k, least(p->in - k, p->cut->depth)};
    return attn_slab_memory(next.to->w, &all, part, parts);
}

/* All panels before the next steps, so that these steps of x stay near.  What comes next is fetched meanwhile. */
static void sum_up(const struct product *p, const struct item *it)
{
    size_t panels = it->j1 - it->j0;
    if (p->in == 0)
        memset(it->sum, 0, (it->i1 - it->i0) * it->ld * sizeof *it->sum);
    for (size_t k = 0; k < p->in; k += p->cut->depth)
        for (size_t j = 0; j < panels; j++) {
            struct attn_slab s = attn_slab_of(it->to->w, it->j0 + j, k, p->cut->depth);
            struct attn_ahead rows = rows_ahead(p, it, k + s.K, j, panels), ahead = weights_ahead(p, it, k + s.K, j, panels);
            ahead.then = &rows;
            p->cut == &pairs ? add_pairs(p, it, &s, &ahead) : add_floats(p, it, &s, &ahead);
        }
}

/* The same of few rows, but for columns that fill no panel. */
static void stream(const struct product *p, const struct item *it)
{
    struct item rest = *it;
    size_t panels = attn_stream_sum(it->sum, it->ld, p->x, p->ldx, p->n, it->to->w, it->j0, it->j1);
    rest.j0 += panels;
    rest.sum += panels * PANEL;
    if (rest.j0 < rest.j1)
        sum_up(p, &rest);
}

/* ---- what becomes of them ---- */

/* Biases of columns j0.. */
static void widen_bias(float *bias, const struct attn_mat *w, size_t j0, size_t cols)
{
    for (size_t j = 0, n; j < cols; j += n) {           /* what lies side by side in one go */
        size_t group = w->group ? w->group : w->out, left = group - (j0 + j) % group;
        n = least(left, cols - j);
        attn_vec_widen(bias + j, w->bias.data, w->bias.type, attn_mat_place(w, j0 + j), n);
    }
}

static void finish_row(float *y, const float *s, size_t n, enum attn_tail tail)
{
    switch (tail) {
    case ATTN_STORE: memcpy(y, s, n * sizeof *y); break;
    case ATTN_ADD: attn_vec_add(y, s, n); break;
    case ATTN_THEN_GELU: attn_vec_gelu(y, s, n); break;
    case ATTN_THEN_GELU_NEW: attn_vec_gelu_new(y, s, n); break;
    case ATTN_THEN_SILU: attn_vec_silu_mul(y, y, s, n); break;
    }
}

static void hand_out(const struct product *p, const struct item *it)
{
    float bias[PANELS * PANEL];
    const struct output *to = it->to;
    size_t j = it->j0 * PANEL, cols = columns(it);
    if (to->w->bias.data)
        widen_bias(bias, to->w, j, cols);
    for (size_t i = it->i0; i < it->i1; i++) {
        float *sum = it->sum + (i - it->i0) * it->ld;
        if (to->w->bias.data)
            attn_vec_add(sum, bias, cols);
        finish_row(to->y + i * to->ldy + j, sum, cols, p->tail);
    }
}

static void one_item(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct product *p = ctx;
    _Alignas(LINE) float sum[SUMS];
    struct item it = item_of(p, item);
    if (it.j0 == it.j1)
        return;
    it.sum = sum;
    if (p->cut == &streamed)
        stream(p, &it);
    else
        sum_up(p, &it);
    hand_out(p, &it);
}

/* Rows of x made ready for products in bf16. */
struct rounding { float *to; size_t ld; const float *x; size_t ldx, n; void (*row)(float *y, const float *x, size_t n); };

static void round_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct rounding *r = ctx;
    r->row(r->to + i * r->ld, r->x + i * r->ldx, r->n);
}

static void round_rows(struct product *p, struct attn_team *t, float *rounded)
{
    size_t in = p->in;
    struct rounding r = {rounded, in, p->x, p->ldx, in, attn_vec_round};
    p->cut = &floats;
    if (attn_pairs_kind() != ATTN_BF16_FLOATS) {
        p->cut = &pairs;
        r.ld = attn_pairs_words(in);
        r.row = attn_pairs_row;
    }
    attn_team_run(t, p->n, (double)p->n * (double)in, round_row, &r);
    p->bf16 = true;
    p->x = rounded;
    p->ldx = r.ld;
}

/* Rows in equal parts, whole tiles each. */
static size_t rows_for(const struct cut *c, size_t n)
{
    size_t parts = up(n, c->rows);
    return parts == 1 ? n : up(up(n, parts), c->tile) * c->tile;
}

/* Cuts all outputs into strips of at most so many panels, alike within each. */
static void cut_strips(struct product *p, size_t strip)
{
    p->strips = 0;
    for (struct output *o = p->out; o < p->out + p->outs; o++) {
        o->first = p->strips;
        o->strip = up(o->panels, up(o->panels, strip));
        p->strips += up(o->panels, o->strip);
    }
    size_t strips_of_all = p->strips * up(p->n, p->rows), last = least(p->workers, strips_of_all);
    p->whole = p->workers > 1 ? strips_of_all - last : strips_of_all;
    p->items = p->whole + (strips_of_all - p->whole) * p->cut->fine;
}

/* All workers have something to do until the end, or nearly, and the faster one more. */
static bool well_shared(const struct product *p)
{
    const size_t idle = 8;              /* a worker in so many */
    size_t strips = p->strips * up(p->n, p->rows), rounds = up(strips, p->workers);
    bool even = p->cut->fine > 1 || (rounds * p->workers - strips) * idle <= strips;
    return p->workers == 1 || (even && strips >= p->cut->items * p->workers);
}

static void share_out(struct product *p)
{
    size_t strip = p->cut->strip;
    p->rows = rows_for(p->cut, p->n);
    cut_strips(p, strip);
    while (strip > 1 && !well_shared(p))
        cut_strips(p, --strip);
}

static const struct cut *cut_for(size_t n)
{
    if (attn_stream_serves(n) && share_of_libxsmm(n).rows == 0)
        return &streamed;
    return n <= few.rows ? &few : &floats;
}

void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx, size_t n,
                    enum attn_tail tail, float *rounded)
{
    struct output out[ATTN_GEMM_EACH];
    struct product p = {.out = out, .x = x, .ldx = ldx, .n = n, .in = each->w->in, .cut = cut_for(n),
                        .workers = (size_t)attn_team_size(t), .tail = tail};
    double columns = 0;
    for (size_t i = 0; i < outs; i++)
        if (each[i].w->out > 0) {
            out[p.outs++] = (struct output){.y = each[i].y, .ldy = each[i].ldy, .w = each[i].w, .panels = up(each[i].w->out, PANEL)};
            columns += (double)each[i].w->out;
        }
    if (n == 0 || p.outs == 0)
        return;
    if (rounded)
        round_rows(&p, t, rounded);
    share_out(&p);
    double rows = n < AS_FETCHED ? AS_FETCHED : (double)n;
    attn_team_run(t, p.items, 2.0 * rows * (double)p.in * columns, one_item, &p);
}

void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_tail tail, float *rounded)
{
    attn_gemm_each(t, &(struct attn_product){y, ldy, w}, 1, x, ldx, n, tail, rounded);
}

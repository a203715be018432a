/* products - prints how fast the products of GPT-2's blocks are beside libraries made for them, by turns.  Usage:
 * products THREADS [ROUNDS].
 *
 * The four weights of each of 12 blocks, as they are stored [in, out], are multiplied with T rows one after the other,
 * so that they come from memory as in a pass.  libxsmm (float32) and oneDNN (bf16, where the package libdnnl-dev is
 * installed) have their weights packed beforehand; attn-cli reads weights as they are stored or in panels.  In bf16
 * both have x rounded beforehand: in a pass, norms, attention and activations round what they make.  A ratio is the
 * median of those of each round, in which all take turns. */
#include "draw.h"
#include "base/team.h"
#include "compute/gemm.h"
#include "compute/panels.h"
#include "compute/bf16.h"

#include <libxsmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#define HAS_ONEDNN 1
#endif

enum { BLOCKS = 12, KINDS = 4, LONGEST = 1024, WIDEST = 3072, PANEL = 64, DEEP = 64, ROWS = 48, MOST_ROUNDS = 99 };
static const size_t sizes[KINDS][2] = {{768, 2304}, {768, 768}, {768, 3072}, {3072, 768}};      /* in, out */

struct bench {
    struct attn_team *team;
    size_t T;
    float *w[KINDS][BLOCKS], *packed[KINDS][BLOCKS];    /* packed: in panels */
    /* their copy: what we have read would still be in a large cache */
    float *theirs[KINDS][BLOCKS];
    float *words[KINDS][BLOCKS];                        /* the same of bf16 */
    uint16_t *bf16[KINDS][BLOCKS];
    float *x, *y, *rounded[KINDS];      /* rounded: x as rows of each kind */
    uint16_t *x_bf16;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *space(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("products");
        exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static uint16_t rounded(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* ---- attn-cli ---- */

static struct attn_mat stored(const struct bench *b, int kind, int block, bool bf16)
{
    struct attn_mat w = {.data = b->w[kind][block], .type = ATTN_F32, .in = sizes[kind][0], .out = sizes[kind][1],
                         .ld = sizes[kind][1]};
    if (bf16) {
        w.data = b->bf16[kind][block];
        w.type = ATTN_BF16;
    }
    return w;
}

static void ours(struct bench *b, int kind, int block, bool bf16, const float *panels)
{
    size_t in = sizes[kind][0], out = sizes[kind][1];
    struct attn_mat w = stored(b, kind, block, bf16);
    w.panels = panels;
    const struct attn_bf16_operands made = {.x_bf16 = b->rounded[kind]};
    attn_gemm_each(b->team, &(struct attn_product){b->y, out, &w}, 1, b->x, in, b->T, ATTN_STORE,
                   bf16 ? b->rounded[kind] : NULL, &made);
}

static void ours_f32(struct bench *b, int kind, int block) { ours(b, kind, block, false, NULL); }
static void ours_bf16(struct bench *b, int kind, int block) { ours(b, kind, block, true, NULL); }
static void panels_f32(struct bench *b, int kind, int block) { ours(b, kind, block, false, b->packed[kind][block]); }
static void panels_bf16(struct bench *b, int kind, int block) { ours(b, kind, block, true, b->words[kind][block]); }

/* ---- libxsmm: batch-reduce kernels of 64 columns, 48 rows, and 64 steps at a time ---- */

struct reduce { libxsmm_smmfunction_reducebatch_strd whole, last; size_t in, out, T; const float *w, *x; float *y; };

static libxsmm_smmfunction_reducebatch_strd reduce_kernel(size_t rows, size_t in, size_t out)
{
    libxsmm_blasint ldw = PANEL, ldx = (libxsmm_blasint)in, ldy = (libxsmm_blasint)out;
    float one = 1, none = 0;
    int flags = 0;
    return libxsmm_smmdispatch_reducebatch_strd(PANEL, (libxsmm_blasint)rows, DEEP,
                                                (size_t)PANEL * DEEP * sizeof(float),
                                                DEEP * sizeof(float), &ldw, &ldx, &ldy, &one, &none, &flags, NULL);
}

static void reduce_panel(void *ctx, size_t panel, int worker)
{
    const struct reduce *r = ctx;
    unsigned long long times = r->in / DEEP;
    (void)worker;
    for (size_t i = 0; i < r->T; i += ROWS)
        (r->T - i < ROWS ? r->last : r->whole)(r->w + panel * PANEL * r->in, r->x + i * r->in,
                                               r->y + i * r->out + panel * PANEL, &times);
}

static void libxsmm(struct bench *b, int kind, int block)
{
    size_t in = sizes[kind][0], out = sizes[kind][1];
    struct reduce r = {.in = in, .out = out, .T = b->T, .w = b->theirs[kind][block], .x = b->x, .y = b->y};
    r.whole = reduce_kernel(ROWS, in, out);
    r.last = reduce_kernel(b->T % ROWS ? b->T % ROWS : ROWS, in, out);
    attn_team_run(b->team, out / PANEL, 2.0 * (double)(b->T * in * out), reduce_panel, &r);
}

/* ---- oneDNN ---- */

#ifdef HAS_ONEDNN
static struct {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t product[KINDS];
    dnnl_memory_t w[KINDS][BLOCKS], x[KINDS], y[KINDS];
} dnnl;

static void must(dnnl_status_t s)
{
    if (s == dnnl_success)
        return;
    fprintf(stderr, "products: oneDNN says %d\n", (int)s);
    exit(1);
}

static dnnl_memory_desc_t shape(size_t rows, size_t cols, dnnl_data_type_t type, dnnl_format_tag_t order)
{
    dnnl_memory_desc_t d;
    dnnl_dims_t dims = {(dnnl_dim_t)rows, (dnnl_dim_t)cols};
    must(dnnl_memory_desc_init_by_tag(&d, 2, dims, type, order));
    return d;
}

static void pack_for_dnnl(const struct bench *b, int kind, const dnnl_memory_desc_t *to)
{
    dnnl_memory_desc_t from = shape(sizes[kind][0], sizes[kind][1], dnnl_f32, dnnl_ab);
    dnnl_primitive_desc_t about;
    dnnl_primitive_t reorder;
    must(dnnl_reorder_primitive_desc_create(&about, &from, dnnl.engine, to, dnnl.engine, NULL));
    must(dnnl_primitive_create(&reorder, about));
    for (int block = 0; block < BLOCKS; block++) {
        dnnl_memory_t stored, *w = &dnnl.w[kind][block];
        must(dnnl_memory_create(&stored, &from, dnnl.engine, b->w[kind][block]));
        must(dnnl_memory_create(w, to, dnnl.engine, space(dnnl_memory_desc_get_size(to))));
        const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, stored}, {DNNL_ARG_DST, *w}};
        must(dnnl_primitive_execute(reorder, dnnl.stream, 2, args));
        must(dnnl_stream_wait(dnnl.stream));
        dnnl_memory_destroy(stored);
    }
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(about);
}

/* For b->T rows. */
static void start_dnnl(const struct bench *b)
{
    if (!dnnl.engine) {
        must(dnnl_engine_create(&dnnl.engine, dnnl_cpu, 0));
        must(dnnl_stream_create(&dnnl.stream, dnnl.engine, dnnl_stream_default_flags));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        size_t in = sizes[kind][0], out = sizes[kind][1];
        dnnl_memory_desc_t x = shape(b->T, in, dnnl_bf16, dnnl_ab), w = shape(in, out, dnnl_bf16, dnnl_format_tag_any);
        dnnl_memory_desc_t y = shape(b->T, out, dnnl_f32, dnnl_ab);
        dnnl_matmul_desc_t what;
        dnnl_primitive_desc_t about;
        must(dnnl_matmul_desc_init(&what, &x, &w, NULL, &y));
        must(dnnl_primitive_desc_create(&about, &what, NULL, dnnl.engine, NULL));
        must(dnnl_primitive_create(&dnnl.product[kind], about));
        must(dnnl_memory_create(&dnnl.x[kind], &x, dnnl.engine, b->x_bf16));
        must(dnnl_memory_create(&dnnl.y[kind], &y, dnnl.engine, b->y));
        pack_for_dnnl(b, kind, dnnl_primitive_desc_query_md(about, dnnl_query_weights_md, 0));
        dnnl_primitive_desc_destroy(about);
    }
}

static void end_dnnl(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (int block = 0; block < BLOCKS; block++) {
            void *w;
            must(dnnl_memory_get_data_handle(dnnl.w[kind][block], &w));
            const dnnl_memory_desc_t *about;
            must(dnnl_memory_get_memory_desc(dnnl.w[kind][block], &about));
            munmap(w, dnnl_memory_desc_get_size(about));
            dnnl_memory_destroy(dnnl.w[kind][block]);
        }
        dnnl_memory_destroy(dnnl.x[kind]);
        dnnl_memory_destroy(dnnl.y[kind]);
        dnnl_primitive_destroy(dnnl.product[kind]);
    }
}

static void onednn(struct bench *b, int kind, int block)
{
    (void)b;
    const dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, dnnl.x[kind]}, {DNNL_ARG_WEIGHTS, dnnl.w[kind][block]}, {DNNL_ARG_DST, dnnl.y[kind]}};
    must(dnnl_primitive_execute(dnnl.product[kind], dnnl.stream, 3, args));
    must(dnnl_stream_wait(dnnl.stream));
}
#else
static void start_dnnl(const struct bench *b) { (void)b; }
static void end_dnnl(void) {}
#define onednn NULL
#endif

/* ---- by turns ---- */

static const struct rival { const char *name; void (*product)(struct bench *, int, int); bool last; } rivals[] = {
    {"float32", ours_f32, false}, {"in panels", panels_f32, false}, {"libxsmm, packed", libxsmm, true},
    {"bf16", ours_bf16, false}, {"in panels", panels_bf16, false}, {"oneDNN, packed", onednn, true}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

/* GFLOP/s of all products of a pass; first a pause, in which threads that wait for more work go to sleep. */
static double speed(struct bench *b, const struct rival *r)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    double start, work = 0;
    nanosleep(&pause, NULL);
    start = now();
    for (int block = 0; block < BLOCKS; block++)
        for (int kind = 0; kind < KINDS; kind++) {
            r->product(b, kind, block);
            work += 2.0 * (double)(b->T * sizes[kind][0] * sizes[kind][1]);
        }
    return work / (now() - start) * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

/* The library that a rival is held against. */
static int library(int rival)
{
    while (!rivals[rival].last)
        rival++;
    return rival;
}

static void row(struct bench *b, int rounds)
{
    double got[RIVALS][MOST_ROUNDS], ratio[RIVALS][MOST_ROUNDS];
    start_dnnl(b);
    for (int i = 0; i < RIVALS; i++)                    /* warms up */
        if (rivals[i].product)
            speed(b, &rivals[i]);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < RIVALS; i++)
            if (rivals[i].product)
                got[i][round] = speed(b, &rivals[i]);
        for (int i = 0; i < RIVALS; i++)
            if (rivals[library(i)].product)
                ratio[i][round] = got[i][round] / got[library(i)][round];
    }
    end_dnnl();
    printf("%6zu", b->T);
    for (int i = 0; i < RIVALS; i++) {
        if (rivals[i].product)
            printf(rivals[i].last ? " %16.0f" : " %10.0f", median(got[i], rounds));
        if (rivals[library(i)].product && !rivals[i].last)
            printf(" %6.2f", median(ratio[i], rounds));
    }
    printf("\n");
    fflush(stdout);
}

static void fill(struct bench *b)
{
    const size_t numbers = (size_t)LONGEST * WIDEST;
    uint32_t seed = 1;
    b->x = space(numbers * sizeof *b->x);
    b->y = space(numbers * sizeof *b->y);
    b->x_bf16 = space(numbers * sizeof *b->x_bf16);
    draw_numbers(b->x, numbers, 2);
    for (size_t i = 0; i < numbers; i++)
        b->x_bf16[i] = rounded(b->x[i]);
    for (int kind = 0; kind < KINDS; kind++) {
        const size_t wide = sizes[kind][0];
        b->rounded[kind] = space((LONGEST + ATTN_GEMM_MORE) * (wide + ATTN_GEMM_MORE) * sizeof *b->rounded[kind]);
        for (size_t i = 0; i < LONGEST; i++)
            attn_gemm_round(b->rounded[kind], wide, i, 0, b->x + i * wide, wide);
        for (int block = 0; block < BLOCKS; block++) {
            size_t in = sizes[kind][0], out = sizes[kind][1];
            float *w = b->w[kind][block] = space(in * out * sizeof *w);
            float *packed = b->packed[kind][block] = space(in * out * sizeof *w);
            uint16_t *bf16 = b->bf16[kind][block] = space(in * out * sizeof *bf16);
            for (size_t i = 0; i < in * out; i++)
                bf16[i] = rounded(w[i] = 0.02f * draw_number(&seed));
            struct attn_mat floats = stored(b, kind, block, false), halves = stored(b, kind, block, true);
            b->words[kind][block] = space(attn_panels_size(&halves, true) * sizeof **b->words[kind]);
            attn_panels_fill(&floats, packed, false, b->team);
            b->theirs[kind][block] = memcpy(space(in * out * sizeof *w), packed, in * out * sizeof *w);
            attn_panels_fill(&halves, b->words[kind][block], true, b->team);
        }
    }
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {32, 128, 512, LONGEST};
    static struct bench b;
    int threads = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 15;
    struct attn_err err = {0};
    /* read before main, so that it must be set for a process of its own */
    const char *for_onednn = getenv("OMP_NUM_THREADS");
    if (argc > 1 && (!for_onednn || strcmp(for_onednn, argv[1])) && !setenv("OMP_NUM_THREADS", argv[1], 1))
        execv(argv[0], argv);
    if (threads < 1 || rounds < 1 || rounds > MOST_ROUNDS || attn_team_new(&b.team, threads, &err)) {
        fprintf(stderr, "products: %s\n", err.code ? err.msg : "expected THREADS and, if you like, 1 to 99 ROUNDS");
        return 1;
    }
    attn_team_expect(b.team, 1e12);
    libxsmm_init();
    fill(&b);
    printf("# GFLOP/s with %d threads, and ratios to the library\n#    T", threads);
    for (int i = 0; i < RIVALS; i++)
        if (rivals[i].product)
            printf(rivals[i].last ? " %16s" : " %10s  ratio", rivals[i].name);
    printf("\n");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        b.T = lengths[i];
        row(&b, rounds);
    }
    attn_team_free(b.team);
    return 0;
}

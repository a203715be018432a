/* machine.c - the most this machine can do, measured in short bursts.
 *
 * A burst is many items for one team, so that a thread that is held up costs no more than it would in real work. */
#include "machine.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/simd.h"
#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/target.h"
#include "base/team.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "peak.h"
#include "compute/vec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ITEMS = 16,                         /* items of arithmetic per thread */
    ROUNDS = 50000,                     /* rounds of an item: a fraction of a millisecond */
    TIMES = 200, ROWS = 24, STEPS = 64, /* products of an item, about as long; with so many rows and steps each has 28
                                         * KB, in L1 */
    PAIR_TIMES = 48,                    /* the same in bf16 */
    ROW = 512, NUMBERS = 4 * ROW,       /* of a softmax; of an activation: 8 KB ... */
    PASSES = 150,                       /* ... again and again */
    LINE = 64,                          /* bytes of a cache line */
    WORDS = 128, SHEET = 96,            /* of products in bf16: pairs of steps, whose panel takes 32 KB; rows */
    CHUNK = 4 << 20,                    /* most bytes that an item reads */
    BURST = 32 * CHUNK,                 /* bytes of a burst */
    BLOCK = 1 << 20, BLOCKS = 64,       /* bytes of one write; how many writes all files get together */
    FILES = BLOCKS                      /* most files, however many threads there are */
};

static const size_t SMALLEST = (size_t)256 << 20;       /* smallest buffer, also if the size of caches is not known */

struct attn_limits {
    char *dir;
    struct attn_team *team;
    int threads;                        /* of the team; 0: there is none */
    size_t caches, bytes;               /* of the last-level caches; of the buffer, whole chunks */
    char *buffer;                       /* NULL: not needed yet */
    size_t next;                        /* the chunk to read next, in turn: so the caches have lost it by then */
    size_t chunk, chunks;               /* bytes of a chunk, and how many are read in turn */
    int places;                         /* of a chunk that are read side by side */
};

/* The buffer is four times as large as the caches, but takes at most a quarter of the free memory. */
static size_t buffer_size(size_t caches)
{
    size_t want = 4 * caches > SMALLEST ? 4 * caches : SMALLEST, most = attn_memory_available() / 4;
    if (most && want > most)
        want = most;
    return want < CHUNK ? CHUNK : want / CHUNK * CHUNK;
}

int attn_limits_new(struct attn_limits **out, const char *dir, struct attn_err *err)
{
    *out = NULL;
    int rc = attn_cpu_check(err);
    if (rc)
        return rc;
    struct attn_limits *l = calloc(1, sizeof *l);
    if (l)
        l->dir = strdup(dir);
    if (!l || !l->dir) {
        free(l);
        return attn_no_memory(err, NULL, "to measure limits");
    }
    l->caches = attn_memory_cache();
    l->bytes = buffer_size(l->caches);
    *out = l;
    return ATTN_OK;
}

void attn_limits_free(struct attn_limits *l)
{
    if (!l)
        return;
    attn_team_free(l->team);
    if (l->buffer)
        munmap(l->buffer, l->bytes);
    free(l->dir);
    free(l);
}

size_t attn_limits_caches(const struct attn_limits *l) { return l->caches; }
size_t attn_limits_buffer(const struct attn_limits *l) { return l->bytes; }

/* ---- bursts ---- */

static void add_f32(void *ctx, size_t item, int worker)
{
    (void)ctx, (void)item, (void)worker;
    attn_peak_f32(ROUNDS);
}

static void add_bf16(void *ctx, size_t item, int worker)
{
    (void)ctx, (void)item, (void)worker;
    attn_peak_bf16(ROUNDS);
}

static void multiply(void *ctx, size_t item, int worker)
{
    _Alignas(LINE) float x[ROWS * STEPS] = {0}, w[STEPS * ATTN_PANEL] = {0}, y[ROWS * ATTN_PANEL] = {0};
    (void)ctx, (void)item, (void)worker;
    for (int i = 0; i < TIMES; i++)
        attn_multiply(&(struct attn_operands){.y = y, .ldy = ATTN_PANEL, .x = x, .ldx = STEPS, .w = w,
                                              .ldw = ATTN_PANEL, .more = true},
                      ROWS, ATTN_PANEL, STEPS);
}

static double multiplied(size_t times)
{
    return 2.0 * (double)times * ROWS * STEPS * ATTN_PANEL;
}

/* What the numbers are does not matter, but that they are not 0. */
static void multiply_pairs(void *ctx, size_t item, int worker)
{
    _Alignas(LINE) float x[SHEET * WORDS], w[WORDS * ATTN_PANEL], y[SHEET * ATTN_PANEL] = {0};
    const unsigned char byte = 0x3c;    /* 0x3c3c is 0.0115 in bf16 */
    (void)ctx, (void)item, (void)worker;
    memset(x, byte, sizeof x);
    memset(w, byte, sizeof w);
    for (int i = 0; i < PAIR_TIMES; i++)
        attn_multiply(&(struct attn_operands){.y = y, .ldy = ATTN_PANEL, .x = x, .ldx = WORDS, .w = w,
                                              .ldw = ATTN_PANEL, .in_bf16 = true},
                      SHEET, ATTN_PANEL, WORDS);
}

static double multiplied_pairs(size_t times)
{
    return 2.0 * (double)times * SHEET * 2 * WORDS * ATTN_PANEL;
}

/* In place: from the second time on x is a softmax already, which takes as long.  As in attention, rows take each step
 * of it together. */
static void softmax(float *x, float *y)
{
    bool finite;
    for (size_t i = 0; i < NUMBERS; i += ROW)
        y[i] = attn_vec_max(x + i, 1, ROW, &finite);
    for (size_t i = 0; i < NUMBERS; i += ROW)
        y[i] = (float)attn_vec_exp_and_sum(x + i, 1, y[i], ROW);
    for (size_t i = 0; i < NUMBERS; i += ROW)
        attn_vec_normalise(x + i, y[i], ROW);
}

static void gelu(float *x, float *y) { attn_vec_gelu(y, x, NUMBERS); }
static void gelu_new(float *x, float *y) { attn_vec_gelu_new(y, x, NUMBERS); }
static void silu(float *x, float *y) { attn_vec_silu_mul(y, x, x, NUMBERS); }

struct by_number { void (*apply)(float *x, float *y); };

static void apply(void *ctx, size_t item, int worker)
{
    _Alignas(LINE) float x[NUMBERS], y[NUMBERS];
    const struct by_number *f = ctx;
    (void)item, (void)worker;
    for (int i = 0; i < NUMBERS; i++)
        x[i] = (float)(2 * i - NUMBERS) / 128;          /* -4 to 4, where activations are not flat */
    for (int i = 0; i < PASSES; i++)
        f->apply(x, y);
}

static void read_chunk(void *ctx, size_t item, int worker)
{
    const struct attn_limits *l = ctx;
    size_t chunk = (l->next + item) % l->chunks;
    (void)worker;
    attn_peak_read((const float *)(const void *)(l->buffer + chunk * l->chunk), l->chunk / sizeof(float), l->places);
}

static void touch_chunk(void *ctx, size_t item, int worker)
{
    struct attn_limits *l = ctx;
    (void)worker;
    memset(l->buffer + item * CHUNK, 1, CHUNK);
}

/* Files to write to, which are made before a measurement and removed after it. */
struct file { struct attn_target target; int failed; };         /* failed: errno */
struct writing { struct file *file; int n; const char *block; };

static void write_file(void *ctx, size_t item, int worker)
{
    const struct writing *w = ctx;
    struct file *f = &w->file[item];
    (void)worker;
    for (int i = 0; i < BLOCKS / w->n && !f->failed; i++)
        if (!attn_disk_write(f->target.fd, w->block, BLOCK, (uint64_t)i * BLOCK))
            f->failed = errno;
}

static int open_files(struct file *file, int n, const struct attn_limits *l, struct attn_err *err)
{
    char *path;
    int rc = ATTN_OK;
    for (int i = 0; i < n && !rc; i++) {
        if (attn_asprintf(&path, "%s/limit.%d", l->dir, i) < 0)
            return attn_no_memory(err, NULL, "for a file name");
        rc = attn_target_open(&file[i].target, path, err);
        free(path);
    }
    return rc;
}

static int close_files(struct file *file, int n, int rc, struct attn_err *err)
{
    for (int i = 0; i < n; i++) {
        errno = file[i].failed;
        if (!rc && errno)
            rc = attn_fail_errno(err, file[i].target.name, "write");
        attn_target_close(&file[i].target);
    }
    return rc;
}

/* A cost that makes attn_team_run use all threads, however short the work is. */
static const double MUCH = 1e12;

static double time_team(struct attn_limits *l, size_t items, void (*work)(void *, size_t, int), void *ctx)
{
    double start = attn_clock_now();
    attn_team_run(l->team, items, MUCH, work, ctx);
    return attn_clock_now() - start;
}

static int measure_write(double *out, struct attn_limits *l, struct attn_err *err)
{
    int n = l->threads < FILES ? l->threads : FILES, bytes = BLOCKS / n * n * BLOCK;
    char *block = malloc(BLOCK);
    struct writing w = {calloc((size_t)n, sizeof *w.file), n, block};
    if (!block || !w.file) {
        free(block);
        free(w.file);
        return attn_no_memory(err, NULL, "for %d bytes to write", BLOCK);
    }
    memset(block, '0', BLOCK);
    for (int i = 0; i < n; i++)
        w.file[i].target.fd = -1;
    int rc = open_files(w.file, n, l, err);
    if (!rc)
        *out = (double)bytes / time_team(l, (size_t)n, write_file, &w);
    rc = close_files(w.file, n, rc, err);
    free(block);
    free(w.file);
    return rc;
}

/* Chunks of equal size, several for each thread even where they fill a small buffer. */
static void cut_buffer(struct attn_limits *l, size_t bytes)
{
    enum { UNIT = 512, SHARES = 4 };    /* attn_peak_read takes whole units */
    size_t part = bytes / ((size_t)l->threads * SHARES);
    l->chunk = part > CHUNK ? CHUNK : part < UNIT ? UNIT : part / UNIT * UNIT;
    l->chunks = bytes > l->chunk ? bytes / l->chunk : 1;
}

static int measure_read(double *out, struct attn_limits *l, size_t bytes, struct attn_err *err)
{
    if (!l->buffer) {
        void *p = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return attn_no_memory(err, NULL, "for %zu bytes to read", l->bytes);
        l->buffer = p;
        attn_team_run(l->team, l->bytes / CHUNK, MUCH, touch_chunk, l);
    }
    cut_buffer(l, bytes < l->bytes ? bytes : l->bytes);
    size_t items = BURST / l->chunk;
    *out = 0;
    for (l->places = 2; l->places <= 8; l->places *= 2) {
        *out = fmax(*out, (double)items * (double)l->chunk / time_team(l, items, read_chunk, l));
        l->next = (l->next + items) % l->chunks;
    }
    return ATTN_OK;
}

static double measure_numbers(struct attn_limits *l, void (*function)(float *x, float *y))
{
    size_t items = (size_t)ITEMS * (size_t)l->threads;
    struct by_number f = {function};
    return (double)items * NUMBERS * PASSES / time_team(l, items, apply, &f);
}

/* operations: how many an item does */
static double measure_arithmetic(struct attn_limits *l, double operations, void (*work)(void *, size_t, int))
{
    size_t items = (size_t)ITEMS * (size_t)l->threads;
    return (double)items * operations / time_team(l, items, work, NULL);
}

static int use_threads(struct attn_limits *l, int threads, struct attn_err *err)
{
    if (threads < 1)
        return attn_fail(err, ATTN_EUSAGE, "%d threads: expected at least 1", threads);
    if (l->threads == threads)
        return ATTN_OK;
    attn_team_free(l->team);
    l->team = NULL;
    l->threads = 0;
    int rc = attn_team_new(&l->team, threads, err);
    l->threads = rc ? 0 : threads;
    return rc;
}

static int get_ready(struct attn_limits *l, int threads, struct attn_err *err)
{
    int rc = attn_team_check(l->team, "this measurement", err);
    return rc ? rc : use_threads(l, threads, err);
}

int attn_limits_read(double *out, struct attn_limits *l, size_t bytes, int threads, struct attn_err *err)
{
    int rc = get_ready(l, threads, err);
    return rc ? rc : measure_read(out, l, bytes, err);
}

int attn_limits_measure(double *out, struct attn_limits *l, enum attn_limit which, int threads, struct attn_err *err)
{
    int rc = get_ready(l, threads, err);
    if (rc)
        return rc;
    switch (which) {
    case ATTN_LIMIT_F32: *out = measure_arithmetic(l, attn_peak_f32(ROUNDS), add_f32); break;
    case ATTN_LIMIT_BF16: *out = measure_arithmetic(l, attn_peak_bf16(ROUNDS), add_bf16); break;
    case ATTN_LIMIT_PRODUCTS: *out = measure_arithmetic(l, multiplied(TIMES), multiply); break;
    case ATTN_LIMIT_BF16_PRODUCTS:
        if (attn_bf16_kind() == ATTN_BF16_FLOATS)
            *out = measure_arithmetic(l, multiplied(TIMES), multiply);
        else
            *out = measure_arithmetic(l, multiplied_pairs(PAIR_TIMES), multiply_pairs);
        break;
    case ATTN_LIMIT_READ: return measure_read(out, l, l->bytes, err);
    case ATTN_LIMIT_WRITE: return measure_write(out, l, err);
    case ATTN_LIMIT_SOFTMAX: *out = measure_numbers(l, softmax); break;
    case ATTN_LIMIT_GELU: *out = measure_numbers(l, gelu); break;
    case ATTN_LIMIT_GELU_NEW: *out = measure_numbers(l, gelu_new); break;
    case ATTN_LIMIT_SILU: *out = measure_numbers(l, silu); break;
    case ATTN_LIMIT_NONE: *out = INFINITY; break;
    }
    return ATTN_OK;
}

enum attn_limit attn_limit_of_mlp(const char *name)
{
    static const struct { const char *name; enum attn_limit limit; } of[] = {
        {"gelu", ATTN_LIMIT_GELU}, {"gelu_new", ATTN_LIMIT_GELU_NEW}, {"silu", ATTN_LIMIT_SILU},
        {"swiglu", ATTN_LIMIT_SILU}, {"geglu", ATTN_LIMIT_GELU}, {"geglu_new", ATTN_LIMIT_GELU_NEW}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (!strcmp(name, of[i].name))
            return of[i].limit;
    return ATTN_LIMIT_NONE;
}

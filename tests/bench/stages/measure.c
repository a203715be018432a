/* measure.c - takes samples until a signal ends it, and their medians, and measures this machine's limits. */
#include "attn_tools.h"
#include "stages.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/os.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 3, MOST = 1000, LIMIT_RUNS = 15, SHARE = 4 };       /* samples; a limit gets a quarter of the time */

static volatile sig_atomic_t caught;

/* The default action is restored, so that a second signal ends the process at once. */
static void note_signal(int number)
{
    caught = number;
    signal(number, SIG_DFL);
}

/* A signal that is ignored stays ignored, as a shell arranges for jobs in the background. */
void bench_catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (signal(ends[i], note_signal) == SIG_IGN)
            signal(ends[i], SIG_IGN);
}

int bench_signal(void)
{
    return caught;
}

void *bench_work(struct work *w, size_t size, int (*once)(void *, struct sample *, struct attn_err *),
                 void (*end)(void *), struct attn_err *err)
{
    *w = (struct work){.once = once, .end = end, .self = calloc(1, size)};
    if (w->self)
        return w->self;
    w->end = NULL;
    attn_no_memory(err, NULL, "to measure");
    return NULL;
}

struct series { double value[MOST], seconds[MOST], total; size_t n; };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_value);
    return n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : 0;
}

static int sample_once(struct sample *out, const struct work *w, struct attn_err *err)
{
    int code = w->once(w->self, out, err);
    return !code && caught ? attn_fail(err, ATTN_EIO, "stopped") : code;
}

/* s->total grows by the whole time of the call, including what the sample leaves out. */
static int take(struct series *s, const struct work *w, struct attn_err *err)
{
    struct sample sample;
    double start = attn_clock_now();
    int code = sample_once(&sample, w, err);
    if (code)
        return code;
    s->total += attn_clock_now() - start;
    s->value[s->n] = sample.value;
    s->seconds[s->n++] = sample.seconds;
    return ATTN_OK;
}

/* The first sample only warms up caches and threads; it is discarded. */
static int warm_up(struct series *s, const struct work *w, struct attn_err *err)
{
    int code = w->once ? take(s, w, err) : ATTN_OK;
    s->n = 0;
    s->total = 0;
    return code;
}

/* A limit's samples are short, so several follow each of the stage, up to the limit's share of the time.  Their mean
 * counts as one sample, because a long sample of the stage is a mean, too: the processor's clock changes several times
 * while it lasts. */
static int catch_up(struct series *limit, const struct work *w, double seconds, struct attn_err *err)
{
    size_t first = limit->n;
    double sum = 0;
    int code = ATTN_OK;
    while (!code && w->once && limit->n < MOST && limit->total < seconds)
        code = take(limit, w, err);
    for (size_t i = first; i < limit->n; i++)
        sum += limit->value[i];
    if (limit->n > first) {
        limit->value[first] = sum / (double)(limit->n - first);
        limit->n = first + 1;
    }
    return code;
}

static int alternate(struct series s[2], const struct work *const w[2], double seconds, struct attn_err *err)
{
    int code = warm_up(&s[0], w[0], err);
    if (!code)
        code = warm_up(&s[1], w[1], err);
    while (!code && s[0].n < MOST && (s[0].n < LEAST || s[0].total + s[1].total < seconds)) {
        code = take(&s[0], w[0], err);
        if (!code)
            code = catch_up(&s[1], w[1], s[0].total / SHARE, err);
    }
    return code;
}

int bench_measure(struct result *r, const struct work *stage, const struct work *limit, double seconds,
                  struct attn_err *err)
{
    struct series *s = calloc(2, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for %d samples", MOST);
    attn_products_count();
    int code = alternate(s, (const struct work *const[]){stage, limit}, seconds, err);
    r->value = median(s[0].value, s[0].n);
    r->seconds = median(s[0].seconds, s[0].n);
    r->runs = s[0].n;
    r->libxsmm = attn_products_by_libxsmm();
    r->limit = median(s[1].value, s[1].n);
    free(s);
    return code;
}

/* The median of repeated measurements of one limit, fewer where they take longer than that many seconds. */
static int limit_median(double *out, const struct work *limit, double seconds, struct attn_err *err)
{
    double value[LIMIT_RUNS], spent = 0;
    struct sample sample;
    size_t n = 0;
    int code = sample_once(&sample, limit, err);
    while (!code && n < LIMIT_RUNS && (n < LEAST || spent < seconds)) {
        code = sample_once(&sample, limit, err);
        value[n++] = sample.value;
        spent += sample.seconds;
    }
    *out = code ? 0 : median(value, n);
    return code;
}

/* ---- limits ------------------------------------------------------------------------------ */

struct limit { const struct bench *bench; enum attn_limit which; double scale; };

static int limit_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct limit *l = self;
    double start = attn_clock_now();
    *out = (struct sample){0};
    int code = attn_limits_measure(&out->value, l->bench->limits, l->which, l->bench->threads, err);
    out->value /= l->scale;
    out->seconds = attn_clock_now() - start;
    return code;
}

static int library_start(struct work *w, enum attn_limit which, double scale, const struct bench *b,
                         struct attn_err *err)
{
    struct limit *l = bench_work(w, sizeof *l, limit_once, free, err);
    if (!l)
        return ATTN_ENOMEM;
    *l = (struct limit){b, which, scale};
    return ATTN_OK;
}

/* A roof over some work: for its blocks, and then for its output layer, the least seconds that arithmetic takes, or
 * reading what is read, whichever takes longer. */
struct roof { const struct bench *bench; const struct stage *stage; struct least blocks, output; };

/* Adds the seconds that so much takes at the speed of a limit. */
static int add_seconds(double *seconds, double amount, enum attn_limit which, const struct bench *b,
                       struct attn_err *err)
{
    double fast = 0;
    int code = amount > 0 ? attn_limits_measure(&fast, b->limits, which, b->threads, err) : ATTN_OK;
    if (!code && amount > 0)
        *seconds += amount / fast;
    return code;
}

static int add_least(double *seconds, const struct least *l, double read, const struct roof *r, struct attn_err *err)
{
    enum attn_limit products = r->stage->limit == TO_BF16 ? ATTN_LIMIT_BF16_PRODUCTS : ATTN_LIMIT_PRODUCTS;
    enum attn_limit act = attn_limit_of_mlp(r->bench->info.mlp);
    double arithmetic = 0;
    int code = add_seconds(&arithmetic, l->products, products, r->bench, err);
    if (!code)
        code = add_seconds(&arithmetic, l->attention, ATTN_LIMIT_PRODUCTS, r->bench, err);
    if (!code)
        code = add_seconds(&arithmetic, l->scores, ATTN_LIMIT_SOFTMAX, r->bench, err);
    if (!code)
        code = add_seconds(&arithmetic, l->hidden, act, r->bench, err);
    *seconds += arithmetic > l->bytes / read ? arithmetic : l->bytes / read;
    return code;
}

static int roof_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct roof *r = self;
    const struct least *a = &r->blocks, *b = &r->output;
    double start = attn_clock_now(), read, seconds = 0, bytes = a->bytes + b->bytes;
    double operations = a->products + a->attention + b->products + b->attention;
    *out = (struct sample){0};
    int code = attn_limits_read(&read, r->bench->limits, bytes < 1e18 ? (size_t)bytes : SIZE_MAX, r->bench->threads,
                                err);
    if (!code)
        code = add_least(&seconds, a, read, r, err);
    if (!code)
        code = add_least(&seconds, b, read, r, err);
    if (code)
        return code;
    out->value = (r->stage->limit == TO_READ ? bytes : operations) / seconds / r->stage->scale;
    out->seconds = attn_clock_now() - start;
    return ATTN_OK;
}

int bench_limit_start(struct work *w, const struct stage *s, const struct work *of, const struct bench *b,
                      struct attn_err *err)
{
    if (s->limit == TO_EMPTY_PROCESS)
        return bench_empty_process(w, err);
    if (s->limit == TO_WRITE)
        return library_start(w, ATTN_LIMIT_WRITE, s->scale, b, err);
    struct roof *r = bench_work(w, sizeof *r, roof_once, free, err);
    if (!r)
        return ATTN_ENOMEM;
    *r = (struct roof){b, s, of->blocks, of->output};
    return ATTN_OK;
}

/* ---- the machine ------------------------------------------------------------------------- */

static void read_cpu_name(char *out, size_t size)
{
    char line[256];
    int fd = attn_os_open("/proc/cpuinfo");
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    snprintf(out, size, "unknown processor");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (f)
        fclose(f);
}

void bench_know_machine(struct machine *m, const struct bench *b)
{
    read_cpu_name(m->cpu, sizeof m->cpu);
    m->threads = attn_threads_available();
    m->caches = attn_limits_caches(b->limits);
    m->buffer = attn_limits_buffer(b->limits);
}

const struct peak bench_peaks[PEAKS] = {
    {"limit f32", "f32", "GFLOP/s", ATTN_LIMIT_F32, 1 << TO_F32},
    {"limit products", "products", "GFLOP/s", ATTN_LIMIT_PRODUCTS, 1 << TO_F32},
    {"limit bf16", "bf16", "GFLOP/s", ATTN_LIMIT_BF16, 1 << TO_BF16},
    {"limit bf16 products", "bf16_products", "GFLOP/s", ATTN_LIMIT_BF16_PRODUCTS, 1 << TO_BF16},
    {"limit read", "read", "GB/s", ATTN_LIMIT_READ, 1 << TO_F32 | 1 << TO_BF16 | 1 << TO_READ},
    {"limit write", "write", "GB/s", ATTN_LIMIT_WRITE, 1 << TO_WRITE},
};

int bench_measure_peaks(struct machine *m, const struct bench *b, unsigned against, double seconds,
                        struct attn_err *err)
{
    struct peaks *p = &m->peak[m->peaks++];
    int code = ATTN_OK;
    p->threads = b->threads;
    for (size_t i = 0; i < PEAKS && !code; i++) {
        const struct peak *row = &bench_peaks[i];
        struct work work;
        if (!(against & row->of))
            continue;
        code = library_start(&work, row->which, 1, b, err);
        if (!code)
            code = limit_median(&p->fast[i], &work, seconds, err);
        free(work.self);
    }
    return code;
}

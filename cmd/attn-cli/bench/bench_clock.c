/* bench_clock.c - takes samples and their medians, and ends a measurement on a signal. */
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <signal.h>
#include <stdlib.h>

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

void *bench_work(struct work *w, size_t size, int (*once)(void *, struct sample *, struct attn_err *), void (*end)(void *),
                 struct attn_err *err)
{
    *w = (struct work){once, end, calloc(1, size)};
    if (w->self)
        return w->self;
    w->end = NULL;
    fail(err, ATTN_ENOMEM, "no memory to measure");
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
    return !code && caught ? fail(err, ATTN_EIO, "stopped") : code;
}

/* s->total grows by the whole time of the call, including what the sample leaves out. */
static int take(struct series *s, const struct work *w, struct attn_err *err)
{
    struct sample sample;
    double start = clock_now();
    int code = sample_once(&sample, w, err);
    if (code)
        return code;
    s->total += clock_now() - start;
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

/* A limit's samples are short, so several follow each of the stage, up to the limit's share of the time.  Their mean counts as
 * one sample, because a long sample of the stage is a mean, too: the processor's clock changes several times while it lasts. */
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

int bench_measure(struct result *r, const struct work *stage, const struct work *limit, double seconds, struct attn_err *err)
{
    struct series *s = calloc(2, sizeof *s);
    if (!s)
        return fail(err, ATTN_ENOMEM, "no memory for %d samples", MOST);
    int code = alternate(s, (const struct work *const[]){stage, limit}, seconds, err);
    r->value = median(s[0].value, s[0].n);
    r->seconds = median(s[0].seconds, s[0].n);
    r->runs = s[0].n;
    r->limit = median(s[1].value, s[1].n);
    free(s);
    return code;
}

int bench_limit(double *out, const struct work *limit, struct attn_err *err)
{
    double value[LIMIT_RUNS];
    struct sample sample;
    int code = sample_once(&sample, limit, err);
    for (int i = 0; i < LIMIT_RUNS && !code; i++) {
        code = sample_once(&sample, limit, err);
        value[i] = sample.value;
    }
    *out = code ? 0 : median(value, LIMIT_RUNS);
    return code;
}

/* bench_limits.c - what stages are compared with: the library's limits, and an empty process. */
#include "bench/bench.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

struct limit { const struct bench *bench; enum attn_limit which; double scale; };

static const enum attn_limit library_limit[] = {
    [TO_F32] = ATTN_LIMIT_F32, [TO_PRODUCTS] = ATTN_LIMIT_PRODUCTS, [TO_BF16] = ATTN_LIMIT_BF16,
    [TO_READ] = ATTN_LIMIT_READ, [TO_WRITE] = ATTN_LIMIT_WRITE};

static int limit_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct limit *l = self;
    double start = clock_now();
    *out = (struct sample){0};
    int code = attn_limits_measure(&out->value, l->bench->limits, l->which, l->bench->threads, err);
    out->value /= l->scale;
    out->seconds = clock_now() - start;
    return code;
}

static int library_start(struct work *w, enum held_against to, double scale, const struct bench *b, struct attn_err *err)
{
    struct limit *l = bench_work(w, sizeof *l, limit_once, free, err);
    if (!l)
        return err->code;
    *l = (struct limit){b, library_limit[to], scale};
    return ATTN_OK;
}

int bench_limit_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    return s->limit == TO_EMPTY_PROCESS ? bench_empty_process(w, err) : library_start(w, s->limit, s->scale, b, err);
}

/* ---- the machine ---- */

static void read_cpu_name(char *out, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
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

int bench_measure_peaks(struct machine *m, const struct bench *b, const bool wanted[LIMITS], struct attn_err *err)
{
    struct peaks *p = &m->peak[m->peaks++];
    double *const peak[] = {
        [TO_F32] = &p->f32, [TO_PRODUCTS] = &p->products, [TO_BF16] = &p->bf16, [TO_READ] = &p->read, [TO_WRITE] = &p->write};
    int code = ATTN_OK;
    p->threads = b->threads;
    for (enum held_against to = TO_F32; to < TO_EMPTY_PROCESS && !code; to++) {
        struct work work;
        if (!wanted[to])
            continue;
        code = library_start(&work, to, 1, b, err);
        if (!code)
            code = bench_limit(peak[to], &work, err);
        free(work.self);
    }
    return code;
}

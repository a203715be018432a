/* bench_report.c - prints the results as a table or as JSON. */
#include "bench/bench.h"
#include "print.h"
#include "say.h"

#include <string.h>

/* ---- for eyes ---------------------------------------------------------------------------- */

static void peak_row(const char *name, int threads, double value, const char *unit)
{
    if (value > 0)
        printf("%-28s %7d %10.2f %s\n", name, threads, value / 1e9, unit);
}

void bench_table_machine(const struct machine *m)
{
    printf("%s, %s, %d thread%s\n", m->cpu, attn_cpu_target(), m->threads, m->threads == 1 ? "" : "s");
    printf("caches %.1f MiB; memory is read over %.0f MiB\n\n", (double)m->caches / 0x1p20, (double)m->buffer / 0x1p20);
    printf("%-28s %7s %10s %-8s %10s %6s %10s\n", "", "threads", "value", "", "limit", "ratio", "ms each");
    for (int i = 0; i < m->peaks; i++) {
        const struct peaks *p = &m->peak[i];
        peak_row("limit f32", p->threads, p->f32, "GFLOP/s");
        peak_row("limit products", p->threads, p->products, "GFLOP/s");
        peak_row("limit bf16", p->threads, p->bf16, "GFLOP/s");
        peak_row("limit read", p->threads, p->read, "GB/s");
        peak_row("limit write", p->threads, p->write, "GB/s");
    }
    fflush(stdout);
}

void bench_table_row(const struct result *r)
{
    printf("%-28s %7d %10.2f %-8s", r->stage->name, r->threads, r->value, r->stage->unit);
    if (r->limit > 0)
        printf(" %10.2f %6.2f", r->limit, r->value / r->limit);
    else
        printf(" %10s %6s", "-", "-");
    printf(" %10.3f\n", 1e3 * r->seconds);
    fflush(stdout);
}

/* One note for each reason, with all its stages.  A search per stage will do: there are few of them. */
void bench_note_left_out(const struct left_out *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char names[512] = "";
        bool said = false;
        for (size_t j = 0; j < n; j++) {
            said |= j < i && l[j].why == l[i].why;
            if (l[j].why == l[i].why)
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", l[j].stage->name);
        }
        if (!said)
            say_note("left out, %s: %s", l[i].why, names);
    }
}

/* ---- for scripts ------------------------------------------------------------------------- */

static void real_or_null(const char *key, double x)
{
    printf(", \"%s\": ", key);
    x > 0 ? json_real(stdout, x) : (void)fputs("null", stdout);
}

static void json_machine(const struct machine *m)
{
    fputs("{\"cpu\": ", stdout);
    json_text(stdout, m->cpu);
    printf(", \"target\": \"%s\", \"threads\": %d, \"caches\": %zu, \"buffer\": %zu,\n  \"limits\": [", attn_cpu_target(),
           m->threads, m->caches, m->buffer);
    for (int i = 0; i < m->peaks; i++) {
        const struct peaks *p = &m->peak[i];
        printf("%s\n   {\"threads\": %d", i ? "," : "", p->threads);
        real_or_null("f32", p->f32 / 1e9);
        real_or_null("products", p->products / 1e9);
        real_or_null("bf16", p->bf16 / 1e9);
        real_or_null("read", p->read / 1e9);
        real_or_null("write", p->write / 1e9);
        putchar('}');
    }
    fputs("]}", stdout);
}

static void json_stage(const struct result *r)
{
    printf("{\"name\": \"%s\", \"threads\": %d", r->stage->name, r->threads);
    real_or_null("value", r->value);
    printf(", \"unit\": \"%s\"", r->stage->unit);
    real_or_null("limit", r->limit);
    real_or_null("ratio", r->limit > 0 ? r->value / r->limit : 0);
    real_or_null("seconds", r->seconds);
    printf(", \"runs\": %zu}", r->runs);
}

int bench_print_json(const struct machine *m, const struct attn_model *model, const struct result *r, size_t n,
                     const struct left_out *l, size_t n_left, struct attn_err *err)
{
    fputs("{\"version\": \"" ATTN_VERSION "\",\n \"model\": ", stdout);
    if (json_model(stdout, model, err))
        return err->code;
    fputs(",\n \"machine\": ", stdout);
    json_machine(m);
    fputs(",\n \"stages\": [", stdout);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n  " : "\n  ", stdout);
        json_stage(&r[i]);
    }
    fputs("],\n \"left_out\": [", stdout);
    for (size_t i = 0; i < n_left; i++) {
        printf("%s\n  {\"name\": \"%s\", \"reason\": ", i ? "," : "", l[i].stage->name);
        json_text(stdout, l[i].why);
        putchar('}');
    }
    fputs("]}\n", stdout);
    return ATTN_OK;
}

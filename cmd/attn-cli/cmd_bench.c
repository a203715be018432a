/* cmd_bench.c - how fast a model runs on this machine: whole texts, token after token, many sentences.  How close that
 * comes to what the machine can do is measured by tests/bench. */
#include "attn_tools.h"
#include "input.h"
#include "cli_print.h"
#include "opts_output.h"
#include "outputs.h"
#include "table.h"

#include "base/clock.h"
#include "base/err.h"
#include "table/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct { const char *format; struct real seconds; } o = {.seconds = {.x = 0.5}};

enum { SENTENCES = 100, SHORTEST = 8, LONGEST = 32, STEPS = 64 /* tokens after a text, before it is cut again */ };

/* What is measured.  n: tokens of the text, or of that before the next token, or sentences. */
enum work { TEXT, NEXT, MANY };
static const struct row { size_t n; enum work work; bool bf16; } rows[] = {
    {32, TEXT, false}, {128, TEXT, false}, {512, TEXT, false}, {1024, TEXT, false},
    {32, TEXT, true}, {128, TEXT, true}, {512, TEXT, true}, {1024, TEXT, true},
    {128, NEXT, false}, {900, NEXT, false}, {SENTENCES, MANY, false}};
enum { ROWS = sizeof rows / sizeof *rows, COUNTS = 2, SAMPLES = 1001, LEAST = 3 };

struct measured { const struct row *of; int threads; size_t tokens, runs; double seconds; char what[48]; };

/* One repetition of it, over and over. */
struct pass {
    struct attn_run *run;
    struct attn_seq *seq; size_t seqs;
    int32_t *ids; size_t tokens;
    struct attn_kv *kv; size_t before, room;    /* NULL: nothing is remembered */
};

static unsigned wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH : act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

static int look(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)p, (void)err;
    return ATTN_OK;
}

/* Computes the tokens before, once; afterwards the cache is cut back to them. */
static int remember(struct pass *p, const struct attn_model *m, const struct attn_plan *plan, struct attn_err *err)
{
    struct attn_run *run = NULL;
    int code = attn_kv_new(&p->kv, m, p->room, err);
    const struct attn_seq seq = {.T = p->before, .kv = p->kv};
    struct attn_plan first = *plan;
    first.rows = p->before;
    if (!code)
        code = attn_run_new(&run, m, &first, NULL, 0, err);
    if (!code)
        code = attn_run_forward(run, p->ids, &seq, 1, err);
    attn_run_free(run);
    p->seq->kv = p->kv;
    return code;
}

static int start(struct pass *p, const struct row *of, int threads, const struct attn_model *m,
                 const struct attn_info *info, struct attn_err *err)
{
    static const struct attn_observer watching = {.wants = wants, .watch = look};
    p->seqs = of->work == MANY ? of->n : 1;
    p->before = of->work == NEXT ? of->n : 0;
    p->room = p->before + STEPS < info->n_ctx ? p->before + STEPS : info->n_ctx;
    p->seq = calloc(p->seqs, sizeof *p->seq);
    for (size_t i = 0; p->seq && i < p->seqs; i++) {    /* lengths vary, and are the same each time */
        p->seq[i].T = of->work == TEXT ? of->n : of->work == NEXT ? 1 : SHORTEST + i * 17 % (LONGEST - SHORTEST + 1);
        p->tokens += p->seq[i].T;
    }
    const size_t ids = p->before ? p->room : p->tokens;
    p->ids = p->seq && ids ? calloc(ids, sizeof *p->ids) : NULL;
    if (!p->ids)
        return attn_no_memory(err, NULL, "for %zu tokens", ids);
    for (size_t i = 0; i < ids; i++)
        p->ids[i] = (int32_t)(i * 7919 % info->V);
    /* As often as it is repeated, a copy of the weights repays itself: as in a long run. */
    const struct attn_plan plan = {.rows = p->tokens, .seqs = p->seqs, .keys = p->before ? p->room : 0,
                                   .threads = threads, .bf16 = of->bf16};
    int code = p->before ? remember(p, m, &plan, err) : ATTN_OK;
    return code ? code : attn_run_new(&p->run, m, &plan, &watching, 1, err);
}

static int once(double *seconds, struct pass *p, struct attn_err *err)
{
    size_t at = p->kv ? attn_kv_length(p->kv) : 0;
    if (p->kv && at == p->room) {
        if (attn_kv_copy(p->kv, p->kv, p->before, err))
            return err->code;
        at = attn_kv_length(p->kv);
    }
    const double began = attn_clock_now();
    int code = attn_run_forward(p->run, p->ids + at, p->seq, p->seqs, err);
    *seconds = attn_clock_now() - began;
    return code;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; the first time only warms up. */
static int repeat(struct measured *m, struct pass *p, struct attn_err *err)
{
    double sample[SAMPLES] = {0}, spent = 0, warm;
    int code = once(&warm, p, err);
    m->tokens = p->tokens;
    while (!code && m->runs < SAMPLES && (m->runs < LEAST || spent < o.seconds.x)) {
        code = once(&sample[m->runs], p, err);
        spent += code ? 0 : sample[m->runs++];
    }
    qsort(sample, m->runs, sizeof *sample, by_size);
    m->seconds = m->runs ? sample[m->runs / 2] : 0;
    return code;
}

static int measure(struct measured *m, const struct attn_model *model, const struct attn_info *info,
                   struct attn_err *err)
{
    struct pass p = {.run = NULL};
    int code = start(&p, m->of, m->threads, model, info, err);
    if (!code)
        code = repeat(m, &p, err);
    attn_run_free(p.run);
    attn_kv_free(p.kv);
    free(p.seq);
    free(p.ids);
    return code;
}

/* Whether the model has room for it, and predicts tokens where one is to follow. */
static bool fits(const struct row *r, const struct attn_model *m, const struct attn_info *info)
{
    struct attn_err why;
    if (r->work == NEXT && attn_model_predicts(m, NULL, &why))
        return false;
    return (r->work == MANY ? LONGEST : r->work == NEXT ? r->n + 1 : r->n) <= info->n_ctx;
}

/* ---- as a table -------------------------------------------------------------------------- */

static const struct attn_column columns[] = {
    {.name = "work"}, {.name = "compute"}, {.name = "threads", .kind = ATTN_COLUMN_WHOLE},
    {.name = "tokens", .kind = ATTN_COLUMN_WHOLE},
    {.name = "milliseconds", .kind = ATTN_COLUMN_REAL, .digits = 3},
    {.name = "tokens_per_second", .kind = ATTN_COLUMN_REAL, .digits = ATTN_DIGITS_NONE},
    {.name = "runs", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_DATA}};

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct measured *m = (const struct measured *)self + i;
    cell[0] = attn_datum_str(m->what);
    cell[1] = attn_datum_str(m->of->bf16 ? "bf16" : "f32");
    cell[2] = attn_datum_whole((uint64_t)m->threads);
    cell[3] = attn_datum_whole(m->tokens);
    cell[4] = attn_datum_real(1e3 * m->seconds);
    cell[5] = attn_datum_real((double)m->tokens / m->seconds);
    cell[6] = attn_datum_whole(m->runs);
}

static int print(const struct measured *m, size_t n, const struct attn_model *model, struct attn_err *err)
{
    const struct attn_table t = {.column = columns, .columns = sizeof columns / sizeof *columns, .rows = n,
                                 .row = fill, .self = m, .spaced = true, .csv_safe = csv_safe()};
    char products[128];
    attn_products_say(products, sizeof products);
    if (o.format && strcmp(o.format, "json") != 0 && strcmp(o.format, "text") != 0)
        return table_print(&t, o.format, err);
    if (!o.format || !strcmp(o.format, "text")) {
        printf("%s, products: %s\n\n", attn_cpu_target(), products);
        return table_print(&t, "text", err);
    }
    fputs("{\"version\": ", stdout);
    json_text(stdout, attn_version());
    fputs(", \"model\": ", stdout);
    if (json_model(stdout, model, err))
        return err->code;
    fputs(",\n \"target\": ", stdout);
    json_text(stdout, attn_cpu_target());
    fputs(", \"products\": ", stdout);
    json_text(stdout, products);
    fputs(", \"rows\": [", stdout);
    int code = table_objects(&t, "\n  ", "\n  ", err);
    fputs("]}\n", stdout);
    return code;
}

static void name_row(struct measured *m)
{
    static const char *const form[] = {[TEXT] = "a text of %zu tokens", [NEXT] = "the next token after %zu",
                                       [MANY] = "%zu sentences"};
    snprintf(m->what, sizeof m->what, form[m->of->work], m->of->n);
}

static void show_progress(const char *what, int threads)
{
    if (!common.quiet && isatty(STDERR_FILENO))
        fprintf(stderr, what ? "\r\033[K%s, on %d thread%s ..." : "\r\033[K", what, threads, threads == 1 ? "" : "s");
}

static int measure_all(const struct attn_model *model, struct attn_err *err)
{
    struct measured all[ROWS * COUNTS];
    struct attn_info info;
    const int most = attn_threads_available(), threads[COUNTS] = {
        common.threads.given ? (int)common.threads.n : 1, !common.threads.given && most > 1 ? most : 0};
    size_t n = 0;
    int code = ATTN_OK;
    attn_model_info(model, &info);
    for (size_t i = 0; i < ROWS && !code; i++)
        for (size_t c = 0; c < COUNTS && threads[c] && fits(&rows[i], model, &info) && !code; c++) {
            all[n] = (struct measured){.of = &rows[i], .threads = threads[c]};
            name_row(&all[n]);
            show_progress(all[n].what, threads[c]);
            code = measure(&all[n++], model, &info, err);
        }
    show_progress(NULL, 0);
    return code ? code : print(all, n, model, err);
}

static int bench(struct attn_err *err)
{
    struct attn_model *model = NULL;
    if (o.seconds.x < 0)
        return attn_fail(err, ATTN_EUSAGE, "--seconds: %s is below 0", o.seconds.given);
    int code = open_model(&model, &bench_command, err);
    if (!code)
        code = measure_all(model, err);
    attn_model_close(model);
    return code;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "a line for each", " (default: text)");
}

static const struct option options[] = {
    {0, "seconds", OPT_REAL, &o.seconds, "S", "about how long to repeat each: three times at least (default: 0.5)",
     .flags = 0},
    {'t', "threads", OPT_NUMBER, &common.threads, "N", "on N threads (default: on one, and on the cores this process "
     "may use)", .min = 1, .max = THREADS_MOST},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = table_format, .explain = explain_format},
    {.name = NULL},
};

const struct command bench_command = {
    .name = "bench",
    .schemas = (const char *const[]){"bench", NULL},
    .run = bench,
    .usage = "bench [-m DIR|NAME] [--seconds S] [--format F]",
    .section = IN_REST,
    .summary = "measure how fast a model runs here",
    .about = "Computes texts of 32 to 1024 tokens at once, in float32 and in bf16, with every attention pattern and "
             "what comes next; one more token after 128 and after 900; and 100 sentences of 8 to 32 tokens.  Each is "
             "repeated, and what is told is the median.  What the model's context has no room for is left out.  "
             "Compare only times of one run: machines are shared, and their speed changes.  How close each stage comes "
             "to the limits of the machine is measured by `make bench` in the sources.",
    .examples = (const struct pair[]){
        {"attn-cli bench", "with the model built into the binary, in some ten seconds"},
        {"attn-cli bench -m ./gpt2 -t 4", "on four threads"},
        {"attn-cli bench -m ./gpt2 --format csv | cut -d, -f1,3,6", "for scripts"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, options, csv_options, printed_options, general_options,
                                             NULL},
};

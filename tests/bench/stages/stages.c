/* stages.c - measures the limits of this machine and how close each stage comes to them, and prints that. */
#include "stages.h"
#include "attn_tools.h"
#include "input.h"
#include "process.h"
#include "cli_print.h"
#include "say.h"

#include "base/err.h"
#include "base/os.h"

#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command stages_command;
static struct { const char *format, *stages; struct real seconds; } o = {.seconds = {.x = 1}};

#define PREFILL(type, T, limit) \
    {"prefill." type ".T" #T, &prefill_kind, limit, "GFLOP/s", 1e9, T, .watched = false}, \
    {"prefill." type ".T" #T ".watched", &prefill_kind, limit, "GFLOP/s", 1e9, T, .watched = true}
#define COPIED(type, T, limit) \
    {"prefill." type ".T" #T ".copied", &prefill_kind, limit, "GFLOP/s", 1e9, T, .watched = true, .copied = true}
#define DECODE_AS_STORED(name, type, context) \
    {"decode." name ".ctx" #context, &decode_kind, TO_READ, "GB/s", 1e9, context, .what = type}
#define DECODE(name, type, context) DECODE_AS_STORED(name, type, context), \
    {"decode." name ".ctx" #context ".copied", &decode_kind, TO_READ, "GB/s", 1e9, context, .what = type, \
        .copied = true}

static const struct stage stages[] = {
    PREFILL("f32", 32, TO_F32), PREFILL("f32", 128, TO_F32), PREFILL("f32", 512, TO_F32), PREFILL("f32", 1024, TO_F32),
    PREFILL("bf16", 32, TO_BF16), PREFILL("bf16", 128, TO_BF16), PREFILL("bf16", 512, TO_BF16),
    PREFILL("bf16", 1024, TO_BF16), COPIED("f32", 32, TO_F32), COPIED("f32", 128, TO_F32), COPIED("f32", 512, TO_F32),
    COPIED("f32", 1024, TO_F32), COPIED("bf16", 32, TO_BF16), COPIED("bf16", 128, TO_BF16),
    COPIED("bf16", 512, TO_BF16), COPIED("bf16", 1024, TO_BF16), DECODE("f32", "F32", 128), DECODE("f32", "F32", 900),
    DECODE("f16", "F16", 128), DECODE("f16", "F16", 900), DECODE("bf16", "BF16", 128), DECODE("bf16", "BF16", 900),
    DECODE_AS_STORED("q8_0", "Q8_0", 128), DECODE_AS_STORED("q8_0", "Q8_0", 900),
    DECODE_AS_STORED("q4_k", "Q4_K", 128), DECODE_AS_STORED("q4_k", "Q4_K", 900),
    {"batch.100", &batch_kind, TO_F32, "GFLOP/s", 1e9, 100, .what = NULL},
    {"train.16", &train_kind, TO_F32, "GFLOP/s", 1e9, 16, .what = NULL},
    {"tokenize", &tokenize_kind, TO_READ, "MB/s", 1e6, .alone = true},
    {"csv", &files_kind, TO_WRITE, "MB/s", 1e6, 512, .what = "csv"},
    {"npy", &files_kind, TO_WRITE, "MB/s", 1e6, 512, .what = "npy"},
    {"startup", &program_kind, TO_EMPTY_PROCESS, "ms", 1e-3, .alone = true, .what = "version"},
    {"startup.sentence", &program_kind, TO_EMPTY_PROCESS, "ms", 1e-3, .alone = true, .what = "sentence"},
    {"startup.model", &program_kind, TO_EMPTY_PROCESS, "ms", 1e-3, 6, .what = "model"},
};
enum { STAGES = sizeof stages / sizeof *stages, COUNTS = 2 };

struct left_out { const struct stage *stage; const char *why; };
struct bench_run {
    struct bench bench;
    struct attn_model *model;
    struct machine machine;
    int threads[COUNTS]; size_t counts;
    bool chosen[STAGES];
    struct result result[STAGES * COUNTS]; size_t results;
    struct left_out left_out[STAGES]; size_t left;
    char dir[128], program[PATH_MAX];
};

/* ---- which stages ------------------------------------------------------------------------ */

static int choose_one(struct bench_run *s, const char *pattern, struct attn_err *err)
{
    struct nearest near = {.typed = pattern};
    bool any = false;
    for (size_t i = 0; i < STAGES; i++) {
        nearest_offer(&near, stages[i].name);
        if (!fnmatch(pattern, stages[i].name, 0))
            any = s->chosen[i] = true;
    }
    return any ? ATTN_OK : attn_fail(err, ATTN_EUSAGE, "--stage: there is no stage '%s'%s", excerpt(pattern).text,
                                     nearest_hint(&near, "").text);
}

static int choose(struct bench_run *s, struct attn_err *err)
{
    char *list = strdup(o.stages ? o.stages : "*"), *rest = list;
    int code = list ? ATTN_OK : attn_no_memory(err, NULL, "for a list of stages");
    for (char *pattern; !code && (pattern = strsep(&rest, ","));)
        code = choose_one(s, pattern, err);
    free(list);
    return code;
}

static bool as_json(void)
{
    return o.format && !strcmp(o.format, "json");
}

static void show_progress(const char *name, int threads)
{
    if (common.quiet || !isatty(STDERR_FILENO))
        return;
    if (name)
        fprintf(stderr, "\r\033[K%s, %d thread%s ...", name, threads, threads == 1 ? "" : "s");
    else
        fputs("\r\033[K", stderr);
}

/* ---- results for eyes ------------------------------------------------------------------- */

static void peak_rows(const struct peaks *p)
{
    for (size_t i = 0; i < PEAKS; i++)
        if (p->fast[i] > 0)
            printf("%-28s %7d %10.2f %s\n", bench_peaks[i].name, p->threads, p->fast[i] / 1e9, bench_peaks[i].unit);
}

static void table_machine(const struct machine *m)
{
    char products[128];
    attn_products_say(products, sizeof products);
    printf("%s, %s, %d thread%s\nproducts: %s\n", m->cpu, attn_cpu_target(), m->threads, m->threads == 1 ? "" :
           "s", products);
    printf("caches %.1f MiB; memory is read over %.0f MiB\n\n", (double)m->caches / 0x1p20, (double)m->buffer / 0x1p20);
    printf("%-28s %7s %10s %-8s %10s %6s %10s %8s\n", "", "threads", "value", "", "limit", "ratio", "ms each",
           "libxsmm");
    for (int i = 0; i < m->peaks; i++)
        peak_rows(&m->peak[i]);
    fflush(stdout);
}

static void table_row(const struct result *r)
{
    printf("%-28s %7d %10.2f %-8s", r->stage->name, r->threads, r->value, r->stage->unit);
    if (r->limit > 0)
        printf(" %10.2f %6.2f", r->limit, r->value / r->limit);
    else
        printf(" %10s %6s", "-", "-");
    printf(" %10.3f", 1e3 * r->seconds);
    if (isnan(r->libxsmm))
        printf(" %8s\n", "-");
    else
        printf(" %8.2f\n", r->libxsmm);
    fflush(stdout);
}

/* One note for each reason, with all its stages.  A search per stage will do: there are few of them. */
static void note_left_out(const struct left_out *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char names[512] = "";
        bool said = false;
        for (size_t j = 0; j < n; j++) {
            said |= j < i && l[j].why == l[i].why;
            if (l[j].why == l[i].why)
                snprintf(names + strlen(names), sizeof names - strlen(names),
                         "%s%s", *names ? ", " : "", l[j].stage->name);
        }
        if (!said)
            say_note("left out, %s: %s", l[i].why, names);
    }
}

/* ---- results for scripts ---------------------------------------------------------------- */

static void real_or_null(const char *key, double x)
{
    printf(", \"%s\": ", key);
    x > 0 ? json_real(stdout, x) : (void)fputs("null", stdout);
}

static void json_machine(const struct machine *m)
{
    fputs("{\"cpu\": ", stdout);
    json_text(stdout, m->cpu);
    printf(", \"target\": \"%s\", \"threads\": %d, \"caches\": %zu, \"buffer\": %zu,\n  \"limits\": [",
           attn_cpu_target(), m->threads, m->caches, m->buffer);
    for (int i = 0; i < m->peaks; i++) {
        const struct peaks *p = &m->peak[i];
        printf("%s\n   {\"threads\": %d", i ? "," : "", p->threads);
        for (size_t j = 0; j < PEAKS; j++)
            real_or_null(bench_peaks[j].key, p->fast[j] / 1e9);
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
    printf(", \"runs\": %zu, \"libxsmm\": ", r->runs);
    isnan(r->libxsmm) ? (void)fputs("null", stdout) : json_real(stdout, r->libxsmm);
    putchar('}');
}

static int print_json(const struct machine *m, const struct attn_model *model, const struct result *r, size_t n,
                      const struct left_out *l, size_t n_left, struct attn_err *err)
{
    printf("{\"version\": \"%s\",\n \"model\": ", attn_version());
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

/* ---- stages ------------------------------------------------------------------------------ */

/* Measuring memory takes a while, so only the limits of the chosen stages are measured. */
static int know_machine(struct bench_run *s, struct attn_err *err)
{
    unsigned against = 0;
    int code = ATTN_OK;
    for (size_t i = 0; i < STAGES; i++)
        against |= (unsigned)s->chosen[i] << stages[i].limit;
    bench_know_machine(&s->machine, &s->bench);
    for (size_t c = 0; c < s->counts && !code; c++) {
        s->bench.threads = s->threads[c];
        show_progress("limits", s->threads[c]);
        code = bench_measure_peaks(&s->machine, &s->bench, against, o.seconds.x, err);
    }
    show_progress(NULL, 0);
    return code;
}

static int measure(struct bench_run *s, const struct stage *stage, struct attn_err *err)
{
    struct result *r = &s->result[s->results];
    struct work work = {0}, limit = {0};
    *r = (struct result){.stage = stage, .threads = s->bench.threads};
    show_progress(stage->name, s->bench.threads);
    int code = stage->kind->start(&work, stage, &s->bench, err);
    if (!code)
        code = bench_limit_start(&limit, stage, &work, &s->bench, err);
    if (!code)
        code = bench_measure(r, &work, &limit, o.seconds.x, err);
    if (work.end)
        work.end(work.self);
    if (limit.end)
        limit.end(limit.self);
    show_progress(NULL, 0);
    s->results += !code;
    if (!code && !as_json())
        table_row(r);
    return code;
}

static int measure_stages(struct bench_run *s, struct attn_err *err)
{
    int code = ATTN_OK;
    for (size_t i = 0; i < STAGES && !code; i++) {
        if (!s->chosen[i])
            continue;
        const char *why = stages[i].kind->lacks(&stages[i], &s->bench);
        if (why)
            s->left_out[s->left++] = (struct left_out){&stages[i], why};
        for (size_t c = 0; c < (stages[i].alone ? 1 : s->counts) && !why && !code; c++) {
            s->bench.threads = stages[i].alone ? 1 : s->threads[c];
            code = measure(s, &stages[i], err);
        }
    }
    return code;
}

static int measure_all(struct bench_run *s, struct attn_err *err)
{
    if (know_machine(s, err))
        return err->code;
    if (!as_json())
        table_machine(&s->machine);
    if (measure_stages(s, err))
        return err->code;
    note_left_out(s->left_out, as_json() ? 0 : s->left);
    return as_json() ? print_json(&s->machine, s->model, s->result, s->results, s->left_out, s->left, err) : ATTN_OK;
}

/* ---- before and after -------------------------------------------------------------------- */

static uint64_t bytes_of_type(const struct attn_model *m, size_t tensors, const char *dtype)
{
    struct attn_tensor_info t;
    uint64_t bytes = 0;
    for (size_t i = 0; i < tensors; i++) {
        attn_model_tensor(m, i, &t);
        bytes += strcmp(t.dtype, dtype) ? 0 : t.bytes;
    }
    return bytes;
}

/* The type that takes most of the file stands for that of all weights; quantised models mix some. */
static const char *weight_type(const struct attn_model *m, size_t tensors)
{
    struct attn_tensor_info t, largest = {.dtype = "F32"};
    for (size_t i = 0; i < tensors; i++) {
        attn_model_tensor(m, i, &t);
        if (strcmp(t.dtype, largest.dtype) != 0 &&
            bytes_of_type(m, tensors, t.dtype) > bytes_of_type(m, tensors, largest.dtype))
            largest = t;
    }
    return largest.dtype;
}

/* A directory in memory (/dev/shm) where there is one: the writers are to be measured, not the disk. */
static int make_directory(struct bench_run *s, struct attn_err *err)
{
    const char *tmp = getenv("TMPDIR"), *const places[] = {"/dev/shm", tmp ? tmp : "/tmp", NULL};
    for (const char *const *place = places; *place; place++) {
        int len = snprintf(s->dir, sizeof s->dir, "%s/attn-bench-%d-XXXXXX", *place, (int)getpid());
        if (len > 0 && (size_t)len < sizeof s->dir && mkdtemp(s->dir))
            return ATTN_OK;
    }
    s->dir[0] = '\0';
    return attn_fail_errno(err, tmp ? tmp : "/tmp", "create a directory in");
}

/* The program whose processes are measured. */
static bool beside_us(char *out, size_t size)
{
    static const char name[] = "attn-cli";
    char *slash = attn_os_program(out, size, process_called()) ? strrchr(out, '/') : NULL;
    if (!slash || (size_t)(slash + 1 - out) + sizeof name > size)
        return false;
    strcpy(slash + 1, name);
    return !access(out, X_OK);
}

static int open_all(struct bench_run *s, struct attn_err *err)
{
    struct attn_err why;
    if (!beside_us(s->program, sizeof s->program))
        return attn_fail(err, ATTN_EUSAGE, "there is no attn-cli beside this program: build it first");
    if (open_model(&s->model, &stages_command, err) || make_directory(s, err) ||
        attn_limits_new(&s->bench.limits, s->dir, err))
        return err->code;
    attn_model_info(s->model, &s->bench.info);
    attn_model_tokenizer(&s->bench.tokenizer, s->model, &why);       /* may fail: only one stage needs it */
    s->bench.model = s->model;
    s->bench.dtype = weight_type(s->model, s->bench.info.tensors);
    s->bench.name = common.model ? common.model : attn_model_builtin()[0];
    s->bench.program = s->program;
    s->bench.dir = s->dir;
    return ATTN_OK;
}

static void end(struct bench_run *s)
{
    if (s->dir[0])
        rmdir(s->dir);
    attn_limits_free(s->bench.limits);
    attn_tokenizer_close(s->bench.tokenizer);
    attn_model_close(s->model);
    free(s);
}

/* Measures with one thread and with all of them, unless -t asks for a number. */
static void count_threads(struct bench_run *s)
{
    int most = attn_threads_available();
    if (common.threads.given)
        s->threads[s->counts++] = (int)common.threads.n;
    else
        s->threads[s->counts++] = 1;
    if (!common.threads.given && most > 1)
        s->threads[s->counts++] = most;
}

static int measure_them(struct attn_err *err)
{
    if (o.seconds.x < 0)
        return attn_fail(err, ATTN_EUSAGE, "--seconds: %s is below 0", o.seconds.given);
    struct bench_run *s = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "to measure");
    count_threads(s);
    bench_catch_signals();
    int code = choose(s, err);
    if (!code)
        code = open_all(s, err);
    if (!code)
        code = measure_all(s, err);
    end(s);
    if (bench_signal())                 /* all is cleaned up: end as if the signal had not been caught */
        raise(bench_signal());
    return code;
}

static const char *const formats[] = {"text", "json", NULL};
static const char *const groups[] = {"prefill.*", "prefill.f32.*", "prefill.bf16.*", "decode.*", "batch.100",
                                     "train.16",
                                     "tokenize", "csv", "npy", "startup*", NULL};

static const struct option options[] = {
    {0, "stage", OPT_LIST, &o.stages, "LIST", "only these stages, separated by commas: names, or wildcards such as "
     "prefill.*.T512 (default: all)", .choices = groups},
    {0, "seconds", OPT_REAL, &o.seconds, "S", "about how long to measure each stage: three runs at least (default: 1)",
     .flags = 0},
    {'t', "threads", OPT_NUMBER, &common.threads, "N",
     "measure on N threads (default: on one, and on the cores this process "
     "may use)", .min = 1, .max = THREADS_MOST},
    {0, "format", OPT_CHOICE, &o.format, "F",
     "how to print: text (a table) or json (default: text)", .choices = formats},
    {.name = NULL},
};

static const struct command stages_command = {
    .name = "bench-stages",
    .run = measure_them,
    .usage = "bench-stages [-m DIR|NAME] [--stage LIST] [--seconds S] [--format F]",
    .summary = "measure this machine's limits and how close each stage comes",
    .about = "Measures the most this machine can do, and beside it what this program does, in one process: samples of "
             "a stage and of its limit take turns, and the ratio is that of their medians.  The limit of a pass is a "
             "roof: the time of its arithmetic or that of reading its weights once, whichever is longer, for the "
             "blocks, plus the same for the output layer.  Arithmetic goes at the speed of \"limit products\", the "
             "inner loop of matrix products on numbers in the nearest cache, and at that of softmax and activation "
             "functions on such numbers; weights are read at the speed at which a buffer of their size is read.  "
             "Attention is computed in float32, in bf16, too.  \"limit f32\" and \"limit bf16\" are multiply-adds in "
             "registers, which no product reaches.  The last column is the share of the products of two rows and more "
             "that libxsmm's kernels compute; plain loops take the others.  Compare only ratios of one run: machines "
             "are shared, and their speed changes.  Floating point operations are 2 for each row and matrix parameter "
             "used (after the last block's attention, only the last row is), scores and sums of values of visible "
             "keys, and the last row of logits (in training all rows, and twice as much again for the backward pass); "
             "the bytes of a decoding step are the weights, keys and values it reads; of files, what is in them.  "
             "Stages that the model cannot run are left out.",
    .examples = (const struct pair[]){
        {"bench-stages", "with the model built into the binary: some 40 stages, in about a minute"},
        {"bench-stages -m ./gpt2", "every stage, in about a minute"},
        {"bench-stages -m ./gpt2 --stage 'prefill.f32.T512*' -t 2", "what does watching cost?"},
        {"bench-stages -m ./gpt2 --format json | jq -r '.stages[] | [.name, .threads, .ratio] | @tsv'",
         "for scripts"},
        {NULL, NULL}},
    .list_title = "Stages (what is measured, and the limit)",
    .list = (const struct pair[]){
        {"prefill.f32.T512, ...", "a text of 32, 128, 512 or 1024 tokens at once; products, or reading the weights"},
        {"prefill.f32.T512.watched, ...", "the same, and every attention pattern is shown to an observer"},
        {"prefill.bf16.T512, ...", "the same computed in bf16"},
        {"prefill.f32.T512.copied, ...", "watched, with the weights in panels, where a run copies them once it has "
                                         "computed some thousand rows; as many tokens, in f32 and bf16"},
        {"decode.f32.ctx900, ...", "one more token after 128 or 900, with weights stored as F32, F16, BF16, Q8_0 or "
                                   "Q4_K; reading them"},
        {"decode.f32.ctx900.copied, ...",
         "the same with the weights in panels, where a run copies them after some tens of tokens; quantised ones are "
         "read as they are stored"},
        {"batch.100", "100 sentences of 8 to 32 tokens, every pattern kept; products, or memory"},
        {"train.16", "the loss on 16 sentences of 256 tokens and its gradient for every weight, of models of up to 16 "
                     "million; products, or memory"},
        {"tokenize", "1 MiB of words of the vocabulary; reading memory"},
        {"csv, npy", "every pattern of a text of up to 512 tokens, written to files in memory where there is /dev/shm; "
         "writing such files"},
        {"startup, startup.sentence, startup.model",
         "whole processes: --version; a sentence with the built-in model; 6 "
         "tokens with this one; an empty process (the ratio says how many of those)"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, options, general_options, NULL},
};

static int work(int argc, char **argv)
{
    struct attn_err err = {0};
    (void)argc;
    int code = opts_parse(&stages_command, argv + 1, &err);
    if (!code && common.help)
        help_print_command(stdout, &stages_command, false);
    else if (!code)
        code = stages_command.run(&err);
    return code ? say_error(NULL, &err) : 0;
}

int main(int argc, char **argv)
{
    return process_run(work, argc, argv);
}

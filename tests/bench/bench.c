/* bench.c - how close the arithmetic comes to the machine, as ratios within one run.
 *
 *     bench PROGRAM        PROGRAM is the attn-cli whose start is timed
 *
 * Measures the peak of fused multiply-adds first and prints every stage beside it: machines are shared
 * and noisy, so only what was measured together may be compared.  Each figure is the median of
 * several runs. */
#include "base/team.h"
#include "compute/gemm.h"
#include "compute/vec.h"

#include "attn.h"

#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RUNS = 9 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of work(ctx). */
static double median(void (*work)(void *ctx), void *ctx)
{
    double t[RUNS];
    work(ctx);
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        work(ctx);
        t[i] = now() - start;
    }
    qsort(t, RUNS, sizeof *t, by_value);
    return t[RUNS / 2];
}

static void *memory(size_t n)
{
    void *p = aligned_alloc(64, (n + 63) / 64 * 64);
    if (!p)
        abort();
    return memset(p, 0, n);
}

/* ---- products ---- */

struct product { struct attn_team *team; float *x, *y; size_t n; struct attn_mat w; };

static void multiply(void *ctx)
{
    struct product *p = ctx;
    attn_gemm(p->team, p->y, p->w.out, p->x, p->w.in, p->n, &p->w, ATTN_STORE);
}

static double gflops(struct attn_team *team, size_t n, size_t in, size_t out, bool by_output)
{
    struct product p = {.team = team, .n = n, .w = {.in = in, .out = out, .ld = by_output ? in : out, .by_output = by_output}};
    float *w = memory(in * out * sizeof *w);
    p.w.data = w;
    p.x = memory(n * in * sizeof *p.x);
    p.y = memory(n * out * sizeof *p.y);
    double t = median(multiply, &p);
    free(w), free(p.x), free(p.y);
    return 2e-9 * (double)n * (double)in * (double)out / t;
}

/* One panel that stays in the first caches: nothing but multiply-adds. */
struct peak { float *x, *w, *y; };

static struct attn_ahead none;

static void spin(void *ctx)
{
    struct peak *p = ctx;
    for (int i = 0; i < 2000; i++)
        attn_vec_panel(p->y, 64, p->x, 64, p->w, 64, 48, 64, false, &none);
}

static double peak_gflops(void)
{
    struct peak p = {memory(48 * 64 * 4), memory(64 * 64 * 4), memory(48 * 64 * 4)};
    double own = 2e-9 * 2000 * 48 * 64 * 64 / median(spin, &p);
    free(p.x), free(p.w), free(p.y);
    attn_gemm_choose(ATTN_KERNEL_LIBXSMM);
    double jit = gflops(NULL, 64, 64, 64, false);       /* a copy included, so a lower bound */
    return own > jit ? own : jit;
}

static void show(const char *what, double value, const char *unit, double limit)
{
    printf("%-44s %9.2f %-10s", what, value, unit);
    if (limit > 0)
        printf(" %5.1f %% of the peak", 100 * value / limit);
    printf("\n");
    fflush(stdout);
}

static void bench_products(double peak, struct attn_team *team, int threads)
{
    static const size_t shapes[][3] = {{6, 768, 3072}, {32, 768, 3072}, {128, 768, 3072}, {512, 768, 3072}, {512, 3072, 768}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int turned = 0; turned < 2; turned++) {
            char what[64];
            snprintf(what, sizeof what, "%zu x %zu x %zu%s, %d thread%s", shapes[i][0], shapes[i][1], shapes[i][2],
                     turned ? " [out,in]" : "", threads, threads > 1 ? "s" : "");
            show(what, gflops(team, shapes[i][0], shapes[i][1], shapes[i][2], turned), "GFLOP/s", peak * threads);
        }
}

/* ---- whole runs ---- */

static const char CONFIG[] =
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 1000, \"n_ctx\": 1024, \"n_layer\": 4, \"n_head\": 12, \"d_model\": 768, "
    "\"d_mlp\": 3072, \"position\": \"learned\", \"norm\": \"layernorm\", \"mlp\": \"gelu_new\", \"residual\": true, "
    "\"output_projection\": true, \"bias\": true}";

struct prefill { struct attn_run *run; int32_t *ids; struct attn_seq seq; };

static void forward(void *ctx)
{
    struct prefill *p = ctx;
    struct attn_err err;
    if (attn_run_forward(p->run, p->ids, &p->seq, 1, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
}

static unsigned want_pattern(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH : 0;
}

static void bench_prefill(const struct attn_model *m, double peak, size_t T, int threads, bool watched)
{
    struct attn_err err;
    const struct attn_observer obs = {.wants = want_pattern};
    const struct attn_plan plan = {.rows = T, .seqs = 1, .threads = threads};
    struct prefill p = {.ids = memory(T * sizeof *p.ids), .seq = {.T = T}};
    double flop = 2.0 * (double)T * 4 * 12 * 768 * 768 + 64.0 * 2 * 12 * 4 * (double)T * ((double)T + 1);
    char what[64];
    if (attn_run_new(&p.run, m, &plan, &obs, watched ? 1 : 0, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    snprintf(what, sizeof what, "forward T %zu%s, %d thread%s", T, watched ? ", pattern watched" : "", threads, threads > 1 ? "s" : "");
    show(what, 1e-9 * flop / median(forward, &p), "GFLOP/s", peak * threads);
    attn_run_free(p.run);
    free(p.ids);
}

/* ---- writing ---- */

/* A sink whose time is taken, the model's left out. */
struct timed { struct attn_observer sink; double seconds; };

static unsigned timed_wants(void *self, int act, int layer)
{
    const struct timed *t = self;
    return t->sink.wants(t->sink.self, act, layer);
}

static int timed_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct timed *t = self;
    double start = now();
    int rc = t->sink.watch(t->sink.self, p, err);
    t->seconds += now() - start;
    return rc;
}

/* Seconds it takes to write every pattern of a run. */
static double write_patterns(struct prefill *p, const struct attn_model *m, const struct attn_sink_opts *o)
{
    struct attn_err err = {0};
    struct attn_sink *sink = NULL;
    struct timed t = {.seconds = 0};
    const struct attn_observer obs = {.wants = timed_wants, .watch = timed_watch, .self = &t};
    const struct attn_plan plan = {.rows = p->seq.T, .seqs = 1, .threads = o->threads};
    int rc = attn_sink_open(&sink, o, &err);
    if (!rc) {
        t.sink = attn_sink_observer(sink);
        rc = attn_run_new(&p->run, m, &plan, &obs, 1, &err);
    }
    if (!rc)
        forward(p);
    double start = now();
    if (rc || attn_sink_finish(sink, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    t.seconds += now() - start;
    attn_run_free(p->run);
    attn_sink_close(sink);
    return t.seconds;
}

/* Bytes of all files of a directory, or of a file, which are removed. */
static double take_away(const char *path)
{
    struct stat st;
    double bytes = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (!stat(file, &st) && S_ISREG(st.st_mode))
            bytes += take_away(file);
    }
    if (d)
        closedir(d);
    else if (!stat(path, &st))
        bytes = (double)st.st_size;
    remove(path);
    return bytes;
}

static void bench_writer(const struct attn_model *m, const char *format, int threads)
{
    enum { T = 512 };
    struct prefill p = {.ids = memory(T * sizeof *p.ids), .seq = {.T = T}};
    struct attn_sink_opts o = {.format = format, .path = "/dev/shm/attn-bench-out", .model = m, .command = "bench", .threads = threads};
    struct attn_tokens *tokens;
    struct attn_select *what;
    char label[64];
    double best = 1e9, bytes = 0;
    if (attn_tokens_from_ids(&tokens, p.ids, T, NULL) || attn_select_new(&what, m, "pattern", NULL, NULL, NULL))
        abort();
    o.tokens = tokens;
    o.select = what;
    for (int i = 0; i < RUNS; i++) {
        double t = write_patterns(&p, m, &o);
        best = t < best ? t : best;
        bytes = take_away(o.path);
    }
    snprintf(label, sizeof label, "%s of patterns, T %d, %d thread%s", format, T, threads, threads > 1 ? "s" : "");
    show(label, 1e-6 * bytes / best, "MB/s", 0);
    attn_select_free(what);
    attn_tokens_free(tokens);
    free(p.ids);
}

static void bench_writers(const struct attn_model *m, int threads)
{
    static const char *const formats[] = {"csv", "npy", "npz", "json", "tidy"};
    for (int t = 1; t <= threads; t *= 2)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            bench_writer(m, formats[i], t);
}

static void bench_model(double peak, int threads)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    char dir[] = "/tmp/attn-bench-XXXXXX", file[64];
    const struct attn_init_opts o = {.config = CONFIG, .config_len = sizeof CONFIG - 1, .seed = 1, .dtype = "F32"};
    if (!mkdtemp(dir) || attn_init(dir, &o, &err) || attn_model_open(&m, dir, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    for (int t = 1; t <= threads; t *= 2)
        for (size_t T = 32; T <= 512; T *= 4) {
            bench_prefill(m, peak, T, t, false);
            bench_prefill(m, peak, T, t, true);
        }
    bench_writers(m, threads);
    attn_model_close(m);
    for (const char *const *f = (const char *const[]){"config.json", "model.safetensors", NULL}; *f; f++) {
        snprintf(file, sizeof file, "%s/%s", dir, *f);
        unlink(file);
    }
    rmdir(dir);
}

/* ---- starting ---- */

static void start_program(void *ctx)
{
    char **argv = ctx;
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
    if (posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ) == 0)
        waitpid(pid, &status, 0);
    posix_spawn_file_actions_destroy(&quiet);
}

int main(int argc, char **argv)
{
    int threads = attn_threads_available();
    struct attn_team *team = NULL;
    double peak = peak_gflops();
    printf("target %s, %d threads\n", attn_cpu_target(), threads);
    show("peak of one thread", peak, "GFLOP/s", 0);
    bench_products(peak, NULL, 1);
    if (threads > 1 && !attn_team_new(&team, threads, NULL))
        bench_products(peak, team, threads);
    attn_team_free(team);
    bench_model(peak, threads);
    if (argc > 1) {
        char *card[] = {argv[1], "run", "-m", "life", "-s", "Life is short, eat dessert first", NULL};
        char *help[] = {argv[1], "--help", NULL}, *nothing[] = {"/bin/true", NULL};
        show("an empty program", 1e3 * median(start_program, nothing), "ms", 0);
        show("attn-cli --help", 1e3 * median(start_program, help), "ms", 0);
        show("attn-cli run -m life -s ...", 1e3 * median(start_program, card), "ms", 0);
    }
    return 0;
}

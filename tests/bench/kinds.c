/* kinds - prints a table of what each kind of attention costs as the text grows, which kinds.gp draws.
 * Usage: kinds [THREADS [LONGEST]].
 *
 * 12 heads of 64 numbers, T = 1024, 4096, 16384, without observers.  Each cell is measured in its own process, so that
 * the growth of the resident set is the memory of this call alone, besides the arrays it was given.  The time is the
 * best of five, or of as many as fit into a second.  The slope is that of its logarithm between the last two lengths: 1
 * is linear, 2 is quadratic. */
#include "draw.h"
#include "attn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { H = 12, D = 64, LENGTHS = 3, TIMES = 5 };
static const double ENOUGH = 1;         /* seconds after which no further time is taken */

struct cell { double seconds, megabytes; int rc; };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

static float *filled(size_t n)
{
    float *x = malloc(n * sizeof *x);
    if (x)
        draw_numbers(x, n, 1);
    return x;
}

static struct cell measure(const struct attn_kind *kind, size_t T, int threads)
{
    struct cell c = {.rc = ATTN_ENOMEM, .seconds = INFINITY};
    float *q = filled(H * T * D), *k = filled(H * T * D), *v = filled(H * T * D), *context = filled(H * T * D);
    struct attn_attention a = {.batch = 1, .H = H, .Hkv = H, .Tq = T, .Tk = T, .dh = D, .dv = D, .scale = 0.125f,
                               .kind = *kind, .threads = threads};
    double before = resident();
    double spent = 0;
    for (int i = 0; q && k && v && context && i < TIMES && spent < ENOUGH; i++) {
        double start = now();
        c.rc = attn_attention(context, q, k, v, &a, NULL);
        c.seconds = fmin(c.seconds, now() - start);
        spent += now() - start;
    }
    c.megabytes = resident() - before;
    free(q);
    free(k);
    free(v);
    free(context);
    return c;
}

/* Measures in a child process. */
static struct cell apart(const struct attn_kind *kind, size_t T, int threads)
{
    struct cell c = {.rc = ATTN_EIO};
    int ends[2];
    if (pipe(ends))
        return c;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        c = measure(kind, T, threads);
        _exit(write(ends[1], &c, sizeof c) != sizeof c);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &c, sizeof c) != sizeof c)
        c.rc = ATTN_EIO;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return c;
}

static int row(const char *name, int threads, size_t longest)
{
    struct attn_kind kind = {.form = ATTN_MODEL};
    struct attn_err err = {0};
    struct cell c[LENGTHS];
    if (attn_kind_parse(&kind, name, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    kind.causal = true;
    printf("%-16s", name);
    for (int i = 0; i < LENGTHS; i++) {
        c[i] = apart(&kind, longest >> 2 * (LENGTHS - 1 - i), threads);
        if (c[i].rc)
            return 1;
        printf(" %9.2f", 1e3 * c[i].seconds);
    }
    printf(" %7.2f", log(c[2].seconds / c[1].seconds) / log(4));
    for (int i = 0; i < LENGTHS; i++)
        printf(" %7.1f", c[i].megabytes);
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"causal", "block:128", "strided:64,64", "random:64,64,0",
                                        "window:256", "linear"};
    int threads = argc > 1 ? atoi(argv[1]) : 1, rc = 0;
    size_t longest = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 16384;
    printf("%-16s", "# kind");
    for (int i = 0; i < LENGTHS; i++)
        printf(" %7zums", longest >> 2 * (LENGTHS - 1 - i));
    printf(" %7s", "slope");
    for (int i = 0; i < LENGTHS; i++)
        printf(" %5zuMB", longest >> 2 * (LENGTHS - 1 - i));
    printf("\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !rc; i++)
        rc = row(kinds[i], threads, longest);
    return rc;
}

/* main.c - runs all tests, or those named on the command line; the exit status is the result.
 *
 * A name is that of a suite, as "merge", of one test, as "merge:shards_agree", or of one row of a test that has rows,
 * as "families:random_models/gemma2"; --list prints those of all tests.  Each suite runs in a process of its own, as
 * many at once as there are processors, and has a line when it ends.  What it writes is kept, as most of it is errors
 * that were expected, and shown if it fails.  Where none ends for a while, a line says which are running.  At the end
 * come Check's total over all suites, a sentence: what passed, and what was skipped for want of what, and once more why
 * each that failed did.
 *
 *     CK_FORK=no           everything in one process, for debuggers
 *     ATTN_TEST_JOBS=N     so many at once
 *     ATTN_TEST_TIMES=N    each so often, to find one that fails now and then: then only those that fail have a line
 *     ATTN_TEST_SHARE=N    one of N rows of each test */
#include "base/cpu.h"
#include "suites.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct { const char *name; Suite *(*make)(void); } suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.inc"
#undef SUITE
};
enum { SUITES = sizeof suites / sizeof *suites };

/* ---- what was asked for -------------------------------------------------------------------- */

static struct { char **name; int n; bool *found, list; } asked;
static const char *suite;               /* the one that is being made */

/* Whether `name` is that of a test, or of all of its rows. */
static bool names(const char *name, const char *test)
{
    size_t len = strlen(name);
    return !strncmp(name, test, len) && (!test[len] || test[len] == '/');
}

/* Whether a test was asked for, by its name or its suite's; test NULL: any of the suite. */
static bool wanted(const char *test)
{
    size_t len = strlen(suite);
    bool any = asked.n == 0;
    for (int i = 0; i < asked.n; i++) {
        const char *name = asked.name[i];
        if (strncmp(name, suite, len) || (name[len] && (name[len] != ':' || (test && !names(name + len + 1, test)))))
            continue;
        any = true;
        asked.found[i] = asked.found[i] || test;
    }
    return any;
}

static int asked_number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    int n = text ? atoi(text) : 0;
    return n > 0 ? n : otherwise;
}

/* Rows are alike: where time is short, as under sanitizers, one of so many is run, and tests take different ones. */
static bool taken(const TTest *test, int row, int rows)
{
    const int share = asked_number("ATTN_TEST_SHARE", 1), each = share < rows ? share : rows;
    return each < 2 || (row + (int)strlen(test->name)) % each == 0;
}

void attn_test_add(TCase *tc, const TTest *test, int signal, int status, int start, int end)
{
    if (asked.list)
        printf("%s:%s\n", suite, test->name);
    for (int i = start; i < end && !asked.list && wanted(test->name); i++)
        if (taken(test, i - start, end - start))
            (_tcase_add_test)(tc, test, signal, status, i, i + 1);
}

/* Check names a test as its TTest does: each row has one, which lives as long as the process. */
struct row { struct row *before; TTest test; char name[]; };

static struct row *rows_of_tests;

void attn_test_add_rows(TCase *tc, const TTest *test, int n, const char *(*row)(int i))
{
    for (int i = 0; i < n; i++) {
        const char *of = row(i);
        const size_t size = strlen(test->name) + 1 + strlen(of) + 1;
        struct row *made = malloc(sizeof *made + size);
        if (!made)
            exit(EXIT_FAILURE);
        snprintf(made->name, size, "%s/%s", test->name, of);
        made->test = (TTest){made->name, test->fn, test->file, test->line};
        made->before = rows_of_tests;
        rows_of_tests = made;
        if (asked.list || taken(test, i, n))
            attn_test_add(tc, &made->test, 0, 0, i, i + 1);
    }
}

/* ---- a suite in a process ------------------------------------------------------------------ */

struct result { int run, failed, errors; bool ended; };     /* failed: assertions; errors: crashes and time limits */

struct job { size_t suite; pid_t pid; FILE *wrote; struct result *result; double began; };

/* Of all suites. */
static struct { int suites, run, failed, errors, skipped; char names[1024]; } total;
static struct { char *why; int n; } skips[64];
static size_t n_skips;
static struct { char *text; size_t len; } causes;       /* of failures, as Check says them */
static int times = 1;                   /* how often each suite runs */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_seconds(const struct rusage *r)
{
    return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
           (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) / 1e6;
}

/* Called in a process of its own. */
static void run_suite(const struct job *job)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(fileno(job->wrote), STDOUT_FILENO);
    dup2(fileno(job->wrote), STDERR_FILENO);
    suite = suites[job->suite].name;
    SRunner *runner = srunner_create(suites[job->suite].make());
    srunner_run_all(runner, CK_SILENT);
    struct result r = {.run = srunner_ntests_run(runner), .ended = true};
    TestResult **bad = srunner_failures(runner);
    for (int i = 0; i < srunner_ntests_failed(runner); i++)
        *(tr_rtype(bad[i]) == CK_FAILURE ? &r.failed : &r.errors) += 1;
    if (r.failed + r.errors)
        srunner_print(runner, CK_NORMAL);
    fflush(stdout);
    *job->result = r;
    _exit(EXIT_SUCCESS);
}

static void start(struct job *job, size_t which)
{
    *job = (struct job){.suite = which, .began = seconds(), .wrote = tmpfile()};
    job->result = mmap(NULL, sizeof *job->result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(stdout);                     /* not once more in the process */
    if (!job->wrote || job->result == MAP_FAILED || (job->pid = fork()) < 0) {
        perror("attn-tests");
        exit(EXIT_FAILURE);
    }
    if (job->pid == 0)
        run_suite(job);
}

static int count_skip(char *why)
{
    why[strcspn(why, "\n")] = '\0';
    size_t i = 0;
    while (i < n_skips && strcmp(skips[i].why, why) != 0)
        i++;
    if (i == n_skips && n_skips < sizeof skips / sizeof *skips)
        skips[n_skips++].why = strdup(why);
    if (i < n_skips)
        skips[i].n++;
    return 1;
}

/* A cause is what stands behind Check's count; of a long one the beginning. */
static void keep_cause(const char *line, int nth)
{
    enum { MOST = 24 };
    size_t len = strlen(line);
    char *more = nth <= MOST ? realloc(causes.text, causes.len + len + 1) : NULL;
    if (!more)
        return;
    memcpy(more + causes.len, line, len + 1);
    causes.text = more;
    causes.len += len;
}

/* Reads what a suite wrote, prints it if `all`, and returns how often it says that something was skipped. */
static int read_output(FILE *wrote, bool all)
{
    char *line = NULL;
    size_t room = 0;
    int n = 0, of_cause = 0;
    rewind(wrote);
    while (getline(&line, &room, wrote) > 0) {
        if (all)
            fputs(line, stdout);
        if (all && of_cause)
            keep_cause(line, of_cause++);
        if (strstr(line, "%: Checks: "))
            of_cause = 1;
        if (!strncmp(line, SKIPPED, strlen(SKIPPED)))
            n += count_skip(line + strlen(SKIPPED));
    }
    free(line);
    return n;
}

/* Says how a suite ended, and adds it to the total. */
static void report(struct job *job, int status, double cpu)
{
    struct result r = *job->result;
    if (!r.ended) {                     /* it ended before Check could say anything */
        r.errors++;
        fprintf(job->wrote,
                "0%%: Checks: none\n%s: the process of the suite ended with %s %d\n", suites[job->suite].name,
                WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    bool bad = r.failed + r.errors > 0;
    const char *name = suites[job->suite].name;
    if (bad || times == 1)
        printf("%-6s  %-18s %5d %9.1f %9.1f\n", bad ? "FAILED" : "ok", name, r.run, seconds() - job->began, cpu);
    int skipped = read_output(job->wrote, bad);
    fflush(stdout);
    total.suites++, total.run += r.run, total.failed += r.failed, total.errors += r.errors, total.skipped += skipped;
    size_t used = strlen(total.names);
    if (bad)
        snprintf(total.names + used, sizeof total.names - used, "%s%s", used ? ", " : "", name);
    fclose(job->wrote);
    munmap(job->result, sizeof *job->result);
    job->pid = 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

static struct job *job_of(struct job *jobs, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i].pid == pid)
            return &jobs[i];
    return NULL;
}

static void wake(int number) { (void)number; }

/* Of suites that take long: who waits wants to know that something goes on. */
static void say_running(const struct job *jobs, size_t n)
{
    printf("        still running:");
    for (size_t i = 0; i < n; i++)
        if (jobs[i].pid)
            printf(" %s (%.0f s)", suites[jobs[i].suite].name, seconds() - jobs[i].began);
    putchar('\n');
    fflush(stdout);
}

static void run_side_by_side(const size_t *which, size_t n)
{
    enum { PATIENCE = 20 };             /* seconds without a line */
    size_t most = (size_t)asked_number("ATTN_TEST_JOBS", attn_cpu_count()), next = 0, ended = 0;
    struct job *jobs = calloc(most, sizeof *jobs);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = wake}, NULL);      /* wait4 returns */
    printf("%zu suites, %zu at a time, the longest first\n", n * (size_t)times, most);
    printf("        %-18s %5s %9s %9s\n", "suite", "tests", "seconds", "processor");
    fflush(stdout);
    for (int status; jobs && ended < n * (size_t)times;) {
        struct job *idle = job_of(jobs, most, 0);
        if (idle && next < n * (size_t)times) {
            start(idle, which[next++ / (size_t)times]);
            continue;
        }
        struct rusage used;
        alarm(PATIENCE);
        pid_t pid = wait4(-1, &status, 0, &used);
        alarm(0);
        struct job *done = pid > 0 ? job_of(jobs, most, pid) : NULL;
        if (done) {
            report(done, status, cpu_seconds(&used));
            ended++;
        } else if (pid < 0) {
            say_running(jobs, most);
        }
    }
    free(jobs);
}

static void say_total(double took)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    int bad = total.failed + total.errors;
    printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n",
           total.run ? 100 * (total.run - bad) / total.run : 0, total.run, total.failed, total.errors);
    printf("%d suites with %d tests ran in %.0f s, with %.0f s of processor time, and ", total.suites, total.run, took,
           cpu_seconds(&used));
    if (bad)
        printf("%d failed, in %s", bad, total.names);
    else
        printf("all passed");
    if (total.skipped)
        printf("; %d were skipped, for want of", total.skipped);
    for (size_t i = 0; i < n_skips; i++) {
        printf("%s %s", i ? "," : "", skips[i].why);
        free(skips[i].why);
    }
    printf(".\n");
    if (causes.text)
        printf("Why:\n%s", causes.text);
    free(causes.text);
}

/* For a debugger, or for whoever reads Check's one log. */
static bool in_one_process(void)
{
    const char *forked = getenv("CK_FORK");
    return (forked && !strcmp(forked, "no")) || getenv("CK_TAP_LOG_FILE_NAME");
}

static bool run_here(const size_t *which, size_t n)
{
    SRunner *runner = srunner_create(suite_create("attn-cli"));
    for (size_t i = 0; i < n; i++) {
        suite = suites[which[i]].name;
        srunner_add_suite(runner, suites[which[i]].make());
    }
    srunner_run_all(runner, CK_NORMAL);
    bool good = srunner_ntests_failed(runner) == 0;
    srunner_free(runner);
    return good;
}

/* The suites that were asked for, after having made each once, which finds the tests that were. */
static size_t choose(size_t *which)
{
    size_t n = 0;
    for (size_t i = 0; i < SUITES; i++) {
        suite = suites[i].name;
        if (!wanted(NULL))
            continue;
        which[n++] = i;
        if (asked.n || asked.list)
            srunner_free(srunner_create(suites[i].make()));
    }
    return n;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);           /* as the program does */
    signal(SIGHUP, SIG_DFL);            /* nohup ignores it: a test of what it ends would wait for ever */
    asked.list = argc == 2 && !strcmp(argv[1], "--list");
    asked.name = argv + 1;
    asked.n = asked.list ? 0 : argc - 1;
    asked.found = calloc((size_t)argc, sizeof *asked.found);
    if (!asked.found)
        return EXIT_FAILURE;
    size_t which[SUITES], n = choose(which);
    bool good = true;
    for (int i = 0; i < asked.n; i++)
        if (!asked.found[i]) {
            fprintf(stderr, "no suite or test is called %s\n", asked.name[i]);
            good = false;
        }
    if (good && !asked.list && in_one_process()) {
        good = run_here(which, n);
    } else if (good && !asked.list) {
        double began = seconds();
        times = asked_number("ATTN_TEST_TIMES", 1);
        run_side_by_side(which, n);
        say_total(seconds() - began);
        good = total.failed + total.errors == 0;
    }
    free(asked.found);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

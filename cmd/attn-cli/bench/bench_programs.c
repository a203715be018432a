/* bench_programs.c - times whole processes, from start to exit. */
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WORDS = 10 };
struct program { const char *argv[WORDS]; char threads[12]; };

static int wait_for(pid_t pid, const char *name, struct attn_err *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return fail_errno(err, name, "wait for");
    return WIFEXITED(status) && !WEXITSTATUS(status) ? ATTN_OK : fail(err, ATTN_EIO, "%s: failed when it was run", name);
}

static int program_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct program *p = self;
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    double start = clock_now();
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawn(&pid, p->argv[0], &quiet, NULL, (char *const *)p->argv, environ);
    int code = errno ? fail_errno(err, p->argv[0], "start") : wait_for(pid, p->argv[0], err);
    posix_spawn_file_actions_destroy(&quiet);
    out->seconds = clock_now() - start;
    out->value = 1e3 * out->seconds;
    return code;
}

static int new_program(struct work *w, const char *path, int threads, struct attn_err *err)
{
    struct program *p = bench_work(w, sizeof *p, program_once, free, err);
    if (!p)
        return err->code;
    snprintf(p->threads, sizeof p->threads, "%d", threads);
    p->argv[0] = path;
    return ATTN_OK;
}

static const char *program_lacks(const struct stage *s, const struct bench *b)
{
    return !strcmp(s->what, "model") && b->info.n_ctx < s->n ? "the model takes fewer tokens (n_ctx)" : NULL;
}

static int program_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    static const char *const version[] = {"--version", NULL};
    static const char *const sentence[] = {"run", "-m", "life", "-s", "Life is short, eat dessert first", "-t1", NULL};
    const char *const model[] = {"run", "-m", b->name, "--ids", "0,0,0,0,0,0", "-t", NULL};
    const char *const *words = !strcmp(s->what, "model") ? model : !strcmp(s->what, "sentence") ? sentence : version;
    if (new_program(w, b->program, b->threads, err))
        return err->code;
    struct program *p = w->self;
    size_t n = 1;
    for (; *words; words++)
        p->argv[n++] = *words;
    if (!strcmp(s->what, "model"))
        p->argv[n] = p->threads;
    return ATTN_OK;
}

const struct stage_kind program_kind = {program_lacks, program_start};

static const char EMPTY[] = "/bin/true";

int bench_empty_process(struct work *w, struct attn_err *err)
{
    *w = (struct work){0};
    return access(EMPTY, X_OK) ? ATTN_OK : new_program(w, EMPTY, 1, err);
}

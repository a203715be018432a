#include "shell.h"

#include "scratch.h"

#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void shell_set_up(void)
{
    const char *cli = getenv("ATTN_CLI");
    char *path = realpath(cli ? cli : "build/release/attn-cli", NULL);
    ck_assert_msg(path != NULL, "no binary: build it, or name it in ATTN_CLI");
    setenv("A", path, 1);
    free(path);
    scratch_make();
    setenv("D", scratch_dir, 1);
    static const char *const unset[] = {"ATTN_MODEL_PATH", "NO_COLOR", "COLUMNS"};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    setenv("ATTN_PAGER", "", 1);        /* terminals of tests are short, and nobody is there to turn pages */
    setenv("ATTN_MODEL", "life", 1);    /* so small that its numbers can be written down */
}

static void take_all(struct said *s, FILE *f)
{
    s->len = fread(s->text, 1, sizeof s->text - 1, f);
    s->text[s->len] = '\0';
    ck_assert_msg(s->len < sizeof s->text - 1, "more output than the test has room for");
}

const struct said *sh(const char *line)
{
    static struct said s;
    setenv("LINE", line, 1);
    FILE *f = popen("exec bash -e -o pipefail -c 'ends() { local r=0; \"${@:2}\" || r=$?; test $r = $1; }; eval \"$LINE\"'", "r");
    ck_assert_ptr_nonnull(f);
    take_all(&s, f);
    int status = pclose(f);
    s.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return &s;
}

const struct said *succeed(const char *line)
{
    const struct said *s = sh(line);
    ck_assert_msg(s->status == 0, "%s\nended with %d and said:\n%.2000s", line, s->status, s->text);
    return s;
}

pid_t start_line(const char *line, const int ends[2], int fd)
{
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], fd);
        close(ends[0]);
        close(ends[1]);
        execlp("bash", "bash", "-c", line, (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    return child;
}

void expect(const char *line, int status, const char *part)
{
    const struct said *s = sh(line);
    ck_assert_msg(s->status == status, "%s\nended with %d, not %d, and said:\n%s", line, s->status, status, s->text);
    ck_assert_msg(strstr(s->text, part) != NULL, "%s\nshould say '%s' and said:\n%s", line, part, s->text);
}

void expect_exactly(const char *line, const char *text)
{
    const struct said *s = sh(line);
    ck_assert_msg(s->status == 0 && !strcmp(s->text, text), "%s\nended with %d and said:\n%s", line, s->status, s->text);
}

void expect_same(const char *line, const char *other)
{
    static struct said first;
    memcpy(&first, sh(line), sizeof first);
    const struct said *s = sh(other);
    ck_assert_msg(!first.status && !s->status && first.len && first.len == s->len && !memcmp(first.text, s->text, s->len),
                  "%s\n%s\nsay different things or nothing, with %d and %d:\n%.1000s\n%.1000s", line, other, first.status, s->status,
                  first.text, s->text);
}

const char *on_terminal(const char *line, int status)
{
    static struct said s;
    int fd, end;
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    pid_t child = forkpty(&fd, NULL, NULL, &size);
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        execlp("bash", "bash", "-e", "-o", "pipefail", "-c", line, (char *)NULL);
        _exit(126);
    }
    s.len = 0;
    for (ssize_t n; (n = read(fd, s.text + s.len, sizeof s.text - 1 - s.len)) > 0;)
        s.len += (size_t)n;
    s.text[s.len] = '\0';
    close(fd);
    ck_assert_int_eq(waitpid(child, &end, 0), child);
    s.status = WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
    ck_assert_msg(s.status == status, "%s\nended with %d, not %d, and said:\n%s", line, s.status, status, s.text);
    return s.text;
}

bool no_terminal(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd < 0)
        fprintf(stderr, "skipped: there are no pseudo-terminals here\n");
    else
        close(fd);
    return fd < 0;
}

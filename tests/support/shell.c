#include "shell.h"

#include "scratch.h"
#include "check.h"

#include <ctype.h>
#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first on the path may be a script that takes ten times as long to start. */
static const char *const pythons[] = {"/usr/bin/python3", "python3"};

void shell_set_up(void)
{
    const char *cli = getenv("ATTN_CLI");
    char *path = realpath(cli ? cli : "build/release/attn-cli", NULL);
    ck_assert_msg(path != NULL, "no binary: build it, or name it in ATTN_CLI");
    scratch_make();
    char *slash = strrchr(path, '/');
    *slash = '\0';
    const char *built = scratch_plain(path);
    setenv("A", printed("%s/%s", built, slash + 1), 1);
    setenv("FAULT", printed("%s/fault.so", built), 1);
    free(path);
    setenv("D", scratch_dir, 1);
    static const char *const unset[] = {"ATTN_MODEL_PATH", "NO_COLOR", "COLUMNS", "LANGUAGE"};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        unsetenv(unset[i]);
    setenv("PYTHON", access(pythons[0], X_OK) ? pythons[1] : pythons[0], 1);
    setenv("ATTN_PAGER", "", 1);        /* terminals of tests are short, and nobody is there to turn pages */
    setenv("ATTN_MODEL", "life", 1);    /* so small that its numbers can be written down */
    setenv("LC_MESSAGES", "C", 1);      /* terminals would speak the language of whoever tests */
}

static void take_all(struct said *s, int fd)
{
    s->len = 0;
    for (ssize_t n; (n = read(fd, s->text + s->len, sizeof s->text - 1 - s->len)) > 0;)
        s->len += (size_t)n;
    s->text[s->len] = '\0';
    close(fd);
    ck_assert_msg(s->len < sizeof s->text - 1, "more output than the test has room for");
}

/* ---- lines that need no shell ---- */

/* Most lines are one command with quoted words.  To start bash for it takes several times as long as the command. */
struct words {
    char *argv[128], text[1 << 15];
    int ends;                           /* the status it should end with, or -1 */
    struct { int fd; const char *path; } to[4];         /* path NULL: where standard output goes */
    size_t n_to;
};

static const struct { const char *spelled; int fd; const char *path; } redirections[] = {
    {"2>&1", STDERR_FILENO, NULL},
    {"2>/dev/null", STDERR_FILENO, "/dev/null"},
    {">/dev/null", STDOUT_FILENO, "/dev/null"},
    {"</dev/null", STDIN_FILENO, "/dev/null"},
    {">/dev/full", STDOUT_FILENO, "/dev/full"},
};

/* Appends the value of the variable that *from begins with, and moves it on; false: it is no plain $NAME
 * that is set. */
static bool expand(char **to, const char *end, const char **from)
{
    char name[32];
    size_t n = strspn(*from + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    const char *after = *from + 1 + n;
    if (n == 0 || n >= sizeof name || isalnum((unsigned char)*after))
        return false;
    memcpy(name, *from + 1, n);
    name[n] = '\0';
    const char *value = getenv(name);
    if (!value || !*value || value[strcspn(value, " \t\n*?[\\")] || strlen(value) >= (size_t)(end - *to))
        return false;
    *to = stpcpy(*to, value);
    *from = after;
    return true;
}

/* Copies a word to *to, without its quotes; false: there is something in it that only a shell understands. */
static bool word(char **to, const char *end, const char **from)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:%@+=-^";
    char quote = '\0';
    for (const char *p = *from;; *from = p) {
        if (*to + 1 >= end)
            return false;
        if (quote ? *p == quote : *p == '\'' || *p == '"') {
            quote = quote ? '\0' : *p;
            p++;
        } else if (*p == '$' && quote != '\'') {
            if (!expand(to, end, &p))
                return false;
        } else if (!quote && (*p == ' ' || !*p)) {
            break;
        } else if (!*p || (quote == '"' ? *p == '\\' || *p == '`' : !quote && !strchr(plain, *p))) {
            return false;
        } else {
            *(*to)++ = *p++;
        }
    }
    *(*to)++ = '\0';
    return true;
}

static bool redirects(struct words *w, const char **from)
{
    for (size_t i = 0; i < sizeof redirections / sizeof *redirections; i++) {
        size_t n = strlen(redirections[i].spelled);
        if (strncmp(*from, redirections[i].spelled, n) || ((*from)[n] && (*from)[n] != ' ') ||
            w->n_to == sizeof w->to / sizeof *w->to)
            continue;
        w->to[w->n_to].fd = redirections[i].fd;
        w->to[w->n_to++].path = redirections[i].path;
        *from += n;
        return true;
    }
    return false;
}

/* Whether a line is the program under test and its words, after "ends N" or not. */
static bool words_split(struct words *w, const char *line)
{
    char *to = w->text, *end = w->text + sizeof w->text;
    size_t n = 0;
    w->ends = -1;
    w->n_to = 0;
    if (!strncmp(line, "ends ", 5)) {
        char *after;
        w->ends = (int)strtol(line + 5, &after, 10);
        line = after;
    }
    while (*(line += strspn(line, " "))) {
        if (n > 0 && redirects(w, &line))
            continue;
        if (n + 1 == sizeof w->argv / sizeof *w->argv)
            return false;
        w->argv[n++] = to;
        if (!word(&to, end, &line))
            return false;
    }
    w->argv[n] = NULL;
    return n > 0 && !strcmp(w->argv[0], getenv("A"));
}

/* ---- lines ---- */

static const char prelude[] = "ends() { local r=0; \"${@:2}\" || r=$?; test $r = $1; }; eval \"$LINE\"";

struct running shell_start(const char *line, bool stops, int out, int err)
{
    static struct words w;
    struct running r = {.ends = -1};
    char *bash[] = {"bash", "-o", "pipefail", stops ? "-ec" : "-c", (char *)prelude, NULL}, *const *argv = bash;
    posix_spawn_file_actions_t to;
    ck_assert_int_eq(posix_spawn_file_actions_init(&to), 0);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&to, out, STDOUT_FILENO);
    if (err >= 0)
        posix_spawn_file_actions_adddup2(&to, err, STDERR_FILENO);
    if (words_split(&w, line)) {
        argv = w.argv;
        r.ends = w.ends;
        for (size_t i = 0; i < w.n_to; i++)
            if (w.to[i].path)
                posix_spawn_file_actions_addopen(&to, w.to[i].fd, w.to[i].path, O_RDWR, 0);
            else
                posix_spawn_file_actions_adddup2(&to, STDOUT_FILENO, w.to[i].fd);
    }
    setenv("LINE", line, 1);
    /* unlike fork, copies no page tables */
    ck_assert_int_eq(posix_spawnp(&r.pid, argv[0], &to, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&to);
    return r;
}

int shell_status(struct running r)
{
    int end;
    ck_assert_int_eq(waitpid(r.pid, &end, 0), r.pid);
    int status = WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
    return r.ends < 0 ? status : status != r.ends;
}

const struct said *sh(const char *line)
{
    static struct said s;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    struct running r = shell_start(line, true, ends[1], -1);
    close(ends[1]);
    take_all(&s, ends[0]);
    s.status = shell_status(r);
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
    ck_assert_msg(s->status == status,
                  "%s\nended with %d, not %d, and said:\n%.2000s", line, s->status, status, s->text);
    ck_assert_msg(strstr(s->text, part) != NULL, "%s\nshould say '%s' and said:\n%.2000s", line, part, s->text);
}

void expect_exactly(const char *line, const char *text)
{
    const struct said *s = sh(line);
    ck_assert_msg(s->status == 0 && !strcmp(s->text, text),
                  "%s\nended with %d and said:\n%.2000s", line, s->status, s->text);
}

void expect_same(const char *line, const char *other)
{
    static struct said first;
    memcpy(&first, sh(line), sizeof first);
    const struct said *s = sh(other);
    ck_assert_msg(!first.status && !s->status && first.len && first.len == s->len &&
                  !memcmp(first.text, s->text, s->len),
                  "%s\n%s\nsay different things or nothing, with %d and %d:\n%.1000s\n%.1000s", line, other,
                  first.status, s->status, first.text, s->text);
}

const struct said *sh_on_terminal(const char *line, unsigned short rows, unsigned short columns)
{
    static struct said s;
    int fd;
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    pid_t child = forkpty(&fd, NULL, NULL, &size);
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        execlp("bash", "bash", "-e", "-o", "pipefail", "-c", line, (char *)NULL);
        _exit(126);
    }
    take_all(&s, fd);
    s.status = shell_status((struct running){.pid = child, .ends = -1});
    return &s;
}

const char *on_terminal(const char *line, int status)
{
    const struct said *s = sh_on_terminal(line, 24, 60);
    ck_assert_msg(s->status == status, "%s\nended with %d, not %d, and said:\n%s", line, s->status, status, s->text);
    return s->text;
}

bool no_terminal(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd < 0)
        skipped("pseudo-terminals", NULL);
    else
        close(fd);
    return fd < 0;
}

bool has_program(const char *name, const char *package)
{
    bool has = !sh(printed("command -v %s", name))->status;
    if (!has)
        skipped(name, printed("sudo apt-get install %s", package));
    return has;
}

const char *python_with(const char *module)
{
    const char *names[] = {getenv("ATTN_PYTHON"), pythons[0], pythons[1]};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && !sh(printed("%s -c 'import %s' 2>/dev/null", names[i], module))->status)
            return names[i];
    skipped(printed("python3 with %s", module),
            printed("sudo apt-get install python3-%s, or name another in ATTN_PYTHON", module));
    return NULL;
}

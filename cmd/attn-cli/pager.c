#include "pager.h"

#include "table.h"

#include "base/os.h"
#include "base/target.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int terminal = -1;               /* standard output, while a file in memory stands for it */

int pager_out(void)
{
    return terminal < 0 ? STDOUT_FILENO : terminal;
}

FILE *pager_messages(void)
{
    return terminal >= 0 && isatty(STDERR_FILENO) ? stdout : stderr;
}

/* ---- which pager ------------------------------------------------------------------------- */

/* The command; NULL: none is wanted.  A terminal that cannot move its cursor is not offered `less`. */
static const char *pager_command(void)
{
    const char *ours = getenv("ATTN_PAGER"), *term = getenv("TERM");
    const char *command = ours ? ours : getenv("PAGER");
    if (!command)
        command = term && strcmp(term, "dumb") != 0 ? "less" : "";
    while (*command == ' ')
        command++;
    return !*command || !strcmp(command, "cat") ? NULL : command;
}

/* ---- what is held ------------------------------------------------------------------------ */

void pager_hold(void)
{
    if (common.no_pager || terminal >= 0 || !isatty(STDOUT_FILENO) || !pager_command() || fflush(stdout))
        return;
    int file = attn_os_memory_file("attn-cli"), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (file >= 0 && out >= 0 && dup2(file, STDOUT_FILENO) == STDOUT_FILENO)
        terminal = out;
    else if (out >= 0)
        close(out);
    attn_target_hold(terminal >= 0);
    if (file >= 0)
        close(file);
}

/* The lines that a text takes on a screen; colours take no room. */
static size_t lines_of(const char *text, size_t len, size_t columns)
{
    size_t lines = 0, wide = 0;
    for (const char *end = text + len; text < end;) {
        const char *stop = text;
        while (stop < end && *stop != '\n' && *stop != '\033')
            stop++;
        wide += attn_utf8_width(text, (size_t)(stop - text));
        if (stop < end && *stop == '\033')
            while (stop < end && *stop != 'm' && *stop != '\n')
                stop++;
        if (stop == end || *stop == '\n') {
            lines += wide > columns ? (wide + columns - 1) / columns : 1;
            wide = 0;
        }
        text = stop + (stop < end);
    }
    return lines;
}

/* A shell's next prompt takes a line, too. */
static bool is_longer(const char *text, size_t len)
{
    struct winsize w;
    if (ioctl(terminal, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
        return false;
    return lines_of(text, len, w.ws_col) >= w.ws_row;
}

static bool is_text(const char *text, size_t len)
{
    return !memchr(text, '\0', len) && attn_utf8_valid(text, len) == len;
}

/* ---- showing ----------------------------------------------------------------------------- */

static volatile sig_atomic_t child, caught;

static void pass_on(int number)
{
    caught = number;
    kill((pid_t)child, number);
}

/* Starts the pager with the file as its standard input; -1: it cannot be started. */
static pid_t start(int file)
{
    pid_t pid = -1;
    const char *argv[] = {"sh", "-c", pager_command(), NULL};
    posix_spawn_file_actions_t streams;
    posix_spawnattr_t attr;
    sigset_t usual, none;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    setenv("LESS", "FRX", 0);
    if (posix_spawn_file_actions_init(&streams))
        return -1;
    bool joined = !posix_spawn_file_actions_adddup2(&streams, file, STDIN_FILENO) &&
                  !posix_spawn_file_actions_adddup2(&streams, terminal, STDOUT_FILENO);
    if (joined && !posix_spawnattr_init(&attr)) {
        posix_spawnattr_setsigdefault(&attr, &usual);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (posix_spawn(&pid, "/bin/sh", &streams, &attr, (char *const *)argv, environ))
            pid = -1;
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&streams);
    return pid;
}

/* The keyboard's signals are the pager's while it runs; one that asks us to end is passed on, and obeyed when it has
 * ended, so that the terminal is left as it was.  Returns whether the text was shown: a shell says 126 and 127 of what
 * it cannot run. */
static bool wait_for(pid_t pid)
{
    static const int number[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof number / sizeof *number, OURS = 2 };
    struct sigaction old[SIGNALS], new = {.sa_handler = SIG_IGN};
    int end = 0;
    child = pid;
    sigemptyset(&new.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        new.sa_handler = i < OURS ? SIG_IGN : pass_on;
        sigaction(number[i], &new, &old[i]);
    }
    while (waitpid(pid, &end, 0) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(number[i], &old[i], NULL);
    if (caught)
        raise(caught);
    return !WIFEXITED(end) || (WEXITSTATUS(end) != 126 && WEXITSTATUS(end) != 127);
}

static bool page(int file)
{
    pid_t pid = lseek(file, 0, SEEK_SET) == 0 ? start(file) : -1;
    return pid > 0 && wait_for(pid);
}

/* Without memory or a handle to look at what is held. */
static void copy_to_terminal(int file)
{
    char part[4096];
    ssize_t n;
    for (off_t at = 0; (n = pread(file, part, sizeof part, at)) > 0; at += n)
        if (write(terminal, part, (size_t)n) != n)
            return;
}

/* A failed write is seen by process_finish_output. */
void pager_show(void)
{
    struct stat st = {.st_size = 0};
    if (terminal < 0)
        return;
    fflush(stdout);
    int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    size_t len = file >= 0 && !fstat(file, &st) ? (size_t)st.st_size : 0;
    char *text = len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (text == MAP_FAILED)
        copy_to_terminal(STDOUT_FILENO);
    dup2(terminal, STDOUT_FILENO);
    if (text != MAP_FAILED) {
        if (!(is_text(text, len) && is_longer(text, len) && page(file)))
            fwrite(text, 1, len, stdout);
        munmap(text, len);
    }
    if (file >= 0)
        close(file);
    close(terminal);
    terminal = -1;
    attn_target_hold(false);
}

/* main.c - finds the row of the command, calls it, and returns its exit status. */
#include "help.h"
#include "opts.h"
#include "overflow.h"
#include "say.h"
#include "spare.h"
#include "stack.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* stdio is not safe in a signal handler, so write() is called directly.  Control bytes of a name are not obeyed. */
static void put(const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        ssize_t ignored = write(STDERR_FILENO, c < 0x20 || c == 0x7f ? "?" : text, 1);
        (void)ignored;
    }
}

/* Handler of SIGBUS. */
static void file_shrank(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    const char *path = info->si_code > 0 ? attn_file_mapped_at(info->si_addr) : NULL;         /* else somebody sent it */
    put("attn-cli: ");
    put(path ? path : "a mapped file");
    put(path ? ": this mapped file shrank while it was being read" : " shrank while it was being read");
    ssize_t ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    attn_files_abandon();
    _exit(1);
}

/* With SIGPIPE and SIGXFSZ ignored, a failed write is an error that we report instead of the end of the process. */
static void set_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    struct sigaction a = {.sa_sigaction = file_shrank, .sa_flags = SA_SIGINFO};
    sigemptyset(&a.sa_mask);
    sigaction(SIGBUS, &a, NULL);
}

/* If we are started with a standard stream closed, the next file opened would get its number.  The replacement fails as the
 * closed stream would: 0 cannot be read, 1 cannot be written. */
static bool fill_standard_streams(void)
{
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
            return false;
    return true;
}

/* A non-blocking pipe fails with EAGAIN, which stdio takes for an error like a full disk.  Others may share the pipe, so its
 * flags stay as they are, and we wait until it can be written. */
static ssize_t write_waiting(void *cookie, const char *data, size_t len)
{
    int fd = *(const int *)cookie;
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(fd, data + done, len - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            return done ? (ssize_t)done : -1;
    }
    return (ssize_t)done;
}

static void wait_for_pipe(FILE **stream, int fd, int buffering)
{
    static int fds[3];
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || !(flags & O_NONBLOCK))
        return;
    fds[fd] = fd;
    FILE *f = fopencookie(&fds[fd], "w", (cookie_io_functions_t){.write = write_waiting});
    if (!f)
        return;
    setvbuf(f, NULL, buffering, BUFSIZ);
    *stream = f;
}

static bool reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* Whether errno may come from a failed write: that may have been long ago, and errno may have changed since. */
static bool is_of_writing(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG || number == EIO || number == EBADF || number == EPIPE;
}

static int finish_output(struct attn_err *err)
{
    bool before = ferror(stdout) != 0, now = fflush(stdout) != 0;
    if ((before || now) && reader_gone())
        return ATTN_OK;
    if (before && !is_of_writing(errno))
        return fail(err, ATTN_EIO, "standard output: not all of it could be written: is the disk full?");
    if (before || now || fclose(stdout))
        return fail_errno(err, "standard output", "write");
    return ATTN_OK;
}

static int call(const struct command *c, char **argv, struct attn_err *err)
{
    if (opts_parse(c, argv, err))
        return err->code;
    if (common.version)
        puts("attn-cli " ATTN_VERSION);
    else if (common.help && c != &help_command)
        help_print_command(stdout, c);
    else if (spare_inputs(c, err) || c->run(err))
        return err->code;
    return ATTN_OK;
}

/* Whether the argument is an option of c: "-s" for a letter, "--show" or "--show=dots" for a name. */
static bool has_option(const struct command *c, const char *arg)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        size_t len = strlen(o->name);
        bool by_name = arg[1] == '-' && !strncmp(arg + 2, o->name, len) && (!arg[2 + len] || arg[2 + len] == '=');
        if (by_name || (arg[1] && arg[1] == o->letter))
            return true;
    }
    return false;
}

/* Without a command only the options of `help` are valid, as in `attn-cli --version`. */
static const struct command *command_for_option(const char *arg, struct attn_err *err)
{
    if (has_option(&help_command, arg))
        return &help_command;
    for (size_t i = 0; commands[i]; i++)
        if (has_option(commands[i], arg)) {
            fail(err, ATTN_EUSAGE, "'%s' goes after a command: attn-cli %s %s ...", excerpt(arg).text, commands[i]->name,
                 excerpt(arg).text);
            return NULL;
        }
    return &help_command;               /* it suggests the nearest command */
}

static int work(int argc, char **argv)
{
    struct attn_err err = {0}, late = {0};
    if (argc < 2) {
        help_print_short(stderr);
        return 2;
    }
    bool named = argv[1][0] != '-';
    const struct command *c = named ? command_find(argv[1], &err) : command_for_option(argv[1], &err);
    if (!c)
        return say_error(NULL, &err);
    int code = call(c, argv + (named ? 2 : 1), &err);
    if (finish_output(&late) && !code) {
        err = late;
        code = late.code;
    }
    overflow_say();
    return code ? say_error(named ? c->name : NULL, &err) : common.status;
}

int main(int argc, char **argv)
{
    if (!fill_standard_streams())
        return 1;
    set_signals();
    wait_for_pipe(&stdout, STDOUT_FILENO, _IOFBF);
    wait_for_pipe(&stderr, STDERR_FILENO, _IONBF);
    return stack_enough(work, argc, argv);
}

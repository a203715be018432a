#include "process.h"
#include "attn_tools.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- signals ----------------------------------------------------------------------------- */

/* stdio is not safe in a signal handler, so write() is called directly.  Control bytes of a name are not obeyed. */
static void put(const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        ssize_t ignored = write(STDERR_FILENO, c < 0x20 || c == 0x7f ? "?" : text, 1);
        (void)ignored;
    }
}

static volatile sig_atomic_t trouble = 1;

int process_trouble(void) { return trouble; }
void process_set_trouble(int status) { trouble = status; }

/* Handler of SIGBUS. */
static void file_shrank(int number, siginfo_t *info, void *context)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    (void)number;
    (void)context;
    while (atomic_flag_test_and_set(&said))
        pause();                        /* another thread is saying so */
    /* else somebody sent it */
    const char *path = info->si_code > 0 ? attn_file_mapped_at(info->si_addr) : NULL;
    put("attn-cli: ");
    put(path ? path : "a mapped file");
    put(path ? ": this mapped file shrank while it was being read" : " shrank while it was being read");
    ssize_t ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    attn_files_abandon();
    _exit(trouble);
}

/* Handler of signals that end the process: what is half written goes with it. */
static void end_by(int number)
{
    attn_files_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

/* With SIGPIPE and SIGXFSZ ignored, a failed write is an error that we report instead of the end of the process. */
static void set_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    struct sigaction a = {.sa_handler = end_by}, before;
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)     /* but what nohup or a background shell ignores */
        if (!sigaction(ends[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(ends[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    struct sigaction shrank = {.sa_sigaction = file_shrank, .sa_flags = SA_SIGINFO};
    sigemptyset(&shrank.sa_mask);
    sigaction(SIGBUS, &shrank, NULL);
}

/* ---- standard streams -------------------------------------------------------------------- */

/* If we are started with a standard stream closed, the next file opened would get its number.  The replacement fails as
 * the closed stream would: 0 cannot be read, 1 cannot be written.  Where there is no /dev, it is the root directory. */
static bool fill_standard_streams(void)
{
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd && open("/", O_PATH) != fd)
            return false;
    return true;
}

/* A non-blocking pipe fails with EAGAIN, which stdio takes for an error like a full disk.  Others may share the pipe,
 * so its flags stay as they are, and we wait until it can be written; where no stream of our own can do so, the pipe
 * blocks until we exit. */
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

static bool blocks_for_us[3];

static void unblock(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (blocks_for_us[fd])
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void wait_for_pipe(FILE *const *stream, int fd, int buffering)
{
    static int fds[3];
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || !(flags & O_NONBLOCK))
        return;
    fds[fd] = fd;
    FILE *f = attn_os_stream(&fds[fd], write_waiting);
    if (f) {
        setvbuf(f, NULL, buffering, BUFSIZ);
        *(FILE **)(uintptr_t)stream = f;        /* no constant where there are such streams */
    } else if (!fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
        blocks_for_us[fd] = !atexit(unblock);
}

static bool reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* Whether errno may come from a failed write: that may have been long ago, and errno may have changed since. */
static bool is_of_writing(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG || number == EIO || number == EBADF ||
           number == EPIPE;
}

int process_finish_output(struct attn_err *err)
{
    bool before = ferror(stdout) != 0, now = fflush(stdout) != 0;
    if ((before || now) && reader_gone())
        return ATTN_OK;
    if (before && !is_of_writing(errno))
        return attn_fail(err, ATTN_EIO, "standard output: not all of it could be written: is the disk full?");
    if (before || now || fclose(stdout))
        return attn_fail_errno(err, "standard output", "write");
    return ATTN_OK;
}

/* ---- stack ------------------------------------------------------------------------------- */

/* Bytes: what attn.h asks for, with room for arguments; and Linux's default. */
enum { ENOUGH = 1 << 20, USUAL = 8 << 20 };
enum { HELD = 256 << 10 };                      /* what attn.h asks for, and what the commands need */

struct job { int (*work)(int argc, char **argv); int argc; char **argv; int result; };

static void *carry_out(void *arg)
{
    struct job *j = arg;
    j->result = j->work(j->argc, j->argv);
    return NULL;
}

static bool is_small(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur < ENOUGH;
}

static bool start(pthread_t *thread, struct job *j)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return false;
    bool started = !pthread_attr_setstacksize(&attr, USUAL) && !pthread_create(thread, &attr, carry_out, j);
    pthread_attr_destroy(&attr);
    return started;
}

/* By one touch: each page on the way would be memory, and time at every start. */
#if defined(__GNUC__) && !defined(__clang__)
#define ONE_TOUCH __attribute__((noinline, optimize("no-stack-clash-protection")))
#else
#define ONE_TOUCH __attribute__((noinline))
#endif

/* Touches the far end of a deep frame, which the compiler must not shorten.  The kernel keeps the address space of a
 * stack that has grown. */
static ONE_TOUCH void grow(void)
{
    char deepest[HELD];
    deepest[0] = 0;
    __asm__ volatile("" : : "r"(deepest) : "memory");
}

/* A stack that cannot grow ends the process with no word said.  Later all memory may be in use, so it grows now. */
static bool hold_stack(void)
{
    void *room = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, HELD);
    grow();
    return true;
}

/* The main thread's stack cannot grow beyond the limit, and the hard limit may forbid raising it.  A new thread's stack
 * is not bound by it, so under a small limit a thread does the work. */
static int with_enough_stack(int (*work)(int argc, char **argv), int argc, char **argv)
{
    struct job j = {work, argc, argv, 1};
    pthread_t thread;
    sigset_t all;
    const bool small = is_small();
    if (!small && !hold_stack()) {
        fputs("attn-cli: no memory for a stack of 256 KB\n", stderr);
        return trouble;
    }
    if (!small || !start(&thread, &j))
        return work(argc, argv);
    sigfillset(&all);                   /* signals interrupt the worker instead, so that a read that waits returns */
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_join(thread, NULL);
    return j.result;
}

static const char *called = "attn-cli";

const char *process_called(void) { return called; }

int process_run(int (*work)(int argc, char **argv), int argc, char **argv)
{
    if (!fill_standard_streams()) {
        put("attn-cli: a standard stream is closed, and nothing could be opened in its place\n");
        return trouble;
    }
    set_signals();
    wait_for_pipe(&stdout, STDOUT_FILENO, _IOFBF);
    wait_for_pipe(&stderr, STDERR_FILENO, _IONBF);
    called = argv[0];
    return with_enough_stack(work, argc, argv);
}

/* ---- stopping early ---------------------------------------------------------------------- */

static volatile sig_atomic_t caught;
static double deadline;                 /* 0: no limit */

static void note_signal(int number)
{
    if (caught)
        end_by(number);
    caught = 1;
}

/* Without SA_RESTART a waiting read returns.  A signal that was ignored is caught as well: shells ignore SIGINT for
 * jobs in the background, but whoever sends it to one of them means it. */
static void catch_signal(int number)
{
    struct sigaction a = {.sa_handler = note_signal};
    sigemptyset(&a.sa_mask);
    sigaction(number, &a, NULL);
}

void stop_watch(double max_seconds)
{
    deadline = max_seconds > 0 ? attn_clock_now() + max_seconds : 0;
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

bool stop_asked(void)
{
    return caught || (deadline > 0 && attn_clock_now() >= deadline);
}

bool stop_by_time(void)
{
    return !caught && stop_asked();
}

/* fault.c - a library to preload that counts a program's calls to the system and fails, or kills, at one of them.
 *
 * The environment says what to do; faults.py sets it and reads the answer:
 *   FAULT_STATE  a file of sizeof(struct state) bytes, which gets the count and what was hit
 *   FAULT_HOW    count (the default), sites (the same, and where each call comes from), fail, rest (this call and all
 *                later ones of its kind), before, after (SIGKILL)
 *   FAULT_AT     which call, from 1
 *   FAULT_PICK   which of the errors that the call may have
 *   FAULT_ASKED  if set, calls count only between fault_counts(1) and fault_counts(0)
 * When it fails calls, every call listed here counts.  When it kills, only those count that change a file or a
 * directory.  Writes to standard error neither count nor fail: that is where messages must still appear. */
#define _GNU_SOURCE 1

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum kind { MEMORY, LOOK, CHANGE };
enum { SHORT = -1 };                    /* in place of an error: half of the bytes, as read and write may do */
enum how { COUNT, SITES, FAIL, REST, BEFORE, AFTER };
/* calls whose place is kept; functions of the program that make a place */
enum { MOST_SITES = 1 << 16, SITE_DEPTH = 3 };

struct state {
    atomic_uint_least64_t calls, hits;
    char name[24], error[24];           /* the call that was hit first, and how it failed */
    uint64_t from[8];                   /* who called it: addresses in the program, 0-terminated */
    uint64_t site[MOST_SITES];          /* of each call, a number for where it comes from */
};

static struct state *state;
static enum how how;
static uint64_t at;
static unsigned pick;
static atomic_int broken = -1;          /* REST: the kind of call that fails from now on */
static atomic_bool counting = true;
static __thread bool inside;            /* our own calls are the program's no more than those of the C library */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static uint64_t number(const char *name)
{
    const char *s = getenv(name);
    return s ? strtoull(s, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const hows[] = {"count", "sites", "fail", "rest", "before", "after"};
    const char *path = getenv("FAULT_STATE"), *ask = getenv("FAULT_HOW");
    counting = !getenv("FAULT_ASKED");
    inside = true;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    for (int i = 0; i < 6 && ask; i++)
        if (!strcmp(ask, hows[i]))
            how = (enum how)i;
    at = number("FAULT_AT");
    pick = (unsigned)number("FAULT_PICK");
    inside = false;
    if (p != MAP_FAILED) {
        memset(p, 0, how == SITES ? sizeof *state : offsetof(struct state, site));
        state = p;
    }
}

void fault_counts(int on);
void fault_counts(int on) { counting = on != 0; }

/* Who calls: addresses relative to where the program was loaded, as addr2line takes them; returns how many. */
static int callers(uint64_t *from, int most)
{
    void *frames[24];
    Dl_info in;
    int n = backtrace(frames, 24), k = 0;
    for (int i = 0; i < n && k < most; i++)
        if (dladdr(frames[i], &in) && in.dli_fname &&
            (strstr(in.dli_fname, "attn-cli") || strstr(in.dli_fname, "libattn")))
            from[k++] = (uint64_t)((char *)frames[i] - (char *)in.dli_fbase) - 1;
    return k;
}

static uint64_t site(void)
{
    uint64_t from[SITE_DEPTH], sum = 0;
    for (int k = 0, n = callers(from, SITE_DEPTH); k < n; k++)
        sum = (sum ^ from[k]) * 0x100000001b3;
    return sum;
}

static void note(const char *name, int error)
{
    snprintf(state->name, sizeof state->name, "%s", name);
    snprintf(state->error, sizeof state->error,
             "%s", error == SHORT ? "short" : error ? strerrorname_np(error) : "killed");
    callers(state->from, 7);
}

/* Counts a call; returns the error that it is to fail with, or 0. */
static int enter(const char *name, enum kind kind, const int *errors, size_t n)
{
    bool kills = how == BEFORE || how == AFTER;
    if (!state || inside || !counting || (kills && kind != CHANGE))
        return 0;
    uint64_t call = atomic_fetch_add(&state->calls, 1) + 1;
    if (how == SITES && call <= MOST_SITES) {
        inside = true;
        state->site[call - 1] = site();
        inside = false;
    }
    if (how <= SITES || (call != at && broken != (int)kind))
        return 0;
    inside = true;
    size_t i = pick % n;
    while (how == REST && i + 1 < n && (errors[i] == EINTR || errors[i] == SHORT))
        i++;                            /* these may be tried again for ever */
    int error = kills ? 0 : errors[how == REST && errors[i] == EINTR ? 0 : i];
    if (atomic_fetch_add(&state->hits, 1) == 0)
        note(name, error);
    inside = false;
    if (how == BEFORE)
        raise(SIGKILL);
    if (how == REST)
        broken = (int)kind;
    return how == AFTER ? 0 : error;
}

static void leave(enum kind kind)
{
    if (state && !inside && how == AFTER && kind == CHANGE && atomic_load(&state->calls) >= at)
        raise(SIGKILL);
}

#define ENTER(name, kind, ...) enter(name, kind, (const int[]){__VA_ARGS__}, \
                                     sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
/* Leaves the C library's own function in `real`. */
#define FIND(type, name, params) \
    static type (*real) params; \
    if (!real) { \
        bool was = inside; \
        inside = true; \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        inside = was; \
    }
/* A function that returns `failure` and sets errno. */
#define CALL(type, name, params, args, kind, failure, ...) \
type name params \
{ \
    FIND(type, name, params) \
    int e = ENTER(#name, kind, __VA_ARGS__); \
    if (e) { \
        errno = e; \
        return failure; \
    } \
    type result = real args; \
    leave(kind); \
    return result; \
}

/* ---- memory ---------------------------------------------------------------------------- */

static bool no_memory(const char *name)
{
    if (!ENTER(name, MEMORY, ENOMEM))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n) { return no_memory("malloc") ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return no_memory("calloc") ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return no_memory("realloc") ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) { return no_memory("aligned_alloc") ? NULL : __libc_memalign(align, n); }
CALL(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t from), (p, n, prot, flags, fd, from), MEMORY,
     MAP_FAILED, ENOMEM)
CALL(int, mprotect, (void *p, size_t n, int prot), (p, n, prot), MEMORY, -1, ENOMEM, EACCES)
CALL(int, madvise, (void *p, size_t n, int advice), (p, n, advice), MEMORY, -1, EINVAL, EAGAIN)

/* ---- looking --------------------------------------------------------------------------- */

CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t from), (fd, p, n, from), LOOK, -1, EIO, EINTR)
CALL(off_t, lseek, (int fd, off_t to, int whence), (fd, to, whence), LOOK, -1, EIO)
CALL(int, stat, (const char *path, struct stat *st), (path, st), LOOK, -1, EIO, EACCES)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), LOOK, -1, EIO, EACCES)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), LOOK, -1, EIO)
CALL(int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags), LOOK, -1,
     EIO, EACCES)
CALL(int, statvfs, (const char *path, struct statvfs *st), (path, st), LOOK, -1, EIO, EINTR)
CALL(int, access, (const char *path, int mode), (path, mode), LOOK, -1, EIO, EACCES)
CALL(int, euidaccess, (const char *path, int mode), (path, mode), LOOK, -1, EIO, EACCES)
CALL(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), LOOK, -1, EIO, EACCES)
CALL(char *, realpath, (const char *path, char *to), (path, to), LOOK, NULL, EIO, EACCES, ENOMEM)
CALL(char *, getcwd, (char *to, size_t n), (to, n), LOOK, NULL, ENOENT)
CALL(DIR *, opendir, (const char *path), (path), LOOK, NULL, EMFILE, EACCES)
CALL(DIR *, fdopendir, (int fd), (fd), LOOK, NULL, ENOMEM)
CALL(struct dirent *, readdir, (DIR *dir), (dir), LOOK, NULL, EIO)
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), LOOK, NULL, EMFILE, EACCES, EINTR)
CALL(FILE *, open_memstream, (char **text, size_t *n), (text, n), LOOK, NULL, ENOMEM)
CALL(int, flock, (int fd, int what), (fd, what), LOOK, -1, EINTR, ENOLCK, EWOULDBLOCK)
CALL(int, poll, (struct pollfd *fds, nfds_t n, int wait), (fds, n, wait), LOOK, -1, EINTR, ENOMEM)
CALL(ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags), LOOK, -1, EINTR, EAGAIN)
CALL(int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t *set), (pid, n, set), LOOK, -1, EINVAL)

int pthread_create(pthread_t *thread, const pthread_attr_t *a, void *(*work)(void *), void *arg)
{
    FIND(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    int e = ENTER("pthread_create", LOOK, EAGAIN);
    return e ? e : real(thread, a, work, arg);
}

ssize_t read(int fd, void *p, size_t n)
{
    FIND(ssize_t, read, (int, void *, size_t))
    int e = ENTER("read", LOOK, EIO, EINTR, SHORT);
    if (e == SHORT)
        return real(fd, p, n > 1 ? n / 2 : n);
    errno = e ? e : errno;
    return e ? -1 : real(fd, p, n);
}

/* Linux closes a file even when close fails. */
int close(int fd)
{
    FIND(int, close, (int))
    int e = ENTER("close", LOOK, EIO, EINTR, ENOSPC), rc = real(fd);
    errno = e ? e : errno;
    return e ? -1 : rc;
}

int fclose(FILE *f)
{
    FIND(int, fclose, (FILE *))
    int e = ENTER("fclose", LOOK, EIO, ENOSPC), rc = real(f);
    errno = e ? e : errno;
    return e ? EOF : rc;
}

/* ---- changing -------------------------------------------------------------------------- */

CALL(int, ftruncate, (int fd, off_t n), (fd, n), CHANGE, -1, EIO, EINTR, EFBIG)
CALL(int, fsync, (int fd), (fd), CHANGE, -1, EIO, ENOSPC)
CALL(int, fdatasync, (int fd), (fd), CHANGE, -1, EIO, ENOSPC, EINTR)
CALL(int, syncfs, (int fd), (fd), CHANGE, -1, EIO, ENOSPC)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), CHANGE, -1, EPERM, EIO)
CALL(int, chmod, (const char *path, mode_t mode), (path, mode), CHANGE, -1, EPERM, EIO)
CALL(int, rename, (const char *from, const char *to), (from, to), CHANGE, -1, EIO, ENOSPC, EACCES)
CALL(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), CHANGE, -1, EIO, ENOSPC, EACCES)
CALL(int, link, (const char *from, const char *to), (from, to), CHANGE, -1, EXDEV, EMLINK, EPERM, ENOSPC)
CALL(int, symlink, (const char *from, const char *to), (from, to), CHANGE, -1, EIO, ENOSPC)
CALL(int, unlink, (const char *path), (path), CHANGE, -1, EIO, EACCES)
CALL(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), CHANGE, -1, EIO, EACCES)
CALL(int, remove, (const char *path), (path), CHANGE, -1, EIO, EACCES)
CALL(int, rmdir, (const char *path), (path), CHANGE, -1, EIO, EBUSY)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), CHANGE, -1, ENOSPC, EACCES, EIO)
CALL(char *, mkdtemp, (char *path), (path), CHANGE, NULL, ENOSPC, EACCES)
CALL(int, mkstemp, (char *path), (path), CHANGE, -1, ENOSPC, EACCES)

static ssize_t put(const char *name, int fd, const void *p, size_t n, const off_t *to)
{
    FIND(ssize_t, write, (int, const void *, size_t))
    if (fd == STDERR_FILENO)
        return real(fd, p, n);
    int e = ENTER(name, CHANGE, ENOSPC, EIO, EINTR, SHORT);
    if (e && e != SHORT) {
        errno = e;
        return -1;
    }
    size_t some = e == SHORT && n > 1 ? n / 2 : n;
    ssize_t rc = to ? pwrite64(fd, p, some, *to) : real(fd, p, some);
    leave(CHANGE);
    return rc;
}

ssize_t write(int fd, const void *p, size_t n) { return put("write", fd, p, n, NULL); }
ssize_t pwrite(int fd, const void *p, size_t n, off_t to) { return put("pwrite", fd, p, n, &to); }

int open(const char *path, int flags, ...)
{
    FIND(int, open, (const char *, int, ...))
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    enum kind kind = flags & (O_CREAT | O_TRUNC) ? CHANGE : LOOK;
    int e = kind == CHANGE ? ENTER("open", CHANGE, ENOSPC, EMFILE, EINTR, EIO) :
        ENTER("open", LOOK, EMFILE, EIO, EINTR, EACCES);
    if (e) {
        errno = e;
        return -1;
    }
    int fd = real(path, flags, mode);
    leave(kind);
    return fd;
}

/* What a fortified program calls where it chooses the flags as it runs. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) { return open(path, flags); }

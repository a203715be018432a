#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"

#if defined(__linux__) && !defined(ATTN_PORTABLE)
#define LINUX 1
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#else
#define LINUX 0
#endif

/* ---- what the system says of itself -------------------------------------------------------- */

int attn_os_open(const char *path)
{
#if LINUX
    return attn_disk_open(path, O_RDONLY, 0);
#else
    (void)path;
    errno = ENOSYS;
    return -1;
#endif
}

size_t attn_os_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

bool attn_os_program(char *to, size_t size, const char *called)
{
#if LINUX
    ssize_t n = readlink("/proc/self/exe", to, size - 1);
    if (n > 0 && (size_t)n < size - 1) {
        to[n] = '\0';
        return true;
    }
#endif
    if (strlen(called) >= size)
        return false;
    strcpy(to, called);
    return true;
}

/* ---- stacks -------------------------------------------------------------------------------- */

uintptr_t attn_os_stack_end(void)
{
    void *lowest = NULL;
#if LINUX
    pthread_attr_t attr;
    size_t size;
    if (syscall(SYS_gettid) == getpid() || pthread_getattr_np(pthread_self(), &attr))
        return 1;
    pthread_attr_getstack(&attr, &lowest, &size);
    pthread_attr_destroy(&attr);
#endif
    return lowest ? (uintptr_t)lowest : 1;
}

/* ---- random numbers ------------------------------------------------------------------------ */

static bool random_of_system(uint64_t *to)
{
#if LINUX
    if (getrandom(to, sizeof *to, GRND_NONBLOCK) == (ssize_t)sizeof *to)
        return true;
#endif
    int fd = attn_disk_open("/dev/urandom", O_RDONLY, 0);
    struct stat st;
    bool got = fd >= 0 && !fstat(fd, &st) && S_ISCHR(st.st_mode) && read(fd, to, sizeof *to) == (ssize_t)sizeof *to;
    if (fd >= 0)
        close(fd);
    return got;
}

/* Mixes all bits of x into all others, so that near numbers give far ones (splitmix64). */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

uint64_t attn_os_random(void)
{
    static _Atomic uint64_t calls;
    uint64_t x;
    struct timespec t = {0};
    if (random_of_system(&x))
        return x;
    clock_gettime(CLOCK_REALTIME, &t);
    x = mixed((uint64_t)t.tv_sec << 30 ^ (uint64_t)t.tv_nsec) ^ mixed((uint64_t)getpid() << 32 ^ (uintptr_t)&t);
    return mixed(x + atomic_fetch_add(&calls, 1));
}

/* ---- memory -------------------------------------------------------------------------------- */

enum { RETRIES = 64 };                  /* of random names that somebody else has */

/* A new file of a random name in a directory, which is removed at once; -1 with errno.  Else errno stays: it may
 * still say why an output could not be written. */
static int unnamed_in(const char *dir, const char *what)
{
    char path[512];
    int fd = -1;
    for (int i = 0; i < RETRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        int n = snprintf(path, sizeof path, "%s/.%s.%016" PRIx64, dir, what, attn_os_random());
        if (n < 0 || (size_t)n >= sizeof path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = attn_disk_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    }
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int unnamed_shared(const char *what)
{
    char name[64];
    int fd = -1;
    for (int i = 0; i < RETRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        snprintf(name, sizeof name, "/%.32s.%016" PRIx64, what, attn_os_random());
        fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    }
    if (fd >= 0)
        shm_unlink(name);
    return fd;
}

int attn_os_memory_file(const char *what)
{
#if LINUX
    enum { NO_NAME_EXECUTED = 8 };      /* MFD_NOEXEC_SEAL, which headers of 2022 lack: nobody runs it as a program */
    int in_memory = memfd_create(what, MFD_CLOEXEC | NO_NAME_EXECUTED);
    if (in_memory < 0 && errno == EINVAL)                       /* before Linux 6.3 */
        in_memory = memfd_create(what, MFD_CLOEXEC);
    if (in_memory >= 0)
        return in_memory;
#endif
    const char *tmp = getenv("TMPDIR");
    int fd = unnamed_shared(what);
    if (fd < 0 && tmp && *tmp)
        fd = unnamed_in(tmp, what);
    return fd < 0 ? unnamed_in("/tmp", what) : fd;
}

void attn_os_large_pages(void *data, size_t len)
{
#if LINUX && defined(MADV_HUGEPAGE)
    madvise(data, len, MADV_HUGEPAGE);  /* if it is not heeded, all else stays the same */
#else
    (void)data, (void)len;
#endif
}

bool attn_os_sync_all(int fd)
{
#if LINUX
    int rc;
    do
        rc = syncfs(fd);
    while (rc && errno == EINTR);
    if (!rc || (errno != ENOSYS && errno != EPERM))
        return rc == 0;
#endif
    sync();                             /* says nothing of errors; what is here may */
    return attn_disk_sync(fd) || errno == EINVAL;
}

bool attn_os_tiles(void)
{
#if LINUX && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILES = 18 };   /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILES) == 0;
#else
    return false;
#endif
}

/* ---- streams ------------------------------------------------------------------------------- */

FILE *attn_os_stream(void *self, ssize_t (*write)(void *self, const char *data, size_t len))
{
#if LINUX && defined(__GLIBC__)         /* musl has it, too, but its stdout is a constant */
    return fopencookie(self, "w", (cookie_io_functions_t){.write = write});
#else
    (void)self, (void)write;
    return NULL;
#endif
}

/* ---- processors ---------------------------------------------------------------------------- */

#if LINUX
_Static_assert(sizeof(cpu_set_t) == sizeof(struct attn_places), "a set holds what the system's does");

static cpu_set_t set_of(const struct attn_places *p)
{
    cpu_set_t set;
    memcpy(&set, p->may, sizeof set);
    return set;
}
#endif

int attn_place_now(void)
{
#if LINUX
    return sched_getcpu();
#else
    return -1;
#endif
}

void attn_places_find(struct attn_places *p)
{
    *p = (struct attn_places){0};
#if LINUX
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))        /* else more processors than a set can hold */
        memcpy(p->may, &set, sizeof set);
#endif
}

int attn_places_count(const struct attn_places *p)
{
    int n = 0;
    for (size_t i = 0; i < sizeof p->may / sizeof *p->may; i++)
        n += __builtin_popcountll(p->may[i]);
    return n > 0 ? n : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* If the kernel refuses, the thread stays where it is: that is slow, but not wrong. */
void attn_place_off(const struct attn_places *p, int cpu, pthread_t thread)
{
#if LINUX
    cpu_set_t others = set_of(p);
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) > 0)
        (void)pthread_setaffinity_np(thread, sizeof others, &others);
#else
    (void)p, (void)cpu, (void)thread;
#endif
}

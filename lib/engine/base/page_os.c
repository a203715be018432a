/* page_os.c - files in memory in place of a system's, for WebAssembly alone; see page_os.h. */
#include "base/page_os.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wasi/api.h>

struct page_file { char *name; unsigned char *bytes; size_t n; struct page_file *next; };
static struct page_file *files;

__attribute__((import_module("env"), import_name("now"))) double env_now(void);     /* milliseconds */

int attn_page_file(const char *name, void *bytes, size_t n)
{
    struct page_file *f = files;
    name += strspn(name, "/");
    while (f && strcmp(f->name, name))
        f = f->next;
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f || !(f->name = strdup(name))) {
            free(f);
            return 0;
        }
        f->next = files;
        files = f;
    } else
        free(f->bytes);
    f->bytes = bytes;
    f->n = n;
    return 1;
}

/* ---- names --------------------------------------------------------------------------------- */

enum { NAME = 1024 };

/* The name of a path below directory `dir`, without "." and "..", empty parts and a slash at its end; false: it is too
 * long, or leads out. */
static bool plain_name(char out[NAME], const char *dir, const char *path, size_t len)
{
    size_t n = strlen(strcpy(out, dir));
    for (size_t at = 0, part; at < len; at += part + 1) {
        const char *s = path + at, *end = memchr(s, '/', len - at);
        part = end ? (size_t)(end - s) : len - at;
        if (part == 0 || (part == 1 && *s == '.'))
            continue;
        if (part == 2 && !memcmp(s, "..", 2)) {
            if (!n)
                return false;
            while (n && out[--n] != '/')
                continue;
        } else {
            if (n + part + 2 > NAME)
                return false;
            if (n)
                out[n++] = '/';
            memcpy(out + n, s, part);
            n += part;
        }
        out[n] = '\0';
    }
    return true;
}

static struct page_file *file_called(const char *name)
{
    struct page_file *f = files;
    while (f && strcmp(f->name, name))
        f = f->next;
    return f;
}

/* The part of a file's name below a directory, "" being all; NULL: it is not there. */
static const char *below(const struct page_file *f, const char *dir)
{
    const size_t n = strlen(dir);
    if (!n)
        return f->name;
    return !strncmp(f->name, dir, n) && f->name[n] == '/' ? f->name + n + 1 : NULL;
}

static bool is_directory(const char *name)
{
    bool is = !*name;
    for (const struct page_file *f = files; f && !is; f = f->next)
        is = below(f, name);
    return is;
}

/* ---- what is open -------------------------------------------------------------------------- */

enum { STANDARD = 3, ROOT = 3, OPEN = 64 };
/* A directory's name, or a file. */
static struct handle { bool used; struct page_file *file; char *name; size_t at; } opened[OPEN];

static struct handle *handle_of(__wasi_fd_t fd)
{
    if (fd == ROOT && !opened[ROOT].used)
        opened[ROOT] = (struct handle){.used = true, .name = ""};
    return fd >= STANDARD && fd < OPEN && opened[fd].used ? &opened[fd] : NULL;
}

__wasi_errno_t __wasi_path_open(__wasi_fd_t fd, __wasi_lookupflags_t look, const char *path, __wasi_oflags_t flags,
                                __wasi_rights_t rights, __wasi_rights_t inherited, __wasi_fdflags_t fdflags,
                                __wasi_fd_t *out)
{
    (void)look, (void)rights, (void)inherited, (void)fdflags;
    char name[NAME];
    const struct handle *dir = handle_of(fd);
    if (!dir || !dir->name || !plain_name(name, dir->name, path, strlen(path)))
        return __WASI_ERRNO_NOENT;
    struct page_file *f = file_called(name);
    if (!f && !is_directory(name))
        return flags & __WASI_OFLAGS_CREAT ? __WASI_ERRNO_ROFS : __WASI_ERRNO_NOENT;
    if (flags & (__WASI_OFLAGS_TRUNC | __WASI_OFLAGS_EXCL))
        return __WASI_ERRNO_ROFS;
    if (f && flags & __WASI_OFLAGS_DIRECTORY)
        return __WASI_ERRNO_NOTDIR;
    __wasi_fd_t free_fd = ROOT + 1;
    while (free_fd < OPEN && opened[free_fd].used)
        free_fd++;
    if (free_fd == OPEN)
        return __WASI_ERRNO_MFILE;
    char *kept = f ? NULL : strdup(name);
    if (!f && !kept)
        return __WASI_ERRNO_NOMEM;
    opened[free_fd] = (struct handle){.used = true, .file = f, .name = kept};
    *out = free_fd;
    return 0;
}

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd)
{
    struct handle *h = handle_of(fd);
    if (fd < STANDARD)
        return 0;
    if (!h)
        return __WASI_ERRNO_BADF;
    if (fd != ROOT)
        free(h->name);
    *h = (struct handle){0};
    return 0;
}

__wasi_errno_t __wasi_fd_prestat_get(__wasi_fd_t fd, __wasi_prestat_t *out)
{
    if (fd != ROOT)
        return __WASI_ERRNO_BADF;
    *out = (__wasi_prestat_t){.tag = __WASI_PREOPENTYPE_DIR, .u.dir.pr_name_len = 1};
    return 0;
}

__wasi_errno_t __wasi_fd_prestat_dir_name(__wasi_fd_t fd, uint8_t *path, __wasi_size_t n)
{
    if (fd != ROOT || !n)
        return __WASI_ERRNO_BADF;
    *path = '/';
    return 0;
}

__wasi_errno_t __wasi_fd_fdstat_get(__wasi_fd_t fd, __wasi_fdstat_t *out)
{
    const struct handle *h = handle_of(fd);
    if (!h && fd >= STANDARD)
        return __WASI_ERRNO_BADF;
    *out = (__wasi_fdstat_t){.fs_filetype = !h ? __WASI_FILETYPE_UNKNOWN : h->file ? __WASI_FILETYPE_REGULAR_FILE :
                             __WASI_FILETYPE_DIRECTORY, .fs_rights_base = UINT64_MAX,
                             .fs_rights_inheriting = UINT64_MAX};
    return 0;
}

__wasi_errno_t __wasi_fd_fdstat_set_flags(__wasi_fd_t fd, __wasi_fdflags_t flags) { (void)fd, (void)flags; return 0; }

static void describe(__wasi_filestat_t *out, const struct page_file *f)
{
    *out = (__wasi_filestat_t){.ino = (uintptr_t)f, .nlink = 1, .size = f ? f->n : 0,
                               .filetype = f ? __WASI_FILETYPE_REGULAR_FILE : __WASI_FILETYPE_DIRECTORY};
}

__wasi_errno_t __wasi_fd_filestat_get(__wasi_fd_t fd, __wasi_filestat_t *out)
{
    const struct handle *h = handle_of(fd);
    if (!h)
        return __WASI_ERRNO_BADF;
    describe(out, h->file);
    return 0;
}

__wasi_errno_t __wasi_path_filestat_get(__wasi_fd_t fd, __wasi_lookupflags_t look, const char *path,
                                        __wasi_filestat_t *out)
{
    (void)look;
    char name[NAME];
    const struct handle *dir = handle_of(fd);
    if (!dir || !dir->name || !plain_name(name, dir->name, path, strlen(path)))
        return __WASI_ERRNO_NOENT;
    const struct page_file *f = file_called(name);
    if (!f && !is_directory(name))
        return __WASI_ERRNO_NOENT;
    describe(out, f);
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

static __wasi_errno_t read_at(const struct handle *h, const __wasi_iovec_t *to, size_t n, size_t at,
                              __wasi_size_t *got)
{
    *got = 0;
    if (!h)
        return __WASI_ERRNO_BADF;
    if (!h->file)
        return __WASI_ERRNO_ISDIR;
    for (size_t i = 0; i < n && at < h->file->n; i++) {
        size_t some = to[i].buf_len < h->file->n - at ? to[i].buf_len : h->file->n - at;
        memcpy(to[i].buf, h->file->bytes + at, some);
        at += some;
        *got += some;
    }
    return 0;
}

__wasi_errno_t __wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t *to, size_t n, __wasi_size_t *got)
{
    struct handle *h = handle_of(fd);
    __wasi_errno_t rc = read_at(h, to, n, h ? h->at : 0, got);
    if (!rc)
        h->at += *got;
    return rc;
}

__wasi_errno_t __wasi_fd_pread(__wasi_fd_t fd, const __wasi_iovec_t *to, size_t n, __wasi_filesize_t at,
                               __wasi_size_t *got)
{
    return read_at(handle_of(fd), to, n, at > SIZE_MAX ? SIZE_MAX : (size_t)at, got);
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t by, __wasi_whence_t from, __wasi_filesize_t *to)
{
    struct handle *h = handle_of(fd);
    if (!h || !h->file)
        return h ? __WASI_ERRNO_ISDIR : __WASI_ERRNO_BADF;
    int64_t at = from == __WASI_WHENCE_SET ? 0 : from == __WASI_WHENCE_CUR ? (int64_t)h->at : (int64_t)h->file->n;
    if (by < -at || at + by > INT32_MAX)
        return __WASI_ERRNO_INVAL;
    *to = h->at = (size_t)(at + by);
    return 0;
}

/* A member of a directory comes with the first file below it; `at` counts files. */
__wasi_errno_t __wasi_fd_readdir(__wasi_fd_t fd, uint8_t *to, __wasi_size_t room, __wasi_dircookie_t at,
                                 __wasi_size_t *used)
{
    const struct handle *h = handle_of(fd);
    __wasi_dircookie_t next = 0;
    *used = 0;
    if (!h || !h->name)
        return h ? __WASI_ERRNO_NOTDIR : __WASI_ERRNO_BADF;
    for (const struct page_file *f = files; f && *used < room; f = f->next) {
        const char *name = below(f, h->name), *slash = name ? strchr(name, '/') : NULL;
        bool seen = !name || next++ < at;
        for (const struct page_file *g = files; g != f && !seen && slash; g = g->next) {
            const char *other = below(g, h->name);
            seen = other && !strncmp(other, name, (size_t)(slash - name) + 1);
        }
        if (seen)
            continue;
        const size_t len = slash ? (size_t)(slash - name) : strlen(name);
        const __wasi_dirent_t entry = {.d_next = next, .d_ino = (uintptr_t)f, .d_namlen = len,
                                       .d_type = slash ? __WASI_FILETYPE_DIRECTORY : __WASI_FILETYPE_REGULAR_FILE};
        const void *part[] = {&entry, name};
        const size_t size[] = {sizeof entry, len};
        for (int i = 0; i < 2; i++) {
            size_t some = size[i] < room - *used ? size[i] : room - *used;
            memcpy(to + *used, part[i], some);
            *used += some;
        }
    }
    return 0;
}

/* Files of the page are not copied; else this is memory, of zeros. */
void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    (void)at, (void)protection;
    enum { LINE = 64 };
    if (!(flags & MAP_ANON)) {
        const struct handle *h = handle_of((__wasi_fd_t)fd);
        return h && h->file && from >= 0 && (uint64_t)from + n <= h->file->n ? h->file->bytes + from : MAP_FAILED;
    }
    void *p = n > SIZE_MAX - LINE ? NULL : aligned_alloc(LINE, (n + LINE - 1) / LINE * LINE);
    return p ? memset(p, 0, n) : MAP_FAILED;
}

int munmap(void *p, size_t n)
{
    (void)n;
    for (const struct page_file *f = files; f; f = f->next)
        if ((unsigned char *)p >= f->bytes && (unsigned char *)p < f->bytes + f->n)
            return 0;
    free(p);
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

__wasi_errno_t __wasi_clock_time_get(__wasi_clockid_t id, __wasi_timestamp_t precision, __wasi_timestamp_t *out)
{
    (void)id, (void)precision;
    *out = (__wasi_timestamp_t)(env_now() * 1e6);
    return 0;
}

/* What was written anywhere but into memory is gone. */
__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *from, size_t n, __wasi_size_t *written)
{
    (void)fd;
    *written = 0;
    for (size_t i = 0; i < n; i++)
        *written += from[i].buf_len;
    return 0;
}

__wasi_errno_t __wasi_environ_sizes_get(__wasi_size_t *n, __wasi_size_t *bytes) { *n = *bytes = 0; return 0; }
__wasi_errno_t __wasi_environ_get(uint8_t **to, uint8_t *bytes) { (void)to, (void)bytes; return 0; }
_Noreturn void __wasi_proc_exit(__wasi_exitcode_t code) { (void)code; __builtin_trap(); }

pid_t getpid(void) { return 1; }
char *realpath(const char *path, char *to) { return to ? strcpy(to, path) : strdup(path); }
void sync(void) { }
static int refuse(void) { errno = EROFS; return -1; }
int euidaccess(const char *path, int how) { (void)path, (void)how; return refuse(); }
int fchmod(int fd, mode_t mode) { (void)fd, (void)mode; return refuse(); }
int fchown(int fd, uid_t owner, gid_t group) { (void)fd, (void)owner, (void)group; return refuse(); }
int flock(int fd, int how) { (void)fd, (void)how; return refuse(); }
int shm_open(const char *name, int flags, mode_t mode) { (void)name, (void)flags, (void)mode; return refuse(); }
int shm_unlink(const char *name) { (void)name; return refuse(); }

/* There is nothing that could change. */
#define REFUSED(name, ...) __wasi_errno_t __wasi_##name(__VA_ARGS__) { return __WASI_ERRNO_NOTSUP; }
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wmissing-prototypes"
REFUSED(clock_res_get, __wasi_clockid_t id, __wasi_timestamp_t *out)
REFUSED(fd_advise, __wasi_fd_t fd, __wasi_filesize_t at, __wasi_filesize_t n, __wasi_advice_t advice)
REFUSED(fd_allocate, __wasi_fd_t fd, __wasi_filesize_t at, __wasi_filesize_t n)
REFUSED(fd_datasync, __wasi_fd_t fd)
REFUSED(fd_sync, __wasi_fd_t fd)
REFUSED(fd_tell, __wasi_fd_t fd, __wasi_filesize_t *at)
REFUSED(fd_renumber, __wasi_fd_t fd, __wasi_fd_t to)
REFUSED(fd_filestat_set_size, __wasi_fd_t fd, __wasi_filesize_t n)
REFUSED(fd_filestat_set_times, __wasi_fd_t fd, __wasi_timestamp_t a, __wasi_timestamp_t m, __wasi_fstflags_t flags)
REFUSED(fd_pwrite, __wasi_fd_t fd, const __wasi_ciovec_t *from, size_t n, __wasi_filesize_t at, __wasi_size_t *written)
REFUSED(path_create_directory, __wasi_fd_t fd, const char *path)
REFUSED(path_link, __wasi_fd_t fd, __wasi_lookupflags_t look, const char *path, __wasi_fd_t to, const char *as)
REFUSED(path_readlink, __wasi_fd_t fd, const char *path, uint8_t *to, __wasi_size_t n, __wasi_size_t *used)
REFUSED(path_remove_directory, __wasi_fd_t fd, const char *path)
REFUSED(path_rename, __wasi_fd_t fd, const char *path, __wasi_fd_t to, const char *as)
REFUSED(path_symlink, const char *path, __wasi_fd_t fd, const char *as)
REFUSED(path_unlink_file, __wasi_fd_t fd, const char *path)
REFUSED(poll_oneoff, const __wasi_subscription_t *in, __wasi_event_t *out, __wasi_size_t n, __wasi_size_t *got)
REFUSED(random_get, uint8_t *to, __wasi_size_t n)
REFUSED(sched_yield, void)
REFUSED(args_get, uint8_t **to, uint8_t *bytes)
REFUSED(args_sizes_get, __wasi_size_t *n, __wasi_size_t *bytes)
REFUSED(fd_fdstat_set_rights, __wasi_fd_t fd, __wasi_rights_t rights, __wasi_rights_t inherited)
REFUSED(path_filestat_set_times, __wasi_fd_t fd, __wasi_lookupflags_t look, const char *path, __wasi_timestamp_t a,
        __wasi_timestamp_t m, __wasi_fstflags_t flags)

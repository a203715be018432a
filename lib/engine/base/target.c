#include "base/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/os.h"

/* Malloc'd: the path of `leaf` in the directory of `path`. */
static char *beside(const char *path, const char *leaf)
{
    const char *slash = strrchr(path, '/');
    char *s = NULL;
    if (!slash || leaf[0] == '/')
        return strdup(leaf);
    return attn_asprintf(&s, "%.*s%s", (int)(slash + 1 - path), path, leaf) < 0 ? NULL : s;
}

char *attn_target_follow(const char *path)
{
    char link[PATH_MAX], *at = strdup(path);
    while (at) {
        char *real = realpath(at, NULL);
        if (real || errno != ENOENT) {
            free(at);
            return real;
        }
        ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0)
            break;                      /* not a link, or nothing is there yet and it will be created */
        link[n] = '\0';
        char *next = beside(at, link);
        free(at);
        at = next;
    }
    return at;
}

char *attn_target_follow_directory(const char *path)
{
    char *bare = strdup(path), *real = NULL;
    for (size_t n = bare ? strlen(bare) : 0; n > 1 && bare[n - 1] == '/'; n--)
        bare[n - 1] = '\0';
    if (bare)
        real = attn_target_follow(bare);
    free(bare);                         /* keeps errno */
    return real;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Calls stat on the directory that contains a file. */
static bool stat_directory(const char *path, struct stat *st)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    bool found = dir && stat(dir, st) == 0;
    free(dir);
    return found;
}

static const char *leaf(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool attn_target_same(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a || has_b)
        return has_a && has_b && same_inode(&x, &y);
    return !strcmp(leaf(a), leaf(b)) && stat_directory(a, &x) && stat_directory(b, &y) && same_inode(&x, &y);
}

#define BEFORE ".attn-"
#define AFTER ".tmp"

bool attn_target_is_temp(const char *name)
{
    size_t before = strlen(BEFORE), digits = strncmp(name, BEFORE, before) ? 0 : strspn(name + before,
                                                                                        "0123456789abcdef");
    return digits == 16 && !strcmp(name + before + digits, AFTER);
}

/* Locks a new file, so that nobody takes it for one that was left behind; false: somebody just did.  Where it cannot be
 * looked at, it is there. */
static bool keep(int fd, const char *path)
{
    bool taken = !attn_disk_lock(fd) && errno == EWOULDBLOCK;
    return !taken && (access(path, F_OK) == 0 || errno != ENOENT);
}

/* Malloc'd: a random name beside `final`, which nobody else has; NULL with errno. */
static char *random_name(const char *final)
{
    char leaf[32];
    snprintf(leaf, sizeof leaf, BEFORE "%016" PRIx64 AFTER, attn_os_random());
    return beside(final, leaf);
}

/* Creates t->temp under a random name in the directory of t->final; false with errno. */
static bool open_temp(struct attn_target *t, mode_t mode)
{
    char *path;
    while ((path = random_name(t->final))) {
        t->cleanup = attn_cleanup_add(path, NULL, 0);   /* first: a signal may come at any moment */
        t->fd = attn_disk_open(path, O_RDWR | O_CREAT | O_EXCL, mode);
        bool kept = t->fd >= 0 && keep(t->fd, path), again = t->fd >= 0 || errno == EEXIST;
        if (kept) {
            t->temp = path;
            return true;
        }
        if (t->fd >= 0) {
            unlink(path);               /* if it is there, the system could not say so */
            close(t->fd);
        }
        t->fd = -1;
        attn_cleanup_drop(t->cleanup);
        t->cleanup = NULL;
        free(path);                     /* free keeps errno */
        if (!again)
            return false;
    }
    return false;
}

/* Opens t->temp, which is PATH.part, for this process alone; false with errno. */
static bool open_part(struct attn_target *t, mode_t mode)
{
    if (attn_asprintf(&t->temp, "%s.part", t->final) < 0)
        t->temp = NULL;
    t->fd = t->temp ? attn_disk_take(t->temp, mode) : -1;
    return t->fd >= 0;
}

/* Only root may give a file away.  Others come to own what they replace; they keep its group if it is one of theirs. */
static void keep_owner(int fd, const struct stat *old)
{
    struct stat new;
    bool other = fstat(fd, &new) == 0 && (new.st_uid != old->st_uid || new.st_gid != old->st_gid);
    if (other)
        (void)(fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid));
}

/* Makes the directory of a file that could not be opened for want of it; false, and errno is as before: it cannot. */
static bool make_folder(struct attn_target *t)
{
    const char *slash = strrchr(t->final, '/');
    int saved = errno;
    t->folder = slash && slash != t->final ? strndup(t->final, (size_t)(slash - t->final)) : NULL;
    t->made = t->folder ? attn_disk_make_path(t->folder) : 0;
    errno = saved;
    return t->made;
}

static bool open_new(struct attn_target *t, mode_t mode)
{
    free(t->temp);
    t->temp = NULL;
    return t->grows ? open_part(t, mode) : open_temp(t, mode);
}

/* `old` describes the file to be replaced; NULL if there is none. */
static int open_beside(struct attn_target *t, const struct stat *old, struct attn_err *err)
{
    const char *what = old ? "replace" : "create";
    mode_t mode = old ? old->st_mode & 0777 : 0666;
    t->final = t->ours ? strdup(t->name) : attn_target_follow(t->name);
    if (!t->final)
        return attn_fail_errno(err, t->name, what);
    /* rename() would replace a write-protected file, but its owner protected it on purpose. */
    if (old && euidaccess(t->final, W_OK) != 0)
        return attn_fail_errno(err, t->name, what);
    bool opened = open_new(t, mode);
    if (!opened && errno == ENOENT && make_folder(t))
        opened = open_new(t, mode);
    if (!opened)
        return t->grows ? attn_disk_not_taken(err, t->name, ".part", what) : attn_fail_errno(err, t->name, what);
    if (old)
        keep_owner(t->fd, old);
    if (old && fchmod(t->fd, mode) != 0)            /* open() applied the umask */
        return attn_fail_errno(err, t->name, what);
    return 0;
}

static bool is_standard_output(const struct stat *st)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && same_inode(st, &out);
}

bool attn_target_in_place(const char *path)
{
    struct stat st;
    if (!path || strcmp(path, "-") == 0)
        return true;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && (!S_ISREG(st.st_mode) || is_standard_output(&st));
}

static bool held;                       /* what standard output gets will be shown on a terminal */

void attn_target_hold(bool on) { held = on; }

static void use_standard_output(struct attn_target *t)
{
    t->fd = STDOUT_FILENO;
    t->borrowed = true;
    t->shown = held || isatty(t->fd);
}

static int open_named(struct attn_target *t, struct attn_err *err)
{
    struct stat st;
    if (t->name[0] == '\0')
        return attn_fail(err, ATTN_EUSAGE, "cannot write to a file without a name");
    if (stat(t->name, &st) != 0) {
        bool folder = t->name[strlen(t->name) - 1] == '/';
        errno = errno == ENOENT && folder ? EISDIR : errno;
        return errno == ENOENT ? open_beside(t, NULL, err) : attn_fail_errno(err, t->name, "create");
    }
    if (S_ISDIR(st.st_mode))
        return attn_fail(err, ATTN_EIO, "%s: is a directory, expected a file", t->name);
    if (is_standard_output(&st)) {      /* never replaced: whoever redirected our output still has it open */
        use_standard_output(t);
        return 0;
    }
    if (S_ISREG(st.st_mode))
        return open_beside(t, &st, err);
    t->fd = attn_disk_open(t->name, O_WRONLY, 0);
    t->shown = t->fd >= 0 && isatty(t->fd);
    return t->fd >= 0 ? 0 : attn_fail_errno(err, t->name, "open");
}

/* Whatever is there is replaced: rename() does not follow links, and fails for a directory. */
static int open_ours(struct attn_target *t, struct attn_err *err)
{
    struct stat st;
    bool file = lstat(t->name, &st) == 0 && S_ISREG(st.st_mode);
    return open_beside(t, file ? &st : NULL, err);
}

static int open_any(struct attn_target *t, const char *path, struct attn_err *err)
{
    bool standard = !path || strcmp(path, "-") == 0;
    t->fd = -1;
    t->name = strdup(standard ? "standard output" : path);
    if (!t->name)
        return attn_no_memory(err, NULL, "for a file name");
    if (standard) {
        use_standard_output(t);
        return 0;
    }
    return t->ours ? open_ours(t, err) : open_named(t, err);
}

int attn_target_open(struct attn_target *t, const char *path, struct attn_err *err)
{
    *t = (struct attn_target){.fd = -1};
    int rc = open_any(t, path, err);
    if (rc != 0)
        attn_target_close(t);
    return rc;
}

int attn_target_open_ours(struct attn_target *t, const char *path, struct attn_err *err)
{
    *t = (struct attn_target){.fd = -1, .ours = true};
    int rc = open_any(t, path, err);
    if (rc != 0)
        attn_target_close(t);
    return rc;
}

int attn_target_open_scratch(struct attn_target *t, const char *path, struct attn_err *err)
{
    int rc = attn_target_open(t, path, err);
    if (rc)
        return rc;
    if (!t->temp)
        rc = attn_fail(err, ATTN_EUSAGE,
                       "%s: is no file, and its directory cannot hold what is needed to make it", t->name);
    else if (unlink(t->temp))
        rc = attn_fail_errno(err, t->temp, "remove");
    if (rc) {
        attn_target_close(t);
        return rc;
    }
    attn_cleanup_drop(t->cleanup);
    free(t->temp);
    t->cleanup = NULL;
    t->temp = NULL;
    return ATTN_OK;
}

static int cut(const struct attn_target *t, uint64_t keep, struct attn_err *err)
{
    struct stat st;
    if (fstat(t->fd, &st) != 0)
        return attn_fail_errno(err, t->temp, "continue");
    if ((uint64_t)st.st_size < keep)
        return attn_fail(err, ATTN_EIO,
                         "%s: has %" PRIu64 " bytes, expected at least %" PRIu64 ": somebody cut it short; "
                         "start anew with --force", t->temp, (uint64_t)st.st_size, keep);
    if (!attn_disk_cut(t->fd, keep) || lseek(t->fd, 0, SEEK_END) < 0)
        return attn_fail_errno(err, t->temp, "continue");
    return 0;
}

int attn_target_open_growing(struct attn_target *t, const char *path, uint64_t keep, struct attn_err *err)
{
    *t = (struct attn_target){.fd = -1, .grows = true};
    int rc = open_any(t, path, err);
    if (rc == 0 && t->temp) {
        rc = cut(t, keep, err);
        if (rc != 0 && keep == 0)
            unlink(t->temp);            /* an empty file that no journal tells of would only be in the way */
    }
    if (rc != 0)
        attn_target_close(t);
    return rc;
}

int attn_target_commit(struct attn_target *t, struct attn_err *err)
{
    if (t->borrowed || t->fd < 0)
        return 0;
    int rc = close(t->fd);
    t->fd = -1;
    if (rc != 0 && errno != EINTR)      /* Linux closes it even when interrupted */
        return attn_fail_errno(err, t->name, "write");
    if (!t->temp)
        return 0;
    if (rename(t->temp, t->final) != 0)
        return attn_fail_errno(err, t->name, "replace");
    attn_cleanup_drop(t->cleanup);
    t->cleanup = NULL;
    free(t->temp);
    t->temp = NULL;
    return 0;
}

void attn_target_close(struct attn_target *t)
{
    if (t->fd >= 0 && !t->borrowed)
        close(t->fd);
    if (t->temp && !t->grows && attn_cleanup_is_ours(t->cleanup))
        unlink(t->temp);
    if (t->temp && t->made && !t->grows)
        attn_disk_unmake_path(t->folder, t->made);
    attn_cleanup_drop(t->cleanup);
    free(t->folder);
    free(t->name);
    free(t->final);
    free(t->temp);
    *t = (struct attn_target){.fd = -1};
}

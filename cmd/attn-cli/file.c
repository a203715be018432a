#include "file.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, const char *name, char **text, size_t *len, struct attn_err *err)
{
    const size_t limit = (size_t)FILE_LIMIT_MB << 20;
    size_t size = 0;
    for (;;) {
        if (size - *len < 2) {                          /* room for a byte and the NUL */
            size = size ? 2 * size : 1 << 16;
            char *more = realloc(*text, size);
            if (!more)
                return fail(err, ATTN_ENOMEM, "%s: no memory for %zu bytes", name, size);
            *text = more;
        }
        ssize_t n = read(fd, *text + *len, size - *len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, name, "read");
        if (n == 0)
            break;
        *len += (size_t)n;
        if (*len > limit)
            return fail(err, ATTN_EFORMAT, "%s: longer than %d MiB", name, FILE_LIMIT_MB);
    }
    (*text)[*len] = '\0';
    return ATTN_OK;
}

int file_read(char **text, size_t *len, const char *path, struct attn_err *err)
{
    bool standard = !strcmp(path, "-");
    const char *name = standard ? "standard input" : path;
    *text = NULL;
    *len = 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, name, "open");
    int code = read_all(fd, name, text, len, err);
    if (!standard)
        close(fd);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

static int write_all(int fd, const char *name, const char *data, size_t len, struct attn_err *err)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EPIPE ? ATTN_OK : fail_errno(err, name, "write");
        data += n;
        len -= (size_t)n;
    }
    return ATTN_OK;
}

static int write_in_place(const char *path, const char *data, size_t len, struct attn_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, path, "open");
    int code = write_all(fd, path, data, len, err);
    if (close(fd) && !code)
        code = fail_errno(err, path, "write");
    return code;
}

/* old: what stat says of the target, NULL when it is not there. */
static mode_t mode_for(const struct stat *old)
{
    if (old)
        return old->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int replace(const char *path, const struct stat *old, const char *data, size_t len, struct attn_err *err)
{
    char *beside;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return fail(err, ATTN_ENOMEM, "%s: no memory", path);
    int fd = mkostemp(beside, O_CLOEXEC);
    int code = fd < 0 ? fail_errno(err, path, "write") : write_all(fd, path, data, len, err);
    if (fd >= 0) {
        (void)fchmod(fd, mode_for(old));                /* some file systems have no modes */
        bool closed = close(fd) == 0;
        if (!code && (!closed || rename(beside, path)))
            code = fail_errno(err, path, "write");
        if (code)
            unlink(beside);
    }
    free(beside);
    return code;
}

int file_write(const char *path, const char *data, size_t len, struct attn_err *err)
{
    if (!path || !strcmp(path, "-"))
        return write_all(STDOUT_FILENO, "standard output", data, len, err);
    struct stat st;
    char *target = realpath(path, NULL);                /* a link stays, what it points to is replaced */
    bool there = stat(path, &st) == 0;
    int code = there && !S_ISREG(st.st_mode) ? write_in_place(path, data, len, err)
                                             : replace(target ? target : path, there ? &st : NULL, data, len, err);
    free(target);
    return code;
}

int file_spare_training(const char *dir, struct attn_err *err)
{
    if (!attn_train_exists(dir))
        return ATTN_OK;
    return fail(err, ATTN_EUSAGE, "%s: there is a training already: choose another directory, or remove checkpoint.safetensors", dir);
}

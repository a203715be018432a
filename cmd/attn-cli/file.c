#include "file.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
        if (n < 0 && errno == EAGAIN)   /* whoever started us made standard input non-blocking */
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
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

static int open_to_read(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int file_read(char **text, size_t *len, const char *path, struct attn_err *err)
{
    bool standard = !strcmp(path, "-");
    const char *name = standard ? "standard input" : path;
    *text = NULL;
    *len = 0;
    int fd = standard ? STDIN_FILENO : open_to_read(path);
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

int file_spare_training(const char *dir, struct attn_err *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", strchr(dir, '/') ? "" : "./", dir) < 0)
        return fail(err, ATTN_ENOMEM, "no memory for a path");
    int code = attn_train_spare(path, err);
    free(path);
    return code;
}

#define _GNU_SOURCE 1

#include "archive.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char dir[64];

/* ---- reading ---------------------------------------------------------------------------- */

static bool is_plain(const char *path)
{
    size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/");
    return n > 0 && !path[n] && path[0] != '/' && path[n - 1] != '/' && !strstr(path, "..") && !strstr(path, "//");
}

/* Reads "@@ PATH LENGTH\n"; returns its length, 0 if that is not what is there. */
static size_t read_head(char path[ARCHIVE_PATH], size_t *len, const uint8_t *at, size_t left)
{
    char line[ARCHIVE_PATH + 32], end;
    const uint8_t *stop = memchr(at, '\n', left < sizeof line - 1 ? left : sizeof line - 1);
    size_t n = stop ? (size_t)(stop + 1 - at) : 0;
    memcpy(line, at, n);
    line[n] = '\0';
    return n && sscanf(line, "@@ %95s %7zu%c", path, len, &end) == 3 && end == '\n' ? n : 0;
}

void archive_read(struct archive *a, const uint8_t *data, size_t size)
{
    a->n = 0;
    for (size_t at = 0, head; at < size && a->n < ARCHIVE_FILES; ) {
        struct archive_file *f = &a->file[a->n];
        head = read_head(f->path, &f->len, data + at, size - at);
        if (!head)
            return;
        at += head;
        f->len = f->len < size - at ? f->len : size - at;
        f->data = data + at;
        at += f->len + 1;
        a->n += is_plain(f->path);
    }
}

/* ---- writing ---------------------------------------------------------------------------- */

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)at;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

void archive_remove(void)
{
    nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *archive_path(const char *leaf)
{
    static char path[8][sizeof dir + ARCHIVE_PATH];
    static unsigned next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof *path, "%s/%s", dir, leaf);
    return p;
}

static void put(const struct archive_file *f)
{
    char *path = strdup(archive_path(f->path));
    for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0) {                      /* a mutated path may be that of a directory */
        must(write(fd, f->data, f->len) == (ssize_t)f->len);
        close(fd);
    }
    free(path);
}

const char *archive_unpack(const struct archive *a)
{
    snprintf(dir, sizeof dir, "%s/attn-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    must(mkdtemp(dir) != NULL);
    for (size_t i = 0; i < a->n; i++)
        put(&a->file[i]);
    return dir;
}

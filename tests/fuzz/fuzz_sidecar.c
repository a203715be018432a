/* The file beside a batch's output: what is read, written and read again is the same. */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch/sidecar.h"
#include "fuzz.h"

static const char *path_of(int fd)
{
    static char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* The form written while the output grows differs from the final one only in spaces. */
static void write_again(const struct attn_sidecar *s)
{
    struct attn_sidecar again;
    struct attn_difference d;
    struct attn_err err = {0};
    int fd = memfd_create("again", 0);
    must(fd >= 0 && attn_sidecar_update(s, fd, "again", &err) == ATTN_OK);
    must(attn_sidecar_read(&again, path_of(fd), &err) == ATTN_EFORMAT);             /* cut in half */
    close(fd);
    must(!attn_sidecar_differ(s, s, &d) && attn_sidecar_agree(s, s, "again", &err) == ATTN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_sidecar s;
    struct attn_err err = {0};
    int fd = memfd_create("sidecar", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    int rc = attn_sidecar_read(&s, path_of(fd), &err);
    close(fd);
    must(rc == ATTN_OK || err.msg[0]);
    if (rc == ATTN_OK)
        write_again(&s);
    attn_sidecar_free(&s);
    return 0;
}

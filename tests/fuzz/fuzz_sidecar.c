/* The file beside a batch's output: what is read, written and read again is the same. */
#define _GNU_SOURCE 1

#include <sys/mman.h>
#include <unistd.h>

#include "batch/sidecar.h"
#include "fuzz.h"

/* Reads it back from a file. */
static int parse(struct attn_sidecar *s, int fd, struct attn_err *err)
{
    char text[4096];
    ssize_t n = pread(fd, text, sizeof text, 0);
    must(n > 0);
    return attn_sidecar_parse(s, text, (size_t)n, "again", err);
}

/* The form written while the output grows differs from the final one only in spaces. */
static void write_again(const struct attn_sidecar *s)
{
    struct attn_sidecar again;
    struct attn_difference d;
    struct attn_err err = {0};
    int fd = memfd_create("again", 0);
    must(fd >= 0 && attn_sidecar_update(s, fd, "again", &err) == ATTN_OK);
    must(parse(&again, fd, &err) == ATTN_EFORMAT);             /* cut in half */
    close(fd);
    must(!attn_sidecar_differ(s, s, &d) && attn_sidecar_agree(s, s, "again", &err) == ATTN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_sidecar s;
    struct attn_err err = {0};
    int rc = attn_sidecar_parse(&s, (const char *)data, size, "sidecar", &err);
    must(rc == ATTN_OK || err.msg[0]);
    if (rc == ATTN_OK)
        write_again(&s);
    attn_sidecar_free(&s);
    return 0;
}

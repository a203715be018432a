/* Reads the same bytes in every format: records read one by one are as many as were counted, and shares add up
 * to the whole. */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attn_tools.h"
#include "base/share.h"
#include "fuzz.h"

static uint64_t read_share(const struct attn_records_opts *o, size_t size)
{
    struct attn_records *r;
    struct attn_record record;
    struct attn_err err = {0};
    enum attn_records_event what;
    uint64_t n = 0, line = 0, all;
    int rc = attn_records_open(&r, o, &err);
    must(rc == ATTN_OK || (!r && err.msg[0]));
    while (!rc && !(rc = attn_records_next(r, &record, &what, &err)) && what == ATTN_RECORDS_NEXT) {
        must(record.line > line && record.line <= size + 1);
        must(!!record.error + !!record.text + !!record.ids == 1);
        must(record.text_len <= size && record.id_len <= size && record.n <= size);
        must(!record.error || record.error[0]);
        line = record.line;
        n++;
    }
    must(!rc || err.msg[0]);
    must(rc || (attn_records_bytes(r, &all) <= size && all == size));
    if (!rc)
        must(attn_share_size(&o->share, attn_records_total(r)) == n);
    attn_records_close(r);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"text", "ndjson", "csv", "tsv"}, *const fields[] = {"from", "answer"};
    char path[32];
    int fd = memfd_create("records", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < 4; i++) {
        struct attn_records_opts o = {.path = path, .format = formats[i], .column = i < 2 ? NULL : "0",
                                      .headless = size % 2 && i > 1, .fields = fields, .n_fields = i ? 2 : 0};
        uint64_t whole = read_share(&o, size), parts[2] = {0};
        for (uint64_t k = 0; k < 6; k++) {
            o.share = (struct attn_share){k / 2, 3, k % 2};
            parts[k % 2] += read_share(&o, size);
        }
        must(parts[0] == whole && parts[1] == whole);
    }
    close(fd);
    return 0;
}

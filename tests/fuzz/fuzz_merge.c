/* Shards of a batch with what stands beside them, s.0, s.1 and so on: joined as a stream and as a directory. */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"

enum { SHARDS = 3 };

static void test(const uint8_t *data, size_t size)
{
    static struct archive a;
    char shard[SHARDS][128];
    const char *named[SHARDS];
    struct attn_merge_opts o = {.shard = named, .path = NULL};
    struct attn_err err = {0};
    archive_read(&a, data, size);
    archive_unpack(&a);
    for (; o.n < SHARDS; o.n++) {
        snprintf(shard[o.n], sizeof *shard, "s.%zu", o.n);
        snprintf(shard[o.n], sizeof *shard, "%s", archive_path(shard[o.n]));
        named[o.n] = shard[o.n];
        if (access(named[o.n], F_OK) != 0)
            break;
    }
    o.path = archive_path("all");
    o.summary = size % 2 ? archive_path("all.csv") : NULL;
    if (o.n)
        must(attn_merge(&o, &err) == ATTN_OK || err.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test(data, size);
    archive_remove();
    return 0;
}

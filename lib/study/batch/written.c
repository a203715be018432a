/* written.c - whether a file is as a batch wrote it.
 *
 * How long it was, and its SHA-256, are in the journal and in the sidecar of a finished output: a byte changed in place
 * would else be continued, or merged, unseen. */
#include "batch/batch.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"

void attn_written_note(struct attn_written *w, const struct attn_out *o)
{
    w->bytes = attn_out_bytes(o);
    attn_out_digest_so_far(o, w->sha256);
}

/* Text has no NUL, so that a hole in it, which may be larger than any disk, is not read to its end. */
static bool hash(struct attn_sha256 *sha, const unsigned char *data, uint64_t n, bool text)
{
    enum { SOME = 1 << 16 };
    for (size_t some; n; data += some, n -= some) {
        some = n < SOME ? (size_t)n : SOME;
        if (text && memchr(data, '\0', some))
            return false;
        attn_sha256_add(sha, data, some);
    }
    return true;
}

static int changed(const char *file, uint64_t bytes, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: its first %" PRIu64 " bytes are not as they were written: start anew with "
                                        "--force", file, bytes);
}

int attn_written_hash(struct attn_sha256 *sha, const char *file, uint64_t from, uint64_t to, bool text,
                      struct attn_err *err)
{
    struct attn_map map;
    if (from == to)
        return ATTN_OK;
    int rc = attn_map_open_found(&map, file, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    if (map.len < to || !hash(sha, map.data + from, to - from, text))
        rc = changed(file, to, err);
    attn_map_close(&map);
    return rc;
}

int attn_written_check(struct attn_sha256 *sha, const char *file, const struct attn_written *w, struct attn_err *err)
{
    char hex[65];
    attn_sha256_start(sha);
    int rc = attn_written_hash(sha, file, 0, w->bytes, true, err);
    if (rc)
        return rc;
    struct attn_sha256 whole = *sha;
    attn_sha256_end(&whole, hex);
    return *w->sha256 && strcmp(hex, w->sha256) != 0 ? changed(file, w->bytes, err) : ATTN_OK;
}

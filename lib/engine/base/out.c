#include "base/out.h"
#include "attn_tools.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/target.h"
#include "base/utf8.h"

enum { COPY_MOST = 16384 };             /* bytes; longer data is written without being copied into the buffer */

struct attn_out {
    struct attn_target to;
    bool in_memory;
    char *memory; size_t room;          /* instead of a target: the bytes flushed and a NUL */
    struct attn_err err;                /* the first error; code 0 if none */
    bool broken, hashing, hashing_on;   /* the latter: as it is written */
    struct attn_sha256 sha;
    uint64_t flushed;
    size_t used;
    char buf[65536];
};

static struct attn_out *new_out(struct attn_err *err)
{
    struct attn_out *o = malloc(sizeof *o);
    if (o)
        memset(o, 0, offsetof(struct attn_out, buf));
    else
        attn_no_memory(err, NULL, "for an output buffer");
    return o;
}

static int open_with(struct attn_out **out, const char *path, struct attn_err *err,
                     int (*open_target)(struct attn_target *t, const char *path, struct attn_err *err))
{
    struct attn_out *o = *out = new_out(err);
    if (!o)
        return ATTN_ENOMEM;
    int rc = open_target(&o->to, path, err);
    if (rc != 0) {
        free(o);
        *out = NULL;
    }
    return rc;
}

int attn_out_open(struct attn_out **out, const char *path, struct attn_err *err)
{
    return open_with(out, path, err, attn_target_open);
}

int attn_out_open_ours(struct attn_out **out, const char *path, struct attn_err *err)
{
    return open_with(out, path, err, attn_target_open_ours);
}

int attn_out_open_scratch(struct attn_out **out, const char *path, struct attn_err *err)
{
    return open_with(out, path, err, attn_target_open_scratch);
}

int attn_out_open_growing(struct attn_out **out, const char *path, uint64_t keep, struct attn_err *err)
{
    struct attn_out *o = *out = new_out(err);
    if (!o)
        return ATTN_ENOMEM;
    int rc = attn_target_open_growing(&o->to, path, keep, err);
    o->flushed = keep;
    if (rc != 0) {
        free(o);
        *out = NULL;
    }
    return rc;
}

int attn_out_open_memory(struct attn_out **out, struct attn_err *err)
{
    struct attn_out *o = *out = new_out(err);
    if (!o)
        return ATTN_ENOMEM;
    o->to.fd = -1;
    o->in_memory = true;
    return ATTN_OK;
}

void attn_out_close(struct attn_out *o)
{
    if (!o)
        return;
    attn_target_close(&o->to);
    free(o->memory);
    free(o);
}

static void remember(struct attn_out *o, const char *data, size_t len)
{
    char *memory = attn_grow(o->memory, &o->room, o->flushed + len + 1, 1);
    if (!memory) {
        attn_no_memory(&o->err, NULL, "for %zu bytes of output", (size_t)o->flushed + len);
        return;
    }
    o->memory = memory;
    memcpy(memory + o->flushed, data, len);
    memory[o->flushed + len] = '\0';
}

/* Calls write(2) until some bytes are written, whatever the descriptor is; -1 with errno. */
static ssize_t write_some(int fd, const char *data, size_t len)
{
    for (;;) {
        ssize_t n = write(fd, data, len);
        if (n >= 0)
            return n;
        if (errno == EAGAIN)            /* another program made our standard output non-blocking */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            return -1;
    }
}

static void deliver(struct attn_out *o, const char *data, size_t len)
{
    while (len > 0 && !attn_out_failed(o)) {
        ssize_t n = write_some(o->to.fd, data, len);
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EPIPE) {
            o->broken = true;
        } else {
            attn_fail_errno(&o->err, o->to.name, "write");
        }
    }
}

static bool can_reread(const struct attn_out *o)
{
    return o->to.temp != NULL;
}

static void write_all(struct attn_out *o, const char *data, size_t len)
{
    if (o->hashing_on || (o->hashing && !can_reread(o)))
        attn_sha256_add(&o->sha, data, len);
    if (!o->in_memory)
        deliver(o, data, len);
    else if (!attn_out_failed(o))
        remember(o, data, len);
    o->flushed += len;
}

static void flush(struct attn_out *o)
{
    write_all(o, o->buf, o->used);
    o->used = 0;
}

/* How much of the buffer is used: little at first, as touching a new page takes longer than writing it out. */
static size_t size_of(const struct attn_out *o)
{
    return o->flushed < sizeof o->buf ? COPY_MOST : sizeof o->buf;
}

/* Makes room for n bytes, at most COPY_MOST; the caller fills it and adds to o->used. */
static char *room(struct attn_out *o, size_t n)
{
    if (size_of(o) - o->used < n)
        flush(o);
    return o->buf + o->used;
}

int attn_out_commit(struct attn_out *o, struct attn_err *err)
{
    flush(o);
    if (!attn_out_failed(o))
        attn_target_commit(&o->to, &o->err);
    return attn_fail_as(err, &o->err);
}

int attn_out_end(struct attn_out *o, int rc, struct attn_err *err)
{
    if (!rc)
        rc = attn_out_commit(o, err);
    attn_out_close(o);
    return rc;
}

int attn_out_open_into(struct attn_out **out, struct attn_out *to, const char *path, struct attn_err *err)
{
    *out = to;
    return to ? ATTN_OK : attn_out_open(out, path, err);
}

int attn_out_end_into(struct attn_out *o, const struct attn_out *to, int rc, struct attn_err *err)
{
    return to ? rc : attn_out_end(o, rc, err);
}

int attn_out_commit_all(struct attn_out *const *o, size_t n, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < n && !rc; i++)
        rc = o[i] ? attn_out_flush(o[i], false, err) : ATTN_OK;
    for (size_t i = 0; i < n && !rc; i++)
        rc = o[i] ? attn_out_commit(o[i], err) : ATTN_OK;
    return rc;
}

int attn_out_map(struct attn_out *o, struct attn_map *map, struct attn_err *err)
{
    flush(o);
    int rc = attn_fail_as(err, &o->err);
    return rc ? rc : attn_map_file(map, o->to.fd, o->to.name, err);
}

int attn_write_file(const char *path, const char *data, size_t len, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_out_open(&o, path, err);
    if (rc)
        return rc;
    attn_out_write(o, data, len);
    return attn_out_end(o, ATTN_OK, err);
}

int attn_out_flush(struct attn_out *o, bool disk, struct attn_err *err)
{
    flush(o);
    if (disk && o->to.temp && !attn_out_failed(o) && !attn_disk_sync(o->to.fd))
        attn_fail_errno(&o->err, o->to.name, "write");
    return attn_fail_as(err, &o->err);
}

void attn_out_patch(struct attn_out *o, const void *data, size_t len, uint64_t at)
{
    if (!attn_out_failed(o) && !attn_disk_write(o->to.fd, data, len, at))
        attn_fail_errno(&o->err, o->to.name, "write");
}

int attn_out_take(struct attn_out *o, char **text, size_t *len, struct attn_err *err)
{
    flush(o);
    int rc = attn_fail_as(err, &o->err);
    if (rc != 0)
        return rc;
    *text = o->memory;
    *len = (size_t)o->flushed;
    o->memory = NULL;
    o->room = o->flushed = 0;
    return 0;
}

bool attn_out_broken(const struct attn_out *o)
{
    return o->broken;
}

bool attn_out_failed(const struct attn_out *o)
{
    return o->broken || o->err.code != ATTN_OK;
}

void attn_out_hash(struct attn_out *o)
{
    o->hashing = true;
    attn_sha256_start(&o->sha);
}

/* Reads flushed bytes back into data; on failure keeps the error. */
static bool reread(struct attn_out *o, char *data, size_t len, uint64_t at)
{
    while (len > 0) {
        ssize_t n = pread(o->to.fd, data, len, (off_t)at);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
            at += (uint64_t)n;
        } else if (n == 0) {
            attn_fail(&o->err, ATTN_EIO,
                      "%s: ends at byte %" PRIu64 " of %" PRIu64 " just written: somebody cut it short",
                      o->to.name, at, o->flushed);
            return false;
        } else if (errno != EINTR) {
            attn_fail_errno(&o->err, o->to.name, "read back");
            return false;
        }
    }
    return true;
}

/* Hashes what was written from byte `at` on.  If it cannot be read back, all but the buffer has been hashed already. */
static void hash_from(struct attn_out *o, uint64_t at)
{
    if (!can_reread(o) || o->flushed == 0) {
        attn_sha256_add(&o->sha, o->buf, o->used);
        return;
    }
    flush(o);                           /* now the buffer can be used to read into */
    for (size_t n; at < o->flushed && !attn_out_failed(o); at += n) {
        n = o->flushed - at < sizeof o->buf ? (size_t)(o->flushed - at) : sizeof o->buf;
        if (reread(o, o->buf, n, at))
            attn_sha256_add(&o->sha, o->buf, n);
    }
}

void attn_out_digest(struct attn_out *o, char hex[65])
{
    hash_from(o, 0);
    attn_sha256_end(&o->sha, hex);
}

void attn_out_digest_two(struct attn_out *a, char hex_a[65], struct attn_out *b, char hex_b[65])
{
    uint64_t both = 0;
    if (can_reread(a) && can_reread(b) && a->flushed > sizeof a->buf && b->flushed > sizeof b->buf) {
        flush(a);
        flush(b);
        uint64_t end = a->flushed < b->flushed ? a->flushed : b->flushed;
        for (; end - both >= sizeof a->buf && !attn_out_failed(a) && !attn_out_failed(b); both += sizeof a->buf)
            if (reread(a, a->buf, sizeof a->buf, both) && reread(b, b->buf, sizeof b->buf, both))
                attn_sha256_add_two(&a->sha, a->buf, &b->sha, b->buf, sizeof a->buf);
    }
    hash_from(a, both);
    hash_from(b, both);
    attn_sha256_end(&a->sha, hex_a);
    attn_sha256_end(&b->sha, hex_b);
}

void attn_out_hash_on(struct attn_out *o, const struct attn_sha256 *before)
{
    flush(o);
    o->sha = *before;
    o->hashing_on = true;
}

void attn_out_digest_so_far(const struct attn_out *o, char hex[65])
{
    struct attn_sha256 sha = o->sha;
    attn_sha256_add(&sha, o->buf, o->used);
    attn_sha256_end(&sha, hex);
}

uint64_t attn_out_bytes(const struct attn_out *o)
{
    return o->flushed + o->used;
}

static void append(struct attn_out *o, const void *data, size_t len)
{
    if (len >= COPY_MOST) {
        flush(o);
        write_all(o, data, len);
    } else if (len > 0) {
        memcpy(room(o, len), data, len);
        o->used += len;
    }
}

/* What a terminal would obey is made visible, as in \x1B, except line feeds and tabs. */
static void append_visible(struct attn_out *o, const char *s, size_t len)
{
    char form[ATTN_VISIBLE];
    size_t plain = 0, step;
    for (size_t i = 0; i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        if (!attn_utf8_steers(c) || c == '\n' || c == '\t')
            continue;
        append(o, s + plain, i - plain);
        attn_utf8_visible(form, s + i, len - i);
        append(o, form, strlen(form));
        plain = i + step;
    }
    append(o, s + plain, len - plain);
}

void attn_out_write(struct attn_out *o, const void *data, size_t len)
{
    if (o->to.shown)
        append_visible(o, data, len);
    else
        append(o, data, len);
}

void attn_out_steer(struct attn_out *o, const char *codes)
{
    append(o, codes, strlen(codes));
}

void attn_out_str(struct attn_out *o, const char *s)
{
    attn_out_write(o, s, strlen(s));
}

void attn_out_char(struct attn_out *o, char c)
{
    *room(o, 1) = c;
    o->used++;
}

void attn_out_printf(struct attn_out *o, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = attn_vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n >= 0) {
        attn_out_write(o, text, (size_t)n);
        free(text);
    } else if (!attn_out_failed(o)) {
        attn_no_memory(&o->err, NULL, "to format what is written");
    }
}

void attn_out_f32(struct attn_out *o, float x)
{
    if (isfinite(x))
        o->used += attn_num_f32(room(o, ATTN_NUM_MAX), x);
    else
        attn_out_str(o, "null");
}

void attn_out_f64(struct attn_out *o, double x)
{
    if (isfinite(x))
        o->used += attn_num_f64(room(o, ATTN_NUM_MAX), x);
    else
        attn_out_str(o, "null");
}

void attn_out_u64(struct attn_out *o, uint64_t x)
{
    o->used += attn_num_u64(room(o, ATTN_NUM_MAX), x);
}

void attn_out_right(struct attn_out *o, size_t columns, double x, int digits)
{
    o->used += attn_num_right(room(o, columns + ATTN_NUM_FIXED_MAX), columns, x, digits);
}

/* How many bytes a JSON string holds as they are.  A byte that may begin a character that steers a terminal ends them,
 * and is looked at more closely. */
static size_t plain_json(const char *s, size_t len)
{
    size_t n = 0;
    for (; n < len; n++) {
        unsigned char c = (unsigned char)s[n];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F || c == 0xC2 || c == 0xD8 || c == 0xE2)
            break;
    }
    return n;
}

static void put_escaped(struct attn_out *o, const char *s, size_t len)
{
    char form[ATTN_JSON_SPELLED];
    for (size_t plain; len > 0; s += plain, len -= plain) {
        plain = plain_json(s, len);
        attn_out_write(o, s, plain);
        if (plain)
            continue;
        plain = attn_json_spell(form, s, len);
        attn_out_str(o, form);
    }
}

void attn_out_json(struct attn_out *o, const char *s, size_t len)
{
    attn_out_char(o, '"');
    for (;;) {
        size_t valid = attn_utf8_valid(s, len), broken;
        put_escaped(o, s, valid);
        if (valid == len)
            break;
        attn_utf8_next(s + valid, len - valid, &broken);
        attn_out_str(o, "\xEF\xBF\xBD");
        s += valid + broken;
        len -= valid + broken;
    }
    attn_out_char(o, '"');
}

void attn_out_markup(struct attn_out *o, const char *s, size_t len)
{
    size_t step;
    for (size_t i = 0; i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        switch (c) {
        case '<': attn_out_str(o, "&lt;"); break;
        case '>': attn_out_str(o, "&gt;"); break;       /* XML does not allow "]]>" */
        case '&': attn_out_str(o, "&amp;"); break;
        case '"': attn_out_str(o, "&quot;"); break;
        case '\'': attn_out_str(o, "&#39;"); break;
        default:
            if (c == 0xFFFD || !attn_utf8_in_markup(c))
                attn_out_str(o, "\uFFFD");
            else
                attn_out_write(o, s + i, step);
        }
    }
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes 1 to 3 bytes as four base64. */
static void encode_base64(char out[4], const unsigned char *in, size_t n)
{
    unsigned a = in[0], b = n > 1 ? in[1] : 0, c = n > 2 ? in[2] : 0;
    memcpy(out, "====", 4);
    out[0] = base64[a >> 2];
    out[1] = base64[(a << 4 | b >> 4) & 63];
    if (n > 1)
        out[2] = base64[(b << 2 | c >> 6) & 63];
    if (n > 2)
        out[3] = base64[c & 63];
}

void attn_out_base64(struct attn_out *o, const void *data, size_t len)
{
    const unsigned char *in = data;
    char text[4096];
    while (len) {
        size_t used = 0;
        while (len && used < sizeof text) {
            size_t n = len < 3 ? len : 3;
            encode_base64(text + used, in, n);
            used += 4;
            in += n;
            len -= n;
        }
        attn_out_write(o, text, used);
    }
}

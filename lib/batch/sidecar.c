#include "batch/sidecar.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/sha256.h"
#include "batch/members.h"

enum {
    MOVING = 1024,                      /* for the changing part: even with 20 digits in each number it fills only two thirds */
    LARGEST = 16 << 20                  /* bytes of a file that is read */
};

#define AT(member) offsetof(struct attn_sidecar, member)
#define MARK(mark)                                                                                          \
    {"records", ATTN_MEMBER_WHOLE, AT(mark.records), NULL}, {"failed", ATTN_MEMBER_WHOLE, AT(mark.failed), NULL},     \
    {"next", ATTN_MEMBER_WHOLE, AT(mark.next), NULL}, {"keys", ATTN_MEMBER_HEX, AT(mark.keys), NULL},                 \
    {"bytes", ATTN_MEMBER_WHOLE, AT(mark.bytes), NULL}, {"summary_bytes", ATTN_MEMBER_WHOLE, AT(mark.summary_bytes), NULL}

static const struct attn_member synced[] = {MARK(synced), {NULL, 0, 0, NULL}};

static const struct attn_member moving[] = {
    MARK(now),
    {"synced", ATTN_MEMBER_OBJECT, 0, synced},
    {"tokens", ATTN_MEMBER_WHOLE, AT(tokens), NULL},
    {"total", ATTN_MEMBER_WHOLE, AT(total), NULL},
    {"complete", ATTN_MEMBER_FLAG, AT(complete), NULL},
    {NULL, 0, 0, NULL},
};

static const struct attn_member input[] = {
    {"format", ATTN_MEMBER_TEXT, AT(input_format), NULL}, {"column", ATTN_MEMBER_TEXT, AT(column), NULL},
    {"header", ATTN_MEMBER_FLAG, AT(header), NULL}, {NULL, 0, 0, NULL},
};

static const struct attn_member shard[] = {
    {"index", ATTN_MEMBER_WHOLE, AT(shard.index), NULL}, {"count", ATTN_MEMBER_WHOLE, AT(shard.count), NULL},
    {"stride", ATTN_MEMBER_FLAG, AT(shard.stride), NULL}, {NULL, 0, 0, NULL},
};

static const struct attn_member lasting[] = {
    {"version", ATTN_MEMBER_TEXT, AT(version), NULL}, {"format", ATTN_MEMBER_TEXT, AT(format), NULL},
    {"model", ATTN_MEMBER_TEXT, AT(model), NULL}, {"cpu", ATTN_MEMBER_TEXT, AT(cpu), NULL},
    {"command", ATTN_MEMBER_TEXT, AT(command), NULL}, {"options", ATTN_MEMBER_OPTIONS, 0, NULL},
    {"input", ATTN_MEMBER_OBJECT, 0, input}, {"shard", ATTN_MEMBER_OBJECT, 0, shard},
    {"summary", ATTN_MEMBER_TEXT, AT(summary), NULL}, {NULL, 0, 0, NULL},
};

/* ---- reading --------------------------------------------------------------------------- */

/* Refuses numbers that no batch writes, before anybody subtracts or shares them out. */
static int check_numbers(const struct attn_sidecar *s, const char *path, struct attn_err *err)
{
    if (s->now.failed > s->now.records)
        return attn_fail(err, ATTN_EFORMAT, "%s: says that %" PRIu64 " of %" PRIu64 " records failed: it was changed", path,
                         s->now.failed, s->now.records);
    if (s->shard.index >= s->shard.count)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no shard %" PRIu64 "/%" PRIu64 ", which it says it describes: it was changed",
                         path, s->shard.index, s->shard.count);
    return ATTN_OK;
}

int attn_sidecar_parse(struct attn_sidecar *out, const char *text, size_t len, const char *path, struct attn_err *err)
{
    static const struct attn_member *const all[] = {moving, lasting, NULL};
    *out = (struct attn_sidecar){.total = UINT64_MAX};
    int rc = attn_members_read(out, all, text, len, path, err);
    bool whole = !rc && out->version && out->format && out->model && out->input_format && out->shard.count;
    if (!rc && !whole)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: is no file that a batch left beside its output: take another name, or --force to replace it", path);
    if (!rc)
        rc = check_numbers(out, path, err);
    if (rc)
        attn_sidecar_free(out);
    return rc;
}

/* No link: no batch makes one, and what is read here decides which files are replaced. */
int attn_sidecar_read(struct attn_sidecar *out, const char *path, struct attn_err *err)
{
    struct attn_map map;
    *out = (struct attn_sidecar){0};
    int rc = attn_map_open_found(&map, path, LARGEST, ATTN_LINKS_REFUSED, err);
    if (rc)
        return rc;
    rc = attn_sidecar_parse(out, (const char *)map.data, map.len, path, err);
    attn_map_close(&map);
    return rc;
}

void attn_sidecar_free(struct attn_sidecar *s)
{
    char *const texts[] = {s->version, s->format, s->model, s->cpu, s->command, s->input_format, s->column, s->summary};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < s->options; i++) {
        free(s->option[i].name);
        free(s->option[i].value);
    }
    free(s->option);
    *s = (struct attn_sidecar){0};
}

int attn_sidecar_add_option(struct attn_sidecar *s, const char *name, const char *value, struct attn_err *err)
{
    struct attn_setting *more = attn_grow(s->option, &s->room, s->options + 1, sizeof *more), new = {strdup(name), strdup(value)};
    if (more)
        s->option = more;
    if (!more || !new.name || !new.value) {
        free(new.name);
        free(new.value);
        return attn_fail(err, ATTN_ENOMEM, "no memory for the option --%s", name);
    }
    s->option[s->options++] = new;
    return ATTN_OK;
}

/* ---- writing --------------------------------------------------------------------------- */

static void write_moving(struct attn_out *o, const struct attn_sidecar *s)
{
    attn_out_char(o, '{');
    attn_members_write(o, moving, s);
}

static void write_lasting(struct attn_out *o, const struct attn_sidecar *s)
{
    attn_out_str(o, ",\n\"tool\":\"attn-cli\",");
    attn_members_write(o, lasting, s);
    attn_out_str(o, "}\n");
}

static void pad(struct attn_out *o, size_t to)
{
    assert(attn_out_bytes(o) <= to);
    while (attn_out_bytes(o) < to)
        attn_out_char(o, ' ');
}

int attn_sidecar_write(const struct attn_sidecar *s, const char *path, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_out_open_ours(&o, path, err);
    if (rc)
        return rc;
    write_moving(o, s);
    write_lasting(o, s);
    rc = attn_out_commit(o, err);
    attn_out_close(o);
    return rc;
}

/* Overwrites the start of an open file with the changing part; if it `ends`, writes the rest as well. */
static int write_over(const struct attn_sidecar *s, int fd, bool ends, const char *path, struct attn_err *err)
{
    struct attn_out *o;
    char *text = NULL;
    size_t len = 0;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    write_moving(o, s);
    pad(o, MOVING);
    if (ends)
        write_lasting(o, s);
    rc = attn_out_take(o, &text, &len, err);
    attn_out_close(o);
    if (!rc && (!attn_disk_write(fd, text, len, 0) || (ends && !attn_disk_cut(fd, len))))
        rc = attn_fail_errno(err, path, "write");
    free(text);
    return rc;
}

int attn_sidecar_begin(const struct attn_sidecar *s, int fd, const char *path, struct attn_err *err)
{
    return write_over(s, fd, true, path, err);
}

int attn_sidecar_update(const struct attn_sidecar *s, int fd, const char *path, struct attn_err *err)
{
    return write_over(s, fd, false, path, err);
}

int attn_sidecar_set_summary(struct attn_sidecar *s, const char *path, const char *output, struct attn_err *err)
{
    const char *slash = strrchr(path, '/'), *other = output ? strrchr(output, '/') : NULL;
    size_t dir = slash ? (size_t)(slash + 1 - path) : 0, other_dir = other ? (size_t)(other + 1 - output) : 0;
    bool beside = output && dir == other_dir && !strncmp(path, output, dir);
    char *here = beside || *path == '/' ? NULL : getcwd(NULL, 0);
    int n = here ? asprintf(&s->summary, "%s/%s", here, path) : asprintf(&s->summary, "%s", beside ? path + dir : path);
    free(here);
    if (n >= 0)
        return ATTN_OK;
    s->summary = NULL;
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for its name", path);
}

/* ---- keys ------------------------------------------------------------------------------ */

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

void attn_keys_add(char keys[65], const char *more)
{
    unsigned carry = 0;
    for (size_t i = 64; i-- > 0;) {
        unsigned sum = digit(keys[i]) + digit(more[i]) + carry;
        keys[i] = "0123456789abcdef"[sum & 15];
        carry = sum >> 4;
    }
}

void attn_mark_add_key(struct attn_mark *m, uint64_t number, const char *key)
{
    struct attn_sha256 sha;
    char text[96], hex[65];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %s", number, key);
    attn_sha256_start(&sha);
    attn_sha256_add(&sha, text, (size_t)n);
    attn_sha256_end(&sha, hex);
    attn_keys_add(m->keys, hex);
}

/* ---- comparing ------------------------------------------------------------------------- */

static void say(char to[ATTN_DIFFERENCE], const char *what, const char *value)
{
    if (value)
        snprintf(to, ATTN_DIFFERENCE, "with %s%s%s", what, *value ? " " : "", value);
    else
        snprintf(to, ATTN_DIFFERENCE, "without %s", what);
}

static bool differ(const char *what, const char *a, const char *b, struct attn_difference *out)
{
    say(out->a, what, a);
    say(out->b, what, b);
    return a && b ? strcmp(a, b) != 0 : a != b;
}

static const char *value_of(const struct attn_sidecar *s, const char *name)
{
    for (size_t i = 0; i < s->options; i++)
        if (!strcmp(s->option[i].name, name))
            return s->option[i].value;
    return NULL;
}

static bool options_differ(const struct attn_sidecar *a, const struct attn_sidecar *b, struct attn_difference *out)
{
    const struct attn_sidecar *const sides[] = {a, b};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->options; i++) {
            const char *name = sides[side]->option[i].name;
            char what[64];
            snprintf(what, sizeof what, "--%s", name);
            if (differ(what, value_of(a, name), value_of(b, name), out))
                return true;
        }
    return false;
}

bool attn_sidecar_differ(const struct attn_sidecar *a, const struct attn_sidecar *b, struct attn_difference *out)
{
    const struct { const char *what, *a, *b; } texts[] = {
        {"version", a->version, b->version}, {"--format", a->format, b->format}, {"--input", a->input_format, b->input_format},
        {"--column", a->column, b->column}, {"the model of digest", a->model, b->model},
        {"the processor's instructions", a->cpu, b->cpu}, {"--no-header", a->header ? NULL : "", b->header ? NULL : ""}};
    bool found = options_differ(a, b, out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !found; i++)
        found = differ(texts[i].what, texts[i].a, texts[i].b, out);
    return found;
}

static int shards_agree(const struct attn_share *a, const struct attn_share *b, const char *path, struct attn_err *err)
{
    if (a->index == b->index && a->count == b->count && a->stride == b->stride)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: holds shard %" PRIu64 "/%" PRIu64 "%s, not %" PRIu64 "/%" PRIu64 "%s: give the same "
                     "--shard again, or --force to start anew", path, a->index, a->count, a->stride ? " --stride" : "",
                     b->index, b->count, b->stride ? " --stride" : "");
}

int attn_sidecar_agree(const struct attn_sidecar *made, const struct attn_sidecar *asked, const char *path, struct attn_err *err)
{
    struct attn_difference d;
    int rc = shards_agree(&made->shard, &asked->shard, path, err);
    if (!rc && (attn_sidecar_differ(made, asked, &d) || differ("--summary", made->summary, asked->summary, &d)))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: was made %s, not %s: give the same options again, or --force to start anew", path, d.a, d.b);
    return rc;
}

#include "batch/sidecar.h"
#include "attn_tools.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/map.h"
#include "base/share.h"
#include "sinks/sink_json.h"

enum {
    MOVING = 2048,                      /* for the changing part, which takes half of it if numbers have 20 digits */
    LARGEST = 16 << 20                  /* bytes of a file that is read */
};

/* ---- the members of the file ------------------------------------------------------------ */

enum kind {
    WHOLE,                              /* uint64_t; UINT64_MAX is null */
    FLAG,                               /* bool */
    TEXT,                               /* char *, malloc'd; NULL is null */
    HEX,                                /* char[65]: 64 lower-case digits; "" is null */
    OBJECT,                             /* the members in `of`, which belong to the same struct */
    OPTIONS                             /* the options of the command */
};
struct member { const char *name; enum kind kind; size_t offset; const struct member *of; };

#define AT(member) offsetof(struct attn_sidecar, member)
#define MARK(mark) \
    {"records", WHOLE, AT(mark.records), NULL}, {"failed", WHOLE, AT(mark.failed), NULL}, \
    {"next", WHOLE, AT(mark.next), NULL}, {"keys", HEX, AT(mark.keys), NULL}, \
    {"bytes", WHOLE, AT(mark.stream.bytes), NULL}, {"sha256", HEX, AT(mark.stream.sha256), NULL}, \
    {"summary_bytes", WHOLE, AT(mark.summary.bytes), NULL}, {"summary_sha256", HEX, AT(mark.summary.sha256), NULL}, \
    {"arrays", HEX, AT(mark.arrays), NULL}

static const struct member synced[] = {MARK(synced), {0}};

static const struct member moving[] = {
    MARK(now),
    {"synced", OBJECT, 0, synced},
    {"tokens", WHOLE, AT(tokens), NULL},
    {"total", WHOLE, AT(total), NULL},
    {"complete", FLAG, AT(complete), NULL},
    {0},
};

static const struct member input[] = {
    {"format", TEXT, AT(input_format), NULL}, {"column", TEXT, AT(column), NULL},
    {"header", FLAG, AT(header), NULL}, {0},
};

static const struct member shard[] = {
    {"index", WHOLE, AT(shard.index), NULL}, {"count", WHOLE, AT(shard.count), NULL},
    {"stride", FLAG, AT(shard.stride), NULL}, {0},
};

static const struct member lasting[] = {
    {"version", TEXT, AT(version), NULL}, {"format", TEXT, AT(format), NULL},
    {"model", TEXT, AT(model), NULL}, {"cpu", TEXT, AT(cpu), NULL},
    {"command", TEXT, AT(command), NULL}, {"options", OPTIONS, 0, NULL},
    {"input", OBJECT, 0, input}, {"shard", OBJECT, 0, shard},
    {"summary", TEXT, AT(summary), NULL}, {0},
};

/* ---- reading --------------------------------------------------------------------------- */

/* The file is read event by event and not as a tree, whose numbers are doubles: positions may be beyond 2^53. */
struct reader { struct attn_json j; struct attn_sidecar *to; struct attn_err *err; };

static int unexpected(struct reader *r, const char *name, const char *expected)
{
    size_t line, column;
    attn_json_position(&r->j, r->j.start, &line, &column);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: line %zu: \"%s\" is not %s", r->j.name, line, name, expected);
}

/* Copies the last key or string, malloc'd and NUL-terminated. */
static int copy(struct reader *r, char **out)
{
    free(*out);
    *out = malloc(r->j.token_len + 1);
    if (!*out)
        return attn_no_memory(r->err, r->j.name, "for a text");
    int rc = attn_json_refuse_nul(&r->j, r->err);
    (*out)[attn_json_string(&r->j, *out)] = '\0';
    return rc;
}

enum { MOST_OPTIONS = 256 };            /* most that are read, because they are searched one by one */

static int read_options(struct reader *r)
{
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        char *name = NULL, *value = NULL;
        if (r->to->options == MOST_OPTIONS)
            return unexpected(r, "options", "as short as that of any batch");
        rc = copy(r, &name);
        if (!rc && attn_json_next(&r->j) != ATTN_JSON_STRING)
            rc = unexpected(r, name, "a string");
        if (!rc)
            rc = copy(r, &value);
        if (!rc)
            rc = attn_sidecar_add_option(r->to, name, value, r->err);
        free(name);
        free(value);
    }
    return rc;
}

static bool is_hex(const struct attn_json *j)
{
    return j->token_len == 64 && strspn(j->text + j->token, "0123456789abcdef") >= 64;
}

static int read_members(struct reader *r, const struct member *const *tables);

static int read_value(struct reader *r, const struct member *f, enum attn_json_event e)
{
    char *at = (char *)r->to + f->offset;
    const struct member *const tables[] = {f->of, NULL};
    switch (f->kind) {
    case WHOLE:
        if (e == ATTN_JSON_NULL)
            return *(uint64_t *)(void *)at = UINT64_MAX, ATTN_OK;
        if (e == ATTN_JSON_NUMBER && r->j.is_whole)
            return *(uint64_t *)(void *)at = r->j.whole, ATTN_OK;
        return unexpected(r, f->name, "a whole number");
    case FLAG:
        *(bool *)at = e == ATTN_JSON_TRUE;
        return e == ATTN_JSON_TRUE || e == ATTN_JSON_FALSE ? ATTN_OK : unexpected(r, f->name, "true or false");
    case TEXT:
        if (e == ATTN_JSON_NULL)
            return ATTN_OK;
        return e == ATTN_JSON_STRING ? copy(r, (char **)(void *)at) : unexpected(r, f->name, "a string");
    case HEX:
        if (e == ATTN_JSON_NULL)
            return ATTN_OK;
        if (e != ATTN_JSON_STRING || !is_hex(&r->j))
            return unexpected(r, f->name, "64 hexadecimal digits");
        memcpy(at, r->j.text + r->j.token, 64);
        return ATTN_OK;
    default:
        if (e != ATTN_JSON_OBJECT)
            return unexpected(r, f->name, "an object");
        return f->kind == OBJECT ? read_members(r, tables) : read_options(r);
    }
}

static const struct member *find(const struct attn_json *j, const struct member *const *tables)
{
    for (; *tables; tables++)
        for (const struct member *f = *tables; f->name; f++)
            if (attn_json_is(j, f->name))
                return f;
    return NULL;
}

static int read_members(struct reader *r, const struct member *const *tables)
{
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        const struct member *f = find(&r->j, tables);
        enum attn_json_event e = attn_json_next(&r->j);
        if (f && e != ATTN_JSON_FAILED)
            rc = read_value(r, f, e);
        else
            attn_json_skip(&r->j, e);
    }
    return rc;
}

static int check_mark(const struct attn_sidecar *s, const struct attn_mark *m, const char *path, struct attn_err *err)
{
    uint64_t bytes = s->summary && m->summary.bytes < m->stream.bytes ? m->summary.bytes : m->stream.bytes;
    if (m->failed > m->records)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: says that %" PRIu64 " of %" PRIu64 " records failed: it was changed", path,
                         m->failed, m->records);
    if (!s->complete && m->records > bytes)     /* each takes a line; in the end means may replace them */
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: says that %" PRIu64 " records are in %" PRIu64 " bytes: it was changed", path,
                         m->records, bytes);
    return ATTN_OK;
}

/* Refuses numbers that no batch writes, before anybody subtracts or shares them out. */
static int check_numbers(const struct attn_sidecar *s, const char *path, struct attn_err *err)
{
    const struct attn_format *f = attn_format_find(s->format);
    int rc = check_mark(s, &s->now, path, err);
    if (!rc)
        rc = check_mark(s, &s->synced, path, err);
    if (rc)
        return rc;
    bool rows = s->now.failed < s->now.records;         /* the first good one sets the length of all */
    if (f && f->flags & ATTN_FORMAT_STACK && (rows ? !s->tokens : s->complete && s->tokens))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: says that %" PRIu64 " sentences are in its arrays, of %" PRIu64 " tokens: it was changed",
                         path, s->now.records - s->now.failed, s->tokens);
    if (s->shard.index >= s->shard.count)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: there is no shard %" PRIu64 "/%" PRIu64 ", which it says it describes: it "
                         "was changed", path, s->shard.index, s->shard.count);
    return ATTN_OK;
}

/* Unknown members are ignored: a later version may write more. */
static int read_all(struct attn_sidecar *out, const char *text, size_t len, const char *path, struct attn_err *err)
{
    static const struct member *const all[] = {moving, lasting, NULL};
    struct reader r = {.to = out, .err = err};
    int rc = ATTN_OK;
    attn_json_start(&r.j, text, len, path);
    if (attn_json_next(&r.j) != ATTN_JSON_OBJECT)
        rc = r.j.failed ? attn_json_error(&r.j, err) : attn_fail(err, ATTN_EFORMAT, "%s: is no JSON object", path);
    if (!rc)
        rc = read_members(&r, all);
    if (!rc)
        attn_json_next(&r.j);
    if (!rc && r.j.failed)
        rc = attn_json_error(&r.j, err);
    return rc;
}

int attn_sidecar_parse(struct attn_sidecar *out, const char *text, size_t len, const char *path, struct attn_err *err)
{
    *out = (struct attn_sidecar){.total = UINT64_MAX};
    int rc = read_all(out, text, len, path, err);
    bool whole = !rc && out->version && out->format && out->model && out->input_format && out->shard.count &&
                 *out->now.keys && *out->synced.keys;
    if (!rc && !whole)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: is no file that a batch left beside its output: take another name, or "
                       "--force to replace it", path);
    if (!rc)
        rc = check_numbers(out, path, err);
    if (rc)
        attn_sidecar_free(out);
    return rc;
}

int attn_sidecar_check_finished(const struct attn_sidecar *s, const char *path, struct attn_err *err)
{
    uint64_t size = attn_share_size(&s->shard, s->total);
    if (!s->complete || s->total == UINT64_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: does not describe a finished output", path);
    if (s->now.records != size)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: shard %" PRIu64 "/%" PRIu64 " of %" PRIu64 " records has %" PRIu64 ", it "
                         "says %" PRIu64, path, s->shard.index, s->shard.count, s->total, size, s->now.records);
    return ATTN_OK;
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

bool attn_sidecar_has_option(const struct attn_sidecar *s, const char *name)
{
    for (size_t i = 0; i < s->options; i++)
        if (!strcmp(s->option[i].name, name))
            return true;
    return false;
}

int attn_sidecar_add_option(struct attn_sidecar *s, const char *name, const char *value, struct attn_err *err)
{
    struct attn_setting *more = attn_grow(s->option, &s->room, s->options + 1, sizeof *more);
    struct attn_setting new = {strdup(name), strdup(value)};
    if (more)
        s->option = more;
    if (!more || !new.name || !new.value) {
        free(new.name);
        free(new.value);
        return attn_no_memory(err, NULL, "for the option --%s", name);
    }
    s->option[s->options++] = new;
    return ATTN_OK;
}

/* ---- writing --------------------------------------------------------------------------- */

static void write_name(struct attn_out *o, const char *name, size_t nth)
{
    attn_out_str(o, nth ? "," : "");
    attn_doc_string(o, name);
    attn_out_char(o, ':');
}

static void write_options(struct attn_out *o, const struct attn_sidecar *s)
{
    for (size_t i = 0; i < s->options; i++) {
        write_name(o, s->option[i].name, i);
        attn_doc_string(o, s->option[i].value);
    }
}

static void write_members(struct attn_out *o, const struct member *table, const struct attn_sidecar *from);

static void write_value(struct attn_out *o, const struct member *f, const struct attn_sidecar *s)
{
    const char *at = (const char *)s + f->offset;
    switch (f->kind) {
    case WHOLE:
        if (*(const uint64_t *)(const void *)at == UINT64_MAX)
            attn_out_str(o, "null");
        else
            attn_out_u64(o, *(const uint64_t *)(const void *)at);
        break;
    case FLAG: attn_out_str(o, *(const bool *)at ? "true" : "false"); break;
    case TEXT: attn_doc_string(o, *(char *const *)(const void *)at); break;
    case HEX: attn_doc_string(o, *at ? at : NULL); break;
    default:
        attn_out_char(o, '{');
        if (f->kind == OBJECT)
            write_members(o, f->of, s);
        else
            write_options(o, s);
        attn_out_char(o, '}');
    }
}

/* Writes the members separated by commas, without the braces. */
static void write_members(struct attn_out *o, const struct member *table, const struct attn_sidecar *from)
{
    for (size_t i = 0; table[i].name; i++) {
        write_name(o, table[i].name, i);
        write_value(o, &table[i], from);
    }
}

static void write_moving(struct attn_out *o, const struct attn_sidecar *s)
{
    attn_out_char(o, '{');
    write_members(o, moving, s);
}

static void write_lasting(struct attn_out *o, const struct attn_sidecar *s)
{
    attn_out_str(o, ",\n\"tool\":\"attn-cli\",");
    write_members(o, lasting, s);
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
    return attn_out_end(o, ATTN_OK, err);
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
    const char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash + 1 - path) : 0, end = output ? strlen(output) : 0, other_dir;
    while (end > 1 && output[end - 1] == '/')           /* a directory may be called out/ */
        end--;
    for (other_dir = end; other_dir > 0 && output[other_dir - 1] != '/';)
        other_dir--;
    bool beside = output && dir == other_dir && !strncmp(path, output, dir);
    /* or in the output */
    bool near = beside || (output && path[0] && !strncmp(path, output, end) && path[end] == '/');
    char *here = near || *path == '/' ? NULL : getcwd(NULL, 0);
    int n = here ? attn_asprintf(&s->summary, "%s/%s", here, path) : attn_asprintf(&s->summary,
                                                                                   "%s", near ? path + other_dir :
                                                                                   path);
    free(here);
    if (n >= 0)
        return ATTN_OK;
    s->summary = NULL;
    return attn_no_memory(err, path, "for its name");
}

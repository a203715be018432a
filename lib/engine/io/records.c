/* records.c - reads the sentences of a file, one after the other.
 *
 * text: one per line.  ndjson: one object per line.  csv, tsv: one per row, which may span several lines; the first
 * row names the columns.
 *
 * Over 500 lines, since bytes, frames and records each read on by asking the one before, and are read together. */
#include "attn_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/share.h"
#include "base/utf8.h"
#include "io/fields.h"
#include "io/record.h"

/* ---- bytes as they arrive -------------------------------------------------------------- */

/* Of a file or a pipe; memory holds only what has not been taken yet. */
struct feed {
    const char *name;                   /* for messages */
    int fd; bool owned;
    char *buf; size_t room, from, to;   /* bytes [from, to) can be taken */
    bool over;                          /* no more bytes will come */
    bool counted;                       /* a regular file of `size` bytes, which can be read twice */
    uint64_t size, taken;
    bool device;
    bool (*stop)(void *self); void *self;   /* asked while waiting; NULL: never stop */
};
enum feed_event { MORE, OVER, NOTHING, STOPPED };

enum { CHUNK = 1 << 16, ASK_MS = 200 };

/* Opens a pipe without waiting for its writer: read_more waits, because it can be stopped. */
static int open_feed(struct feed *f, const char *path, struct attn_err *err)
{
    struct stat st;
    f->owned = path && strcmp(path, "-") != 0;
    f->name = f->owned ? path : "standard input";
    f->fd = f->owned ? attn_disk_open(path, O_RDONLY | O_NONBLOCK, 0) : STDIN_FILENO;
    if (f->fd < 0) {
        f->owned = false;
        return attn_fail_errno(err, f->name, "open");
    }
    bool known = fstat(f->fd, &st) == 0, regular = known && S_ISREG(st.st_mode);
    f->device = known && S_ISCHR(st.st_mode);
    f->size = regular ? (uint64_t)st.st_size : 0;
    f->counted = regular && f->owned;
    return ATTN_OK;
}

static void close_feed(struct feed *f)
{
    if (f->owned)
        close(f->fd);
    free(f->buf);
    *f = (struct feed){0};
}

/* Moves the unread bytes to the front and makes room for a chunk after them. */
static bool make_room(struct feed *f)
{
    if (f->from)
        memmove(f->buf, f->buf + f->from, f->to - f->from);
    f->to -= f->from;
    f->from = 0;
    char *more = attn_grow(f->buf, &f->room, f->to + CHUNK, 1);
    f->buf = more ? more : f->buf;
    return more != NULL;
}

static int read_chunk(struct feed *f, enum feed_event *what, struct attn_err *err)
{
    if (f->room - f->to < CHUNK && !make_room(f))
        return attn_no_memory(err, f->name, "for a record of more than %zu bytes", f->to);
    ssize_t n = read(f->fd, f->buf + f->to, CHUNK);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? ATTN_OK : attn_fail_errno(err, f->name, "read");
    if (f->device && f->taken + f->to - f->from > ATTN_DEVICE_MOST)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: is a device of more than %zu bytes, the most that is read here", f->name,
                         ATTN_DEVICE_MOST);
    f->to += (size_t)n;
    f->over = n == 0;
    *what = n ? MORE : OVER;
    return ATTN_OK;
}

/* Reads on until MORE bytes are there or the input is OVER. */
static int read_more(struct feed *f, bool wait, enum feed_event *what, struct attn_err *err)
{
    struct pollfd in = {.fd = f->fd, .events = POLLIN};
    int rc = ATTN_OK;
    *what = f->over ? OVER : NOTHING;
    while (!rc && *what == NOTHING) {
        if (f->stop && f->stop(f->self)) {
            *what = STOPPED;
            break;
        }
        int ready = poll(&in, 1, wait ? ASK_MS : 0);
        if (ready > 0)
            rc = read_chunk(f, what, err);
        else if (ready < 0 && errno != EINTR)
            rc = attn_fail_errno(err, f->name, "read");
        else if (!wait)
            break;
    }
    return rc;
}

static void take(struct feed *f, size_t n)
{
    f->from += n;
    f->taken += n;
}

/* ---- frames: where records end, before anybody parses them ------------------------------
 *
 * A record is a line, or a row of a table, which may contain line ends in quotes.  Lines end in \n or \r\n; the last
 * one may lack its end.  A byte order mark at the start is dropped.  Lines of white space are counted as lines but are
 * not records.  Nothing else ends a record: \r alone, NUL and Unicode's line separators are ordinary characters.
 *
 * A record longer than LONGEST_MB is skipped in pieces, so that memory stays bounded. */

/* The record at the front of the feed. */
struct frame {
    bool whole, too_long;               /* its end was found; too_long: most of it has been discarded */
    size_t len;                         /* including its line end */
    uint64_t lines;                     /* line feeds in it */
    struct attn_row_end end;
    size_t seen;                        /* bytes that were searched and are still in the feed */
};
struct frames {
    struct feed feed;
    char comma;                         /* field separator of a table; 0: records are lines */
    struct frame now;
    bool begun;                         /* a byte order mark has been dealt with */
    uint64_t line, blank;               /* where the record begins, from 1; blank lines so far */
};

enum { LONGEST_MB = 16, LONGEST = LONGEST_MB << 20 };

static size_t find_line_end(const char *s, size_t len, uint64_t *lines)
{
    const char *end = len ? memchr(s, '\n', len) : NULL;
    *lines += end != NULL;
    return end ? (size_t)(end - s) + 1 : SIZE_MAX;
}

/* Searches the new bytes for the end of the record. */
static void look(struct frames *f)
{
    struct frame *now = &f->now;
    const char *s = f->feed.buf ? f->feed.buf + f->feed.from + now->seen : "";
    size_t len = f->feed.to - f->feed.from - now->seen;
    size_t end = f->comma ? attn_row_end_find(&now->end, s, len, f->comma, &now->lines) :
                 find_line_end(s, len, &now->lines);
    now->whole = end != SIZE_MAX || (f->feed.over && (now->seen + len || now->too_long));
    now->len = now->seen + (end == SIZE_MAX ? len : end);
    now->seen += len;
    now->too_long |= now->len > LONGEST;
    if (now->too_long && !now->whole) {
        take(&f->feed, now->seen);
        now->seen = 0;
    }
}

/* The bytes of a whole record without its line end. */
static const char *bytes_of(const struct frames *f, size_t *len)
{
    const char *s = f->feed.buf + f->feed.from;
    *len = f->now.len;
    if (*len && s[*len - 1] == '\n')
        --*len;
    if (*len && s[*len - 1] == '\r')
        --*len;
    return s;
}

static bool is_blank(const struct frames *f)
{
    size_t len;
    const char *s = bytes_of(f, &len), *white = f->comma == '\t' ? " \r\v\f" : " \t\r\v\f";
    for (size_t i = 0; i < len; i++)
        if (!s[i] || !strchr(white, s[i]))
            return false;
    return !f->now.too_long;
}

/* Goes on to the next record. */
static void drop(struct frames *f)
{
    take(&f->feed, f->now.len);
    f->line += f->now.lines;
    f->now = (struct frame){0};
}

/* Waits until three bytes are there or the first ones differ: a mark must not hide the quote after it. */
static bool pass_mark(struct frames *f)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = f->feed.to - f->feed.from;
    n = n < 3 ? n : 3;
    bool same = !n || !memcmp(f->feed.buf + f->feed.from, mark, n);
    if (same && n < 3 && !f->feed.over)
        return false;
    if (same && n == 3)
        take(&f->feed, n);
    f->begun = true;
    return true;
}

/* Reads on until a record is whole (MORE).  NOTHING is possible only if `wait` is false. */
static int find_whole(struct frames *f, bool wait, enum feed_event *what, struct attn_err *err)
{
    int rc = ATTN_OK;
    *what = MORE;
    while (!rc && !f->now.whole && *what == MORE) {
        if (f->begun || pass_mark(f))
            look(f);
        if (f->now.whole && is_blank(f)) {
            f->blank++;
            drop(f);
        } else if (!f->now.whole && f->feed.over) {
            *what = OVER;
        } else if (!f->now.whole) {
            rc = read_more(&f->feed, wait, what, err);
            if (*what == OVER)
                *what = MORE; /* a last record without a line end may be whole now */
        }
    }
    return rc;
}

/* ---- formats --------------------------------------------------------------------------- */

enum kind { TEXT, NDJSON, CSV, TSV, KINDS };
static const struct { const char *name; char comma; } kinds[] = {
    [TEXT] = {"text", '\0'}, [NDJSON] = {"ndjson", '\0'}, [CSV] = {"csv", ','}, [TSV] = {"tsv", '\t'},
};
static const struct { const char *ending; enum kind kind; } endings[] = {
    {".ndjson", NDJSON}, {".jsonl", NDJSON}, {".csv", CSV}, {".tsv", TSV},
};

struct attn_records {
    struct frames frames;
    enum kind kind;
    struct attn_records_opts o;
    struct attn_columns columns;
    struct attn_record_room room;
    struct attn_err fault;              /* of the record returned last */
    bool used;                          /* the record in `frames` was returned */
    uint64_t number;                    /* of the record in `frames` */
    uint64_t from, to, total;           /* a share without stride is [from, to) of total */
};

static bool is_table(const struct attn_records *r)
{
    return kinds[r->kind].comma;
}

/* ---- which records belong to this share -------------------------------------------------- */

static int fail_at(const struct attn_records *r, const struct attn_err *cause, struct attn_err *err)
{
    return attn_fail(err, cause->code,
                     "%s: line %llu: %s", r->frames.feed.name, (unsigned long long)r->frames.line, cause->msg);
}

static int read_columns(struct attn_records *r, struct attn_err *err)
{
    size_t len;
    struct attn_err cause = {0};
    const char *s = bytes_of(&r->frames, &len);
    if (r->frames.comma == ',' && !r->o.headless)
        r->frames.comma = attn_fields_comma(s, len) == ';' ? ';' : ',';
    int rc = r->frames.now.too_long ? attn_fail(&cause, ATTN_EFORMAT, "the first row is longer than %d MiB", LONGEST_MB)
                                    : attn_columns_read(&r->columns, &r->room, r->o.column, r->o.headless, s, len,
                                                        r->frames.comma, &cause);
    if (rc) {
        r->columns.n = 0;
        return fail_at(r, &cause, err);
    }
    if (r->columns.guessed && r->o.guessed)
        r->o.guessed(r->o.self, s, len);
    if (!r->o.headless)
        drop(&r->frames);
    return ATTN_OK;
}

/* A list of records in a .json file is not a text of so many lines. */
static int check_first(const struct attn_records *r, struct attn_err *err)
{
    size_t len;
    struct attn_err cause = {0};
    const char *s = bytes_of(&r->frames, &len), *dot = r->o.path ? strrchr(r->o.path, '.') : NULL;
    if (r->o.format || !dot || strcasecmp(dot, ".json") != 0)
        return ATTN_OK;
    while (len && (*s == ' ' || *s == '\t'))
        s++, len--;
    if (!len || *s != '[')
        return ATTN_OK;
    attn_fail(&cause, ATTN_EFORMAT, ATTN_RECORD_LIST);
    return fail_at(r, &cause, err);
}

static bool is_in_share(const struct attn_records *r)
{
    const struct attn_share *s = &r->o.share;
    return s->stride && s->count ? r->number % s->count == s->index : r->number >= r->from;
}

static void pass(struct attn_records *r)
{
    drop(&r->frames);
    r->number++;
    r->used = false;
}

static int end(struct attn_records *r, struct attn_err *err)
{
    if (r->to != UINT64_MAX && r->number < r->to)
        return attn_fail(err, ATTN_EIO,
                         "%s: has %llu records, and had %llu when they were counted", r->frames.feed.name,
                         (unsigned long long)r->number, (unsigned long long)r->total);
    r->total = r->to == UINT64_MAX ? r->number : r->total;
    return ATTN_OK;
}

/* The same of texts in memory. */
static int find_text(struct attn_records *r, enum feed_event *what)
{
    r->number += r->used;
    r->used = false;
    while (r->number < r->o.n_texts && r->number < r->to && !is_in_share(r))
        r->number++;
    *what = r->number < r->o.n_texts && r->number < r->to ? MORE : OVER;
    return ATTN_OK;
}

/* Reads on until a record of this share is whole (MORE). */
static int find(struct attn_records *r, bool wait, enum feed_event *what, struct attn_err *err)
{
    if (r->o.texts)
        return find_text(r, what);
    if (r->used)
        pass(r);
    for (;;) {
        *what = OVER;
        int rc = r->number < r->to ? find_whole(&r->frames, wait, what, err) : ATTN_OK;
        if (!rc && *what == OVER)
            return end(r, err);
        if (!rc && *what == MORE && !r->number)
            rc = check_first(r, err);
        if (rc || *what != MORE)
            return rc;
        if (is_table(r) && !r->columns.n) {
            rc = read_columns(r, err);
            if (rc)
                return rc;
        } else if (is_in_share(r)) {
            return ATTN_OK;
        } else {
            pass(r);
        }
    }
}

/* ---- one record ------------------------------------------------------------------------ */

static int read_bytes(struct attn_records *r, struct attn_record *out, const char *s, size_t len)
{
    size_t valid = r->frames.now.too_long ? 0 : attn_utf8_valid(s, len);
    if (r->frames.now.too_long)
        return attn_fail(&r->fault, ATTN_EFORMAT, "longer than %d MiB", LONGEST_MB);
    if (valid < len)
        return attn_fail(&r->fault, ATTN_EFORMAT,
                         "not UTF-8 at byte %zu: found 0x%02X", valid, (unsigned char)s[valid]);
    if (r->kind == NDJSON)
        return attn_record_read_object(out, &r->room, s, len, &r->fault);
    if (is_table(r))
        return attn_record_read_row(out, &r->room, &r->columns, s, len, r->frames.comma, &r->fault);
    out->text = s;
    out->text_len = len;
    return ATTN_OK;
}

static int read_record(struct attn_records *r, struct attn_record *out, struct attn_err *err)
{
    size_t len = 0;
    const char *s = r->o.texts ? r->o.texts[r->number] : bytes_of(&r->frames, &len);
    len = r->o.texts ? strlen(s) : len;
    *out = (struct attn_record){.number = r->number, .line = r->o.texts ? r->number + 1 : r->frames.line};
    r->used = true;
    int rc = read_bytes(r, out, s, len);
    if (rc && rc != ATTN_EFORMAT)
        return fail_at(r, &r->fault, err);
    if (rc) {
        out->error = r->fault.msg;
        out->text = NULL;
        out->ids = NULL;
        out->text_len = out->n = out->n_fields = 0;
    }
    return ATTN_OK;
}

int attn_records_next(struct attn_records *r, struct attn_record *out, enum attn_records_event *what,
                      struct attn_err *err)
{
    enum feed_event e;
    int rc = find(r, true, &e, err);
    *what = e == STOPPED ? ATTN_RECORDS_STOPPED : e == OVER ? ATTN_RECORDS_END : ATTN_RECORDS_NEXT;
    return !rc && e == MORE ? read_record(r, out, err) : rc;
}

int attn_records_skip(struct attn_records *r, uint64_t to, struct attn_err *err)
{
    enum feed_event e;
    int rc;
    while (!(rc = find(r, true, &e, err)) && e == MORE && r->number < to)
        r->used = true;
    return rc;
}

bool attn_records_ready(struct attn_records *r)
{
    enum feed_event e;
    return find(r, false, &e, NULL) || e != NOTHING;      /* the next call reports the failure */
}

/* ---- opening --------------------------------------------------------------------------- */

static int choose_kind(struct attn_records *r, struct attn_err *err)
{
    const char *path = r->o.path ? r->o.path : "", *format = r->o.format;
    size_t len = strlen(path);
    for (size_t i = 0; !format && i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i].ending);
        if (len > n && !strcasecmp(path + len - n, endings[i].ending))
            r->kind = endings[i].kind;
    }
    for (; format && strcmp(format, kinds[r->kind].name) != 0; r->kind++)
        if (r->kind + 1 == KINDS)
            return attn_fail(err, ATTN_EUSAGE, "unknown input '%s': expected text, ndjson, csv or tsv", format);
    r->frames.comma = kinds[r->kind].comma;
    if (!is_table(r) && (r->o.column || r->o.headless))
        return attn_fail(err, ATTN_EUSAGE, "%s is read as %s, which has no columns: --input csv reads a table",
                         r->frames.feed.name, kinds[r->kind].name);
    if (r->kind == TEXT && r->o.n_fields)
        return attn_fail(err, ATTN_EUSAGE, "%s is read as text, a sentence a line, but each record needs \"%s\", too: "
                                           "give ndjson, csv or tsv, by the ending of the path or with --input",
                         r->frames.feed.name, r->o.fields[0]);
    return ATTN_OK;
}

/* Counts all records of the input, which must be a file because it is read twice. */
static int count(uint64_t *total, const struct attn_records_opts *o, struct attn_err *err)
{
    struct attn_records_opts all = {.path = o->path, .format = o->format, .column = o->column, .headless = o->headless};
    struct attn_records *r;
    int rc = attn_records_open(&r, &all, err);
    if (!r)
        return rc;
    rc = attn_records_skip(r, UINT64_MAX, err);
    *total = r->total;
    attn_records_close(r);
    return rc;
}

/* Finds the range of a share without stride, which requires counting the records first. */
static int choose_range(struct attn_records *r, struct attn_err *err)
{
    const struct attn_share *s = &r->o.share;
    r->to = r->total = UINT64_MAX;
    r->total = r->o.texts ? r->o.n_texts : r->total;
    if (s->count < 2 || s->stride)
        return ATTN_OK;
    if (r->o.texts) {
        attn_share_range(s, r->total, &r->from, &r->to);
        return ATTN_OK;
    }
    if (!r->frames.feed.counted)
        return attn_fail(err, ATTN_EUSAGE, "%s: its records cannot be counted before they are read: add --stride, to "
                                           "take one in %llu", r->frames.feed.name, (unsigned long long)s->count);
    int rc = count(&r->total, &r->o, err);
    if (!rc)
        attn_share_range(s, r->total, &r->from, &r->to);
    return rc;
}

int attn_records_open(struct attn_records **out, const struct attn_records_opts *o, struct attn_err *err)
{
    struct attn_records *r = *out = calloc(1, sizeof *r);
    if (!r)
        return attn_no_memory(err, NULL, "to read records");
    r->o = *o;
    r->frames.line = 1;
    r->frames.feed.stop = o->stop;
    r->frames.feed.self = o->self;
    int rc = o->texts ? ATTN_OK : open_feed(&r->frames.feed, o->path, err);
    if (o->texts)
        r->frames.feed.name = "the command line";
    if (!rc)
        rc = choose_kind(r, err);
    if (!rc)
        rc = attn_record_room_make(&r->room, o, err);
    if (!rc)
        rc = choose_range(r, err);
    if (rc) {
        attn_records_close(r);
        *out = NULL;
    }
    return rc;
}

void attn_records_close(struct attn_records *r)
{
    if (!r)
        return;
    close_feed(&r->frames.feed);
    attn_record_room_free(&r->room);
    free(r);
}

/* ---- what is known about the records --------------------------------------------------- */

const char *attn_records_format(const struct attn_records *r)
{
    return kinds[r->kind].name;
}

const char *attn_records_path(const struct attn_records *r)
{
    return r->frames.feed.name;
}

uint64_t attn_records_total(const struct attn_records *r)
{
    return r->total;
}

uint64_t attn_records_blank(const struct attn_records *r)
{
    return r->frames.blank;
}

uint64_t attn_records_bytes(const struct attn_records *r, uint64_t *all)
{
    *all = r->frames.feed.size;
    return r->frames.feed.taken;
}

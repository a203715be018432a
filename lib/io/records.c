/* records.c - reads the sentences of a file, one after the other.
 *
 * text: one a line.  ndjson: one object a line.  csv, tsv: one a row, which may span several lines; the first row
 * names the columns. */
#include "attn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/share.h"
#include "base/utf8.h"
#include "io/frames.h"
#include "io/record.h"

enum kind { TEXT, NDJSON, CSV, TSV, KINDS };
static const struct { const char *name; char comma; } kinds[] = {
    [TEXT] = {"text", '\0'}, [NDJSON] = {"ndjson", '\0'}, [CSV] = {"csv", ','}, [TSV] = {"tsv", '\t'},
};
static const struct { const char *ending; enum kind kind; } endings[] = {
    {".ndjson", NDJSON}, {".jsonl", NDJSON}, {".csv", CSV}, {".tsv", TSV},
};

struct attn_records {
    struct attn_frames frames;
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
    return attn_fail(err, cause->code, "%s: line %llu: %s", r->frames.feed.name, (unsigned long long)r->frames.line, cause->msg);
}

static int read_columns(struct attn_records *r, struct attn_err *err)
{
    size_t len;
    struct attn_err cause = {0};
    const char *s = attn_frames_bytes(&r->frames, &len);
    int rc = r->frames.now.too_long ? attn_fail(&cause, ATTN_EFORMAT, "the first row is longer than %d MiB", ATTN_FRAME_MB)
                                    : attn_columns_read(&r->columns, r->o.column, r->o.headless, s, len, r->frames.comma, &cause);
    if (rc) {
        r->columns.n = 0;
        return fail_at(r, &cause, err);
    }
    if (!r->o.headless)
        attn_frames_drop(&r->frames);
    return ATTN_OK;
}

static bool is_in_share(const struct attn_records *r)
{
    const struct attn_share *s = &r->o.share;
    return s->stride && s->count ? r->number % s->count == s->index : r->number >= r->from;
}

static void pass(struct attn_records *r)
{
    attn_frames_drop(&r->frames);
    r->number++;
    r->used = false;
}

static int end(struct attn_records *r, struct attn_err *err)
{
    if (r->to != UINT64_MAX && r->number < r->to)
        return attn_fail(err, ATTN_EIO, "%s: has %llu records, and had %llu when they were counted", r->frames.feed.name,
                         (unsigned long long)r->number, (unsigned long long)r->total);
    r->total = r->to == UINT64_MAX ? r->number : r->total;
    return ATTN_OK;
}

/* Reads on until a record of this share is whole (MORE). */
static int find(struct attn_records *r, bool wait, enum attn_feed_event *what, struct attn_err *err)
{
    if (r->used)
        pass(r);
    for (;;) {
        *what = ATTN_FEED_OVER;
        int rc = r->number < r->to ? attn_frames_find(&r->frames, wait, what, err) : ATTN_OK;
        if (!rc && *what == ATTN_FEED_OVER)
            return end(r, err);
        if (rc || *what != ATTN_FEED_MORE)
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
        return attn_fail(&r->fault, ATTN_EFORMAT, "longer than %d MiB", ATTN_FRAME_MB);
    if (valid < len)
        return attn_fail(&r->fault, ATTN_EFORMAT, "not UTF-8 at byte %zu: found 0x%02X", valid, (unsigned char)s[valid]);
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
    size_t len;
    const char *s = attn_frames_bytes(&r->frames, &len);
    *out = (struct attn_record){.number = r->number, .line = r->frames.line};
    r->used = true;
    int rc = read_bytes(r, out, s, len);
    if (rc && rc != ATTN_EFORMAT)
        return fail_at(r, &r->fault, err);
    if (rc) {
        out->error = r->fault.msg;
        out->text = NULL;
        out->ids = NULL;
        out->text_len = out->n = 0;
    }
    return ATTN_OK;
}

int attn_records_next(struct attn_records *r, struct attn_record *out, enum attn_records_event *what, struct attn_err *err)
{
    enum attn_feed_event e;
    int rc = find(r, true, &e, err);
    *what = e == ATTN_FEED_STOPPED ? ATTN_RECORDS_STOPPED : e == ATTN_FEED_OVER ? ATTN_RECORDS_END : ATTN_RECORDS_NEXT;
    return !rc && e == ATTN_FEED_MORE ? read_record(r, out, err) : rc;
}

int attn_records_skip(struct attn_records *r, uint64_t to, struct attn_err *err)
{
    enum attn_feed_event e;
    int rc;
    while (!(rc = find(r, true, &e, err)) && e == ATTN_FEED_MORE && r->number < to)
        r->used = true;
    return rc;
}

bool attn_records_ready(struct attn_records *r)
{
    enum attn_feed_event e;
    return find(r, false, &e, NULL) || e != ATTN_FEED_NOTHING;      /* the next call reports the failure */
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
        return attn_fail(err, ATTN_EUSAGE, "%s is read as %s, which has no columns: --input csv reads a table", r->frames.feed.name,
                         kinds[r->kind].name);
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
    if (s->count < 2 || s->stride)
        return ATTN_OK;
    if (!r->frames.feed.counted)
        return attn_fail(err, ATTN_EUSAGE, "%s: its records cannot be counted before they are read: add --stride, to take "
                         "one in %llu", r->frames.feed.name, (unsigned long long)s->count);
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
    int rc = attn_frames_open(&r->frames, o->path, err);
    if (!rc)
        rc = choose_kind(r, err);
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
    attn_frames_close(&r->frames);
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

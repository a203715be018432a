/* mutate.c - changes fuzz inputs as their authors might: a JSON document stays JSON, a .safetensors header
 * keeps its length.
 *
 * An input is an archive of files (archive.h) or one file.  One of the files is chosen and changed by what it is:
 * values of JSON get other types, limits, copies of other values, wrappers; members are dropped, doubled, renamed;
 * strings get escapes and odd bytes; lines of text are moved; bodies of arrays get odd numbers.  Now and then files are
 * dropped or exchanged, or the plain mutator of libFuzzer works on the bytes. */
#define _GNU_SOURCE 1

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/splitmix.h"
#include "archive.h"
#include "fuzz.h"

enum { MOST = 1 << 19, SPANS = 4096, DEEPEST = 1500 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t random_state;

static size_t draw(size_t below)
{
    uint64_t x = attn_splitmix_next(&random_state);
    return below ? (size_t)(x % below) : 0;
}

struct bytes { size_t len; char at[MOST]; };

static void append(struct bytes *b, const void *from, size_t len)
{
    if (len > sizeof b->at - b->len)
        len = sizeof b->at - b->len;
    memmove(b->at + b->len, from, len);
    b->len += len;
}

static void append_text(struct bytes *b, const char *text) { append(b, text, strlen(text)); }

/* ---- where the values of a JSON document are ------------------------------------------------ */

struct span { size_t from, key_end, value, end; };      /* a member or an element: its key, if any, and its value */
static struct { const char *text; size_t len, at, n, depth; struct span span[SPANS]; } doc;

static void blanks(void)
{
    while (doc.at < doc.len && strchr(" \t\r\n", doc.text[doc.at]) && doc.text[doc.at])
        doc.at++;
}

static bool next_is(char c)
{
    blanks();
    bool is = doc.at < doc.len && doc.text[doc.at] == c;
    doc.at += is;
    return is;
}

static bool scan_string(void)
{
    if (!next_is('"'))
        return false;
    while (doc.at < doc.len && doc.text[doc.at] != '"')
        doc.at += doc.text[doc.at] == '\\' ? 2 : 1;
    return doc.at++ < doc.len;
}

static bool scan_value(void);

/* The members of an object or the elements of an array, up to `end`. */
static bool scan_items(char end)
{
    for (bool first = true; !next_is(end); first = false) {
        if (!first && !next_is(','))
            return false;
        struct span *s = &doc.span[doc.n < SPANS ? doc.n++ : draw(SPANS)], here;
        blanks();
        here.from = here.key_end = doc.at;
        if (end == '}' && (!scan_string() || (here.key_end = doc.at, !next_is(':'))))
            return false;
        blanks();
        here.value = doc.at;
        if (!scan_value())
            return false;
        here.end = doc.at;
        *s = here;
    }
    return true;
}

static bool scan_value(void)
{
    blanks();
    if (doc.at >= doc.len || doc.depth > DEEPEST)
        return false;
    char c = doc.text[doc.at];
    if (c == '"')
        return scan_string();
    if (c == '{' || c == '[') {
        doc.at++;
        doc.depth++;
        bool good = scan_items(c == '{' ? '}' : ']');
        doc.depth--;
        return good;
    }
    size_t start = doc.at;
    while (doc.at < doc.len && (isalnum((unsigned char)doc.text[doc.at]) || strchr("+-.", doc.text[doc.at])))
        doc.at++;
    return doc.at > start;
}

static bool scan(const char *text, size_t len)
{
    doc.text = text;
    doc.len = len;
    doc.at = doc.n = doc.depth = 0;
    return scan_value() && doc.n > 0;
}

/* ---- changing a JSON document ------------------------------------------------------------- */

static const char *const values[] = {
    "null", "true", "false", "0", "1", "2", "3", "4", "7", "-1", "255", "256", "65535", "65536", "2147483647",
    "2147483648", "4294967295",
    "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616",
    "-2147483648", "-2147483649", "1e308", "1e999", "-1e999", "1e-320", "-0.0", "0.5", "1.0", "1e2", "0.00001", "\"\"",
    "\"a\"", "\"0\"",
    "\"\\u0000\"", "\"\\ud800\"", "\"\\u202e\\u009b\\u007f\"", "\"<|endoftext|>\"", "\"\\u0120a\"", "\"a b\"",
    "\"a/b\"", "\"..\"", "\"\xc3\xa9\"",
    "\"\xff\"", "[]", "{}", "[[1]]", "[null]", "[\"a\"]", "[0]", "[1,2,3]", "[[],[]]", "[\"a\",\"b\"]", "{\"\":0}",
    "{\"a\":[1]}", "[{}]",
    "[{\"a\":1}]", "[[\"a\",\"b\"]]", "{\"type\":\"Sequence\"}", "[0,0]", "[1,0]", "[4,4]",
};
static const char *const keys[] = {
    "\"\"", "\"a\"", "\"content\"", "\"id\"", "\"type\"", "\"special\"", "\"type\\u0000\"", "\"dtype\"", "\"shape\"",
    "\"data_offsets\"", "\"n_ctx\"",
    "\"rope_scaling\"", "\"tokenizer\"", "\"0\"", "\"\\ud83d\"", "\"__metadata__\"", "\"model_type\"", "\"data\"",
    "\"name\"", "\"files\"",
};
#define ONE_OF(list) list[draw(sizeof list / sizeof *list)]

/* Appends a string with something odd inside. */
static void odd_string(struct bytes *out, const char *s, size_t len)
{
    static const char *const odd[] = {"\\u0000", "\\ud800", "\\udc00\\ud800", "\\\\", "\\\"", "\\n", "\x80", "\xc0\xaf",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80", "\xef\xbb\xbf", "\\u202e", "e\xcc\x81", "/", "../", " ",
                                      ".part", "\\u001b[2J"};
    size_t cut = len > 2 ? 1 + draw(len - 1) : 1;
    while (cut > 1 && s[cut - 1] == '\\')
        cut--;
    append(out, s, cut);
    append_text(out, ONE_OF(odd));
    append(out, s + cut, len - cut);
}

static void near_number(struct bytes *out, const char *s, size_t len)
{
    static const long long by[] = {1, -1, 2, -2, 8, 64, 4096};
    char text[40];
    snprintf(text, sizeof text, "%.*s", len < 18 ? (int)len : 18, s);
    long long x = strtoll(text, NULL, 10);
    snprintf(text, sizeof text, "%lld", draw(3) ? x + ONE_OF(by) : draw(2) ? -x / 2 : x / 2 * 5);
    append_text(out, text);
}

static void deeper(struct bytes *out, const char *s, size_t len)
{
    static const size_t depths[] = {1, 1, 1, 2, 3, 8, 63, 64, 65, 128, 999, 1001};
    static const char *const open[] = {"[", "{\"a\":", "{\"type\":", "[0,"}, *const close[] = {"]", "}", "}", "]"};
    size_t depth = ONE_OF(depths), how = draw(4);
    for (size_t i = 0; i < depth; i++)
        append_text(out, open[how]);
    append(out, s, len);
    for (size_t i = 0; i < depth; i++)
        append_text(out, close[how]);
}

static void other_value(struct bytes *out, const char *s, size_t len)
{
    const struct span *other = &doc.span[draw(doc.n)];
    size_t how = draw(8);
    if (how < 3)
        append_text(out, ONE_OF(values));
    else if (how < 4)
        append(out, doc.text + other->value, other->end - other->value);
    else if (how < 5)
        deeper(out, s, len);
    else if (*s == '"')
        odd_string(out, s, len);
    else if (*s == '-' || isdigit((unsigned char)*s))
        near_number(out, s, len);
    else
        append_text(out, ONE_OF(values));
}

/* Leaves a member out, with a comma beside it. */
static void without(struct bytes *out, const struct span *s)
{
    size_t from = s->from, to = s->end;
    while (to < doc.len && isspace((unsigned char)doc.text[to]))
        to++;
    if (to < doc.len && doc.text[to] == ',')
        to++;
    else {
        size_t before = from;
        while (before > 0 && isspace((unsigned char)doc.text[before - 1]))
            before--;
        from = before > 0 && doc.text[before - 1] == ',' ? before - 1 : from;
    }
    append(out, doc.text, from);
    append(out, doc.text + to, doc.len - to);
}

/* Writes the document with one change; false if it is not JSON. */
static bool change_json(struct bytes *out, const char *text, size_t len)
{
    if (!scan(text, len))
        return false;
    const struct span *s = &doc.span[draw(doc.n)], *other = &doc.span[draw(doc.n)];
    size_t how = draw(16);
    if (how == 0) {
        without(out, s);
        return true;
    }
    append(out, text, s->from);
    if (how == 1) {                     /* twice, or another member beside it */
        const struct span *extra = draw(2) ? s : other;
        append(out, text + extra->from, extra->end - extra->from);
        append_text(out, ",");
    }
    if (how == 2 && s->key_end > s->from) {
        if (draw(2))
            append(out, text + other->from, other->key_end > other->from ? other->key_end - other->from : 0);
        else if (draw(2))
            append_text(out, ONE_OF(keys));
        else
            odd_string(out, text + s->from, s->key_end - s->from);
        append(out, text + s->key_end, s->end - s->key_end);
    } else if (how <= 2) {
        append(out, text + s->from, s->end - s->from);
    } else {
        append(out, text + s->from, s->value - s->from);
        other_value(out, text + s->value, s->end - s->value);
    }
    append(out, text + s->end, len - s->end);
    return true;
}

/* ---- changing other files ------------------------------------------------------------------- */

static void plainly(struct bytes *out, const void *data, size_t len)
{
    out->len = 0;
    append(out, data, len);
    out->len = LLVMFuzzerMutate((uint8_t *)out->at, out->len, len + 64 < sizeof out->at ? len + 64 : sizeof out->at);
}

/* Odd numbers of one width at one place. */
static void odd_numbers(char *at, size_t len)
{
    static const uint32_t odd[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x80000000,
                                   0x00800000, 0x3F800000, 0x4CBEBC20, 0x7C00, 0x7C007C00, 0x7F80};
    uint32_t x = ONE_OF(odd);
    size_t n = 1 + draw(8), step = draw(4) ? 4 : 2, place = draw(len / step) * step;
    for (size_t i = 0; i < n && place + step <= len; i++, place += step)
        memcpy(at + place, &x, step);
}

static void change_safetensors(struct bytes *out, const char *data, size_t len, uint64_t header)
{
    static struct bytes json;
    json.len = 0;
    if (draw(3) && change_json(&json, data + 8, (size_t)header)) {
        uint64_t n = json.len;
        append(out, &n, sizeof n);
        append(out, json.at, json.len);
        append(out, data + 8 + header, len - 8 - (size_t)header);
    } else {
        append(out, data, len);
        odd_numbers(out->at + 8 + header, len - 8 - (size_t)header);
    }
}

static size_t a_line(const char *data, size_t len, size_t *end)
{
    size_t at = draw(len);
    while (at > 0 && data[at - 1] != '\n')
        at--;
    const char *stop = memchr(data + at, '\n', len - at);
    *end = stop ? (size_t)(stop + 1 - data) : len;
    return at;
}

/* Drops, doubles, moves or changes a line. */
static void change_lines(struct bytes *out, const char *data, size_t len)
{
    static struct bytes line;
    size_t end, other_end, at = a_line(data, len, &end), other = a_line(data, len, &other_end), how = draw(6);
    line.len = 0;
    append(out, data, at);
    if (how == 1 || how == 2)
        append(out, data + other, other_end - other);
    if (how == 3)
        other = 0;
    if (how >= 4 && !change_json(&line, data + at, end - at)) {
        plainly(&line, data + at, end - at);
    }
    append(out, how >= 4 ? line.at : data + at, how >= 4 ? line.len : how == 0 ? 0 : end - at);
    append(out, data + end, len - end);
}

/* Changes one file by what it looks like. */
static void change(struct bytes *out, const char *data, size_t len)
{
    uint64_t header = 0;
    out->len = 0;
    if (len > 8)
        memcpy(&header, data, sizeof header);
    if (len == 0 || draw(12) == 0)
        plainly(out, data, len);
    else if (len > 10 && header > 2 && header <= len - 8 && data[8] == '{')
        change_safetensors(out, data, len, header);
    else if (len > 10 && !memcmp(data, "\x93NUMPY", 6) && draw(2)) {
        append(out, data, len);
        odd_numbers(out->at, out->len);
    } else if (memchr(data, '\0', len < 64 ? len : 64))
        plainly(out, data, len);
    else if (!change_json(out, data, len))
        change_lines(out, data, len);
}

/* ---- changing an archive -------------------------------------------------------------------- */

static struct bytes changed, whole;

static void pack(const char *path, const void *data, size_t len)
{
    char head[ARCHIVE_PATH + 32];
    snprintf(head, sizeof head, "@@ %s %zu\n", path, len);
    append_text(&whole, head);
    append(&whole, data, len);
    append_text(&whole, "\n");
}

static void change_archive(const struct archive *a)
{
    size_t which = draw(a->n), other = draw(a->n), how = draw(24);
    for (size_t i = 0; i < a->n; i++) {
        const struct archive_file *f = &a->file[i];
        if (i != which)
            pack(f->path, f->data, f->len);
        else if (how == 1)
            pack(f->path, a->file[other].data, a->file[other].len);
        else if (how == 2)
            pack(a->file[other].path, f->data, f->len);
        else if (how > 2) {
            change(&changed, (const char *)f->data, f->len);
            pack(f->path, changed.at, changed.len);
        }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct archive a;
    random_state = seed;
    if (draw(16) == 0 || size == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (size_t times = 1 + draw(4); times > 0; times--) {
        archive_read(&a, data, size);
        whole.len = 0;
        if (a.n) {
            change_archive(&a);
        } else {
            change(&changed, (const char *)data, size);
            append(&whole, changed.at, changed.len);
        }
        if (whole.len == 0 || whole.len > max_size)
            break;
        memcpy(data, whole.at, whole.len);
        size = whole.len;
    }
    return size;
}

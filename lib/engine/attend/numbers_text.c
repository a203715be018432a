/* numbers_text.c - numbers in rows, or as lists in lists. */
#include "attend/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"
#include "base/utf8.h"

struct reader {
    const char *at, *end, *name;
    struct attn_array *out; size_t room;
    size_t count[ATTN_ARRAY_DIMS + 1];  /* of the lists that are open: how many items they have so far */
    bool known[ATTN_ARRAY_DIMS + 1];    /* whether the length of the lists of a depth is known, from the first one */
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_space(char c) { return is_blank(c) || c == '\n'; }

/* The text up to the next character that ends a number. */
static size_t word_at(const struct reader *r)
{
    const char *s = r->at;
    while (s < r->end && !is_space(*s) && !memchr(",;[]()", *s, 6))
        s++;
    return (size_t)(s - r->at);
}

bool attn_numbers_one(double *x, const char *s, size_t len)
{
    static const struct { const char *name; double x; } truths[] = {{"true", 1}, {"false", 0}};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        if (strlen(truths[i].name) == len && !strncasecmp(s, truths[i].name, len)) {
            *x = truths[i].x;
            return true;
        }
    return attn_num_parse_f64(s, len, x);
}

/* Where the text begins, after a byte order mark and lines of comment, as numpy.savetxt writes them. */
static size_t start_of(const char *s, size_t len)
{
    size_t at = attn_utf8_mark(s, len);
    for (;;) {
        while (at < len && is_space(s[at]))
            at++;
        if (at == len || s[at] != '#')
            return at;
        const char *end = memchr(s + at, '\n', len - at);
        at = end ? (size_t)(end - s) : len;
    }
}

bool attn_numbers_typed(const char *s, size_t len)
{
    static const char *const wholes[] = {"inf", "nan", "true", "false", "tensor(", "array(", "torch.tensor(",
                                         "np.array("};
    size_t start = start_of(s, len);
    s += start;
    len -= start;
    size_t n = len && (*s == '-' || *s == '+');
    n += n < len && s[n] == '.';
    if (len && (*s == '[' || (n < len && s[n] >= '0' && s[n] <= '9')))
        return true;
    n = len && (*s == '-' || *s == '+');
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        size_t w = strlen(wholes[i]);
        bool ends = len - n >= w && (wholes[i][w - 1] == '(' || len - n == w || is_space(s[n + w]) ||
                                     strchr(",;", s[n + w]));
        if (ends && !strncasecmp(s + n, wholes[i], w))
            return true;
    }
    return false;
}

/* Where the reader is, for messages: "row 1, number 2". */
static int refuse(const struct reader *r, size_t row, size_t at, size_t len, const char *expected, struct attn_err *err)
{
    if (len == 3 && !memcmp(r->at, "...", 3))
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu, number %zu: '...' stands for numbers that were left out when "
                                            "it was printed: save the array with numpy.save, or print all of it",
                         r->name, row, at);
    return attn_fail(err, ATTN_EFORMAT, "%s: row %zu, number %zu: found '%.*s', expected %s", r->name, row, at,
                     attn_shown(r->at, len), r->at, expected);
}

static int add(struct reader *r, double x, struct attn_err *err)
{
    return attn_array_add(r->out, &r->room, x) ? ATTN_OK
           : attn_no_memory(err, r->name, "for more than %zu numbers", r->out->n);
}

/* ---- rows ------------------------------------------------------------------------------ */

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool at(const struct reader *r, char c) { return r->at < r->end && *r->at == c; }

/* One row, up to its end.  A comma stands between two numbers. */
static int read_row(struct reader *r, size_t row, size_t *n, struct attn_err *err)
{
    for (*n = 0;; ++*n) {
        skip_blanks(r);
        const bool comma = *n && at(r, ',');
        r->at += comma;
        skip_blanks(r);
        const bool ends = r->at == r->end || at(r, ';') || at(r, '\n');
        if (at(r, ',') || (ends && comma))
            return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: number %zu is missing beside a comma", r->name, row, *n);
        if (ends)
            return ATTN_OK;
        double x;
        size_t len = word_at(r);
        if (!attn_numbers_one(&x, r->at, len))
            return refuse(r, row, *n, len ? len : 1, "a number", err);
        r->at += len;
        if (add(r, x, err))
            return err->code;
    }
}

/* Takes what ends a row, and lines without numbers after it.  A line may end with a semicolon, but a semicolon within
 * one of several lines may be meant for a comma. */
static int end_row(struct reader *r, size_t row, bool *within, bool *lines, struct attn_err *err)
{
    bool semicolon = r->at < r->end && *r->at == ';', feed = false;
    r->at += semicolon;
    for (; r->at < r->end && is_space(*r->at); r->at++)
        feed |= *r->at == '\n';
    *within |= semicolon && !feed && r->at < r->end;
    *lines |= feed && r->at < r->end;
    if (*within && *lines)
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: numbers are separated by ; as well as by line feeds: "
                                            "expected one or the other between rows, and commas or blanks within them",
                         r->name, row);
    return ATTN_OK;
}

static int read_rows(struct reader *r, struct attn_err *err)
{
    struct attn_array *a = r->out;
    bool within = false, lines = false;
    a->ndim = 2;
    while (r->at < r->end) {
        size_t n;
        if (read_row(r, a->shape[0], &n, err))
            return err->code;
        if (a->shape[0] && n != a->shape[1])
            return attn_fail(err, ATTN_EFORMAT, "%s: row %zu has %zu number%s, row 0 has %zu: expected a matrix, with "
                                                "as many in each", r->name, a->shape[0], n, n == 1 ? "" : "s",
                             a->shape[1]);
        a->shape[1] = n;
        if (end_row(r, a->shape[0]++, &within, &lines, err))
            return err->code;
    }
    return ATTN_OK;
}

/* ---- lists in lists -------------------------------------------------------------------- */

static size_t row_of(const struct reader *r, size_t depth) { return depth > 1 ? r->count[depth - 1] : 0; }

/* A list of the given depth ends: all of its depth have the same length. */
static int end_list(struct reader *r, size_t depth, struct attn_err *err)
{
    size_t n = r->count[depth], *shape = &r->out->shape[depth - 1];
    if (r->known[depth] && n != *shape)
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu has %zu number%s, one before it %zu: expected lists of the "
                                            "same length", r->name, row_of(r, depth), n, n == 1 ? "" : "s", *shape);
    r->known[depth] = true;
    *shape = n;
    r->count[depth - 1]++;
    return ATTN_OK;
}

static int open_list(struct reader *r, size_t *depth, struct attn_err *err)
{
    if (*depth == ATTN_ARRAY_DIMS || (r->out->ndim && *depth == (size_t)r->out->ndim))
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu, number %zu: found a list, expected %s", r->name,
                         row_of(r, *depth), r->count[*depth], r->out->ndim ? "a number" : "at most 8 lists in lists");
    r->count[++*depth] = 0;
    return ATTN_OK;
}

static int read_item(struct reader *r, size_t depth, struct attn_err *err)
{
    double x;
    size_t len = word_at(r);
    if (!attn_numbers_one(&x, r->at, len))
        return refuse(r, row_of(r, depth), r->count[depth], len ? len : 1, "a number", err);
    if (r->out->ndim && (size_t)r->out->ndim != depth)
        return refuse(r, row_of(r, depth), r->count[depth], len, "a list, as others have there", err);
    r->out->ndim = (int)depth;
    r->count[depth]++;
    r->at += len;
    return add(r, x, err);
}

/* From the first bracket to its partner. */
static int read_lists(struct reader *r, struct attn_err *err)
{
    size_t depth = 0;
    char last = 0;                      /* what comes before: [ , ] or, for a number, 0 */
    int rc = ATTN_OK;
    do {
        while (r->at < r->end && is_space(*r->at))
            r->at++;
        if (r->at == r->end)
            return attn_fail(err, ATTN_EFORMAT, "%s: %zu bracket%s not closed", r->name, depth,
                             depth == 1 ? " is" : "s are");
        char c = *r->at;
        if (c == ',' && (last == ',' || last == '['))
            return refuse(r, row_of(r, depth), r->count[depth], 1, "a number before it", err);
        if (c == '[')
            rc = open_list(r, &depth, err);
        else if (c == ']') {
            r->out->ndim = r->out->ndim ? r->out->ndim : (int)depth;
            rc = end_list(r, depth--, err);
        } else if (c != ',') {
            rc = read_item(r, depth, err);
            last = 0;
            continue;
        }
        last = c;
        r->at++;
    } while (!rc && depth);
    return rc;
}

/* What PyTorch prints behind the numbers: ", grad_fn=<MmBackward0>)". */
static bool is_rest(const char *s, const char *end)
{
    while (end > s && is_space(end[-1]))
        end--;
    return end > s && end[-1] == ')' && (*s == ',' || *s == ')') && !memchr(s, '[', (size_t)(end - s));
}

static int read_nested(struct reader *r, bool called, struct attn_err *err)
{
    int rc = read_lists(r, err);
    while (r->at < r->end && is_space(*r->at))
        r->at++;
    if (rc || (called ? is_rest(r->at, r->end) : r->at == r->end))
        return rc;
    const char *more = r->at + (*r->at == ',');
    while (more < r->end && is_space(*more))
        more++;
    bool rows = r->out->ndim == 1 && more < r->end && *more == '[';
    return attn_fail(err, ATTN_EFORMAT, "%s: found '%.*s' after the last bracket, expected the end%s", r->name,
                     attn_shown(r->at, (size_t)(r->end - r->at)), r->at,
                     rows ? ", or one more pair of brackets around all rows: [[1, 0], [0, 1]]" : "");
}

/* Goes past "tensor(" and the like. */
static bool skip_call(struct reader *r)
{
    const char *s = memchr(r->at, '(', (size_t)(r->end - r->at));
    bool called = s && *r->at != '[' && memchr(r->at, '[', (size_t)(r->end - r->at)) > (const void *)s;
    if (called)
        r->at = s + 1;
    while (called && r->at < r->end && is_space(*r->at))
        r->at++;
    return called;
}

/* Leaves out the brackets of "[1 0 1; 0 2 2]", as MATLAB has it. */
static void open_brackets(struct reader *r)
{
    const char *end = r->end;
    while (end > r->at && is_space(end[-1]))
        end--;
    size_t n = (size_t)(end - r->at);
    if (!at(r, '[') || end[-1] != ']' || !memchr(r->at, ';', n) || memchr(r->at + 1, '[', n - 1) ||
        memchr(r->at, ']', n) != end - 1)
        return;
    r->at++;
    r->end = end - 1;
}

int attn_numbers_text(struct attn_array *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    struct reader r = {.at = text + start_of(text, len), .end = text + len, .name = name, .out = out};
    *out = (struct attn_array){0};
    bool called = r.at < r.end && skip_call(&r);
    open_brackets(&r);
    int rc = r.at < r.end && *r.at == '[' ? read_nested(&r, called, err) : read_rows(&r, err);
    if (!rc && !out->n)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: there are no numbers", name);
    if (rc) {
        attn_array_free(out);
        *out = (struct attn_array){0};
    }
    return rc;
}

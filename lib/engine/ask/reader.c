#include "ask/reader.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/size.h"
#include "base/strings.h"

static size_t column_of(const struct attn_reader *r, size_t at)
{
    size_t n = 1;
    for (size_t i = 0; i < at; i++)
        n += (r->text[i] & 0xC0) != 0x80;
    return n;
}

/* What is at a place, for messages: a word, or one character, or the end. */
static struct attn_str_view thing_at(const struct attn_reader *r, size_t at)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t n = 0;
    while (at + n < r->len && n < 32 && r->text[at + n] && strchr(word, r->text[at + n]))
        n++;
    while (n == 0 || (at + n < r->len && (r->text[at + n] & 0xC0) == 0x80))
        n++;
    return (struct attn_str_view){r->text + at, smaller(n, r->len - at)};
}

int attn_reader_expected(const struct attn_reader *r, size_t at, const char *what)
{
    struct attn_str_view found = thing_at(r, at);
    int shown = attn_shown(r->text, r->len);
    if (at >= r->len)
        return attn_fail(r->err, ATTN_EUSAGE, "%s '%.*s', column %zu: it ends, expected %s", r->where, shown, r->text,
                         column_of(r, r->len), what);
    return attn_fail(r->err, ATTN_EUSAGE, "%s '%.*s', column %zu: found '%.*s', expected %s", r->where, shown, r->text,
                     column_of(r, at), (int)found.len, found.s, what);
}

int attn_reader_no_memory(const struct attn_reader *r)
{
    return attn_no_memory(r->err, r->where, "for an edit");
}

int attn_reader_keep(struct attn_reader *r, struct attn_edit_part *out, const char *s, size_t len)
{
    struct attn_edit *e = r->e;
    char *more = attn_grow(e->strings, &e->room, e->used + len + 1, 1);
    if (!more)
        return attn_reader_no_memory(r);
    e->strings = more;
    *out = (struct attn_edit_part){e->used, len};
    memcpy(more + e->used, s, len);
    more[e->used + len] = '\0';
    e->used += len + 1;
    return ATTN_OK;
}

/* A string in quotes, with JSON's escapes. */
int attn_reader_string(struct attn_reader *r, struct attn_edit_part *out)
{
    struct attn_json j;
    attn_json_start(&j, r->text + r->at, r->len - r->at, NULL);
    if (peek(r) != '"' || attn_json_next(&j) != ATTN_JSON_STRING)
        return attn_reader_expected(r, peek(r) == '"' && j.failed ? r->at + j.at : r->at,
                                    "a text in double quotes, with the escapes of JSON");
    if (j.nul)
        return attn_reader_expected(r, r->at, "a text without \\u0000");
    int rc = attn_reader_keep(r, out, r->text + r->at, j.token_len);
    if (rc)
        return rc;
    out->len = attn_json_string(&j, r->e->strings + out->at);
    r->e->strings[out->at + out->len] = '\0';
    r->at += j.at;
    return ATTN_OK;
}

int attn_reader_whole(struct attn_reader *r, size_t *out)
{
    size_t start = r->at;
    uint64_t n = 0;
    while (is_digit(peek(r)))
        r->at++;
    if (r->at == start)
        return attn_reader_expected(r, start, "a whole number");
    if (!attn_num_parse_u64(r->text + start, r->at - start, &n) || n > INT32_MAX)
        return attn_reader_expected(r, start, "a number up to 2147483647");
    *out = (size_t)n;
    return ATTN_OK;
}

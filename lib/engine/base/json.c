#include "base/json.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/utf8.h"

/* ---- escapes --------------------------------------------------------------------------- */

/* The value of a hexadecimal digit plus 1; 0 for any other character. */
static const unsigned char digit[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Sets all bits if c is not a hexadecimal digit. */
static uint32_t hex(char c)
{
    return (uint32_t)digit[(unsigned char)c] - 1;
}

/* Reads uXXXX at s[0..n), which follows the backslash; false if it is something else. */
static bool code_unit(const char *s, size_t n, uint32_t *unit)
{
    if (n < 5 || s[0] != 'u')
        return false;
    *unit = hex(s[1]) << 12 | hex(s[2]) << 8 | hex(s[3]) << 4 | hex(s[4]);
    return *unit <= 0xFFFF;
}

static int32_t letter(char c)
{
    switch (c) {
    case '"': case '\\': case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    }
    return -1;
}

/* Reads the escape at s[0..n), where s[0] is a backslash: *c gets the character.  Returns its length, 0 if it is
 * invalid.  A surrogate pair is one escape; half a pair is invalid, since UTF-8 cannot encode it. */
static size_t read_escape(const char *s, size_t n, uint32_t *c)
{
    uint32_t low;
    if (n >= 2 && s[1] != 'u') {
        int32_t meant = letter(s[1]);
        *c = (uint32_t)meant;
        return meant < 0 ? 0 : 2;
    }
    if (!code_unit(s + 1, n - 1, c) || (*c >= 0xDC00 && *c <= 0xDFFF))
        return 0;
    if (*c < 0xD800 || *c > 0xDBFF)
        return 6;
    if (n < 7 || s[6] != '\\' || !code_unit(s + 7, n - 7, &low) || low < 0xDC00 || low > 0xDFFF)
        return 0;
    *c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
    return 12;
}

/* What may come next.  A key includes its colon; a comma belongs to what follows it. */
enum { VALUE, FIRST_ITEM, FIRST_KEY, AFTER_VALUE };
enum { DIGITS_MAX = 19 };               /* a number of so many digits fits into 64 bits */

void attn_json_start(struct attn_json *j, const char *text, size_t len, const char *name)
{
    *j = (struct attn_json){.name = name, .text = text, .len = len, .state = VALUE};
}

static enum attn_json_event fail(struct attn_json *j, size_t at, const char *why)
{
    j->at = at;
    j->failed = why;
    return ATTN_JSON_FAILED;
}

static int peek(const struct attn_json *j)
{
    return j->at < j->len ? (unsigned char)j->text[j->at] : -1;
}

/* The last of the spaces after `at`, eight at a time: there may be some more. */
static inline size_t skip_indent(const struct attn_json *j, size_t at)
{
    uint64_t word = 0;
    while (at + 9 <= j->len && (memcpy(&word, j->text + at + 1, 8), word == 0x2020202020202020u))
        at += 8;
    return at;
}

static inline void skip_space(struct attn_json *j)
{
    size_t at = j->at;
    for (; at < j->len; at++) {
        unsigned char c = (unsigned char)j->text[at];
        if (c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r'))
            break;                      /* nearly always decided by the first comparison */
        if (c == '\n')
            at = skip_indent(j, at);
    }
    j->at = at;
}

/* ---- strings --------------------------------------------------------------------------- */

/* Looks at eight bytes at once: the lowest bit set is the top bit of the first quote, backslash or control character;
 * 0 if there is none. */
static uint64_t first_special(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t quote = bytes ^ ones * '"', backslash = bytes ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((bytes - ones * ' ') & ~bytes)) & ones *
           0x80;
}

static void put_out(struct attn_json *j, const char *s, size_t n)
{
    if (j->out)
        memcpy(j->out + j->out_len, s, n);
    j->out_len += n;
}

/* Position from `at` on of the first such byte, or of the text's end.  *any collects the bits of bytes before it. */
static size_t scan_plain(struct attn_json *j, size_t at, uint64_t *any)
{
    while (at + 8 <= j->len) {
        uint64_t bytes;
        memcpy(&bytes, j->text + at, 8);
        put_out(j, j->text + at, 8);
        bytes = le64toh(bytes);
        uint64_t special = first_special(bytes);
        size_t n = special ? (size_t)__builtin_ctzll(special) / 8 : 8;
        *any |= special ? bytes & ((special & -special) - 1) : bytes;
        j->out_len -= 8 - n;
        at += n;
        if (special)
            return at;
    }
    for (; at < j->len && !first_special((unsigned char)j->text[at] * 0x0101010101010101u); at++) {
        put_out(j, j->text + at, 1);
        *any |= (unsigned char)j->text[at];
    }
    return at;
}

/* Length of the escape at `at`; 0 if it is invalid. */
static size_t scan_escape(struct attn_json *j, size_t at)
{
    uint32_t c = 0;
    char plain[4];
    size_t step = read_escape(j->text + at, j->len - at, &c);
    j->escaped = true;
    if (step > 0 && c == 0 && j->nul == 0)
        j->nul = at;
    if (step > 0)
        put_out(j, plain, attn_utf8_put(plain, c));
    return step;
}

/* Reads the string that begins with the next quote, and sets the token. */
static bool scan_string(struct attn_json *j)
{
    size_t at = j->at + 1, step;
    uint64_t any = 0;
    j->token = at;
    j->escaped = false;
    j->nul = j->out_len = 0;
    while ((at = scan_plain(j, at, &any)) < j->len && j->text[at] != '"') {
        if (j->text[at] != '\\')
            return fail(j, at, "control character in a string");
        if ((step = scan_escape(j, at)) == 0)
            return fail(j, at, "unknown escape, or half of a surrogate pair, in a string");
        at += step;
    }
    if (at >= j->len)
        return fail(j, j->len, "expected the end of a string");
    j->token_len = at - j->token;
    size_t valid = any & 0x8080808080808080u ? attn_utf8_valid(j->text + j->token, j->token_len) : j->token_len;
    if (valid < j->token_len)
        return fail(j, j->token + valid, "expected UTF-8 in a string");
    j->at = at + 1;
    return true;
}

size_t attn_json_spell(char form[ATTN_JSON_SPELLED], const char *s, size_t len)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t step;
    uint32_t c = attn_utf8_next(s, len, &step);
    const char *at = c && c < 0x80 ? strchr(plain, (char)c) : NULL;
    if (at)
        snprintf(form, ATTN_JSON_SPELLED, "\\%c", letters[at - plain]);
    else if (attn_utf8_steers(c))
        snprintf(form, ATTN_JSON_SPELLED, "\\u%04x", (unsigned)c);
    else
        form[attn_utf8_put(form, c)] = '\0';
    return step;
}

size_t attn_json_string(const struct attn_json *j, char *out)
{
    const char *s = j->text + j->token, *end = s + j->token_len;
    size_t n = 0;
    for (;;) {
        const char *stop = j->escaped ? memchr(s, '\\', (size_t)(end - s)) : NULL;
        size_t plain = (size_t)((stop ? stop : end) - s);
        uint32_t c = 0;
        memcpy(out + n, s, plain);
        n += plain;
        if (!stop)
            return n;
        s = stop + read_escape(stop, (size_t)(end - stop), &c);
        n += attn_utf8_put(out + n, c); /* never longer than the escape */
    }
}

/* Decodes the character or escape at s[0..n): returns its bytes in out; *step gets its length in s. */
static size_t piece(const char *s, size_t n, char *out, size_t *step)
{
    uint32_t c = 0;
    *step = 1;
    *out = *s;
    if (*s != '\\')
        return 1;
    *step = read_escape(s, n, &c);
    return attn_utf8_put(out, c);
}

bool attn_json_is(const struct attn_json *j, const char *s)
{
    const char *token = j->text + j->token, *end = token + j->token_len;
    size_t left = strlen(s), step;
    if (!j->escaped)
        return left == j->token_len && memcmp(token, s, left) == 0;
    for (; token < end; token += step) {
        char buf[4];
        size_t got = piece(token, (size_t)(end - token), buf, &step);
        if (got > left || memcmp(buf, s, got) != 0)
            return false;
        s += got;
        left -= got;
    }
    return left == 0;
}

/* ---- values ---------------------------------------------------------------------------- */

/* *whole gets the digits' value if it is not too large. */
static bool skip_digits(struct attn_json *j, uint64_t *whole)
{
    size_t from = j->at, at = from;
    for (*whole = 0; at < j->len && (unsigned char)(j->text[at] - '0') < 10; at++)
        *whole = *whole * 10 + (unsigned char)(j->text[at] - '0');
    j->at = at;
    return at > from;
}

static enum attn_json_event number(struct attn_json *j)
{
    static const char expected[] = "expected a digit";
    uint64_t ignored;
    j->token = j->at;
    j->escaped = false;
    j->whole = 0;
    if (peek(j) == '-')
        j->at++;
    if (peek(j) == '0')
        j->at++;
    else if (!skip_digits(j, &j->whole))
        return fail(j, j->at, expected);
    size_t end = j->at;
    if (peek(j) == '.') {
        j->at++;
        if (!skip_digits(j, &ignored))
            return fail(j, j->at, expected);
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        j->at++;
        if (peek(j) == '+' || peek(j) == '-')
            j->at++;
        if (!skip_digits(j, &ignored))
            return fail(j, j->at, expected);
    }
    j->token_len = j->at - j->token;
    j->is_whole = j->at == end && j->token_len <= DIGITS_MAX && j->text[j->token] != '-';
    j->state = AFTER_VALUE;
    return ATTN_JSON_NUMBER;
}

static enum attn_json_event literal(struct attn_json *j, const char *word, enum attn_json_event event)
{
    size_t n = strlen(word);
    if (j->len - j->at < n || memcmp(j->text + j->at, word, n) != 0)
        return fail(j, j->at, "expected a value");
    j->at += n;
    j->state = AFTER_VALUE;
    return event;
}

static enum attn_json_event open_container(struct attn_json *j, unsigned char bracket)
{
    if (j->depth == ATTN_JSON_DEPTH)
        return fail(j, j->at, "nested deeper than 64 levels");
    j->stack[j->depth++] = bracket;
    j->at++;
    j->state = bracket == '{' ? FIRST_KEY : FIRST_ITEM;
    return bracket == '{' ? ATTN_JSON_OBJECT : ATTN_JSON_ARRAY;
}

static enum attn_json_event close_container(struct attn_json *j)
{
    j->at++;
    j->state = AFTER_VALUE;
    return j->stack[--j->depth] == '{' ? ATTN_JSON_OBJECT_END : ATTN_JSON_ARRAY_END;
}

static enum attn_json_event value(struct attn_json *j)
{
    int c = peek(j);
    j->start = j->at;
    switch (c) {
    case '{': case '[':
        return open_container(j, (unsigned char)c);
    case '"':
        j->state = AFTER_VALUE;
        return scan_string(j) ? ATTN_JSON_STRING : ATTN_JSON_FAILED;
    case 't': return literal(j, "true", ATTN_JSON_TRUE);
    case 'f': return literal(j, "false", ATTN_JSON_FALSE);
    case 'n': return literal(j, "null", ATTN_JSON_NULL);
    case 0xEF: return fail(j, j->at, "expected a value, not a byte order mark");
    }
    return c == '-' || (c >= '0' && c <= '9') ? number(j) : fail(j, j->at, "expected a value");
}

static enum attn_json_event key(struct attn_json *j)
{
    j->start = j->at;
    if (peek(j) != '"')
        return fail(j, j->at, "expected a key in double quotes");
    if (!scan_string(j))
        return ATTN_JSON_FAILED;
    skip_space(j);
    if (peek(j) != ':')
        return fail(j, j->at, "expected ':' after a key");
    j->at++;
    j->state = VALUE;
    return ATTN_JSON_KEY;
}

static enum attn_json_event after_value(struct attn_json *j)
{
    int c = peek(j);
    if (j->depth == 0)
        return c < 0 ? ATTN_JSON_DONE : fail(j, j->at, "expected nothing after the end of the document");
    bool object = j->stack[j->depth - 1] == '{';
    if (c == (object ? '}' : ']'))
        return close_container(j);
    if (c != ',')
        return fail(j, j->at, object ? "expected ',' or '}'" : "expected ',' or ']'");
    j->at++;
    skip_space(j);
    return object ? key(j) : value(j);
}

enum attn_json_event attn_json_next(struct attn_json *j)
{
    if (j->failed)
        return ATTN_JSON_FAILED;
    skip_space(j);
    switch (j->state) {
    case FIRST_KEY: return peek(j) == '}' ? close_container(j) : key(j);
    case FIRST_ITEM: return peek(j) == ']' ? close_container(j) : value(j);
    case AFTER_VALUE: return after_value(j);
    default: return value(j);
    }
}

bool attn_json_skip(struct attn_json *j, enum attn_json_event first)
{
    unsigned outside = j->depth - 1;
    if (first == ATTN_JSON_OBJECT || first == ATTN_JSON_ARRAY)
        while (j->depth > outside && attn_json_next(j) != ATTN_JSON_FAILED)
            ;
    return !j->failed;
}

/* ---- position of an error --------------------------------------------------------------- */

void attn_json_position(const struct attn_json *j, size_t at, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < j->len; i++) {
        unsigned char c = (unsigned char)j->text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xC0) != 0x80) {
            ++*column;                  /* counts characters, as editors do */
        }
    }
}

int attn_json_error(const struct attn_json *j, struct attn_err *err)
{
    size_t line, column;
    int c = peek(j);
    char found[32];
    attn_json_position(j, j->at, &line, &column);
    if (c < 0)
        snprintf(found, sizeof found, "the text ends here");
    else if (c > 0x20 && c < 0x7F)
        snprintf(found, sizeof found, "found '%c'", c);
    else
        snprintf(found, sizeof found, "found byte 0x%02X", (unsigned)c);
    if (!j->name)
        return attn_fail(err, ATTN_EFORMAT, "column %zu: %s (%s)", column, j->failed, found);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: %s (%s)", j->name, line, column,
                     j->failed, found);
}

/* ---- stricter than RFC 8259 ------------------------------------------------------------ */

int attn_json_refuse_nul(const struct attn_json *j, struct attn_err *err)
{
    size_t line, column;
    if (j->nul == 0)
        return ATTN_OK;
    attn_json_position(j, j->nul, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: \\u0000 in a string is not supported", j->name,
                     line, column);
}

static int duplicate(const struct attn_json *j, const char *key, size_t len, struct attn_err *err)
{
    size_t line, column;
    attn_json_position(j, j->start, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: key '%.*s' for the second time in one object",
                     j->name, line, column, attn_shown(key, len), key);
}

static int no_memory(const struct attn_json *j, struct attn_err *err)
{
    return attn_no_memory(err, j->name, "for its keys");
}

int attn_json_add_key(struct attn_strings *keys, const struct attn_json *j, struct attn_err *err)
{
    size_t before = keys->n, len = 0, number = ATTN_STRINGS_NONE;
    int rc = attn_json_refuse_nul(j, err);
    if (rc)
        return rc;
    char *key = attn_strings_draft(keys, j->token_len);
    if (key) {
        len = attn_json_string(j, key);
        number = attn_strings_add(keys, key, len);
    }
    if (number == ATTN_STRINGS_NONE)
        return no_memory(j, err);
    return number == before ? ATTN_OK : duplicate(j, key, len, err);
}

bool attn_json_next_key(struct attn_strings *keys, struct attn_json *j, int *rc, struct attn_err *err)
{
    char *key = j->out = attn_strings_draft(keys, j->len - j->at);
    bool is_key = key && attn_json_next(j) == ATTN_JSON_KEY;
    j->out = NULL;
    *rc = !key ? no_memory(j, err) : is_key ? attn_json_refuse_nul(j, err) : ATTN_OK;
    if (is_key && !*rc && !attn_strings_append(keys, key, j->out_len))
        *rc = no_memory(j, err);
    return is_key && !*rc;
}

int attn_json_index_keys(struct attn_strings *keys, const struct attn_json *before, struct attn_err *err)
{
    struct attn_json j = *before;
    size_t twice, len;
    if (!attn_strings_index(keys, &twice))
        return no_memory(before, err);
    if (twice == ATTN_STRINGS_NONE)
        return ATTN_OK;
    attn_json_next(&j);                 /* reads it once more to find the position */
    for (size_t i = 0; attn_json_next(&j) == ATTN_JSON_KEY && i < twice; i++)
        attn_json_skip(&j, attn_json_next(&j));
    const char *key = attn_strings_at(keys, twice, &len);
    return duplicate(&j, key, len, err);
}

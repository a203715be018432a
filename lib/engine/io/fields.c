#include "io/fields.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/utf8.h"

/* Skips the quoted part that a field begins with; NULL if the quotes are not closed. */
static const char *pass_quotes(const char *p, const char *end)
{
    do {
        p = memchr(p + 1, '"', (size_t)(end - p - 1));
        if (!p)
            return NULL;
    } while (++p < end && *p == '"');
    return p;
}

bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last)
{
    bool quoted = f->at < f->end && *f->at == '"';
    const char *p = quoted ? pass_quotes(f->at, f->end) : f->at, *closed = p;
    if (!p)
        return false;
    while (p < f->end && *p != f->comma && *p != '\n')
        p++;
    *s = f->at;
    *len = (size_t)(p - f->at);
    *last = p == f->end || *p == '\n';
    if (*last && *len && (*s)[*len - 1] == '\r')
        --*len;
    f->at = p + (p < f->end);
    return !quoted || *s + *len == closed;
}

size_t attn_fields_text(char *out, const char *s, size_t len)
{
    bool quoted = len >= 2 && s[0] == '"';
    size_t n = 0;
    for (size_t i = quoted; i < len - quoted; i++) {
        out[n++] = s[i];
        i += quoted && s[i] == '"';     /* skips the second of two doubled quotes */
    }
    return n;
}

/* ---- numbers --------------------------------------------------------------------------- */

static void trim(const char **s, size_t *len)
{
    for (; *len && (**s == ' ' || **s == '\t'); --*len)
        ++*s;
    while (*len && ((*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t'))
        --*len;
}

/* The same with a point in place of its only comma. */
static bool with_point(double *x, const char *s, size_t len)
{
    char text[64];
    const char *comma = memchr(s, ',', len);
    if (!comma || len >= sizeof text || memchr(s, '.', len))
        return false;
    memcpy(text, s, len);
    text[comma - s] = '.';
    return attn_num_parse_f64(text, len, x);
}

bool attn_fields_number(double *x, const char *s, size_t len, char comma)
{
    static const struct { const char *name; double x; } names[] = {
        {"nan", NAN}, {"na", NAN}, {"inf", INFINITY}, {"infinity", INFINITY}, {"+inf", INFINITY}, {"-inf", -INFINITY},
        {"-infinity", -INFINITY}};
    trim(&s, &len);
    if (len >= 2 && s[0] == '"' && s[len - 1] == '"') {
        s++;
        len -= 2;
        trim(&s, &len);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && !strncasecmp(s, names[i].name, len)) {
            *x = names[i].x;
            return true;
        }
    return attn_num_parse_f64(s, len, x) || (comma != ',' && with_point(x, s, len));
}

/* ---- what separates fields ------------------------------------------------------------- */

enum { ROWS_MOST = 64 };                /* that are looked at */

/* How many rows have as many fields as the first, if that has several, and what share of all fields are numbers. */
struct split { size_t rows; double numbers; };

static struct split split_by(const char *text, size_t len, char comma)
{
    const size_t mark = attn_utf8_mark(text, len);
    struct attn_fields f = {text + mark, text + len, comma};
    struct split found = {0, 0};
    size_t first = 0, fields = 0, numbers = 0;
    for (size_t row = 0; row < ROWS_MOST && f.at < f.end; row++) {
        size_t n = 0;
        for (bool last = false; !last; n++) {
            const char *s;
            size_t field;
            double x;
            if (!attn_fields_next(&f, &s, &field, &last))
                return found;
            numbers += attn_fields_number(&x, s, field, comma);
        }
        first = row ? first : n;
        fields += n;
        found.rows += n == first && n > 1;
        found.numbers = (double)numbers / (double)fields;
    }
    return found;
}

char attn_fields_comma(const char *text, size_t len)
{
    static const char commas[] = {',', ';', '\t'};
    struct split best = split_by(text, len, ',');
    char comma = ',';
    for (size_t i = 1; i < sizeof commas; i++) {
        const struct split s = split_by(text, len, commas[i]);
        if (s.rows > best.rows || (s.rows && s.rows == best.rows && s.numbers > best.numbers)) {
            best = s;
            comma = commas[i];
        }
    }
    return comma;
}

size_t attn_row_end_find(struct attn_row_end *e, const char *s, size_t len, char comma, uint64_t *lines)
{
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        bool quote = c == '"';
        *lines += c == '\n';
        if (e->quoted) {
            e->quoted = !quote;
            e->closing = quote;
        } else if (c == '\n') {
            *e = (struct attn_row_end){0};
            return i + 1;
        } else {
            e->quoted = quote && (!e->inside || e->closing);        /* it begins a field or doubles the one before */
            e->closing = false;
            e->inside = c != comma;
        }
    }
    return SIZE_MAX;
}

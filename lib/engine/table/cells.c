#include "table/cells.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

/* Whether a reader might end the field within the text, or drop a part of it; `ends` are characters that end one. */
static bool needs_quotes(const char *s, size_t len, const char *ends)
{
    if (len && (s[0] == ' ' || s[len - 1] == ' '))
        return true;
    for (size_t i = 0; i < len; i++)
        if (s[i] && strchr(ends, s[i]))
            return true;
    return false;
}

/* Writes valid UTF-8, with quotes doubled and NULs replaced. */
static void put_quoted(struct attn_out *o, const char *s, size_t len)
{
    const char *start = s, *end = s + len;
    for (; s < end; s++) {
        if (*s != '"' && *s != '\0')
            continue;
        attn_out_write(o, start, (size_t)(s - start));
        attn_out_str(o, *s ? "\"\"" : "\uFFFD");
        start = s + 1;
    }
    attn_out_write(o, start, (size_t)(end - start));
}

/* Writes any bytes; those that are not UTF-8 become U+FFFD. */
static void put_valid(struct attn_out *o, const char *s, size_t len)
{
    for (;;) {
        size_t good = attn_utf8_valid(s, len), broken;
        put_quoted(o, s, good);
        if (good == len)
            return;
        attn_utf8_next(s + good, len - good, &broken);
        attn_out_str(o, "\uFFFD");
        s += good + broken;
        len -= good + broken;
    }
}

/* Spreadsheets run what begins so; some drop white space before it, or read characters of full width as the others. */
static bool begins_formula(const char *s, size_t len)
{
    static const char *const wide[] = {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
    if (len && *s && strchr("=+-@\t\r\n", *s))
        return true;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (len >= strlen(wide[i]) && !memcmp(s, wide[i], strlen(wide[i])))
            return true;
    return false;
}

/* What comes before a text: a quote that its end repeats, and one that keeps a spreadsheet from running it. */
static void begin_text(struct attn_out *o, const char *s, size_t len, bool quotes, bool safe)
{
    if (quotes)
        attn_out_char(o, '"');
    if (safe && begins_formula(s, len))
        attn_out_char(o, '\'');
}

void attn_cell_text(struct attn_out *o, const char *s, size_t len, bool safe)
{
    bool quotes = needs_quotes(s, len, ",\"\r\n");
    begin_text(o, s, len, quotes, safe);
    put_valid(o, s, len);
    if (quotes)
        attn_out_char(o, '"');
}

void attn_cell_escaped(struct attn_out *o, const char *s, size_t len, bool safe)
{
    static const char special[] = "\t\n\r\\", letters[] = "tnr\\";
    begin_text(o, s, len, false, safe);
    while (len) {
        size_t plain = 0, broken = 0;
        while (plain < len && s[plain] && !strchr(special, s[plain]))
            plain++;
        size_t good = attn_utf8_valid(s, plain);
        attn_out_write(o, s, good);
        if (good < plain) {
            attn_utf8_next(s + good, plain - good, &broken);
            attn_out_str(o, "\uFFFD");
        } else if (plain < len && !s[plain]) {
            attn_out_str(o, "\uFFFD");
            broken = 1;
        } else if (plain < len) {
            attn_out_char(o, '\\');
            attn_out_char(o, letters[strchr(special, s[plain]) - special]);
            broken = 1;
        }
        s += good + broken;
        len -= good + broken;
    }
}

void attn_cell_f64(struct attn_out *o, double x)
{
    char buf[ATTN_NUM_MAX];
    if (!isnan(x))
        attn_out_write(o, buf, attn_num_f64(buf, x));
}

void attn_cell_record(struct attn_out *o, const struct attn_record *r, bool safe)
{
    attn_out_u64(o, r->number);
    attn_out_char(o, ',');
    attn_out_u64(o, r->line);
    attn_out_char(o, ',');
    if (r->id)
        attn_cell_text(o, r->id, r->id_len, safe && !r->id_is_number);
    attn_out_char(o, ',');
}

/* Escapes what would end a line. */
static void line_cell(struct attn_out *o, const char *s, size_t len, bool safe)
{
    bool quotes = needs_quotes(s, len, ",\"");
    begin_text(o, s, len, quotes, safe);
    for (const char *end = s + len; s < end;) {
        const char *stop = s;
        while (stop < end && *stop != '\n' && *stop != '\r' && *stop != '\\')
            stop++;
        put_valid(o, s, (size_t)(stop - s));
        if (stop < end)
            attn_out_str(o, *stop == '\n' ? "\\n" : *stop == '\r' ? "\\r" : "\\\\");
        s = stop + (stop < end);
    }
    if (quotes)
        attn_out_char(o, '"');
}

void attn_cell_end(struct attn_out *o, const struct attn_record *r, const char *failed, bool safe)
{
    attn_out_char(o, ',');
    if (r->id)
        line_cell(o, r->id, r->id_len, safe);
    attn_out_char(o, ',');
    if (failed)
        line_cell(o, failed, strlen(failed), safe);
    attn_out_char(o, '\n');
}

void attn_cell_markdown(struct attn_out *o, const char *s)
{
    for (; *s; s++) {
        if (*s == '<' || *s == '&') {
            attn_out_str(o, *s == '<' ? "&lt;" : "&amp;");
            continue;
        }
        if (strchr("\\`*_{}[]#|~$!>", *s))
            attn_out_char(o, '\\');
        attn_out_char(o, *s);
    }
}

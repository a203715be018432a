#include "many.h"

#include "cli_print.h"
#include "opts_output.h"
#include "outputs.h"
#include "process.h"
#include "say.h"
#include "texts.h"

#include "base/err.h"
#include "base/out.h"
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

/* ---- putting them together --------------------------------------------------------------- */

/* The end of a row of CSV: behind its line feed, which may also stand within quotes. */
static const char *row_end(const char *s, const char *end)
{
    for (bool quoted = false; s < end; s++) {
        quoted ^= *s == '"';
        if (*s == '\n' && !quoted)
            return s + 1;
    }
    return end;
}

static void put_rows(struct attn_out *out, const char *text, size_t len, size_t number, bool first, char comma)
{
    const char *end = text + len, *row = row_end(text, end);
    if (first) {
        attn_out_printf(out, "record%c", comma);
        attn_out_write(out, text, (size_t)(row - text));
    }
    for (const char *next; row < end; row = next) {
        next = row_end(row, end);
        attn_out_printf(out, "%zu%c", number, comma);
        attn_out_write(out, row, (size_t)(next - row));
    }
}

/* An object gets its number as the first member. */
static void put_object(struct attn_out *out, const char *text, size_t len, size_t number)
{
    while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    if (len && *text == '{')
        attn_out_printf(out, "{\"record\": %zu%s", number, len > 1 && text[1] == '}' ? "" : ", ");
    else
        attn_out_printf(out, "{\"record\": %zu, \"answer\": ", number);
    attn_out_write(out, text + (*text == '{'), len - (*text == '{'));
    attn_out_str(out, *text == '{' ? "" : "}");
}

static void put_lines(struct attn_out *out, const char *text, size_t len, size_t number)
{
    for (const char *end = text + len, *next; text < end; text = next) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        next = stop ? stop + 1 : end;
        put_object(out, text, (size_t)(next - text), number);
        attn_out_char(out, '\n');
    }
}

static void put_heading(struct attn_out *out, size_t number, bool first)
{
    const struct attn_record *r = texts_now();
    attn_out_printf(out, "%s== text %zu", first ? "" : "\n", number);
    if (r->id)
        attn_out_printf(out, " (%.*s)", attn_shown(r->id, r->id_len), r->id);
    if (r->text)
        attn_out_printf(out, ": %.*s", attn_shown(r->text, r->text_len), r->text);
    attn_out_str(out, "\n\n");
}

/* bare: each answer is a line by itself. */
struct kind { bool csv, objects, json, bare; char comma; };
static struct kind kind_of(const char *format, bool bare)
{
    const struct attn_format *f = attn_format_find(format);
    bool lines = f && f->flags & ATTN_FORMAT_TABLE && strcmp(format, "text") && strcmp(format, "json") &&
                 strcmp(format, "ndjson") && strcmp(format, "md");
    return (struct kind){.csv = lines, .objects = !strcmp(format, "ndjson"), .json = !strcmp(format, "json"),
                         .bare = bare || !strcmp(format, "ids"),
                         .comma = !strcmp(format, "tsv") ? '\t' : ','};
}

static void put(struct attn_out *out, struct kind k, const char *text, size_t len, size_t number, bool first)
{
    if (k.csv)
        put_rows(out, text, len, number, first, k.comma);
    else if (k.objects)
        put_lines(out, text, len, number);
    else if (k.json) {
        attn_out_str(out, first ? "\n" : ",\n");
        put_object(out, text, len, number);
    } else {
        if (!k.bare)
            put_heading(out, number, first);
        attn_out_write(out, text, len);
    }
}

static void put_failure(struct attn_out *out, struct kind k, const char *why, size_t number, bool first)
{
    if (k.json)
        attn_out_str(out, first ? "\n" : ",\n");
    else if (!k.csv && !k.objects && !k.bare)
        put_heading(out, number, first);
    if (k.json || k.objects) {
        attn_out_printf(out, "{\"record\": %zu, \"error\": ", number);
        attn_out_json(out, why, strlen(why));
        attn_out_str(out, k.json ? "}" : "}\n");
    } else if (!k.csv) {
        attn_out_printf(out, "%s\n", k.bare ? "" : why);        /* so that the others keep their places */
    }
}

/* ---- for each text ----------------------------------------------------------------------- */

static void *variable(const struct command *c, const char *name)
{
    const struct option *row;
    for (size_t i = 0; (row = option_at(c, i)); i++)
        if (!strcmp(row->name, name))
            return row->to;
    return NULL;
}

const char *many_format(const struct command *c)
{
    const char **format = variable(c, "format"), **path = variable(c, "output");
    const char *by_path = path && *path ? output_format_of(*path) : NULL;
    if (!by_path && path && *path)
        by_path = table_of_path(*path);
    return format && *format ? *format : by_path ? by_path : "text";
}

bool many_joins(const struct command *c)
{
    const char *format = many_format(c);
    const struct attn_format *f = attn_format_find(format);
    bool both = !strcmp(format, "text") || !strcmp(format, "json");
    const char **given = variable(c, "format"), **path = variable(c, "output");
    if (c->streams && !(given && *given) && !(path && *path))
        return false;                   /* as it streams without a format */
    return both || (!c->streams && (!f || f->flags & ATTN_FORMAT_TABLE));
}

/* shown: on a terminal, in the end */
static int answer_one(const struct command *c, struct attn_out *out, struct kind k, size_t i, bool shown, bool *first,
                      struct attn_err *err)
{
    struct caught caught;
    char *text = NULL;
    size_t len = 0;
    int code = output_catch(&caught, shown, err);
    if (code)
        return code;
    code = c->run(err);
    struct attn_err late = {0};
    if (output_release(&caught, &text, &len, &late) && !code)
        code = attn_fail_as(err, &late);
    if (!code) {
        put(out, k, text, len, i, *first);
        *first = false;
    }
    free(text);
    return code;
}

int many_answer(const struct command *c, size_t n, int (*choose)(size_t i, struct attn_err *err), struct attn_err *err)
{
    const char **format = variable(c, "format"), **path = variable(c, "output"), *asked = many_format(c);
    if (!many_joins(c))
        return attn_fail(err, ATTN_EUSAGE, "%s has %zu texts, and --format %s shows one: --nth 0 takes the first",
                         texts_source(), n, asked);
    const bool *decode = variable(c, "decode");
    const struct kind k = kind_of(asked, decode && *decode);
    struct attn_out *out;
    const char *to = path ? *path : NULL;
    size_t failed = 0;
    bool first = true, shown = terminal_is(to);
    if (format && strcmp(asked, "text") != 0)
        *format = asked;
    if (path)
        *path = NULL;
    int code = attn_out_open(&out, to, err);
    if (code)
        return code;
    attn_out_str(out, k.json ? "{\"records\": [" : "");
    for (size_t i = 0; i < n && !code; i++) {
        struct attn_err why = {0};
        if (choose(i, &why) || answer_one(c, out, k, i, shown, &first, &why)) {
            if (why.code == ATTN_EUSAGE || why.code == ATTN_ENOMEM || why.code == ATTN_EIO)
                code = attn_fail_as(err, &why);
            else {
                failed++;
                put_failure(out, k, why.msg, i, first);
                first = k.csv && first;
                say_failure("attn-cli %s: text %zu: %s", c->name, i, why.msg);
            }
        }
        if (!code && attn_out_failed(out))
            code = attn_out_flush(out, false, err);
    }
    attn_out_str(out, k.json ? "\n]}\n" : "");
    code = attn_out_end(out, code, err);
    if (!code && failed) {
        say_failure("attn-cli %s: %zu of %zu texts failed", c->name, failed, n);
        common.status = SOME_FAILED;
    }
    return code;
}

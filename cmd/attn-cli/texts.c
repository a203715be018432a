#include "texts.h"

#include "cli_report.h"
#include "input.h"
#include "many.h"
#include "say.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct { const char **item; size_t n, room; size_t arguments; } typed;
static struct { struct attn_record *item; size_t n, room; const struct attn_record *now; bool many; } texts;
static struct { bool whole; struct number nth; } o;

const struct option nth_options[] = {
    {0, "whole", OPT_FLAG, &o.whole, NULL, "the file is one text, not one in each line; a UTF-8 byte order mark and "
     "one final newline are dropped", .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "nth", OPT_NUMBER, &o.nth, "K", "only text K of many, counted from 0", .max = INT32_MAX, .section = OF_INPUT,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

/* ---- what was typed ---------------------------------------------------------------------- */

/* What an editor or a page makes of quotes and hyphens, and what a shell takes. */
static const struct sign { const char *utf8, *number, *plain; } signs[] = {
    {"\xE2\x80\x9C", "U+201C", "\""}, {"\xE2\x80\x9D", "U+201D", "\""}, {"\xE2\x80\x9E", "U+201E", "\""},
    {"\xE2\x80\x98", "U+2018", "'"}, {"\xE2\x80\x99", "U+2019", "'"}, {"\xC2\xAB", "U+00AB", "\""},
    {"\xE2\x80\x93", "U+2013", "--"}, {"\xE2\x80\x94", "U+2014", "--"}, {"\xEF\xBC\x8D", "U+FF0D", "-"},
};

static const struct sign *begins(const char *text)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(text, signs[i].utf8, strlen(signs[i].utf8)))
            return &signs[i];
    return NULL;
}

/* A shell cuts a text in such quotes at its blanks; one with blanks in it was quoted as it should be. */
static int check_signs(const char *text, struct attn_err *err)
{
    const struct sign *s = begins(text);
    if (!s || strpbrk(text, " \t\n"))
        return ATTN_OK;
    const char *rest = text + strlen(s->utf8);
    if (*s->plain == '-')
        return attn_fail(err, ATTN_EUSAGE, "'%s' begins with %s (%s), which is no hyphen: type %s%s",
            excerpt(text).text,
                         s->utf8, s->number, s->plain, excerpt(rest).text);
    return attn_fail(err, ATTN_EUSAGE, "'%s' begins with %s (%s), a typographic quote: a shell takes straight ones, "
                     "as in \"Life is short\"; as part of a text it goes between those", excerpt(text).text, s->utf8,
                         s->number);
}

int texts_add(const char *text, bool argument, struct attn_err *err)
{
    struct stat st;
    if (check_signs(text, err))
        return err->code;
    if (argument && *text && !stat(text, &st) && !S_ISDIR(st.st_mode))
        return attn_fail(err, ATTN_EUSAGE, "'%s' is a file: -f %s reads it, -s %s takes it as a text",
            excerpt(text).text,
                         excerpt(text).text, excerpt(text).text);
    const char **more = attn_grow(typed.item, &typed.room, typed.n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu texts", typed.n + 1);
    typed.item = more;
    typed.item[typed.n++] = text;
    typed.arguments += argument;
    return ATTN_OK;
}

size_t texts_typed(void) { return typed.n; }

bool texts_end_with(const char *text) { return typed.n && typed.item[typed.n - 1] == text; }

/* Makes one list of all that was typed. */
static int join(struct attn_err *err)
{
    size_t len = 1;
    for (size_t i = 0; i < typed.n; i++)
        len += strlen(typed.item[i]) + 1;
    char *all = calloc(len, 1);         /* until the program ends, as the arguments are */
    if (!all)
        return attn_no_memory(err, NULL, "for %zu bytes", len);
    for (size_t i = 0; i < typed.n; i++) {
        strcat(all, i ? " " : "");
        strcat(all, typed.item[i]);
    }
    typed.item[0] = all;
    typed.n = 1;
    return ATTN_OK;
}

/* What was perhaps meant otherwise. */
static void note_typed(void)
{
    char all[256] = "";
    size_t words = 0;
    for (size_t i = 0; i < typed.n; i++) {
        words += !strpbrk(typed.item[i], " \t\n");
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", typed.item[i]);
    }
    for (const char *const *m = attn_model_builtin(); typed.arguments == 1 && typed.n == 1 && *m; m++)
        if (!strcmp(*m, typed.item[0]))
            say_note("'%s' is taken for a text; the model of that name is -m %s", *m, *m);
    if (typed.arguments > 1 && words == typed.n)
        say_note("%zu texts of a word each; as one text: \"%s\"", typed.n, excerpt(all).text);
}

/* ---- what a file holds ------------------------------------------------------------------- */

const char *texts_source(void)
{
    return !common.file ? "the command line" : strcmp(common.file, "-") ? common.file : "standard input";
}

struct attn_records_opts texts_records(void)
{
    return (struct attn_records_opts){
        .path = common.file, .format = record_form.input, .column = record_form.column,
        .headless = record_form.headless, .guessed = report_column,
        .texts = common.file ? NULL : typed.item, .n_texts = common.file ? 0 : typed.n};
}

static bool copy_bytes(const char **to, const char *from, size_t len)
{
    char *copy = from ? malloc(len + 1) : NULL;
    if (copy) {
        memcpy(copy, from, len);
        copy[len] = '\0';
    }
    *to = copy;
    return copy || !from;
}

static int keep(const struct attn_record *r, struct attn_err *err)
{
    struct attn_record *more = attn_grow(texts.item, &texts.room, texts.n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu texts", texts.n + 1);
    texts.item = more;
    int32_t *ids = r->ids ? malloc((r->n + 1) * sizeof *ids) : NULL;
    if (r->ids && !ids)
        return attn_no_memory(err, NULL, "for %zu ids", r->n);
    if (ids && r->n)
        memcpy(ids, r->ids, r->n * sizeof *ids);
    struct attn_record *kept = &more[texts.n++];
    *kept = *r;
    kept->ids = ids;
    bool ok = copy_bytes(&kept->id, r->id, r->id_len);
    ok = copy_bytes(&kept->text, r->text, r->text_len) && ok;
    ok = copy_bytes(&kept->error, r->error, r->error ? strlen(r->error) : 0) && ok;
    return ok ? ATTN_OK : attn_no_memory(err, NULL, "for %zu texts", texts.n);
}

static int read_all(struct attn_err *err)
{
    struct attn_records_opts opts = texts_records();
    struct attn_records *in;
    struct attn_record r;
    enum attn_records_event what = ATTN_RECORDS_NEXT;
    int code = attn_records_open(&in, &opts, err);
    while (!code && !(code = attn_records_next(in, &r, &what, err)) && what == ATTN_RECORDS_NEXT)
        code = keep(&r, err);
    bool lines = !code && !strcmp(attn_records_format(in), "text");
    attn_records_close(in);
    if (code)
        return code;
    if (!texts.n)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no text in it, expected one a line", texts_source());
    if (lines && common.file && texts.n > 1 && !o.nth.given)
        say_note("%s: %zu lines, %zu texts; --whole reads one", texts_source(), texts.n, texts.n);
    return ATTN_OK;
}

/* ---- one after the other ----------------------------------------------------------------- */

const struct attn_record *texts_now(void) { return texts.now; }
bool texts_are_many(void) { return texts.many; }

static int choose(size_t i, struct attn_err *err)
{
    static char number[24];
    const struct attn_record *r = &texts.item[i];
    texts.now = r;
    if (!common.file)
        common.sentence = typed.item[i];
    else if (texts.n > 1) {
        snprintf(number, sizeof number, "%zu", i);
        o.nth = (struct number){number, i};             /* the command of this text alone */
    }
    const bool bytes = r->error && !strncmp(r->error, "not UTF-8", 9);
    return r->error ? attn_fail(err, ATTN_EFORMAT, "%s: line %" PRIu64 ": %s%s", texts_source(), r->line, r->error,
                                bytes ? "; convert with: iconv -f LATIN1 -t UTF-8" : "")
                    : ATTN_OK;
}

static bool is_piped(void)
{
    struct stat st;
    return !fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode));
}

static int check_usage(struct attn_err *err)
{
    if (o.whole && !common.file)
        return attn_fail(err, ATTN_EUSAGE, "--whole reads a file as one text: give it with -f PATH");
    if (common.file && crossing.file && !strcmp(common.file, "-") && !strcmp(crossing.file, "-"))
        return attn_fail(err, ATTN_EUSAGE, "--file and --cross-file are both standard input, which can be read once");
    if (o.whole && (record_form.input || record_form.column || record_form.headless || o.nth.given))
        return attn_fail(err, ATTN_EUSAGE, "--whole makes one text of the file: leave out --input, --column, "
                                           "--no-header and --nth");
    if (!common.file && (record_form.input || record_form.column || record_form.headless))
        return attn_fail(err, ATTN_EUSAGE, "--input, --column and --no-header say how a file is read: give it with -f "
                                           "PATH");
    return ATTN_OK;
}

static int choose_nth(struct attn_err *err)
{
    if (o.nth.n >= texts.n)
        return attn_fail(err, ATTN_EUSAGE, "--nth %s: %s has %zu text%s, counted from 0", o.nth.given, texts_source(),
                         texts.n, texts.n == 1 ? "" : "s");
    return choose((size_t)o.nth.n, err);
}

static int answer(const struct command *c, struct attn_err *err)
{
    bool needs = !c->needs_text || c->needs_text();
    if (needs && !typed.n && !common.file && !common.ids && c->texts == TEXTS && is_piped())
        common.file = "-";
    if (check_usage(err) || (typed.n > 1 && c->joins && c->joins() && join(err)))
        return err->code;
    note_typed();
    if (typed.n == 1)
        common.sentence = typed.item[0];
    if (!needs || common.ids || o.whole || common.raw || c->texts == TEXTS_STREAMED || (!common.file && typed.n < 2))
        return o.nth.given && needs ? attn_fail(err, ATTN_EUSAGE, "--nth %s: there is one text", o.nth.given)
                                    : c->run(err);
    if (!texts.n && read_all(err))
        return err->code;
    if (o.nth.given || texts.n == 1) {
        int code = o.nth.given ? choose_nth(err) : choose(0, err);
        return code ? code : c->run(err);
    }
    if (c->one)
        return attn_fail(err, ATTN_EUSAGE, "%s has %zu texts, and '%s' shows one: --nth 0 takes the first",
                         texts_source(), texts.n, c->name);
    if (c->streams && !many_joins(c))
        return c->streams(err);
    texts.many = true;
    return many_answer(c, texts.n, choose, err);
}

/* It may be asked again, for another output. */
int texts_answer(const struct command *c, struct attn_err *err)
{
    const struct number nth = o.nth;
    int code = answer(c, err);
    o.nth = nth;
    texts.now = NULL;
    return code;
}

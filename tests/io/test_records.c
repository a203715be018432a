/* Reading sentences from files and pipes: what a record is, what it contains, which ones a process takes. */
#include "suites.h"

#include "corpus.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn_tools.h"

/* ---- what a reader says, as one text --------------------------------------------------- */

/* Writes "NUMBER LINE ID TEXT;" for a record: strings in quotes, ids in brackets, - for an absent value, !
 * before an error. */
static void note(FILE *to, const struct attn_record *r)
{
    const char *quote = r->id_is_number ? "" : "'";
    fprintf(to, "%d %d ", (int)r->number, (int)r->line);
    if (r->id)
        fprintf(to, "%s%.*s%s ", quote, (int)r->id_len, r->id, quote);
    else
        fputs("- ", to);
    if (r->error)
        fprintf(to, "!%s", r->error);
    else if (r->text)
        fprintf(to, "'%.*s'", (int)r->text_len, r->text);
    for (size_t i = 0; i < r->n; i++)
        fprintf(to, "%c%d%s", i ? ',' : '[', r->ids[i], i + 1 == r->n ? "]" : "");
    for (const struct attn_record_field *f = r->field; f < r->field + r->n_fields; f++) {
        fprintf(to, " %s=", f->name);
        if (f->text)
            fprintf(to, "'%.*s'", (int)f->len, f->text);
        for (size_t i = 0; i < f->n; i++)
            fprintf(to, "%c%d%s", i ? ',' : '[', f->ids[i], i + 1 == f->n ? "]" : "");
    }
    fputs(";\n", to);
}

static void note_all(FILE *to, struct attn_records *r)
{
    struct attn_record record;
    struct attn_err err = {0};
    enum attn_records_event what;
    int rc;
    while (!(rc = attn_records_next(r, &record, &what, &err)) && what == ATTN_RECORDS_NEXT)
        note(to, &record);
    if (rc)
        fprintf(to, "%s", err.msg);
}

static const char *read_with(const struct attn_records_opts *o)
{
    static char text[1 << 16];
    struct attn_records *r = NULL;
    struct attn_err err = {0};
    FILE *to = fmemopen(text, sizeof text, "w");
    if (attn_records_open(&r, o, &err))
        fprintf(to, "%s", err.msg);
    else
        note_all(to, r);
    fputc('\0', to);
    fclose(to);
    attn_records_close(r);
    return text;
}

static struct attn_records_opts in(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    scratch_put(path, text, strlen(text));
    return (struct attn_records_opts){.path = path};
}

static const char *read_text(const char *name, const char *text)
{
    struct attn_records_opts o = in(name, text);
    return read_with(&o);
}

/* ---- other fields ---------------------------------------------------------------------- */

static const char *read_fields(const char *name, const char *text)
{
    static const char *const fields[] = {"from", "answer"};
    struct attn_records_opts o = in(name, text);
    o.fields = fields;
    o.n_fields = 2;
    o.n_columns = 1;
    return read_with(&o);
}

START_TEST(test_fields)
{
    ck_assert_str_eq(read_fields("a.ndjson", "{\"from\": \"a\\tb\", \"text\": \"c\\nd\", \"answer\": 7}\n"
                                 "{\"ids\": [1], \"answer\": [2, 3], \"x\": 0}\n"),
                     "0 1 - 'c\nd' from='a\tb' answer=[7];\n1 2 - [1] from= answer=[2,3];\n");
    ck_assert_str_eq(read_fields("a.ndjson", "{\"text\": \"\", \"from\": null, \"answer\": []}\n"),
                     "0 1 - '' from= answer=;\n");
    ck_assert_str_eq(read_fields("a.ndjson",
                                 "{\"text\": \"a\", \"from\": \"b\", \"from\": 1}\n{\"text\": \"a\", \"answer\": -1}\n"
                                 "{\"text\": \"a\", \"from\": {}}\n{\"text\": \"a\", \"from\": [1, \"b\"]}"),
                     "0 1 - !column 36: \"from\" for the second time;\n"
                     "1 2 - !column 25: expected a token id, a whole number in 0..2147483647;\n"
                     "2 3 - !column 23: expected a string, a token id or a list of token ids;\n"
                     "3 4 - !column 27: expected a token id, a whole number in 0..2147483647;\n");
    ck_assert_str_eq(read_fields("a.csv", "answer,text,from\n5,\"a\"\"b\",\"c,d\"\n,e,\n"),
                     "0 2 - 'a\"b' from='c,d' answer='5';\n1 3 - 'e' from='' answer='';\n");
    ck_assert_str_eq(read_fields("a.tsv", "text\tfrom\na\tb\n"), "0 2 - 'a' from='b' answer=;\n");
    ck_assert_ptr_nonnull(strstr(read_fields("a.csv", "text,answer\n"), "line 1: no column is called 'from'"));
    ck_assert_ptr_nonnull(strstr(read_fields("a.csv", "text,from,from\n"),
                                 "line 1: several columns are called 'from': expected one"));
    ck_assert_ptr_nonnull(strstr(read_fields("a", "Life\n"),
                                 "is read as text, a sentence a line, but each record needs \"from\", too"));
}
END_TEST

/* ---- formats --------------------------------------------------------------------------- */

START_TEST(test_lines)
{
    ck_assert_str_eq(read_text("a.txt", "Life\n\n \t\r\n is short \r\nlast"),
                     "0 1 - 'Life';\n1 4 - ' is short ';\n2 5 - 'last';\n");
    ck_assert_str_eq(read_text("a", "\xEF\xBB\xBF" "a\rb\xE2\x80\xA8" "c\n"), "0 1 - 'a\rb\xE2\x80\xA8" "c';\n");
    ck_assert_str_eq(read_text("a", ""), "");
    ck_assert_str_eq(read_text("a", "\n\r\n"), "");
    ck_assert_str_eq(read_text("a", "a\n\xEF\xBB\xBF" "b"), "0 1 - 'a';\n1 2 - '\xEF\xBB\xBF" "b';\n");
    ck_assert_str_eq(read_text("a", "a\nb \xff\nc\n"),
                     "0 1 - 'a';\n1 2 - !not UTF-8 at byte 2: found 0xFF;\n2 3 - 'c';\n");
}
END_TEST

START_TEST(test_objects)
{
    ck_assert_str_eq(read_text("a.ndjson",
                               "{\"id\": 7.50, \"text\": \"a\\tb\"}\n\n{\"ids\": [5, 1], \"id\": \"\\u00e9\"}\r\n"),
                     "0 1 7.50 'a\tb';\n1 3 '\xC3\xA9' [5,1];\n");
    ck_assert_str_eq(read_text("a.jsonl", "{\"text\": \"\"}\n{\"ids\": [], \"text2\": 1}"), "0 1 - '';\n1 2 - ;\n");
    ck_assert_str_eq(read_text("a.NDJSON", "{\"id\": \"x\", \"text\": \"a}\n{\"text\": \"b\"}\n"),
                     "0 1 'x' !column 24: expected the end of a string (the text ends here);\n1 2 - 'b';\n");
    /* .json implies no format */
    ck_assert_str_eq(read_text("a.json", "{\"text\": \"b\"}\n"), "0 1 - '{\"text\": \"b\"}';\n");
}
END_TEST

START_TEST(test_nul)
{
    struct attn_records_opts o = in("a.ndjson", "{\"text\": \"a\\u0000b\"}\n");
    struct attn_records *r;
    struct attn_record record;
    enum attn_records_event what;
    ck_assert_int_eq(attn_records_open(&r, &o, NULL), ATTN_OK);
    ck_assert_int_eq(attn_records_next(r, &record, &what, NULL), ATTN_OK);
    ck_assert_uint_eq(record.text_len, 3);
    ck_assert_mem_eq(record.text, "a\0b", 3);
    attn_records_close(r);
}
END_TEST

START_TEST(test_tables)
{
    ck_assert_str_eq(read_text("a.csv", "id,x,text\n7,,\"a, \"\"b\"\"\nc\"\r\n\n,1,d\n"),
                     "0 2 '7' 'a, \"b\"\nc';\n1 5 '' 'd';\n");
    ck_assert_str_eq(read_text("a.csv", "sentence\na\n\"\"\nb"), "0 2 - 'a';\n1 3 - '';\n2 4 - 'b';\n");
    ck_assert_str_eq(read_text("a.csv", "text,id\na,1,2\nb\n\"c\" d,2\n\"e\",3\n"),
                     "0 2 '1' !3 fields, the first row has 2: a text with a comma in it stands in double quotes;\n"
                     "1 3 - !1 fields, the first row has 2: a text with a comma in it stands in double quotes;\n"
                     "2 4 - !a quote is not closed where its field ends;\n3 5 '3' 'e';\n");
    ck_assert_str_eq(read_text("a.tsv", "id\ttext\n1\ta, \"b\n\t\n"), "0 2 '1' 'a, \"b';\n1 3 '' '';\n");
    ck_assert_str_eq(read_text("a.csv", "text\n\"a\nb\n"), "0 2 - !a quote is not closed where its field ends;\n");
    ck_assert_str_eq(read_text("a.csv", "id;text\n7;\"a; b\"\n8;c, d\n9;e;f\n"),
                     "0 2 '7' 'a; b';\n1 3 '8' 'c, d';\n"
                     "2 4 '9' !3 fields, the first row has 2: a text with a semicolon in it stands in double "
                     "quotes;\n");
}
END_TEST

/* What the reader of a table says when it takes this column, without the path. */
static const char *read_column(const char *text, const char *column, bool headless)
{
    struct attn_records_opts o = in("a", text);
    o.format = "csv";
    o.column = column;
    o.headless = headless;
    const char *said = read_with(&o);
    return strncmp(said, o.path, strlen(o.path)) ? said : said + strlen(o.path);
}

START_TEST(test_columns)
{
    ck_assert_str_eq(read_column("a,b\n1,2\n", "b", false), "0 2 - '2';\n");
    ck_assert_str_eq(read_column("a,b\n1,2\n", "0", false), "0 2 - '1';\n");
    /* names before indices */
    ck_assert_str_eq(read_column("1,0\n3,4\n", "0", false), "0 2 - '4';\n");
    ck_assert_str_eq(read_column("1,0\n3,4\n", "0", true), "0 1 - '1';\n1 2 - '3';\n");
    /* a column is not both */
    ck_assert_str_eq(read_column("id,text\n3,4\n", "id", false), "0 2 - '3';\n");
    ck_assert_str_eq(read_column("\"te\"\"xt\",x\n3,4\n", "te\"xt", false), "0 2 - '3';\n");
    ck_assert_str_eq(read_column("a\nb\n", NULL, true), "0 1 - 'a';\n1 2 - 'b';\n");
    ck_assert_str_eq(read_column("a,b\n", "txt", false), ": line 1: no column is called 'txt': a,b");
    ck_assert_str_eq(read_column("a,b\n", "2", false), ": line 1: there is no column 2: there are 2, counted from 0");
    ck_assert_str_eq(read_column("a,b\n", NULL, false),
                     ": line 1: which of 2 columns is the text? say --column NAME or its index: a,b");
    ck_assert_str_eq(read_column("\na,a\n", "a", false),
                     ": line 2: 2 columns are called 'a': say which by its index, --column I");
    ck_assert_str_eq(read_column("a,\"b\n", "a", false), ": line 1: a quote is not closed where its field ends");
}
END_TEST

START_TEST(test_refused)
{
    struct attn_records_opts o = in("a.txt", "a\n");
    o.column = "text";
    ck_assert_ptr_nonnull(strstr(read_with(&o), "a.txt is read as text, which has no columns: --input csv"));
    o.column = NULL;
    o.format = "json";
    ck_assert_str_eq(read_with(&o), "unknown input 'json': expected text, ndjson, csv or tsv");
    o.format = NULL;
    o = in("a.JSON", "\n [{\"text\": \"a\"}]\n");
    ck_assert_ptr_nonnull(strstr(read_with(&o),
                                 "a.JSON: line 2: begins with '[': expected one object per line, e.g. `jq -c '.[]'`"));
    o.share = (struct attn_share){.index = 1, .count = 2};
    ck_assert_ptr_nonnull(strstr(read_with(&o), "a.JSON: line 2: begins with '['"));
    o.format = "text";
    o.share = (struct attn_share){0};
    ck_assert_str_eq(read_with(&o), "0 2 - ' [{\"text\": \"a\"}]';\n");
    o.format = NULL;
    o.path = scratch_path("not there");
    ck_assert_ptr_nonnull(strstr(read_with(&o), "not there: cannot open: No such file"));
    o.path = scratch_dir;
    ck_assert_ptr_nonnull(strstr(read_with(&o), "cannot read: Is a directory"));
    o = (struct attn_records_opts){.share = {.index = 1, .count = 4}};
    ck_assert_str_eq(read_with(&o),
                     "standard input: its records cannot be counted before they are read: add --stride, to take one "
                                    "in 4");
}
END_TEST

/* ---- hostile files --------------------------------------------------------------------- */

static const struct corpus_fault faults[] = {
    {"n_utf8.txt", "line 2: not UTF-8 at byte 2: found 0xFF"},
    {"n_cut_utf8.txt", "line 1: not UTF-8 at byte 5: found 0xE2"},
    {"n_deep.ndjson", "column 86: nested deeper than 64 levels"},
    {"n_very_deep.ndjson", "column 69: nested deeper than 64 levels"},
    {"n_neither.ndjson", "has neither \"text\" nor \"ids\""},
    {"n_both.ndjson", "has both \"text\" and \"ids\""},
    {"n_text_number.ndjson", "column 10: expected a string for \"text\""},
    {"n_text_null.ndjson", "column 10: expected a string for \"text\""},
    {"n_text_twice.ndjson", "column 26: \"text\" for the second time"},
    {"n_id_twice.ndjson", "column 20: \"id\" for the second time"},
    {"n_ids_twice.ndjson", "column 21: \"ids\" for the second time"},
    {"n_id_list.ndjson", "column 24: expected a string or a number for \"id\""},
    {"n_ids_number.ndjson", "column 9: expected a list of token ids"},
    {"n_ids_text.ndjson", "column 13: expected a token id"},
    {"n_ids_fraction.ndjson", "column 10: expected a token id"},
    {"n_ids_negative.ndjson", "column 10: expected a token id"},
    {"n_ids_large.ndjson", "column 10: expected a token id, a whole number in 0..2147483647"},
    {"n_string.ndjson", "column 1: expected an object, {\"text\": \"...\"}"},
    {"n_list.ndjson", "line 1: begins with '[': expected one object per line, e.g. `jq -c '.[]'`"},
    {"n_two.ndjson", "column 18: expected nothing after the end of the document"},
    {"n_cut.ndjson", "column 16: expected ',' or '}' (the text ends here)"},
    {"n_cut_ids.ndjson", "column 12: expected a value (the text ends here)"},
    {"n_pretty.ndjson", "line 1: column 2: expected a key in double quotes (the text ends here)"},
    {"n_nul_byte.ndjson", "column 13: control character in a string (found byte 0x00)"},
    {"n_utf8.ndjson", "not UTF-8 at byte 23: found 0xC0"},
    {"n_surrogate.ndjson", "column 11: unknown escape, or half of a surrogate pair"},
    {"n_which.csv", "which of 2 columns is the text?"},
    {"n_twice.csv", "2 columns are called 'text'"},
    {"n_quote_open.csv", "line 2: a quote is not closed"},
    {"n_quote_header.csv", "line 1: a quote is not closed"},
    {"n_quote_inside.csv", "line 2: a quote is not closed where its field ends"},
    {"n_comma.csv", "line 2: 3 fields, the first row has 2: a text with a comma in it stands in double quotes"},
    {"n_short.csv", "line 2: 1 fields, the first row has 2"},
    {"n_tab.tsv", "line 2: 3 fields, the first row has 2: a text with a tab"},
    {"n_utf8.csv", "line 2: not UTF-8 at byte 0: found 0xFF"},
    {NULL, NULL}};

/* Reads until the first bad record and returns its error. */
static int read_first_fault(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_records_opts o = {.path = scratch_path(name)};
    struct attn_records *r;
    struct attn_record record = {0};
    enum attn_records_event what = ATTN_RECORDS_NEXT;
    scratch_put(o.path, bytes, len);
    int rc = attn_records_open(&r, &o, err);
    while (!rc && !record.error && what == ATTN_RECORDS_NEXT)
        rc = attn_records_next(r, &record, &what, err);
    if (rc || record.error) {
        rc = err->code = ATTN_EFORMAT;
        if (record.error)
            snprintf(err->msg, sizeof err->msg, "%s: line %d: %s", name, (int)record.line, record.error);
    }
    attn_records_close(r);
    return rc;
}

START_TEST(test_corpus)
{
    corpus_check("tests/corpus/records", faults, read_first_fault);
}
END_TEST

/* Writes a file with `before`, so many letters, and `after`. */
static struct attn_records_opts long_line(const char *name, const char *before, size_t letters, const char *after)
{
    size_t head = strlen(before), tail = strlen(after);
    char *text = malloc(head + letters + tail);
    memcpy(text, before, head);
    memset(text + head, 'a', letters);
    memcpy(text + head + letters, after, tail);
    struct attn_records_opts o = {.path = scratch_path(name)};
    scratch_put(o.path, text, head + letters + tail);
    free(text);
    return o;
}

START_TEST(test_long_lines)
{
    enum { LIMIT = 16 << 20 };
    struct attn_records *r;
    struct attn_record record;
    enum attn_records_event what;
    struct attn_records_opts o = long_line("a.txt", "one\n", LIMIT, "\ntwo\n");
    ck_assert_str_eq(read_with(&o), "0 1 - 'one';\n1 2 - !longer than 16 MiB;\n2 3 - 'two';\n");
    o = long_line("b.csv", "text\n\"", LIMIT * 3, "\n\n\"\ntwo\n");
    ck_assert_str_eq(read_with(&o), "0 2 - !longer than 16 MiB;\n1 5 - 'two';\n");
    o = long_line("c.csv", "", LIMIT + 1, "\n");
    ck_assert_ptr_nonnull(strstr(read_with(&o), "c.csv: line 1: the first row is longer than 16 MiB"));
    o = long_line("d.txt", "one\n", LIMIT - 1, "\ntwo\n");
    ck_assert_int_eq(attn_records_open(&r, &o, NULL), ATTN_OK);
    ck_assert_int_eq(attn_records_next(r, &record, &what, NULL), ATTN_OK);
    ck_assert_int_eq(attn_records_next(r, &record, &what, NULL), ATTN_OK);
    ck_assert_uint_eq(record.text_len, LIMIT - 1);
    ck_assert_ptr_null(record.error);
    attn_records_close(r);
}
END_TEST

/* ---- pipes ----------------------------------------------------------------------------- */

struct pipe_reader { struct attn_records *r; int in; int asked; };

static bool stop_at_third(void *self)
{
    return ++((struct pipe_reader *)self)->asked == 3;
}

static void open_pipe(struct pipe_reader *p, const struct attn_records_opts *opts)
{
    static char path[32];
    int fd[2];
    struct attn_records_opts o = *opts;
    ck_assert_int_eq(pipe(fd), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
    o.path = path;
    o.self = p;
    ck_assert_int_eq(attn_records_open(&p->r, &o, NULL), ATTN_OK);
    close(fd[0]);
    p->in = fd[1];
}

static void say(const struct pipe_reader *p, const char *text)
{
    ck_assert_int_eq(write(p->in, text, strlen(text)), (ssize_t)strlen(text));
}

static void expect_next(const struct pipe_reader *p, const char *text)
{
    struct attn_record record;
    enum attn_records_event what;
    ck_assert(attn_records_ready(p->r));
    ck_assert_int_eq(attn_records_next(p->r, &record, &what, NULL), ATTN_OK);
    ck_assert_int_eq(what, text ? ATTN_RECORDS_NEXT : ATTN_RECORDS_END);
    if (text) {
        ck_assert_uint_eq(record.text_len, strlen(text));
        ck_assert_mem_eq(record.text, text, strlen(text));
    }
}

START_TEST(test_ready)
{
    struct pipe_reader p = {0};
    open_pipe(&p, &(struct attn_records_opts){.format = "csv"});
    ck_assert(!attn_records_ready(p.r));
    say(&p, "\xEF\xBB");
    ck_assert(!attn_records_ready(p.r));
    say(&p, "\xBF\"te");
    say(&p, "xt\"\n\n\"one\n");
    ck_assert(!attn_records_ready(p.r));            /* a header, a blank line and half a row are no record */
    say(&p, "\"\"two\"\nthree\nfo");
    expect_next(&p, "one\n\"two");
    expect_next(&p, "three");
    ck_assert(!attn_records_ready(p.r));
    close(p.in);
    expect_next(&p, "fo");
    expect_next(&p, NULL);
    expect_next(&p, NULL);
    ck_assert_uint_eq(attn_records_total(p.r), 3);
    ck_assert_uint_eq(attn_records_blank(p.r), 1);
    attn_records_close(p.r);
}
END_TEST

START_TEST(test_stop)
{
    struct pipe_reader p = {0};
    struct attn_record record;
    enum attn_records_event what;
    open_pipe(&p, &(struct attn_records_opts){.stop = stop_at_third});
    say(&p, "half a line");
    ck_assert_int_eq(attn_records_next(p.r, &record, &what, NULL), ATTN_OK);
    ck_assert_int_eq(what, ATTN_RECORDS_STOPPED);
    say(&p, "\n");
    expect_next(&p, "half a line");                 /* stopping loses nothing */
    close(p.in);
    attn_records_close(p.r);
}
END_TEST

/* The pipe has no writer yet, and may never get one. */
START_TEST(test_no_writer)
{
    struct pipe_reader p = {0};
    struct attn_records_opts o = {.path = scratch_path("fifo"), .stop = stop_at_third, .self = &p};
    struct attn_record record;
    enum attn_records_event what;
    ck_assert_int_eq(mkfifo(o.path, 0600), 0);
    ck_assert_int_eq(attn_records_open(&p.r, &o, NULL), ATTN_OK);
    ck_assert(!attn_records_ready(p.r));
    ck_assert_int_eq(attn_records_next(p.r, &record, &what, NULL), ATTN_OK);
    ck_assert_int_eq(what, ATTN_RECORDS_STOPPED);
    p.in = open(o.path, O_WRONLY);
    say(&p, "one\ntw");
    expect_next(&p, "one");
    ck_assert(!attn_records_ready(p.r));
    close(p.in);
    expect_next(&p, "tw");
    expect_next(&p, NULL);
    attn_records_close(p.r);
}
END_TEST

/* ---- shares ---------------------------------------------------------------------------- */

static const char *const table = "text,id\na,\n\nb,\n\"c\nc\",\nd,\ne,\nf,\ng,\n";

static const char *read_share(uint64_t index, uint64_t count, bool stride)
{
    struct attn_records_opts o = in("a.csv", table);
    o.share = (struct attn_share){index, count, stride};
    return read_with(&o);
}

START_TEST(test_shares)
{
    ck_assert_str_eq(read_share(0, 3, false), "0 2 '' 'a';\n1 4 '' 'b';\n");
    ck_assert_str_eq(read_share(1, 3, false), "2 5 '' 'c\nc';\n3 7 '' 'd';\n");
    ck_assert_str_eq(read_share(2, 3, false), "4 8 '' 'e';\n5 9 '' 'f';\n6 10 '' 'g';\n");
    ck_assert_str_eq(read_share(1, 3, true), "1 4 '' 'b';\n4 8 '' 'e';\n");
    ck_assert_str_eq(read_share(0, 20, false), "");
    ck_assert_str_eq(read_share(19, 20, false), "6 10 '' 'g';\n");
}
END_TEST

START_TEST(test_skip)
{
    struct attn_records_opts o = in("a.csv", table);
    struct attn_records *r;
    o.share = (struct attn_share){1, 3, true};
    for (uint64_t to = 0; to < 9; to++) {
        struct attn_record record = {0};
        enum attn_records_event what;
        ck_assert_int_eq(attn_records_open(&r, &o, NULL), ATTN_OK);
        ck_assert_int_eq(attn_records_skip(r, to, NULL), ATTN_OK);
        ck_assert_int_eq(attn_records_next(r, &record, &what, NULL), ATTN_OK);
        ck_assert_int_eq(what, to < 5 ? ATTN_RECORDS_NEXT : ATTN_RECORDS_END);
        ck_assert_uint_eq(record.number, to < 2 ? 1 : to < 5 ? 4 : 0);
        attn_records_close(r);
    }
}
END_TEST

START_TEST(test_totals)
{
    struct attn_records_opts o = in("a.csv", table);
    struct attn_records *r;
    uint64_t all;
    o.share = (struct attn_share){1, 3, false};
    ck_assert_int_eq(attn_records_open(&r, &o, NULL), ATTN_OK);
    ck_assert_uint_eq(attn_records_total(r), 7);
    ck_assert_str_eq(attn_records_format(r), "csv");
    ck_assert_uint_eq(attn_records_bytes(r, &all), 0);
    ck_assert_uint_eq(all, strlen(table));
    ck_assert_int_eq(truncate(o.path, 12), 0);
    struct attn_err err;
    ck_assert_int_eq(attn_records_skip(r, UINT64_MAX, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "a.csv: has 1 records, and had 7 when they were counted"));
    attn_records_close(r);
}
END_TEST

START_TEST(test_path)
{
    struct attn_records *r = NULL;
    struct attn_err err = {0};
    const char *path = scratch_path("in.txt");
    scratch_put(path, "a\n", 2);
    ck_assert_msg(!attn_records_open(&r, &(struct attn_records_opts){.path = path}, &err), "%s", err.msg);
    ck_assert_str_eq(attn_records_path(r), path);
    attn_records_close(r);
    ck_assert_msg(!attn_records_open(&r, &(struct attn_records_opts){.path = "-"}, &err), "%s", err.msg);
    ck_assert_str_eq(attn_records_path(r), "standard input");
    attn_records_close(r);
}
END_TEST

Suite *suite_records(void)
{
    Suite *s = suite_create("records");
    TCase *t = tcase_create("records");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_lines);
    tcase_add_test(t, test_objects);
    tcase_add_test(t, test_fields);
    tcase_add_test(t, test_nul);
    tcase_add_test(t, test_tables);
    tcase_add_test(t, test_columns);
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_long_lines);
    tcase_add_test(t, test_ready);
    tcase_add_test(t, test_stop);
    tcase_add_test(t, test_no_writer);
    tcase_add_test(t, test_shares);
    tcase_add_test(t, test_skip);
    tcase_add_test(t, test_totals);
    tcase_add_test(t, test_path);
    suite_add_tcase(s, t);
    return s;
}

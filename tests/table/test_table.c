/* Writers of tables, byte by byte. */
#include "suites.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "table/columns.h"

static void nested(struct attn_out *o, const void *self, size_t row)
{
    (void)self;
    attn_out_printf(o, "[%zu]", row);
}

static const struct attn_column columns[] = {
    {.name = "n", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT},
    {.name = "word", .kind = ATTN_COLUMN_TOKEN, .heading = "token"},
    {.name = "raw", .kind = ATTN_COLUMN_TEXT, .flags = ATTN_COLUMN_DATA | ATTN_COLUMN_OPTIONAL},
    {.name = "max", .group = "d", .kind = ATTN_COLUMN_REAL, .digits = 2},
    {.name = "mean", .group = "d", .kind = ATTN_COLUMN_REAL, .digits = 2, .width = 6, .gap = 1},
    {.name = "ok", .kind = ATTN_COLUMN_TRUTH},
    {.name = "list", .kind = ATTN_COLUMN_NESTED, .write = nested},
    {.name = "why", .kind = ATTN_COLUMN_TEXT}};

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    (void)self;
    cell[0] = attn_datum_whole(i);
    cell[1] = attn_datum_str(i ? "=a|b" : " x\n\xff");
    if (i)
        cell[2] = attn_datum_str("r");
    cell[3] = attn_datum_real(i ? 1e8 : -0.125);
    if (i)
        cell[4] = attn_datum_real(NAN);
    cell[5] = attn_datum_truth(i);
    cell[6].there = true;
}

static void fill_truths(struct attn_datum *cell, const void *self, size_t i)
{
    (void)self;
    (void)i;
    cell[0] = cell[1] = attn_datum_truth(true);
}

static char *written(struct attn_table t, const char *format)
{
    struct attn_out *o;
    struct attn_err err;
    char *text = NULL;
    size_t len;
    ck_assert_int_eq(attn_out_open_memory(&o, &err), 0);
    ck_assert_int_eq(format ? attn_table_write(o, &t, format, &err) : attn_table_objects(o, &t, "", ",\n", &err), 0);
    ck_assert_int_eq(attn_out_take(o, &text, &len, &err), 0);
    attn_out_close(o);
    return text;
}

static const struct attn_table table = {.column = columns, .columns = sizeof columns / sizeof *columns, .rows = 2,
                                        .row = fill};

#define CSV "n,word,raw,d_max,d_mean,ok,why\n0,\" x\n\uFFFD\",,-0.125,,false,\n"

static void ck_written(struct attn_table t, const char *format, const char *expected)
{
    char *text = written(t, format);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(every_format)
{
    ck_written(table, "text", "n  token           d_max d_mean   ok\n"
                              "0  ·x↵\\xFF         -0.12      -   no\n"
                              "1  =a|b     100000000.00    nan  yes\n");
    ck_written(table, "csv", CSV "1,=a|b,r,100000000,,true,\n");
    ck_written(table, "tidy", CSV "1,=a|b,r,100000000,,true,\n");
    ck_written(table, "ndjson", 
               "{\"word\":\" x\\n\uFFFD\",\"d\":{\"max\":-0.125,\"mean\":null},\"ok\":false,\"list\":[0],"
               "\"why\":null}\n"
               "{\"word\":\"=a|b\",\"raw\":\"r\",\"d\":{\"max\":100000000,\"mean\":null},\"ok\":true,\"list\":[1],"
               "\"why\":null}\n");
    ck_written(table, "md", "| n | token | d\\_max | d\\_mean | ok | why |\n|---:|:---|---:|---:|---:|:---|\n"
                            "| 0 | ·x↵\\\\xFF | -0.12 | - | no |  |\n| 1 | =a\\|b | 100000000.00 | nan | yes |  |\n");
}
END_TEST

START_TEST(objects_as_in_the_documents_of_the_program)
{
    struct attn_table t = table;
    t.spaced = true;
    ck_written(t, NULL, "{\"word\": \" x\\n\uFFFD\", \"d\": {\"max\": -0.125, \"mean\": null}, \"ok\": false, "
                        "\"list\": [0], \"why\": null},,\n{\"word\": \"=a|b\", "
                        "\"raw\": \"r\", \"d\": {\"max\": 1e+08, \"mean\": null}, \"ok\": true, "
                        "\"list\": [1], \"why\": null}");
}
END_TEST

START_TEST(no_text_is_a_formula)
{
    struct attn_table t = table;
    t.csv_safe = true;
    ck_written(t, "csv", CSV "1,'=a|b,r,100000000,,true,\n");
}
END_TEST

static void fill_members(struct attn_datum *cell, const void *self, size_t i)
{
    static const size_t sizes[] = {3, 16};
    static const struct attn_column names[] = {{.name = NULL}};
    static struct attn_table inside = {.column = names, .columns = 1, .rows = 2, .row = fill_members};
    cell[0] = attn_datum_str(i ? "x" : "\"y");
    if (!self)
        return;
    cell[1] = attn_datum_str("[1, 2]");
    cell[2] = attn_datum_sizes(sizes, i ? 2 : 0);
    cell[3] = attn_datum_rows(i ? &inside : NULL);
    cell[4] = attn_datum_real(0.12345);
    cell[5] = attn_datum_str(i ? NULL : "here");
}

static bool is_odd(const void *self, size_t row) { return self && row % 2; }

/* Members of a document may be tables themselves, and people may read of few rows what programs have of all. */
START_TEST(tables_within_tables_and_rows_left_out)
{
    static const struct attn_column members[] = {
        {.name = "text", .gap = 1}, {.name = "value", .kind = ATTN_COLUMN_JSON},
        {.name = "sizes", .kind = ATTN_COLUMN_SIZES}, {.name = "rows", .kind = ATTN_COLUMN_ROWS},
        {.name = "part", .kind = ATTN_COLUMN_REAL, .digits = 2,
         .flags = ATTN_COLUMN_PERCENT | ATTN_COLUMN_SIGNIFICANT},
        {.name = "where", .flags = ATTN_COLUMN_READ}};
    struct attn_table t = {.column = members, .columns = 6, .rows = 2, .row = fill_members, .self = members,
                           .spaced = true, .left = "rows"};
    ck_written(t, "csv", "text,value,part\n\"\"\"y\",\"[1, 2]\",0.12345\nx,\"[1, 2]\",0.12345\n");
    ck_written(t, "ndjson", "{\"text\": \"\\\"y\", \"value\": [1, 2], \"sizes\": [], \"rows\": null, \"part\": 0.12345}\n"
                            "{\"text\": \"x\", \"value\": [1, 2], \"sizes\": [3, 16], \"rows\": [\"\\\"y\", \"x\"], \"part\": 0.12345}\n");
    ck_written(t, "text", " text  value   part  where\n \"y    [1, 2]  12 %  here\n x     [1, 2]  12 %\n");
    t.rows = 6;
    t.listed = is_odd;
    t.most = 1;
    t.indent = 2;
    ck_written(t, "text", "   text  value   part\n   x     [1, 2]  12 %\n  ... and 2 more rows\n");
}
END_TEST

/* A column may be called as a token is. */
START_TEST(no_name_of_a_column_escapes)
{
    static const struct attn_column hostile[] = {{.name = "a\",\"b", .kind = ATTN_COLUMN_TRUTH},
                                                 {.name = "=1+\x1B[31m\xff", .kind = ATTN_COLUMN_TRUTH}};
    struct attn_table t = {.column = hostile, .columns = 2, .csv_safe = true, .row = fill_truths, .rows = 1};
    ck_written(t, "csv", "\"a\"\",\"\"b\",'=1+\x1B[31m\uFFFD\ntrue,true\n");
    ck_written(t, "ndjson", "{\"a\\\",\\\"b\":true,\"=1+\\u001b[31m\uFFFD\":true}\n");
    ck_written(t, "text", "a\",\"b  =1+\\x1B[31m\\xFF\n  yes              yes\n");
}
END_TEST

START_TEST(without_rows)
{
    struct attn_table t = table;
    t.rows = 0;
    ck_written(t, "text", "n  d_max d_mean  ok\n");
    ck_written(t, "csv", "n,word,raw,d_max,d_mean,ok,why\n");
    ck_written(t, "ndjson", "");
    ck_assert(attn_table_writes("md") && attn_table_writes("text"));
    ck_assert(!attn_table_writes("json") && !attn_table_writes("png"));
}
END_TEST

Suite *suite_table(void)
{
    Suite *s = suite_create("table");
    TCase *c = tcase_create("table");
    tcase_add_test(c, every_format);
    tcase_add_test(c, objects_as_in_the_documents_of_the_program);
    tcase_add_test(c, no_text_is_a_formula);
    tcase_add_test(c, tables_within_tables_and_rows_left_out);
    tcase_add_test(c, no_name_of_a_column_escapes);
    tcase_add_test(c, without_rows);
    suite_add_tcase(s, c);
    return s;
}

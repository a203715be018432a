/* test_numbers.c - arrays as people have them: typed, printed, in tables, saved; and what is none. */
#include "suites.h"

#include "scratch.h"
#include "attend/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct attn_labelled n;
static struct attn_err err;

static int take(const char *given)
{
    attn_numbers_free(&n);
    err = (struct attn_err){0};
    return attn_numbers_read(&n, given, "--q", "q", &err);
}

static int take_file(const char *leaf, const char *content, size_t len)
{
    scratch_put(scratch_path(leaf), content, len);
    return take(scratch_path(leaf));
}

/* Shape and numbers as one text: "[2, 2] 1 0 0 1". */
static const char *seen(void)
{
    static char text[512];
    int at = snprintf(text, sizeof text, "[");
    for (int i = 0; i < n.of.ndim; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, i ? ", %zu" : "%zu", n.of.shape[i]);
    at += snprintf(text + at, sizeof text - (size_t)at, "]");
    for (size_t i = 0; i < n.of.n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %g", (double)n.of.data[i]);
    return text;
}

static void expect_numbers(int rc, const char *text)
{
    ck_assert_msg(!rc, "%s", err.msg);
    ck_assert_str_eq(seen(), text);
}

static void expect_refused(int rc, const char *part)
{
    ck_assert_msg(rc && strstr(err.msg, part), "'%s' lacks '%s'", err.msg, part);
    ck_assert(!n.of.data && !n.name && !n.rows.n);
}

static const struct { const char *typed, *numbers; } typed[] = {
    {"1 0 1; 0 2 2", "[2, 3] 1 0 1 0 2 2"}, {"1,0,1;0,2,2", "[2, 3] 1 0 1 0 2 2"}, {"1 0\n0 1\n", "[2, 2] 1 0 0 1"},
    {"1 2 3", "[1, 3] 1 2 3"}, {"-.5", "[1, 1] -0.5"}, {"[1, 2]", "[2] 1 2"},
    {"[[1,0,1],[0,2,2]]", "[2, 3] 1 0 1 0 2 2"},
    {"[[1. 0.]\n [0. 1.]]", "[2, 2] 1 0 0 1"}, {"[[[1, 2]], [[3, 4]]]", "[2, 1, 2] 1 2 3 4"},
    {"tensor([[ 0.5, -2.]], grad_fn=<MmBackward0>)", "[1, 2] 0.5 -2"}, {"np.array([[1, 2]])", "[1, 2] 1 2"},
    {"array([[1., 2.]], dtype=float32)", "[1, 2] 1 2"}, {"[1 0; 0 1]", "[2, 2] 1 0 0 1"},
    {"True False; False True", "[2, 2] 1 0 0 1"}, {"0 -inf; inf nan", "[2, 2] 0 -inf inf nan"},
    {"1 0;\n0 1", "[2, 2] 1 0 0 1"},
    {"[[1, 2,], [3, 4]]", "[2, 2] 1 2 3 4"}, {"１，０；０　−∞", "[2, 2] 1 0 0 -inf"}, {"［［1，2］、［3，4］］", "[2, 2] 1 2 3 4"},
    {"－１．５", "[1, 1] -1.5"},
};

START_TEST(typed_numbers)
{
    expect_numbers(take(typed[_i].typed), typed[_i].numbers);
    expect_numbers(take_file("same.txt", typed[_i].typed, strlen(typed[_i].typed)), typed[_i].numbers);
    ck_assert(!n.rows.n && !n.cols.n);
}
END_TEST

static const struct { const char *typed, *why; } refused[] = {
    {"1 0; 2", "--q: row 1 has 1 number, row 0 has 2"}, {"1,,2", "--q: row 0: number 1 is missing beside a comma"},
    {"1 2,", "number 2 is missing"}, {"1 x", "row 0, number 1: found 'x', expected a number"},
    {"[[1, 2], [3]]", "row 1 has 1 number, one before it 2"}, {"[1, [2]]", "found a list, expected a number"},
    {"[[1, 2], 3]", "found '3', expected a list"}, {"[[1, 2]", "1 bracket is not closed"},
    {"[]", "there are no numbers"},
    {"[[1, 2, ..., 3]]", "'...' stands for numbers that were left out"}, {"[1] 2", "found '2' after the last bracket"},
    {"[1,,2]", "expected a number before it"}, {"[[[[[[[[[1]]]]]]]]]", "at most 8 lists"},
    {"1;0;1\n0;2;2", "row 2: numbers are "
     "separated by ; as well as by line feeds"}, {"tensor([[1, 2]]) + 1", "after the last bracket"},
    {"[1,0],[0,1]", "found ',[0,1]' after the last bracket, expected the end, or one more pair of brackets around "
     "all rows"}, {"1，一", "found '一'"},
};

START_TEST(typed_nonsense)
{
    expect_refused(take(refused[_i].typed), refused[_i].why);
}
END_TEST

START_TEST(names_of_files)
{
    expect_numbers(take_file("np.txt", "# a comment\n# 7\n1 2\n3 4\n", 24), "[2, 2] 1 2 3 4");
    expect_refused(take("nothing-here.csv"), "--q: there is no file 'nothing-here.csv'; numbers are typed as in");
    ck_assert(!attn_numbers_typed("infra.csv", 9) && !attn_numbers_typed("nano", 4) && !attn_numbers_typed("truth", 5));
    ck_assert(attn_numbers_typed(" 1.csv", 6) && attn_numbers_typed("-inf", 4) && !attn_numbers_typed("-", 1));
    ck_assert(!attn_numbers_typed("", 0) && !attn_numbers_typed("./1.csv", 7));
    expect_refused(take_file("empty", "", 0), "the file is empty");
    expect_refused(take(scratch_dir), "no .npy and no .csv file in it");
}
END_TEST

static void expect_labels(const struct attn_dump_list *list, const char *labels)
{
    char text[128] = "";
    for (size_t i = 0; i < list->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? " %s" : "%s", list->item[i].text);
    ck_assert_str_eq(text, labels);
}

static const struct { const char *table, *numbers, *rows, *cols; } tables[] = {
    {",x,y\nLife,1,2\nis,3,4\n", "[2, 2] 1 2 3 4", "Life is", "x y"},
    {"token,0,1\r\nLife,1,2\r\n", "[1, 2] 1 2", "Life", "0 1"},
    {"Life,1,2\nis,3,4\n", "[2, 2] 1 2 3 4", "Life is", ""},
    {"\xEF\xBB\xBF\"\",\"a,b\"\n\"c\"\"d\",-inf\n\n", "[1, 1] -inf", "c\"d", "a,b"},
    {"x\n1\n2\n", "[2, 1] 1 2", "", "x"}, {"x,y\na,1\n", "[1, 1] 1", "a", "y"},
    /* as spreadsheets write them where a comma is the point */
    {";x;y\nLife;0,5;1\nis;-1,25e2;4.5\n", "[2, 2] 0.5 1 -125 4.5", "Life is", "x y"},
    {"\"\";\"a;b\"\r\n\"c, d\";\"0,5\"\r\n", "[1, 1] 0.5", "c, d", "a;b"},
    {"0,5;1,25\n2,5;3\n", "[2, 2] 0.5 1.25 2.5 3", "", ""}, {"1;2\n3;4\n", "[2, 2] 1 2 3 4", "", ""},
    {"\ta\tb\nx\t0,5\t1\n", "[1, 2] 0.5 1", "x", "a b"},
    {",a,;,b\nx,1,2,3\n;,4,5,6\n", "[2, 3] 1 2 3 4 5 6", "x ;", "a ; b"},
};

START_TEST(tables_with_labels)
{
    expect_numbers(take_file("t.csv", tables[_i].table, strlen(tables[_i].table)), tables[_i].numbers);
    expect_labels(&n.rows, tables[_i].rows);
    expect_labels(&n.cols, tables[_i].cols);
}
END_TEST

static const struct { const char *table, *why; } torn[] = {
    {"a,b\n1,2\n", "nobody can tell whether the numbers in its first column are labels"},
    {"a,b\n", "no numbers below the first row"},
    {",a,b\nx,1\n", "row 0 has 1 numbers, the first row has 2"},
    {",a\nx,1,2\n", "row 0 has 2 numbers, the first row has 1"},
    {",a\nx,one\n", "row 0, column 0: found 'one', expected a number"}, {",a\n\"x,1\n", "row 1: a quote is not closed"},
    {"token\nx\n", "no numbers beside the first column"},
    {",a\n\xCE\xD2" ",1\n", "label 0 is not UTF-8: a spreadsheet saves a table as \"CSV UTF-8\""},
    {"\xFF\xFE" "1,2\n", "the text is UTF-16, expected UTF-8"},
    {"layer,head,previous,x\n", "a table of heads, and no matrix"},
    {"head,n,mean_metric,mean_effect\n0,5,0.5,0.2\n", "its columns are head,n,mean_metric,mean_effect, which are no "
     "numbers of one matrix: keep the first and the one to draw, as in: cut -d, -f1,4"},
    {"name,layer,head,value\n", "its columns are name,layer,head,value, which"},
};

START_TEST(torn_tables)
{
    expect_refused(take_file("t.csv", torn[_i].table, strlen(torn[_i].table)), torn[_i].why);
}
END_TEST

/* An .npy file with such a header. */
static int take_npy(const char *descr, bool fortran, const char *shape, const void *data, size_t len)
{
    char bytes[512] = "\x93NUMPY\x01\x00v\x00";
    int at = 10 + snprintf(bytes + 10, 120, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
                           fortran ? "True" : "False", shape);
    memset(bytes + at, ' ', (size_t)(128 - at));
    memcpy(bytes + 128, data, len);
    return take_file("a.npy", bytes, 128 + len);
}

START_TEST(saved_arrays)
{
    const int64_t wide[] = {-3, 3, -2, 4, -1, 5};
    const unsigned char bytes[] = {0, 255, 1, 128};
    const double real[] = {0.5, -1e300};
    expect_numbers(take_npy("<i8", true, "(2, 3)", wide, sizeof wide), "[2, 3] -3 -2 -1 3 4 5");
    expect_numbers(take_npy("|u1", false, "(4,)", bytes, 4), "[4] 0 255 1 128");
    expect_numbers(take_npy("|i1", false, "(2, 2)", bytes, 4), "[2, 2] 0 -1 1 -128");
    expect_numbers(take_npy(">u2", false, "(1, 2)", bytes, 4), "[1, 2] 255 384");
    expect_numbers(take_npy("|b1", false, "(1, 1)", bytes + 2, 1), "[1, 1] 1");
    expect_numbers(take_npy("<f8", false, "(2,)", real, sizeof real), "[2] 0.5 -inf");
    expect_refused(take_npy("<c8", false, "(1,)", real, 8),
                                                         "holds numbers of type '<c8', expected floats ('<f2', '<f4' "
                                                         "or '<f8') or whole numbers");
    expect_refused(take_npy("<i8", false, "(9223372036854775807, 4)", real, 8), "its shape and type ask for more than");
    struct attn_array a = {0};
    char header[] = "\x93NUMPY\x01\x00\x3c\x00{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }\n\0\0\0";
    ck_assert_int_eq(attn_npy_read(&a, (unsigned char *)header, 10 + 0x3c + 4, "a.npy", &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg,
                     "a.npy: holds numbers of type '<i4', expected floats ('<f2', '<f4' or '<f8'): convert it with "
                              ".astype('float32')");
}
END_TEST

static void end(void)
{
    attn_numbers_free(&n);
    scratch_remove();
}

Suite *suite_numbers(void)
{
    Suite *s = suite_create("numbers");
    TCase *c = tcase_create("numbers");
    tcase_add_checked_fixture(c, scratch_make, end);
    tcase_add_loop_test(c, typed_numbers, 0, sizeof typed / sizeof *typed);
    tcase_add_loop_test(c, typed_nonsense, 0, sizeof refused / sizeof *refused);
    tcase_add_test(c, names_of_files);
    tcase_add_loop_test(c, tables_with_labels, 0, sizeof tables / sizeof *tables);
    tcase_add_loop_test(c, torn_tables, 0, sizeof torn / sizeof *torn);
    tcase_add_test(c, saved_arrays);
    suite_add_tcase(s, c);
    return s;
}

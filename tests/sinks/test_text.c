/* test_text.c - text output, character by character. */
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks.h"
#include "sinks/print.h"
#include "text/label.h"

static const char *word(void *ctx, int32_t id, size_t *len)
{
    static const char *const words[] = { " the", "cat", "\n", "日本", NULL, "z\xff" };
    (void)ctx;
    *len = words[id] ? strlen(words[id]) : 0;
    return words[id];
}

static void ck_page(struct sinks_setup *s, const char *page)
{
    struct attn_err err = { 0 };
    ck_assert_msg(!sinks_run("text", s, &err), "%s", err.msg);
    char *got = sinks_read(s, NULL, NULL);
    ck_assert_str_eq(got, page);
    free(got);
    sinks_teardown(s);
}

static const char three_tokens[] =
    "tokens\n"
    "index  id  token  bytes\n"
    "    0  10  Life   0-4\n"
    "    1  11  ·is    4-7\n"
    "    2  12  ↵      7-8\n";

START_TEST(patterns_and_what_comes_next)
{
    struct sinks_setup s;
    char page[2048];
    sinks_setup(&s, 3, "pattern", "1", "0,2", true);
    s.job.token_text = word;
    strcpy(page, three_tokens);
    strcat(page,
           "\n"
           "layer 1, head 0: attention pattern (rows: queries, columns: keys)\n"
           "blocks.1.attn.pattern\n"
           "        Life     ·is       ↵\n"
           "Life  1.0000  0.0000  0.0000\n"
           "·is   0.5000  0.5000  0.0000\n"
           "↵     0.3333  0.3333  0.3333\n"
           "\n"
           "layer 1, head 2: attention pattern (rows: queries, columns: keys)\n"
           "blocks.1.attn.pattern\n"
           "        Life     ·is       ↵\n"
           "Life  1.0000  0.0000  0.0000\n"
           "·is   0.5000  0.5000  0.0000\n"
           "↵     0.3333  0.3333  0.3333\n"
           "\n"
           "likeliest next tokens\n"
           "probability  id  token\n"
           "     0.1679   5  z\\xFF\n"
           "     0.1674   4\n"
           "     0.1669   3  日本\n"
           "     0.1664   2  ↵\n"
           "     0.1659   1  cat\n");
    ck_page(&s, page);
}
END_TEST

START_TEST(ids_without_text)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "scores", "0", "3", false);
    s.model.unembed = false;
    s.job.precision = 2;
    ck_page(&s, "tokens\n"
                "index  id\n"
                "    0  10\n"
                "    1  11\n"
                "\n"
                "layer 0, head 3: attention scores (rows: queries, columns: keys)\n"
                "blocks.0.attn.scores\n"
                "       10     11\n"
                "10  21.70   -inf\n"
                "11  21.69  21.69\n");
}
END_TEST

/* Beside the name, to who looks at a terminal, for which there is a limit. */
START_TEST(shapes_for_who_looks)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "scores", "0", "3", false);
    s.model.unembed = false;
    s.job.precision = 2;
    s.job.limit = 4000;
    ck_page(&s, "tokens\n"
                "index  id\n"
                "    0  10\n"
                "    1  11\n"
                "\n"
                "layer 0, head 3: attention scores (rows: queries, columns: keys)\n"
                "blocks.0.attn.scores [1, 2, 2]\n"
                "       10     11\n"
                "10  21.70   -inf\n"
                "11  21.69  21.69\n");
}
END_TEST

/* Prints labels and numbers of one matrix without a sink. */
static void ck_grid(const struct attn_grid *g, const char *want)
{
    struct attn_out *o;
    scratch_make();
    const char *path = scratch_path("grid");
    ck_assert_int_eq(attn_out_open(&o, path, NULL), 0);
    attn_print_grid(o, g);
    ck_assert_int_eq(attn_out_commit(o, NULL), 0);
    attn_out_close(o);
    scratch_expect(path, want);
    scratch_remove();
}

static struct attn_token words[] = {
    { .id = 7, .known = true, .text = "a", .text_len = 1 },
    { .id = 12, .known = true, .text = "philosopher", .text_len = 11 },
};
static struct attn_token ids[] = { { .id = 7 }, { .id = 12 } };

START_TEST(columns_are_as_wide_as_they_must_be)
{
    static const float numbers[] = { 12345.678f, 1e-9f, -INFINITY, -0.00001f };
    const struct attn_tokens known = { 2, words }, unknown = { 2, ids };
    struct attn_grid g = { .data = numbers, .rows = 2, .cols = 2, .tokens = &known, .keys = &known, .precision = 4 };
    ck_grid(&g, "                      a  philosoph…\n"       /* as wide as the widest number, not 8 */
                "a            12345.6777      0.0000\n"
                "philosopher        -inf      0.0000\n");
    g.tokens = g.keys = &unknown;
    g.precision = 0;
    ck_grid(&g, "        7     12\n"
                " 7  12346      0\n"
                "12   -inf      0\n");
}
END_TEST

/* A matrix of small numbers must not look like zeros. */
START_TEST(small_numbers_get_more_digits)
{
    static const float numbers[] = { 1.25e-6f, -4.9e-5f, 0, -INFINITY };
    const struct attn_tokens tokens = { 2, ids };
    struct attn_grid g = { .data = numbers, .rows = 2, .cols = 2, .tokens = &tokens, .precision = 4 };
    ck_grid(&g, "             0           1\n"
                " 7   0.0000012  -0.0000490\n"
                "12   0.0000000        -inf\n");
    g.precision = 5;                    /* enough digits to see one */
    ck_grid(&g, "           0         1\n"
                " 7   0.00000  -0.00005\n"
                "12   0.00000      -inf\n");
}
END_TEST

START_TEST(wide_matrices_come_in_blocks)
{
    struct sinks_setup s;
    char page[2048];
    sinks_setup(&s, 3, "context", "0", NULL, true);
    s.model.unembed = false;
    s.job.width = 34;                   /* the label and three columns take 31, four 40 */
    strcpy(page, three_tokens);
    strcat(page,
           "\n"
           "layer 0: context vectors\n"
           "blocks.0.attn.context\n"
           "columns 0-2\n"
           "            0        1        2\n"
           "Life  10.8000  10.8030  10.8060\n"
           "·is   10.7900  10.7930  10.7960\n"
           "↵     10.7800  10.7830  10.7860\n"
           "\n"
           "columns 3-5\n"
           "            3        4        5\n"
           "Life  10.8090  10.8120  10.8150\n"
           "·is   10.7990  10.8020  10.8050\n"
           "↵     10.7890  10.7920  10.7950\n"
           "\n"
           "columns 6-7\n"
           "            6        7\n"
           "Life  10.8180  10.8210\n"
           "·is   10.8080  10.8110\n"
           "↵     10.7980  10.8010\n");
    ck_page(&s, page);
}
END_TEST

START_TEST(too_much_is_summarised)
{
    struct sinks_setup s;
    sinks_setup(&s, 18, "scores,v", "1", "2,3", true);
    s.model.unembed = false;
    s.job.limit = 2 * 18 * 18 + 18 * 2 - 1;
    ck_page(&s, "tokens; · is a space\n"
                "index  id  token  bytes\n"
                "    0  10  Life   0-4\n"
                "    1  11  ·is    4-7\n"
                "    2  12  ↵      7-8\n"
                "    3  13  w3     8-10\n"
                "    4  14  w4     10-12\n"
                "    5  15  w5     12-14\n"
                "    6  16  w6     14-16\n"
                "    7  17  w7     16-18\n"
                "    8  18  w8     18-20\n"
                "    9  19  w9     20-22\n"
                "   10  20  w10    22-25\n"
                "   11  21  w11    25-28\n"
                "   12  22  w12    28-31\n"
                "   13  23  w13    31-34\n"
                "   14  24  w14    34-37\n"
                "   15  25  w15    37-40\n"
                "… 2 more (--show tokens lists them all)\n"
                "\n"
                "layer 1: values\n"
                "blocks.1.attn.v [1, 18, 2]: min 26.7300, max 26.9030, mean 26.8165\n"
                "kv head 1 begins:\n"
                "            0        1\n"
                "Life  26.9000  26.9030\n"
                "·is   26.8900  26.8930\n"
                "↵     26.8800  26.8830\n"
                "w3    26.8700  26.8730\n"
                "…\n"
                "\n"
                "layer 1: attention scores (rows: queries, columns: keys)\n"
                "blocks.1.attn.scores [2, 18, 18]: min 30.5300, max 31.7000, mean 31.1037 of 342 finite\n"
                "head 2 begins:\n"
                "         Life      ·is        ↵       w3       w4       w5\n"
                "Life  30.7000     -inf     -inf     -inf     -inf     -inf …\n"
                "·is   30.6900  30.6930     -inf     -inf     -inf     -inf …\n"
                "↵     30.6800  30.6830  30.6860     -inf     -inf     -inf …\n"
                "w3    30.6700  30.6730  30.6760  30.6790     -inf     -inf …\n"
                "…\n"
                "\n"
                "This is a summary. For every number, pipe the output or add -o FILE; for programs,\n"
                "use --format npy -o DIR or another --format.\n");
}
END_TEST

START_TEST(just_enough_is_printed)
{
    struct sinks_setup s;
    sinks_setup(&s, 18, "scores,v", "1", "2,3", true);
    s.job.limit = 2 * 18 * 18 + 18 * 2;
    ck_assert_int_eq(sinks_run("text", &s, NULL), 0);
    char *got = sinks_read(&s, NULL, NULL);
    ck_assert_ptr_null(strstr(got, "summary"));
    ck_assert_ptr_nonnull(strstr(got, "layer 1, head 3: attention scores"));
    free(got);
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_large_vocabulary_is_always_summarised)
{
    struct sinks_setup s;
    sinks_setup(&s, 3, "logits", NULL, NULL, true);
    s.model.V = 5000;
    ck_assert_int_eq(sinks_run("text", &s, NULL), 0);
    char *got = sinks_read(&s, NULL, NULL);
    ck_assert_ptr_nonnull(strstr(got, "logits [3, 5000]: min 1.1800, max 16.1970, mean"));
    ck_assert_ptr_nonnull(strstr(got, "The logits are a summary."));
    ck_assert_ptr_nonnull(strstr(got, "probability    id\n     0.0030  4999\n"));
    free(got);
    sinks_teardown(&s);
}
END_TEST

START_TEST(colour_only_when_asked)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, "pattern", "0", "0", true);
    s.model.unembed = false;
    s.job.color = true;
    ck_page(&s, "\x1b[1mtokens\x1b[0m\n"
                "\x1b[2mindex  id  token  bytes\x1b[0m\n"
                "    0  10  Life   0-4\n"
                "\n"
                "\x1b[1mlayer 0, head 0: attention pattern (rows: queries, columns: keys)\x1b[0m\n"
                "\x1b[2mblocks.0.attn.pattern\x1b[0m\n"
                "\x1b[2m        Life\x1b[0m\n"
                "\x1b[2mLife\x1b[0m  1.0000\n");
}
END_TEST

static const struct { const char *text; size_t len, max; const char *label; size_t columns; } labels[] = {
    { "", 0, 8, "", 0 },
    { "dessert", 7, 7, "dessert", 7 },
    { "desserts", 8, 7, "desser…", 7 },
    { " cat", 4, 8, "·cat", 4 },
    { "a\tb\nc", 5, 8, "a→b↵c", 5 },
    { "\x1b[31m", 5, 16, "\\x1B[31m", 8 },
    { "\0", 1, 8, "\\x00", 4 },
    { "\xff\xfe", 2, 8, "\\xFF\\xFE", 8 },
    { "\xe6\x97", 2, 8, "\\xE6\\x97", 8 },
    { "\u202Eabc", 6, 16, "\\u{202E}abc", 11 },
    { "\u00A0", 2, 8, "\\u{A0}", 6 },
    { "\u061C", 2, 8, "\\u{61C}", 7 },
    { "\U000E0041", 4, 9, "\\u{E0041}", 9 },
    { "日本語", 9, 6, "日本語", 6 },
    { "日本語", 9, 5, "日本…", 5 },
    { "日本語", 9, 4, "日…", 3 },
    { "e\u0301e\u0301e\u0301", 9, 2, "e\u0301…", 2 },
};

START_TEST(labels_are_visible_and_cut)
{
    struct attn_label l = attn_label_text(labels[_i].text, labels[_i].len, labels[_i].max);
    ck_assert_str_eq(l.text, labels[_i].label);
    ck_assert_uint_eq(l.bytes, strlen(l.text));
    ck_assert_uint_eq(l.columns, labels[_i].columns);
}
END_TEST

/* Plain characters are taken many at a time: one too many for the columns, or for the room of a label. */
START_TEST(a_label_of_plain_characters_is_cut)
{
    char text[300];
    struct attn_label l;
    memset(text, 'x', sizeof text);
    for (size_t max = 1; max < 150; max++) {
        l = attn_label_text(text, max, max);
        ck_assert(l.bytes == max && l.columns == max && !memcmp(l.text, text, max) && !l.text[max]);
        l = attn_label_text(text, max + 1, max);
        ck_assert(l.columns == max && l.bytes == max - 1 + strlen("…"));
        ck_assert(!memcmp(l.text, text, max - 1) && !strcmp(l.text + max - 1, "…"));
    }
    l = attn_label_text(text, sizeof text, SIZE_MAX);
    ck_assert(l.bytes == sizeof l.text - 1 && !strcmp(l.text + l.bytes - strlen("…"), "…"));
}
END_TEST

START_TEST(a_label_of_marks_alone_ends)
{
    char text[2 * 5000 + 1] = "e";
    for (size_t i = 0; i < 5000; i++)
        memcpy(text + 1 + 2 * i, "\u0301", 2);
    struct attn_label l = attn_label_text(text, sizeof text, 8);
    ck_assert_uint_lt(strlen(l.text), sizeof l.text);
    ck_assert_uint_eq(l.bytes, strlen(l.text));
    ck_assert_uint_eq(l.columns, 2);
}
END_TEST

START_TEST(logits_that_rank_nothing)
{
    static const float logits[][3] = {{1, NAN, 3}, {1, 2, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    static const char *const says[] = {"token 1 is nan", "token 2 is inf", "token 0 is -inf"};
    for (int i = 0; i < 3; i++) {
        struct attn_likely next[2];
        struct attn_err err = {0};
        size_t n = 2;
        ck_assert_int_eq(attn_logits_top(next, &n, 2, logits[i], 3, &err), ATTN_EFORMAT);
        ck_assert_uint_eq(n, 0);
        ck_assert_msg(strstr(err.msg, says[i]) != NULL, "%s", err.msg);
    }
    size_t n = 2;
    ck_assert_int_eq(attn_logits_top(&(struct attn_likely){0}, &n, 1, logits[0], 0, NULL), ATTN_EUSAGE);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(the_likeliest_come_first)
{
    static const float logits[] = { 1, -INFINITY, 3, 3, 0.5f, 2, 700, -700 };
    struct attn_likely next[8];
    size_t n;
    ck_assert(!attn_logits_top(next, &n, 5, logits, 6, NULL));
    static const int32_t order[] = { 2, 3, 5, 0, 4 };
    double sum = exp(1) + 2 * exp(3) + exp(0.5) + exp(2);
    ck_assert_uint_eq(n, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(next[i].id, order[i]);
        /* with or without the shift by the maximum: a few roundings of a double apart */
        ck_assert_double_eq_tol(next[i].p, exp((double)logits[order[i]]) / sum, 1e-14);
    }
    ck_assert(!attn_logits_top(next, &n, 8, logits, 8, NULL));   /* exp would overflow without the shift */
    ck_assert_int_eq(next[0].id, 6);
    ck_assert_double_eq(next[0].p, 1);
    ck_assert(!attn_logits_top(next, &n, 5, logits, 2, NULL));
    ck_assert_uint_eq(n, 2);
    ck_assert_double_eq(next[1].p, 0);
}
END_TEST

Suite *suite_text(void)
{
    Suite *s = suite_create("text");
    TCase *t = tcase_create("text");
    tcase_add_test(t, patterns_and_what_comes_next);
    tcase_add_test(t, ids_without_text);
    tcase_add_test(t, shapes_for_who_looks);
    tcase_add_test(t, columns_are_as_wide_as_they_must_be);
    tcase_add_test(t, small_numbers_get_more_digits);
    tcase_add_test(t, wide_matrices_come_in_blocks);
    tcase_add_test(t, too_much_is_summarised);
    tcase_add_test(t, just_enough_is_printed);
    tcase_add_test(t, a_large_vocabulary_is_always_summarised);
    tcase_add_test(t, colour_only_when_asked);
    tcase_add_loop_test(t, labels_are_visible_and_cut, 0, (int)(sizeof labels / sizeof labels[0]));
    tcase_add_test(t, a_label_of_plain_characters_is_cut);
    tcase_add_test(t, a_label_of_marks_alone_ends);
    tcase_add_test(t, the_likeliest_come_first);
    tcase_add_test(t, logits_that_rank_nothing);
    suite_add_tcase(s, t);
    return s;
}

/* Derivations printed in three formats, compared character by character. */
#include "suites.h"

#include "explain/article.h"
#include "explain/derivation.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make(struct attn_derivation *d)
{
    static const char *const headings[] = {"", "0", "…"};
    static const struct attn_formula formula = {"a = Σ b", "<mi>a</mi>", "a = \\sum b"};
    attn_derive_title(d, "How %s came about", "<x>");
    attn_derive_step(d, "First");
    attn_derive_words(d, "Some words that are so many that a line of forty columns cannot hold them.  And 1 < 2.");
    attn_derive_command(d, "program --sentence 'so many words that a line cannot hold them <1>'");
    attn_derive_formula(d, &formula);
    attn_derive_sum(d, attn_rounded(0.75, 2), "q[%d]", 0);
    attn_derive_term(d, ATTN_ADDEND_PRODUCT, attn_rounded(0.5, 2), attn_rounded(-1, 2));
    attn_derive_left_out(d, 7, attn_rounded(-0.25, 2));
    attn_derive_term(d, ATTN_ADDEND_QUOTIENT, attn_rounded(3, 0), attn_rounded(2, 0));
    attn_derive_sum(d, attn_rounded((double)-INFINITY, 2), "score");
    attn_derive_step(d, "Second");
    attn_derive_headings(d, headings, 3);
    attn_derive_cell(d, "日本");
    attn_derive_number(d, -0.001, 2);
    attn_derive_number(d, 10.125, 1);
    attn_derive_strong(d, 1);
    attn_derive_gap(d, 3);
    attn_derive_cell(d, "a|b");
    attn_derive_blanks(d, 2);
}

static const struct { const char *format, *page; } pages[] = {
    {"text", "How <x> came about\n"
             "\n"
             "1. First\n"
             "\n"
             "Some words that are so many that a line\n"
             "of forty columns cannot hold them. And 1\n"
             "< 2.\n"
             "\n"
             "    program --sentence 'so many words that a line cannot hold them <1>'\n"
             "\n"
             "    a = Σ b\n"
             "\n"
             "  q[0] = 0.50·(-1.00) + [… 7 more:\n"
             "    (-0.25)] + 3 / 2 = 0.75\n"
             "  score = -inf\n"
             "\n"
             "2. Second\n"
             "\n"
             "           0     …\n"
             "  日本  0.00  10.1\n"
             "  …\n"
             "  a|b\n"},
    {"md", "# How &lt;x\\> came about\n"
           "\n"
           "## 1. First\n"
           "\n"
           "Some words that are so many that a line of forty columns cannot hold them.  And 1 &lt; 2.\n"
           "\n"
           "    program --sentence 'so many words that a line cannot hold them <1>'\n"
           "\n"
           "$$a = \\sum b$$\n"
           "\n"
           "    q[0] = 0.50·(-1.00) + [… 7 more: (-0.25)] + 3 / 2 = 0.75\n"
           "    score = -inf\n"
           "\n"
           "## 2. Second\n"
           "\n"
           "|  | 0 | … |\n"
           "|:---|---:|---:|\n"
           "| 日本 | 0.00 | **10.1** |\n"
           "| … |  |  |\n"
           "| a\\|b |  |  |\n"},
    {"html", "<body>\n"
             "<h1>How &lt;x&gt; came about</h1>\n"
             "<h2>1. First</h2>\n"
             "<p>Some words that are so many that a line of forty columns cannot hold them.  And 1 &lt; 2.</p>\n"
             "<pre>program --sentence &#39;so many words that a line cannot hold them &lt;1&gt;&#39;</pre>\n"
             "<div class=\"wide\"><math display=\"block\"><mi>a</mi></math></div>\n"
             "<p class=\"sum\">q[0] = 0.50·(-1.00) + [… 7 more: (-0.25)] + 3 / 2 = 0.75</p>\n"
             "<p class=\"sum\">score = -inf</p>\n"
             "<h2>2. Second</h2>\n"
             "<div class=\"wide\"><table>\n"
             "<thead>\n"
             "<tr><th scope=\"col\"></th><th scope=\"col\">0</th><th scope=\"col\">…</th></tr>\n"
             "</thead>\n"
             "<tbody>\n"
             "<tr><th scope=\"row\">日本</th><td>0.00</td><td class=\"strong\">10.1</td></tr>\n"
             "<tr><th scope=\"row\">…</th><td></td><td></td></tr>\n"
             "<tr><th scope=\"row\">a|b</th><td></td><td></td></tr>\n"
             "</tbody>\n"
             "</table></div>\n"
             "</body>\n"
             "</html>\n"}};

static int print_in(char **text, const struct attn_derivation *d, const char *format,
                    const struct attn_derivation_style *style, struct attn_err *err)
{
    struct attn_out *o;
    size_t len;
    ck_assert_int_eq(attn_out_open_memory(&o, err), ATTN_OK);
    int rc = attn_derivation_write(o, d, format, style, err);
    if (!rc)
        ck_assert_int_eq(attn_out_take(o, text, &len, err), ATTN_OK);
    attn_out_close(o);
    return rc;
}

static int print(char **text, const struct attn_derivation *d, const char *format, struct attn_err *err)
{
    return print_in(text, d, format, &(struct attn_derivation_style){.width = 40}, err);
}

static void print_as(char **text, const struct attn_derivation *d, const char *format,
                     const struct attn_derivation_style *style)
{
    struct attn_err err = {0};
    ck_assert_msg(print_in(text, d, format, style, &err) == ATTN_OK, "%s", err.msg);
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

START_TEST(a_page_of_each_format)
{
    struct attn_derivation d = {0};
    struct attn_err err = {0};
    char *text;
    make(&d);
    ck_assert_msg(print(&text, &d, pages[_i].format, &err) == ATTN_OK, "%s", err.msg);
    const char *body = strstr(text, "<body>");
    ck_assert_str_eq(body ? body : text, pages[_i].page);
    free(text);
    attn_derivation_free(&d);
}
END_TEST

START_TEST(parts_are_numbered_in_their_step)
{
    static const char *const formats[][4] = {{"text", "1. A\n", "\n1.2 C\n", "\n2. D\n\n2.1 E\n"},
                                             {"md", "## 1. A\n", "### 1.2 C\n", "## 2. D\n\n### 2.1 E\n"},
                                             {"html", "<h2>1. A</h2>", "<h3>1.2 C</h3>",
                                              "<h2>2. D</h2>\n<h3>2.1 E</h3>"}};
    struct attn_derivation d = {0};
    struct attn_err err = {0};
    char *text;
    attn_derive_title(&d, "T");
    attn_derive_step(&d, "A");
    attn_derive_part(&d, "B");
    attn_derive_part(&d, "C");
    attn_derive_step(&d, "D");
    d.nested = true;
    attn_derive_step(&d, "E");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        ck_assert_msg(print(&text, &d, formats[i][0], &err) == ATTN_OK, "%s", err.msg);
        for (size_t k = 1; k < 4; k++)
            ck_assert_msg(strstr(text, formats[i][k]), "%s", text);
        free(text);
    }
    attn_derivation_free(&d);
}
END_TEST

/* The larger a weight, the darker; other numbers, and weights that are none, stay as they are. */
START_TEST(weights_are_in_colour)
{
    struct attn_derivation d = {0};
    const struct attn_derivation_style plain = {.width = 40}, color = {.width = 40, .color = true};
    char *page, *text, *painted;
    unsigned none, all;
    attn_derive_title(&d, "T");
    attn_derive_table(&d, 4);
    for (size_t i = 0; i < 4; i++)
        attn_derive_cell(&d, "h");
    attn_derive_weight(&d, 0, 1);
    attn_derive_weight(&d, 1, 1);
    attn_derive_weight(&d, 2, 1);
    attn_derive_number(&d, 0.5, 1);
    print_as(&page, &d, "html", &plain);
    print_as(&text, &d, "text", &plain);
    print_as(&painted, &d, "text", &color);
    ck_assert_int_eq(sscanf(strstr(page, "style=\"background:#"),
                            "style=\"background:#%x;color:#000\">0.0<", &none), 1);
    ck_assert_int_eq(sscanf(strstr(page, "<td style=\"background:#"),
                            "<td style=\"background:#%x;color:#fff\">1.0</td>", &all), 1);
    ck_assert_uint_gt(none, all);
    ck_assert_ptr_nonnull(strstr(page, "<td>2.0</td><td>0.5</td>"));
    ck_assert_ptr_nonnull(strstr(text, "  h      h    h    h\n  0.0  1.0  2.0  0.5\n"));
    ck_assert_ptr_nonnull(strstr(painted, "\033[48;5;231m\033[38;5;16m 0.0"));
    ck_assert_ptr_nonnull(strstr(painted, "\033[38;5;231m 1.0\033[0m  2.0  0.5\n"));
    free(page);
    free(text);
    free(painted);
    attn_derivation_free(&d);
}
END_TEST

/* Shapes and numbers of all stages; of a row of five, what fits. */
START_TEST(a_diagram_has_every_stage)
{
    static const float x[] = {1, 2, 3, 4, 5};
    static const char *const shown[] = {"x [5,5]", "y [7,5]", "q [5,2]", "dots [5,3]", "1.0000 2.0000 3.0000",
                                        "1.0000 2.0000 …", "softmax", "1.0000 2.0000 3.0000 …"};
    const struct attn_stage_array way[ATTN_STAGES] = {
        {"x", NULL, 5, 5, x, NULL, 4}, {"y", NULL, 7, 5, x, NULL, 4}, {"q", "·W_q", 5, 2, x, NULL, 4},
        {"k", "·W_k", 7, 2, x, NULL, 4},
        {"v", "·W_v", 7, 2, x, NULL, 4}, {"dots", "q·k", 5, 3, x, NULL, 4}, {"scores", "/ 2", 5, 5, x, NULL, 4},
        {"weights", "softmax", 5, 5, x, NULL, 4}, {"context", "Σ", 5, 2, x, NULL, 4}};
    for (size_t i = 0; i < 3; i++) {
        struct attn_derivation d = {0};
        struct attn_err err = {0};
        char *text;
        attn_derive_title(&d, "T");
        attn_derive_diagram(&d, way);
        ck_assert_msg(print(&text, &d, pages[i].format, &err) == ATTN_OK, "%s", err.msg);
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            ck_assert_msg(strstr(text, shown[k]), "no %s in\n%s", shown[k], text);
        ck_assert_uint_eq(count_of(text, i < 2 ? "┌─" : "<rect"), i < 2 ? 10 : ATTN_STAGES);
        free(text);
        attn_derivation_free(&d);
    }
}
END_TEST

/* Chinese has no blanks to break lines at; marks stay where they belong. */
START_TEST(chinese_is_wrapped_too)
{
    static const char words[] = "得分经过softmax变成权重，每一行的和都是1。看得见的词元（包括它自己）越相似，得到的权重就越大；其余的几乎为零。";
    struct attn_derivation d = {0};
    const struct attn_derivation_style narrow = {.width = 21};
    char *text, joined[sizeof words + 1] = "";
    attn_derive_title(&d, "T");
    attn_derive_words(&d, "%s", words);
    print_as(&text, &d, "text", &narrow);
    for (char *save, *line = strtok_r(text + 3, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        ck_assert_uint_le(attn_utf8_width(line, strlen(line)), 21);
        ck_assert(strncmp(line, "，", 3) && strncmp(line, "。", 3) && strncmp(line, "）", 3));
        strcat(joined, line);
    }
    ck_assert_str_eq(joined, words);
    free(text);
    attn_derivation_free(&d);
}
END_TEST

START_TEST(what_is_printed_is_compared)
{
    static const float x[] = {1, 2.004f, 3, 4};
    static const struct { size_t rows, cols; const char *digits, *says; } printed_as[] = {
        {2, 2, "1.00 2.00 3 4", "Printed: x, 4 numbers. The numbers here\nare the same, digit by digit.\n"},
        {2, 2, "1.00 2.01 3 4", "Printed: x, 4 numbers, of which 1 differ\nfrom those here (*):\n"},
        {1, 4, "1.00 2.01 5 4", "2 of 4 differ.\n"},
        {1, 1, "1.01", "Printed: x: 1.01. Here it is 1.00.\n"},
    };
    for (size_t i = 0; i < sizeof printed_as / sizeof *printed_as; i++) {
        struct attn_lesson r = {0};
        struct attn_err err = {0};
        char *text;
        attn_derive_title(&r.e.d, "T");
        attn_lesson_printed(&r, "x", x, printed_as[i].rows, printed_as[i].cols, printed_as[i].digits);
        ck_assert_msg(print(&text, &r.e.d, "text", &err) == ATTN_OK, "%s", err.msg);
        ck_assert_msg(strstr(text, printed_as[i].says), "%s", text);
        free(text);
        attn_derivation_free(&r.e.d);
    }
}
END_TEST

/* A table of one column has rows like any other. */
START_TEST(a_table_of_one_column)
{
    static const char *const headings[] = {"key"};
    static const struct { const char *format, *page; } lists[] = {
        {"text", "T\n\n  key\n  a\n  b\n"},
        {"md", "# T\n\n| key |\n|:---|\n| a |\n| b |\n"},
    };
    struct attn_derivation d = {0};
    struct attn_err err = {0};
    char *text;
    attn_derive_title(&d, "T");
    attn_derive_headings(&d, headings, 1);
    attn_derive_cell(&d, "a");
    attn_derive_cell(&d, "b");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        ck_assert_msg(print(&text, &d, lists[i].format, &err) == ATTN_OK, "%s", err.msg);
        ck_assert_str_eq(text, lists[i].page);
        free(text);
    }
    attn_derivation_free(&d);
}
END_TEST

START_TEST(a_failure_sticks)
{
    struct attn_derivation d = {0};
    struct attn_err err = {0};
    char *text;
    make(&d);
    ck_assert_int_eq(print(&text, &d, "rtf", &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "'rtf'"));
    size_t parts = d.n;
    d.failed = true;
    make(&d);
    ck_assert_uint_eq(d.n, parts);
    ck_assert_int_eq(print(&text, &d, "text", &err), ATTN_ENOMEM);
    attn_derivation_free(&d);
}
END_TEST

Suite *suite_derivation(void)
{
    Suite *s = suite_create("derivation");
    TCase *c = tcase_create("derivation");
    tcase_add_loop_test(c, a_page_of_each_format, 0, sizeof pages / sizeof *pages);
    tcase_add_test(c, parts_are_numbered_in_their_step);
    tcase_add_test(c, weights_are_in_colour);
    tcase_add_test(c, a_diagram_has_every_stage);
    tcase_add_test(c, chinese_is_wrapped_too);
    tcase_add_test(c, what_is_printed_is_compared);
    tcase_add_test(c, a_table_of_one_column);
    tcase_add_test(c, a_failure_sticks);
    suite_add_tcase(s, c);
    return s;
}

/* Worksheets: results of a derivation are left out, and pencil arithmetic on what is printed gives them. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHEET "\"$A\" lesson -q -m life -s 'Life is short, eat dessert first' --query eat --key is --blank 6 --seed 4 "

/* ---- arithmetic as people do it ---- */

/* A term "0.2232·(-0.2944)", "1.0000 / 3.0844" or "(-0.5)"; *at moves behind it. */
static double operand(const char **at)
{
    bool bracket = **at == '(';
    char *end;
    double x = strtod(*at + bracket, &end);
    ck_assert_msg(end != *at + bracket, "no number: %.40s", *at);
    *at = end + bracket;
    return x;
}

static double evaluate(const char *sum)
{
    double total = 0;
    for (const char *at = sum;; at += 3) {
        double x = operand(&at);
        if (!strncmp(at, "·", strlen("·"))) {
            at += strlen("·");
            x *= operand(&at);
        } else if (!strncmp(at, " / ", 3)) {
            at += 3;
            x /= operand(&at);
        }
        total += x;
        if (strncmp(at, " + ", 3) != 0) {
            ck_assert_msg(!strncmp(at, " = ", 3), "after a term: %.40s", at);
            return total;
        }
    }
}

/* The answers of a line in Markdown, where nothing is wrapped: "    q[0] = ... = -0.1037 (1)". */
static const char *const texts[] = {
    "-m life -s 'Life is short, eat dessert first' --query eat --key is",
    "-m tiny -s 'Life is short, eat dessert first' --layer 2",
    "-m models/stacked -s 'The cat sees the moth' --layer 1 --head 2 --all",
    "-m life -s 'Life is short' --scale none --attention window:2",
    "-m life -s 'Life is short' --precision 2", "-m life -s 'Life is short' --attention linear",
    "-m life -s 'Life is short' --dropout 0.5",
};

START_TEST(printed_terms_give_the_answers)
{
    const struct said *s = succeed(printed("\"$A\" lesson -q %s --blank 1000 --format md 2>&1 || true", texts[_i]));
    char *most = strstr(s->text, "leave out, and ");
    ck_assert_msg(most, "%s", s->text);
    size_t n = strtoul(most + strlen("leave out, and "), NULL, 10), found = 0;
    ck_assert_uint_ge(n, 3);
    for (const char *line = succeed(printed("\"$A\" lesson -q %s --blank %zu --answers --format md", texts[_i],
                                            n))->text; *line;
         line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        const char *first = strstr(line, " = "), *mark = len && line[len - 1] == ')' ? memrchr(line, '(', len) : NULL;
        if (strncmp(line, "    ", 4) != 0 || !first || first > line + len || !mark || mark[-1] != ' ' ||
            strtoul(mark + 1, NULL, 10) != found + 1)
            continue;
        found++;
        const char *answer = mark - 1;
        while (answer[-1] != ' ')
            answer--;
        const char *point = memchr(answer, '.', (size_t)(mark - answer));
        int digits = point ? (int)(mark - 1 - point - 1) : 0;
        ck_assert_msg(fabs(evaluate(first + 3) - strtod(answer, NULL)) <= 0.5000001 * pow(10, -digits),
                      "%.*s", (int)len, line);
    }
    ck_assert_uint_eq(found, n);
}
END_TEST

/* ---- what is left out ---- */

/* A sheet tells no answer, not even further down; it is the filled one but for the gaps. */
START_TEST(answers_are_nowhere_on_the_sheet)
{
    succeed(SHEET "--format md >$D/sheet.md && " SHEET "--format md --answers >$D/answers.md");
    expect_exactly("grep -o '____' $D/sheet.md | wc -l | tr -d ' '", "12\n");      /* six gaps of ten */
    expect_exactly("grep -cE ' = [-0-9.]+ .[1-6].$' $D/answers.md", "6\n");
    succeed("sed -nE 's/^.* = ([-0-9.]+) .[1-6].$/\\1/p' $D/answers.md >$D/x && test -s $D/x");
    expect("ends 1 grep -wFf $D/x $D/sheet.md && echo none", 0, "none");
    expect_exactly("wc -l <$D/sheet.md | tr -d ' '; { diff $D/sheet.md $D/answers.md || true; } | grep -c '^<' | "
                   "xargs test 6 -le && echo more",
                   printed("%smore\n", succeed("wc -l <$D/answers.md | tr -d ' '")->text));
}
END_TEST

/* A shade would tell the answer: a reference to a gap has none, while other weights of the table do. */
START_TEST(no_colour_tells_an_answer)
{
    succeed(SHEET "--blank 10 --format html -o $D/x.html");
    expect_exactly("grep -c 'color:#[0-9a-f]*\">(' $D/x.html || true", "0\n");
    succeed("grep -q '>([0-9]*)</td>' $D/x.html && grep -q 'color:#[0-9a-f]*\">[0-9]' $D/x.html");
}
END_TEST

/* What is to be written stands with its gap, whatever the language. */
START_TEST(a_gap_stands_on_one_line)
{
    expect_exactly(SHEET "| grep -cE '____.*[(][1-6]:.*decimals?[)]$'", "6\n");
    expect_exactly(SHEET "--format html | grep -c '<span class=\"gap\"><input .*decimals\\?)</span></p>$'", "6\n");
    expect_exactly(SHEET "--lang zh | grep -cE '____（空 [1-6]，[1-4] 位小数）$'", "6\n");
}
END_TEST

/* No gap needs itself, or a number that is nowhere: not where a weight is 1, or a row as it was put in. */
START_TEST(no_gap_needs_itself)
{
    static const char *const some[] = {"-m journey -s 'Your journey starts with one step' --blank 3",
                                       "-m life -s 'Life is short' --query 0 --blank 5",
                                       "-m models/stacked -s 'a b' --dropout 0.3 --blank 6",
                                       "-m life -s Life --blank 4"};
    expect_exactly(printed("for s in 0 1 2 3 4 5 6 7; do \"$A\" lesson -q %s --seed $s --format md 2>/dev/null; "
                           "done >$D/all; grep -c ____ $D/all | xargs test 8 -le;"
                           "ends 1 grep -E '[(]([0-9]+)[)].*____.*[(]\\1:' $D/all", some[_i]), "");
}
END_TEST

/* The command that prints the numbers of a sheet has no use for the sheet's seed, but for that of dropout. */
START_TEST(the_seed_is_the_sheets)
{
    expect_exactly(SHEET "| grep -c -e --seed || true", "0\n");
    expect_exactly(SHEET "--dropout 0.5 | grep -c -e '--seed 4'", "1\n");
}
END_TEST

START_TEST(seeds_choose_the_gaps)
{
    expect_same(SHEET, SHEET);
    ck_assert_str_eq(succeed(SHEET " >$D/a; for s in 1 2 3; do " SHEET
                             "--seed $s >$D/b; cmp -s $D/a $D/b || echo other; done | sort -u")->text,
                     "other\n");
    expect("\"$A\" lesson -m life -s 'Life is' --blank 1 -o $D/x.html && cat $D/x.html", 0,
           "data-within=\"0.0001001\"> <output></output> (1: 4 decimals)");
}
END_TEST

/* ---- the page ---- */

START_TEST(a_page_checks_what_is_typed)
{
    succeed(SHEET "-o $D/sheet.html && " SHEET "--answers -o $D/answers.html && " SHEET
            "--answers --format md >$D/answers.md");
    expect_exactly("grep -o '<input' $D/sheet.html | wc -l | tr -d ' '; "
                   "grep -c \"script-src 'unsafe-inline'\" $D/sheet.html", "6\n1\n");
    expect_exactly("grep -c '<input\\|<script\\|script-src' $D/answers.html || true", "0\n");
    expect_same("grep -o 'data-x=\"[^\"]*' $D/sheet.html | cut -c9-",
                "sed -nE 's/^.* = ([-0-9.]+) .[1-6].$/\\1/p' $D/answers.md");
    expect_exactly("\"$A\" explain -q -m life -s 'Life is' --format html | grep -c '<script\\|script-src' || true",
                   "0\n");
}
END_TEST

/* ---- on paper ---- */

/* The table at the end finds each object; returns how many pages there are. */
static size_t ck_pdf(const char *path)
{
    size_t at, n, pages = 0;
    FILE *f = fopen(scratch_path(path), "rb");
    ck_assert(f && !fseek(f, 0, SEEK_END));
    size_t len = (size_t)ftell(f);
    char *pdf = calloc(1, len + 1);
    rewind(f);
    ck_assert(pdf && fread(pdf, 1, len, f) == len && !fclose(f));
    char *start = memmem(pdf + len - 64, 64, "startxref\n", 10);
    ck_assert(start && !memcmp(pdf + len - 6, "%%EOF\n", 6) && !memcmp(pdf, "%PDF-1.4\n", 9));
    at = strtoul(start + 10, NULL, 10);
    ck_assert(at < len && sscanf(pdf + at, "xref 0 %zu", &n) == 1 && n > 8);
    const char *row = memmem(pdf + at, len - at, "65535 f \n", 9);
    ck_assert_ptr_nonnull(row);
    row += 9;
    for (size_t i = 1; i < n; i++, row += 20) {
        size_t begins = strtoul(row, NULL, 10), number = 0;
        ck_assert(begins < at && sscanf(pdf + begins, "%zu 0 obj", &number) == 1 && number == i);
        pages += !memcmp(strchr(pdf + begins, '\n'), "\n<</Type/Page/", 14);
    }
    const char *kids = memmem(pdf, len, "/Count ", 7);
    ck_assert(kids && strtoul(kids + 7, NULL, 10) == pages);
    free(pdf);
    return pages;
}

#define PAPER "$PYTHON -B tests/support/pdf_text.py"

START_TEST(a_sheet_is_printed_on_pages)
{
    succeed(SHEET "-o $D/a.pdf && " SHEET "--format pdf | cmp - $D/a.pdf && " SHEET "--answers -o $D/b.pdf");
    ck_assert_uint_ge(ck_pdf("a.pdf"), 2);
    ck_assert_uint_ge(ck_pdf("b.pdf"), 2);
    expect_exactly(PAPER " $D/a.pdf | grep -c __________", "6\n");
    expect_exactly(PAPER " $D/b.pdf | grep -c __________ || true", "0\n");
    expect(PAPER " $D/a.pdf | sed -n 1,3p", 0,
           "How \"eat\" (token 3) attends to \"is\" (token 1)\nA worksheet: compute");
    expect(PAPER " $D/a.pdf", 0, printed("page 1 of %zu\n", ck_pdf("a.pdf")));
    expect_exactly(printed("%s 2>&1", SHEET "--answers --format pdf | grep -a -c -m 1 ' 2 Tr '"), "1\n");
}
END_TEST

/* Letters that no standard font has are drawn; what PDF could take for its own is escaped; no line leaves the page. */
START_TEST(any_text_is_printed)
{
    succeed("\"$A\" explain -m tiny -s 'Lily (lost) her \\ 日本 é \u0301 ball' --all -o $D/x.pdf");
    ck_assert_uint_ge(ck_pdf("x.pdf"), 3);
    succeed("\"$A\" explain -m tiny -s \"$(head -c 200 README.md)\" -o $D/y.pdf; "
            "\"$A\" lesson life -o $D/z.pdf");
    ck_assert_uint_ge(ck_pdf("y.pdf"), 3);
    ck_assert_uint_ge(ck_pdf("z.pdf"), 2);
    if (has_program("pdftotext", "poppler-utils"))
        for (const char *const *f = (const char *const[]){"x", "y", "z", NULL}; *f; f++)
            expect_exactly(printed("pdftotext -bbox $D/%s.pdf - 2>&1 | awk -F'\"' '/<word/ && ($2 < 50 || $6 > 546 || "
                                   "$4 < 50 || $8 > 800)'", *f), "");
    if (!no_terminal())
        on_terminal("\"$A\" explain -s Life --format pdf", 2);
}
END_TEST

Suite *suite_worksheet(void)
{
    Suite *s = suite_create("worksheet");
    TCase *t = tcase_create("worksheet");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, printed_terms_give_the_answers, 0, sizeof texts / sizeof *texts);
    tcase_add_test(t, answers_are_nowhere_on_the_sheet);
    tcase_add_test(t, a_gap_stands_on_one_line);
    tcase_add_test(t, no_colour_tells_an_answer);
    tcase_add_test(t, seeds_choose_the_gaps);
    tcase_add_test(t, the_seed_is_the_sheets);
    tcase_add_loop_test(t, no_gap_needs_itself, 0, 4);
    tcase_add_test(t, a_page_checks_what_is_typed);
    tcase_add_test(t, a_sheet_is_printed_on_pages);
    tcase_add_test(t, any_text_is_printed);
    suite_add_tcase(s, t);
    return s;
}

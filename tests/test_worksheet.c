/* Worksheets: results of a derivation are left out, and pencil arithmetic on what is printed gives them. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHEET "\"$A\" explain -q -m life -s 'Life is short, eat dessert first' --query eat --key is --blank 6 --seed 4 "

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
    "-m life -s 'Life is short, eat dessert first' --query eat --key is", "-m tiny -s 'Life is short, eat dessert first' --layer 2",
    "-m models/stacked -s 'The cat sees the moth' --layer 1 --head 2 --all", "-m life -s 'Life is short' --scale none --attention window:2",
    "-m life -s 'Life is short' --precision 2", "-m life -s 'Life is short' --attention linear", "-m life -s 'Life is short' --dropout 0.5",
};

START_TEST(printed_terms_give_the_answers)
{
    const struct said *s = succeed(printed("\"$A\" explain -q %s --blank 1000 --format md 2>&1 || true", texts[_i]));
    char *most = strstr(s->text, "leave out, and ");
    ck_assert_msg(most, "%s", s->text);
    size_t n = strtoul(most + strlen("leave out, and "), NULL, 10), found = 0;
    ck_assert_uint_ge(n, 3);
    for (const char *line = succeed(printed("\"$A\" explain -q %s --blank %zu --answers --format md", texts[_i], n))->text; *line;
         line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        const char *first = strstr(line, " = "), *mark = len && line[len - 1] == ')' ? memrchr(line, '(', len) : NULL;
        if (strncmp(line, "    ", 4) != 0 || !first || first > line + len || !mark || mark[-1] != ' ' || strtoul(mark + 1, NULL, 10) != found + 1)
            continue;
        found++;
        const char *answer = mark - 1;
        while (answer[-1] != ' ')
            answer--;
        const char *point = memchr(answer, '.', (size_t)(mark - answer));
        int digits = point ? (int)(mark - 1 - point - 1) : 0;
        ck_assert_msg(fabs(evaluate(first + 3) - strtod(answer, NULL)) <= 0.5000001 * pow(10, -digits), "%.*s", (int)len, line);
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
    expect_exactly("wc -l <$D/sheet.md | tr -d ' '; { diff $D/sheet.md $D/answers.md || true; } | grep -c '^<' | xargs test 6 -le && echo more",
                   printed("%smore\n", succeed("wc -l <$D/answers.md | tr -d ' '")->text));
}
END_TEST

START_TEST(seeds_choose_the_gaps)
{
    expect_same(SHEET, SHEET);
    ck_assert_str_eq(succeed(SHEET " >$D/a; for s in 1 2 3; do " SHEET "--seed $s >$D/b; cmp -s $D/a $D/b || echo other; done | sort -u")->text,
                     "other\n");
    expect("\"$A\" explain -m life -s 'Life is' --answers 2>&1", 2, "--answers fills in a worksheet: give --blank N");
    expect("\"$A\" explain -m life -s 'Life is' --blank 99 2>&1", 2, "99 numbers to leave out, and 10 of this derivation can be computed");
    expect("\"$A\" explain -m life -s 'Life is' --blank 0 2>&1", 2, "--blank: 0 is not in 1..1000");
}
END_TEST

/* ---- the page ---- */

START_TEST(a_page_checks_what_is_typed)
{
    succeed(SHEET "-o $D/sheet.html && " SHEET "--answers -o $D/answers.html && " SHEET "--answers --format md >$D/answers.md");
    expect_exactly("grep -o '<input' $D/sheet.html | wc -l | tr -d ' '; grep -c \"script-src 'unsafe-inline'\" $D/sheet.html", "6\n1\n");
    expect_exactly("grep -c '<input\\|<script\\|script-src' $D/answers.html || true", "0\n");
    expect_same("grep -o 'data-x=\"[^\"]*' $D/sheet.html | cut -c9-", "sed -nE 's/^.* = ([-0-9.]+) .[1-6].$/\\1/p' $D/answers.md");
    expect_exactly("\"$A\" explain -q -m life -s 'Life is' --format html | grep -c '<script\\|script-src' || true", "0\n");
}
END_TEST

Suite *suite_worksheet(void)
{
    Suite *s = suite_create("worksheet");
    TCase *t = tcase_create("worksheet");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, printed_terms_give_the_answers, 0, sizeof texts / sizeof *texts);
    tcase_add_test(t, answers_are_nowhere_on_the_sheet);
    tcase_add_test(t, seeds_choose_the_gaps);
    tcase_add_test(t, a_page_checks_what_is_typed);
    suite_add_tcase(s, t);
    return s;
}

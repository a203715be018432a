/* What a person at a terminal sees of long reports and long messages.  The terminal has 24 lines of 60 columns. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The pager marks what it is given. */
#define MARKED "ATTN_PAGER=\"sed 's/^/P /'\" "

/* Whether `line` goes through the pager on a terminal. */
static bool is_paged(const char *line)
{
    const char *shown = on_terminal(line, 0);
    ck_assert_msg(*shown != '\0', "%s\nshows nothing", line);
    return !strncmp(shown, "P ", 2);
}

static const struct { const char *line; bool paged; } cases[] = {
    {MARKED "\"$A\" help run", true},
    {MARKED "\"$A\" run --help", true},
    {MARKED "\"$A\" help all", true},
    {MARKED "PAGER=cat \"$A\" help run", true},
    {"PAGER=\"sed 's/^/P /'\"; unset ATTN_PAGER; export PAGER; \"$A\" help run", true},
    {MARKED "\"$A\" explain -s 'Life is short'", true},
    {MARKED "\"$A\" run -s 'Life is short, eat dessert first' --show '*'", true},
    {MARKED "\"$A\" models --format names", false},                             /* it fits */
    {MARKED "\"$A\" run -m tiny -s 'Lily lost her red ball'", false},           /* the first look is made to fit */
    {"stty cols 60 rows 9; " MARKED "\"$A\" diff life life", false},
    /* long lines take several of the screen */
    {"stty cols 10 rows 9; " MARKED "\"$A\" diff life life", true},
    {MARKED "\"$A\" help run --no-pager", false},
    {MARKED "\"$A\" help run | cat", false},
    {MARKED "\"$A\" run -s Life --show '*' --format json", false},
    {"ATTN_PAGER=cat PAGER=\"sed 's/^/P /'\" \"$A\" help run", false},
    {"ATTN_PAGER=' ' PAGER=\"sed 's/^/P /'\" \"$A\" help run", false},
    {"unset ATTN_PAGER; PAGER= \"$A\" help run", false},
    {"unset ATTN_PAGER PAGER; TERM=dumb \"$A\" help run", false},
    {"mkdir $D/bin; printf '#!/bin/sh\\nsed \"s/^/P $LESS /\"\\n' >$D/bin/less; chmod +x $D/bin/less; "
     "unset ATTN_PAGER PAGER; "
     "TERM=xterm PATH=$D/bin:$PATH \"$A\" help run", true},
};

START_TEST(long_reports_are_paged)
{
    if (!no_terminal())
        ck_assert_msg(is_paged(cases[_i].line) == cases[_i].paged,
                      "%s\nis %spaged", cases[_i].line, cases[_i].paged ? "not " : "");
}
END_TEST

START_TEST(less_gets_its_options_unless_they_are_set)
{
    if (no_terminal())
        return;
    ck_assert_str_eq(on_terminal("unset LESS; ATTN_PAGER='echo $LESS' \"$A\" help run", 0), "FRX\r\n");
    ck_assert_str_eq(on_terminal("export LESS=i; ATTN_PAGER='echo $LESS' \"$A\" help run", 0), "i\r\n");
}
END_TEST

/* All of the text arrives, as wide and as coloured as without a pager. */
START_TEST(the_text_is_the_same)
{
    static const char *const lines[] = {"help run", "run -s 'Life is short, eat dessert first' --show '*'",
                                        "heads -m tiny -s 'Lily lost her'"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !no_terminal(); i++) {
        char *plain = strdup(on_terminal(printed("TERM=xterm \"$A\" %s", lines[i]), 0));
        ck_assert_str_eq(on_terminal(printed("TERM=xterm ATTN_PAGER='cat -' \"$A\" %s", lines[i]), 0), plain);
        free(plain);
    }
}
END_TEST

/* A pager that is missing, ends early, fails or is ended changes neither the status nor, if it showed nothing,
 * what is seen. */
START_TEST(a_pager_that_fails_changes_nothing)
{
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("ATTN_PAGER=/no/such/pager \"$A\" help run", 0), "\r\n  tokens       "));
    ck_assert_str_eq(on_terminal("ATTN_PAGER='head -n 1' \"$A\" help info", 0),
                     "attn-cli info - describe a model: family, sizes, choices, digest, tensors\r\n");
    ck_assert_str_eq(on_terminal("ATTN_PAGER=false \"$A\" help run", 0), "");
    ck_assert_str_eq(on_terminal("ATTN_PAGER=true \"$A\" diff --all -m tiny --with tiny --ablate L0H1 -s 'Lily "
                                 "lost her'", 1), "");
    ck_assert_str_eq(on_terminal("exec 2>/dev/null; ATTN_PAGER='exec sleep 30' \"$A\" help run & sleep 0.5; kill $!; "
                                 "r=0; wait $! || r=$?; "
                                 "exit $r", 143), "");
}
END_TEST

/* A note stands where it was said, between what is printed before and after it. */
START_TEST(notes_keep_their_place)
{
    if (no_terminal())
        return;
    const char *shown =
        on_terminal("printf 'Life\\r\\n%.0s' $(seq 40) >$D/two; " MARKED "\"$A\" tokenize -m tiny -f $D/two", 0);
    const char *note = strstr(shown, "P /"), *table = strstr(shown, "P index");
    ck_assert_msg(note && table && note < table, "%.999s", shown);
    shown = on_terminal(MARKED "\"$A\" tokenize -m tiny -f $D/two 2>$D/said; cat $D/said", 0);
    ck_assert_msg(!strstr(shown, "P /") && strstr(shown, "\r\n/"), "%.999s", shown);
}
END_TEST

/* ---- what would steer the terminal ---- */

#define STEERING "\033]0;x\007 \033[2J \302\23331m \u202eabc \177z"

/* Commands that print texts of the vocabulary in formats for programs: $M, a model of such words and a text of them. */
#define PROGRAMS \
    "\"$A\" run $M --format tidy --show pattern; \"$A\" run $M --format csv --show pattern; " \
    "\"$A\" run $M --format csv --show tokens; " \
    "\"$A\" run $M --format json --show pattern; \"$A\" run $M --format svg --show pattern; " \
    "\"$A\" generate $M --format json; " \
    "\"$A\" lens $M --format csv; \"$A\" lens $M --format json; \"$A\" score $M --format json; " \
    "\"$A\" tokenize $M --format json; " \
    "\"$A\" batch $M --format tidy --show pattern; \"$A\" batch $M --format ndjson --show pattern; " \
    "\"$A\" batch $M --format summary; \"$A\" vocab -f $D/t"

static bool is_steering(uint32_t c) { return attn_utf8_steers(c) && c != '\n' && c != '\r' && c != '\t'; }

/* On a terminal none is obeyed, with a pager or without; in a pipe all is as it was. */
START_TEST(formats_for_programs_do_not_steer_the_terminal)
{
    static const char *const pagers[] = {"", "cat -"};
    size_t step, n = 0;
    if (no_terminal())
        return;
    succeed("printf '" STEERING
            "' >$D/t; \"$A\" vocab -q -f $D/t -o $D/v.json; \"$A\" init -q -o $D/m --vocab $D/v.json "
            "--n-layer 1 --n-head 1 --d-model 2 --n-ctx 9 --unembed true --residual true --output-projection true");
    const char *shown =
        on_terminal(printed("export ATTN_PAGER='%s' M=\"-m $D/m -f $D/t -q\"; " PROGRAMS, pagers[_i]), 0);
    for (size_t i = 0, len = strlen(shown); i < len; i += step)
        ck_assert_msg(!is_steering(attn_utf8_next(shown + i, len - i, &step)), "obeys %.60s", shown + i);
    for (const char *at = shown; (at = strstr(at, "]0;x")); at++)
        n++;
    ck_assert_uint_ge(n, 13);           /* the summary has the likeliest next word alone */
}
END_TEST

START_TEST(programs_get_what_they_got)
{
    expect_exactly("printf '" STEERING
                   "' >$D/t; \"$A\" vocab -q -f $D/t -o $D/v.json; \"$A\" init -q -o $D/m --vocab $D/v.json "
                   "--n-layer 1 --n-head 1 --d-model 2 --n-ctx 9; "
                   "\"$A\" run -m $D/m -f $D/t --format csv --show tokens",
                   "index,id,text,start,end\n0,1,\033]0;x\007,0,6\n1,0,\033[2J,7,11\n2,3,\302\23331m,12,17\n"
                   "3,4,\u202eabc,18,24\n"
                   "4,2,\177z,25,27\n");
    expect_exactly("\"$A\" tokenize -m $D/m -f $D/t --format json | jq -rj .text | cmp - $D/t && echo same", "same\n");
}
END_TEST

/* ---- messages ---- */

static const char *const messages[] = {
    "run -s Life --format nonsense", "run --ids 0,1,9999", "info -m '目録 目録目録 目録目録目録 目録 目録目録目録目録 目録目録目録'",
    "run -s Life --edit 'L0H7 = 0'",
    "info -m \"$(printf 'e\\u0301e\\u0301 e\\u0301e\\u0301e\\u0301e\\u0301e\\u0301 %.0s' 1 2 3 4)\"",
};

/* What a terminal shows, with lines that go on joined again, is what a pipe gets; each line fits if its words do. */
START_TEST(messages_wrap_between_words)
{
    if (no_terminal())
        return;
    int status = sh(printed("\"$A\" %s 2>&1", messages[_i]))->status;
    char *piped = strdup(sh(printed("\"$A\" %s 2>&1", messages[_i]))->text),
        *shown = strdup(on_terminal(printed("\"$A\" %s", messages[_i]), status));
    char *to = piped;
    size_t lines = 0;
    for (char *line = shown, *end; (end = strstr(line, "\r\n")); line = end + 2, lines++) {
        size_t len = (size_t)(end - line), gone = lines && !strncmp(line, "  ", 2) ? 2 : 0;
        ck_assert_msg(attn_utf8_width(line, len) <= 60 || !memchr(line + gone, ' ', len - gone), "%s", shown);
        if (lines)
            ck_assert_msg(*to++ == (gone ? ' ' : '\n'), "%s%s", shown, piped);
        ck_assert_msg(!strncmp(to, line + gone, len - gone), "%s%s", shown, piped);
        to += len - gone;
    }
    ck_assert_str_eq(to, "\n");
    ck_assert_uint_ge(lines, 2);
    free(piped);
    free(shown);
}
END_TEST

Suite *suite_pager(void)
{
    Suite *s = suite_create("pager");
    TCase *t = tcase_create("pager");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, long_reports_are_paged, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, less_gets_its_options_unless_they_are_set);
    tcase_add_test(t, the_text_is_the_same);
    tcase_add_test(t, a_pager_that_fails_changes_nothing);
    tcase_add_test(t, notes_keep_their_place);
    tcase_add_loop_test(t, formats_for_programs_do_not_steer_the_terminal, 0, 2);
    tcase_add_test(t, programs_get_what_they_got);
    tcase_add_loop_test(t, messages_wrap_between_words, 0, sizeof messages / sizeof *messages);
    suite_add_tcase(s, t);
    return s;
}

/* test_shell.c - a line that is started without bash means what it means in bash.  Here the program under test is
 * printf, which shows its words. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

static void set_up(void)
{
    shell_set_up();
    setenv("A", "/usr/bin/printf", 1);
}

static const char *const lines[] = {
    "$A '<%s>' one two", "\"$A\" \"<%s>\" '' \"\" a", "$A '<%s>'  x   'a  b'\"c d\"e", "$A '<%s>' $D/x \"$D\" '$D'",
    "$A '<%s>' \"it's\" 'a\"b' \"*\" '?'",
    "$A '<%s>' a*b", "$A '<%s>' {a,b}", "$A '<%s>' a\\ b", "$A '<%s>' \"a\\\"b\" \"`echo c`\"",
    "$A '<%s>' $(echo a) $UNSET_HERE \"$UNSET_HERE\"",
    "$A '<%s>' ~ '~'", "$A '<%s>' x; echo y", "$A '<%s>' x | cat", "$A '<%s>' x && false", "$A '<%s>' é \"東\" 'ß'",
    "$A '<%s>' 'two\nlines'",
    "$A '<%s>' x 2>&1", "$A '<%s>' x >/dev/null", "$A '<%s>' x 2>/dev/null </dev/null", "$A '%d' x 2>&1 >/dev/null",
    "$A '%d' x >/dev/null 2>&1",
    "$A x >/dev/full 2>&1", "ends 1 $A x >/dev/full 2>/dev/null", "ends 1 $A x", "$A '<%s>' \"unclosed", "$A '<%s>' #x",
    "$A '<%s>' x#y",
};

START_TEST(without_bash_as_with_it)
{
    static struct said with;
    memcpy(&with, sh(printed("{ %s\n}", lines[_i])), sizeof with);     /* braces need bash */
    const struct said *s = sh(lines[_i]);
    ck_assert_msg(s->status == with.status && s->len == with.len && !memcmp(s->text, with.text, s->len),
                  "%s\nends with %d and says\n%s\nand in bash with %d\n%s", lines[_i], s->status, s->text,
                  with.status, with.text);
}
END_TEST

/* Three rows of six columns. */
static const struct { const char *bytes, *shows; } screens[] = {
    {"one\r\ntwo\r\n", "|one\n|two\n"},
    {"step 1\rdone\r\n", "|done 1\n"},
    {"step 1\r\033[Kdone\r\n", "|done\n"},
    {"too long\r\n", "|too lo\n>ng\n"},
    {"sixsix\r\n", "|sixsix\n"},
    {"12345你\r\n", "|12345\n>你\n"},
    {"a\tb", "|a    b\n[the cursor stands in column 6, 0 lines above the last]\n"},
    {"a\r\nb\033[A\033[2Dc\r\n\r\n", "|c\n|b\n"},
    {"1\r\n2\r\n3\r\n4\033[9A\r-\033[J\r\n", "|1\n|-\n|\n|\n[the cursor stands in column 0, 1 lines above the last]\n"},
    {"\033[1mb\033[0m \033[48;5;7m  \033[0m\r\n", "|b   \n:a bb\n:a is bold\n:b is on 7\n"},
    {"\033[38;2;1;2;255mx\r\n", "|x\n:a\n:a is letters #0102ff\n[what follows is a]\n"},
};

START_TEST(a_terminal_shows_what_it_gets)
{
    char *shown = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&shown, &len);
    terminal_show(to, screens[_i].bytes, strlen(screens[_i].bytes), 3, 6);
    fclose(to);
    ck_assert_str_eq(shown, screens[_i].shows);
    free(shown);
}
END_TEST

Suite *suite_shell(void)
{
    Suite *s = suite_create("shell");
    TCase *t = tcase_create("shell");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_add_loop_test(t, without_bash_as_with_it, 0, sizeof lines / sizeof *lines);
    tcase_add_loop_test(t, a_terminal_shows_what_it_gets, 0, sizeof screens / sizeof *screens);
    suite_add_tcase(s, t);
    return s;
}

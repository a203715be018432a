/* test_transcripts.c - what commands print, whole: the files in tests/transcripts are lines "$ command" and what each prints.
 *
 * Where the new text is what it should be, `make transcripts` writes it into the files. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

static const char *const transcripts[] = {
    "help", "run", "pictures", "page", "explain", "variants", "models", "diff", "batch", "train",
};

START_TEST(what_commands_print)
{
    const char *file = printed("tests/transcripts/%s.txt", transcripts[_i]);
    const struct said *said = sh(printed("tests/transcripts/transcript.sh %s | diff %s -", file, file));
    ck_assert_msg(!said->status, "%s: '<' is in the file, '>' is printed now (see make transcripts)\n%.2000s", file, said->text);
}
END_TEST

Suite *suite_transcripts(void)
{
    Suite *s = suite_create("transcripts");
    TCase *t = tcase_create("transcripts");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, what_commands_print, 0, sizeof transcripts / sizeof *transcripts);
    suite_add_tcase(s, t);
    return s;
}

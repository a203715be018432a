/* test_refusals.c - what is refused: the files in tests/refusals are lines "$ command", as in transcripts, and "[status]"
 * with a part of the message.  Nothing is printed but the message, and no file is left.  A "\n" at the end of the part
 * is the end of the message's line; a line with # is a comment.  To run one row: refusals:what_is_refused/words:12. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1024, LINE = 512 };
static struct row { char name[48], line[LINE], part[LINE]; int status; } rows[ROWS];
static int n_rows;

static void read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s: cannot be opened", path);
    const char *name = strrchr(path, '/') + 1;
    char line[LINE];
    struct row *r = NULL;
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "$ ", 2)) {
            ck_assert_msg(n_rows < ROWS && !r, "%s:%d: too many lines, or no [status] before it", path, n);
            r = &rows[n_rows++];
            snprintf(r->name, sizeof r->name, "%.*s:%d", (int)strcspn(name, "."), name, n);
            snprintf(r->line, sizeof r->line, "%s", line + 2);
        } else if (*line == '[') {
            char *part = NULL;
            ck_assert_msg(r && (r->status = (int)strtol(line + 1, &part, 10)) && part && !strncmp(part, "] ", 2),
                          "%s:%d: expected a command, then [status] and a part of its message", path, n);
            char *end = strstr(part, "\\n");
            snprintf(r->part, sizeof r->part, "%.*s%s", (int)(end ? end - part : LINE) - 2, part + 2, end ? "\n" : "");
            r = NULL;
        } else {
            ck_assert_msg(!*line || *line == '#', "%s:%d: neither a command nor [status]", path, n);
        }
    }
    ck_assert_msg(!r, "%s: the last command has no [status]", path);
    fclose(f);
}

static const char *row_name(int i) { return rows[i].name; }

/* Bash takes longer to start than the program; shell.c needs none for a command alone. */
START_TEST(what_is_refused)
{
    const struct row *r = &rows[_i];
    bool alone = !strncmp(r->line, "$A", 2) && !strchr(r->line, '>');
    const struct said *s = sh(printed(alone ? "%s 2>&1 >/dev/null" : "{ %s\n} 2>&1", r->line));
    ck_assert_msg(s->status == r->status && strstr(s->text, r->part),
                  "%s\nis to end with %d and say '%s', ended with %d and said:\n%.2000s", r->line, r->status, r->part,
                  s->status, s->text);
    ck_assert_msg(s->status != 2 || strstr(s->text, "attn-cli help"), "%s\nnames no help:\n%.2000s", r->line, s->text);
    if (alone)
        ck_assert_uint_eq(sh(printed("%s 2>/dev/null", r->line))->len, 0);
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

Suite *suite_refusals(void)
{
    glob_t found;
    ck_assert_int_eq(glob("tests/refusals/*.txt", 0, NULL, &found), 0);
    n_rows = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_file(found.gl_pathv[i]);
    globfree(&found);
    Suite *s = suite_create("refusals");
    TCase *t = tcase_create("refusals");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    attn_test_add_rows(t, what_is_refused, n_rows, row_name);
    suite_add_tcase(s, t);
    return s;
}

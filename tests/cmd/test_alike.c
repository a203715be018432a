/* test_alike.c - what can be said in several ways is the same in each: the files in tests/alike are lines "$ command" and
 * below each "= command", which ends with the same status and prints the same bytes, and leaves the same files.  A line
 * with # is a comment.  To run one row: alike:says_the_same/places:3. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, LINE = 512 };
static struct row { char name[48], first[LINE], other[LINE]; } rows[ROWS];
static int n_rows;

static void read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s: cannot be opened", path);
    const char *name = strrchr(path, '/') + 1;
    char line[LINE], first[LINE] = "";
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "$ ", 2)) {
            snprintf(first, sizeof first, "%s", line + 2);
        } else if (!strncmp(line, "= ", 2)) {
            ck_assert_msg(n_rows < ROWS && *first, "%s:%d: too many lines, or no line with $ before it", path, n);
            struct row *r = &rows[n_rows++];
            snprintf(r->name, sizeof r->name, "%.*s:%d", (int)strcspn(name, "."), name, n);
            snprintf(r->first, sizeof r->first, "%s", first);
            snprintf(r->other, sizeof r->other, "%s", line + 2);
        } else {
            ck_assert_msg(!*line || *line == '#', "%s:%d: expected a line with $, = or #", path, n);
        }
    }
    fclose(f);
}

static const char *row_name(int i) { return rows[i].name; }

/* What a command prints, and the files that it left in $D, which are taken away.  Of a manifest the lines that say how it
 * was asked are none of it. */
static const struct said *say(const char *line)
{
    return sh(printed("{ %s\n} 2>&1; s=$?; cd $D && find . -type f | LC_ALL=C sort | while read -r f; do echo \"== $f\"; "
                      "grep -v '^\"\\(command\\|options\\)\":' \"$f\"; done; rm -rf $D/*; exit $s", line));
}

START_TEST(says_the_same)
{
    const struct row *r = &rows[_i];
    const struct said *one = say(r->first);
    char *text = strdup(one->text);
    const int status = one->status;
    const size_t len = one->len;
    const struct said *other = say(r->other);
    ck_assert_msg(status == 0, "%s\nended with %d and said:\n%.2000s", r->first, status, text);
    ck_assert_msg(len > 0, "%s\nsaid nothing, and left no file", r->first);
    ck_assert_msg(other->status == status && other->len == len && !memcmp(other->text, text, len),
                  "%s\nis not as\n%s\nwhich ended with %d and said:\n%.1500s\nthe other with %d:\n%.1500s", r->other,
                  r->first, status, text, other->status, other->text);
    free(text);
}
END_TEST

Suite *suite_alike(void)
{
    glob_t found;
    ck_assert_int_eq(glob("tests/alike/*.txt", 0, NULL, &found), 0);
    n_rows = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_file(found.gl_pathv[i]);
    globfree(&found);
    Suite *s = suite_create("alike");
    TCase *c = tcase_create("alike");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    attn_test_add_rows(c, says_the_same, n_rows, row_name);
    suite_add_tcase(s, c);
    return s;
}

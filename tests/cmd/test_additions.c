/* How many files know one kind of attention, one output format, one family of models, one score of heads, one
 * activation function: adding another should take a row and a file.  tests/rows.py adds one of each, and looks where it
 * shows.
 *
 * Comments do not count.  A file that is not listed here, or one more in a room, needs a reason as good as these. */
#include "suites.h"

#include "golden.h"

#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ANY = 1000 };                    /* files of which each may name it */
struct place { const char *files; size_t most; const char *why; };

static const struct place kind[] = {
    {"lib/attn.h", 1, "its value in enum attn_form"},
    {"lib/engine/model/kind.c", 1, "its row"},
    {"lib/engine/compute/*", 4, "which keys a query sees, and how these are multiplied"},
    {"lib/study/explain/*", 2, "what its mask looks like in a derivation; an article has an example"},
    {NULL, 0, NULL},
};
static const struct place format[] = {
    {"lib/show/sinks/*", 3, "its row, its methods and their file"},
    {"lib/engine/io/*", 3, "reading it again, which few formats need"},
    {"lib/study/batch/*", 3, "how large a stream gets, how it is merged, and a form of the summary that is called like it"},
    {"cmd/attn-cli/cmd_batch.c", 1, "what a path with .csv at its end means there"},
    {"cmd/attn-cli/cmd_generate.c", 1, "help, where text and json mean two things"},
    {"cmd/attn-cli/cmd_heads.c", 1, "help: the form of batch's summary that is called like it"},
    {"cmd/attn-cli/cmd_merge.c", 1, "help: examples of what is joined"},
    {"lib/engine/table/columns.c", 1, "the writers of tables"},
    {"cmd/attn-cli/opts_output.c", 1, "help: which of them are the same table"},
    {"cmd/attn-cli/cmd_plot.c", 1, "help: which files are read"},
    {NULL, 0, NULL},
};
static const struct place family[] = {
    {"lib/engine/model/family.c", 1, "the list of families"},
    {"lib/engine/model/family_*.c", 1, "its row, beside its relatives"},
    {"lib/engine/model/gguf_*.c", 2, "its row, where llama.cpp has it, and how its tokenizer there splits words"},
    {"lib/engine/text/pretoken.[ch]", 2, "how its tokenizer splits words"},
    {"cmd/attn-cli/families.c", 1, "its row: the config.json that init writes"},
    {"lib/engine/text/tokenizer_merges.c", 1, "whose tokenizer has the class of that name"},
    {NULL, 0, NULL},
};

static const struct place score[] = {{"lib/engine/ask/scores.c", 1, "its row"}, {NULL, 0, NULL}};
static const struct place activation[] = {
    {"lib/engine/compute/mlp.h", 1, "its row"},
    {"lib/engine/model/family.c", 1, "the words for it in Hugging Face's files"},
    {"lib/engine/model/family_*.c", ANY, "what a family has whose file says nothing"},
    {NULL, 0, NULL},
};

static const struct { const char *name; const struct place *places; } additions[] = {
    {"strided", kind}, {"tidy", format}, {"qwen2", family}, {"\"duplicate\"", score}, {"geglu", activation},
};

/* ---- which files name it ---- */

static const char *wanted;
static char found[64][128];
static size_t n_found;

/* Overwrites comments by spaces, except in strings. */
static void blank_comments(char *s)
{
    while (*s) {
        char quote = *s == '"' || *s == '\'' ? *s : '\0';
        char *end = !strncmp(s, "/*", 2) ? strstr(s, "*/") : NULL;
        if (end)
            memset(s, ' ', (size_t)(end + 2 - s));
        for (s++; quote && *s && *s != quote; s++)
            s += *s == '\\' && s[1];
        s += quote && *s;
    }
}

static int look(const char *path, const struct stat *st, int type)
{
    (void)st;
    if (type != FTW_F || (fnmatch("*.[ch]", path, 0) && fnmatch("*.js", path, 0)))
        return 0;
    size_t len;
    char *text = golden_text(path, &len);
    blank_comments(text);
    if (strcasestr(text, wanted)) {
        ck_assert_uint_lt(n_found, sizeof found / sizeof *found);
        snprintf(found[n_found++], sizeof *found, "%s", path);
    }
    free(text);
    return 0;
}

static void find_files(const char *name)
{
    wanted = name;
    n_found = 0;
    ck_assert_int_eq(ftw("lib", look, 16), 0);
    ck_assert_int_eq(ftw("cmd", look, 16), 0);
}

static size_t count_matches(const char *pattern)
{
    size_t n = 0;
    for (size_t i = 0; i < n_found; i++)
        n += !fnmatch(pattern, found[i], 0);
    return n;
}

/* ---- tests ---- */

START_TEST(few_files_name_an_addition)
{
    const char *name = additions[_i].name;
    find_files(name);
    for (const struct place *p = additions[_i].places; p->files; p++)
        ck_assert_msg(count_matches(p->files) <= p->most,
                      "%s: more than %zu of %s name it (%s)", name, p->most, p->files, p->why);
    for (size_t i = 0; i < n_found; i++) {
        const struct place *p = additions[_i].places;
        while (p->files && fnmatch(p->files, found[i], 0))
            p++;
        ck_assert_msg(p->files != NULL, "%s: %s names it", name, found[i]);
    }
}
END_TEST

/* Otherwise the list above would say more than is true. */
START_TEST(every_reason_is_still_needed)
{
    find_files(additions[_i].name);
    for (const struct place *p = additions[_i].places; p->files; p++)
        ck_assert_msg(count_matches(p->files) > 0, "%s: %s does not name it any more", additions[_i].name, p->files);
}
END_TEST

Suite *suite_additions(void)
{
    enum { ADDITIONS = sizeof additions / sizeof *additions };
    Suite *s = suite_create("additions");
    TCase *c = tcase_create("additions");
    tcase_add_loop_test(c, few_files_name_an_addition, 0, ADDITIONS);
    tcase_add_loop_test(c, every_reason_is_still_needed, 0, ADDITIONS);
    suite_add_tcase(s, c);
    return s;
}

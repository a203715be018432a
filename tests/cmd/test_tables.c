/* What answers with a table says the same in every format of tables: tests/support/tables.py parses all of them. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#define LILY " -m tiny -s \"Lily lost | her red ball\""

/* The list of a document that has the rows, the command, and how many rows there are; NULL: that depends. */
static const struct { const char *list, *command, *rows; } commands[] = {
    {"tokens", "score" LILY, "7\n"},
    {"tokens", "score -m tiny --ids 5", "1\n"},
    {".", "models", NULL},
    {"rows", "lens" LILY " --target ' ball' --points all --top 2", "91\n"},
    {"rows", "lens -m tiny --ids 3,5", "14\n"},
    {"rows", "attribute" LILY " --target ' ball'", NULL},
    {"rows", "attribute" LILY " --target ' ball' --foil ' red' --neurons 3", NULL},
    {"rows", "patch -m tiny --ids 634,1085,324 --from-ids 767,1085,343 --what resid_pre --over layer,pos "
     "--metric loss", NULL},
    {"rows", "patch -m tiny --ids 6,8 --from-ids 6,8 --what embed --over pos --metric loss", "2\n"},
    {"variants", "variants" LILY " --kinds 'causal full window:3 linear'", NULL},
    {"tensors", "diff -m tiny --with tiny --ids 3,4,5 --ablate L1H1 --show '*'", NULL},
    {"tensors", "diff -m life --with life-full -s 'Life is' --show '*'", NULL},
    {"models.weights", "diff life life-full", NULL},
    {"models.weights", "diff stacked induction --all", NULL},
    {"tensors", "info -m stacked", NULL},
    {"rows", "heads" LILY, "24\n"},
    {"rows", "run" LILY " --metric loss --metric 'logit(\" ball\")'", "2\n"},
    {"rows", "run" LILY " --metric loss --metric kl --ablate L1H1", "2\n"},
    {"rows", "run" LILY " --metric loss --metric 'rank(3)' --ablations", "48\n"},
    {"rows", "run" LILY " --ablations --layer 1 --edit 'L0H1 = 0'", "4\n"},
    {"rows", "heads -m induction --repeat 8 --copying --top 1", "1\n"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

START_TEST(every_format_says_the_same)
{
    const char *line = printed("$PYTHON tests/support/tables.py %s \"$A\" %s", commands[_i].list, commands[_i].command);
    commands[_i].rows ? expect_exactly(line, commands[_i].rows) : (void)succeed(line);
}
END_TEST

Suite *suite_tables(void)
{
    Suite *s = suite_create("tables");
    TCase *c = tcase_create("tables");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, every_format_says_the_same, 0, COMMANDS);
    suite_add_tcase(s, c);
    return s;
}

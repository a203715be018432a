/* --csv-safe: no cell of any table is a formula, and only texts have changed. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT "'=1+2 -x @y'"

/* Prints the cells that a spreadsheet would run, of the CSV on standard input; numbers are none. */
#define FORMULAS "$PYTHON -c 'import csv, sys\n" \
    "for row in csv.reader(sys.stdin):\n" \
    "    for cell in row:\n" \
    "        try: float(cell)\n" \
    "        except ValueError:\n" \
    "            if cell[:1] in tuple(\"=+-@\\t\\r\\n\\uff1d\\uff0b\\uff0d\\uff20\"): print(repr(cell))'"

/* Commands that write tables with texts of the user or of the vocabulary; $D/in.ndjson has ids and errors, too. */
static const char *const tables[] = {
    "run -m tiny -s " TEXT " --format tidy --show pattern,scores",
    "run -m tiny -s " TEXT " --format csv --show tokens",
    "run -m tiny -s " TEXT " --format csv --show pattern --layer 0 --head 0",
    "generate -m tiny -s " TEXT " -n 2 --show pattern --layer 0 --head 0 -o $D/out.csv; cat $D/out.csv #",
    "batch -m tiny -f $D/in.ndjson --format tidy --show pattern --layer 0",
    "batch -m tiny -f $D/in.ndjson --format summary",
    "batch -m tiny -f $D/in.ndjson --format summary --summary-form tidy",
    "lens -m tiny -s " TEXT " --format csv --top 50",
    "score -m tiny -s " TEXT " --format csv",
    "run -m tiny -s " TEXT " '--metric=-logit(3)' --format csv",
};

static void with_input(void)
{
    shell_set_up();
    succeed("printf '{\"id\":\"=cmd\",\"text\":\"=1 +2 "
            "-y\"}\\n{\"id\":\"@x\",\"ids\":[99999]}\\n{\"id\":\"-\\\\n\",\"text\":\"@+\"}\\n' >$D/in.ndjson");
}

static const char *made(const char *line, const char *option)
{
    const char *tail = strchr(line, ';');
    size_t len = tail ? (size_t)(tail - line) : strlen(line);
    return printed("{ \"$A\" %.*s %s 2>/dev/null%s || test $? = 3; }%s", (int)len, line, option,
                   tail ? " >/dev/null" : "", tail ? "; cat $D/out.csv" : "");
}

START_TEST(no_cell_is_a_formula)
{
    char *plain = strdup(made(tables[_i], "")), *safe = strdup(made(tables[_i], "--csv-safe"));
    ck_assert_msg(succeed(printed("%s | " FORMULAS " | wc -l", plain))->text[0] != '0', "%s: no text begins so", plain);
    expect_exactly(printed("%s | " FORMULAS, safe), "");
    /* the quotes are all that differs */
    expect_same(plain,
                printed("%s | sed -E \"s/(^|[,\\\"])'([=+@\\t\\r-]|\uFF1D|\uFF0B|\uFF0D|\uFF20|$)/\\1\\2/g\"", safe));
    free(plain);
    free(safe);
}
END_TEST

START_TEST(what_reads_tables_reads_these)
{
    succeed("\"$A\" run -m tiny -s " TEXT " --format tidy -o $D/plain.csv; \"$A\" run -m tiny -s " TEXT
            " --format tidy --csv-safe -o $D/safe.csv");
    expect("\"$A\" diff $D/safe.csv $D/plain.csv --exact", 0, "nothing differs");
    expect("\"$A\" plot $D/safe.csv --layer 0 --head 0 --show pattern", 0, "=");
    succeed("\"$A\" run -m tiny -s " TEXT " --format csv -o $D/dir --csv-safe; \"$A\" run -m tiny -s " TEXT
            " --show pattern,context -o $D/dir.npz");
    expect("\"$A\" diff $D/dir $D/dir.npz", 0, "nothing differs");
    expect("jq -r .command $D/dir/manifest.json", 0, "--csv-safe");
}
END_TEST

/* A line feed in front, and characters of full width. */
START_TEST(what_only_some_spreadsheets_run)
{
    succeed("printf '{\"a\":0,\"\\uff1db\":1,\"\\uff0bc\":2,\"\\uff0dd\":3,\"\\uff20e\":4,\"\\uff1ef\":5}' >$D/v && "
            "\"$A\" init -q -o $D/m --vocab $D/v --n-layer 1 --n-head 1 --d-model 4");
    expect_exactly("\"$A\" run -m $D/m -s 'a \uFF1Db \uFF0Bc \uFF0Dd \uFF20e \uFF1Ef' --show tokens --format csv "
                   "--csv-safe | cut -d, -f3",
                   "text\na\n'\uFF1Db\n'\uFF0Bc\n'\uFF0Dd\n'\uFF20e\n\uFF1Ef\n");
    succeed("printf '{\"id\":\"\\\\n=1\",\"ids\":[0]}\\n' >$D/n.ndjson");
    expect("\"$A\" batch -q -m $D/m -f $D/n.ndjson --format tidy --csv-safe --show embed", 0, "0,1,\"'\n=1\",embed");
}
END_TEST

START_TEST(numbers_stay_as_they_are)
{
    succeed("echo '{\"text\": \"Life is short\", \"id\": -5}' >$D/id.ndjson");
    expect("\"$A\" batch -m life -f $D/id.ndjson --format tidy --csv-safe --show embed -q", 0, "0,1,-5,embed");
}
END_TEST

Suite *suite_csv_safe(void)
{
    Suite *s = suite_create("csv_safe");
    TCase *t = tcase_create("csv_safe");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, with_input, scratch_remove);
    tcase_add_loop_test(t, no_cell_is_a_formula, 0, sizeof tables / sizeof *tables);
    tcase_add_test(t, what_reads_tables_reads_these);
    tcase_add_test(t, what_only_some_spreadsheets_run);
    tcase_add_test(t, numbers_stay_as_they_are);
    suite_add_tcase(s, t);
    return s;
}

/* test_grids.c - a grid of patches for each record of a batch: what 'patch' says of each, their means, shards, and
 * what is refused. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>

#define GRID "--patch context --over layer,head --metric 'logit({answer})-logit({foil})'"
#define BATCH "$A batch -q -m tiny -f $D/pairs.ndjson "
#define DIR "cd $D; "

/* Records 1, 4, 5, 6 and 7 are bad; the texts of record 3 are equal, so it has no effects. */
static void set_up(void)
{
    shell_set_up();
    succeed("cat >$D/pairs.ndjson <<'END'\n"
            "{\"text\": \"Lily lost her red ball\", \"from\": \"Lily lost her big ball\", \"answer\": \".\", \"foil\": "
            "\" in\", \"id\": \"a\\nb\"}\n"
            "{\"text\": \"Lily lost her ball\", \"from\": \"Lily lost her big ball\", \"answer\": \".\", "
            "\"foil\": \" in\"}\n"
            "{\"ids\": [634,1084,324,722], \"from_ids\": [634,1084,324,500], \"answer\": 5, \"foil\": [7], \"id\": 3}\n"
            "{\"ids\": [634,1084,324,722], \"from\": [634,1084,324,722], \"answer\": 5, \"foil\": 7}\n"
            "{\"text\": \"Lily lost her red ball\", \"from\": \"Tom found the red ball\", \"answer\": \"ball dog\", "
            "\"foil\": \" in\"}\n"
            "{\"text\": \"Lily lost her red ball\", \"answer\": \".\", \"foil\": \" in\"}\n"
            "{\"text\": \"Lily lost her red ball\", \"from\": \"Lily lost her big ball\", \"answer\": null, "
            "\"foil\": \" in\"}\n"
            "{\"text\": \"Lily lost her red ball\", \"from\": \"Lily lost her big ball\", \"answer\": true, "
            "\"foil\": \" in\"}\n"
            "{\"text\": \"Lily lost her red ball\", \"from\": \"Lily saw the big ball\", \"answer\": \".\", "
            "\"foil\": 15}\n"
            "END");
}

/* ---- one record ------------------------------------------------------------------------ */

#define PATCH "$A patch -m tiny -s 'Lily lost her red ball' --from 'Lily lost her big ball' "

/* for patch, for batch: also with edits, some of which take from the other text */
static const char *const asked[][2] = {
    {"--what context --over layer,head", "--patch context --over layer,head"},
    {"--what resid_pre --over layer,pos --method gradient", "--patch resid_pre --over layer,pos --method gradient"},
    {"--what embed --over pos --method ig:3 --edit 'L1H1 = 0'",
     "--patch embed --over pos --method ig:3 --edit 'L1H1 = 0'"},
    {"--what v --over layer,head,pos --edit 'L0.mlp.out += 0.5*from' --attention window:3",
     "--patch v --over layer,head,pos --edit 'L0.mlp.out += 0.5*from' --attention window:3"},
    {"--what v --over layer --edit 'L0.mlp.out[pos=\" red\"] = 0'",
     "--patch v --over layer --edit 'L0.mlp.out[pos=\" red\"] = 0'"},
};

START_TEST(a_record_is_what_patch_says)
{
    const char *const *q = asked[_i];
    expect_same(printed(PATCH "%s --metric 'logit(\".\")-logit(\" in\")' --format csv | sed 's/^/0,/; s/$/,a\\\\nb,/; "
                        "1s/^0/record/;"
                        "1s/,[^,]*,$/,id,error/'", q[0]),
                printed("ends 3 " BATCH "%s --metric 'logit({answer})-logit({foil})' --format tidy | grep '^[r0]'",
                        q[1]));
    expect_same(printed(PATCH "%s --metric 'logit(\".\")-logit(\" in\")' --format json | tr -d '\\n' |"
                        "sed 's/\"metric\":\"[^,]*,/M/'", q[0]),
                printed("ends 3 " BATCH
                        "%s --metric 'logit({answer})-logit({foil})' | sed -n '1s/.*\"version\"/{\"version\"/p' |"
                        "tr -d '\\n' | sed 's/\"metric\":\"[^,]*,/M/'", q[1]));
}
END_TEST

/* Records are read some at a time, and edits look for their words in the record that runs. */
START_TEST(edits_find_their_words_in_each_record)
{
#define RED "--edit 'L0.mlp.out[pos=\" red\"] = 0' --metric 'logit(5)' --method gradient "
    static const char *const texts[][2] = {{"Lily lost her red ball", "Lily lost her big ball"},
                                           {"A red ball", "A red cat"}};
    for (size_t i = 0; i < 2; i++)
        succeed(printed("echo '{\"text\": \"%s\", \"from\": \"%s\"}' >>$D/two.ndjson", texts[i][0], texts[i][1]));
    for (size_t i = 0; i < 2; i++)
        expect_same(printed("$A patch -m tiny -s '%s' --from '%s' --what v --over layer " RED "--format csv | sed 1d",
                            texts[i][0], texts[i][1]),
                    printed("$A batch -q -m tiny -f $D/two.ndjson --patch v --over layer " RED
                            "--format tidy | sed -n 's/^%zu,\\(.*\\),,$/\\1/p'", i));
}
END_TEST

START_TEST(a_table_is_read_as_well)
{
    succeed(DIR "printf 'answer,text,from,foil,id\\n.,Lily lost her red ball,Lily lost her big ball,\" in\",a\\n"
            ".,Lily lost her red ball,Lily saw the big ball,15,b\\n' >pairs.csv");
    expect_same("ends 3 " BATCH GRID " --format tidy | grep -E '^[r08],' | cut -d, -f2-5",
                "$A batch -q -m tiny -f $D/pairs.csv " GRID " --format tidy | sed 1d | cut -d, -f2-5");
    expect("printf 'text,answer\\na,b\\n' >$D/x.csv; $A batch -m tiny -f $D/x.csv " GRID " 2>&1", 2,
           "line 1: no column is called 'from'");
    expect("printf 'a,b\\n' >$D/x.csv; $A batch -m tiny -f $D/x.csv --no-header --column 0 " GRID " 2>&1", 2,
           "without a header no column");
    expect("echo Life >$D/x.txt; $A batch -m tiny -f $D/x.txt " GRID " 2>&1", 2,
           "is read as text, a sentence a line, but each record needs \"from\"");
}
END_TEST

static const struct { int record; const char *why; } bad[] = {
    {1, "the texts have 4 and 5 tokens, and differ from token 3 on: 'Lily| lost| her| ball', 'Lily| lost| her| "
     "big| ball'"},
    {4, "{answer}: \"\"ball dog\"\" is 2 tokens: \"\"ball\"\" (2003), \"\" dog\"\" (491)"},
    {5, "expected \"\"from\"\", the other text, or \"\"from_ids\"\""},
    {6, "the metric names {answer}: there is no such field"},
    {7, "expected a string, a token id or a list of token ids"},
};

START_TEST(a_bad_record_says_why)
{
    expect(printed("ends 3 " BATCH GRID " --format tidy | grep '^%d,'", bad[_i].record), 0, bad[_i].why);
    expect(printed("ends 3 " BATCH GRID " | grep '^{\"record\":%d,' | cut -d, -f1,7-", bad[_i].record), 0,
           "\"error\":\"");
}
END_TEST

/* ---- all records ----------------------------------------------------------------------- */

START_TEST(a_summary_has_the_means)
{
    succeed(DIR "ends 3 $A batch -q -m tiny -f pairs.ndjson " GRID " --format tidy -o rows.csv --summary mean.csv");
    expect_same(DIR "awk -F, 'NR > 1 && $4 != \"\" { k = $2 \",\" $3; if (!(k in n)) at[++cells] = k; n[k]++; "
                "m[k] += $4; if ($5 != \"\") { x[k]++; e[k] += $5 } } END { for (i = 1; i <= cells; i++) { k = at[i]; "
                "printf \"%s,%d,%.12g,%.12g\\n\", k, n[k], m[k] / n[k], e[k] / x[k] } }' rows.csv",
                DIR "sed 1d mean.csv | awk -F, '{ printf \"%s,%s,%d,%.12g,%.12g\\n\", $1, $2, $3, $4, $5 }'");
    expect_exactly(DIR "head -1 mean.csv; cut -d, -f3 mean.csv | sort | uniq -c | sed 's/^ *//'; ls",
                   "layer,head,n,mean_metric,mean_effect\n24 4\n1 n\n"
                   "mean.csv\npairs.ndjson\nrows.csv\nrows.csv.json\n");
    expect_exactly(DIR "ends 3 $A batch -q -m tiny -f pairs.ndjson " GRID
                   " --summary alone.csv; cmp mean.csv alone.csv; ls alone*",
                   "alone.csv\nalone.csv.json\n");
    /* Positions that only longer texts have. */
    expect_exactly(DIR "ends 3 $A batch -q -m tiny -f pairs.ndjson --patch embed --over pos --metric 'logit({answer})' "
                   "--summary p.csv;"
                   "cut -d, -f1,2 p.csv", "pos,n\n0,4\n1,4\n2,4\n3,4\n4,2\n");
}
END_TEST

static const char *const cuts[] = {"", "--stride"};

START_TEST(shards_become_one)
{
    expect_exactly(printed(DIR "b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over layer,pos --metric "
                           "logit({answer}) --method gradient\";"
                           "for f in ndjson tidy; do ends 3 $b --format $f -o one --summary one.csv;"
                           "for i in 0 1 2; do $b --format $f --shard $i/3 %s -o part.$i --summary rows.$i || "
                           "test $? = 3; done;"
                           "$A merge part.? -o all --summary all.csv; cmp one all; cmp one.csv all.csv;"
                           "sed 's/one.csv/all.csv/' one.json | cmp - all.json; echo same; rm part* rows* one*; done",
                           cuts[_i]), "same\nsame\n");
    expect_exactly(printed(DIR "b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over layer,pos --metric "
                           "logit({answer})\";"
                           "ends 3 $b --summary one.csv; for i in 0 1 2; do $b --shard $i/3 %s --summary part.$i || "
                           "test $? = 3; done;"
                           "$A merge part.? -o all.csv; cmp one.csv all.csv; cmp one.csv.json all.csv.json; echo same",
                           cuts[_i]), "same\n");
    expect_exactly(printed(DIR "rm -f one* part* all*; b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over "
                           "layer,pos --metric logit({answer}) --format summary\";"
                   "ends 3 $b -o one --summary one.csv; for i in 0 1 2; "
                   "do $b --shard $i/3 %s -o part.$i --summary rows.$i || test $? = 3; done;"
                   "$A merge part.? -o all --summary all.csv; cmp one all; cmp one.csv all.csv; rm rows*; echo same",
                   cuts[_i]), "same\n");
    expect(DIR "$A merge part.? 2>&1", 2, "the means over all records go to a file: name it with -o");
}
END_TEST

/* The journal of a batch whose means are not made yet tells of the rows they are made of. */
#define UNFINISHED "sed \"s/\\(summary_bytes\\\":\\)[0-9]*/\\1$(stat -c %s rows)/g; " \
    "s/\\(summary_sha256\\\":\\\"\\)[0-9a-f]*/\\1$(sha256sum <rows | cut -c-64)/g\"" \
                   " o.json >o.part.json; rm o.json;"

START_TEST(an_end_is_finished)
{
    expect_exactly(DIR "b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over layer --metric logit({answer})\";"
                   "ends 3 $b --format tidy -o rows; ends 3 $b -o o --summary s.csv; cp s.csv good; cp o.json whole;"
                   /* All is written, but there are no means yet; then there are, but the last name is missing. */
                   UNFINISHED "mv rows s.csv.part; rm s.csv; ends 3 $b -o o --summary s.csv --resume; cmp s.csv good; "
                       "cmp o.json whole;"
                   "mv o.json o.part.json; ends 3 $b -o o --summary s.csv --resume; cmp s.csv good; cmp o.json whole; "
                   "rm rows.json; ls",
                   "good\no\no.json\npairs.ndjson\ns.csv\nwhole\n");
    expect(DIR "ends 3 $A batch -q -m tiny -f pairs.ndjson " GRID " -o x; sed -i 's/\"\\.\"/\"!\"/' pairs.ndjson;"
           "$A batch -q -m tiny -f pairs.ndjson " GRID " -o x --resume 2>&1", 1, "is not the input that");
    expect(DIR "$A batch -q -m tiny -f pairs.ndjson " GRID " --method gradient -o x --resume 2>&1", 1,
           "was made without --method, not with --method gradient");
}
END_TEST

START_TEST(an_end_that_fails_loses_nothing)
{
    /* The rows cannot be read, though they are there: a link to itself. */
    expect_exactly(DIR "b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over layer --metric logit({answer})\"; "
                   "ends 3 $b --format tidy -o rows;"
                   "ends 3 $b -o o --summary s.csv; cp s.csv good; cp o.json whole; " UNFINISHED
                   "ln -s s.csv.part s.csv.part;"
                   "ends 1 $b -o o --summary s.csv --resume 2>why; grep -o 's.csv.part: found a link' why; "
                   "ln -sfT /dev/null s.csv.part;"
                   "ends 1 $b -o o --summary s.csv --resume 2>/dev/null; test -L s.csv.part; mv -T rows s.csv.part;"
                   "ends 3 $b -o o --summary s.csv --resume; cmp s.csv good; cmp o.json whole",
                   "s.csv.part: found a link\n");
    expect_exactly(DIR "b=\"$A batch -q -m tiny -f pairs.ndjson --patch v --over layer --metric logit({answer})\"; "
                   "rm o* s.csv;"
                   "for i in 0 1; do $b --shard $i/2 -o part.$i --summary rows.$i || test $? = 3; done; "
                   "cp rows.0 kept; sed -i '2s/,./,x/' rows.0;"
                   "ends 1 $A merge part.0 part.1 -o all --summary all.csv 2>why; cat why;"
                   "sed -i 's/\\(summary_sha256\":\\)\"[0-9a-f]*\"/\\1null/g' part.0.json; ends 1 $A merge part.0 "
                   "part.1 -o all --summary all.csv 2>why; sed 's/line [0-9]*/line N/' why; ls -A | grep -c all || :;"
                   "cp kept rows.0; $A merge part.0 part.1 -o all --summary all.csv; cmp all.csv good",
                   "attn-cli merge: rows.0: its bytes are not those it had when it was finished, so that it is not "
                   "what batch wrote: run this shard again\nattn-cli merge: the rows of all shards, for all.csv: line "
                   "N: is no row of a grid, expected whole numbers as layer, head and pos\n0\n");
}
END_TEST

START_TEST(threads_change_nothing)
{
    expect_same("ends 3 " BATCH GRID " -t 1", "ends 3 " BATCH GRID " -t 4");
}
END_TEST

/* ---- what is asked --------------------------------------------------------------------- */

static const struct { const char *args; const char *says; } refused[] = {
    {"--over layer --metric loss", "there is no --patch: say with one --patch NAME"},
    {"--patch v --patch q --over layer --metric loss", "there are several --patch: say with one"},
    {"--patch v --metric loss", "--over is missing"}, {"--patch v --over layer", "--metric is missing"},
    {"--patch v --over layer --metric loss --patch-from from --from Lily", "--patch-from makes --patch an edit"},
    {"--patch v --over layer --metric loss --from Lily", "--from does not go with a grid for each record"},
    {"--patch v --over layer --metric loss --layer 0", "--layer does not go with a grid"},
    {"--patch v --over layer --metric loss --show v", "--show does not go with a grid"},
    {"--patch v --over layer --metric loss --format npy -o $D/o", "npy holds activations: a grid"},
    {"--patch v --over layer --metric loss --format summary", "they go to a file: name one with --summary"},
    {"--patch v --over layers --metric loss", "--over 'layers': expected layer"},
    {"--patch norms --over layer,head --metric loss", "norms is only looked at"},
    {"--patch vv --over layer --metric loss", "--patch"},
    {"--patch resid_pre --over layer,head --metric loss", "resid_pre has no heads"},
    {"--patch v --over layer --metric 'rank(3)' --method gradient", "a rank moves in steps"},
    {"--patch v --over layer --metric loss --method gradient --compute bf16", "gradients are computed in float32"},
    {"--patch v --over layer --metric 'logit({text})'", "{text} is a text of the record, or its label"},
    {"--patch v --over layer --metric 'logit(\"ball dog\")'", "column 7: \"ball dog\" is 2 tokens"},
    {"--patch v --over layer --metric 'logit(99999)'", "token id 99999"},
};

START_TEST(what_makes_no_grid_is_refused_at_once)
{
    expect(printed("cd $D; { ends 2 $A batch -m tiny -f pairs.ndjson %s || "
                   "ends 1 $A batch -m tiny -f pairs.ndjson %s; } 2>&1",
                   refused[_i].args, refused[_i].args), 0, refused[_i].says);
    expect_exactly("ls $D", "pairs.ndjson\n");
}
END_TEST

/* What only gradients cannot do. */
START_TEST(exact_grids_take_any_metric)
{
    expect_exactly(DIR "head -1 pairs.ndjson | $A batch -q -m tiny -f - --input ndjson --patch v --over layer --metric "
                   "'rank(3)' --compute bf16 | wc -l", "1\n");
}
END_TEST

START_TEST(a_patch_from_somewhere_is_an_edit)
{
    expect_same("echo Lily lost her red ball | $A batch -m tiny -f - --patch v --patch-from 'text(\"Lily lost her big "
                "ball\")' --show pattern",
                "echo Lily lost her red ball | $A batch -m tiny -f - --edit 'v = text(\"Lily lost her big ball\")' "
                "--show pattern");
    expect(BATCH GRID " --dry-run", 0, "records    9, 5 of them bad");
}
END_TEST

Suite *suite_grids(void)
{
    Suite *s = suite_create("grids");
    TCase *t = tcase_create("grids");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_record_is_what_patch_says, 0, sizeof asked / sizeof *asked);
    tcase_add_test(t, edits_find_their_words_in_each_record);
    tcase_add_test(t, a_table_is_read_as_well);
    tcase_add_loop_test(t, a_bad_record_says_why, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, a_summary_has_the_means);
    tcase_add_loop_test(t, shards_become_one, 0, sizeof cuts / sizeof *cuts);
    tcase_add_test(t, an_end_is_finished);
    tcase_add_test(t, an_end_that_fails_loses_nothing);
    tcase_add_test(t, threads_change_nothing);
    tcase_add_loop_test(t, what_makes_no_grid_is_refused_at_once, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, exact_grids_take_any_metric);
    tcase_add_test(t, a_patch_from_somewhere_is_an_edit);
    suite_add_tcase(s, t);
    return s;
}

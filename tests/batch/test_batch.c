/* test_batch.c - the command batch: what becomes of each sentence, in which format, with which exit status. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "-m models/stacked "
#define FOUR "$D/four.txt"
/* A record as run writes it, on one line; and as batch does, without the members that only a batch has. */
#define RUN_LINE(text, show) "$A run " MODEL "-s '" text "' --show " show " --format json | tr -d '\\n'"
#define BATCH_LINE(nth, show) "ends 3 $A batch " MODEL "-f " FOUR " --show " show " 2>/dev/null | sed -n '" nth \
                              "s/^{.*\"version\"/{\"version\"/p' | tr -d '\\n'"

static void set_up(void)
{
    shell_set_up();
    expect_exactly("printf 'the cat sees the moth\\n\\nis the lamp on\\n%033d\\nthe cat sees the moth\\n' 0 |"
           "sed '4s/0/a /g' >" FOUR, "");
}

/* ---- records --------------------------------------------------------------------------- */

START_TEST(a_record_is_the_document_of_run)
{
    expect_same(RUN_LINE("the cat sees the moth", "'*'"), BATCH_LINE("1", "'*'"));
    expect_same(RUN_LINE("is the lamp on", "dots,scores,pattern,tokens"),
                BATCH_LINE("2", "dots,scores,pattern,tokens"));
    /* it has neighbours on both sides */
    expect_same(RUN_LINE("is the lamp on", "'*'"), BATCH_LINE("2", "'*'"));
    expect_same(RUN_LINE("the cat sees the moth", "pattern --layer 1 --head 0,3"),
                BATCH_LINE("4", "pattern --layer 1 --head 0,3"));
}
END_TEST

START_TEST(records_say_which_they_are)
{
    const char *all = "ends 3 $A batch -q " MODEL "-f " FOUR " --show pattern";
    static const char *const starts[] = {"{\"record\":0,\"line\":1,\"id\":null,\"key\":\"",
                                         "{\"record\":1,\"line\":3,\"id\":null,",
                                         "{\"record\":2,\"line\":4,", "{\"record\":3,\"line\":5,"};
    for (int i = 0; i < 4; i++)
        expect(printed("%s | sed -n %dp", all, i + 1), 0, starts[i]);
    expect("printf '{\"id\": 1.50, \"text\": \"the cat\"}\\n{\"id\": \"a\\\\tb\", \"ids\": [3]}\\n' >$D/i.ndjson;"
           "$A batch " MODEL "-f $D/i.ndjson --show tokens | cut -d, -f1-3", 0,
           "{\"record\":0,\"line\":1,\"id\":1.50\n{\"record\":1,\"line\":2,\"id\":\"a\\tb\"\n");
}
END_TEST

START_TEST(equal_texts_have_equal_keys_and_are_two_records)
{
    const char *keys = "ends 3 $A batch -q " MODEL "-f " FOUR
        " --show pattern | sed 's/.*\"key\":\"\\([0-9a-f]*\\).*/\\1/'";
    expect_exactly(printed("%s | sort | uniq -d | wc -l; %s | sed -n '1p;4p' | uniq | wc -c", keys, keys), "1\n65\n");
    expect_exactly(printed("(%s; %s) | sort -u | wc -l", keys, "ends 3 $A batch -q " MODEL "-f " FOUR " --show dots | "
                           "sed 's/.*\"key\":\"\\([0-9a-f]*\\).*/\\1/'"), "6\n");
}
END_TEST

START_TEST(a_bad_record_says_why)
{
    expect("$A batch " MODEL "-f " FOUR " --show pattern 2>&1 >/dev/null", 3,
           "four.txt: line 4: the text has 33 tokens");
    expect("$A batch -q " MODEL "-f " FOUR " --show pattern", 3,
           "a a \",\"error\":\"the text has 33 tokens, but the model takes at most 32 (n_ctx): shorten it\"}");
    expect_exactly("ends 3 $A batch -q " MODEL "-f " FOUR " --show pattern 2>&1 >/dev/null",
                   "attn-cli batch: 1 of 4 records failed, the first in line 4: the text has 33 tokens, but the model "
                   "takes at most 32 (n_ctx): shorten it\n");
    expect("$A batch -q " MODEL "-f " FOUR " --format tidy", 3, "\n2,4,,,,,,,,,,\"the text has 33 tokens, but");
    expect("ends 3 $A batch -q " MODEL "-f " FOUR " --summary $D/s.csv; cat $D/s.csv", 0, "\n2,4,,,,,,,,,");
    expect("seq 40 | tr -c '\\n' a | tr -s a | tr '\\n' ' ' | $A batch -q " MODEL "-f -", 3,
           "\"error\":\"the text has 40 tokens, but the model takes at most 32 (n_ctx): shorten it\"}");
    expect_exactly("printf '{\"ids\":[0,99]}\\n{\"ids\":[]}\\n{\"text\":\" \"}\\n7\\n' | ends 3 $A batch -q " MODEL
                   "--input ndjson -f - --show tokens | grep -c '\"error\"'", "4\n");
    expect("printf 'the cat\\377\\n' | $A batch -q " MODEL "-f -", 3, "\"text\":null,\"error\":\"not UTF-8");
}
END_TEST

START_TEST(the_first_bad_record_may_be_the_last)
{
    expect("$A batch " MODEL "-f " FOUR " --fail-fast -o $D/o 2>&1", 1, "four.txt: line 4: the text has 33 tokens");
    expect_exactly("wc -l <$D/o.part; test ! -e $D/o && echo none", "2\nnone\n");
    expect_exactly("ends 3 $A batch -q " MODEL "-f " FOUR " --resume -o $D/o; wc -l <$D/o", "4\n");
    expect("ends 3 $A batch " MODEL "-f " FOUR " --resume -o $D/o 2>&1", 0,
           "all 4 records were done before: there was nothing to resume");
}
END_TEST

START_TEST(usage)
{
    static const struct { const char *args, *says; } wrong[] = {
        {"", "no input: give texts, each in quotes, or a file with one in each line, -f PATH"},
        {"-f " FOUR " --resume --force -o $D/o", "--resume continues and --force starts anew"},
        {"-f " FOUR " --resume", "--resume continues a file, but the output goes to standard output"},
        {"-f " FOUR " --fail-fast --keep-going", "do not go together"},
        {"-f " FOUR " --max-seconds 0", "--max-seconds is 0, expected more than 0"},
        {"-f " FOUR " --stride", "--stride is how shards are chosen"},
        {"-f " FOUR " --summary-form tidy",
         "--summary-form is how a summary is written: give --summary PATH or --format summary"},
        {"-s Life -f " FOUR, "--sentence and --file are both given"},
        {"-f " FOUR " --shard 3/3", "3/3"},
        {"-f " FOUR " --format npy", "npy writes files to a directory: name one with -o"},
        {"-f " FOUR " -o $D/x.npy", "or --format stack for one array"},
        {"-f " FOUR " -o $D/x.parquet",
         "x.parquet: arrays are .npz, .npy or, for tables, .csv; with --format the name may be any"},
        {"-f " FOUR " -o $D/x.XLSX", "x.XLSX: tables are .csv"},
        {"-f " FOUR " -o $D/x.jpg", "x.jpg: pictures are .png"},
        {"-f " FOUR " -o $D/x.ndjson.gz", "x.ndjson.gz: compressed output is not supported"},
        {"-f " FOUR " --format json", "ndjson"},
        {"-f " FOUR " --format tidy --show tokens", "only tokens are selected"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect(printed("$A batch %s%s 2>&1 >/dev/null", MODEL, wrong[i].args), 2, wrong[i].says);
    expect_exactly("ls $D", "four.txt\n");
}
END_TEST

/* ---- formats --------------------------------------------------------------------------- */

START_TEST(directories_hold_what_run_writes)
{
    static const char *const formats[] = {"csv", "npy"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *f = formats[i];
        expect_exactly(printed("ends 3 $A batch -q " MODEL "-f " FOUR " --format %s -o $D/%s; ls -A $D/%s", f, f, f),
                       "000000\n000001\n000003\nrecords.ndjson\n");
        expect_exactly(printed("$A run " MODEL
                               "-s 'is the lamp on' --format %s -o $D/%s.run && diff -r -x manifest.json $D/%s.run "
                               "$D/%s/000001 && ls $D/%s/000001 | grep -c manifest", f, f, f, f, f), "1\n");
    }
    expect("$A run " MODEL "-s 'is the lamp on' -o $D/r.npz; ends 3 $A batch -q " MODEL "-f " FOUR
           " --format npz -o $D/npz;"
           "cmp $D/r.npz $D/npz/000001/activations.npz && echo same", 0, "same");
    expect("$A run " MODEL "-s 'is the lamp on' -o $D/r.png; ends 3 $A batch -q " MODEL "-f " FOUR
           " --format png -o $D/png;"
           "cmp $D/r.png $D/png/000001/activations.png && echo same", 0, "same");
    expect_exactly("grep -c '\"activations\":\\[\\]' $D/npy/records.ndjson", "3\n");
}
END_TEST

START_TEST(a_tidy_table_has_a_header_and_records)
{
    expect("ends 3 $A batch -q " MODEL "-f " FOUR " -o $D/t.csv --show pattern; head -2 $D/t.csv", 0,
           "record,line,id,name,layer,head,row,col,row_token,col_token,value,error\n"
           "0,1,,blocks.0.attn.pattern,0,0,0,0,the,the,1,\n");
    expect_exactly("ends 3 $A batch -q " MODEL "-f " FOUR " -o $D/t.tidy --show pattern; cmp $D/t.csv $D/t.tidy; "
                   "for c in run lens; do $A $c -m tiny -s Lily -o $D/$c.tidy; $A $c -m tiny -s Lily --format tidy | "
                   "cmp - $D/$c.tidy; "
                   "done; "
                   "$A batch -q " MODEL "-f /dev/null -o $D/t.jsonl; wc -c <$D/t.jsonl", "0\n");
    expect_same("$A run " MODEL "-s 'is the lamp on' --format tidy | tail -n +2",
                "ends 3 $A batch -q " MODEL "-f " FOUR " --format tidy | sed -n 's/^1,3,,\\(.*\\),$/\\1/p'");
}
END_TEST

START_TEST(a_stack_has_one_array_a_name)
{
    expect_exactly("ends 3 $A batch -q " MODEL "-f " FOUR
                   " --format stack --show pattern --layer 2 --head 1,2 -o $D/s; ls $D/s",
                   "blocks.2.attn.pattern.npy\nrecords.ndjson\n");
    expect("head -c 128 $D/s/blocks.2.attn.pattern.npy | tr -d '\\0'", 0, "'shape': (4, 2, 5, 5), }");
    expect_exactly("$A run " MODEL "-s 'the cat sees the moth' --show pattern --layer 2 --head 1,2 -o $D/one.npy;"
                   "f=$D/s/blocks.2.attn.pattern.npy; tail -c +129 $D/one.npy >$D/row; head -c 328 $f | tail -c 200 | "
                   "cmp - $D/row &&tail -c 200 $f | cmp - $D/row && wc -c <$f", "928\n");
    expect_exactly("grep -c 'a stack takes one length' $D/s/records.ndjson", "1\n");
}
END_TEST

START_TEST(a_stack_may_begin_with_failures)
{
    expect("printf '\\377\\nthe cat\\n' | ends 3 $A batch -q " MODEL "-f - --format stack --show embed -o $D/s;"
           "head -c 128 $D/s/embed.npy | tr -d '\\0'", 0, "'shape': (2, 2, 16), }");
    expect_exactly("f=$D/s/embed.npy; wc -c <$f; od -An -v -tx4 -w4 -j128 -N128 $f | sort -u", "384\n 7fc00000\n");
    expect_exactly("$A run " MODEL "-s 'the cat' --show embed -o $D/one.npy; tail -c 128 $D/s/embed.npy >$D/row; "
                   "tail -c 128 $D/one.npy | cmp - $D/row", "");
    expect_exactly("printf '\\377\\n' | ends 3 $A batch -q " MODEL "-f - --format stack --show embed -o $D/n; ls $D/n",
                   "records.ndjson\n");
}
END_TEST

/* A single token has no row that counts. */
START_TEST(a_summary_is_a_line_of_figures)
{
    expect_exactly("printf 'Life is\nsoup\n' >$D/x.txt; ends 3 $A batch -q -m life -f $D/x.txt --format summary "
                   "2>/dev/null | awk -F, '{print NF}' | sort -u", "12\n");
    expect("printf 'the\\n' | $A batch " MODEL "-f - --summary $D/s.csv --layer 1 --head 2; cat $D/s.csv", 0,
           "record,line,id,tokens,logprob,next_id,next,next_p,L1H2_entropy,L1H2_distance,L1H2_first,error\n0,1,,1,0,");
    expect("tail -1 $D/s.csv", 0, ",,,,\n");
    expect("ends 3 $A batch -q " MODEL "-f " FOUR " -o $D/o --summary $D/t.csv; ls $D/*.json", 0, "/o.json\n");
    expect_exactly("wc -l <$D/o; wc -l <$D/t.csv", "4\n5\n");
    expect_same("$A score " MODEL "-s 'is the lamp on' --format json | grep -o '\"logprob\": *-[0-9.]*' | tail -1 | "
                "grep -o -- '-.*' | cut -c1-8",
                "grep '^1,' $D/t.csv | cut -d, -f5 | cut -c1-8");
    expect("printf 'Life is\\n' | $A batch -m life -f - --format summary", 0, "0,1,,2,,,,,0.");
}
END_TEST

/* ---- the same bytes -------------------------------------------------------------------- */

START_TEST(threads_and_company_change_nothing)
{
    expect("for i in $(seq 300); do echo the cat sees the moth; echo is the lamp on; echo the table; done >$D/many", 0,
           "");
    expect_exactly("for t in 1 2 5; do $A batch " MODEL "-f $D/many --show scores,context -t $t -o $D/t$t; done;"
           "cmp $D/t1 $D/t2 && cmp $D/t1 $D/t5 && cmp $D/t1.json $D/t5.json && wc -l <$D/t5", "900\n");
    expect("echo is the lamp on | $A batch " MODEL "-f - --show scores,context | sed 's/.*\"version\"//' >$D/alone;"
           "sed -n '899s/.*\"version\"//p' $D/t2 | cmp - $D/alone && echo same", 0, "same");
}
END_TEST

/* Makes $D/wide, and $D/l.ndjson, whose second sentence has too many numbers to be kept: they are written while
 * the model runs. */
static void make_large_sentence(void)
{
    expect("printf '{\"model_type\":\"attn-decoder\",\"vocab_size\":9,\"n_ctx\":400,\"n_layer\":2,\"n_head\":8,"
           "\"d_model\":16,\"d_head\":2,\"d_value\":2,\"d_mlp\":0,\"position\":\"none\",\"norm\":\"none\","
           "\"mlp\":\"none\",\"mask\":\"causal\",\"scale\":\"sqrt\",\"residual\":true,\"output_projection\":false,"
           "\"bias\":false,\"tied\":true,\"unembed\":false}' >$D/c.json;"
           "$A init --config $D/c.json -o $D/wide 2>&1", 0, "");
    expect("ids=$(seq 260 | sed 's/.*/1/' | tr '\\n' ,)2; printf '{\"ids\":[3]}\\n{\"ids\":[%s]}\\n{\"ids\":[4]}\\n' "
           "$ids >$D/l.ndjson", 0, "");
}

START_TEST(a_large_sentence_is_written_as_a_small_one)
{
    make_large_sentence();
    expect("ids=$(seq 260 | sed 's/.*/1/' | tr '\\n' ,)2; $A run -m $D/wide --ids $ids --show pattern --format json | "
           "tr -d '\\n' |"
           "tail -c +2 | cksum >$D/run; $A batch -m $D/wide -f $D/l.ndjson --show pattern -o $D/b; sed -n 2p $D/b | "
           "cut -d, -f5- | tr -d '\\n' | cksum |"
           "cmp - $D/run && echo same", 0, "same");
    expect_exactly("ids=$(seq 260 | sed 's/.*/1/' | tr '\\n' ,)2; $A run -m $D/wide --ids $ids --show pattern --format "
                   "npy -o $D/n;"
                   "$A batch -m $D/wide -f $D/l.ndjson --show pattern --format npy -o $D/m && "
                   "cmp $D/n/blocks.1.attn.pattern.npy $D/m/000001/blocks.1.attn.pattern.npy && ls $D/m | wc -l",
                   "4\n");
    expect_exactly("sed -n '2p;2p' $D/l.ndjson >$D/two.ndjson; $A batch -m $D/wide -f $D/two.ndjson --show pattern "
                   "--format stack -o $D/s;"
                   "f=$D/s/blocks.1.attn.pattern.npy; n=$((8 * 261 * 261 * 4)); "
                   "tail -c $n $D/n/blocks.1.attn.pattern.npy >$D/one;"
                   "tail -c $n $f | cmp - $D/one && head -c $((n + 128)) $f | tail -c $n | cmp - $D/one && ls $D/s",
                   "blocks.0.attn.pattern.npy\nblocks.1.attn.pattern.npy\nrecords.ndjson\n");
}
END_TEST

/* ---- shell manners --------------------------------------------------------------------- */

START_TEST(a_stream_goes_on_line_by_line)
{
    expect_exactly("mkfifo $D/in $D/out; $A batch " MODEL "-f - --show tokens <$D/in >$D/out & exec 3>$D/in 4<$D/out;"
                   "for w in the cat; do echo $w >&3; read -r line <&4; echo \"$line\" | cut -c1-12; done; "
                   "exec 3>&-; wait $!",
                   "{\"record\":0,\n{\"record\":1,\n");
}
END_TEST

START_TEST(nobody_has_to_read_it_all)
{
    expect_exactly("{ seq 20000 | sed 's/.*/the cat/' 2>/dev/null || true; } | $A batch " MODEL
                   "-f - | head -1 | wc -l", "1\n");
}
END_TEST

START_TEST(what_is_no_file_is_written_in_place)
{
    expect_exactly("ends 3 $A batch -q " MODEL "-f " FOUR " -o /dev/stdout --show tokens | wc -l; ls $D",
                   "4\nfour.txt\n");
    expect_exactly("mkfifo $D/p; ends 3 $A batch -q " MODEL "-f " FOUR " -o $D/p --show tokens & wc -l <$D/p; wait $!",
                   "4\n");
    expect("$A batch -q " MODEL "-f " FOUR " -o /dev/full 2>&1", 1, "/dev/full: cannot write: No space left on device");
    expect("$A batch -q " MODEL "-f " FOUR " -o '' 2>&1", 2, "--output: the path is empty");
    expect_exactly("ln -s real $D/link; ends 3 $A batch -q " MODEL "-f " FOUR " -o $D/link; ls $D",
                   "four.txt\nlink\np\nreal\nreal.json\n");
}
END_TEST

START_TEST(a_dry_run_tells_and_writes_nothing)
{
    expect("$A batch " MODEL "-f " FOUR " --show pattern --format npy -o $D/d --dry-run", 0,
           "records    4, 1 of them bad\ntokens     14\nnumbers    792\n");
    expect_exactly("ls $D", "four.txt\n");
}
END_TEST

static const char *const estimated[] = {"ndjson", "tidy", "summary", "csv", "npy", "npz", "stack", "png", "svg", "pdf"};

/* Half to twice as much, whether a sentence is written when it has run, or while it runs. */
START_TEST(a_dry_run_estimates_what_would_be_written)
{
    static const char *const inputs[] = {"-m models/stacked -f $D/equal.txt --show '*'",
                                         "-m $D/wide -f $D/l.ndjson --show pattern"};
    char line[1024];
    make_large_sentence();
    expect_exactly("for i in $(seq 20); do echo is the lamp on; done >$D/equal.txt", "");
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        if (i == 1 && !strcmp(estimated[_i], "stack"))      /* its sentences are not equally long */
            continue;
        snprintf(line, sizeof line, "batch=\"$A batch -q %s --format %s -o $D/o%zu\";"
                 "eval $batch --dry-run >$D/said; eval $batch; find $D/o%zu -type f -printf '%%s\\n' | "
                 "awk '{ n += $1 } END { print \"written\", n }' | cat $D/said - |"
                 "awk 'BEGIN { unit[\"bytes\"] = 1; unit[\"kB\"] = 1e3; "
                 "unit[\"MB\"] = 1e6 } /^output / { e = $3 * unit[$4] } /^written / { print (e > $2 / 2 && "
                 "e < $2 * 2 ? \"near\" : e \" for \" $2) }'", inputs[i], estimated[_i], i, i);
        expect_exactly(line, "near\n");
    }
}
END_TEST

/* The reader of the output waits for longer than the second between two lines of progress; so does the writer
 * of the input. */
START_TEST(progress_is_told_when_asked)
{
    expect_exactly("for i in $(seq 400); do echo the cat sees the moth; done >$D/many.txt; $A batch " MODEL
                   "-f $D/many.txt --progress --show '*' 2>$D/said | { sleep 1.3; cat; } | wc -l; tail -n 1 $D/said | "
                   "grep -cx '400 of 400 records, [0-9.]*/s';"
                   "head -n 1 $D/said | grep -cEx '[0-9]+ records, [0-9.]+/s, [0-9]+ s left'", "400\n1\n1\n");
    expect("{ echo the cat; printf '\\377\\n'; sleep 1.3; echo the cat; } | ends 3 $A batch " MODEL
           "-f - --progress 2>&1 >/dev/null |"
           "sed 's|[0-9.]*/s|N/s|'", 0, " records, N/s, 1 failed\nattn-cli batch: 1 of 3 records failed\n");
}
END_TEST

/* A file of sentences with the ending .csv loses its first one unless somebody reads the note. */
START_TEST(the_name_of_an_only_column_is_told)
{
    expect("cd $D; printf 'the cat sees the moth\nis the lamp on\n' >s.csv; cd - >/dev/null; $A batch " MODEL
           "-f $D/s.csv --show tokens 2>&1 >/dev/null", 0,
           "/s.csv: the first row, 'the cat sees the moth', is taken for the name of its column: if it is a "
           "sentence, too, give --no-header\n");
    expect("$A heads " MODEL "-f $D/s.csv 2>&1 >/dev/null", 0,
           "/s.csv: the first row, 'the cat sees the moth', is taken");
    static const char *const known[] = {"-q", "--no-header", "--column 'the cat sees the moth'", "--column 0",
                                        "--shard 1/2 -q"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        expect_exactly(printed("$A batch " MODEL "-f $D/s.csv %s --show tokens 2>&1 >/dev/null", known[i]), "");
    expect_exactly("printf 'text\nthe lamp\n' | $A batch " MODEL "-f - --input csv --show tokens 2>&1 >/dev/null", "");
    expect_exactly("$A batch " MODEL "-f $D/s.csv --shard 1/2 --show tokens 2>&1 >/dev/null | wc -l", "1\n");
}
END_TEST

START_TEST(an_empty_input_is_an_empty_output)
{
    expect("printf '\\n\\n' | $A batch " MODEL "-f - 2>&1", 0,
           "attn-cli batch: standard input: there is no sentence in it");
    expect_exactly("$A batch -q " MODEL "-f /dev/null 2>&1; $A batch " MODEL "-f /dev/null --shard 1/3 --stride 2>&1",
                   "");
    expect_exactly("printf '\\n\\n' | $A batch -q " MODEL
                   "-f - -o $D/e && wc -c <$D/e && grep -o '\"records\":0' $D/e.json | uniq",
                   "0\n\"records\":0\n");
}
END_TEST

Suite *suite_batch(void)
{
    Suite *s = suite_create("batch");
    TCase *records = tcase_create("records"), *formats = tcase_create("formats"), *manners = tcase_create("manners");
    TCase *all[] = {records, formats, manners};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tcase_add_checked_fixture(all[i], set_up, scratch_remove);
        tcase_set_timeout(all[i], 60);
        suite_add_tcase(s, all[i]);
    }
    tcase_add_test(records, a_record_is_the_document_of_run);
    tcase_add_test(records, records_say_which_they_are);
    tcase_add_test(records, equal_texts_have_equal_keys_and_are_two_records);
    tcase_add_test(records, a_bad_record_says_why);
    tcase_add_test(records, the_first_bad_record_may_be_the_last);
    tcase_add_test(records, usage);
    tcase_add_test(formats, directories_hold_what_run_writes);
    tcase_add_test(formats, a_tidy_table_has_a_header_and_records);
    tcase_add_test(formats, a_stack_has_one_array_a_name);
    tcase_add_test(formats, a_stack_may_begin_with_failures);
    tcase_add_test(formats, a_summary_is_a_line_of_figures);
    tcase_add_test(formats, threads_and_company_change_nothing);
    tcase_add_test(formats, a_large_sentence_is_written_as_a_small_one);
    tcase_add_test(manners, a_stream_goes_on_line_by_line);
    tcase_add_test(manners, nobody_has_to_read_it_all);
    tcase_add_test(manners, what_is_no_file_is_written_in_place);
    tcase_add_test(manners, a_dry_run_tells_and_writes_nothing);
    tcase_add_loop_test(manners, a_dry_run_estimates_what_would_be_written, 0, sizeof estimated / sizeof *estimated);
    tcase_add_test(manners, progress_is_told_when_asked);
    tcase_add_test(manners, an_empty_input_is_an_empty_output);
    tcase_add_test(manners, the_name_of_an_only_column_is_told);
    return s;
}

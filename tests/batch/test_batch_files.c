/* test_batch_files.c - which files a batch writes to: no file twice, none that it reads, none that another
 * process is writing. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>

static void set_up(void)
{
    shell_set_up();
    expect_exactly("printf 'Life is short\\nLife\\n' >$D/in", "");
}

START_TEST(the_input_is_not_written_to)
{
    static const char *const lines[] = {"-f $D/in -o $D/in", "-f $D/in -o $D/../${D##*/}/in", "-f $D/in -o $D/link",
                                        "-f - -o $D/in <$D/in",
                                        "-f $D/in -o $D/x --summary $D/in",
                                        "-f $D/in -o $D/x --summary $D/link --force", NULL};
    expect_exactly("ln -s in $D/link; cp $D/in $D/kept", "");
    for (const char *const *l = lines; *l; l++)
        expect(printed("$A batch %s 2>&1", *l), 2, ": is the input, and would be written to");
    expect("cp $D/in $D/x.json; $A batch -f $D/x.json -o $D/x 2>&1", 2, "/x.json: is the input");
    expect_exactly("rm $D/x.json; cmp $D/in $D/kept; ls $D | tr '\\n' ' '", "in kept link ");
}
END_TEST

START_TEST(the_summary_is_another_file_than_the_output)
{
    static const char *const names[][2] = {{"x", "x"}, {"x", "./x"}, {"x", "x.part"}, {"x", "x.json"},
                                           {"x", "x.part.json"}, {"x.part", "x"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(printed("$A batch -f $D/in -o $D/%s --summary $D/%s 2>&1", names[i][0], names[i][1]),
               2, "would be written to for the output and for the summary");
    expect("mkdir $D/d; $A batch -f $D/in --format npy -o $D/d --summary $D/d/records.ndjson 2>&1", 2,
           "for the output and for the summary");
    expect_exactly("rmdir $D/d; ls $D", "in\n");
}
END_TEST

START_TEST(the_summary_is_no_file_of_a_record)
{
    expect("$A batch -f $D/in --format npz -o $D/d --summary $D/d/000000/activations.npz 2>&1", 2,
           "is among the files of a record");
    expect_exactly("ls $D; cd $D; $A batch -q -f in --format npz -o d --summary d/s.csv; ls d",
                   "in\n000000\n000001\nrecords.ndjson\ns.csv\n");
}
END_TEST

/* What an older batch left in a directory would be taken for the new one's, but stays until that is complete. */
START_TEST(a_directory_begun_anew_has_nothing_older)
{
#define STACK "$A batch -q --force --format stack -o d "
#define LEFT(text) "blocks.0.attn." text ".npy\nrecords.ndjson\n"
    expect_exactly("cd $D; ends 3 " STACK "-f in --show pattern 2>/dev/null; ls d", LEFT("pattern"));
    expect_exactly("cd $D; echo soup >x; ends 1 " STACK "-f x --show context --fail-fast 2>/dev/null; ls d",
                   LEFT("pattern"));
    expect_exactly("cd $D; ends 3 " STACK "-f in --show context 2>/dev/null; ls d", LEFT("context"));
    expect_exactly("cd $D; printf 'soup\\nLife\\n' >y; ends 1 $A batch -q --format stack -o none -f y --fail-fast "
                   "2>/dev/null; rm y; "
                   "ls -d none* 2>/dev/null || :", "");
    expect_exactly("cd $D; : >x; " STACK "-f x --show context; ls d", "records.ndjson\n");
    expect_exactly("cd $D; $A batch -q --force -f in --format npz -o e; $A batch -q --force -f x --format npz -o e; ls e",
                   "records.ndjson\n");
    expect_exactly("cd $D; $A batch -q --force -f in --format npz -o e; printf 'soup\n"
                   "Life\n' >x; ends 3 $A batch -q --force -f x --format npz -o e 2>/dev/null; ls e",
                   "000001\nrecords.ndjson\n");
    expect_exactly("cd $D; ends 1 " STACK "-f in --show pattern --fail-fast 2>/dev/null; ls d; : >x; " STACK
                   "-f x --show pattern --force; ls d",
                   "blocks.0.attn.pattern.npy.part\nrecords.ndjson\nrecords.ndjson.part\nrecords.ndjson\n");
    expect_exactly("cd $D; rm -r d*; printf 'Life is\nLife is\n' >x; $A batch -q -f x --format npz -o d; " STACK
                   "-f x --show context; ls d;"
                   "$A batch -q --force -f x --format png -o d; find d -type f | sort", LEFT("context")
                   "d/000000/activations.png\nd/000001/activations.png\nd/records.ndjson\n");
    expect_exactly("cd $D; rm -r d*; $A run -q -s Life --show pattern --format npy -o d; ends 3 " STACK
                   "-f in --show context 2>/dev/null; ls d",
                   "blocks.0.attn.context.npy\nblocks.0.attn.pattern.npy\nmanifest.json\nrecords.ndjson\n");
}
END_TEST

START_TEST(a_slash_at_the_end_names_the_same_directory)
{
    expect("$A batch -f $D/in --format npy --show pattern -o $D/d/ 2>&1", 0, "");
    expect_exactly("cd $D; ls -A . d | tr '\\n' ' '", ".: d d.json in  d: 000000 000001 records.ndjson ");
    expect_exactly("stat -c %i $D/d.json >$D/was; $A batch -f $D/in --format npy --show pattern -o $D/d/ "
                   "--resume -q 2>&1;"
                   "stat -c %i $D/d.json | cmp - $D/was", "");
    expect("$A batch -f $D/in -o $D/file/ 2>&1", 2, "file/: is a directory, expected a file for ndjson");
}
END_TEST

START_TEST(files_of_others_stay)
{
    expect_exactly("cd $D && mkdir -p d/000000/mine && echo precious >d/000000/notes.txt && "
                   "$A batch -q --force -f in --format npy -o d && $A batch -q --force -f in --format png -o d && "
                   "$A batch -q --force -f in --format csv --show pattern -o d && ls -A d d/000000",
                   "d:\n000000\n000001\nrecords.ndjson\n\nd/000000:\nblocks.0.attn.pattern.head0.csv\nmanifest.json\n"
                   "mine\nnotes.txt\n");
    expect("cd $D && $A plot d 2>&1", 1, "d: holds a batch, a directory a record: name one of them, as d/000000");
    expect_exactly("cd $D && cat d/000000/notes.txt && ls -A d/000001 && rm -r d d.json",
                   "precious\nblocks.0.attn.pattern.head0.csv\nmanifest.json\n");
}
END_TEST

START_TEST(what_lies_beside_may_be_of_others)
{
    expect("cd $D && echo '{\"my\":\"notes\"}' >x.json && $A batch -q -f in --resume -o x 2>&1", 1,
           "x.json: is no file that a batch left");
    expect("cd $D && $A batch -q -f in --shard 0/1 -o p && $A merge p -o x 2>&1", 1,
           "x.json: is no file that a batch left");
    expect_exactly("cd $D && cat x.json && rm x.json && ls && rm p*", "{\"my\":\"notes\"}\nin\np\np.json\n");
}
END_TEST

START_TEST(what_is_finished_is_there)
{
    expect("cd $D && $A batch -q -f in -o x --summary y && $A batch -q -f in -o x --summary y --resume && mv y z && "
           "$A batch -q -f in -o x --summary y --resume 2>&1", 1, "y: cannot open");
    expect("cd $D && echo >>z && mv z y && $A batch -q -f in -o x --summary y --resume 2>&1", 1,
           "when it was finished: start anew with --force");
    expect("cd $D && rm y && $A batch -q --force -f in -o x --summary y && mv x.json x.part.json && rm x && "
           "$A batch -q -f in -o x --summary y --resume 2>&1",
           1, "x: cannot open: No such file");
    expect_exactly("cd $D && rm x.part.json y && ls", "in\n");
}
END_TEST

/* The batch that is refused leaves the other one's table alone. */
START_TEST(a_summary_is_written_by_one)
{
    expect_exactly("mkfifo $D/pipe; $A batch -q -f - -o $D/x --summary $D/y <$D/pipe & exec 3>$D/pipe; echo Life >&3;"
                   "until test -s $D/y.part; do sleep 0.01; done; "
                   "ends 1 $A batch -q -f $D/in -o $D/z --summary $D/y 2>$D/said;"
                   "grep -o 'y.part: another process is writing' $D/said; echo is >&3; exec 3>&-; wait; "
                   "rm $D/pipe $D/said; ls $D; wc -l <$D/y; rm $D/[xy]*",
                   "y.part: another process is writing\nin\nx\nx.json\ny\n3\n");
}
END_TEST

START_TEST(links_are_not_followed_to_what_is_removed)
{
    expect("cd $D && mkdir out precious && echo 1 >precious/one && ln -s ../precious out/.000000.part && "
           "$A batch -q -f in --format npy -o out 2>&1", 1,
           "000000.part: cannot create the directory");
    expect_exactly("cd $D && cat precious/one && rm -r out* precious", "1\n");
}
END_TEST

/* Only `-o` is typed: what is beside it and in it may be anything. */
START_TEST(what_nobody_typed_is_a_file)
{
    static const struct { const char *line, *says; } rows[] = {
        {"mkdir o; mkfifo o/records.ndjson; $B --format npy -o o",
         "o/records.ndjson: found a pipe or device, expected a regular file"},
        {"mkdir o; : >p; ln -s ../p o/records.ndjson; $B --format npy -o o",
         "o/records.ndjson: found a link, expected a regular file"},
        {"mkdir o; cp in one; mkfifo o/blocks.0.attn.pattern.npy; sed -i 1q in; $B --format stack --show pattern -o o",
         "o/blocks.0.attn.pattern.npy: found a pipe or device, expected a regular file"},
        {"mkfifo o.json; $B -o o --force", "o.json: found a pipe or device, expected a regular file"},
        {": >q.json; ln -s q.json o.json; $B -o o --force", "o.json: found a link, expected a regular file"},
        {"ln -s nothing o.json; $B -o o", "o.json: found a link, expected a regular file"},
        {"mkfifo o.part.json; $B -o o --resume", "o.part.json: found a pipe or device, expected a regular file"},
        {"$B -o p; ln -s p.json o.part.json; $B -o o --resume", "o.part.json: found a link, expected a regular file"},
        {"$B -o p; ln -s p o; ln -s p.json o.json; mv p.json q.json; ln -s q.json p.json; $B -o o --resume",
         "p.json: found a link"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(printed("cd $D; B='timeout -k 1 20 '$A' batch -q -f in'; %s 2>&1", rows[i].line), 1, rows[i].says);
        expect_exactly("cd $D; test ! -e one || mv one in; rm -rf o o.* p p.* q.json; cat in; ls",
                       "Life is short\nLife\nin\n");
    }
}
END_TEST

/* Numbers in the journal that no batch writes; the arrays it is about keep their bytes. */
START_TEST(numbers_of_a_journal_are_checked)
{
    static const struct { const char *what, *says; } rows[] = {
        {"s/\"tokens\":3/\"tokens\":9000000000000000000/",
         "are said to have 9000000000000000000 tokens, but the model takes "},
        {"s/\"records\":1/\"records\":6000000000000000000/g", "says that 6000000000000000000 records are in "},
        {"s/\"failed\":0/\"failed\":9000000000000000000/", "says that 9000000000000000000 of 1 records failed"},
        {"s/\"index\":0/\"index\":9000000000000000000/", "there is no shard 9000000000000000000/1"},
        {"s/\"count\":1/\"count\":9000000000000000000/", "holds shard 0/9000000000000000000, not 0/1"},
    };
    expect("cd $D; printf 'Life is short\n"
           "Life\n' >in; B=\"$A batch -q -f in --format stack --show pattern -o o\"; ends 1 $B --fail-fast 2>&1;"
           "grep -o '\"records\":1,\"failed\":0' o.part.json; mkdir kept; cp -r o o.part.json kept", 0, "records");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect(printed("cd $D; cp kept/o.part.json .; sed -i '%s' o.part.json; "
                       "timeout -k 1 20 $A batch -q -f in --format stack --show pattern -o o --resume 2>&1",
                       rows[i].what), 1, rows[i].says);
        expect_exactly("cd $D; diff -r o kept/o", "");
    }
    expect_exactly("cd $D; cp kept/o.part.json .; ends 3 $A batch -q -f in --format stack --show pattern -o o --resume "
                   "2>$D/said; ls -A o; rm -r kept o*",
                   "blocks.0.attn.pattern.npy\nrecords.ndjson\n");
}
END_TEST

/* Two of three records are done, and `lie` is told about them: --resume refuses that, and cuts nothing. */
START_TEST(lies_of_a_journal_are_found)
{
    static const struct { const char *options, *lie, *says; } rows[] = {
        {"", "s/\"bytes\":[0-9]*/\"bytes\":0/", "says that 2 records are in 0 bytes"},
        {"", "s/\"bytes\":[0-9]*/\"bytes\":77/g",
         "o.part: its first 77 bytes are not as they were written: start anew with --force"},
        {"", "s/\"sha256\":\"./\"sha256\":\"g/g", "\"sha256\" is not 64 hexadecimal digits"},
        {"--summary o.csv", "s/\"summary_bytes\":[0-9]*/\"summary_bytes\":1/", "says that 2 records are in 1 bytes"},
        {"--summary o.csv", "s/\"summary_bytes\":[0-9]*/\"summary_bytes\":99/g",
         "o.csv.part: its first 99 bytes are not as"},
        {"", "s/\"complete\":false/\"complete\":true/", "does not describe a finished output: start anew with --force"},
        {"", "s/\"total\":null,\"complete\":false/\"total\":3,\"complete\":true/",
         "shard 0/1 of 3 records has 3, it says 2: start anew"},
        {"--format stack --show pattern", "s/\"tokens\":3/\"tokens\":0/",
         "says that 2 sentences are in its arrays, of 0 tokens"},
        {"--format stack --show pattern", "s/\"tokens\":3/\"tokens\":2/",
         "its rows are not those of sentences of 2 tokens"},
        {"--format npz --show pattern", "s/\"synced\":{.*},\"tokens\"/\"tokens\"/",
         "is no file that a batch left beside its output"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_exactly(printed("cd $D; mkdir k; B='%s batch -q -f k/in -o o %s'; printf 'Life is short\n"
                               "eat dessert first\nzzz\n' >k/in;"
                               "ends 1 $B --fail-fast 2>/dev/null; sed -i 's/zzz/first is short/' k/in;"
                               "sed -i '%s' o.part.json; cp -r o* k", "'$A'", rows[i].options, rows[i].lie), "");
        expect(printed("cd $D; timeout -k 1 20 $A batch -q -f k/in -o o %s --resume 2>&1", rows[i].options), 1,
               rows[i].says);
        expect(printed("cd $D; timeout -k 1 20 $A batch -q -f - -o o %s --resume 2>&1 <k/in", rows[i].options), 1,
               rows[i].says);
        expect_exactly("cd $D; for f in o*; do test $f = o.part.json || diff -r $f k/$f; done; rm -r o* k; ls", "in\n");
    }
}
END_TEST

/* A byte was changed in place: in what is unfinished, in what is finished. */
START_TEST(a_changed_byte_is_found)
{
    static const struct { const char *options, *file, *says; } rows[] = {
        {"", "o", "bytes are not as they were written: start anew with --force"},
        {"--format tidy --show pattern", "o", "o.part: its first"},
        {"--summary s.csv", "s.csv", "s.csv.part: its first"},
        {"--format stack --show pattern", "o/blocks.0.attn.pattern.npy",
         "the rows of its arrays are not as they were written"},
        {"--format npz --show pattern", "o/records.ndjson", "o/records.ndjson.part: its first"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *f = rows[i].file, *o = rows[i].options;
        expect_exactly(printed("cd $D; printf 'Life is short\neat dessert first\n"
                               "zzz\n' >in; ends 1 $A batch -q -f in -o o %s --fail-fast 2>/dev/null;"
                               "sed -i 's/zzz/first is short/' in; mkdir k; cp -r o* k; cp s.* k 2>/dev/null || :; "
                               "printf '~' | dd of=%s.part bs=1 seek=150 conv=notrunc status=none", o, f), "");
        expect(printed("cd $D; $A batch -q -f in -o o %s --resume 2>&1", o), 1, rows[i].says);
        expect_exactly(printed("cd $D; rm -r o*; cp -r k/* .; $A batch -q -f in -o o %s --resume; "
                               "$A batch -q -f in -o o %s --resume;"
                               "printf '~' | dd of=%s bs=1 seek=150 conv=notrunc status=none; "
                               "ends 1 $A batch -q -f in -o o %s --resume 2>&1 | grep -c 'as they were written';"
                               "rm -r o* k; rm -f s.csv*", o, o, f, o), "1\n");
    }
}
END_TEST

/* Everything was written, but not everything renamed. */
START_TEST(what_is_renamed_is_there)
{
    static const struct { const char *options, *lost, *says; } rows[] = {
        {"", "mv o o.part; truncate -s 100 o.part", "o.part: has 100 bytes, and had "},
        {"", "rm o; mkdir o.part", "o.part: is no file, but it was when it was finished"},
        {"", "echo old >o", "o: has 4 bytes, and had "},
        {"--summary o.csv", "rm o.csv; mkfifo o.csv.part", "o.csv.part: is no file"},
        {"--format stack --show pattern", "rm o/*.npy", "pattern.npy: cannot open: No such file"},
        {"--format stack --show pattern", "echo >>o/blocks.0.attn.pattern.npy", "pattern.npy: has "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_exactly(printed("cd $D; printf 'Life is short\n"
                               "eat dessert first\n' >two; $A batch -q -f two -o o %s; mv o.json o.part.json; %s",
                               rows[i].options, rows[i].lost), "");
        expect(printed("cd $D; $A batch -q -f two -o o %s --resume 2>&1", rows[i].options), 1, rows[i].says);
        expect("cd $D; ls; rm -rf o o.* two", 0, "o.part.json");
    }
}
END_TEST

/* A summary has no journal of its own, but the rows of a batch that is not finished stay. */
START_TEST(rows_of_an_unfinished_batch_stay)
{
    expect("cd $D; printf 'Life\n"
           "zzz\n' >one; ends 1 $A batch -q -f one -o x --summary y --fail-fast 2>/dev/null; cp y.part kept;"
           "ends 1 $A batch -q -f in -o z --summary y 2>&1; ends 1 $A batch -q -f in -o z --summary y --resume 2>&1; "
           "cmp y.part kept; ls z*", 2,
           "y.part: a run with another output was not finished");
    expect_exactly("cd $D; sed -i s/zzz/is/ one; $A batch -q -f one -o x --summary y --resume && wc -l <y && "
                   "$A batch -q --force -f in -o x --summary y &&rm x* y one kept; ls", "3\nin\n");
}
END_TEST

/* What an older run left under the name of a record is removed, but not where a link leads. */
START_TEST(a_link_is_no_directory_of_a_record)
{
    expect("cd $D; mkdir precious o; echo p >precious/activations.npz; ln -s ../precious o/000000; printf 'zzz\n"
           "Life\n' >two;"
           "$A batch -q -f two --format npz -o o 2>&1", 1,
           "o/000000: is a link or a file, and would be taken for the directory of a record");
    expect_exactly("cd $D; cat precious/*; rm o/000000; ends 3 $A batch -q -f two --format npz -o o --resume "
                   "2>/dev/null; ls o; rm -r o* two precious",
                   "p\n000001\nrecords.ndjson\n");
}
END_TEST

/* A document called like a sidecar is none: it does not tell that what lies in the directory is ours. */
START_TEST(a_document_is_no_sidecar)
{
    expect_exactly("cd $D; $A run -s Life --format npy --show pattern -o o; echo {} >o.json; mkdir o/000099; "
                   "echo p >o/000099/activations.npz;"
                   "$A batch -q -f in --format npy --show pattern -o o --force; ls o o/000099; rm -r o*; ls",
                   "o:\n000000\n000001\n000099\nblocks.0.attn.pattern.npy\nmanifest.json\nrecords.ndjson\n\no/000099:\n"
                   "activations.npz\nin\n");
}
END_TEST

/* The names beside the output are ours, whatever somebody put there. */
START_TEST(links_beside_the_output_are_not_followed)
{
    static const char *const names[] = {"x.part", "x.part.json"};
    for (int i = 0; i < 2; i++) {
        expect(printed("cd $D && echo mine >victim && ln -s victim %s && $A batch -q -f in -o x --force 2>&1",
                       names[i]),
               1, ": found a link, expected a regular file");
        expect_exactly(printed("cd $D && cat victim && readlink %s && rm %s victim && ls", names[i], names[i]),
                       "mine\nvictim\nin\n");
    }
}
END_TEST

/* The journal was cut at its first write: there is nothing to go on from, and the way out is said. */
START_TEST(a_torn_journal_names_the_way_out)
{
    expect("cd $D && printf '{\"records\":0,' >x.part.json && : >x.part && $A batch -q -f in -o x --resume 2>&1", 1,
           ": start anew with --force");
    expect("cd $D && : >x.part.json && $A batch -q -f in -o x --resume 2>&1", 1, "start anew with --force");
    expect("cd $D && printf '{\"records\":0,' >x.part.json && $A batch -q -f in -o x 2>&1", 1, "--force");
    expect_exactly("cd $D && $A batch -q -f in -o x --force && ls && printf '{' >x.json", "in\nx\nx.json\n");
    expect("cd $D && $A batch -q -f in -o x 2>&1", 1, ": start anew with --force");
    expect_exactly("cd $D && rm x*; ls", "in\n");
}
END_TEST

/* Both have opened a file of this name, but only one of the files still has the name. */
START_TEST(of_two_that_begin_at_once_one_goes_on)
{
    expect_exactly("cd $D && for i in 1 2 3 4 5 6 7 8; do $A batch -q -f in -o x$i 2>>said & $A batch -q -f in -o "
                   "x$i 2>>said & wait; done; $A batch -q -f in >x && for i in 1 2 3 4 5 6 7 8; do cmp x x$i; done; "
                   "ends 1 grep -v 'another process is writing\\|was finished before\\|^try' said; ends 1 sh -c 'ls | grep part'; rm -f x* said",
                   "");
    expect_exactly("cd $D && : >x.part.json && $A batch -q -f in -o x && ls x*; rm x*", "x\nx.json\n");
    expect_exactly("cd $D && ends 1 $A batch -q -f in -m ./none -o x 2>/dev/null; ls", "in\n");
}
END_TEST

/* One batch has begun and waits for more input; then another one starts. */
#define WHILE_ONE_WRITES "mkfifo $D/pipe; $A batch -q -f - -o $D/x <$D/pipe & exec 3>$D/pipe; echo Life >&3;" \
                         "until test -s $D/x.part; do sleep 0.01; done;"
#define THEN_IT_ENDS "; echo is >&3; exec 3>&-; wait $!; rm $D/pipe; $A batch -q -f $D/both | cmp - $D/x; rm $D/x*"

START_TEST(one_process_writes_at_a_time)
{
    static const char *const more[] = {"--resume", "--force", ""},
        *const say[] = {"another process is writing", "another process is writing",
                                                                                  "x.part"};
    expect_exactly("printf 'Life\\nis\\n' >$D/both", "");
    for (int i = 0; i < 3; i++)
        expect(printed("%s ends 1 $A batch -f $D/both -o $D/x %s 2>&1 %s", WHILE_ONE_WRITES, more[i], THEN_IT_ENDS),
               0, say[i]);
}
END_TEST

/* The output is complete, but what it was made of cannot be written beside it: the command must not end as if
 * all were well. */
START_TEST(a_directory_in_the_way_at_the_end_is_an_error)
{
    expect("{ echo the cat; for i in $(seq 400); do test -e $D/o.part.json && break; sleep .05; done; mkdir $D/o.json; "
           "echo the cat; } |"
           "$A batch -f - -m models/stacked -o $D/o 2>&1", 1, "o.json: cannot replace: Is a directory");
}
END_TEST

/* What is beside an output says how it was made.  Without that, or with what is no JSON, nobody goes on with it
 * but by --force. */
START_TEST(nothing_goes_on_with_what_is_not_described)
{
    static const char batch[] = "cd $D && echo the cat >in && $A batch -q -f in -m \"$OLDPWD/models/stacked\" -o o ";
    static const struct { const char *first, *options; int status; const char *says; } lines[] = {
        {"echo x >o.part", "--resume", 1,
         "o.part: nothing beside it tells how it was made (o.part.json): start anew with --force"},
        {"echo '{' >o.part.json", "--resume", 1, "o.part.json: line 2, column 1: expected a key"},
        {"echo '{' >o.part.json", "", 1, "o.part: an earlier run was not finished"},
        {"echo '{' >o.part.json", "--force; ls", 0, "in\no\no.json\n"},
        {"echo '{' >o.json", "", 1, "o.json: line 2, column 1: expected a key"},
        {"echo '{' >o.json", "--resume", 1, "o.json: line 2, column 1: expected a key"},
        {"echo '{' >o.json", "--force; wc -l <o", 0, "1\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(printed("(cd $D && %s); %s%s 2>&1", lines[i].first, batch, lines[i].options), lines[i].status,
               lines[i].says);
}
END_TEST

Suite *suite_batch_files(void)
{
    Suite *s = suite_create("batch_files");
    TCase *t = tcase_create("files");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_set_timeout(t, 30);
    tcase_add_test(t, the_input_is_not_written_to);
    tcase_add_test(t, the_summary_is_another_file_than_the_output);
    tcase_add_test(t, the_summary_is_no_file_of_a_record);
    tcase_add_test(t, a_directory_begun_anew_has_nothing_older);
    tcase_add_test(t, a_slash_at_the_end_names_the_same_directory);
    tcase_add_test(t, files_of_others_stay);
    tcase_add_test(t, what_lies_beside_may_be_of_others);
    tcase_add_test(t, what_is_finished_is_there);
    tcase_add_test(t, a_summary_is_written_by_one);
    tcase_add_test(t, links_are_not_followed_to_what_is_removed);
    tcase_add_test(t, what_nobody_typed_is_a_file);
    tcase_add_test(t, numbers_of_a_journal_are_checked);
    tcase_add_test(t, lies_of_a_journal_are_found);
    tcase_add_test(t, a_changed_byte_is_found);
    tcase_add_test(t, what_is_renamed_is_there);
    tcase_add_test(t, rows_of_an_unfinished_batch_stay);
    tcase_add_test(t, a_link_is_no_directory_of_a_record);
    tcase_add_test(t, a_document_is_no_sidecar);
    tcase_add_test(t, links_beside_the_output_are_not_followed);
    tcase_add_test(t, a_torn_journal_names_the_way_out);
    tcase_add_test(t, of_two_that_begin_at_once_one_goes_on);
    tcase_add_test(t, one_process_writes_at_a_time);
    tcase_add_test(t, nothing_goes_on_with_what_is_not_described);
    tcase_add_test(t, a_directory_in_the_way_at_the_end_is_an_error);
    suite_add_tcase(s, t);
    return s;
}

/* Merging the shards of a batch: the bytes that one process writes, or an error that says why they do
 * not belong together. */
#include "suites.h"

#include "sanitized.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>

/* 23 sentences; the first three and another one are bad, so that one of seven shards has no good sentence. */
static void set_up(void)
{
    shell_set_up();
    succeed("cd $D && for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do case $i in 0|1|2|"
            "9) echo bad word;; "
            "*[05]) echo 'eat dessert first';; *) echo 'Life is short';; esac; echo; done >in.txt");
}

/* Runs a line in $D, with the format in $F and nothing or --stride in $S. */
static void in_scratch(const char *format, const char *stride, const char *line, int status, const char *part)
{
    expect(printed("cd $D && F=%s S=%s && { %s; } 2>&1", format, stride, line), status, part);
}

/* A shard with a bad sentence ends with status 3. */
#define SHARDS(n, more) "i=0; while [ $i -lt " #n " ]; do $A batch -q -f in.txt " \
    "--shard $i/" #n " " more " || test $? = 3; i=$((i + 1)); done"

static const struct { const char *format, *stride; } kinds[] = {
    {"ndjson", ""}, {"ndjson", "--stride"}, {"tidy", ""}, {"tidy", "--stride"}, {"summary", ""},
    {"summary", "--stride"},
    {"npy", ""}, {"npz", "--stride"}, {"csv", "--stride"}, {"stack", ""}, {"stack", "--stride"},
};

START_TEST(test_union)
{
    in_scratch(kinds[_i].format, kinds[_i].stride,
               "ends 3 $A batch -q -f in.txt --format $F -o one; " SHARDS(7, "$S --format $F -o part.$i") "; "
               "$A merge part.* -o all && diff -r one all && cmp one.json all.json && echo same", 0, "same");
}
END_TEST

START_TEST(test_summaries)
{
    in_scratch("csv", "--stride",
               "mkdir a b; ends 3 $A batch -q -f in.txt -o one.ndjson --summary one.csv; "
               SHARDS(3, "$S -o a/$i.ndjson --summary b/$i.csv") "; "
               "$A merge a/2.ndjson a/0.ndjson a/1.ndjson --summary all.csv >all.ndjson && cmp one.csv all.csv && "
               "cmp one.ndjson all.ndjson && test ! -e all.ndjson.json && echo same", 0, "same");
}
END_TEST

/* A pipe or a device that is named gets it, not standard output. */
START_TEST(test_into_a_pipe)
{
    in_scratch("ndjson", "", SHARDS(2, "-o part.$i") "; ends 3 $A batch -q -f in.txt -o one; mkfifo pipe; "
               "timeout 300 cat pipe >all & $A merge part.? -o pipe; wait; cmp one all && test ! -e pipe.json && "
               "echo same", 0, "same\n");
    in_scratch("ndjson", "", "ends 1 $A merge part.? -o /dev/full", 0,
               "/dev/full: cannot write: No space left on device");
}
END_TEST

/* Each of many paths may be the sidecar of another one. */
START_TEST(test_many_paths)
{
    in_scratch("ndjson", "", "ulimit -t 5; $A merge $(seq -f %06.0f.json 80000)", 1,
               "000001.json: cannot open: No such file or directory");
}
END_TEST

START_TEST(test_directories_with_a_slash)
{
    in_scratch("npy", "",
               SHARDS(2, "--format $F -o part.$i/") "; $A merge part.0/ part.1/ -o all/ && ls -d all/000007 all.json",
               0, "all.json\nall/000007");
    /* moved together with the summaries that are in them */
    in_scratch("npy", "", "rm -r all all.json part.*; "
               SHARDS(2, "--format $F -o part.$i/ --summary part.$i/rows") "; mkdir moved; "
               "mv part.* moved; $A merge moved/part.0 moved/part.1 -o all --summary sum.csv; test -s sum.csv && "
               "echo joined", 0, "joined");
}
END_TEST

/* With more shards than records some shards are empty. */
START_TEST(test_empty_shards)
{
    in_scratch("tidy", "",
               "printf 'Life\\nis\\n' >in.txt; $A batch -q -f in.txt --format $F -o one; "
               SHARDS(5, "--format $F -o part.$i") "; "
               "$A merge part.* | cmp - one && echo same", 0, "same");
}
END_TEST

#define DIRECTORIES(format) "rm part.*; " SHARDS(3, "--format " format " -o part.$i") "; "
#define TO_OTHER_FILES "x=$(mktemp -d -p /dev/shm); trap \"rm -rf $x\" EXIT; timeout -k 1 20 $A merge part.* -o $x/all"
#define TO_ALL "timeout -k 1 20 $A merge part.* -o all"

static const struct { const char *line; int status; const char *says; } refused[] = {
    {"$A merge part.0 part.2", 1, "shard 1/3 is missing: 2 of 3 are given"},
    {"$A merge part.0 part.1", 1, "shard 2/3 is missing: 2 of 3 are given"},
    {"cp part.1 twice; cp part.1.json twice.json; $A merge part.* twice", 1, "twice are both shard 1/3"},
    {"$A merge part.0 part.x", 1, "part.x: cannot open: No such file or directory"},
    {"$A merge in.txt", 1, "in.txt: there is no in.txt.json beside it: is it the output of batch?"},
    {"mv part.1 part.1.part; mv part.1.json part.1.part.json; $A merge part.0 part.1 part.2", 1,
     "part.1: shard 1/3 is not finished, 8 of its records are done: continue it with --resume"},
    {"ends 3 $A batch -q --force -f in.txt --shard 1/3 --show context -o part.1; $A merge part.*", 1,
     "the shards were not made the same way: part.0 without --show, part.1 with --show context"},
    {"ends 3 $A batch -q --force -f in.txt --shard 1/3 --format tidy -o part.1; $A merge part.*", 1,
     "the shards were not made the same way: part.0 with --format ndjson, part.1 with --format tidy"},
    {"ends 3 $A batch -q -f in.txt --shard 1/4 --force -o part.1; $A merge part.*", 1,
     "part.0 with 3 shards in all, part.1 with 4"},
    {"ends 3 $A batch -q --force -f in.txt --shard 1/3 --stride -o part.1; $A merge part.*", 1,
     "part.0 without --stride, part.1 with --stride"},
    {"echo Life >>in.txt; ends 3 $A batch -q --force -f in.txt --shard 1/3 -o part.1; $A merge part.*", 1,
     "part.0 with 23 records of the whole input, part.1 with 24"},
    {"ends 3 $A batch -q --force -m \"$OLDPWD/models/life-4-heads\" -f in.txt --shard 1/3 -o part.1; $A merge part.*", 1,
     "part.0 with the model of digest sampled:"},
    {"sed s/tool/fool/ part.1.json >x; sed s/0.1.0/0.0.9/ x >part.1.json; $A merge part.*", 1,
     "part.1 with version 0.0.9"},
    {"echo >>part.1; $A merge part.*", 1, "when it was finished: run this shard again"},
    {"printf x | dd of=part.1 bs=1 seek=99 conv=notrunc; $A merge part.*", 1,
     "part.1: its bytes are not those it had when it was finished"},
    {"rm part.*; " SHARDS(3, "-o part.$i --summary rows.$i") "; printf 9 | dd of=rows.1 bs=1 seek=120 conv=notrunc; "
     "$A merge part.* -o all --summary sum", 1,
     "rows.1: its bytes are not those it had"},
    {DIRECTORIES("stack") "for f in part.2/*.npy; do printf x | dd of=$f bs=1 seek=300 conv=notrunc; break; done; "
     "$A merge part.* -o all", 1,
     "part.2: the rows of its arrays are not those it had when it was finished: run this shard again"},
    {DIRECTORIES("npy") "for f in part.2/0*/*.npy; do printf x | dd of=$f bs=1 seek=150 conv=notrunc; break; done; "
     "$A merge part.* -o all", 1,
     ".npy: its bytes are not those it had when it was written: run this shard again"},
    {"tr '\\n' ' ' <part.1 >x; mv x part.1; $A merge part.*", 1, "part.1: a record is missing at its end"},
    {"sed 's/\"text\"/\"te\\nt\"/' part.1 >x; mv x part.1; $A merge part.*", 1,
     "part.1: more than its records is there"},
    {"echo '{' >part.1.json; $A merge part.*", 1, "part.1.json"},
    {"$A merge part.* -o part.1", 2, "part.1: is the input, and would be written to"},
    {"$A merge part.0 part.1 part.2 -o part.1.json", 2, "part.1.json: is a file of one of the shards"},
    {"rm part.*; " SHARDS(3, "-o part.$i --summary rows.$i") "; $A merge part.* -o all --summary rows.1", 2,
     "rows.1: is a file of one of the shards"},
    {"rm part.*; " SHARDS(3, "-o part.$i --summary rows.$i") "; $A merge part.* -o all --summary ./all", 2,
     "./all: would be written to for the output"},
    {"rm part.*; " SHARDS(3, "-o part.$i --summary rows.$i") "; $A merge part.* -o all --summary ./all.json", 2,
     "/all.json: would be written to for the output"},
    {"rm part.*; " SHARDS(3, "--format npz -o part.$i --summary rows.$i") "; $A merge part.* -o all --summary "
     "part.1/records.ndjson", 2,
     "part.1/records.ndjson: is a file of one of the shards"},
    {"$A merge part.* -o all --summary sum.csv", 1, "was made without --summary, so that there is none to join"},
    {"$A merge", 2, "what to merge? give the outputs of all shards"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; $A merge part.*", 2, "become a directory: name it with -o"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; mkdir all; touch all/x; $A merge part.* -o all", 1,
     "all: is there already: remove it, or give another name"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; rm -r part.1/000007; $A merge part.* -o all", 1,
     "part.1: has the directories of 6 records, and had those of 7 when it was finished"},
    {"rm part.*; " SHARDS(3, "--format stack -o part.$i") "; rm part.1/*context.npy; $A merge part.* -o all", 1,
     "part.1: has no blocks.0.attn.context.npy, which other shards have"},
    {"rm part.*; " SHARDS(3, "--format stack -o part.$i") "; rm part.0/*context.npy; $A merge part.* -o all", 1,
     "part.0: has no blocks.0.attn.context.npy, which other shards have"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; rm part.0/0*/*context.npy; $A merge part.* -o all", 1,
     "/blocks.0.attn.context.npy: cannot open"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; rm part.0/0*/*; $A merge part.* -o all", 1,
     ": does not have the files it had when it was written"},
    {"rm part.*; " SHARDS(3, "--format npy -o part.$i") "; for d in part.0/0*; do echo >>$d/manifest.json; done; "
     "$A merge part.* -o all", 1,
     "/manifest.json: is not as it was written"},
    {"rm part.*; " SHARDS(3, "--format csv -o part.$i") "; for d in part.1/0*; do echo >>$d/blocks.0.attn.context.csv; "
     "done; $A merge part.* -o all", 1,
     "/blocks.0.attn.context.csv: has "},
    {"rm part.*; " SHARDS(3, "--format png -o part.$i") "; rm part.0/0*/activations.png; $A merge part.* -o all", 1,
     ": does not have the files it had when it was written"},
    {"rm part.*; " SHARDS(3, "--format stack -o part.$i") "; cp part.0/*context.npy part.1/; $A merge part.* -o all", 1,
     "does not have the 8 rows"},
    {"rm part.*; " SHARDS(2, "--format stack -o part.$i") "; LC_ALL=C sed -i '1s/, 1, 3, 3), }   /, 3, 3), }      /' "
     "part.0/*pattern.npy;"
     "$A merge part.* -o all", 1, "part.1/blocks.0.attn.pattern.npy: its shape is not that of the other shards"},
    {"rm part.*; " SHARDS(2, "--format stack -o part.$i") "; LC_ALL=C sed -i '1s/, 3, 4)/, 4, 3)/' "
     "part.0/*context.npy; $A merge part.* -o all",
     1, "part.0/blocks.0.attn.context.npy: its sentences do not have the 3 tokens they had"},
    {"rm part.*; " SHARDS(3, "--format stack -o part.$i") "; sed -i '1s/\"tokens\":3/\"tokens\":0/' part.1.json; "
     "$A merge part.* -o all", 1,
     " sentences are in its arrays, of 0 tokens: it was changed"},
    {"rm part.*; sed -i 's/.*/zzz/' in.txt; "
     SHARDS(2, "--format stack -o part.$i") "; sed -i '1s/\"tokens\":0/\"tokens\":3/' part.0.json;"
     "$A merge part.* -o all", 1, "part.0.json: says that 0 sentences are in its arrays, of 3 tokens: it was changed"},
    {"mkfifo pipe.json; timeout -k 1 20 $A batch -q -f in.txt -o pipe", 1,
     "pipe.json: found a pipe or device, expected a regular file"},
    {"mkfifo pipe.json; timeout -k 1 20 $A merge part.* -o pipe", 1,
     "pipe.json: found a pipe or device, expected a regular file"},
    {"ln -s nothing x.json; $A merge part.* -o x", 1, "x.json: found a link, expected a regular file"},
    {"mv part.1.json x; ln -s x part.1.json; " TO_ALL, 1, "part.1.json: found a link, expected a regular file"},
    {"mv part.1.json x; ln -s nothing part.1.json; " TO_ALL, 1, "part.1.json: found a link, expected a regular file"},
    {"rm part.1; mkfifo part.1; " TO_ALL, 1, "part.1: found a pipe or device, expected a regular file"},
    {"ln -s part.1 x; $A merge part.* x -o all", 1, "are both shard 1/3"},
    {"truncate -s 1T part.1; " TO_ALL, 1, "part.1: has 1099511627776 bytes, and had "},
    {": >part.1; truncate -s 1T part.1; sed -Ei 's/\"bytes\":[0-9]+/\"bytes\":1099511627776/g' part.1.json; " TO_ALL, 1,
     "part.1: a record is missing at its end"},
    /* what a sidecar names, and says of numbers */
    {"rm part.*; " SHARDS(1, "-o part.$i --summary rows") "; mkfifo ff; "
     "sed -i 's/\"summary\":\"[^\"]*/\"summary\":\"ff/' part.0.json; "
     TO_ALL " --summary sum", 1, "ff: found a pipe or device, expected a regular file"},
    {"rm part.*; "
     SHARDS(1, "-o part.$i --summary rows") "; sed -i 's#\"summary\":\"[^\"]*#\"summary\":\"/dev/zero#' part.0.json; "
     TO_ALL " --summary sum", 1, "/dev/zero: found a pipe or device, expected a regular file"},
    {"rm part.*; " SHARDS(1, "--format tidy -o part.$i") "; sed -i 1q part.0; sed -Ei 's/\"(records|next|"
     "total)\":23/\"\\1\":9000000000000000000/g; "
     "s/\"bytes\":[0-9]+/\"bytes\":'$(stat -c %s part.0)'/g' part.0.json; " TO_ALL, 1,
     "says that 9000000000000000000 records are in "},
    {"rm part.*; "
     SHARDS(1, "--format tidy -o part.$i") "; sed -Ei 's/\"(records|next|total)\":23/\"\\1\":9000000000000000000/g; "
     "s/\"bytes\":[0-9]+/\"bytes\":9000000000000000000/g' part.0.json; " TO_ALL, 1,
     "and had 9000000000000000000 when it was finished"},
    {"sed -Ei 's/\"total\":23/\"total\":9000000000000000000/' part.*.json; " TO_ALL, 1,
     " of 9000000000000000000 records has 3000000000000000000, it says "},
    {"sed -i 's/\"failed\":/\"failed\":9/' part.1.json; " TO_ALL, 1, " of 8 records failed"},
    {"sed -i 's/\"index\":1/\"index\":3/' part.1.json; " TO_ALL, 1, "part.1.json: there is no shard 3/3"},
    {"sed -i 's/\"count\":3/\"count\":9000000000000000000/' part.1.json; " TO_ALL, 1, "part.1.json: "},
    /* what is in a shard's directory */
    {DIRECTORIES("npy") "rm part.1/records.ndjson; mkfifo part.1/records.ndjson; " TO_ALL, 1,
     "records.ndjson: found a pipe or device"},
    {DIRECTORIES("npy") "mv part.1/records.ndjson x; ln -s ../x part.1/records.ndjson; " TO_ALL, 1,
     "records.ndjson: found a link"},
    {DIRECTORIES("stack") "rm part.1/*context.npy; mkfifo part.1/blocks.0.attn.context.npy; " TO_ALL, 1,
     "context.npy: found a pipe or device"},
    {DIRECTORIES("stack") "rm part.1/*context.npy; ln -s /dev/zero part.1/blocks.0.attn.context.npy; " TO_ALL, 1,
     "context.npy: found a link"},
    {DIRECTORIES("npy") "ln -s /etc/hostname part.0/000004/extra; " TO_ALL, 1,
     "part.0/000004/extra: is not among the files that batch wrote"},
    {DIRECTORIES("npy") "ln -s /etc/hostname part.0/000004/extra; " TO_OTHER_FILES, 1,
     "part.0/000004/extra: is not among the files that batch wrote"},
    {DIRECTORIES("png") "mkfifo part.0/000004/extra; " TO_OTHER_FILES, 1,
     "part.0/000004/extra: is not among the files that batch wrote"},
    {DIRECTORIES("csv") "mkdir part.0/000004/extra; " TO_ALL, 1,
     "part.0/000004/extra: is not among the files that batch wrote"},
    {DIRECTORIES("npz") "echo >part.0/000004/extra; " TO_ALL, 1,
     "part.0/000004/extra: is not among the files that batch wrote"},
    {DIRECTORIES("npy") "mv part.0/000004/*context.npy x; ln -s ../../x part.0/000004/blocks.0.attn.context.npy; "
     TO_ALL, 1, "context.npy: found a link"},
    {DIRECTORIES("npy") "rm part.0/000004/manifest.json; mkfifo part.0/000004/manifest.json; " TO_ALL, 1,
     "manifest.json: found a pipe or device"},
    {DIRECTORIES("npy") "sed -i '0,/^{.file/{/^{.file/p}' part.0/000004/manifest.json; " TO_ALL, 1,
     "is listed twice in the manifest beside it"},
    {DIRECTORIES("svg") "rm part.0/000004/*; ln -s ../000005/activations.svg part.0/000004; " TO_OTHER_FILES, 1,
     "activations.svg: found a link"},
    {DIRECTORIES("npy") "mv part.0/000004 x; ln -s ../x part.0/000004; " TO_ALL, 1,
     "part.0/000004: found a link or a file, expected the directory of a record"},
    {DIRECTORIES("npy") "rm -r part.0/000004; mkfifo part.0/000004; " TO_ALL, 1,
     "part.0/000004: found a link or a file, expected the directory of a record"},
    {DIRECTORIES("npy --summary rows.$i") TO_ALL " --summary all/records.ndjson", 2,
     "/records.ndjson: would be written to for the output and for"},
    /* where the merged directory is put together */
    {DIRECTORIES("npy") "mkdir -p .all.part/000001; echo >.all.part/000001/notes; " TO_ALL, 1,
     ".all.part/000001/notes: is no file of an interrupted merge"},
    {DIRECTORIES("npy") "mkdir -p .all.part/mine; " TO_ALL, 1, ".all.part/mine: is no file of an interrupted merge"},
    {DIRECTORIES("npy") "mkdir x; echo >x/precious.csv; ln -s x .all.part; ends 1 " TO_ALL
     "; test -e x/precious.csv && exit 1", 1, ".all.part: is no directory"},
    {DIRECTORIES("npy") "echo >.all.part; " TO_ALL, 1, ".all.part: is no directory"},
};

START_TEST(test_refused)
{
    char line[2000];
    snprintf(line, sizeof line, "%s; %s", SHARDS(3, "-o part.$i"), refused[_i].line);
    in_scratch("ndjson", "", line, refused[_i].status, refused[_i].says);
    in_scratch("ndjson", "", "ls -d all* && ! grep -v old all.json",
               refused[_i].says[0] == 'a' && refused[_i].says[1] == 'l' ? 0 : 2, "");
}
END_TEST

/* A size of 0 lets the others be any: their digits must not fill more than a header. */
START_TEST(test_sizes_that_are_none)
{
    in_scratch("ndjson", "", "printf '{\"ids\": [1, 2, 3]}\\n{\"ids\": [4, 5, 6]}\\n' >ids.ndjson; for i in 0 1; do "
               "$A batch -m tiny -f ids.ndjson --format stack --show pattern --layer 0 -o p$i --shard $i/2 -q; "
               "x=9999999999999999999; printf '\\223NUMPY\\001\\000\\366\\000%-245s\\n' \"{'descr': '<f4', "
               "'fortran_order': False, 'shape': (1, 0, $x, $x, $x, $x, 3, $x), }\" >p$i/blocks.0.attn.pattern.npy; "
               "done; $A merge p0 p1 -o all", 1,
               "has 8 axes and 0 numbers, which no array of a stack has");
}
END_TEST

/* ---- merging again ------------------------------------------------------------------------- */

/* Notes the shards, and checks that they are still as noted; and that nothing of a merge is left beside its output. */
#define NOTE "mkdir noted; cp -r part* rows* noted; "
#define CHECK "for f in noted/*; do diff -r $f ${f#noted/}; done; for f in .[!.]*; do test ! -e $f; done; "

START_TEST(test_a_failed_merge_is_repeated)
{
    in_scratch(kinds[_i].format, kinds[_i].stride,
               "ends 3 $A batch -q -f in.txt --format $F -o one --summary one.csv; "
               SHARDS(3, "$S --format $F -o part.$i --summary rows.$i") "; " NOTE
               "ends 1 $A merge part.? -o all --summary /dev/full; ends 1 sh -c 'ls | grep all'; " CHECK
               "for again in 1 2; do $A merge part.? -o all --summary sum.csv; diff -r one all; "
               "sed s/one.csv/sum.csv/ one.json | cmp - all.json; "
               "cmp one.csv sum.csv; " CHECK "done; echo same", 0, "same");
}
END_TEST

/* A directory that is not that of the same shards is somebody's. */
START_TEST(test_what_is_merged_is_recognised)
{
    in_scratch("npy", "",
               SHARDS(2, "--format $F -o part.$i --summary rows.$i") "; $A merge part.? -o all --summary all/sum.csv; "
               "test -s all/sum.csv; ls -i all >ino; $A merge part.? -o all --summary all/sum.csv; ls -i all | "
               "cmp - ino && echo same", 0, "same");
    in_scratch("npy", "", "$A merge part.? -o all", 1, "all: is there already: remove it, or give another name");
    in_scratch("npy", "", "cp all.json kept; sed -i s/sum.csv/gone.csv/ all.json; "
               "$A merge part.? -o all --summary all/gone.csv", 1, "is there already");
    in_scratch("npy", "", "rm all.json; $A merge part.? -o all --summary all/sum.csv", 1, "all: is there already");
    in_scratch("npy", "", "mv kept all.json; rm -r part*; "
               SHARDS(2, "--show context --format $F -o part.$i --summary rows.$i") "; "
               "$A merge part.? -o all --summary all/sum.csv", 1, "all: is there already");
    in_scratch("npy", "", "ls -i all | cmp - ino && echo same", 0, "same");
}
END_TEST

#define GOOD "mkdir good; cp -r all all.json good; test $W != sum.csv || mv sum.csv good; rm -r all all.json"
#define AGAIN "rm -f .attn-*.tmp; $A merge part.? -o all --summary $W; for f in good/*; do diff -r $f ${f#good/}; " \
    "done; rm -rf all all.json sum.csv; "

/* Killed before any call that changes a file, it is done again, with the same bytes, and the shards are as they were;
 * also where there was an empty directory before. */
START_TEST(test_a_killed_merge_is_repeated)
{
    static const char *const summaries[] = {"W=sum.csv; ", "W=all/sum.csv; "};
    char line[2000];
    if (SANITIZED) {
        skipped("a malloc that is not a sanitizer's", NULL);
        return;
    }
    snprintf(line, sizeof line, "%sprintf 'Life is short\\nbad\\nis\\n' >in.txt; "
             SHARDS(2, "--format $F -o part.$i --summary rows.$i") "; " NOTE
             "$A merge part.? -o all --summary $W; " GOOD, summaries[_i]);
    in_scratch("npy", "", line, 0, "");
    snprintf(line, sizeof line,
             "%struncate -s 1M state; n=0; killed=137; while test $killed = 137; do n=$((n + 1)); killed=0; "
             "test $((n %% 2)) = 0 || mkdir all; "
             "LD_PRELOAD=$FAULT FAULT_STATE=state FAULT_HOW=before FAULT_AT=$n $A merge part.? -o all --summary $W || "
             "killed=$?; "
             AGAIN CHECK "done 2>/dev/null; test $killed = 0; test $n -gt 10; echo same", summaries[_i]);
    in_scratch("npy", "", line, 0, "same");
}
END_TEST

/* The same at any time. */
START_TEST(test_a_merge_killed_at_any_time_is_repeated)
{
    in_scratch("csv", "", "W=sum.csv; " SHARDS(2, "--format $F -o part.$i --summary rows.$i") "; " NOTE
               "$A merge part.? -o all --summary $W; " GOOD "; "
               "for s in 001 002 003 004 005 006 008 010 012 015 020; "
               "do $A merge part.? -o all --summary $W & sleep 0.$s; kill -KILL $! || true; wait $! || true; "
               AGAIN CHECK "done 2>/dev/null; echo same", 0, "same");
}
END_TEST

Suite *suite_merge(void)
{
    Suite *s = suite_create("merge");
    TCase *t = tcase_create("merge");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_add_loop_test(t, test_union, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(t, test_summaries);
    tcase_add_test(t, test_into_a_pipe);
    tcase_add_test(t, test_many_paths);
    tcase_add_test(t, test_directories_with_a_slash);
    tcase_add_test(t, test_empty_shards);
    tcase_add_loop_test(t, test_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, test_sizes_that_are_none);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_a_failed_merge_is_repeated, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(t, test_what_is_merged_is_recognised);
    tcase_add_loop_test(t, test_a_killed_merge_is_repeated, 0, 2);
    tcase_add_test(t, test_a_merge_killed_at_any_time_is_repeated);
    suite_add_tcase(s, t);
    return s;
}

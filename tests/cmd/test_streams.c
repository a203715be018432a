/* Where the program's input comes from and its output goes: full disks, closed pipes, files that
 * change, signals, terminals. */
#include "suites.h"

#include "sanitized.h"
#include "scratch.h"
#include "shell.h"
#include "terminal.h"

#include "base/simd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE "'Life is short, eat dessert first'"

struct usage { const char *args, *says; };

/* ---- streams and files ---- */

static const char *const writers[] = {
    "help", "help --man", "tokenize -s " LIFE, "info", "info --format json", "vocab -s x", "run -s " LIFE,
    "run -s " LIFE " --format json", "run -s " LIFE " --format tidy", "run -s " LIFE " --show pattern --format csv",
    "run -m models/stacked -s 'the cat' --metric loss",
    "run -m models/stacked -s 'the cat' --metric kl --ablations --format json",
    "generate -m models/stacked -n 4 -s 'the cat'", "generate -m models/stacked -n 4 -s 'the cat' --format json",
    "score -m models/stacked -s 'the cat'", "score -m models/stacked -s 'the cat' --format json",
};

/* The text is so long that its output would not fit into stdio's buffer: it would show. */
START_TEST(what_cannot_run_writes_nothing)
{
    static const char *const formats[] = {"text", "json", "tidy", "csv", "svg"};
    char line[256];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(line, sizeof line, "seq -s ' ' 9000 | sed 's/[0-9]*/Life/g' >$D/long; "
                 "{ ends 1 \"$A\" run -f $D/long --show pattern --head 0 --layer 0 --format %s 2>$D/said; } | wc -c; "
                 "cat $D/said", formats[i]);
        expect(line, 0, "0\nattn-cli run: the text has 9000 tokens, but model ");
        snprintf(line, sizeof line, "{ ends 1 \"$A\" run --ids 0,1,9999 --show pattern --head 0 --layer 0 --format %s "
                 "2>$D/said; } | wc -c; cat $D/said",
                 formats[i]);
        expect(line, 0, "0\nattn-cli run: token 2 has id 9999, but model ");
    }
}
END_TEST

START_TEST(full_disk_is_an_error)
{
    expect(printed("\"$A\" %s 2>&1 >/dev/full", writers[_i]), 1, "No space left on device");
}
END_TEST

START_TEST(closed_pipe_ends_quietly)
{
    char line[256];
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    int high = fcntl(fds[1], F_DUPFD, 10);      /* one of the two may already have been number 9 */
    close(fds[0]);
    close(fds[1]);
    ck_assert_int_eq(dup2(high, 9), 9);
    close(high);
    expect_exactly(printed("\"$A\" %s 2>&1 >&9", writers[_i]), *writers[_i] == 'v' ? "1 word\n" : "");
    close(9);
    snprintf(line, sizeof line, "\"$A\" %s 2>/dev/null", writers[_i]);
    ck_assert_msg(succeed(line)->len > 0, "%s\nhas nothing to write", line);
}
END_TEST

/* What the line writes to a pipe that does not block, is full, and is not read for some time; as it is
 * written to `fd`. */
static const char *through_full_pipe(const char *line, int fd)
{
    static char text[1 << 18];
    int ends[2];
    size_t filled = 0, len = 0;
    ck_assert(!pipe(ends) && !fcntl(ends[1], F_SETFL, O_NONBLOCK));
    while (write(ends[1], "x", 1) == 1)
        filled++;
    pid_t child = start_line(line, ends, fd);
    usleep(300000);
    for (ssize_t n; (n = read(ends[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_ge(len, filled);
    return text + filled;
}

START_TEST(slow_readers_get_everything)
{
    ck_assert_str_eq(through_full_pipe("exec \"$A\" help run", STDOUT_FILENO), succeed("\"$A\" help run")->text);
    ck_assert_str_eq(through_full_pipe("exec \"$A\" rnu", STDERR_FILENO), succeed("ends 2 \"$A\" rnu 2>&1")->text);
}
END_TEST

START_TEST(closed_streams_are_errors)
{
    expect("\"$A\" tokenize -s Life 2>&1 >&-", 1, "standard output");
    expect("\"$A\" run -s Life 2>&1 >&-", 1, "cannot write");
    expect("\"$A\" tokenize -f - 2>&1 <&-", 1, "standard input: cannot read");
}
END_TEST

/* The first call refused is the one that opens /dev/null in place of standard input. */
START_TEST(closed_streams_without_a_null_device)
{
    setenv("FAULTY", "truncate -s 1M $D/state; LD_PRELOAD=$FAULT FAULT_STATE=$D/state FAULT_HOW=", 1);
    if (SANITIZED || PORTABLE) {
        skipped("a malloc that is not a sanitizer's", NULL);
        return;
    }
    expect_exactly("eval $FAULTY'fail FAULT_AT=1 \"$A\" tokenize -q -s Life --format ids <&-'; head -c 20 $D/state | "
                   "tail -c 4", "0\nopen");
    expect("eval $FAULTY'fail FAULT_AT=1 \"$A\" tokenize -f - 2>&1 <&-'", 1, "standard input: cannot read");
    expect("eval $FAULTY'rest FAULT_AT=1 \"$A\" tokenize -s Life 2>&1 <&-'", 1,
           "a standard stream is closed, and nothing could");
}
END_TEST

static const struct usage bad_files[] = {
    {"run -f $D/absent", "absent: cannot open: No such file"},
    {"run -f tests", "tests: cannot read: Is a directory"},
    {"run -f Makefile/x", "Makefile/x: cannot open: Not a directory"},
    {"tokenize -f - < tests", "standard input: cannot read: Is a directory"},
    {"run -s ''", "empty"},
    {"run -s ' '", "empty"},
    {"generate -s ''  -m models/stacked", "empty"},
    {"score -s ''  -m models/stacked", "empty"},
    {"generate -s Life", "model life has no output layer"},
    {"score -s Life", "model life has no output layer"},
    {"generate -s Life -m models/life-full", "no output layer"},
    {"run -s x -m nowhere", "nowhere"},
    {"run -s x -m tests/", "tests/"},
    {"run -s x -m models/life/config.json", "config.json: is a file, expected the directory of a model"},
    {"run -f models/life/model.safetensors", "model.safetensors: line 1: not UTF-8 at byte "},
    {"run -m life -f - < models/life/model.safetensors", "standard input: line 1: not UTF-8 at byte "},
    {"run -s Life -o /dev/null/x.json", "x.json"},
    {"vocab -s x -o /dev/null/x.json", "x.json: cannot create"},
    {"vocab -s x -o tests", "tests: is a directory, expected a file"},
    {"vocab -s x -o /dev/full", "No space left on device"},
    {"init -o $D/m --vocab $D/absent", "absent: cannot open"},
    {"init -o $D/m --config Makefile", "Makefile: "},
    {"init -o $D/m --vocab-size 3 --n-layer 1 --n-head 2 --d-model 3", "options: "},
};

START_TEST(bad_files_end_with_1_and_a_name)
{
    expect(printed("\"$A\" %s 2>&1", bad_files[_i].args), 1, bad_files[_i].says);
}
END_TEST

START_TEST(long_paths_leave_room_for_the_reason)
{
    expect("P=$(printf '%0250d' 1); \"$A\" run -m life -f $P/$P 2>&1", 1, ": cannot open: No such file or directory");
    expect("P=$(printf '%0250d' 1); \"$A\" run -m life -s Life -o /dev/null/$P/x.json 2>&1", 1,
           "/x.json: cannot create: Not a directory");
}
END_TEST

START_TEST(limit_of_file_size_is_an_error)
{
    if (SANITIZED)                      /* sanitizers write a file of their own at start */
        return;
    expect("ulimit -f 0; \"$A\" vocab -s Life -o $D/v 2>&1", 1, "File too large");
    ck_assert_uint_eq(succeed("ls -A \"$D\"")->len, 0);
    /* A dump stays as it is where nothing can be written, and a new one leaves nothing. */
    succeed("\"$A\" run -q -s Life --format npy -o $D/dump && ls -A $D/dump | xargs -I% sha256sum $D/dump/% >$D/sums");
    expect("ulimit -f 0; \"$A\" run -q -s 'Life is' --format npy -o $D/dump 2>&1", 1, "File too large");
    expect("ulimit -f 0; \"$A\" run -q -s 'Life is' --format npy -o $D/none 2>&1", 1, "File too large");
    succeed("sha256sum -c --quiet $D/sums && test $(ls -A $D/dump | wc -l) = $(wc -l <$D/sums) && test ! -e $D/none");
    /* Neither does a merge change its summary alone. */
    succeed("cd $D && for t in Life 'Life is short'; do for i in 0 1; do printf \"$t\\n$t\\n\" | "
            "\"$A\" batch -q -f - --show '*' --shard $i/2 --stride --force -o p$i.ndjson --summary s$i.csv; done; "
            "test -e all.ndjson || { \"$A\" merge -q p0.ndjson p1.ndjson -o all.ndjson --summary s.csv && "
            "sha256sum all.ndjson all.ndjson.json s.csv >sums; }; done");
    expect("cd $D && ulimit -f 2; \"$A\" merge -q p0.ndjson p1.ndjson -o all.ndjson --summary s.csv 2>&1", 1,
           "all.ndjson: cannot write: File too large");
    succeed("cd $D && sha256sum -c --quiet sums");
}
END_TEST

/* Those of killed processes go, however young; one that is locked is written still. */
START_TEST(temporary_files_that_were_left_go)
{
    succeed("mkdir $D/d && cd $D/d && touch .attn-fedcba9876543210.tmp && "
            "touch -d '1 hour ago' .attn-0123456789abcdef.tmp .attn-00000000000000aa.tmp .attn-1.tmp mine");
    expect_exactly("exec 9<$D/d/.attn-00000000000000aa.tmp && flock -n 9 && "
                   "\"$A\" run -q -s Life --show pattern --format npy -o $D/d && ls -A $D/d",
                   ".attn-00000000000000aa.tmp\n.attn-1.tmp\nblocks.0.attn.pattern.npy\nmanifest.json\nmine\n");
}
END_TEST

#define PATTERNS "\"$A\" run -q -m induction -s 'cat dog' --show pattern "

/* The command that the message names writes them; a directory is made with its parents, which go again if
 * nothing is written. */
START_TEST(directories_are_made_as_typed)
{
    expect_exactly("cd $D; ends 2 " PATTERNS "-o heat.csv 2>&1 | head -1 | "
                   "sed 's/.*give a directory: attn-cli/\"$A\"/' >line; cat line; . ./line; ls heat | wc -l",
                   "\"$A\" run --model induction --sentence 'cat dog' --show pattern --format csv -o heat\n3\n");
    expect_exactly("cd $D; ends 2 \"$A\" run -m tiny --layer 0 -s \"$(printf '%099d ' 1)\" --show pattern -o heat.csv "
                   "2>&1 | head -1",
                   "attn-cli run: heat.csv takes one matrix of csv, but 4 matrices are selected; "
                   "select one, or give a directory: --format csv -o heat\n");
    expect_exactly("cd $D; " PATTERNS "-o h/; " PATTERNS
                   "--format npy -o a/b//c/; ls h a/b/c | grep -c csv; ls a/b/c | grep -c npy", "2\n2\n");
    expect_exactly("cd $D; ulimit -f 0; ends 1 " PATTERNS "--format npy -o e/f/g 2>/dev/null; test ! -e e && echo none",
                   "none\n");
    expect_exactly("cd $D; \"$A\" init -q -o i/j --vocab-size 3 --n-layer 1 --n-head 1 --d-model 2 --n-ctx 4; "
                   "\"$A\" vocab -q --bpe -s ab -o k/l --size 257; ls i k", "i:\nj\n\nk:\nl\n");
}
END_TEST

START_TEST(files_are_replaced_whole)
{
    expect_exactly("cd $D && echo old >v && chmod 640 v && ln -s v link && \"$A\" vocab -q -s 'Life is' -o link && "
                   "stat -c %a v && readlink link && ls -A", "640\nv\nlink\nv\n");
    expect("cat $D/v", 0, "\"Life\"");
    expect("\"$A\" vocab -s Life -o /dev/null 2>&1 && test -c /dev/null", 0, "1 word");
}
END_TEST

static const struct usage overwriting[] = {
    {"run -f - -o t <t", "t: is the input, and would be written to"},
    {"run -s Life --cross-file - -o t <t", "t: is the input, and would be written to"},
    {"vocab -f t -o m/config.json", "m/config.json: is a file of a model, and would be written to"},
    {"plot d -o d/blocks.0.attn.pattern.npy --format svg", "pattern.npy: is the input, and would be written to"},
    {"plot d/manifest.json -o d/manifest.json --format svg", "manifest.json: is the input, and would be written to"},
    {"train -m ./m --ids 0,1 --gradients m/weights-1.safetensors",
     "m/weights-1.safetensors: is a file of a model, and would"},
    {"run -m ./m -s Life -o m/part1 --format json", "m/part1: is a file of a model, and would be written to"},
    {"run -m ./m -s Life -o m/generation_config.json",
     "m/generation_config.json: is a file of a model, and would be written to"},
    {"run -f t -o t", "t: is the input, and would be written to"},
    {"run -s Life --cross-file t -o ./t", "./t: is the input, and would be written to"},
    {"batch -f t --summary link", "link: is the input, and would be written to"},
    {"vocab -f t -o t", "t: is the input, and would be written to"},
    {"plot a.npz --format png -o a.npz", "a.npz: is the input, and would be written to"},
    {"merge b t -o t", "t: is the input, and would be written to"},
    {"run -m ./m -s Life -o m/config.json", "m/config.json: is a file of a model, and would be written to"},
    {"explain -m ./m -s Life -o to-model", "to-model: is a file of a model, and would be written to"},
    {"train -m ./m --ids 0,1 --gradients m/model.safetensors",
     "m/model.safetensors: is a file of a model, and would be written to"},
};

START_TEST(what_is_read_is_not_written_over)
{
    succeed("cd $D && \"$A\" vocab -q -s 'Life is' -o v.json && "
            "\"$A\" init -q -o m --vocab v.json --n-layer 1 --n-head 1 --d-model 4 && echo Life >t && ln -s t link && "
            "ln -s m/vocab.json to-model && \"$A\" run -q -s Life -o a.npz && \"$A\" run -q -s Life --format npy -o d "
            "&& echo 1 >m/weights-1.safetensors && echo '{\"a\": \"weights-1.safetensors\", \"b\": \"part1\"}' "
            ">m/model.safetensors.index.json && echo 2 >m/part1 && echo '{}' >m/generation_config.json && "
            "sha256sum t a.npz d/* m/* >sums");
    for (size_t i = 0; i < sizeof overwriting / sizeof *overwriting; i++)
        expect(printed("cd $D && ends 2 \"$A\" %s 2>&1 >/dev/null && sha256sum --quiet -c sums", overwriting[i].args),
               0, overwriting[i].says);
    expect("cd $D && rm m/model.safetensors.index.json && \"$A\" run -q -m ./m -s Life -o m/out.npz && "
           "\"$A\" run -q -m ./m -s is -o m/out.npz", 0, "");
}
END_TEST

static const struct { const char *name; int status; const char *says; } ends[] = {
    {"BUS", 1, "attn-cli: a mapped file shrank while it was being read\n"}, {"TERM", 143, ""}, {"HUP", 129, ""},
};

/* The shell can open the pipe for writing only when the command has opened it, and so is past its start. */
START_TEST(signals_end_the_command)
{
    expect_exactly(printed("mkfifo $D/p; \"$A\" tokenize -f $D/p 2>&1 & exec 3>$D/p; kill -%s $!; "
                           "ends %d wait $! 2>/dev/null", ends[_i].name, ends[_i].status), ends[_i].says);
}
END_TEST

/* The weights of GPT-2 take a second to write: time to interrupt it. */
START_TEST(who_interrupts_finds_no_half_files)
{
    expect_exactly(printed("mkdir $D/m; \"$A\" init -q -o $D/m --family gpt2 2>/dev/null & until ls -A $D/m | "
                           "grep -q tmp; do sleep 0.01; done; "
                           "kill -%s $!; ends %d wait $! 2>/dev/null; ls -A $D/m", ends[_i].name, ends[_i].status), "");
}
END_TEST

/* The weights shrink between two records. */
START_TEST(a_mapped_file_that_shrinks_is_named)
{
    expect_exactly("cd $D && cp -r ~-/models/life m && mkfifo p; (ends 1 \"$A\" batch -q -m ./m -f - -o x <p 2>said) "
                   "& exec 3>p; "
                   "echo Life >&3; until test -s x.part; do sleep 0.01; done; : >m/model.safetensors; echo is >&3; "
                   "exec 3>&-; "
                   "wait $! && cat said && ls -A",
                   "attn-cli: ./m/model.safetensors: this mapped file shrank while it was being read\nm\np\nsaid\n"
                   "x.part\nx.part.json\n");
}
END_TEST

#define SHORT "'Life is short'"

/* All weights are finite, but products of queries and keys are not. */
START_TEST(dots_that_overflow_end_with_a_note)
{
    static const char note[] = "attention: dots overflow float32, to inf or NaN that no weight holds, in ";
    static const char *const lines[] = {
        "run -s " SHORT, "run -s " SHORT " --show dots,pattern --format json", "run -s " SHORT " --attention block:2",
        "run -s " SHORT " --cross " SHORT, "explain -s " SHORT, "variants -s " SHORT " --kinds full,window:2",
        "patch -s " SHORT " --from 'Life is dessert' --what v --over layer --metric loss",
        "patch -s " SHORT " --from 'Life is dessert' --what v --over layer --metric loss --method gradient",
        "heads --repeat 3",
        "generate -n 1 -s " SHORT, "score -s " SHORT};
    expect("\"$A\" init -q -o $D/m --vocab data/life-vocab.json --n-layer 1 --n-head 1 --d-model 4 --d-head 2 "
           "--d-value 4 --unembed true --draw 'embed:normal(0,1e10) q:normal(0,1e10) k:normal(0,1e10) v:rand' && "
           "\"$A\" info -m $D/m --check", 0, "finite");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(printed("ends %d \"$A\" %s -m $D/m 2>&1 >/dev/null", i < 9 ? 0 : 1, lines[i]), 0, note);
    /* the same rows whatever is watched, of kinds that pick keys, and where a cap makes all scores finite */
    expect_exactly("cd $D; printf '0\n1e30\n' >q; printf '1e30\n0\n' >k; printf '1\n2\n' >v; printf '1,0\n0,1\n' >e;"
                   "$A init -q -o n --vocab-size 2 --n-ctx 8 --n-layer 1 --n-head 1 --d-model 2 --d-head 1 --draw "
                   "'embed:file(e) q:file(q) k:file(k) v:file(v)';"
                   "for s in pattern scores context; do $A run -m ./n --ids 0,1 --attention strided:1,2 --show $s 2>&1 "
                   ">/dev/null; done", "");
    for (const char *const *k = (const char *const[]){"causal", "block:4", "block:100", "window:64", NULL}; *k; k++)
        expect(printed("\"$A\" run -m tests/golden/checkpoints/gemma2-a --ids 1,2,3,4,5,6 --edit 'L0.attn.q *= 1e38' "
                       "--show context --layer 0 --attention %s 2>&1 >/dev/null", *k), 0,
                       "in 62 rows (the first: layer 0, head 0, query 0)");
    /* only in runs that a patch needs besides: of the text itself, of a reference without edits */
    succeed("cd $D && printf '1.2,0\n0,1\n' >e && printf '1.8e19\n"
            "0\n' >q && \"$A\" init -q -o half --vocab-size 2 --n-ctx 8 --n-layer 1 --n-head 1 "
            "--d-model 2 --d-head 1 --d-value 2 --unembed true --draw 'embed:file(e) q:file(q) k:file(q) v:rand'");
    expect("\"$A\" patch -m $D/half --ids 0,0 --from-ids 1,1 --what v --over layer --metric loss --method ig:1 2>&1 "
           ">/dev/null", 0, note);
    expect("\"$A\" patch -m $D/half --ids 0,0 --from-ids 1,1 --what v --over layer --metric kl --edit 'L0.attn.q = 1' "
           "2>&1 >/dev/null", 0, note);
    expect("\"$A\" heads -m $D/m --repeat 3 2>/dev/null", 0,
           "No head has a main role: patterns are NaN, since dots overflow\n");
    expect("printf 'Life is short\nLife\n' >$D/in; \"$A\" batch -m $D/m -f $D/in 2>&1 >/dev/null", 0,
           "attn-cli batch: attention: dots overflow float32, to inf or NaN that no weight holds, in 2 records");
    expect("printf '%s\\n%s\\n' '{\"text\":\"Life is\",\"from\":\"Life eat\"}' '{\"text\":\"is short\",\"from\":\"is "
           "eat\"}' >$D/two.ndjson; "
           "\"$A\" batch -m $D/m -f $D/two.ndjson --patch v --over layer --metric loss 2>&1 >/dev/null", 0,
           "in 2 records: 'run' names the first row of each");
    expect_exactly("\"$A\" run -q -m $D/m -s Life 2>&1 >/dev/null; \"$A\" run -s Life 2>&1 >/dev/null", "");
    expect("\"$A\" run -q -m $D/m -s Life --format text", 0, "likeliest next tokens\nnone: the logit of token 0 is nan");
    expect("\"$A\" run -q -m $D/m -s Life --format html", 0, "\"next\":[],\"noNext\":\"the logit of token 0 is nan");
    expect("\"$A\" batch -q -m $D/m -f $D/in --format summary", 0, "\n0,1,,3,nan,,,,");
}
END_TEST

START_TEST(instructions_are_those_asked_for)
{
    succeed("echo Life >$D/x.txt && ATTN_SIMD=generic \"$A\" batch -q -f $D/x.txt -o $D/x.ndjson");
    expect("cat $D/x.ndjson.json", 0, "\"cpu\":\"generic\"");
}
END_TEST

START_TEST(nonsense_in_the_environment_is_refused)
{
    expect("ATTN_SIMD=avx1024 \"$A\" run -s Life 2>&1", 1,
           "ATTN_SIMD in the environment is 'avx1024', expected " ATTN_SIMD_EXPECTED);
    expect("LIBXSMM_TARGET=hws \"$A\" score -m tiny -s Once 2>&1", 1,
           "LIBXSMM_TARGET in the environment is 'hws', which libxsmm does not know");
    expect_same("\"$A\" run -s Life", "ATTN_SIMD= LIBXSMM_TARGET= \"$A\" run -s Life");
    expect_same("\"$A\" run -s Life", "LIBXSMM_TARGET=1006 \"$A\" run -s Life");
    expect("ATTN_SIMD=nonsense \"$A\" tokenize -s Life --format ids", 0, "0");
}
END_TEST

/* With too little memory a run may fail, but with a message: no crash, no signal.  127 means too little for the loader;
 * with less than that the kernel ends what it cannot load. */
START_TEST(small_address_spaces_are_survived)
{
    if (SANITIZED)
        return;
    int kb = 8000, ran = 0;
    while (kb < 64000 && sh(printed("ulimit -v %d; exec \"$A\" --version 2>&1", kb))->status > 128)
        kb += 100;
    for (; ran < 10; kb += ran ? 2000 : 200) {
        const struct said *s =
            sh(printed("text=$(head -c 500 README.md); ulimit -v %d; exec \"$A\" run -q -m tiny -s \"$text\" "
                                          "--show 'blocks.0.*' 2>&1 >$D/out", kb));
        bool said = s->len > 0;
        ck_assert_msg(s->status == 0 ? !said : said && (s->status == 1 || s->status == 127),
                      "%d KB: %d\n%s", kb, s->status, s->text);
        ran += s->status == 0;
    }
    expect("ulimit -v 65536; exec \"$A\" run -s " LIFE, 0, "0.9468");
}
END_TEST

START_TEST(small_stacks_are_enough)
{
    expect_exactly("cd $D; run() { \"$A\" run -q -m tiny -s 'Once upon a time there was a girl who went' --show "
                   "logits -o $1; }; "
                   "(ulimit -s 256; run a.csv) && run b.csv && cmp a.csv b.csv && echo same", "same\n");
    expect("ulimit -s 256; \"$A\" run -s '' 2>&1", 1, "empty");
}
END_TEST

/* ---- on a terminal ---- */

START_TEST(colour_only_on_a_terminal)
{
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strchr(on_terminal("TERM=xterm \"$A\" run -s " LIFE, 0), '\033'));
    ck_assert_ptr_null(strchr(on_terminal("NO_COLOR=1 TERM=xterm \"$A\" run -s " LIFE, 0), '\033'));
    ck_assert_ptr_null(strchr(on_terminal("TERM=dumb \"$A\" run -s " LIFE, 0), '\033'));
    ck_assert_ptr_null(strchr(succeed("TERM=xterm \"$A\" run -s " LIFE)->text, '\033'));
}
END_TEST

/* Control characters in tokens reach files and pipes unchanged, but a terminal only in visible form. */
START_TEST(tokens_do_not_steer_the_terminal)
{
    succeed("cp -r models/stacked $D/m && sed 's/\"cat\"/\"c\\\\u001b[2J\\\\u009b\\\\tt\"/' models/stacked/vocab.json "
            ">$D/m/vocab.json");
    expect_exactly("\"$A\" generate -m $D/m --ids 3 -n 0", "c\033[2J\302\233\tt\n");
    expect_exactly("\"$A\" tokenize -m $D/m --decode --ids 3", "c\033[2J\302\233\tt\n");
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" generate -m $D/m --ids 3 -n 0", 0), "c\\x1B[2J\\u{9B}\tt"));
    ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" tokenize -m $D/m --decode --ids 3", 0), "c\\x1B[2J\\u{9B}\tt"));
}
END_TEST

/* Names of directories may contain control characters, too. */
START_TEST(names_do_not_steer_the_terminal)
{
    static const char *const lines[] = {"explain -s Life", "explain -s Life --format html", "variants -s Life", "info"};
    char line[256];
    succeed("cp -r models/life \"$(printf '%s/m\\033[2J\\377' $D)\"");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(line, sizeof line, "\"$A\" %s -m \"$(printf '%%s/m\\033[2J\\377' $D)\" | grep -v ^from", lines[i]);
        const char *text = succeed(line)->text;
        ck_assert_msg(strstr(text, "m\uFFFD[2J\uFFFD"), "%s: %s", lines[i], text);
        ck_assert_ptr_null(strchr(text, '\033'));
    }
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" info -m \"$(printf '%s/m\\033[2J\\377' $D)\"", 0),
                                 "/m\\x1B[2J\uFFFD"));
}
END_TEST

/* What a vocabulary, a dump or the name of a file in it says reaches reports and messages only in visible form. */
#define ODD "\\033]0;p\\007\\342\\200\\256\\302\\233\\177x"
#define ODD_JSON "\\\\u001b]0;p\\\\u0007\\\\u202e\\\\u009b\\\\u007fx"
START_TEST(contents_do_not_steer_the_terminal)
{
    static const char *const lines[] = {
        "run -m $D/m -f $D/s", "run -m $D/m -f $D/s --format term", "explain -m $D/m -f $D/s",
        "explain -m $D/m -f $D/s --format md",
        "variants -m $D/m -f $D/s", "info -m $D/m -f $D/s", "tokenize -m $D/m -f $D/s",
        "tokenize -m $D/m -s \"$(printf 'Lif" ODD "')\"",
        "diff $D/a.json $D/b.json", "diff $D/a $D/b", "diff $D/b $D/a", "plot $D/b", "plot $D/b --show odd",
        "plot $D/b --format svg",
        "plot $D/b.json --show '*'", "diff -m $D/m --with $D/n -f $D/s",
        "batch -m models/life-full -f $D/twice --show dots -o $D/t",
    };
    succeed("cp -r models/stacked $D/m && sed 's/\"cat\"/\"c" ODD_JSON
            "\"/' models/stacked/vocab.json >$D/m/vocab.json && printf 'the c" ODD " sat' >$D/s && "
            "cp -r $D/m $D/n && sed -i 's/\"scale\": \"sqrt\"/\"scale\": \"none\"/' $D/n/config.json && (cat $D/s; "
            "printf '\\nbad" ODD "\\n') >$D/twice && "
            "\"$A\" run -m $D/m -f $D/s --format json -o $D/a.json && sed 's/0\\.3/0.4/g; s/blocks.0.attn.context/b"
            ODD_JSON "/' $D/a.json >$D/b.json && "
            "\"$A\" run -m $D/m -f $D/s --format npy -o $D/a && cp -r $D/a $D/b && rm $D/b/manifest.json && "
            "cp $D/a/blocks.0.attn.context.npy \"$D/b/$(printf '" ODD
            "').npy\" && cp $D/a/blocks.0.attn.context.npy $D/b/blocks.0.attn.pattern.npy");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct said *said = sh(printed("\"$A\" %s 2>&1", lines[i]));
        ck_assert_msg(said->status <= 3 && said->len > 20, "%s: %d", lines[i], said->status);
        static const char *const odd[] = {"\033", "\007", "\342\200\256", "\302\233", "\177"};
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
            ck_assert_msg(!strstr(said->text, odd[k]), "%s: %s", lines[i], said->text);
    }
}
END_TEST

/* The reader of the pipe waits for longer than a second, and the run waits for it. */
START_TEST(progress_of_a_long_run)
{
    static const char line[] =
        "cd $D && \"$A\" init -q -o p --vocab-size 64 --n-ctx 64 --n-layer 3 --n-head 4 --d-model 8 && rm -f pipe && "
        "mkfifo pipe && { { sleep 1.3; cat; } <pipe >read & } && "
        "\"$A\" run %s -m ./p --format json -o pipe --show scores,pattern --ids $(seq -s, 0 63) %s; wait $!";
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal(printed(line, "", ""), 0), "\rlayer 3 of 3\r            \r"));
    ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" score -m tiny -f README.md --whole --stride 1 -t 1 --format json "
                                             ">/dev/null & sleep 3; kill $!", 0), ", layer 6 of 6 "));
    ck_assert_ptr_nonnull(strstr(on_terminal("for i in $(seq 400); do echo the cat sees the moth; done >$D/many.txt; "
                                             "\"$A\" batch -m models/stacked -f $D/many.txt --show '*' | { sleep 1.3; "
                                             "cat; } >/dev/null", 0), "\r400 of 400 records, "));
    ck_assert_str_eq(on_terminal(printed(line, "-q", ""), 0), "");
    ck_assert_str_eq(on_terminal(printed(line, "", "2>said; cat said"), 0), "");
}
END_TEST

/* What was written over is gone. */
START_TEST(records_on_a_screen)
{
    static const char line[] =
        "for i in $(seq 400); do echo the cat sees the moth; done >$D/many.txt; \"$A\" batch -m models/stacked "
                               "-f $D/many.txt --show '*' | { sleep 1.3; cat; } >/dev/null";
    if (no_terminal())
        return;
    terminal_expect(line, 24, 80, "^.400 of 400 records, [0-9]+/s$");
    terminal_expect(line, 40, 120, "^.400 of 400 records, [0-9]+/s$");
}
END_TEST

START_TEST(binary_is_not_for_terminals)
{
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" run -s Life --format npz", 2), "-o"));
}
END_TEST

Suite *suite_streams(void)
{
#define ROWS(list) (int)(sizeof list / sizeof *list)
    const struct { const TTest *test; int rows; } tests[] = {
        {what_cannot_run_writes_nothing, 1}, {full_disk_is_an_error, ROWS(writers)},
        {closed_pipe_ends_quietly, ROWS(writers)}, {slow_readers_get_everything, 1}, {closed_streams_are_errors, 1},
        {closed_streams_without_a_null_device, 1},
        {bad_files_end_with_1_and_a_name, ROWS(bad_files)}, {long_paths_leave_room_for_the_reason, 1},
        {limit_of_file_size_is_an_error, 1}, {temporary_files_that_were_left_go, 1}, {directories_are_made_as_typed, 1},
        {files_are_replaced_whole, 1},
        {what_is_read_is_not_written_over, 1},
        {signals_end_the_command, ROWS(ends)}, {who_interrupts_finds_no_half_files, ROWS(ends)},
        {a_mapped_file_that_shrinks_is_named, 1},
        {instructions_are_those_asked_for, 1}, {nonsense_in_the_environment_is_refused, 1},
        {dots_that_overflow_end_with_a_note, 1},
        {small_address_spaces_are_survived, 1}, {small_stacks_are_enough, 1}, {colour_only_on_a_terminal, 1},
        {tokens_do_not_steer_the_terminal, 1}, {names_do_not_steer_the_terminal, 1},
        {contents_do_not_steer_the_terminal, 1},
        {progress_of_a_long_run, 1}, {records_on_a_screen, 1}, {binary_is_not_for_terminals, 1},
    };
    Suite *s = suite_create("streams");
    TCase *c = tcase_create("streams");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 30);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(c, tests[i].test, 0, tests[i].rows);
    suite_add_tcase(s, c);
    return s;
}

/* The program as a shell sees it: arguments, output, exit status. */
#include "suites.h"

#include <cjson/cJSON.h>

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn.h"
#include "base/version.h"

#define LIFE "'Life is short, eat dessert first'"

/* ---- words on the command line ---- */

#define ZEROS "000000000000000000000000000000000000000000000000000000000000"
struct usage { const char *args, *says; };
/* All of it stays on a terminal of 24 lines. */
START_TEST(the_first_words_name_every_command)
{
    expect_exactly("ends 2 \"$A\" 2>$D/first; for c in $(\"$A\" help --json | jq -r '.commands[].name'); do "
                   "grep -q \"^ .* $c\\b\" $D/first || echo $c; done; awk 'END {print NR < 24}' $D/first", "1\n");
}
END_TEST

START_TEST(a_text_may_be_what_is_no_option)
{
    expect_exactly("\"$A\" tokenize -m tiny -s--what --format ids", "6501 86 645\n");
    expect_same("\"$A\" tokenize -m tiny --sentence=--format", "printf -- --format | \"$A\" tokenize -m tiny -f -");
    expect_exactly("\"$A\" tokenize -m tiny --sentence=-- --format ids | wc -w", "1\n");
}
END_TEST

START_TEST(what_is_not_as_it_seems_is_said)
{
    expect("\"$A\" run -m life -s Life --seed 5 2>&1", 0,
           "--seed 5: nothing is drawn here; it is the seed of --dropout, which is not given\n");
    expect_exactly("\"$A\" run -m life -s Life --seed 5 --dropout 0.5 2>&1 >/dev/null", "");
    expect("\"$A\" heads -m life --repeat 24 2>&1", 0, "--repeat 24: the model has room for 6, which are repeated\n");
    expect_same("\"$A\" heads -m life --repeat 24 2>/dev/null", "\"$A\" heads -m life");
    expect_exactly("echo Life >$D/l; \"$A\" batch -m life -f $D/l -o $D/o.ndjson 2>$D/said; "
                   "grep -c again $D/said || true", "0\n");
    expect("\"$A\" batch -m life -f $D/l -o $D/o.ndjson 2>&1", 2,
           "/o.ndjson: was finished before: --force makes it again, --resume leaves what is done\n");
    expect_exactly("\"$A\" batch -q -m life -f $D/l -o $D/o.ndjson --force 2>&1", "");
    expect_exactly("\"$A\" batch -m life -f $D/l -o $D/o.ndjson --resume 2>&1 | grep -c again || true", "0\n");
    succeed("\"$A\" run -q -m life -s Life --format tidy -o $D/x.csv && mkdir $D/d.png && "
            "\"$A\" run -q -m life -s Life --format csv -o $D/d.png");
}
END_TEST

START_TEST(options_come_in_any_order_and_spelling)
{
    static const char line[] = "\"$A\" run --sentence 'Life is short' --show pattern --precision 6 --threads 2 --quiet";
    expect_same(line, "\"$A\" run -q -t2 --precision=6 --show=pattern -s'Life is short'");
    expect_same(line, "\"$A\" run -qt 2 --precision 9 --precision 6 --show dots --show pattern -s 'Life is short' --");
    expect_same(line, "echo Life is short | \"$A\" run -f - --show pattern --precision 6");
}
END_TEST

START_TEST(control_characters_do_not_reach_the_terminal)
{
    expect("\"$A\" \"$(printf 'a\\033[2Jb')\" 2>&1", 2, "a\\x1B[2Jb");
}
END_TEST

/* ---- help ---- */

static const char *const names[] = {"run", "tokenize", "generate", "score", "info", "vocab", "init", "train", "help"};

#define COUNT "grep -cE '^  (-., |    )--'"
/* Of a command with many options the usual ones stand under headings, and how many there are besides; --all has
 * each row once. */
START_TEST(help_is_short_and_says_what_is_missing)
{
    expect_exactly("\"$A\" help run | grep -A3 '^Input:'", "Input:\n  -s, --sentence TEXT       the text itself\n"
                   "  -f, --file PATH           a text in each line of a file, - is standard input;\n"
                   "                            records of NDJSON, CSV or TSV by the ending of the\n");
    expect_exactly("for c in run batch generate train init patch; do short=$(\"$A\" help $c | " COUNT "); "
                   "more=$(\"$A\" help $c | sed -n 's/^For \\([0-9]*\\) more options.*help '$c' --all$/\\1/p'); "
                   "test $short -ge 9 -a $short -le 17 && test $((short + more)) = $(\"$A\" help $c --all | " COUNT
                   "); done", "");
    expect_same("\"$A\" help run --all | " COUNT, "\"$A\" help --man | sed -n '/^.SS run/,/^.SS page/p' | "
                "grep -cE '^.fB.*-.-[a-z]'");
    expect_same("\"$A\" help run --all | grep -A1 '^Edits ('", "\"$A\" help run --all | grep -A1 'PLACE = VALUE, '");
    expect_same("\"$A\" help merge", "\"$A\" help merge --all");
    expect_exactly("\"$A\" help run | sed -n '/^Edits (/p'", "");
    expect_exactly("\"$A\" help edits | grep -c '\\[pos=3,key=2\\]'; \"$A\" help run | "
                   "grep -cE 'blocks\\.[*]\\.(attn|mlp)\\.added '; "
                   "for c in batch merge; do \"$A\" help $c | grep -o 'part\\.[2*]\\.ndjson'; done",
                   "1\n2\npart.2.ndjson\npart.*.ndjson\n");
    expect_same("\"$A\" help edits; echo; \"$A\" help kinds", "\"$A\" help run --all | sed -n '/^Edits (/,$p'");
    expect_same("\"$A\" help edits | wc -l", "\"$A\" help diff --all | sed -n '/^Edits (/,$p' | wc -l");
    expect("\"$A\" help --man | sed -n '/^.SH EDITS/,/^.SH ATTENTION/p'", 0, "vector.npy");
}
END_TEST

/* A text file made elsewhere: the last line end is none of the text, others are, and that is said. */
START_TEST(carriage_returns_are_told)
{
    succeed("printf 'Life is\\r\\n' >$D/one; printf 'Life\\r\\nis\\r\\n' >$D/two");
    expect_exactly("\"$A\" tokenize -m tiny -f $D/one 2>&1 | wc -l", "3\n");
    expect("\"$A\" tokenize -m tiny -f $D/two --whole 2>&1", 0,
           "two: the text has 1 carriage return, as part of it: tr -d '\\r' takes it out");
    expect("printf 'Life\\r\\nis\\r\\nshort\\r\\n' | \"$A\" tokenize -m tiny -f - --whole 2>&1", 0,
           "standard input: the text has 2 carriage returns, as part of it: tr -d '\\r' takes them out");
    expect_exactly("\"$A\" tokenize -q -m tiny -f $D/two --whole 2>&1 >/dev/null", "");
    expect("\"$A\" tokenize -m tiny -f $D/two --raw 2>&1", 0, "\\x0D");
}
END_TEST

/* Where a script has no spaces, a sentence is one word; who puts spaces in hears nothing. */
START_TEST(words_need_spaces)
{
    expect_exactly("\"$A\" vocab -o $D/v -s '\u5C0F\u732B\u5750\u5728\u57AB\u5B50\u4E0A' 2>&1", "1 word\nthe text "
                   "has 7 characters without white space, which make one word: put spaces between words, take each "
                   "character with --chars, or learn parts of words with --bpe -o DIR\n");
    expect_exactly("\"$A\" vocab -o $D/v -s '\u5C0F\u732B \u5750\u5728 \u57AB\u5B50\u4E0A' 2>&1", "3 words\n");
    expect_exactly("for t in '\u732B' incomprehensibilities; do \"$A\" vocab -o $D/v -s $t 2>&1; done",
                   "1 word\n1 word\n");
    expect("\"$A\" vocab -o $D/v -s \"$(printf '\u732B%.0s' $(seq 12)) \u732B\" 2>&1", 0, "2 words\nthe text has 12 "
           "characters without");
}
END_TEST

START_TEST(what_a_file_is_not_is_said)
{
    succeed("echo 'a note' >$D/notes.txt; printf ' \\n' >$D/blank.json; "
            "\"$A\" init -q -o $D/bare --vocab-size 5 --n-layer 1 --n-head 1 --d-model 4");
    expect("ATTN_MODEL=nonsense \"$A\" run -s x 2>&1", 1, "attn-cli run: ATTN_MODEL: no model 'nonsense'");
    expect("ATTN_MODEL=nonsense \"$A\" run -m other -s x 2>&1", 1, "attn-cli run: no model 'other'");
    succeed("printf 'Life is\\nis short\\n' >$D/two.txt && \"$A\" batch -q -f $D/two.txt -o $D/two.ndjson --summary "
            "$D/two.csv");
    expect("\"$A\" plot $D/two.ndjson 2>&1", 1,
           "two.ndjson: a document in each line, as batch writes them, expected one: take the first, as in sed");
    expect("sed -n 1p $D/two.ndjson >$D/one.json; \"$A\" diff $D/one.json $D/one.json", 0, "nothing differs");
    expect("\"$A\" plot $D/two.csv 2>&1", 1, "which are no numbers of one matrix: keep the first and the one to draw");
    static const char *const answers[][2] = {
        {"heads", "heads --repeat 3 --samples 1"}, {"lens", "lens -s Lily"},
        {"patch", "patch -s Lily --from Tom --what context --over layer,head --metric kl"},
        {"patch", "patch -s Lily --from Tom --what embed --over pos --metric kl"}};
    for (size_t i = 0; i < 2 * sizeof answers / sizeof *answers; i++) {
        const char *const *a = answers[i / 2], *ending = i % 2 ? "tidy" : "csv";
        if (i % 2 && !strcmp(a[0], "heads"))
            continue;                   /* whose table has no long form */
        expect(printed("\"$A\" %s -m tiny -o $D/answer.%s; \"$A\" plot $D/answer.%s 2>&1", a[1], ending, ending), 1,
               printed("/answer.%s: a table of %s, and no matrix: draw it with %s -o x.png", ending, a[0], a[0]));
    }
    expect("echo Lily >$D/one && \"$A\" batch -q -m tiny -f $D/one --layer 0 --show pattern -o $D/many.tidy && "
           "\"$A\" plot $D/many.tidy 2>&1", 1,
           "/many.tidy: a table of many texts, as batch writes them, expected that of one, as 'run --format tidy' "
           "writes it");
    expect("\"$A\" plot $D/notes.txt 2>&1", 1, "notes.txt: no dump: it is neither .npy nor .npz");
    expect("\"$A\" plot $D/blank.json 2>&1", 1, "blank.json: no dump");
    expect("\"$A\" run -m $D/bare -s Life 2>&1", 1, "there is neither tokenizer.json nor vocab.json");
    expect("\"$A\" run -m $D/bare -s Life 2>&1", 1, "token ids can be given with --ids");
}
END_TEST

START_TEST(help_lists_every_command)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect("\"$A\" help", 0, names[i]);
    expect_same("\"$A\" help", "\"$A\" --help");
    expect_same("\"$A\" help", "\"$A\" -h");
    const char *version = attn_version();
    const size_t n = strlen(ATTN_VERSION "+");
    ck_assert(!strncmp(version, ATTN_VERSION "+", n) && version[n]);
    const char *said = printed("attn-cli " ATTN_VERSION "\n  commit        %s\n  products      ", version + n);
    expect("\"$A\" --version", 0, said);
    expect("\"$A\" info --version", 0, said);
    expect("\"$A\" --version", 0,
           printed("\n  instructions  %s\n  built         %s\n", attn_cpu_target(), attn_built()));
    expect_same("\"$A\" info -m life --format json | jq -r .version", printed("echo %s", version));
    expect_same("\"$A\" run -q -m life -s Life -o $D/made --format csv && jq -r .version $D/made/manifest.json",
                printed("echo %s", version));
}
END_TEST

START_TEST(man_page_and_completions_are_accepted)
{
    if (has_program("groff", "groff"))
        expect_exactly("\"$A\" help --man | groff -man -ww -z 2>&1", "");
    if (has_program("zsh", "zsh"))
        expect_exactly("zsh -n <(\"$A\" help --completion zsh) 2>&1", "");
    if (has_program("fish", "fish"))
        expect_exactly("fish -n <(\"$A\" help --completion fish) 2>&1", "");
}
END_TEST

static const struct usage completed[] = {
    {"ru", "run"},
    {"run --form", "--format"},
    {"run --format ti", "tidy"},
    {"run --format = ti", "tidy"},
    {"run --show pattern,cont", "pattern,context"},
    {"run -m tin", "tiny"},
    {"run -f tests/cmd/test_cm", "tests/cmd/test_cmd.c"},
    {"init --residual f", "false"},
    {"run --labels au", "auto"},
    {"help toke", "tokenize"},
    {"help ki", "kinds"},
    {"help --completion b", "bash"},
};

START_TEST(bash_completes)
{
    char line[512];
    snprintf(line, sizeof line, "bash --norc -c 'source <(\"$A\" help --completion bash); COMP_WORDS=(attn-cli %s); "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _attn_cli; echo ${COMPREPLY[*]}' 2>/dev/null", completed[_i].args);
    expect_exactly(line, printed("%s\n", completed[_i].says));
}
END_TEST

/* -m takes what 'models' lists now, and directories; a name is never run, whatever it is. */
START_TEST(completions_list_models)
{
    succeed("mkdir -p $D/bin $D/models $D/here/zoo && ln -s \"$A\" $D/bin/attn-cli && "
            "for m in zebra 'z 2' 'z $(touch run)'; do cp -r models/stacked \"$D/models/$m\"; done; "
            "\"$A\" help --completion bash >$D/bash; \"$A\" help --completion fish >$D/fish");
#define IN_BASH "cd $D/here; export ATTN_MODEL_PATH=$D/models; PATH=$D/bin:$PATH; bash --norc -c 'source $D/bash; " \
    "COMP_WORDS=(%s run -m %s); " \
                "COMP_CWORD=3; _attn_cli; printf \"%%s\\n\" \"${COMPREPLY[@]}\"' 2>/dev/null | sort"
    expect_exactly(printed(IN_BASH, "attn-cli", "z"), "z $(touch run)\nz 2\nzebra\nzoo\n");
    expect_exactly(printed(IN_BASH, "$D/bin/attn-cli", "ze"), "zebra\n");
    expect_exactly(printed(IN_BASH, "attn-cli-that-is-not-there", "t"), "tiny\n");
    if (has_program("fish", "fish"))
        expect_exactly("cd $D/here; ATTN_MODEL_PATH=$D/models PATH=$D/bin:$PATH fish --no-config -c 'source $D/fish; "
                       "complete -C \"attn-cli run -m ze\"' | cut -f 1", "zebra\n");
    expect_exactly("ls $D/here", "zoo\n");
}
END_TEST

/* ---- what the commands compute ---- */

START_TEST(numbers_of_the_article)
{
    expect("ATTN_MODEL_PATH=models \"$A\" run -m life-full -s " LIFE, 0, "0.0386");
    static const char *const numbers[] = {"0.6870", "0.0204", "0.0840", "0.1470", "0.0229", "0.5313", "1.3607",
                                          "0.7891", "1.3110"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        expect("ATTN_MODEL_PATH=models \"$A\" run -m life-full -s " LIFE " | grep -w is", 0, numbers[i]);
    expect_same("cd \"$D\" && \"$A\" run -m life-full -s " LIFE, "\"$A\" run -m models/life-full -s " LIFE);
    expect_same("ATTN_MODEL=models/life-full \"$A\" run -s " LIFE, "\"$A\" run -m models/life-full -s " LIFE);
}
END_TEST

/* Their names do anywhere, and stand for the files in models/. */
START_TEST(all_shipped_models_are_built_in)
{
    expect_same("for m in models/*/; do basename \"$m\"; done | sort",
                "cd \"$D\" && \"$A\" models | awk '/built in/ {print $1}' | sort");
    expect_same("for m in models/*/; do \"$A\" info --digest full -m ./\"$m\" | grep -v ^from; done",
                "for m in models/*/; do m=$(basename \"$m\"); (cd \"$D\" && \"$A\" info --digest full -m \"$m\" | "
                "grep -v ^from); done");
}
END_TEST

START_TEST(any_machine_and_thread_count_gives_the_same_bytes)
{
    static const char line[] = "\"$A\" run -s " LIFE " --show '*' --format json";
    expect("\"$A\" run -s " LIFE " --show '*' --format json", 0, "\"blocks.0.attn.pattern\"");
    expect_same(line, "LIBXSMM_TARGET=generic \"$A\" run -s " LIFE " --show '*' --format json");
    expect_same(line, "LIBXSMM_TARGET=hsw \"$A\" run -s " LIFE " --show '*' --format json");
    expect_same(line, "\"$A\" run -t 1 -s " LIFE " --show '*' --format json");
    expect_same(line, "\"$A\" run -t 7 -s " LIFE " --show '*' --format json");
    expect_same("\"$A\" run -s " LIFE " --compute bf16 -t 7 --format json",
                "\"$A\" run -t 1 -s " LIFE " --compute bf16 --format json");
    expect_same("\"$A\" run -q -s Life --compute bf16 --format npy -o $D/bf16; jq .cpu $D/bf16/manifest.json",
                "echo Life | \"$A\" batch -q -f - --compute bf16 --format npy -o $D/batch; "
                "jq .cpu $D/batch/000000/manifest.json");
    expect_same(line, "LC_ALL=de_DE.UTF-8 \"$A\" run -s " LIFE " --show '*' --format json");
}
END_TEST

static const char *const in_parallel[] = {
    "run -m $D/p --ids $ids --show pattern --format json -t 1",
    "run -m $D/p --ids $ids --show pattern --format json -t 3",
    "batch -m $D/p -f $D/b.ndjson --show pattern -t 1",
    "batch -m $D/p -f $D/b.ndjson --show pattern -t 3",
    "train -f cmd/README.md --vocab-size 300 --steps 100000 --max-seconds 1 --progress -o $D/m -t 1",
};

/* The threads of a command are counted while it waits for the reader of its output, or trains; work for much less than
 * a millisecond would start none. */
START_TEST(threads_are_as_many_as_asked_for)
{
    char line[1024];
    const char *args = in_parallel[_i];
    expect("\"$A\" init -q -o $D/p --vocab-size 512 --n-ctx 512 --n-layer 3 --n-head 4 --d-model 64; "
           "ids=$(seq -s, 0 511);"
           "for i in $(seq 4); do echo \"{\\\"ids\\\":[$ids]}\"; done >$D/b.ndjson", 0, "");
    snprintf(line, sizeof line,
             "ids=$(seq -s, 0 511); { bash -c \"echo \\$\\$ >$D/pid; exec '$A' %s\" 2>&1 || test $? = 75; } |"
             "{ head -c 1 >/dev/null; sleep 0.3; ls /proc/$(cat $D/pid)/task | wc -l; cat >/dev/null; }", args);
    expect_exactly(line, printed("%c\n", args[strlen(args) - 1]));
}
END_TEST

START_TEST(output_names_choose_the_format)
{
    expect("\"$A\" run -s Life --show pattern -o $D/p.csv && cat $D/p.csv", 0, "Life");
    expect("\"$A\" run -s Life --show pattern -o $D/p.json && cat $D/p.json", 0, "\"activations\"");
    expect("\"$A\" run -s Life --show pattern -o $D/p.npy && head -c 6 $D/p.npy", 0, "NUMPY");
    expect("\"$A\" run -s Life --show pattern -o $D/p.npz && head -c 2 $D/p.npz", 0, "PK");
}
END_TEST

/* With nothing installed, in any directory, the built-in model is used, which has learned to expect words. */
START_TEST(a_trained_model_is_the_default)
{
    expect("cd $D && unset ATTN_MODEL && \"$A\" info", 0, "model         tiny\n");
    expect("cd $D && unset ATTN_MODEL && \"$A\" run -s " LIFE " --show tokens", 0, "likeliest next tokens");
    expect("cd $D && unset ATTN_MODEL && \"$A\" generate -s 'Once upon a' -n 1", 0, "Once upon a time");
    expect("cd $D && unset ATTN_MODEL; p() { \"$A\" score -s \"$1\" --format json | "
           "sed -n 's/^ \"logprob\": -\\([0-9]*\\).*/\\1/p'; }; "
           "[ $(p 'The little girl was happy.') -lt $(p 'happy The was girl little.') ] && echo likelier", 0,
           "likelier");
}
END_TEST

START_TEST(manifest_has_the_canonical_command)
{
    expect("\"$A\" run -t 2 -q --precision=5 -o $D/out --format csv -s\"it's\" --head 0 --ids 2>&1", 2,
           "--ids needs a value");
    expect("\"$A\" run -t 2 -q -o $D/out --show=pattern --format csv -s 'Life is' --head 0 && cat $D/out/manifest.json",
           0,
           "attn-cli run --model life --sentence 'Life is' --show pattern --head 0 --format csv\"");
    expect("\"$A\" run -q -o $D/out --format csv -s Life --compute bf16 && cat $D/out/manifest.json", 0,
           "--format csv --compute bf16\"");
}
END_TEST

START_TEST(text_to_tokens_and_back)
{
    expect_exactly("\"$A\" tokenize -s " LIFE " --format ids", "0 4 5 2 1 3\n");
    expect_exactly("\"$A\" tokenize --decode --ids ' 0, 4 ,\n5\n'", "Life is short\n");
    expect_exactly("echo 0 4 5 | \"$A\" tokenize --decode -f -", "Life is short\n");
    expect("printf '0 4\\0 5' | \"$A\" tokenize --decode -f - 2>&1", 1,
           "byte 3 of the input is NUL: ids are as in 5,1,2");
    expect_exactly("\"$A\" tokenize -s '' --format ids", "\n");
    expect_same("\"$A\" tokenize -m tiny -f cmd/README.md --format ids | tr ' ' '\\n'",
                "\"$A\" tokenize -m tiny -f cmd/README.md --format json | sed -n 's/^ .ids.: .\\(.*\\).,$/\\1/p' | "
                "tr -d ' ' | tr ',' '\\n'");
    expect("\"$A\" tokenize -s '' --format json", 0, "\"ids\": []");
    expect("\"$A\" tokenize -s 'Life is' --format json", 0,
           "{\"id\": 4, \"text\": \"is\", \"raw\": \"is\", \"start\": 5, \"end\": 7}");
    expect("\"$A\" tokenize -s 'Life is'", 0, "    1      4  is     5-7\n");
    expect("\"$A\" tokenize -s 'Life iz' 2>&1", 1, "iz");
}
END_TEST

START_TEST(tokens_show_in_tables_as_in_runs)
{
    succeed("mkdir $D/b && printf '#version: 0.2\\n' >$D/b/merges.txt && "
            "printf '{\"a\":0,\"\\304\\240\":1,\"\\304\\212\":2,\"\\304\\211\":3,\"\\304\\233\":4}' >$D/b/vocab.json");
    expect("printf 'a \\n\\t\\033' | \"$A\" tokenize -m $D/b -f - --whole", 0,
           "    0      0  a      0-1\n    1      1  ·      1-2\n    2      2  ↵      2-3\n    3      3  →      3-4\n"
           "    4      4  \\x1B   4-5\n");
}
END_TEST

START_TEST(files_are_read_without_mark_and_final_newline)
{
    expect_exactly("printf '\\357\\273\\277Life is\\n' | \"$A\" tokenize -f - --format ids", "0 4\n");
    expect("printf '\\357\\273\\277Life is\\n' | \"$A\" tokenize -f -", 0, "Life   0-4\n");
    expect("printf '\\357\\273\\277Life is\\n' | \"$A\" tokenize -f - --raw 2>&1", 1, "unknown word '\\u{FEFF}Life'");
    expect("printf '\\357\\273\\277' | \"$A\" tokenize -f - --whole --format json", 0, "\"text\": \"\"");
    expect("printf 'is\\n\\n' | \"$A\" tokenize -f - --whole --format json", 0, "\"text\": \"is\\n\"");
    expect("printf 'is\\n' | \"$A\" tokenize -f - --raw --format json", 0, "\"text\": \"is\\n\"");
}
END_TEST

START_TEST(info_describes_the_model)
{
    expect("\"$A\" info --check", 0, "every weight is a finite number");
    expect_exactly("for m in gpt2-a neo-h gemma2-a; do \"$A\" info -m tests/golden/checkpoints/$m | grep ^scale; done",
                   "scale         sqrt\nscale         none\nscale         0.22360679774997896\n");
    expect("\"$A\" info --check", 0, "digest        sampled:");
    expect("\"$A\" info --digest full --format json", 0, "\"digest\": \"sha256:");
    expect_same("\"$A\" info --digest full | sed -n 's/digest *sha256://p'",
                "cd models/life; for f in config.json vocab.json model.safetensors; "
                "do printf '%s %d\n' $f $(stat -c %s $f); cat $f; done | "
                "sha256sum | cut -d' ' -f1");
    expect("\"$A\" info --format json", 0, "\"vocab_size\": 6");
    expect("cd models/life && ATTN_MODEL_PATH=.. \"$A\" info -m . --format json", 0, "\"vocab_size\": 6");
    /* a shard may have a long name */
    expect_same("n=$(printf %0200d 0).safetensors; mkdir $D/long; cp models/life/*.json $D/long; "
                "cp models/life/model.safetensors $D/long/$n; "
                "printf '{\"weight_map\":{' >$D/long/model.safetensors.index.json; "
                "for t in $(grep -ao '\"[a-z0-9._]*\":{\"dtype' models/life/model.safetensors | cut -d'\"' -f2); "
                "do printf '\"%s\":\"%s\",' $t $n; done | "
                "sed 's/,$/}}/' >>$D/long/model.safetensors.index.json; \"$A\" info -m $D/long --digest full | "
                "sed -n 's/digest *sha256://p'",
                "cd $D/long; for f in config.json vocab.json model.safetensors.index.json 0*; "
                "do printf '%s %d\n' $f $(stat -c %s $f); cat $f; "
                "done | sha256sum | cut -d' ' -f1");
    expect("mkdir $D/w && cp models/stacked/[cm]*[ns] $D/w && \"$A\" info -m $D/w", 0, "tokenizer     none (");
}
END_TEST

START_TEST(columns_are_as_wide_as_the_widest_token)
{
    expect("\"$A\" score -m tiny -s ' something is'", 0,
           "index      id  token         logprob\n"
           "    0     584  ·something          -\n"
           "    1     421  ·is           ");
}
END_TEST

START_TEST(a_vocabulary_becomes_a_model)
{
    expect("cd $D && \"$A\" vocab -s " LIFE " --drop , -o v.json 2>&1", 0, "6 words");
    expect_exactly("cd $D && \"$A\" init -o m --vocab v.json --drop , --n-layer 2 --n-head 2 --d-model 8 "
                   "--norm layernorm --position learned --mlp gelu --d-mlp 16 --residual --output-projection true "
                   "--tied=false --unembed --seed 3 2>&1 && ls -A m", "config.json\nmodel.safetensors\nvocab.json\n");
    expect("\"$A\" run -m $D/m -s " LIFE " --show logits --format json", 0, "\"logits\"");
    expect("\"$A\" info -m $D/m", 0, "layers        2\n");
    expect("cd $D && attn-cli() { \"$A\" \"$@\"; } && eval \"$(\"$A\" help init | grep ' -o ./seeded ')\" && "
           "\"$A\" info -m ./seeded", 0,
           "head width    2 (values 4)\n");
    expect("cd $D && \"$A\" init -o n --vocab v.json --config m/config.json --seed 3 && "
           "cmp m/model.safetensors n/model.safetensors", 0, "");
}
END_TEST

/* A family's model is made, described and run; a warning about its files comes once, on standard
 * error, without --quiet. */
START_TEST(init_of_a_family)
{
    expect("cd $D && \"$A\" init -o g --family gpt2 --n-layer 1 --n-head 2 --d-model 8 --vocab-size 9 --n-ctx 6 && "
           "cat g/config.json", 0,
           "\"n_embd\": 8");
    expect("cd $D && \"$A\" info -m ./g", 0, "family        gpt2\n");
    expect("cd $D && \"$A\" run -m ./g --ids 1,2,3 --show logits 2>&1", 0, "logits (columns: token ids)");
    expect("cd $D && \"$A\" init -o x --family gpt_neox && \"$A\" info -m ./x", 0,
           "rope, theta 10000, 4 of 16 numbers of a head\n");
    expect("cd $D && \"$A\" info -m ./x", 0, "residual      yes, attention and mlp in parallel\n");
    expect("cd $D && \"$A\" init -o o --family gpt_neo --dtype BF16 && \"$A\" info -m ./o", 0,
           "mask          causal, only the last 32 tokens in 1 of 2 layers\n");
    expect("cd $D && \"$A\" init -o t --family llama --tied false && sed -i 's/\"tie_word_embeddings\": false/"
           "\"tie_word_embeddings\": true/' t/config.json && \"$A\" run -m ./t --ids 1 --show tokens 2>&1 >/dev/null",
           0,
           "attn-cli run: warning: ./t/model.safetensors: 'lm_head.weight' differs from 'model.embed_tokens.weight'");
    expect_exactly("cd $D && \"$A\" run -q -m ./t --ids 1 --show tokens 2>&1 >/dev/null", "");
}
END_TEST

/* Of a large model, opening compares only the ends of what is tied. */
START_TEST(tied_layers_that_differ_in_the_middle)
{
    succeed("cd $D && \"$A\" init -o t --family llama --tied false --vocab-size 40000 --d-model 64 --n-head 2 "
            "--n-layer 1 && sed -i 's/\"tie_word_embeddings\": false/\"tie_word_embeddings\": true/' t/config.json && "
            "$PYTHON -c '\n"
            "import json, struct\n"
            "f = open(\"t/model.safetensors\", \"r+b\")\n"
            "n = struct.unpack(\"<Q\", f.read(8))[0]\n"
            "h = json.loads(f.read(n))\n"
            "a, z = h[\"model.embed_tokens.weight\"][\"data_offsets\"]\n"
            "f.seek(8 + n + a)\n"
            "x = bytearray(f.read(z - a))\n"
            "x[len(x) // 2] ^= 1\n"
            "f.seek(8 + n + h[\"lm_head.weight\"][\"data_offsets\"][0])\n"
            "f.write(x)'");
    expect_exactly("cd $D && \"$A\" info -m ./t 2>&1 >/dev/null", "");
    expect("cd $D && \"$A\" info -m ./t --check 2>&1 >/dev/null", 0,
           "'lm_head.weight' differs from 'model.embed_tokens.weight'");
    expect("cd $D && \"$A\" info -q -m ./t --check --format json", 0,
           "\"warnings\": [\"./t/model.safetensors: 'lm_head.weight' differs");
}
END_TEST

static const struct { const char *line; int documents; } for_scripts[] = {
    {"\"$A\" run -m tiny -s 'Life is \"short' --show pattern,tokens,dots --format json", 1},
    {"\"$A\" run -s 'Life is' -m tiny --cross 'short, eat' --format json", 1},
    {"\"$A\" info --format json", 1},
    {"\"$A\" info -m models/stacked -s 'the cat sees' --check --digest full --format json", 1},
    {"\"$A\" tokenize -m tiny -s $'a \"quote\"\\n\\tand a \\\\' --format json", 1},
    {"\"$A\" generate -m tiny -s 'Once upon' --max-tokens 4 --format json", 1},
    {"\"$A\" score -m tiny -s 'Once upon a time' --format json", 1},
    {"\"$A\" variants -m tiny -s 'Once upon a time' --format json", 1},
    {"\"$A\" diff -m tiny --with tiny -s 'Once upon' --format json", 1},
    {"printf 'Once\\n\\377\\nupon\\n' | ends 3 \"$A\" batch -q -m tiny -f -", 3},
};

/* Each is JSON as another reader sees it, followed by a newline. */
START_TEST(documents_are_json)
{
    const struct said *said = succeed(for_scripts[_i].line);
    const char *at = said->text;
    for (int i = 0; i < for_scripts[_i].documents; i++) {
        cJSON *document = cJSON_ParseWithOpts(at, &at, false);
        ck_assert_msg(cJSON_IsObject(document) && *at == '\n', "'%.80s'", at);
        cJSON_Delete(document);
        at++;
    }
    ck_assert_str_eq(at, "");
}
END_TEST

/* Of a file, one process: a line for each text, the one that cannot be read included. */
START_TEST(many_texts_are_tokenized)
{
    succeed("printf 'Lily lost\n\nher ball\n\\377\n' >$D/l; printf '{\"text\": \"her\"}\n"
            "{\"ids\": [1]}\n' >$D/l.ndjson");
    expect_exactly("cd $D; ends 3 \"$A\" tokenize -q -m tiny -f l --format json 2>/dev/null | tee x | "
                   "jq -c '.records[] | .record, .ids, .error'",
                   "0\n[634,1085]\nnull\n1\n[369,500]\nnull\n2\nnull\n"
                   "\"l: line 4: not UTF-8 at byte 0: found 0xFF; convert with: iconv -f LATIN1 -t UTF-8\"\n");
    expect_same("jq -c '.records[0] | [.text, .tokens]' $D/x",
                "\"$A\" tokenize -m tiny -s 'Lily lost' --format json | jq -c '[.text, .tokens]'");
    expect_exactly("ends 3 \"$A\" tokenize -q -m tiny -f $D/l --format ids 2>/dev/null", "634 1085\n369 500\n\n");
    expect("ends 3 \"$A\" tokenize -m tiny -f $D/l.ndjson --format ids 2>&1 >/dev/null", 0,
           "text 1: has ids, and no text to encode\n");
    expect("\"$A\" tokenize -m tiny -s x --input csv 2>&1", 2, "give it with -f PATH\n");
}
END_TEST

/* What a template puts around a text is there without one. */
START_TEST(an_empty_text_has_what_a_template_puts_around_it)
{
    succeed("mkdir $D/m; cp tests/corpus/tokenizer_json/y_template.json $D/m/tokenizer.json");
    expect_same("\"$A\" tokenize -m $D/m -s '' --format ids",
                "\"$A\" tokenize -m $D/m -s a --format ids | sed 's/ [^ ]*$//'");
    expect_exactly("\"$A\" tokenize -m $D/m -s '' --format json --bos no | jq -c .ids; "
                   "\"$A\" tokenize -m tiny -s '' --format ids", "[]\n\n");
}
END_TEST

/* Older files do not name the type of their model. */
START_TEST(word_pieces_need_no_type)
{
    succeed("for f in y_word_piece y_word_piece_without_type; do mkdir $D/$f; "
            "cp tests/corpus/tokenizer_json/$f.json $D/$f/tokenizer.json; done");
    expect_same("\"$A\" tokenize -m $D/y_word_piece -s 'ab c'",
                "\"$A\" tokenize -m $D/y_word_piece_without_type -s 'ab c'");
}
END_TEST

Suite *suite_cmd(void)
{
#define ROWS(list) (int)(sizeof list / sizeof *list)
    const struct { const TTest *test; int rows; } tests[] = {
        {options_come_in_any_order_and_spelling, 1},
        {the_first_words_name_every_command, 1}, {a_text_may_be_what_is_no_option, 1},
        {what_is_not_as_it_seems_is_said, 1},
        {control_characters_do_not_reach_the_terminal, 1}, {help_lists_every_command, 1},
        {help_is_short_and_says_what_is_missing, 1},
        {carriage_returns_are_told, 1},
        {words_need_spaces, 1},
        {what_a_file_is_not_is_said, 1}, {man_page_and_completions_are_accepted, 1}, {bash_completes, ROWS(completed)},
        {completions_list_models, 1}, {numbers_of_the_article, 1}, {all_shipped_models_are_built_in, 1},
        {any_machine_and_thread_count_gives_the_same_bytes, 1},
        {threads_are_as_many_as_asked_for, ROWS(in_parallel)}, {output_names_choose_the_format, 1},
        {a_trained_model_is_the_default, 1}, {manifest_has_the_canonical_command, 1}, {text_to_tokens_and_back, 1},
        {many_texts_are_tokenized, 1}, {an_empty_text_has_what_a_template_puts_around_it, 1},
        {word_pieces_need_no_type, 1},
        {tokens_show_in_tables_as_in_runs, 1}, {files_are_read_without_mark_and_final_newline, 1},
        {info_describes_the_model, 1}, {columns_are_as_wide_as_the_widest_token, 1}, {a_vocabulary_becomes_a_model, 1},
        {init_of_a_family, 1}, {tied_layers_that_differ_in_the_middle, 1}, {documents_are_json, ROWS(for_scripts)},
    };
    Suite *s = suite_create("cmd");
    TCase *c = tcase_create("cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 30);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(c, tests[i].test, 0, tests[i].rows);
    suite_add_tcase(s, c);
    return s;
}

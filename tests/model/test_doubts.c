/* Where a model's files contradict its tokenizer: said once, fatal only for an id that the embedding lacks. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

#define WARNS "attn-cli run: warning: "
#define RUN "$A run -m $D/m -s the --show tokens 2>&1 >/dev/null"

static void set_up(void)
{
    shell_set_up();
    succeed("cp -r tests/golden/checkpoints/gpt2-a $D/m; chmod -R u+w $D/m");
}

/* What is changed in the directory, and what is said of it. */
static const struct { const char *change, *says; } cases[] = {
    {":", ""},
    {"sed -i 's/}$/, \"<|pad|>\": 97}/' $D/m/vocab.json",
     WARNS "the tokenizer has ids up to 97 '<|pad|>', but the model takes 0 to 96 "
     "(vocab_size 97): a text that holds such a token cannot be run\n"},
    {"sed -i 's/\"eos_token_id\": 96/\"eos_token_id\": 970/' $D/m/config.json",
     WARNS "config.json ends texts with id 970 (eos_token_id), "
     "but the model has 0 to 96: it never comes\n"},
    {"sed -i 's/\"eos_token_id\": 96/\"eos_token_id\": [96, 97]/' $D/m/config.json",
     WARNS "config.json ends texts with id 97 "
     "(eos_token_id), but the model has 0 to 96: it never comes\n"},
    {"sed -i 's/\"bos_token_id\": 96/\"bos_token_id\": 97/' $D/m/config.json",
     WARNS "config.json begins texts with id 97 (bos_token_id), "
     "but the model has 0 to 96\n"},
    {"echo '{\"eos_token\": {\"content\": \"he\"}}' > $D/m/tokenizer_config.json",
     WARNS "a text ends with 96 '<|endoftext|>' by "
     "config.json (eos_token_id) and with 41 'he' by tokenizer_config.json (eos_token): generate stops at "
     "the former\n"},
    {"echo '{\"bos_token\": \"he\"}' > $D/m/tokenizer_config.json",
     WARNS "a text begins with 96 '<|endoftext|>' by config.json "
     "(bos_token_id) and with 41 'he' by tokenizer_config.json (bos_token)\n"},
    {"echo '{\"bos_token\": \"<|endoftext|>\", \"eos_token\": null, \"model_max_length\": 1e30}' > "
     "$D/m/tokenizer_config.json", ""},
    {"echo '{\"model_max_length\": 2}' > $D/m/tokenizer_config.json", ""},
    {"echo '{\"model_max_length\": 1}' > $D/m/tokenizer_config.json",
     WARNS "tokenizer_config.json limits texts to 1 tokens "
     "(model_max_length), config.json to 32: longer ones are run, but perhaps none was in training\n"},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(test_said)
{
    succeed(printed("%s; cp $D/m/config.json $D/config", cases[_i].change));
    expect_exactly(RUN, cases[_i].says);
    expect_exactly("$A run -q -m $D/m -s the --show tokens 2>&1 >/dev/null", "");
    expect_exactly("$A run -m $D/m --ids 1,2 --show tokens 2>&1 >/dev/null", "");
    const char *says = *cases[_i].says ? printed("warning       %s", cases[_i].says + strlen(WARNS)) :
        "vocabulary    97\n";
    expect("$A info -m $D/m 2>&1", 0, says);
    expect_exactly("$A info -m $D/m --format json | sed -n 's/.*\"warnings\": \\[\\(.\\).*/\\1/p'",
                   *cases[_i].says || strstr(cases[_i].change, "\": 2}") ? "\"\n" : "]\n");
}
END_TEST

/* An unused row or two are padding; most of a vocabulary is not. */
START_TEST(test_padding)
{
    succeed("seq 300 | sed 's/.*/\"w&\": &/' | paste -sd, | sed 's/.*/{\"w0\": 0, &}/' > $D/vocab.json");
    succeed("for n in 301 600 603 1500; do $A init -q -o $D/v$n --vocab $D/vocab.json --vocab-size $n --n-layer 1 "
            "--n-head 1 --d-model 4 --unembed true; done");
    expect_exactly("for n in 301 600 603 1500; do $A run -m $D/v$n -s w3 --show tokens 2>&1 >/dev/null; done",
                   WARNS "the tokenizer has ids up to 300, and the model up to 602 (vocab_size 603): more than is "
                   "usual for padding; are they of one model?\n" WARNS
                   "the tokenizer has ids up to 300, and the model up to 1499 (vocab_size 1500): more than is usual "
                   "for padding; are they of one model?\n");
}
END_TEST

/* An id that the embedding lacks, in every way to run a text. */
static const char *const runs[] = {
    "run -s 'the<|pad|>'", "score -s 'the<|pad|>'", "generate -s 'the<|pad|>'", "explain -s 'the<|pad|>'",
    "heads -s 'the<|pad|>'",
    "lens -s 'the<|pad|>'", "attribute -s 'the<|pad|>' --target 3", "variants -s 'the<|pad|>'", "info -s 'the<|pad|>'",
    "diff --with $D/m -s 'the<|pad|>'", "run -s the --cross 'the<|pad|>'",
    "run -s the --from 'the<|pad|>' --patch L0.resid_post[pos=0]"};
enum { RUNS = sizeof runs / sizeof *runs };

START_TEST(test_beyond)
{
    succeed("sed -i 's/}$/, \"<|pad|>\": 97}/' $D/m/vocab.json");
    expect(printed("$A %s -m $D/m --special 2>&1", runs[_i]), strncmp(runs[_i], "diff", 4) ? 1 : 2,
           "token 2, '<|pad|>', has id 97, but model m has ids 0 to 96 (vocab_size 97): the tokenizer has more tokens "
           "than the embedding has rows; do both belong together?\n");
}
END_TEST

START_TEST(test_in_batch)
{
    succeed("sed -i 's/}$/, \"<|pad|>\": 97}/' $D/m/vocab.json");
    expect("echo '<|pad|>the' | $A batch -m $D/m -f - --special --show tokens 2>&1", 3,
           "token 0, '<|pad|>', has id 97");
    const char *says = "warning: the tokenizer has ids up to 97 '<|pad|>', but the model takes 0 to 96";
    expect("echo the | $A batch -m $D/m -f - --show tokens -o $D/said 2>&1 >/dev/null", 0, says);
    expect("printf 'the\nhe\n' | $A heads -m $D/m -f - --input text --format csv 2>&1 >/dev/null", 0, says);
    expect_exactly("echo the | $A batch -q -m $D/m -f - --show tokens 2>&1 >/dev/null", "");
    expect_exactly("echo '{\"ids\": [1, 2]}' | $A batch -m $D/m -f - --input ndjson --show tokens 2>&1 >/dev/null", "");
    expect_exactly("$A diff -m tests/golden/checkpoints/gpt2-a --with $D/m -s the 2>&1 >/dev/null | cut -d: -f1-4",
                   "attn-cli diff: warning: of B: the tokenizer has ids up to 97 '<|pad|"
                   ">', but the model takes 0 to 96 (vocab_size 97)\n");
    expect("$A run -m $D/m --ids 3,97 2>&1", 1, "token 1 has id 97, but model m has ids 0 to 96 (vocab_size 97)\n");
}
END_TEST

Suite *suite_doubts(void)
{
    Suite *s = suite_create("doubts");
    TCase *tc = tcase_create("doubts");
    tcase_add_checked_fixture(tc, set_up, scratch_remove);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_said, 0, CASES);
    tcase_add_test(tc, test_padding);
    tcase_add_loop_test(tc, test_beyond, 0, RUNS);
    tcase_add_test(tc, test_in_batch);
    suite_add_tcase(s, tc);
    return s;
}

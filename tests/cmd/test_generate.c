/* The commands generate and score. */
#include "suites.h"

#include "checkpoints.h"
#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACKED "\"$A\" generate -m models/stacked "

static cJSON *read_expected(const char *name)
{
    return golden_read(checkpoint_recorded(name, "expected.json"));
}

/* What a command prints about a checkpoint and the ids of a prompt. */
static cJSON *answer(const char *command, const char *model, const cJSON *ids, const char *more)
{
    char line[2048], *list = cJSON_PrintUnformatted(ids);
    snprintf(line, sizeof line, "\"$A\" %s -q -m '%s' --ids '%.*s' --format json %s", command, model,
             (int)strlen(list) - 2, list + 1, more);
    free(list);
    const struct said *s = sh(line);
    cJSON *j = cJSON_ParseWithLength(s->text, s->len);
    ck_assert_msg(s->status == 0 && j, "%s\nended with %d and said:\n%s", line, s->status, s->text);
    return j;
}

static void goes_on(const char *name)
{
    cJSON *expected = read_expected(name), *want;
    cJSON *j = answer("generate", checkpoint_path(name), golden_get(expected, "ids"), "-n 12 --ignore-eos");
    size_t n = (size_t)golden_number(j, "n_prompt");
    ck_assert_int_eq(n, cJSON_GetArraySize(golden_get(expected, "ids")));
    const cJSON *tokens = golden_get(j, "tokens");
    cJSON_ArrayForEach(want, golden_get(golden_get(expected, "greedy"), "ids"))
        ck_assert(golden_number(cJSON_GetArrayItem(tokens, (int)n++), "id") == want->valuedouble);
    ck_assert_int_eq(n, cJSON_GetArraySize(tokens));
    ck_assert_str_eq(golden_string(j, "stop"), "length");
    cJSON_Delete(j);
    cJSON_Delete(expected);
}

START_TEST(checkpoints_go_on_as_recorded)
{
    if (checkpoint_path(checkpoints[_i].name))
        goes_on(checkpoints[_i].name);
}
END_TEST

/* Where angles depend on the length of the text, cached keys are those of a shorter one: a text that grows beyond the
 * length at which they change goes on as if each token began anew. */
START_TEST(rotation_follows_the_length)
{
    static const struct { const char *name, *scaling; int prompt, most; } cases[] = {
        {"phi3-longrope-a", "null", 12, 8}, {"llama-f", "{\"type\": \"dynamic\", \"factor\": 2.5}", 60, 8}};
    const char *name = scratch_path("model");
    cJSON *ids = cJSON_CreateArray();
    succeed(printed("cp -rL %s $D/model && chmod -R u+w $D/model && sed -i 's/\"rope_scaling\": null/\"rope_scaling\": "
                    "%s/' $D/model/config.json",
                    checkpoint_path(cases[_i].name), cases[_i].scaling));
    for (int i = 0; i < cases[_i].prompt; i++)
        cJSON_AddItemToArray(ids, cJSON_CreateNumber(7 * i % 61));
    cJSON *all = answer("generate", name, ids, printed("-n %d --ignore-eos", cases[_i].most));
    const cJSON *tokens = golden_get(all, "tokens");
    ck_assert_int_eq(cJSON_GetArraySize(tokens), cases[_i].prompt + cases[_i].most);
    for (int i = cases[_i].prompt; i < cases[_i].prompt + cases[_i].most; i++) {
        cJSON *one = answer("generate", name, ids, "-n 1 --ignore-eos");
        const cJSON *next = cJSON_GetArrayItem(golden_get(one, "tokens"), i), *said = cJSON_GetArrayItem(tokens, i);
        ck_assert(golden_number(next, "id") == golden_number(said, "id"));
        ck_assert(golden_number(next, "logprob") == golden_number(said, "logprob"));
        cJSON_AddItemToArray(ids, cJSON_CreateNumber(golden_number(said, "id")));
        cJSON_Delete(one);
    }
    cJSON_Delete(all);
    cJSON_Delete(ids);
}
END_TEST

/* 1e-5 allows for logits in float32, where the recorded ones are in double precision. */
static void scores(const char *name)
{
    cJSON *expected = read_expected(name);
    cJSON *j = answer("score", checkpoint_path(name), golden_get(expected, "ids"), "");
    ck_assert_double_le(fabs(golden_number(j, "logprob") / golden_number(expected, "sum_logprob") - 1), 1e-5);
    ck_assert_double_le(fabs(golden_number(j, "perplexity") / golden_number(expected, "perplexity") - 1), 1e-5);
    ck_assert_int_eq((int)golden_number(j, "n"), cJSON_GetArraySize(golden_get(expected, "ids")) - 1);
    cJSON_Delete(j);
    cJSON_Delete(expected);
}

START_TEST(checkpoints_score_as_recorded)
{
    if (checkpoint_path(checkpoints[_i].name))
        scores(checkpoints[_i].name);
}
END_TEST

/* The log-probabilities that generate prints are those of scoring the whole text at once, digit for digit. */
START_TEST(generate_and_score_tell_the_same)
{
    cJSON *expected = read_expected(checkpoints[_i].name);
    cJSON *j = answer("generate", checkpoint_path(checkpoints[_i].name), golden_get(expected, "ids"), "-n 12 --seed 3");
    cJSON *ids = cJSON_CreateArray(), *t;
    cJSON_ArrayForEach(t, golden_get(j, "tokens"))
        cJSON_AddItemToArray(ids, cJSON_CreateNumber(golden_number(t, "id")));
    cJSON *k = answer("score", checkpoint_path(checkpoints[_i].name), ids, "");
    int i = 0;
    cJSON_ArrayForEach(t, golden_get(j, "tokens"))
        ck_assert(cJSON_Compare(cJSON_GetObjectItem(t, "logprob"),
                                cJSON_GetObjectItem(cJSON_GetArrayItem(golden_get(k, "tokens"), i++),
                                                    "logprob"), true));
    ck_assert_int_eq(i, cJSON_GetArraySize(ids));
    cJSON_Delete(ids);
    cJSON_Delete(k);
    cJSON_Delete(j);
    cJSON_Delete(expected);
}
END_TEST

START_TEST(text_is_the_prompt_and_what_follows)
{
    expect_exactly(STACKED "-s 'The cat,' -n 3", "The cat, cat cat cat\n");
    expect_exactly(STACKED "-s 'The cat,' -n 0", "The cat,\n");
    expect_exactly(STACKED "--ids 16,3 -n 3", "the cat cat cat cat\n");
    expect_same(STACKED "-s 'the cat' -n 4", "echo the cat | " STACKED "-f - -n 4");
    expect(STACKED "-s 'the cat' -n 2 --format json", 0,
           "\"n_prompt\": 2,\n \"text\": \"cat cat\",\n \"stop\": \"length\"}");
    expect(STACKED "-s 'the cat' -n 0 --format json", 0, "\"text\": \"\",\n \"stop\": \"length\"}");
}
END_TEST

START_TEST(ids_need_no_tokenizer)
{
    succeed("mkdir $D/m && cp models/stacked/config.json models/stacked/model.safetensors $D/m");
    expect_exactly("\"$A\" generate -m $D/m --ids 16,3 -n 3 -q 2>&1", "16 3 3 3 3\n");
    expect("\"$A\" generate -m $D/m --ids 16,3 -n 3 2>&1 >/dev/null", 0, "no text: ");
    expect("\"$A\" generate -m $D/m --ids 16,3 -n 1 --format json -q", 0,
           "{\"id\": 3, \"text\": null, \"raw\": null, \"logprob\": -");
    expect("\"$A\" generate -m $D/m --ids 16,3 -n 1 --format json -q", 0, "\"text\": null");
    /* nothing before the error */
    expect_exactly("ends 1 \"$A\" generate -m $D/m --ids 16,99 -q 2>/dev/null", "");
    expect("\"$A\" generate -m $D/m --ids 16,3 --stop x 2>&1", 1, "--stop searches the text");
    expect("\"$A\" generate -m $D/m -s 'the cat' 2>&1", 1, "vocab.json");
    expect("\"$A\" score -m $D/m --ids 16,3", 0, "logprob     -16.2922\n");
}
END_TEST

START_TEST(it_ends_at_the_context)
{
    expect(STACKED "-s 'the cat' -n 99 --format json 2>&1", 0, "takes (n_ctx)");
    expect(STACKED "-s 'the cat' -n 99 --format json -q", 0, "\"stop\": \"context\"");
    expect(STACKED "-s 'the cat' -n 30 --format json -q", 0, "\"stop\": \"length\"");
    expect_exactly(STACKED "-s 'the cat' -n 99 -q | wc -w", "32\n");
    expect_exactly(STACKED "--ids \"$(seq -s, 0 21),$(seq -s, 0 9)\" -n 3 -q | wc -w", "32\n");
    expect(STACKED "--ids \"$(seq -s, 0 21),$(seq -s, 0 10)\" 2>&1", 1,
           "33 tokens, but model stacked takes at most 32 (n_ctx)");
}
END_TEST

/* From this prompt on llama-f generates 64, 0, 11, 14. */
START_TEST(it_ends_at_the_end_of_text)
{
    succeed("cp -r tests/golden/checkpoints/llama-f $D/m && sed -i 's/\"eos_token_id\": 100/\"eos_token_id\": [11, "
            "99]/' $D/m/config.json && rm $D/m/*.txt $D/m/vocab.json; "
            "sed -n 's/.*\"ids\": \\[\\([^]]*\\)\\].*/\\1/p' $D/m/expected/expected.json | head -1 >$D/ids");
#define PROMPT "8,61,34,30,91,48,16,93,38,48,21,89,49,15,20,13,1,63,67,69"
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 9", 0, "67 69 64 0 11\n");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 9 --format json", 0, "\"stop\": \"eos\"");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 3 --format json", 0, "\"stop\": \"eos\"");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 4 --ignore-eos", 0, "69 64 0 11 14\n");
    /* what is said of continuing counts before what is said of the model */
    succeed("echo '{\"eos_token_id\": [64]}' >$D/m/generation_config.json");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 4", 0, "69 64\n");
    succeed("echo \"{\\\"eos_token_id\\\": [64], \\\"suppress_tokens\\\": [$(seq -s, 5000)]}\" "
            ">$D/m/generation_config.json");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 4", 0, "69 64\n");
    succeed("echo '{\"eos_token_id\": null}' >$D/m/generation_config.json");
    expect("\"$A\" generate -q -m $D/m --ids " PROMPT " -n 9 --format json", 0, "\"stop\": \"eos\"");
    expect("echo '{' >$D/m/generation_config.json; \"$A\" generate -q -m $D/m --ids " PROMPT " -n 4 2>&1", 1,
           "m/generation_config.json: line ");
    succeed("cp -r models/stacked $D/ours && sed -i 's/\"rope_theta\"/\"eos_token_id\": 3, &/' $D/ours/config.json");
    expect("\"$A\" generate -q -m $D/ours -s 'the cat' -n 9 --format json", 0, "\"stop\": \"eos\"");
}
END_TEST

START_TEST(it_ends_at_the_stop_text)
{
#define SEES "-s 'the cat sees' "
    expect_exactly(STACKED SEES "-n 99 --stop lamp | tr -d ' \n'",
                   "thecatseesseesseesseesseesseesseesseesseesseesseessees");
    expect(STACKED SEES "-n 99 --stop ' lamp' --format json", 0, "sees\",\n \"stop\": \"text\"");
    expect(STACKED SEES "-n 99 --stop 'es lam' --format json", 0, "sees se\",\n \"stop\": \"text\"");
    /* not in the prompt */
    expect_exactly(STACKED SEES "-n 99 --stop see", "the cat sees \n");
    /* held back, then shown */
    expect_exactly(STACKED SEES "-n 2 --stop 'sees lamp'", "the cat sees sees sees\n");
}
END_TEST

START_TEST(draws_do_not_depend_on_threads)
{
    static const char drawn[] = STACKED "-s 'the cat' -q --temperature 2 --top-k 9 --top-p 0.9 --seed 11 --format json";
    expect(drawn, 0, "\"stop\": \"context\"");
    expect_same(drawn, STACKED "-t 7 -s 'the cat' -q --temperature 2 --top-k 9 --top-p 0.9 --seed 11 --format json");
    expect_same(STACKED "-q -s the --seed 0", STACKED "-q -s the --temperature 1");
    expect_same(STACKED "-q -s the --top-k 1", STACKED "-q -s the --temperature 0 --seed 4");
    expect("test \"$(" STACKED "-q -s the --temperature 9)\" != \"$(" STACKED
           "-q -s the --temperature 9 --seed 1)\"", 0, "");
}
END_TEST

/* Many tokens are worth copies of the weights, few are not. */
START_TEST(tokens_do_not_depend_on_how_many_follow)
{
    static const char *const how[] = {"", "--compute bf16"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const char *few = printed("$A generate -m tiny %s -s 'Lily lost her red ball' -n 47 --format json", how[i]);
        const char *many = printed("$A generate -m tiny %s -s 'Lily lost her red ball' -n 60 --format json", how[i]);
        expect_same(printed("%s | grep '\"id\"' | tr -d ',]'", few),
                    printed("%s | grep '\"id\"' | tr -d ',]' | sed -n 1,52p", many));
    }
}
END_TEST

START_TEST(activations_are_those_of_run)
{
    expect("cd $D && R=" "\"$OLDPWD\""
           " && \"$A\" generate -m $R/models/stacked -s 'the cat' -n 2 --show '*' -o g.npz && "
           "\"$A\" run -m $R/models/stacked -s 'the cat cat cat' --show '*' -o r.npz && cmp g.npz r.npz", 0,
           "the cat cat cat\n");
    expect(STACKED "-s 'the cat' -n 2 --show pattern --layer 1 --head 0 --format json -o $D/x.csv && cat $D/x.csv", 0,
           "\"stop\": \"length\"}\ntoken,the,cat,cat,cat\n");
    expect(STACKED "-s 'the cat' -n 2 --format csv --show logits -o $D/c && cat $D/c/logits.csv", 0,
           "the cat cat cat\ntoken,");
    expect(STACKED "-s 'the cat' -n 2 --show pattern -o $D/x.json && cat $D/x.json", 0, "\"text\":\"the cat cat cat\"");
    expect(STACKED "-s 'the cat' -n 2 --show patern -o $D/x.json 2>&1", 2, "pattern");
    expect(STACKED "-s 'the cat' -n 2 --format csv -o $D/c && cat $D/c/manifest.json", 0,
           "generate --model models/stacked --sentence 'the cat' --max-tokens 2 --format csv\"");
}
END_TEST

START_TEST(models_that_look_ahead_are_refused)
{
    succeed("cp -r models/stacked $D/m && sed -i 's/\"causal\"/\"none\"/' $D/m/config.json");
    expect("\"$A\" generate -m $D/m -s 'the cat' 2>&1", 1, "has no mask");
    expect("\"$A\" score -m $D/m -s 'the cat' 2>&1", 1, "has no mask");
}
END_TEST

/* Logits of some 10,000: exp of their mean difference is beyond a double. */
START_TEST(a_perplexity_beyond_a_double_is_null)
{
    succeed("\"$A\" init --vocab models/life/vocab.json --n-layer 1 --n-head 1 --d-model 4 --unembed --seed 1 "
            "--draw 'embed:normal(0,99) q:normal(0,1) k:normal(0,1) v:normal(0,99)' -o $D/m 2>&1");
    expect("\"$A\" score -m $D/m -s 'Life is short' --format json", 0, "\n \"perplexity\": null,\n");
    expect("\"$A\" score -m $D/m -s 'Life is short'", 0, "\nperplexity  inf\n");
}
END_TEST

START_TEST(score_prints_a_table_or_a_document)
{
    expect_exactly("\"$A\" score -m models/stacked -s 'The cat sees'",
                   "index      id  token    logprob\n    0      16  the            -\n    1       3  cat     -16.2922\n"
                   "    2      12  sees    -13.3416\n\nscored      2 tokens\nlogprob     -29.6337\n"
                   "perplexity  2721981.1565\n");
    expect_exactly("\"$A\" score -m models/stacked --ids 16,3",
                   "index      id    logprob\n    0      16          -\n    1       3   -16.2922\n\n"
                   "scored      1 token\nlogprob     -16.2922\nperplexity  11901555.1786\n");
    expect("\"$A\" score -m models/stacked -s the --format json", 0,
           "\"logprob\": null}],\n \"logprob\": 0,\n \"perplexity\": null,\n \"n\": 0,");
    expect("\"$A\" score -m models/stacked -s the", 0, "scored      0 tokens\n");
    expect("\"$A\" score -m models/stacked --ids \"$(seq -s, 0 21),$(seq -s, 0 21)\"", 0,
           "windows     of 32 tokens, 16 apart\n");
    expect("\"$A\" score -m models/stacked --ids \"$(seq -s, 0 21),$(seq -s, 0 21)\" --stride 3 --format json", 0,
           "\"n\": 43,\n \"window\": 32,\n \"stride\": 3}");
    expect("\"$A\" score -m models/stacked --ids \"$(seq -s, 0 21),$(seq -s, 0 21)\" --edit 'L0.pattern = ids(3)' 2>&1",
           1,
           "windows, where keys have no position of their own");
    expect("\"$A\" score -m models/stacked --ids 1,2 --stride 31 --format json", 0, "\"stride\": 31}");
    expect_same("\"$A\" score -t 1 -m models/stacked --ids \"$(seq -s, 0 21),$(seq -s, 0 21)\" --format json",
                "\"$A\" score -t 5 -m models/stacked --ids \"$(seq -s, 0 21),$(seq -s, 0 21)\" --format json");
}
END_TEST

/* How often a line writes: a socket of this type keeps what one call wrote apart from the next, however late
 * it is read. */
static int writes_of(const char *line)
{
    int ends[2], n = 0, status = -1;
    char some[4096];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    pid_t child = start_line(line, ends, STDOUT_FILENO);
    while (read(ends[0], some, sizeof some) > 0)
        n++;
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "%s\nended with %d", line, status);
    return n;
}

/* The text ends by itself after some 160 tokens; ids go on. */
START_TEST(tokens_come_as_they_are_made)
{
    ck_assert_int_gt(writes_of("exec \"$A\" generate -m tiny -q -s 'Once upon a time' -n 200"), 100);
    ck_assert_int_gt(writes_of("exec \"$A\" generate -m tiny -q --ids 5,6 -n 200"), 100);
}
END_TEST

/* Our process gets no signal: it ends because its output has no reader. */
START_TEST(a_closed_pipe_ends_it_early)
{
    expect_exactly("\"$A\" generate -m tests/golden/checkpoints/gpt2-b -q --ids 1 -n 60 | head -c 1 | wc -c", "1\n");
    expect_exactly("\"$A\" generate -m tiny -q -s Lily -n 60 -o $D/gone.npz | head -c 1 | wc -c; test -s $D/gone.npz; "
                   "rm $D/gone.npz", "1\n");
}
END_TEST

Suite *suite_generate(void)
{
    const struct { const TTest *test; int rows; } tests[] = {
        {checkpoints_go_on_as_recorded, CHECKPOINTS}, {checkpoints_score_as_recorded, CHECKPOINTS},
        {generate_and_score_tell_the_same, CHECKPOINTS_HERE},
        {rotation_follows_the_length, 2},
        {text_is_the_prompt_and_what_follows, 1}, {ids_need_no_tokenizer, 1}, {it_ends_at_the_context, 1},
        {it_ends_at_the_end_of_text, 1}, {it_ends_at_the_stop_text, 1}, {draws_do_not_depend_on_threads, 1},
        {tokens_do_not_depend_on_how_many_follow, 1},
        {activations_are_those_of_run, 1}, {models_that_look_ahead_are_refused, 1},
        {score_prints_a_table_or_a_document, 1},
        {a_perplexity_beyond_a_double_is_null, 1},
        {tokens_come_as_they_are_made, 1}, {a_closed_pipe_ends_it_early, 1},
    };
    Suite *s = suite_create("generate");
    TCase *c = tcase_create("generate");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(c, tests[i].test, 0, tests[i].rows);
    suite_add_tcase(s, c);
    return s;
}

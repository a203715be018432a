/* The command train: its result depends on nothing but the seed; what it refuses. */
#include "suites.h"

#include "attn_tools.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "terminal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- what decides it ------------------------------------------------------------------------ */

#define SMALL "\"$A\" train -f cmd/README.md --vocab-size 300 --n-ctx 32 --n-layer 2 --d-model 32 --steps 12 --batch " \
    "4 --warmup 4 " \
              "--eval-every 5 --dropout 0.1 --seed 7 "
#define SAME(a, b) "for f in model.safetensors checkpoint.safetensors loss.csv loss.png config.json train.json " \
    "vocab.json merges.txt; do " \
                   "cmp $D/" a "/$f $D/" b "/$f || exit 1; done; echo same"

static const char *const alike[] = {
    "-t 2", "--save-every 5", "--accumulate 1", "--held-out 5 --vocab $D/one",
    "--settings $D/one/train.json --config $D/one/config.json --vocab $D/one/vocab.json",
};

/* --config and the rest of SMALL do not go together. */
static const char *line_of(const char *options, const char *dir)
{
    static char line[1024];
    bool whole = strstr(options, "--config") != NULL, vocab = strstr(options, "--vocab") != NULL;
    if (whole)
        snprintf(line, sizeof line, "\"$A\" train -f cmd/README.md %s -o $D/%s 2>&1", options, dir);
    else if (vocab)
        snprintf(line, sizeof line,
                 "\"$A\" train -f cmd/README.md --n-ctx 32 --n-layer 2 --d-model 32 --steps 12 --batch 4 --warmup 4 "
                 "--eval-every 5 --dropout 0.1 --seed 7 %s -o $D/%s 2>&1", options, dir);
    else
        snprintf(line, sizeof line, SMALL "%s -o $D/%s 2>&1", options, dir);
    return line;
}

START_TEST(the_same_bits_whatever_else)
{
    expect(line_of("-t 1", "one"), 0, "the model is in ");
    expect(line_of(alike[_i], "other"), 0, "the model is in ");
    expect_exactly(SAME("one", "other"), "same\n");
}
END_TEST

START_TEST(another_seed_gives_another_model)
{
    expect(line_of("-t 1", "one"), 0, "the model is in ");
    expect(line_of("--seed 8", "other"), 0, "the model is in ");
    expect("cmp -s $D/one/model.safetensors $D/other/model.safetensors", 1, "");
}
END_TEST

#define TIMED "\"$A\" train -f cmd/README.md --vocab-size 300 --n-ctx 32 --n-layer 2 --d-model 32 --batch 4 " \
              "--dropout 0.1 --seed 7 "
#define STEPS "$(sed -n 's/.*\"steps\": \\([0-9]*\\).*/\\1/p' $D/one/train.json)"

/* On a busy machine the time may end before the steps do; their number stays when the training goes on. */
START_TEST(a_time_becomes_a_number_of_steps)
{
    expect("r=0; " TIMED "-o $D/one --warmup 1 --max-seconds 2 2>$D/said || r=$?; n=" STEPS "; "
           "grep -cE \"^--steps $n: (as many take about 2 seconds, at .* s each|one takes about .* into 2 seconds); "
           "the same command with --steps $n repeats this training$\" $D/said; test $r = 0 && exit 0; "
           "test $r = 75 && " TIMED "-o $D/one --warmup 1 -q --resume && test $n = " STEPS, 0, "1");
    succeed("n=" STEPS "; " TIMED "-o $D/other --warmup 1 -q --steps $n; "
            "tail -1 $D/one/loss.csv | cut -d, -f1 | grep -qx $n");
    expect_exactly(SAME("one", "other"), "same\n");
    succeed(TIMED "-o $D/usual --max-seconds 1 2>$D/said || test $? = 75; "
            "n=$(sed -n 's/.*\"steps\": \\([0-9]*\\).*/\\1/p' $D/usual/train.json);"
            "grep -q \"with --steps $n --warmup $((n < 1000 ? n / 10 : 100)) repeats\" $D/said;"
            "grep -q \"\\\"warmup\\\": $((n < 1000 ? n / 10 : 100))[,}]\" $D/usual/train.json");
    succeed("test " STEPS " -lt 3 || tail -1 $D/one/loss.csv | cut -d, -f3 | xargs printf '%.6f\n' | grep -x 0.000100");
}
END_TEST

START_TEST(a_time_that_is_too_short_is_told)
{
    expect(TIMED "-o $D/one --warmup 100000000 --max-seconds 1 2>$D/said || test $? = 75; grep fall $D/said", 0,
           "the learning rate does not fall: it rises for 100000000 steps (--warmup); give more time or a shorter ");
    expect(TIMED "-o $D/two --accumulate 1000 --warmup 0 --max-seconds 1 2>&1 | grep -v '^step 1 '", 0,
           "--steps 1: one takes about ");
    expect_exactly("tail -1 $D/two/loss.csv | cut -d, -f1", "1\n");
    expect(TIMED "-o $D/other --max-seconds 60 --settings $D/one/train.json --steps 2 2>&1 | "
           "grep -c 'as many take'", 1, "0");
}
END_TEST

/* A training is interrupted by different signals at different steps until it is complete; before it takes steps,
 * SIGTERM ends it as any program. */
START_TEST(interruptions_change_no_bit)
{
    expect(line_of("", "one"), 0, "the model is in ");
    expect("i=0; while :; do " SMALL "-o $D/other --resume --save-every 1 --max-seconds 60 -q & p=$!; "
           "i=$((i + 1)); case $((i % 3)) in 0) s=KILL;; 1) s=TERM;; *) s=INT;; esac; "
           "( sleep 0.$((i % 10))5; kill -$s $p ) 2>/dev/null & k=$!; "
           "r=0; wait $p || r=$?; wait $k || true; case $r in 0) break;; 75 | 137 | 143) ;; *) echo status $r; "
           "exit 1;; esac; "
           "test $i -lt 60 || exit 1; done 2>/dev/null; echo done", 0, "done");
    expect_exactly(SAME("one", "other"), "same\n");
}
END_TEST

START_TEST(a_finished_training_stays_as_it_is)
{
    expect(line_of("", "one"), 0, "the model is in ");
    expect_exactly("cp -r $D/one $D/other", "");
    expect(line_of("--resume", "one"), 0, "the model is in ");
    expect("\"$A\" train -f cmd/README.md -o $D/one --resume 2>&1", 0,
           "all steps were taken before: there was nothing to resume; the model is in ");
    expect_exactly(SAME("one", "other"), "same\n");
}
END_TEST

/* Keys that train.json leaves out have their defaults then, too. */
START_TEST(what_does_nothing_is_refused)
{
    expect(SMALL "-o $D/m --also LICENSE --also-share 0 2>&1", 2, "--also-share 0 reads nothing from --also");
    expect(SMALL "-o $D/m --also-share 0.5 2>&1", 2, "--also-share is the share of --also, which is not given");
    expect(SMALL "-o $D/m --against-share 0.5 2>&1", 2,
           "--against-share is the share of --against, which is not given");
    expect(SMALL "-o $D/m --bos yes 2>&1", 2, "--bos is for the sentence of --watch-every");
    expect(SMALL "-o $D/m --watch-every 12 --special -s '<|endoftext|>the' -q && jq '.tokens | "
           "length' $D/m/watch/manifest.json", 0, "3\n");
}
END_TEST

START_TEST(settings_may_be_left_out)
{
    expect(line_of("", "one"), 0, "the model is in ");
    expect("sed -i '/\"eps\"\\|\"clip\"/d' $D/one/train.json && grep -c clip $D/one/train.json || :", 0, "0\n");
    expect(line_of("--resume", "one"), 0, "the model is in ");
}
END_TEST

/* ---- what comes of it ----------------------------------------------------------------------- */

START_TEST(every_command_reads_it)
{
    static const char *const types[] = {"F32", "F16", "BF16"};
    expect(line_of(printed("--dtype %s --keep best --documents join", types[_i]), "m"), 0, "the model is in ");
    expect("\"$A\" info -m $D/m --check 2>&1", 0, types[_i]);
    expect("\"$A\" run -m $D/m -s 'attention heads' --show pattern 2>&1", 0, "pattern");
    expect("grep eos $D/m/config.json", 0, "\"eos_token_id\": 299");
    expect("\"$A\" score -m $D/m -s 'attention heads' 2>&1", 0, "perplexity");
    expect("\"$A\" generate -m $D/m -s 'attention' -n 5 2>&1", 0, "attention");
    expect("ls -A $D/m | tr '\\n' ' '", 0,
           "checkpoint.safetensors config.json loss.csv loss.png merges.txt model.safetensors train.json "
           "vocab.json ");
    expect("head -1 $D/m/loss.csv; wc -l <$D/m/loss.csv", 0,
           "step,tokens,lr,loss,gradient,held_out,bits_per_byte\n13\n");
}
END_TEST

/* The help says the same. */
START_TEST(what_is_not_said_has_a_default)
{
    static const char *const mlps[][2] = {{"swiglu", "384"}, {"gelu", "512"}};
    for (size_t i = 0; i < 2; i++) {
        succeed(printed("\"$A\" train -q -f cmd/README.md -o $D/m%zu --vocab-size 300 --steps 1 --batch 1 --mlp %s", i,
                        mlps[i][0]));
        expect_exactly(printed("jq -c '[.n_ctx, .n_layer, .n_head, .n_kv_head, .d_model, .d_head, .d_value, .d_mlp, "
                               ".position, .norm, .norm_eps == 1e-5, .scale, .bias, .tied, .rope_theta]' "
                               "$D/m%zu/config.json", i),
                       printed("[256,4,4,4,128,32,32,%s,\"rope\",\"rmsnorm\",true,\"sqrt\",false,true,10000]\n",
                               mlps[i][1]));
    }
    succeed("\"$A\" train -q -f cmd/README.md -o $D/small --vocab-size 300 --steps 1 --n-ctx 8 --n-layer 1 --n-head 1 "
            "--d-model 8");
    expect_exactly("jq -c 'del(.steps, .text) | .eps |= (. == 1e-8)' $D/small/train.json",
                   "{\"batch\":16,\"accumulate\":1,\"lr\":0.001,\"lr_end\":0.1,\"warmup\":100,\"beta1\":0.9,"
                   "\"beta2\":0.95,\"eps\":true,\"weight_decay\":0.1,\"clip\":1,\"dropout\":0,\"held_out\":5,"
                   "\"eval_every\":250,\"also_share\":0,\"against_share\":0.25,\"seed\":0,\"documents\":\"part\","
                   "\"keep\":\"last\",\"draw\":null,\"dtype\":\"F32\",\"from\":null,\"also\":null,\"against\":null}\n");
}
END_TEST

/* What is said again in the text of --against becomes less likely, and nothing else of that text more likely. */
START_TEST(it_learns_not_to_say_things_again)
{
    static const char score[] =
        "\"$A\" score -q -m $D/%s -f $D/round --format json | jq -c '[.tokens[] | .logprob // 0] | [(.[1:4] | add), "
                                "(.[4:] | add)]'";
    succeed("for i in $(seq 60); do printf 'to go and come '; done >$D/round; cp $D/round $D/circles");
    expect(line_of("", "m"), 0, "the model is in ");
    for (int with = 0; with < 2; with++)
        expect(printed("\"$A\" train -m $D/m -f cmd/README.md -o $D/%s --steps 12 --batch 4 --lr 0.003 --warmup 2 "
                       "%s 2>&1", with ? "with" : "none",
                       with ? "--against $D/circles --against-share 0.5" : ""), 0, "the model is in ");
    expect(printed("(%s; %s) | jq -cs '[.[0][1] < .[1][1] - 20]'", printed(score, "with"), printed(score, "none")),
           0, "[true]");
    expect("\"$A\" train -f cmd/README.md -o $D/with --against LICENSE --resume 2>&1", 1,
           "reads another --against; give the same");
    expect("\"$A\" train -f cmd/README.md -o $D/with --against $D/circles --resume 2>&1", 0, "the model is in ");
}
END_TEST

/* Every kind of block. */
static const char *const kinds[] = {
    "--position none --norm none --mlp none", "--position learned --norm layernorm --mlp gelu --bias true --tied false",
    "--position rope --norm rmsnorm --mlp gelu_new --n-kv-head 2 --d-head 16 --d-value 8 --scale none",
    "--n-kv-head 1 --d-mlp 48",
};

START_TEST(all_kinds_of_models_learn)
{
    expect(line_of(printed("%s --lr 0.01", kinds[_i]), "m"), 0, "the model is in ");
    /* Held out, as the loss of one batch says more of the batch. */
    expect("awk -F, 'NR == 2 {a = $4} END {exit !($6 < a - 0.1)}' $D/m/loss.csv && echo falls", 0, "falls");
}
END_TEST

START_TEST(progress_is_told_when_asked)
{
    expect(line_of("--progress --also LICENSE", "m"), 0, " held out\n");
    expect("\"$A\" train -f cmd/README.md -o $D/m --resume --also LICENSE --progress 2>&1", 0,
           "continuing after step 12 of 12");
}
END_TEST

/* What is measured stays, each on its own line. */
START_TEST(progress_has_a_line_for_each_measurement)
{
    static const char shape[] = "s/^\\(step [0-9]* of 12\\)  loss [0-9.]*  held out [0-9.]* ([0-9.]* bits a byte)  "
                                "[0-9]* tokens\\/s  .* left$/\\1/p";
    expect_exactly(printed(SMALL "--progress -o $D/m 2>&1 | sed -n '%s'", shape),
                   "step 5 of 12\nstep 10 of 12\nstep 12 of 12\n");
    expect_exactly(printed(SMALL "--progress -o $D/n 2>&1 | tail -n 2 | sed -n '%s'", shape), "step 12 of 12\n");
    expect_exactly(printed(SMALL "--held-out 0 --progress -o $D/o 2>&1 | tail -n 2 |"
                           "grep -cx 'step 12 of 12  loss [0-9.]*  [0-9]* tokens/s  0 s left'"), "1\n");
    expect_exactly(line_of("--progress -q", "p"), "");
    /* without being asked, a line now and then, and the losses at the end */
    expect_exactly(printed(SMALL "-o $D/q 2>&1 | sed 's/[0-9.]* tokens.*//; s/[0-9]\\.[0-9]*/x/g; s|[^ ]*/q|q|g'"),
                   "step 1 of 12  loss x  \nthe model is in q; loss x, at first x. To continue a text: attn-cli "
                   "generate -m q -s TEXT\n");
}
END_TEST

/* Other lines are overwritten. */
START_TEST(progress_on_a_terminal)
{
    if (no_terminal())
        return;
    const char *shown = on_terminal(SMALL "-o $D/m", 0), *at = strstr(shown, "\nstep 1 of 12  loss ");
    ck_assert_msg(at && strstr(at, " left\r    ") && strstr(at, "    \rstep "), "%s", shown);
    static const char *const stay[] = {"step 5 of 12 ", "step 10 of 12 ", "step 12 of 12 "};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) {
        at = strstr(shown, stay[i]);
        ck_assert_msg(at && strstr(at, " left\r\n") == strstr(at, " left"), "'%s' in\n%s", stay[i], shown);
    }
    ck_assert_msg(!strncmp(strstr(at, " left"), " left\r\nthe model is in ", 23), "%s", at);
    shown = on_terminal(SMALL "--steps 100000 --eval-every 0 --max-seconds 1 -o $D/n", 75);
    ck_assert_msg(strstr(shown, " left\r\nstep ") && strstr(shown, "--resume"), "%s", shown);
    expect(SMALL "-o $D/m --steps 24 --resume 2>&1", 1,
           "has \"steps\": 12, over which its learning rate falls, but \"steps\": 24 was asked for; "
           "leave --steps out to finish it, or, to train its model further, begin another from it with -m");
    expect_exactly("ends 75 " SMALL "--steps 100000 --eval-every 0 --max-seconds 1 -o $D/r 2>&1 | tail -n 1 | "
                   "sed 's/[0-9]*\\.[0-9]*/x/g; s/^[^:]*//'", ": the same command with --resume continues from there; "
                   "its loss is now x; it was x at step 1\n");
    ck_assert_str_eq(on_terminal(SMALL "-q -o $D/o", 0), "");
}
END_TEST

/* Nothing of a line that was overwritten stays, and lines end between words. */
START_TEST(steps_on_a_screen)
{
    static const char rows[] = "^\\|(step [0-9]+ of 12  loss [0-9.]+(  held out [0-9.]+ \\([0-9.]+ bits a byte\\))?"
                               "(  [0-9]+( tokens/s(  [0-9]+( s( left)?)?)?)?)?|  .*|[0-9]+ parameters; .*|"
                               "the model is in .*)$";
    if (no_terminal())
        return;
    terminal_expect("ln -s \"$PWD\"/cmd $D/cmd; cd $D; " SMALL "-o small", 24, 80, rows);
    terminal_expect("cd $D; " SMALL "-o large", 40, 120, rows);
}
END_TEST

/* ---- training in memory --------------------------------------------------------------------- */

static const int32_t ids[] = {65, 66, 67, 68, 65, 66};
enum { IDS = sizeof ids / sizeof *ids };

static struct attn_train *begin(const char *settings)
{
    static const char config[] =
        "{\"model_type\": \"attn-decoder\", \"vocab_size\": 257, \"n_ctx\": 16, \"n_layer\": 1, \"n_head\": 2, "
        "\"d_model\": 8, \"residual\": true, \"output_projection\": true, \"unembed\": true, \"tokenizer\": "
        "{\"type\": \"bpe\"}}";
    struct attn_train *t = NULL;
    struct attn_err err = {0};
    char text[600], vocab[SCRATCH_PATH];
    size_t n;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "the cat sat. "[i % 13];
    snprintf(vocab, sizeof vocab, "%s/v", scratch_dir);
    ck_assert_msg(!attn_bpe_learn(vocab, &n, text, sizeof text, ATTN_BPE_LEAST, &err), "%s", err.msg);
    struct attn_train_opts o = {.text = text, .text_len = sizeof text, .tokenizer = vocab, .config = config,
                                .config_len = strlen(config),
                                .config_name = "config", .settings = settings, .settings_len = strlen(settings),
                                .threads = 1};
    ck_assert(!attn_train_exists(scratch_path("m")));
    ck_assert_msg(!attn_train_check(&o, &err), "%s", err.msg);
    ck_assert_msg(!attn_train_open(&t, scratch_path("m"), &o, &err), "%s", err.msg);
    return t;
}

static void score(double out[IDS], const struct attn_model *m)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_score(out, m, ids, IDS, &(struct attn_score_opts){.stride = 8, .threads = 1}, &err),
                  "%s", err.msg);
}

static struct attn_train_state step(struct attn_train *t)
{
    struct attn_train_state state;
    struct attn_err err = {0};
    ck_assert_msg(!attn_train_step(t, &err), "%s", err.msg);
    attn_train_get(t, &state);
    return state;
}

/* Expects that the model that is saved is the one that had this score. */
static void expect_saved(struct attn_train *t, const double want[IDS])
{
    struct attn_err err = {0};
    double have[IDS];
    ck_assert_msg(!attn_train_save(t, &err), "%s", err.msg);
    ck_assert(attn_train_exists(scratch_path("m")));
    struct attn_model *saved = made_open(scratch_path("m"));
    score(have, saved);
    ck_assert_mem_eq(have, want, sizeof have);
    attn_model_close(saved);
}

/* The steps that are taken to measure their speed leave nothing behind. */
START_TEST(steps_that_fit_a_time_are_those_of_any_training)
{
    static const char settings[] = "{\"steps\": 1, \"batch\": 2, \"dropout\": 0.1, \"eval_every\": 0, "
                                   "\"held_out\": 20, \"warmup\": 7}";
    struct attn_train *t = begin(settings);
    struct attn_train_state one = step(t), two;
    struct attn_err err = {0};
    double scores[2][IDS], seconds = 0;
    score(scores[0], attn_train_model(t));
    ck_assert_int_eq(attn_train_fit(t, 1, 250, &seconds, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "this training has begun: its number of steps, 1, stays");
    attn_train_close(t);
    t = begin(settings);
    ck_assert_msg(!attn_train_fit(t, 1e-9, 250, &seconds, &err), "%s", err.msg);
    ck_assert(seconds > 0);
    two = step(t);
    ck_assert(two.steps == 1 && two.loss == one.loss && two.held_out == one.held_out && two.lr == one.lr);
    score(scores[1], attn_train_model(t));
    ck_assert_mem_eq(scores[0], scores[1], sizeof *scores);
    attn_train_close(t);
}
END_TEST

/* The model that can be run is the one being trained, and the one that is saved. */
START_TEST(a_step_changes_the_model)
{
    struct attn_train *t = begin("{\"steps\": 3, \"batch\": 2, \"warmup\": 0}");
    double scores[3][IDS];
    score(scores[0], attn_train_model(t));
    for (size_t i = 1; i < 3; i++) {
        struct attn_train_state state = step(t);
        ck_assert(state.step == i && state.steps == 3 && state.loss > 0 && state.gradient > 0);
        score(scores[i], attn_train_model(t));
    }
    ck_assert(memcmp(scores[0], scores[1], sizeof *scores) != 0 && memcmp(scores[1], scores[2], sizeof *scores) != 0);
    expect_saved(t, scores[2]);
    attn_train_close(t);
}
END_TEST

/* What fails leaves a training as it was, and there is no step after the last. */
START_TEST(a_training_survives_its_caller)
{
    struct attn_train *t = begin("{\"steps\": 2, \"batch\": 2, \"warmup\": 0}");
    struct attn_err err = {0};
    struct attn_train_watch_opts o = {.text = "", .every = 1, .threads = 1};
    ck_assert_int_ne(attn_train_watch(t, &o, &err), 0);
    o.text = "a";
    o.len = 1;
    o.show = "nonsense";
    ck_assert_int_ne(attn_train_watch(t, &o, &err), 0);
    step(t);
    step(t);
    ck_assert_int_eq(attn_train_step(t, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "all 2 steps of this training are taken"));
    ck_assert_int_eq(attn_train_save(t, &err), ATTN_OK);
    attn_train_close(t);
}
END_TEST

/* With so high a rate a step soon makes the model worse. */
START_TEST(the_best_model_is_kept)
{
    struct attn_train *t =
        begin("{\"steps\": 20, \"batch\": 2, \"warmup\": 0, \"lr\": 0.5, \"lr_end\": 1, \"eval_every\": 1, "
                                 "\"held_out\": 20, \"keep\": \"best\"}");
    double best = INFINITY, of_best[IDS];
    struct attn_train_state state = step(t);
    for (; state.held_out < best; state = step(t)) {
        best = state.held_out;
        score(of_best, attn_train_model(t));
    }
    expect_saved(t, of_best);
    attn_train_close(t);
}
END_TEST

/* ---- what is watched ------------------------------------------------------------------------ */

#define WATCH "--watch-every 5 -s 'attention heads' --show pattern,context "
#define SAME_WATCH "for f in $D/one/watch/*; do cmp $f $D/other/watch/$(basename $f) || exit 1; done; echo same"

/* More steps than stand side by side are spread out, which is said. */
START_TEST(a_long_history_is_thinned)
{
    expect(line_of("--watch-every 1 -s 'attention heads' --show pattern --layer 0", "one"), 0, "the model is in ");
    expect_exactly("\"$A\" plot $D/one/watch -o $D/h.png 2>&1",
                   "8 of 13 steps are shown, evenly spread; --frames 13 shows all\n");
    expect_exactly("\"$A\" plot $D/one/watch --frames 13 -o $D/h.png 2>&1; "
                   "\"$A\" plot $D/one/watch --frames 2 -o $D/h.png 2>&1", "");
}
END_TEST

START_TEST(a_sentence_is_watched)
{
    expect(line_of(WATCH, "one"), 0, "the model is in ");
    expect("ls $D/one/watch | tr '\\n' ' '", 0,
           "blocks.0.attn.context.npy blocks.0.attn.pattern.npy blocks.1.attn.context.npy "
           "blocks.1.attn.pattern.npy manifest.json steps.npy ");
    /* steps 0, 5, 10, 12 */
    expect("head -c 100 $D/one/watch/blocks.0.attn.pattern.npy | tr -d '\\0'", 0, "'shape': (4, 4, ");
    expect("\"$A\" plot $D/one/watch --layer 1 --head 2", 0, "layer 1, head 2, step 12");
    expect_exactly("\"$A\" plot $D/one/watch --frames 2 --show context --layer 0 | ends 1 grep 's5\\|s10'", "");
    expect("\"$A\" plot $D/one/watch -o $D/h.png && \"$A\" plot $D/one/watch -o $D/h.svg && "
           "grep -o 'layer 1, head 3, step 12' $D/h.svg", 0,
           "step 12");
    /* a page with a slider: each step of each head, as many bytes as it has numbers, and no script but its own */
    succeed("\"$A\" plot $D/one/watch -o $D/h.html && \"$A\" plot $D/one/watch -o $D/i.html && "
            "cmp $D/h.html $D/i.html");
    expect_exactly("$PYTHON - $D/h.html <<'END'\n"
                   "import base64, hashlib, json, re, sys\n"
                   "page = open(sys.argv[1]).read()\n"
                   "data = json.loads(re.search(r'id=.data.>(.*?)</script>', page, re.S)[1])\n"
                   "assert data['steps'] == [0, 5, 10, 12], data['steps']\n"
                   "panels = [p for k in data['kinds'] for p in k['panels']]\n"
                   "assert all(len(base64.b64decode(p['data'])) == 4 * p['rows'] * p['cols'] for p in panels)\n"
                   "policy = re.search(r'Policy. content=.([^>]*).>', page)[1]\n"
                   "for tag in ('style', 'script'):\n"
                   "    text = re.search(r'<%s>(.*?)</%s>' % (tag, tag), page, re.S)[1].encode()\n"
                   "    assert base64.b64encode(hashlib.sha256(text).digest()).decode() in policy, tag\n"
                   "print(len(panels), panels[0]['name'])\nEND", "8 layer 0, head 0\n");
    expect("\"$A\" plot $D/one 2>&1 | sed \"s|$D||g\"", 1,
           "/one: no .npy file in it, but a history of patterns: plot /one/watch");
}
END_TEST

START_TEST(watching_changes_nothing_and_goes_on)
{
    expect(line_of("", "one"), 0, "the model is in ");
    expect(line_of(WATCH, "other"), 0, "the model is in ");
    expect_exactly(SAME("one", "other"), "same\n");
    expect("mv $D/other $D/one.watched && rm -r $D/one && mv $D/one.watched $D/one", 0, "");
    expect("i=0; until " SMALL "-o $D/other --resume --save-every 2 -q " WATCH
           "& p=$!; ( sleep 0.$((i += 1))2; kill -KILL $p ) 2>/dev/null & wait $p; do test $((i += 1)) -lt 60 || "
           "exit 1; touch $D/other/.attn-0123456789abcdef.tmp $D/other/watch/.attn-0123456789abcdef.tmp || :; "
           "done 2>/dev/null; wait; " SAME_WATCH, 0, "same");
    expect_exactly("cd $D; ls -A other other/watch | ends 1 grep tmp", "");      /* what killed runs left is gone */
}
END_TEST

/* The arrays were written at step 10, the steps and the manifest not yet: the last checkpoint's history is whole. */
START_TEST(a_history_that_was_half_written_is_that_of_the_checkpoint_before)
{
    expect(line_of("--steps 10 " WATCH, "one"), 0, "the model is in ");
    expect(line_of("--steps 5 " WATCH, "other"), 0, "the model is in ");
    expect_exactly("for w in one other; do \"$A\" plot $D/$w/watch --format svg | sed \"s|$D/$w||g\" >$D/$w.svg; done; "
                   "cmp -s $D/one.svg $D/other.svg || echo differ; "
                   "cp $D/other/watch/steps.npy $D/other/watch/blocks.1.attn.context.npy $D/one/watch; "
                   "\"$A\" plot $D/one/watch --format svg | sed \"s|$D/one||g\" | cmp - $D/other.svg && echo same",
                   "differ\nsame\n");
}
END_TEST

/* A process can end after it has made the directory of what is watched, and before anything is in it. */
START_TEST(a_history_that_was_only_begun_is_none)
{
    expect(SMALL "-o $D/one -q --max-seconds 1 --steps 100000 --save-every 2 2>&1", 75, "");
    expect("mkdir $D/one/watch && " SMALL "-o $D/one -q --max-seconds 1 --steps 100000 --resume " WATCH "2>&1", 75, "");
    expect_exactly("test -s $D/one/watch/steps.npy && echo goes on", "goes on\n");
}
END_TEST

/* ---- a model that is there learns on ------------------------------------------------------- */

#define FURTHER "\"$A\" train -f LICENSE --batch 2 --warmup 2 --held-out 20 -q "
#define HELD_OUT(dir) "tail -1 $D/" dir "/loss.csv | cut -d, -f6"

START_TEST(its_weights_are_the_first_ones)
{
    succeed(SMALL "-q -o $D/one && cp -r $D/one $D/before && " FURTHER "-m $D/one -o $D/same --steps 2 --lr 0");
    expect("\"$A\" diff -m $D/one --with $D/same", 0, "nothing differs");
    succeed(FURTHER "-m tiny -o $D/tiny --steps 1 --max-seconds 60");
    succeed(FURTHER "-m $D/one -o $D/none --steps 30 --lr 0 && " FURTHER "-m $D/one -o $D/two --steps 30 --lr 0.003");
    expect("test $(" HELD_OUT("two") ") != $(" HELD_OUT("none") ") && { " HELD_OUT("two") "; "
           HELD_OUT("none") "; } | sort -g | head -1 | "
           "cmp - <(" HELD_OUT("two") ") && echo less", 0, "less");
    expect_exactly("diff -r $D/one $D/before && cmp $D/one/config.json $D/two/config.json && echo as it was",
                   "as it was\n");
}
END_TEST

START_TEST(a_model_of_any_family_learns_on)
{
    succeed("\"$A\" train -f cmd/README.md --family qwen3 --vocab-size 300 --n-ctx 32 --n-layer 2 --d-model 32 "
            "--n-head 4 --n-kv-head 2 --d-mlp 48 --steps 4 --batch 4 -q -o $D/one");
    succeed(FURTHER "-m $D/one -o $D/same --steps 2 --lr 0 && cmp $D/one/config.json $D/same/config.json");
    expect("\"$A\" diff -m $D/one --with $D/same", 0, "nothing differs");
}
END_TEST

START_TEST(interruptions_of_what_goes_on_change_no_bit)
{
    succeed(SMALL "-q -o $D/first && " FURTHER "-m $D/first -o $D/one --steps 9");
    expect("i=0; until " FURTHER
           "-m $D/first -o $D/other --steps 9 --resume --save-every 2 & p=$!; ( sleep 0.$((i += 1))2; kill -KILL $p ) "
           "2>/dev/null & wait $p; do test $((i += 1)) -lt 60 || exit 1; done 2>/dev/null; wait; "
           SAME("one", "other"), 0, "same");
    expect(FURTHER "-o $D/one --resume 2>&1", 0, "");
    expect(FURTHER "-m tiny -o $D/one --resume 2>&1", 1,
           "/one: the training there began with another model; leave the model out");
    expect(SMALL "-m tiny -o $D/first --resume 2>&1", 2, "--model and --n-ctx do not go together");
    expect("\"$A\" train -f cmd/README.md -m tiny -o $D/first --resume 2>&1", 1,
           "/first: the training there began with weights it drew");
}
END_TEST

/* ---- what it refuses ------------------------------------------------------------------------ */

static const struct { const char *line; int status; const char *says; } refused[] = {
    {"\"$A\" train -o $D/m 2>&1", 2, "give a text with -f PATH"},
    {"\"$A\" train -s 'a b' 2>&1", 2, "--gradients FILE"},
    {"ATTN_MODEL=life \"$A\" train -o $D/m 2>&1", 2, "give a text with -f PATH"},
    {SMALL "-m models/stacked -o $D/m 2>&1", 2,
     "--model and --n-ctx do not go together: a training that begins with a model has its"},
    {FURTHER "-m life -o $D/m 2>&1", 1, "life: \"unembed\" is false, so there is nothing to predict"},
    {FURTHER "-m models/stacked -o models/stacked 2>&1", 2,
     "models/stacked: there is a model already, and no training"},
    {FURTHER "-m tiny -o $D/m --vocab x 2>&1", 2, "--model and --vocab do not go together"},
    {FURTHER "-m tiny -o $D/m --config x 2>&1", 2, "--model and --config do not go together"},
    {FURTHER "-m $D/none -o $D/m 2>&1", 1, "No such file or directory"},
    {"\"$A\" train -m models/stacked --ids 1,2 --gradients $D/g --lr 1 2>&1", 2,
     "--gradients and --lr do not go together"},
    {"\"$A\" train -m models/stacked --ids 1,2 --gradients $D/g -o $D/m 2>&1", 2,
     "--gradients and --output do not go together"},
    {"\"$A\" train -f cmd/README.md 2>&1", 2, "give a directory with -o DIR"},
    {"\"$A\" train -f cmd/README.md -o $D/m --ids 1,2 2>&1", 2, "--ids is for --gradients"},
    {"\"$A\" train -f cmd/README.md -o $D/m --config x.json --n-head 2 2>&1", 2,
     "--config and --n-head do not go together"},
    {"\"$A\" train -f cmd/README.md -o $D/m --vocab x --vocab-size 300 2>&1", 2,
     "--vocab and --vocab-size do not go together"},
    {"\"$A\" train -f cmd/README.md -o $D/m -s x 2>&1", 2, "--watch-every N and -s TEXT go together"},
    {"\"$A\" train -f cmd/README.md -o $D/m --d-model 0 2>&1", 2, "--d-model: 0 is not in 1..2147483647"},
    {"\"$A\" train -f cmd/README.md -o $D/m --watch-every 5 2>&1", 2, "--watch-every N and -s TEXT go together"},
    {"\"$A\" train -f cmd/README.md -o $D/m --show pattern 2>&1", 2, "are for --watch-every"},
    {SMALL "-o $D/m --watch-every 5 -s '' 2>&1", 2, "the sentence to watch is empty"},
    {SMALL "-o $D/m --watch-every 5 -s x --head 9 2>&1", 1, "has 4 heads"},
    {"\"$A\" train -f cmd/README.md -o $D/m --steps 0 2>&1", 2, "steps"},
    {"\"$A\" train -f cmd/README.md -o $D/m --lr -1 --vocab-size 300 2>&1", 2, "\"lr\" is -1"},
    {"\"$A\" train -f cmd/README.md -o $D/m --dropout 1 --vocab-size 300 2>&1", 2,
     "\"dropout\" is 1, expected less than 1"},
    {"\"$A\" train -f /dev/null -o $D/m 2>&1", 1, "the text is empty"},
    {"\"$A\" train -f $D/absent -o $D/m 2>&1", 1, "absent: cannot open"},
    {"printf 'a few words\\n' | \"$A\" train -f - -o $D/m 2>&1", 1, "tokens"},
    {"printf 'a\\377b' | \"$A\" train -f - -o $D/m 2>&1", 1, "not UTF-8 at byte 1"},
    {"printf 'a\\n<|endoftext|>\\nb\\377\\n' | \"$A\" train -f - -o $D/m --vocab models/stacked 2>&1", 1,
     "the text is not UTF-8 at byte 17"},
    {"printf 'a\\377' >$D/also; " SMALL "--also $D/also -o $D/m 2>&1", 1, "the other text is not UTF-8 at byte 1"},
    {"printf 'ab\\377' >$D/against; " SMALL "--against $D/against -o $D/m 2>&1", 1,
     "the text of --against is not UTF-8 at byte 2"},
    {"echo short >$D/against; " SMALL "--against $D/against -o $D/m 2>&1", 1, "the text of --against: "},
    {": >$D/e; " SMALL "--against $D/e -o $D/m 2>&1", 1, "the text of --against: 0 tokens"},
    {": >$D/e; " SMALL "--also $D/e -o $D/m 2>&1", 1, "the other text: 0 tokens"},
    {"mkdir $D/m; cp README.md $D/m/loss.csv; \"$A\" train -f $D/m/loss.csv -o $D/m 2>&1", 2,
     "m/loss.csv: is the text to read, and would be written to"},
    {"mkdir $D/m; cp README.md $D/m/vocab.json; " SMALL "--also $D/m/vocab.json -o $D/m 2>&1", 2,
     "m/vocab.json: is the text to read"},
    {"for i in $(seq 9); do echo 'a b c d a b c d'; done >$D/f; for i in 1 2 3; do printf '<|endoftext|>\n"
     "a\n'; done >>$D/f; echo '{\"a\":0,\"b\":1,\"c\":2,\"d\":3}' >$D/v.json;"
     "\"$A\" init -q -o $D/h --vocab-size 4 --n-ctx 8 --n-layer 1 --n-head 1 --d-model 4 --unembed true && "
     "cp $D/v.json $D/h/vocab.json && \"$A\" train -m $D/h -f $D/f -o $D/m --steps 1 --held-out 20 2>&1", 1,
     "3 tokens to hold out, expected at least 2 in one document"},
    {"\"$A\" train -m tiny -f /dev/null -o $D/m 2>&1", 1, "the text is empty: there is nothing to train on"},
    {"printf 'a\\n<|endoftext|>\\nb' >$D/f; echo '{\"a\":0,\"b\":1}' >$D/vocab.json; "
     "\"$A\" train -f $D/f --vocab $D -o $D/m --steps 1 --n-ctx 1 --n-layer 1 --n-head 1 --d-model 4 --held-out 0 2>&1",
     1, "the text: 2 tokens to train on, and none follows another in its document"},
    {"printf '\\357\\273\\277a b' >$D/f; echo '{\"a\":0,\"b\":1}' >$D/vocab.json; for raw in '' --raw; "
     "do \"$A\" train -q $raw -f $D/f --vocab $D -o $D/m$raw --steps 1 --n-ctx 1 --n-layer 1 --n-head 1 --d-model 4 "
     "--held-out 0 2>&1 || exit; done", 1, "unknown word '\\u{FEFF}a' at byte 0"},
    {SMALL "--against README.md --against-share 1 -o $D/m 2>&1", 2, "\"against_share\" is 1, expected less than 1"},
    {"head -c 3000 cmd/README.md | \"$A\" train -f - -o $D/m --vocab-size 300 --n-ctx 100000 2>&1", 1,
     "expected at least 100001"},
    {SMALL "--n-head 3 -o $D/m 2>&1", 1, "\"d_model\" 32 is not a multiple of \"n_head\" 3"},
    {SMALL "--n-kv-head 3 -o $D/m 2>&1", 1, "n_kv_head"},
    {"\"$A\" train -f cmd/README.md -o $D/m --vocab $D/absent 2>&1", 1, "absent"},
    {"echo '{\"model_type\": \"gpt2\", \"n_embd\": 4, \"n_layer\": 1, \"n_head\": 1}' >$D/c; "
     "\"$A\" train -f cmd/README.md -o $D/m --config $D/c --draw embed:rand 2>&1",
     2, "a recipe draws attn-decoder models, not \"gpt2\""},
    {"\"$A\" train -f cmd/README.md -o $D/m --vocab-size 300 --settings models/stacked/config.json 2>&1", 1,
     "unknown key \"model_type\""},
    {SMALL "--lr 1e30 -o $D/m 2>&1", 1, "step "},
    {SMALL "-o README.md 2>&1", 1, "README.md"},
};

/* Of words of one letter, token 0 among them, each is a byte. */
START_TEST(bits_are_counted_by_byte)
{
    expect_exactly("for i in $(seq 60); do echo 'a b c d a b c d'; done >$D/f; "
                   "\"$A\" init -q -o $D/h --vocab-size 4 --n-ctx 8 --n-layer 1 --n-head 1 --d-model 4 --unembed true; "
                   "echo '{\"a\":0,\"b\":1,\"c\":2,\"d\":3}' >$D/h/vocab.json; "
                   "\"$A\" train -q -m $D/h -f $D/f -o $D/m --steps 1 --held-out 20; tail -1 $D/m/loss.csv | "
                   "awk -F, '{x = $7 * log(2) / $6; print (x > 0.99999 && x < 1.00001)}'", "1\n");
}
END_TEST

/* A word whose id the model lacks, in the part that is held out, which is measured after the first step. */
START_TEST(a_tokenizer_of_another_model_is_refused)
{
    expect("for i in $(seq 60); do echo 'a b c d a b c d'; done >$D/f; for i in $(seq 20); do echo 'zz a zz zz'; "
           "done >>$D/f;"
           "\"$A\" init -q -o $D/h --vocab-size 5 --n-ctx 8 --n-layer 1 --n-head 1 --d-model 4 --unembed true;"
           "echo '{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"zz\":900000000}' >$D/h/vocab.json;"
           "\"$A\" train -m $D/h -f $D/f -o $D/m --steps 1 --held-out 20 2>&1", 1,
           "the text held out: token 0 has the id 900000000, expected less than \"vocab_size\", 5");
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    expect(refused[_i].line, refused[_i].status, refused[_i].says);
}
END_TEST

static const struct { const char *options, *says; } others[] = {
    {"-f LICENSE", "reads another text; give the same -f"},
    {"-f cmd/README.md --lr 0.5", "has \"lr\": 0.001, but \"lr\": 0.5 was asked for"},
    {"-f cmd/README.md --n-layer 3", "was asked for"}, {"-f cmd/README.md --vocab $D/v", "has another vocabulary"},
    {"-f cmd/README.md --also LICENSE", "reads no --also"},
    {"-f cmd/README.md --against LICENSE", "reads no --against"},
    {"-f cmd/README.md --vocab-size 280", "has 300 tokens, but --vocab-size 280"},
    {"-f cmd/README.md --draw embed:ones", "has \"draw\": null, but \"draw\": \"embed:ones\" was asked for"},
};

/* Options are checked before a vocabulary is learned, which may take long, and before a directory is made. */
START_TEST(what_options_say_is_looked_at_first)
{
    expect(line_of("--n-head 3", "m"), 1, "\"d_model\" 32 is not a multiple of \"n_head\" 3");
    expect(line_of("--dropout 1", "m"), 2, "\"dropout\" is 1");
    expect("echo '{\"vocab_size\": 5}' >$D/c; \"$A\" train -f cmd/README.md -o $D/m --config $D/c 2>&1", 1,
           "model_type");
    expect("test ! -e $D/m && echo nothing", 0, "nothing");
    expect(line_of("--draw embed:randm", "m"), 2, "expected rand, randn");
    expect("ls $D/m | tr '\\n' ' '", 0, "merges.txt vocab.json ");
}
END_TEST

#define DRAW "--draw 'embed:normal(0,0.1) q:linear k:linear v:linear o:linear norm1:ones norm2:ones mlp.in:linear " \
    "mlp.gate:linear " \
             "mlp.out:linear norm_final:ones' "

/* train.json records how the first weights were drawn, for a training that goes on and for another one. */
START_TEST(a_recipe_is_a_setting)
{
    expect(line_of(DRAW, "one"), 0, "the model is in ");
    expect(line_of("", "plain"), 0, "the model is in ");
    expect("cmp -s $D/one/model.safetensors $D/plain/model.safetensors", 1, "");
    expect_exactly("cp -r $D/one $D/other", "");
    expect(line_of(DRAW "--resume", "other"), 0, "the model is in ");
    expect_exactly(SAME("one", "other"), "same\n");
    expect("\"$A\" train -f cmd/README.md -o $D/third --settings $D/one/train.json --config $D/one/config.json --vocab "
           "$D/one 2>&1", 0, "the model is in ");
    expect_exactly(SAME("one", "third"), "same\n");
    expect("\"$A\" train -f cmd/README.md -o $D/one --resume --draw embed:ones 2>&1", 1,
           "but \"draw\": \"embed:ones\" was asked for");
}
END_TEST

/* How text is split goes with the vocabulary: digit by digit here, which GPT-2's own class does not do. */
START_TEST(a_tokenizer_comes_whole)
{
    expect("\"$A\" vocab --bpe --size 280 -f cmd/README.md -o $D/v 2>&1", 0, "280");
    succeed("echo '{\"tokenizer_class\": \"Qwen2Tokenizer\"}' >$D/v/tokenizer_config.json");
    expect(line_of("--vocab $D/v", "q"), 0, "the model is in ");
    succeed("cmp $D/v/tokenizer_config.json $D/q/tokenizer_config.json");
    expect_same("\"$A\" tokenize -m $D/q -s 'in 1984' --format ids",
                "\"$A\" tokenize -m $D/v -s 'in 1984' --format ids");
    succeed("echo '{\"tokenizer_class\": \"GPT2Tokenizer\"}' >$D/v/tokenizer_config.json");
    expect("\"$A\" train -f cmd/README.md -o $D/q --vocab $D/v --resume 2>&1", 1,
           "the training there has another vocabulary");
}
END_TEST

/* The first token of a vocabulary may be the one that ends a text. */
START_TEST(token_0_ends_a_text)
{
    succeed("mkdir $D/v && echo '{\"<|endoftext|>\": 0, \"a\": 1, \"b\": 2}' >$D/v/vocab.json && "
            "for i in $(seq 40); do printf 'a b b a\n<|endoftext|>\n'; done >$D/f");
    expect("\"$A\" train -q -f $D/f -o $D/m --vocab $D/v --n-ctx 8 --n-layer 1 --n-head 1 --d-model 8 --steps 3 "
           "--batch 2 2>&1 && grep eos $D/m/config.json", 0, "\"eos_token_id\": 0");
    expect_exactly("\"$A\" train -q -f $D/f -o $D/m --vocab $D/v --resume 2>&1", "");
}
END_TEST

START_TEST(a_model_that_is_there_stays)
{
    expect("\"$A\" init -q -o $D/x --vocab-size 300 --n-layer 1 --n-head 1 --d-model 8 && "
           "sha256sum $D/x/* >$D/sums; ls $D/x >$D/ls", 0, "");
    expect("\"$A\" train -f cmd/README.md --vocab-size 300 --steps 1 -o $D/x 2>&1", 2,
           "there is a model already, and no training");
    expect("sha256sum -c --quiet $D/sums && ls $D/x | cmp - $D/ls && echo untouched", 0, "untouched");
}
END_TEST

/* The second process must not replace the vocabulary there with one of its own before it is refused.  The first one is
 * ended only after it has saved a checkpoint: until it takes steps, SIGTERM ends it with another status. */
START_TEST(one_process_trains_at_a_time)
{
    expect(SMALL "-o $D/one -q --steps 1000000 & p=$!; until test -s $D/one/model.safetensors; do sleep 0.01; done; "
           "sha256sum $D/one/vocab.json >$D/sum; ends 1 \"$A\" train -f cmd/README.md --vocab-size 300 -o $D/one 2>&1; "
           "ends 1 \"$A\" train -f cmd/README.md -o $D/one --resume 2>&1; "
           "sha256sum -c --quiet $D/sum; until test -s $D/one/checkpoint.safetensors; do sleep 0.01; done; kill $p; "
           "ends 75 wait $p", 0, "/one: another process is writing to it");
    expect(SMALL "-o $D/one -q --steps 1000000 --resume & p=$!; until grep -q \":$(stat -c %i $D/one) \" /proc/locks; "
           "do sleep 0.01; done; ends 1 " SMALL
           "-o $D/one --resume 2>&1; kill $p; wait $p || :", 0, "/one: another process is writing to it");
}
END_TEST

/* The first signal waits for the step; the second does not.  Bit 14 of what is caught is SIGTERM. */
START_TEST(who_asks_twice_does_not_wait)
{
    expect_exactly(SMALL "-o $D/one -q --accumulate 10000000 & p=$!; "
                   "until grep -q 'SigCgt:.*[4-7c-f]...$' /proc/$p/status; do sleep 0.01; done; "
                   "kill $p; sleep 0.1; while kill $p 2>/dev/null; do sleep 0.05; done; ends 143 wait $p 2>/dev/null",
                   "");
}
END_TEST

/* Some contexts consist of one last token, which has none after it; a part of a step that has no
 * others predicts nothing. */
START_TEST(parts_may_predict_nothing)
{
    expect("for i in $(seq 40); do printf 'abcdefghijklmnop\\n<|endoftext|>\\n'; done >$D/f && "
           "\"$A\" train -q -f $D/f -o $D/x --vocab-size 257 --n-ctx 16 --n-layer 1 --n-head 1 --d-model 8 --batch 1 "
           "--accumulate 2 --held-out 0 --steps 40 2>&1 && tail -1 $D/x/loss.csv", 0, "40,");
}
END_TEST

START_TEST(going_on_needs_the_same_training)
{
    expect(line_of("", "m"), 0, "the model is in ");
    expect("\"$A\" vocab --bpe --size 280 -f cmd/README.md -o $D/v 2>&1", 0, "280");
    expect("sha256sum $D/m/* >$D/sums", 0, "");
    expect(printed("\"$A\" train %s -o $D/m --resume 2>&1", others[_i].options), 1, others[_i].says);
    expect(line_of("", "m"), 2, "there is a training already");
    expect("\"$A\" vocab --bpe --size 280 -f cmd/README.md -o $D/m 2>&1", 2, "there is a training already");
    expect("\"$A\" init -o $D/m --vocab-size 280 --n-layer 1 --n-head 1 --d-model 8 2>&1", 2,
           "there is a training already");
    expect("sha256sum -c --quiet $D/sums && echo untouched", 0, "untouched");
}
END_TEST

/* Parameters grow beyond float32's range: the message names the step, and what was saved remains. */
START_TEST(numbers_that_run_away_end_it)
{
    expect(line_of("--lr 1e25 --clip 0 --warmup 0 --save-every 1 --norm none", "m"), 1, "; try a lower --lr");
    expect("ls $D/m | grep -c tmp", 1, "0");
    expect(line_of("--lr 1e38 --clip 0 --warmup 0 --save-every 1", "n"), 1, "step 1: after it embed.weight[");
    expect("ls $D/n/checkpoint.safetensors 2>&1", 2, "No such file");
}
END_TEST

START_TEST(a_checkpoint_of_another_length_is_refused)
{
    expect(line_of("", "m"), 0, "the model is in ");
    expect(line_of("--steps 6", "s"), 0, "the model is in ");
    expect("cp $D/m/checkpoint.safetensors $D/s/ && \"$A\" train -f cmd/README.md -o $D/s --resume 2>&1", 1,
           "has 12 steps, but train.json says 6");
    /* The first weight after a row of seven numbers for each step. */
    expect("off=$((8 + 12 * 56 + $(od -An -tu8 -N8 $D/m/checkpoint.safetensors))); for n in 1 2 3 4 5 6 7 8; "
           "do printf '\\377\\377\\377\\377'; done | "
           "dd of=$D/m/checkpoint.safetensors bs=1 seek=$off conv=notrunc status=none; "
           "\"$A\" train -f cmd/README.md -o $D/m --resume 2>&1", 1,
           "there is nothing to continue from");
}
END_TEST

START_TEST(a_full_disk_keeps_the_last_checkpoint)
{
    expect(line_of("--max-seconds 60", "m"), 0, "");
    expect("cp -r $D/m $D/kept && cd $D && ulimit -f 20 && "
           "\"$A\" train -f \"$OLDPWD/cmd/README.md\" -o m --resume 2>&1", 1,
           "File too large");
    expect_exactly(SAME("m", "kept"), "same\n");
    expect("ls -A $D/m | grep -c tmp", 1, "0");
}
END_TEST

/* Nobody types the names of the files in a training's directory. */
START_TEST(pipes_in_its_directory_are_refused)
{
    static const char *const files[] = {"train.json", "checkpoint.safetensors", "vocab.json", "config.json"};
    char line[256];
    expect(line_of("", "m"), 0, "");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        expect_exactly(printed("cd $D/m; mv %s kept; mkfifo %s", files[i], files[i]), "");
        snprintf(line, sizeof line, "/m/%s: found a pipe or device, expected a regular file", files[i]);
        expect("timeout -k 1 20 \"$A\" train -f cmd/README.md -o $D/m --resume 2>&1", 1, line);
        expect_exactly(printed("cd $D/m; mv -f kept %s", files[i]), "");
    }
    expect_exactly("mkdir $D/n; mkfifo $D/n/loss.csv", "");
    expect("timeout -k 1 60 " SMALL "-o $D/n 2>&1", 1, "/n/loss.csv: found a pipe or device, expected a regular file");
}
END_TEST

/* Its checkpoint may be on a larger disk: it is written through the link, and read through it. */
START_TEST(a_checkpoint_may_be_a_link)
{
    expect("mkdir $D/m $D/disk; ln -s ../disk/c $D/m/checkpoint.safetensors; " SMALL "-o $D/m 2>&1", 0, "");
    expect("test -s $D/disk/c; timeout -k 1 20 \"$A\" train -f cmd/README.md -o $D/m --resume 2>&1; "
           "test -h $D/m/checkpoint.safetensors", 0, "the model is in ");
}
END_TEST

Suite *suite_train(void)
{
    Suite *s = suite_create("train");
    TCase *tc = tcase_create("train");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_add_loop_test(tc, the_same_bits_whatever_else, 0, sizeof alike / sizeof *alike);
    tcase_add_test(tc, another_seed_gives_another_model);
    tcase_add_test(tc, interruptions_change_no_bit);
    tcase_add_test(tc, a_finished_training_stays_as_it_is);
    tcase_add_test(tc, settings_may_be_left_out);
    tcase_add_test(tc, what_does_nothing_is_refused);
    tcase_add_test(tc, a_training_survives_its_caller);
    tcase_add_loop_test(tc, every_command_reads_it, 0, 3);
    tcase_add_loop_test(tc, all_kinds_of_models_learn, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(tc, what_is_not_said_has_a_default);
    tcase_add_test(tc, it_learns_not_to_say_things_again);
    tcase_add_test(tc, steps_that_fit_a_time_are_those_of_any_training);
    tcase_add_test(tc, a_step_changes_the_model);
    tcase_add_test(tc, the_best_model_is_kept);
    tcase_add_test(tc, progress_is_told_when_asked);
    tcase_add_test(tc, progress_has_a_line_for_each_measurement);
    tcase_add_test(tc, progress_on_a_terminal);
    tcase_add_test(tc, steps_on_a_screen);
    tcase_add_test(tc, its_weights_are_the_first_ones);
    tcase_add_test(tc, a_model_of_any_family_learns_on);
    tcase_add_test(tc, interruptions_of_what_goes_on_change_no_bit);
    tcase_add_loop_test(tc, what_cannot_be_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tc, bits_are_counted_by_byte);
    tcase_add_test(tc, a_tokenizer_of_another_model_is_refused);
    tcase_add_test(tc, a_tokenizer_comes_whole);
    tcase_add_test(tc, token_0_ends_a_text);
    tcase_add_test(tc, a_model_that_is_there_stays);
    tcase_add_test(tc, parts_may_predict_nothing);
    tcase_add_test(tc, what_options_say_is_looked_at_first);
    tcase_add_test(tc, a_recipe_is_a_setting);
    tcase_add_loop_test(tc, going_on_needs_the_same_training, 0, sizeof others / sizeof *others);
    tcase_add_test(tc, a_sentence_is_watched);
    tcase_add_test(tc, a_long_history_is_thinned);
    tcase_add_test(tc, watching_changes_nothing_and_goes_on);
    tcase_add_test(tc, a_history_that_was_only_begun_is_none);
    tcase_add_test(tc, a_history_that_was_half_written_is_that_of_the_checkpoint_before);
    tcase_add_test(tc, one_process_trains_at_a_time);
    tcase_add_test(tc, who_asks_twice_does_not_wait);
    tcase_add_test(tc, numbers_that_run_away_end_it);
    tcase_add_test(tc, a_checkpoint_of_another_length_is_refused);
    tcase_add_test(tc, pipes_in_its_directory_are_refused);
    tcase_add_test(tc, a_checkpoint_may_be_a_link);
    tcase_add_test(tc, a_full_disk_keeps_the_last_checkpoint);
    suite_add_tcase(s, tc);
    tc = tcase_create("timed");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_time_becomes_a_number_of_steps);
    tcase_add_test(tc, a_time_that_is_too_short_is_told);
    suite_add_tcase(s, tc);
    return s;
}

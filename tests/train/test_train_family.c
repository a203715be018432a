/* Training models of every family: in their own layout, with the same bits however it is interrupted and on
 * how many threads. */
#include "suites.h"

#include "attn_tools.h"
#include "golden.h"
#include "made.h"
#include "model/family.h"
#include "scratch.h"
#include "shell.h"

#include <stdlib.h>
#include <string.h>

#define SMALL "--n-ctx 16 --n-layer 2 --n-head 4 --d-model 32 "
#define TRAIN \
    "\"$A\" train -q -f LICENSE --vocab $D/v --batch 2 --warmup 1 --lr 0.01 --dropout 0.1 --seed 5 --held-out 0 "

static void set_up(void)
{
    shell_set_up();
    succeed("\"$A\" vocab -q --bpe --size 280 -f LICENSE -o $D/v 2>/dev/null");
}

/* Half of the steps in this process, on three threads. */
static void begin(const char *dir, const char *config, size_t steps)
{
    struct attn_err err = {0};
    struct attn_train *t = NULL;
    size_t len, config_len;
    char *text = golden_text("LICENSE", &len), *json = golden_text(config, &config_len);
    const char settings[] =
        "{\"steps\": 6, \"batch\": 2, \"warmup\": 1, \"lr\": 0.01, \"dropout\": 0.1, \"seed\": 5, \"held_out\": 0}";
    const struct attn_train_opts o = {.text = text, .text_len = len, .tokenizer = scratch_path("v"), .config = json,
                                      .config_len = config_len, .settings = settings, .settings_len = strlen(settings),
                                      .threads = 3};
    ck_assert_msg(!attn_train_open(&t, dir, &o, &err), "%s", err.msg);
    for (size_t i = 0; i < steps; i++)
        ck_assert_msg(!attn_train_step(t, &err), "%s", err.msg);
    ck_assert_msg(!attn_train_save(t, &err), "%s", err.msg);
    attn_train_close(t);
    free(text);
    free(json);
}

START_TEST(any_interruption_and_threads)
{
    const char *name = attn_families[_i]->name;
    succeed(printed(TRAIN SMALL "--steps 6 -o $D/one --family %s -t 1", name));
    succeed(printed("grep -q '\"model_type\": \"%s\"' $D/one/config.json && "
                    "grep -q '\"eos_token_id\": 279' $D/one/config.json", name));
    begin(scratch_path("two"), scratch_path("one/config.json"), 3);
    succeed("\"$A\" train -q -f LICENSE -o $D/two --resume -t 2");
    succeed("for f in model.safetensors checkpoint.safetensors loss.csv config.json train.json; "
            "do cmp $D/one/$f $D/two/$f; done");
    succeed(printed(TRAIN SMALL "--steps 6 -o $D/two --family %s --resume", name));
    expect("\"$A\" info -m $D/one --check", 0, name);
    expect("\"$A\" score -m $D/one -s 'in all copies'", 0, "perplexity");
}
END_TEST

/* What is watched in the last step is what the saved model shows, whatever its norms and multipliers. */
START_TEST(watching_sees_the_model_that_is_saved)
{
    succeed(printed(TRAIN SMALL "--steps 4 -o $D/m --family %s --watch-every 4 -s 'in all copies' "
                    "--show lens,pattern,result",
                    attn_families[_i]->name));
    succeed("\"$A\" run -q -m $D/m -s 'in all copies' --show lens,pattern,result --format npy -o $D/run >/dev/null");
    expect("for f in $D/run/*.npy; do n=$(($(stat -c %s $f) - 128)); "
           "cmp <(tail -c $n $f) <(tail -c $n $D/m/watch/${f##*/}); echo same; "
           "done | sort -u", 0, "same");
}
END_TEST

/* What is learned is read from the tensors that are stored: 40 steps make the text likelier. */
START_TEST(it_learns)
{
    const char *name = attn_families[_i]->name;
    succeed(printed(TRAIN SMALL "--steps 40 -o $D/m --family %s", name));
    succeed("awk -F, 'NR == 2 { first = $4 } END { exit !($4 < first - 0.3) }' $D/m/loss.csv");
}
END_TEST

/* Whichever files a tokenizer has, the new model splits text as it does. */
START_TEST(any_tokenizer_comes_along)
{
    static const char *const names[] = {"bloom-like", "gemma-like", "llama2c-bin", "qwen-like", "spm-bpe-model",
                                        "spm-unigram-bytes-model"};
    succeed(printed("\"$A\" train -q -f LICENSE --vocab tests/golden/tokenizers/%s -o $D/m --family llama --n-ctx 8 "
                    "--n-layer 1 --n-head 2 --d-model 8 --steps 1 --batch 1 --held-out 0", names[_i]));
    expect_same("\"$A\" tokenize -m $D/m -s 'in 1984 copies, ok' --format ids",
                printed("\"$A\" tokenize -m tests/golden/tokenizers/%s -s 'in 1984 copies, ok' --format ids",
                        names[_i]));
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    expect(TRAIN "-o $D/m --family qwen3 --position none 2>&1", 2, "--position does not go with --family qwen3");
    expect(TRAIN "-o $D/m --family qwen3 --draw embed:rand 2>&1", 2, "--draw and --family do not go together");
    expect(TRAIN "-o $D/m --family qwen3 --config LICENSE 2>&1", 2, "--config and --family do not go together");
    expect(TRAIN "-o $D/m --family bert 2>&1", 2, "unknown value 'bert'");
    expect("echo '{\"a\": 0, \"b\": 1}' >$D/w.json; mkdir $D/w; mv $D/w.json $D/w/vocab.json; "
           "\"$A\" train -q -f LICENSE -o $D/m --vocab $D/w --family llama 2>&1", 1,
           "has words, which only our own models read");
    succeed("test ! -e $D/m");
    succeed(TRAIN SMALL "--steps 1 -o $D/m --family llama");
    expect(TRAIN SMALL "--steps 1 -o $D/m --family mistral --resume 2>&1", 1,
           "the training there has another config.json");
    expect(TRAIN SMALL "--steps 1 -o $D/m --family llama --resume --d-mlp 9 2>&1", 1,
           "the training there has another config.json");
}
END_TEST

Suite *suite_train_family(void)
{
    int families = 1;
    while (attn_families[families])
        families++;
    Suite *s = suite_create("train_family");
    TCase *c = tcase_create("train_family");
    tcase_add_checked_fixture(c, set_up, scratch_remove);
    tcase_add_loop_test(c, any_interruption_and_threads, 1, families);     /* the first is our own */
    tcase_add_loop_test(c, it_learns, 1, families);
    tcase_add_loop_test(c, any_tokenizer_comes_along, 0, 6);
    tcase_add_loop_test(c, watching_sees_the_model_that_is_saved, 1, families);
    tcase_add_test(c, what_does_not_fit_is_refused);
    suite_add_tcase(s, c);
    return s;
}

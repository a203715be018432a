/* Two layers of attention learn to repeat a sequence of random words.
 *
 * All halves have the same length, so that the position alone says which word comes next; that is learned in seconds.
 * Where lengths vary, one head has to find the previous word's earlier occurrence, another one the word that followed
 * it there: so the built-in model `induction` was made, which test_repeats.c makes again. */
#include "suites.h"

#include "attn.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 31, TEXT = LONGEST * 2 * 6, SEEN = 10 };

/* The number of different words, and the shortest and longest half in words. */
struct kind { uint32_t words, least, most; int sequences; };

/* xorshift: the low bits of a plain congruential generator repeat so soon that the model would learn them. */
static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* Writes a sequence of words and its repetition; returns the number of words in each half. */
static size_t repeated(char text[TEXT], const struct kind *k, uint32_t *state)
{
    size_t n = 0, half = k->least + next(state) % (k->most - k->least + 1);
    uint32_t first = *state;
    for (size_t i = 0; i < 2 * half; i++) {
        if (i == half)
            *state = first;
        n += (size_t)sprintf(text + n, "%sw%u", i ? " " : "", next(state) % k->words);
    }
    return half;
}

/* Writes $D/repeated.txt and $D/words/vocab.json. */
static void write_texts(const struct kind *k)
{
    FILE *f = fopen(scratch_path("repeated.txt"), "w");
    char text[TEXT];
    uint32_t state = 1;
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < k->sequences; i++) {
        repeated(text, k, &state);
        fprintf(f, "%s\n<|endoftext|>\n", text);
    }
    ck_assert_int_eq(fclose(f), 0);
    expect("mkdir $D/words && \"$A\" vocab -f $D/repeated.txt -o $D/words/vocab.json 2>&1", 0, " words");
}

/* A sequence that was not trained on. */
struct sample { int32_t ids[2 * LONGEST]; size_t half; };

static void draw_sample(struct sample *s, const struct attn_tokenizer *t, const struct kind *k, uint32_t *state)
{
    char text[TEXT];
    int32_t *ids;
    size_t n;
    s->half = repeated(text, k, state);
    ck_assert_int_eq(attn_encode_ids(&ids, &n, t, text, strlen(text), &(struct attn_encode_opts){0}, NULL), 0);
    ck_assert_uint_eq(n, 2 * s->half);
    memcpy(s->ids, ids, n * sizeof *ids);
    free(ids);
}

static void draw_samples(struct sample s[SEEN], const struct kind *k)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    uint32_t state = 12345;
    ck_assert_msg(!attn_tokenizer_open(&t, scratch_path("m"), &err), "%s", err.msg);
    for (int i = 0; i < SEEN; i++)
        draw_sample(&s[i], t, k, &state);
    attn_tokenizer_close(t);
}

/* The mean loss of each half. */
static void halves(double loss[2], const struct sample *s)
{
    struct attn_model *m = made_open(scratch_path("m"));
    struct attn_err err = {0};
    double logprob[2 * LONGEST];
    size_t n[2] = {0, 0};
    loss[0] = loss[1] = 0;
    for (int k = 0; k < SEEN; k++) {
        ck_assert_msg(!attn_score(logprob, m, s[k].ids, 2 * s[k].half,
                                  &(struct attn_score_opts){.stride = 1, .threads = 1}, &err), "%s", err.msg);
        for (size_t i = 1; i < 2 * s[k].half; i++) {
            if (i == s[k].half)
                continue;               /* nothing predicts that the repetition starts here */
            loss[i > s[k].half] -= logprob[i];
            n[i > s[k].half]++;
        }
    }
    loss[0] /= (double)n[0];
    loss[1] /= (double)n[1];
    attn_model_close(m);
}

static void expect_learned(const struct sample *s, const struct kind *k, double most)
{
    double loss[2];
    halves(loss, s);
    /* 0.2: few words are drawn, so their mean loss varies */
    ck_assert_msg(loss[0] > log(k->words) - 0.2, "nothing predicts the first half, but its loss is %g", loss[0]);
    ck_assert_msg(loss[1] < most, "the second half repeats the first, but its loss is %g", loss[1]);
}

#define TRAIN "\"$A\" train -f $D/repeated.txt -o $D/m --vocab $D/words --n-ctx 63 --n-layer 2 --mlp none --batch 32 " \
              "--weight-decay 0.01 --eval-every 0 "

START_TEST(repeated_sequences_are_learned)
{
    static const struct kind equal = {32, 10, 10, 1500};
    struct sample s[SEEN];
    write_texts(&equal);
    expect(TRAIN "--n-head 2 --d-model 64 --position learned --steps 150 --lr 0.005 --warmup 20 2>&1", 0, "");
    draw_samples(s, &equal);
    expect_learned(s, &equal, 0.5);     /* guessing gives log(32) = 3.5 */
}
END_TEST

Suite *suite_induction(void)
{
    Suite *s = suite_create("induction");
    TCase *tc = tcase_create("induction");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_add_test(tc, repeated_sequences_are_learned);
    suite_add_tcase(s, tc);
    return s;
}

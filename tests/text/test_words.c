/* test_words.c - tokens merged into words: which they are, what is added up, in every format, as the page's own
 * script does it. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include "attn_tools.h"
#include "base/err.h"
#include "sinks/merge_words.h"
#include "text/label.h"
#include "text/whole_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT "-s 'Lily unbelievably lost, her red ball.'"
#define TINY "$A run -m tiny " TEXT
#define SAME "nothing differs: 12 tensors are the same bit for bit\n"

/* ---- the recorded cases (tests/golden/make_words.js) ---- */

enum { MOST_TOKENS = 32, MOST_BYTES = 32 };

struct pieces { struct attn_tokens t; struct attn_token tok[MOST_TOKENS]; char bytes[MOST_TOKENS][MOST_BYTES]; };

static void read_token(struct pieces *p, size_t i, const cJSON *from)
{
    const cJSON *hex = golden_find(from, "bytes");
    struct attn_token *t = &p->tok[i];
    *t = (struct attn_token){.id = (int32_t)i, .known = hex != NULL, .text = "", .raw = ""};
    t->start = (size_t)golden_number(from, "start");
    t->end = (size_t)golden_number(from, "end");
    if (!hex)
        return;
    t->text_len = t->raw_len = strlen(hex->valuestring) / 2;
    ck_assert_uint_lt(t->text_len, MOST_BYTES);
    for (size_t k = 0; k < t->text_len; k++) {
        unsigned byte;
        ck_assert_int_eq(sscanf(hex->valuestring + 2 * k, "%2x", &byte), 1);
        p->bytes[i][k] = (char)byte;
    }
    t->text = t->raw = p->bytes[i];
}

static void read_pieces(struct pieces *p, const cJSON *of)
{
    const cJSON *token;
    size_t n = 0;
    cJSON_ArrayForEach(token, golden_get(of, "tokens")) {
        ck_assert_uint_lt(n, MOST_TOKENS);
        read_token(p, n++, token);
    }
    p->t = (struct attn_tokens){n, p->tok};
}

/* A label as a table shows it; where the page's differs, that is not compared. */
static void expect_labels(const struct attn_words *w, const cJSON *of)
{
    const cJSON *label;
    size_t i = 0;
    cJSON_ArrayForEach(label, golden_get(of, "label")) {
        struct attn_label found = attn_label_token(&w->tokens.tok[i++], 100);
        ck_assert_str_eq(found.text, label->valuestring);
    }
}

/* Sums of a few float32 in double precision, in one order: the same number, rounded once to float32. */
static void expect_merged(const struct attn_words *w, const cJSON *of)
{
    struct attn_err err = {0};
    size_t n, merged;
    float *x = golden_floats(golden_get(of, "weights"), &n), *want = golden_floats(golden_get(of, "merged"), &merged);
    float *found = calloc(merged + 1, sizeof *found);
    ck_assert_uint_eq(merged, w->n * w->n);
    ck_assert_int_eq(attn_merge_matrix(found, x, w, w, 0, &err), 0);
    for (size_t i = 0; i < merged; i++)
        /* two sums of the same terms */
        ck_assert_double_eq_tol((double)found[i], (double)want[i], fabs((double)want[i]) * 0x1p-22);
    free(x);
    free(want);
    free(found);
}

START_TEST(test_as_the_page)
{
    cJSON *doc = golden_read("tests/golden/words.json");
    const cJSON *of, *first;
    size_t cases = 0;
    cJSON_ArrayForEach(of, golden_get(doc, "cases")) {
        struct pieces p;
        struct attn_words w;
        struct attn_err err = {0};
        const cJSON *text = golden_find(of, "text");
        size_t n = 0;
        read_pieces(&p, of);
        ck_assert_int_eq(attn_words_make(&w, &p.t, text ? text->valuestring : NULL,
                                         text ? strlen(text->valuestring) : 0, &err), 0);
        cJSON_ArrayForEach(first, golden_get(of, "first"))
            ck_assert_msg(n < w.n && w.first[n++] == (size_t)first->valuedouble,
                          "%s, word %zu", golden_string(of, "name"), n - 1);
        ck_assert_msg(n == w.n && w.tokens.n == n && w.first[n] == p.t.n,
                      "%s: %zu words", golden_string(of, "name"), w.n);
        if (cJSON_IsTrue(golden_get(of, "labels")))
            expect_labels(&w, of);
        expect_merged(&w, of);
        attn_words_free(&w);
        cases++;
    }
    ck_assert_uint_gt(cases, 10);
    cJSON_Delete(doc);
}
END_TEST

/* No tokens, places beyond the text, texts that are not UTF-8. */
START_TEST(test_odd_tokens)
{
    struct attn_words w;
    struct attn_err err = {0};
    struct attn_token far[] = {{.known = true, .text = "a", .text_len = 1, .raw = "a", .raw_len = 1, .end = 1},
                               {.known = true, .text = "b", .text_len = 1, .raw = "b", .raw_len = 1, .start = 1,
                                .end = 900}};
    struct attn_tokens none = {0, far}, two = {2, far};
    ck_assert_int_eq(attn_words_make(&w, &none, "", 0, &err), 0);
    ck_assert_uint_eq(w.n, 0);
    attn_words_free(&w);
    ck_assert_int_eq(attn_words_make(&w, &two, "ab", 2, &err), 0);
    ck_assert_uint_eq(w.n, 1);
    ck_assert_int_eq((int)w.tokens.tok[0].text_len, 2);
    ck_assert_int_eq(strncmp(w.tokens.tok[0].text, "ab", 2), 0);
    attn_words_free(&w);
    far[1].end = 2;                     /* what the tokens stand for is spelled as in the text */
    ck_assert_int_eq(attn_words_make(&w, &two, "aB", 2, &err), 0);
    ck_assert_int_eq(strncmp(w.tokens.tok[0].text, "aB", 2), 0);
    attn_words_free(&w);
    far[1] = (struct attn_token){.known = true, .text = "\xff", .text_len = 1, .raw = "", .start = 1, .end = 2};
    ck_assert_int_eq(attn_words_make(&w, &two, "a\xff", 2, &err), 0);
    ck_assert_int_eq(memcmp(w.tokens.tok[0].text, "a\xff", 2), 0);
    attn_words_free(&w);
}
END_TEST

/* Bands of one row or many, of one head or all, give the same as the whole matrix at once. */
START_TEST(test_bands)
{
    enum { T = 7, H = 3, WORDS = 3 };
    size_t first[WORDS + 1] = {0, 1, 5, T};
    struct attn_words w = {.n = WORDS, .first = first};
    float x[H * T * T], whole[H * WORDS * WORDS], found[H * WORDS * WORDS];
    struct attn_err err = {0};
    for (size_t i = 0; i < H * T * T; i++)
        x[i] = (float)(i * 37 % 101) / 101;
    for (size_t h = 0; h < H; h++)
        ck_assert_int_eq(attn_merge_matrix(whole + h * WORDS * WORDS, x + h * T * T, &w, &w, 0, &err), 0);
    for (size_t rows = 1; rows <= T; rows++) {
        struct attn_merger *m;
        struct attn_probe out;
        bool any;
        ck_assert_int_eq(attn_merger_new(&m, &w, &w, &err), 0);
        memset(found, 0xff, sizeof found);
        for (size_t h = 0; h < H; h++)
            for (size_t row = 0; row < T; row += rows) {
                struct attn_probe p = {.act = ATTN_ACT_PATTERN, .ndim = 3, .shape = {H, T, T}, .head0 = h, .heads = 1,
                                       .row0 = row,
                                       .rows = T - row < rows ? T - row : rows, .cols = T, .ld = T, .ld_head = T * T,
                                       .data = x + (h * T + row) * T};
                ck_assert_int_eq(attn_merger_add(m, &out, &any, &p, &err), 0);
                ck_assert(out.shape[1] == WORDS && out.shape[2] == WORDS);
                if (any)
                    memcpy(found + (h * WORDS + out.row0) * WORDS, out.data, out.rows * WORDS * sizeof *found);
            }
        ck_assert_mem_eq(found, whole, sizeof whole);
        attn_merger_free(m);
    }
}
END_TEST

/* ---- the command ---- */

/* Words by hand, sums by jq from what the same run says of its tokens; float32 has 24 bits. */
START_TEST(test_sums)
{
    succeed(TINY " -o $D/t.json && " TINY " --words -o $D/w.json");
    expect_exactly("jq -c '[.tokens[].text], .words.first, (.words.ids == ([.words.ids[]] | map(floor)))' $D/w.json",
                   "[\"Lily\",\"unbelievably\",\"lost,\",\"her\",\"red\",\"ball.\"]\n[0,1,8,10,11,12]\ntrue\n");
    expect_exactly("jq -n --slurpfile t $D/t.json --slurpfile w $D/w.json '"
                   "($w[0].words.first + [($t[0].tokens | length)]) as $f | [range(0; ($f | length) - 1)] as $n | "
                   "[range(0; $t[0].activations | length) | . as $a | $t[0].activations[$a] as $x | "
                   "$w[0].activations[$a] as $y | "
                   "select($x.name | endswith(\"pattern\")) | $x.data | to_entries[] | .key as $h | .value as $p | "
                   "$n[] | . as $r | $n[] | . as $c | "
                   "(([range($f[$r]; $f[$r + 1]) | . as $i | range($f[$c]; $f[$c + 1]) | $p[$i][.]] | "
                   "add) / ($f[$r + 1] - $f[$r]) - $y.data[$h][$r][$c]) | fabs] | [length, max < 1e-7]' | tr -d ' \\n'",
                   "[864,true]");
    expect_exactly("jq -c '[.activations[] | select(.name | endswith(\"pattern\")) | .data[][] | (add - 1) | fabs] | "
                   "max < 1e-6' $D/w.json", "true\n");
    expect_exactly("jq -n --slurpfile t $D/t.json --slurpfile w $D/w.json '[range(0; 128) | . as $j | "
                   "([range(1; 8) | $t[0].activations[1].data[.][$j]] | add / 7) - $w[0].activations[1].data[1][$j] | "
                   "fabs] | max < 1e-7'", "true\n");
    expect_exactly("jq -c '[.activations[1].shape, .activations[0].shape, .tokens[1].id, .tokens[1].raw, "
                   ".tokens[1].start, .tokens[1].end]' $D/w.json",
                   "[[6,128],[4,6,6],null,\"Ġunbelievably\",4,17]\n");
}
END_TEST

START_TEST(test_every_format)
{
    succeed(TINY " --words -o $D/w.json && " TINY " --words -t 1 -o $D/one.json && cmp $D/w.json $D/one.json");
    expect_exactly("for f in npz npy csv tidy; do " TINY
                   " --words --format $f -o $D/of-$f && $A diff $D/of-$f $D/w.json --exact | head -1 || exit; done",
                   SAME SAME SAME SAME);
    expect("head -1 $D/of-csv/blocks.0.attn.pattern.head0.csv", 0, "token,Lily,unbelievably,\"lost,\",her,red,ball.\n");
    expect("jq -c '[.tokens[].text] | length' $D/of-npy/manifest.json", 0, "6\n");
    expect("jq -r .command $D/of-npy/manifest.json", 0, "--words");
    expect(TINY " --words --show tokens,pattern --layer 0 --head 0 --precision 3", 0,
           "    1    -  unbelievably  4-17\n");
    expect(TINY " --words --show tokens,pattern --layer 0 --head 0 --precision 3", 0,
           "layer 0, head 0: attention pattern, of words (rows: queries, columns: keys)\n");
    expect_same(TINY " --words --show pattern --layer 0 --head 0 --precision 3 | sed -n 's/^unbelievably  *//p' | "
                "tr -s ' ' '\\n'",
                "jq '.activations[0].data[0][1][] | . * 1000 | round / 1000' $D/w.json | xargs printf '%.3f\\n'");
    expect(TINY " --words --format term --layer 0 --head 0", 0, "\nunbelievably  ");
    expect(TINY " --words --format svg --layer 0 --head 0", 0, ">unbelievably</text>");
    expect(TINY " --words --format screen", 0, "tiny: 6 layers of 4 heads, 6 words of 14 tokens\n");
    expect_same(TINY " --words --format screen | grep -A4 'main role'",
                TINY " --format screen --words --palette magma | grep -A4 'main role'");
    succeed(TINY " --words -o $D/w.png && " TINY " --words -o $D/w.pdf && test -s $D/w.png && test -s $D/w.pdf");
    expect(TINY " --words --format html", 0, "\"merge\":true");
    expect(TINY " --format html | ends 1 grep -c '\"merge\":true'", 0, "0\n");
    expect(TINY " --words --show rollout --format json | jq -c '[.activations[-1].data[] | add | . * 1e6 | round] | "
           "unique'", 0, "[1000000]\n");
}
END_TEST

/* What a query cannot look at stays blank: a word is hidden where all of its tokens are. */
START_TEST(test_hidden)
{
    expect(TINY " --words --format term --layer 0 --head 0", 0, "        Lily  ██··········\n");
    expect(TINY " --words --format term --layer 0 --head 0 --attention full | ends 1 grep -c hidden", 0, "0\n");
}
END_TEST

START_TEST(test_saved)
{
    succeed(TINY " -o $D/t.json && " TINY " --words -o $D/w.json");
    expect_same("$A plot $D/t.json --words --show pattern --title x --format svg",
                "$A plot $D/w.json --show pattern --title x --format svg");
    expect_same("$A plot $D/t.json --words --show context --format svg --title x",
                "$A plot $D/w.json --show context --format svg --title x");
    expect("$A plot $D/t.json --words --format html", 0, "\"merge\":true");
    succeed(TINY " --show scores -o $D/s.json; " TINY " --show pattern --layer 0 --head 0 -o $D/t.npy");
    expect("$A plot $D/s.json --words 2>&1", 2,
           "--words merges pattern, rollout and context: 'blocks.0.attn.scores' means nothing");
    expect("$A plot $D/t.npy --words 2>&1", 2, "--words needs the texts of tokens");
    succeed("printf 'the\\n c\\nat\\n' > $D/labels; "
            "printf 'token,a,b,c\\n0,1,0,0\\n1,0.5,0.25,0.25\\n2,0.25,0.5,0.25\\n' > $D/m.csv");
    expect("$A plot $D/m.csv --words --labels $D/labels --format svg --annotate --title x", 0, ">cat</text>");
}
END_TEST

START_TEST(test_refused)
{
    expect("$A run -m tiny --ids 1,2 --words -o $D/x.json 2>&1", 2,
           "--words needs the texts of tokens, and these are ids");
}
END_TEST

/* A tokenizer of words has nothing to merge; two texts are merged each by itself; edits act on tokens, before. */
START_TEST(test_kinds_of_texts)
{
    expect_same("$A run -m life -s 'Life is short, eat' --words --show pattern --format csv --layer 0 --head 0",
                "$A run -m life -s 'Life is short, eat' --show pattern --format csv --layer 0 --head 0");
    expect("$A run -m tiny -s 'unbelievably so' --cross 'a red ball.' --words --show pattern --format json | "
           "jq -c '[.activations[0].shape, .context_words.first, [.context_tokens[].text]]'", 0,
           "[[4,2,3],[0,1,2],[\"a\",\"red\",\"ball.\"]]\n");
    expect("$A run -m tiny " TEXT " --ablate L0H0 --words --show context --layer 0 --format json | "
           "jq -c '[.activations[0].data[][0:32][]] | unique'",
           0, "[0]\n");
    expect("$A run -m tiny --ids 634,744,65 --labels auto --words --show tokens", 0, "    0  634  Lily\n");
}
END_TEST

Suite *suite_words(void)
{
    Suite *s = suite_create("words");
    TCase *t = tcase_create("words");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, test_as_the_page);
    tcase_add_test(t, test_odd_tokens);
    tcase_add_test(t, test_bands);
    tcase_add_test(t, test_sums);
    tcase_add_test(t, test_every_format);
    tcase_add_test(t, test_hidden);
    tcase_add_test(t, test_saved);
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_kinds_of_texts);
    suite_add_tcase(s, t);
    return s;
}

/* The first look: what `run` shows, and with --format screen of chosen heads.  The transcripts have whole ones. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD "-m tiny -s 'Life is short, eat dessert first'"
#define LIFE_CARD "-m life -s 'Life is short, eat dessert first'"
#define BALL "-s 'Lily lost her red ball'"
#define LONG_TEXT "-m tiny -s 'Once upon a time there was a little girl named Lily who loved to play outside in the " \
    "park with her red ball.'"

enum { COLUMNS = 80, LINES = 40, LAST = 23 };

/* ---- one screen ---- */

/* Characters are one column wide in these texts. */
static void fits(const char *screen)
{
    size_t lines = 0, at = 0;
    for (const char *c = screen; *c; c++) {
        lines += *c == '\n';
        at = *c == '\n' || *c == '\r' ? 0 : at + (((unsigned char)*c & 0xC0) != 0x80);
        ck_assert_msg(at <= COLUMNS, "line %zu is wider than %d columns:\n%s", lines + 1, COLUMNS, screen);
    }
    ck_assert_msg(lines > 5 && lines <= LINES, "%zu lines, expected %d:\n%s", lines, LINES, screen);
}

static const char *const inputs[] = {
    CARD, LIFE_CARD, LONG_TEXT, "-m models/stacked -s 'The cat sees the moth'", "-m tiny --ids 5",
    "-m tiny -s it --cross 'Lily lost her red ball'",
    LONG_TEXT " --cross 'Lily lost her red ball'", CARD " --ablate L2H0 --edit 'L1.mlp.out = 0'",
    "-m $D/wide --ids 1,2,3,4,5,6,7,8,9",
    "-m $D/wide --ids 1,2,3 --attention full", "-m life -s Life --attention linear", CARD " --layer 1 --head 2,3",
    CARD " --attention block:2", LONG_TEXT " --attention strided:2,3",
    LONG_TEXT " -q --ablate L0H0,L0H1,L2H0,L2H1,L4H2 --edit 'L1.mlp.out[pos=0] = text(\"a text so long that an edit "
    "which takes its numbers is wider than a screen\")'",
};

/* Terminals of any size, pipes and files get the same but for colours; a terminal of 24 lines still shows all heads. */
START_TEST(everything_fits)
{
    succeed("\"$A\" init -o $D/wide --vocab-size 10 --n-layer 12 --n-head 24 --d-model 48 --n-ctx 16");
    const char *line = printed("\"$A\" run %s --format screen", inputs[_i]);
    char *same = strdup(line), *screen = strdup(succeed(line)->text);
    fits(screen);
    const char *layer = strstr(strstr(screen, "\nlayer ") + 1, "\nlayer ");
    size_t last = 0;
    for (const char *c = layer + 1; *c; c++)
        last += *c == '\n';
    ck_assert_msg(last <= LAST, "%zu lines of all heads, expected %d:\n%s", last, LAST, screen);
    succeed(printed("%s >$D/pipe; %s -o $D/file; cmp $D/pipe $D/file", same, same));
    static const struct { unsigned short rows, columns; } sizes[] = {{24, 80}, {40, 120}, {12, 50}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !no_terminal(); i++) {
        const char *seen = sh_on_terminal(printed("export TERM=xterm-256color; %s", same), sizes[i].rows,
                                          sizes[i].columns)->text;
        FILE *f = fopen(scratch_path("seen"), "w");
        fputs(seen, f);
        fclose(f);
        expect_same("cat $D/pipe", "sed 's/\x1b\\[[0-9;]*m//g; s/\\r$//' $D/seen");
    }
    free(same);
    free(screen);
}
END_TEST

/* What a kind of attention hides is drawn as what lies in the future is, and numbers that are small as nothing. */
static const struct { const char *kind, *row; } hiding[] = {
    {"causal", "·her   ██░░░░······"}, {"window:2", "·red   ····"}, {"strided:2,3", "·ball  ··"},
};

START_TEST(hidden_keys_are_drawn_as_such)
{
    const char *line = printed("\"$A\" run -m tiny -s 'Lily lost her red ball in' --head L5H2 --format screen "
                               "--attention %s", hiding[_i].kind);
    const char *row = strstr(succeed(line)->text, "\nLily   ██");
    ck_assert_msg(row && strstr(row, hiding[_i].row), "%s", row ? row : line);
}
END_TEST

/* A sign is explained where it first appears, and only where there is one. */
START_TEST(a_space_shown_as_a_dot_is_explained)
{
    expect("\"$A\" run -m tiny -s 'Lily lost' | head -1", 0, ", 2 tokens; · is a space\n");
    expect("\"$A\" run -m life -s 'Life is' | head -1", 0, ", 2 tokens\n");
    expect_exactly("\"$A\" run -m tiny -s 'Lily lost' --layer 0 --head 0 | head -1", "tokens\n");
}
END_TEST

static const char *screen_of(const char *input)
{
    static struct said s;
    memcpy(&s, succeed(printed("\"$A\" run %s --format screen", input)), sizeof s);
    return s.text;
}

START_TEST(heads_are_ranked_as_heads_ranks_them)
{
    const char *screen = screen_of("-m tiny " BALL);
    succeed("\"$A\" heads -m tiny " BALL " --format json >$D/heads.json");
    cJSON *doc = golden_read(scratch_path("heads.json"));
    const cJSON *head;
    size_t n = 0, shown = 0, named = 0;
    double least = INFINITY, most = -INFINITY;          /* shares that are shown, and that are not */
    cJSON_ArrayForEach(head, golden_get(doc, "rows")) {
        const cJSON *role = golden_find(head, "label");
        double share = role ? golden_number(head, role->valuestring) : 0;
        const char *does = strdup(role ? printed("%s %.2f", role->valuestring, share) : "no clear role");
        const char *line = printed("L%.0fH%.0f    %s, entropy %.2f", golden_number(head, "layer"),
                                   golden_number(head, "head"), does, golden_number(head, "entropy"));
        bool there = strstr(screen, line);
        least = there ? fmin(least, share) : least;
        most = there ? most : fmax(most, share);
        shown += there;
        named += role != NULL;
        free((char *)does);
        n++;
    }
    ck_assert_uint_eq(n, 24);
    ck_assert_uint_eq(shown, 4);
    ck_assert(named > 4 && most <= least);
    ck_assert_ptr_nonnull(strstr(screen, " (the 4 clearest of 24)"));
    cJSON_Delete(doc);
}
END_TEST

static const cJSON *at(const cJSON *array, int i) { return cJSON_GetArrayItem(array, i); }

/* ---- the head that is shown ---- */

/* Of all heads that whose rows look most beyond themselves and the first token; computed here from the patterns. */
static const struct { const char *input; bool tells; } telling[] = {
    {CARD, true}, {LONG_TEXT, true}, {LIFE_CARD, true}, {"-m tiny " BALL " --ablate L0H1", true},
    {CARD " --attention window:2", true}, {"-m tiny -s 'Lily lost'", false}, {"-m tiny --ids 5", false},
};

START_TEST(the_head_that_tells_most_is_shown)
{
    const char *screen = screen_of(telling[_i].input);
    int layer = -1, head = -1, L = 0, H = 0;
    double best = 0;
    succeed(printed("\"$A\" run %s --show pattern -o $D/run.json", telling[_i].input));
    cJSON *doc = golden_read(scratch_path("run.json"));
    const cJSON *act;
    cJSON_ArrayForEach(act, golden_get(doc, "activations"))
        for (int h = 0; h < cJSON_GetArraySize(golden_get(act, "data")); h++) {
            const cJSON *rows = at(golden_get(act, "data"), h);
            double sum = 0;
            int n = cJSON_GetArraySize(rows);
            for (int i = 2; i < n; i++)
                sum += 1 - at(at(rows, i), 0)->valuedouble - at(at(rows, i), i)->valuedouble;
            if (n > 2 && sum / (n - 2) > best + 1e-9) {
                best = sum / (n - 2);
                L = (int)golden_number(act, "layer");
                H = h;
            }
        }
    ck_assert(sscanf(strstr(screen, "\nlayer "), "\nlayer %d, head %d:", &layer, &head) == 2);
    ck_assert_msg(telling[_i].tells == (best >= 0.1) && layer == L && head == H, "L%dH%d is shown, expected L%dH%d (%f)\n%s",
                  layer, head, L, H, best, screen);
    const char *why = telling[_i].tells ? printed("\nL%dH%d looks most beyond itself and the first token: %.2f of", L, H,
                                                  best) : "\nthe first head, since a text of fewer than three tokens";
    ck_assert_msg(strstr(screen, why), "%s\nlacks%s", screen, why);
    cJSON_Delete(doc);
}
END_TEST

/* All numbers of a short text, the corners of a long one; of its context vectors the first six. */
static const struct { const char *input; int n, d; } numbered[] = {
    {CARD, 7, 32}, {LIFE_CARD, 6, 4}, {LONG_TEXT, 24, 32}, {"-m models/stacked -s 'The cat sees the moth'", 5, 0}};

START_TEST(numbers_are_those_of_the_run)
{
    const char *screen = screen_of(numbered[_i].input);
    const int n = numbered[_i].n, kept = n <= 7 ? n : 6;
    int layer = 0, head = 0;
    ck_assert(sscanf(strstr(screen, "\nlayer "), "\nlayer %d, head %d:", &layer, &head) == 2);
    succeed(printed("\"$A\" run %s --show L%dH%d.pattern,L%d.context -o $D/run.json", numbered[_i].input, layer, head,
                    layer));
    cJSON *doc = golden_read(scratch_path("run.json"));
    const cJSON *acts = golden_get(doc, "activations"), *pattern = at(golden_get(at(acts, 0), "data"), 0);
    const cJSON *context = golden_get(at(acts, 1), "data");
    for (int r = 0; r < kept; r++) {
        const int i = n <= 7 || r < 3 ? r : n - 6 + r;
        char row[160] = "", vector[160] = "";
        for (int k = 0; k < kept; k++)
            snprintf(row + strlen(row), sizeof row - strlen(row), "%s%8.4f", n > 7 && k == 3 ? "  …" : "",
                     at(at(pattern, i), n <= 7 || k < 3 ? k : n - 6 + k)->valuedouble);
        ck_assert_msg(strstr(screen, printed("%s\n", row)), "%s\nhas not: %s", screen, row);
        for (int j = 0; j < 6 && j < numbered[_i].d; j++)
            snprintf(vector + strlen(vector), sizeof vector - strlen(vector), "%9.4f",
                     at(at(context, i), head * numbered[_i].d + j)->valuedouble);
        ck_assert_msg(!numbered[_i].d || strstr(screen, printed("%s\n", vector)), "%s\nhas not: %s", screen, vector);
    }
    cJSON_Delete(doc);
}
END_TEST

/* ---- what a token looks at ---- */

/* The largest weight of token q in all heads of all layers, of keys other than itself and the first; the first that
 * is as large. */
static const char *target_of(const cJSON *doc, int q)
{
    static char line[128];
    double best = 0;
    const cJSON *act, *heads = golden_get(doc, "activations");
    snprintf(line, sizeof line, "nothing");
    cJSON_ArrayForEach(act, heads)
        for (int h = 0; h < cJSON_GetArraySize(golden_get(act, "data")); h++) {
            const cJSON *row = at(at(golden_get(act, "data"), h), q);
            for (int k = 1; k < cJSON_GetArraySize(row); k++) {
                double x = at(row, k)->valuedouble;
                if (k == q || (float)x <= (float)best)
                    continue;
                best = x;
                const char *key = golden_string(at(golden_get(doc, "tokens"), k), "text");
                snprintf(line, sizeof line,
                         "%s%s %.2f (L%.0fH%.0f)", *key == ' ' ? "\u00B7" : "", key + (*key == ' '), x,
                         golden_number(act, "layer"), at(golden_get(act, "heads"), h)->valuedouble);
            }
        }
    return line;
}

static const struct { const char *input; int first, n; } looking[] = {
    {CARD, 4, 7}, {LONG_TEXT, 21, 24}, {CARD " --attention full", 4, 7}, {CARD " --attention window:2", 4, 7},
    {CARD " --layer 1 --head 2,3", 4, 7}, {CARD " --ablate L0H1", 5, 7}, {"-m tiny -s 'Lily lost'", 0, 2},
};

START_TEST(each_token_has_a_target)
{
    const char *input = looking[_i].input, *screen = strstr(screen_of(input), "\nwhat each ");
    ck_assert_ptr_nonnull(screen);
    succeed(printed("\"$A\" run %s --show pattern -o $D/run.json", input));
    cJSON *doc = golden_read(scratch_path("run.json"));
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(doc, "tokens")), looking[_i].n);
    for (int q = 0; q < looking[_i].n; q++) {
        screen = q < looking[_i].first ? screen : strstr(screen + 1, " \u2192 ");
        const char *want = printed(" \u2192 %s\n", target_of(doc, q));
        ck_assert_msg(q < looking[_i].first || (screen && !strncmp(screen, want, strlen(want))),
                      "token %d: %.60s, expected %s", q,
                      screen ? screen : "nothing", want);
    }
    ck_assert(!strstr(screen + 1, " \u2192 "));
    cJSON_Delete(doc);
}
END_TEST

/* ---- characters that are several tokens ---- */

START_TEST(split_characters_are_joined)
{
    static const char said[] = "\ncharacters that were split into tokens are joined; --format text has the tokens\n";
    const char *screen = screen_of("-m tiny -s '\u6211\u7231\u81EA\u7136\u8BED\u8A00\u5904\u7406'");
    ck_assert_msg(strstr(screen, "8 words of 24 tokens\n") && strstr(screen, said), "%s", screen);
    ck_assert_ptr_nonnull(strstr(screen, "\ntokens  \u6211 \u7231 \u81EA \u7136 \u8BED \u8A00 \u5904 \u7406\n"));
    expect_same("\"$A\" run -m tiny -s '\u6211\u7231' --format screen | sed 2d",
                "\"$A\" run -m tiny -s '\u6211\u7231' --format screen --words | sed 's/ --words//'");
    ck_assert_ptr_null(strstr(screen_of("-m tiny -s 'Lily lost her red ball, \u77ED'"), said));     /* 3 of 10 */
    ck_assert_ptr_nonnull(strstr(screen_of("-m tiny -s 'Lily lost her, \u77ED'"), said));
    ck_assert_ptr_null(strstr(screen_of("-m tiny --ids 163,253,255"), said));
    expect("\"$A\" run -m tiny -s '\u6211\u7231' --show pattern --layer 0", 0, "\u6211\u00B71/3");
}
END_TEST

/* ---- when it is shown ---- */

START_TEST(it_is_shown_unless_something_is_asked_for)
{
    static const char *const asked[] = {"--show pattern", "--format text", "--layer 0", "--head 0", "--precision 3",
                                        "--gradient 'loss'"};
    expect_same("\"$A\" run " CARD, "\"$A\" run " CARD " --format screen");
    expect_same("\"$A\" run " CARD, "\"$A\" run " CARD " -o $D/x && cat $D/x");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        expect(printed("\"$A\" run -m tiny -s 'Life is' %s | grep -c '6 layers of 4 heads'", asked[i]), 1, "0\n");
    expect("\"$A\" run " LIFE_CARD " --format text", 0, "blocks.0.attn.context");
    expect("\"$A\" run " LONG_TEXT " --width 60 | awk 'length($0) > 60'", 0, "");
    expect_exactly("\"$A\" run " LONG_TEXT " --width 50 | sed -n 's/^ *\\(L2H3.*\\)/\\1/p' | head -1",
                   "L2H3 looks most beyond itself and the first token…\n");
}
END_TEST

/* ---- the commands to go on with ---- */

static const struct { const char *input, *then; } goes_on[] = {
    {LIFE_CARD, "then  attn-cli explain, variants, page with the same options\n"},
    {CARD, "then  attn-cli explain --head L4H3, heads, page with the same options\n"},
    {"-m life -s 'Life is short' --cross 'eat dessert first'", "then  attn-cli explain, page with the same options\n"},
};

START_TEST(its_commands_work)
{
    const char *input = goes_on[_i].input;
    ck_assert_ptr_nonnull(strstr(screen_of(input), goes_on[_i].then));
    succeed(printed("\"$A\" run %s --format screen | sed -n 's/^then  attn-cli \\(.*\\) with the same options/\\1/p' | "
                    "sed 's/, /\\n/g' | while read -r command; do rm -f $D/x.html; \"$A\" $command %s -o $D/x.html; test -s "
                    "$D/x.html; done", input, input));
}
END_TEST

Suite *suite_screen(void)
{
    Suite *s = suite_create("screen");
    TCase *t = tcase_create("screen");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, a_space_shown_as_a_dot_is_explained);
    tcase_add_loop_test(t, everything_fits, 0, sizeof inputs / sizeof *inputs);
    tcase_add_loop_test(t, hidden_keys_are_drawn_as_such, 0, sizeof hiding / sizeof *hiding);
    tcase_add_test(t, heads_are_ranked_as_heads_ranks_them);
    tcase_add_loop_test(t, the_head_that_tells_most_is_shown, 0, sizeof telling / sizeof *telling);
    tcase_add_loop_test(t, numbers_are_those_of_the_run, 0, sizeof numbered / sizeof *numbered);
    tcase_add_loop_test(t, each_token_has_a_target, 0, sizeof looking / sizeof *looking);
    tcase_add_test(t, split_characters_are_joined);
    tcase_add_test(t, it_is_shown_unless_something_is_asked_for);
    tcase_add_loop_test(t, its_commands_work, 0, sizeof goes_on / sizeof *goes_on);
    suite_add_tcase(s, t);
    return s;
}

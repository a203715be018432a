/* The first look: what `run` shows on a terminal, and with --format screen anywhere.  The transcripts
 * have whole ones. */
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

enum { LINES = 45 };

/* ---- one screen ---- */

/* Characters are one column wide in these texts. */
static void fits(const char *screen, size_t columns, size_t most)
{
    size_t lines = 0, at = 0;
    for (const char *c = screen; *c; c++) {
        lines += *c == '\n';
        at = *c == '\n' || *c == '\r' ? 0 : at + (((unsigned char)*c & 0xC0) != 0x80);
        ck_assert_msg(at <= columns, "line %zu is wider than %zu columns:\n%s", lines + 1, columns, screen);
    }
    ck_assert_msg(lines > 5 && lines <= most, "%zu lines, expected %zu:\n%s", lines, most, screen);
}

static const char *const inputs[] = {
    CARD, LIFE_CARD, LONG_TEXT, "-m models/stacked -s 'The cat sees the moth'", "-m tiny --ids 5",
    "-m tiny -s it --cross 'Lily lost her red ball'",
    LONG_TEXT " --cross 'Lily lost her red ball'", CARD " --ablate L2H0 --edit 'L1.mlp.out = 0'",
    "-m $D/wide --ids 1,2,3,4,5,6,7,8,9",
    "-m $D/wide --ids 1,2,3 --attention full", "-m life -s Life --attention linear", CARD " --layer 1 --head 2,3",
    CARD " --attention block:2 --cell 5 --palette magma", LONG_TEXT " --attention strided:2,3",
    LONG_TEXT " -q --ablate L0H0,L0H1,L2H0,L2H1,L4H2 --edit 'L1.mlp.out[pos=0] = text(\"a text so long that an edit "
    "which takes its numbers is wider than a screen\")'",
};

START_TEST(everything_fits)
{
    succeed("\"$A\" init -o $D/wide --vocab-size 10 --n-layer 12 --n-head 24 --d-model 48 --n-ctx 16");
    fits(succeed(printed("\"$A\" run %s --format screen", inputs[_i]))->text, 80, LINES);
    if (no_terminal())
        return;
    fits(on_terminal(printed("export TERM=dumb; \"$A\" run %s --format screen", inputs[_i]), 0), 60, 23);
}
END_TEST

/* What a kind of attention hides is drawn as what lies in the future is, and numbers that are small as nothing. */
static const struct { const char *kind, *row; } hiding[] = {
    {"causal", "·ball  ██        ······"}, {"window:2", "·red  ····"}, {"strided:2,3", "·ball  ··"},
};

START_TEST(hidden_keys_are_drawn_as_such)
{
    const char *line = printed("\"$A\" run -m tiny -s 'Lily lost her red ball in the park' --format screen "
                               "--attention %s", hiding[_i].kind);
    const char *row = strstr(succeed(line)->text, "\n Lily  ██");
    ck_assert_msg(row && strstr(row, hiding[_i].row), "%s", row ? row : line);
}
END_TEST

/* A sign is explained where it first appears, to who looks at a terminal, and only where there is one. */
START_TEST(a_space_shown_as_a_dot_is_explained)
{
    expect("\"$A\" run -m tiny -s 'Lily lost' --format screen | head -1", 0, ", 2 tokens; · is a space\n");
    expect("\"$A\" run -m life -s 'Life is' --format screen | head -1", 0, ", 2 tokens\n");
    expect_exactly("\"$A\" run -m tiny -s 'Lily lost' --layer 0 --head 0 | head -1", "tokens\n");
    if (!no_terminal())
        ck_assert_ptr_nonnull(strstr(on_terminal("TERM=dumb \"$A\" run -m tiny -s 'Lily lost' --layer 0", 0),
                                     "tokens; · is a space\r\n"));
}
END_TEST

/* ---- its numbers are those of the other formats ---- */

static const char *screen_of(const char *input)
{
    static struct said s;
    memcpy(&s, succeed(printed("\"$A\" run %s --format screen", input)), sizeof s);
    return s.text;
}

START_TEST(small_patterns_are_printed_whole)
{
    char *screen = strdup(screen_of(LIFE_CARD));
    const struct said *text = succeed("\"$A\" run " LIFE_CARD " --show pattern | sed -n '/^Life  /,$p'");
    ck_assert(text->len > 300);
    ck_assert_msg(strstr(screen, text->text), "%s\nhas not:\n%s", screen, text->text);
    free(screen);
}
END_TEST

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
    ck_assert_uint_eq(shown, 16);
    ck_assert(named > 4 && named < 16 && most <= least);
    ck_assert_ptr_nonnull(strstr(screen, " (the 16 clearest of 24)"));
    cJSON_Delete(doc);
}
END_TEST

START_TEST(vectors_have_their_lengths)
{
    const char *screen = screen_of(LIFE_CARD);
    succeed("\"$A\" run " LIFE_CARD " --show context -o $D/run.json");
    cJSON *doc = golden_read(scratch_path("run.json"));
    const cJSON *data = golden_get(cJSON_GetArrayItem(golden_get(doc, "activations"), 0), "data");
    for (int i = 0; i < 6; i++) {
        const cJSON *row = cJSON_GetArrayItem(data, i);
        char line[128] = "";
        double squares = 0;
        for (int j = 0; j < 4; j++) {
            double x = cJSON_GetArrayItem(row, j)->valuedouble;
            squares += x * x;
            snprintf(line + strlen(line), sizeof line - strlen(line), "%9.3f", x);
        }
        ck_assert_msg(strstr(screen, printed("%9.3f%s\n", sqrt(squares), line)), "%s\nhas not: %s", screen, line);
    }
    cJSON_Delete(doc);
}
END_TEST

/* ---- what a token looks at ---- */

static const cJSON *at(const cJSON *array, int i) { return cJSON_GetArrayItem(array, i); }

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
    {CARD, 0, 7}, {LONG_TEXT, 12, 24}, {CARD " --attention full", 0, 7}, {CARD " --attention window:2", 0, 7},
    {CARD " --layer 1 --head 2,3", 0, 7}, {CARD " --ablate L0H1", 0, 7},
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

/* Students compare the vectors of small models; what does not fit a line is no help. */
START_TEST(wide_vectors_are_left_out)
{
    static const char whom[] = "what each token looks at most, beyond itself and the first\n",
        of[] = ": context vectors: length, then ";
    ck_assert(strstr(screen_of(CARD), whom) && !strstr(screen_of(CARD), of));
    ck_assert(strstr(screen_of(LIFE_CARD), of) && !strstr(screen_of(LIFE_CARD), whom));
    ck_assert_ptr_nonnull(strstr(screen_of("-m journey -s 'Your journey starts with one step'"), of));
    ck_assert_ptr_nonnull(strstr(screen_of(LONG_TEXT),
                                 "\nwhat each of the last 12 tokens looks at most, beyond itself and the first\n"));
    ck_assert_ptr_nonnull(strstr(screen_of("-m tiny -s it --cross 'Lily lost her red ball'"),
                                 "\nwhat each token looks at most\n"));
}
END_TEST

START_TEST(the_layer_has_a_reason)
{
    const char *screen = screen_of(CARD), *why = strstr(screen, "\nshown because L"),
        *best = strstr(screen, " clearest of 24)\nL");
    int layer = -1, head = -1, l = -1, h = -1, drawn = -1;
    ck_assert(why && best && sscanf(why, "\nshown because L%dH%d has", &layer, &head) == 2 &&
              sscanf(best, " clearest of 24)\nL%dH%d ", &l, &h) == 2 &&
              sscanf(strstr(screen, "\nlayer "), "\nlayer %d:", &drawn) == 1);
    ck_assert(l == layer && h == head && drawn == layer);
    ck_assert_ptr_null(strstr(screen_of(CARD " --layer 1"), "shown as"));
    ck_assert_ptr_null(strstr(screen_of(LIFE_CARD), "shown as"));
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

/* The rows of a long text that are kept are its last ones, as many as there are keys. */
START_TEST(a_long_text_shows_its_end)
{
    const char *screen = screen_of(LONG_TEXT);
    ck_assert_ptr_nonnull(strstr(screen, " 24 tokens, the last 12 shown; \u00B7 is a space\n"));
    succeed(printed("[ $(\"$A\" run -m tiny --ids $(seq -s, 100) --format screen | sed -n '/^tokens/,/^$/p' | "
                    "wc -l) = 3 ]"));
}
END_TEST

/* ---- when it is shown ---- */

START_TEST(terminals_get_it_unless_something_is_asked_for)
{
    static const char *const asked[] = {"--show pattern", "--format text", "--layer 0", "--head 0", "--precision 3",
                                        "--gradient 'loss'"};
    expect("\"$A\" run " LIFE_CARD, 0, "blocks.0.attn.context");
    expect("\"$A\" run " LIFE_CARD " -o $D/x.txt && cat $D/x.txt", 0, "blocks.0.attn.context");
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("TERM=dumb \"$A\" run -m tiny -s 'Life is'", 0),
                                 "tiny: 6 layers of 4 heads, 2 tokens"));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        ck_assert_ptr_null(strstr(on_terminal(printed("TERM=dumb \"$A\" run -m tiny -s 'Life is' %s", asked[i]), 0),
                                  "6 layers of 4 heads"));
}
END_TEST

/* ---- the commands to go on with ---- */

static const char *const retyped[] = {
    LIFE_CARD, CARD, "-m life -s 'Life is short' --cross 'eat dessert first'", CARD " --ablate L2H0",
    CARD " --attention window:2",
    "-m tiny -s $'Lily lost\\n-s it\\'s \\\\ \\u200b\\t'",
    "-m tiny -s \"it's a \\$HOME of -s and \\\"'\"",
};

START_TEST(its_commands_work)
{
    succeed(printed("\"$A\" run %s --format screen | sed -n '/^step by step/,$p' | cut -c 15- >$D/next.sh",
                    retyped[_i]));
    ck_assert_str_eq(succeed("grep -c '^attn-cli' $D/next.sh")->text, strstr(retyped[_i], "--cross") ? "2\n" : "3\n");
    succeed("b=$(realpath \"$A\") && cd $D && attn-cli() { \"$b\" \"$@\" >>out; } && . ./next.sh && "
            "test -s page.html && test -s out");
    succeed(printed("\"$A\" run %s -o $D/own.html && cmp $D/own.html $D/page.html", retyped[_i]));
}
END_TEST

START_TEST(the_derivation_is_of_what_is_shown)
{
    expect_exactly("\"$A\" run " CARD
                   " --format screen | sed -n 's/^L\\([0-9]*\\)H\\([0-9]*\\) .*/--layer \\1 --head \\2/p' | "
                   "head -n 1 >$D/best;"
                   "\"$A\" run " CARD
                   " --format screen | sed -n '/^step by step/,/^every/p' | grep -c -e \"$(cat $D/best)\"", "1\n");
    expect_exactly("\"$A\" run " LIFE_CARD " --format screen | grep '^step by step' | grep -c layer || :", "0\n");
}
END_TEST

/* What is in quotes is not broken, whatever in it looks like an option. */
START_TEST(commands_are_broken_before_options)
{
    static const char minus[] = "--edit 'L2H0[pos=0] *= -1'";
    for (int i = 1; i <= 24; i++) {
        const char *said = succeed(printed("\"$A\" run -m tiny -s %.*s %s --format screen", i,
                                           "aaaaaaaaaaaaaaaaaaaaaaaa", minus))->text;
        for (int line = 0; line < 3; line++) {
            said = strstr(said, "attn-cli ");
            ck_assert_ptr_nonnull(said);
            const char *edit = strstr(said++, "--edit"), *end = strstr(said, "\n") - 1;
            ck_assert_msg(!strncmp(edit, minus, sizeof minus - 1) && (*end == '\\' || edit < end), "%s", said);
        }
    }
}
END_TEST

/* Where patterns leave no room for commands, one line names them; a heading is not cut at 80 columns. */
START_TEST(a_low_terminal_names_commands)
{
    static const char names[] = "\r\nthen  attn-cli explain, heads, run -o page.html\r\n";
    expect("\"$A\" run " CARD " --format screen", 0, "what each token looks at most, beyond itself and the first\n");
    expect_exactly("\"$A\" run " LONG_TEXT " --format screen | grep -c ^then || :", "0\n");
    if (no_terminal())
        return;
    const char *screen = on_terminal("TERM=dumb \"$A\" run " LONG_TEXT, 0);
    ck_assert_msg(strstr(screen, names) && !strstr(screen, "step by step"), "%s", screen);
    screen = on_terminal("stty rows 19; TERM=dumb \"$A\" run " LONG_TEXT, 0);
    ck_assert_msg(!strstr(screen, names), "%s", screen);
    screen = on_terminal("TERM=dumb \"$A\" run -m life -s 'Life is'", 0);
    ck_assert_msg(!strstr(screen, names) && strstr(screen, "step by step"), "%s", screen);
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
    tcase_add_test(t, small_patterns_are_printed_whole);
    tcase_add_test(t, heads_are_ranked_as_heads_ranks_them);
    tcase_add_test(t, vectors_have_their_lengths);
    tcase_add_loop_test(t, each_token_has_a_target, 0, sizeof looking / sizeof *looking);
    tcase_add_test(t, wide_vectors_are_left_out);
    tcase_add_test(t, the_layer_has_a_reason);
    tcase_add_test(t, split_characters_are_joined);
    tcase_add_test(t, a_long_text_shows_its_end);
    tcase_add_test(t, a_low_terminal_names_commands);
    tcase_add_test(t, terminals_get_it_unless_something_is_asked_for);
    tcase_add_test(t, the_derivation_is_of_what_is_shown);
    tcase_add_test(t, commands_are_broken_before_options);
    tcase_add_loop_test(t, its_commands_work, 0, sizeof retyped / sizeof *retyped);
    suite_add_tcase(s, t);
    return s;
}

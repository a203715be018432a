/* Figures besides heat maps: a grid of small panels, lines from word to word, the sentence shaded. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LILY "\"$A\" run -m tiny -s 'Lily lost her red ball' "
#define TEXT "$PYTHON -B tests/support/pdf_text.py $D/x.pdf"

/* Every kind in every format, with the same words in a PDF and an SVG. */
static const struct { const char *kind, *texts; } kinds[] = {
    {"grid", "^[LH][0-9]$"}, {"lines", "^head [0-3]$\\|^Lily$\\|^·lost$\\|^·ball$"},
    {"words", "looks at$\\|^ *Lily$\\|^ *lost$"},
};

START_TEST(kinds_have_the_same_words_in_every_format)
{
    succeed(printed("for f in svg pdf png; do " LILY "--figure %s -o $D/x.$f || exit; " LILY "--figure %s -o $D/y.$f; "
                    "cmp $D/x.$f $D/y.$f || exit; done", kinds[_i].kind, kinds[_i].kind));
    const char *svg = printed("sed -n 's/^<text[^>]*>\\(.*\\)<.text>$/\\1/p' $D/x.svg | sed 's/&quot;/\"/g' | "
                              "grep '%s'", kinds[_i].texts);
    expect_same(svg, printed(TEXT " | grep '%s'", kinds[_i].texts));
}
END_TEST

/* One row per layer, one column per head: 6 layers of 4 heads. */
START_TEST(a_grid_has_a_panel_for_each_head)
{
    succeed(LILY "--figure grid -o $D/x.svg --width 85mm");
    expect_exactly("grep -o 'translate([0-9]*' $D/x.svg | sort -u | wc -l | tr -d ' '", "4\n");
    expect_exactly("grep -o 'translate([0-9]* [0-9]*' $D/x.svg | sort -u | wc -l | tr -d ' '", "24\n");
    expect_exactly("sed -n 's/^<text[^>]*>\\([LH][0-9]\\)<.*/\\1/p' $D/x.svg | sort | tr -d '\\n'",
                   "H0H1H2H3L0L1L2L3L4L5");
    expect("grep -c Lily $D/x.svg", 0, "2\n");          /* the heading and what is read aloud: no labels */
    succeed(LILY "--layer 0 --figure grid --columns 2 -o $D/y.svg");
    expect_exactly("grep -o 'translate([0-9]*' $D/y.svg | sort -u | wc -l | tr -d ' '", "2\n");
    expect(LILY "--figure grid --width 20mm --columns 24 -o $D/z.svg 2>&1", 2, "a grid has no room for a row of 24");
}
END_TEST

/* What is larger than the pixels of its panel keeps its largest numbers. */
START_TEST(a_grid_loses_no_strong_weight)
{
    succeed("$PYTHON -c 'print(\"\\n\".join(\",\".join(\"1\" if (r, c) == (300, 200) else \"0\" for c in range(400)) "
            "for r in range(400)))' >$D/m.csv");
    succeed("\"$A\" plot -q $D/m.csv --palette ink --figure grid --width 85mm -o $D/x.png && "
            "\"$A\" plot -q $D/m.csv --palette ink --figure grid -o $D/y.png");
    for (const char *const *name = (const char *const[]){"x", "y", NULL}; *name; name++)
        ck_assert_int_eq(system(printed("test -s %s", scratch_path(printed("%s.png", *name)))), 0);
    succeed("\"$A\" plot -q $D/m.csv --palette ink --figure grid -o $D/y.svg");
    expect_exactly("grep -c '<image' $D/y.svg", "1\n");
}
END_TEST

/* A line for each weight that can be seen, from its query's height to its key's; with --query those of one row. */
START_TEST(lines_lead_from_query_to_key)
{
    succeed("printf 'token,a,b,c\\na,1,0,0\\nb,0.5,0.5,0\\nc,0,0.25,0.75\\n' >$D/blocks.0.attn.pattern.csv");
    succeed("\"$A\" plot -q $D/blocks.0.attn.pattern.csv --figure lines -o $D/x.svg");
    static const char heights[] = "grep -o '<path d=\"M[^\"]*\" stroke' $D/x.svg | sed 's/[^0-9.]/ /g' | "
        "awk '{print int(($2 - %d) / 16), int(($4 - %d) / 16)}' | sort | tr '\\n' ';'";
    int top = atoi(succeed("grep -o '<path d=\"M[^\"]*\" stroke' $D/x.svg | sed 's/[^0-9.]/ /g' | "
                           "awk '{print int($2)}' | sort -n | head -1")->text);
    expect_exactly(printed(heights, top, top), "0 0;1 0;1 1;2 1;2 2;");
    succeed("\"$A\" plot -q $D/blocks.0.attn.pattern.csv --figure lines --query c -o $D/x.svg");
    expect_exactly(printed(heights, top, top), "2 1;2 2;");
    succeed("\"$A\" plot -q $D/blocks.0.attn.pattern.csv --figure lines --query 1 -o $D/x.svg");
    expect_exactly(printed(heights, top, top), "1 0;1 1;");
}
END_TEST

/* Of 61 tokens the strongest three for each: here the first three columns, and of 60 tokens all.  The title says so. */
START_TEST(of_many_tokens_the_strongest_lines_are_drawn)
{
    static const char lines[] = "grep -o '<path d=\"M[^\"]*\" stroke' $D/x.svg";
    succeed("for n in 60 61; do seq $n >$D/labels$n; $PYTHON -c \"for r in range($n): print(*[0.9 - 0.001 * r if c < 3 "
            "else 0.5 for c in range($n)], sep=',')\" >$D/pattern$n.csv; done");
    succeed("\"$A\" plot -q $D/pattern60.csv --labels $D/labels60 --figure lines -o $D/x.svg");
    expect_exactly(printed("%s | wc -l | tr -d ' '", lines), "3600\n");
    expect_exactly("grep -c 'strongest lines' $D/x.svg || true", "0\n");
    succeed("\"$A\" plot -q $D/pattern61.csv --labels $D/labels61 --figure lines -o $D/x.svg");
    expect_exactly(printed("%s | wc -l | tr -d ' '", lines), "183\n");
    expect_exactly(printed("%s | sed 's/[^0-9.]/ /g' | awk '{print $4}' | sort -u | wc -l | tr -d ' '", lines), "3\n");
    expect("grep -o 'of each head at most the 183 strongest lines' $D/x.svg", 0, "of each head");
    succeed("\"$A\" plot -q $D/pattern61.csv --labels $D/labels61 --figure lines --query 60 -o $D/x.svg");
    expect_exactly(printed("%s | wc -l | tr -d ' '", lines), "61\n");
}
END_TEST

/* Each head has its own colour, its darkest for the largest weight. */
START_TEST(heads_have_colours)
{
    succeed(LILY "--layer 1 --figure lines -o $D/x.svg");
    expect_exactly("for c in 1f77b4 ff7f0e 2ca02c d62728; do grep -c \"<rect[^>]*#$c\" $D/x.svg; done | tr -d '\\n'",
                   "1111");
    succeed("grep -q 'stroke=\"#1f77b4\"\\|stroke=\"#ff7f0e\"\\|stroke=\"#2ca02c\"\\|stroke=\"#d62728\"' $D/x.svg");
}
END_TEST

/* The darkest word of a row is the largest weight's, words that a mask hides have no colour, and the one that
 * looks a frame. */
START_TEST(words_are_shaded_by_a_row)
{
    succeed("printf 'token,a,b,c\\na,1,0,0\\nb,0.25,0.75,0\\nc,0,0.25,0.75\\n' >$D/blocks.0.attn.pattern.csv");
    succeed("\"$A\" plot -q $D/blocks.0.attn.pattern.csv --figure words --query b --palette ink -o $D/x.svg");
    expect_exactly("grep -c 'height=\"20\" fill=\"#000000\"' $D/x.svg", "1\n");
    /* the table says of no mask */
    expect_exactly("grep -c 'height=\"20\" fill=\"#[a-f0-9]*\"' $D/x.svg", "3\n");
    succeed("printf 'token,a,b,c\\na,1,-inf,-inf\\nb,1,2,-inf\\nc,0,1,3\\n' >$D/blocks.0.attn.scores.csv");
    succeed("\"$A\" plot -q $D --show pattern --figure words --query b --palette ink -o $D/x.svg");
    expect_exactly("grep -c 'height=\"20\" fill=\"#[a-f0-9]*\"' $D/x.svg", "2\n");
    expect("cat $D/x.svg", 0, "what &quot;b&quot; looks at<");
}
END_TEST

static const struct { const char *options, *says; } wrong[] = {
    {"--figure lines --show scores",
     "a figure of lines shows weights from tokens to tokens, none below 0: --show pattern"},
    {"--figure words --show context", "a figure of words shows weights from tokens to tokens"},
    {"--figure lines --query bull",
     "--query: no token reads 'bull', did you mean 'ball': give its text or its index, 0 to 4"},
    {"--figure words --query 5", "--query: no token reads '5'"},
    {"--figure lines --width 20mm", "words on both sides take"},
    {"--figure circles", "--figure: unknown value 'circles' (heatmap, grid, lines, words, vectors)"},
};

START_TEST(what_cannot_be_drawn_is_said)
{
    expect(printed(LILY "%s -o $D/x.pdf 2>&1", wrong[_i].options), 2, wrong[_i].says);
    expect_exactly("ls $D | wc -l | tr -d ' '", "0\n");
}
END_TEST

START_TEST(a_word_that_is_there_twice_needs_an_index)
{
    expect("\"$A\" run -m tiny -s 'the cat and the dog' --figure words --query the -o $D/x.pdf 2>&1", 2,
           "--query: 2 tokens read 'the': give an index, 0 to 4");
    succeed("\"$A\" run -m tiny -s 'the cat and the dog' --figure words --query 3 -o $D/x.pdf");
}
END_TEST

/* ---- colours that are chosen where nobody did ---- */

/* Light, with both signs from blue to orange, in one picture, too. */
START_TEST(signs_choose_the_palette)
{
    succeed(LILY "--layer 0 --show scores,pattern -o $D/x.svg && " LILY
            "--layer 0 --show scores,pattern -o $D/x.png && "
            LILY "--layer 0 --show scores,pattern -o $D/x.pdf");
    succeed("grep -q '#7f3207\\|#0b3c6f' $D/x.svg && grep -q '#08285a' $D/x.svg");
    succeed(LILY "--layer 0 -o $D/y.svg");
    expect_exactly("grep -c '#7f3207' $D/y.svg || true", "0\n");
}
END_TEST

/* More tokens than 24 have a scale by square roots, which shows small weights. */
START_TEST(many_tokens_have_a_scale_of_roots)
{
    succeed("\"$A\" run -m tiny --ids $(seq -s, 24) --layer 0 --head 0 -o $D/x.svg");
    expect_exactly("grep -c 'square roots' $D/x.svg || true", "0\n");
    succeed("\"$A\" run -m tiny --ids $(seq -s, 25) --layer 0 --head 0 -o $D/y.svg");
    expect_exactly("grep -c 'square roots' $D/y.svg", "1\n");
    succeed("\"$A\" run -m tiny --ids $(seq -s, 25) --layer 0 --head 0 --color-scale linear -o $D/z.svg");
    expect_exactly("grep -c 'square roots' $D/z.svg || true", "0\n");
}
END_TEST

/* A longer text never makes a smaller picture. */
START_TEST(cells_grow_with_room)
{
    for (const char *const *n = (const char *const[]){"12", "26", "64", "100", "150", "216", NULL}; *n; n++) {
        succeed(printed("\"$A\" run -q -m tiny --ids $(seq -s, %s) --layer 0 --head 0 -o $D/x.svg", *n));
        /* From 12 tokens on, cells take at least 640 units. */
        int cell = atoi(succeed("sed -n 's/.*scale(\\([0-9.]*\\)).*/\\1/p' $D/x.svg")->text), high = cell * atoi(*n);
        ck_assert_msg(high >= 640, "%s tokens: %d", *n, high);
    }
}
END_TEST

Suite *suite_figure_kinds(void)
{
    Suite *s = suite_create("figure_kinds");
    TCase *t = tcase_create("figure_kinds");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, kinds_have_the_same_words_in_every_format, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(t, a_grid_has_a_panel_for_each_head);
    tcase_add_test(t, a_grid_loses_no_strong_weight);
    tcase_add_test(t, lines_lead_from_query_to_key);
    tcase_add_test(t, of_many_tokens_the_strongest_lines_are_drawn);
    tcase_add_test(t, heads_have_colours);
    tcase_add_test(t, words_are_shaded_by_a_row);
    tcase_add_loop_test(t, what_cannot_be_drawn_is_said, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, a_word_that_is_there_twice_needs_an_index);
    tcase_add_test(t, signs_choose_the_palette);
    tcase_add_test(t, many_tokens_have_a_scale_of_roots);
    tcase_add_test(t, cells_grow_with_room);
    suite_add_tcase(s, t);
    return s;
}

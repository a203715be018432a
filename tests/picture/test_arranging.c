/* How figures are arranged, and what is said where they cannot be as they were asked for. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LILY "\"$A\" run -m tiny -s 'Lily lost her red ball' "
/* 20 tokens, three times the same sentence but for the last. */
#define LONG \
    "\"$A\" run -m tiny -s 'Lily lost her red ball. Lily lost her red ball. Lily lost her red ball, so she was' "

/* ---- equal maps in rows, numbers in cells ---- */

/* What heads are ranked by are eight maps of one size, the last three of them beside each other. */
START_TEST(maps_of_one_shape_are_equal)
{
    succeed("\"$A\" init -q -o $D/m --vocab-size 40 --n-ctx 32 --n-layer 5 --n-head 8 --d-model 16 && "
            "\"$A\" heads -q -m $D/m --repeat 12 -o $D/x.svg");        /* 320 numbers: too many to be written */
    expect_exactly("grep -o 'scale([0-9.]*' $D/x.svg | sort | uniq -c | sed 's/^ *//'", "8 scale(28\n");
    expect_exactly("grep -o 'translate([0-9]* [0-9]*' $D/x.svg | awk '{print $2}' | sort -n | uniq -c | "
                   "awk '{print $1}' | tr '\\n' ' '",
                   "3 2 3 ");
}
END_TEST

static const struct { const char *command; int numbers; } written[] = {
    {"heads -m tiny --repeat 12", 8 * 24},
    {"heads -m induction --repeat 12", 8 * 4},
    {"patch -m tiny -s 'Tom and Lily went to' --from 'Lily and Tom went to' --what context --over layer,head --metric "
     "'logit(\" Lily\")'", 24},
    {"patch -m tiny -s 'Tom and Lily went to' --from 'Lily and Tom went to' --what context --over layer,head,pos "
     "--metric 'logit(\" Lily\")'", 120},
    {"lens -m tiny -s 'Lily lost her'", 21},
    {"lens -m tiny -s 'Lily lost her' --target ' red'", 0},
    {"run -m tiny -s 'Lily lost her'", 0},
};

/* Few numbers of an answer are written in their cells, and leave again where a width has no room. */
START_TEST(few_numbers_are_written)
{
    succeed(printed("\"$A\" %s -q -o $D/x.svg", written[_i].command));
    enum { TICKS = 100 };               /* numbers of legends, and those of layers and heads beside maps */
    int n = atoi(succeed("sed -n 's/^<text[^>]*>\\([^<]*\\)<.text>$/\\1/p' $D/x.svg | "
                         "grep -c '^\\(.* \\)\\?-\\?[0-9.]*$\\|^NaN$'")->text);
    ck_assert_msg(n >= written[_i].numbers && n < written[_i].numbers + (written[_i].numbers ? TICKS : 10), "%d", n);
    succeed(printed("\"$A\" %s -q --width 70mm -o $D/y.svg", written[_i].command));
}
END_TEST

/* ---- sizes ---- */

/* A layer of a longer text never has a smaller picture, either. */
START_TEST(layers_grow_with_room)
{
    for (const char *const *n = (const char *const[]){"26", "64", "100", "150", "216", NULL}; *n; n++) {
        succeed(printed("\"$A\" run -q -m tiny --ids $(seq -s, %s) --layer 0 -o $D/x.svg", *n));
        int cell = atoi(succeed("sed -n 's/.*scale(\\([0-9.]*\\)).*/\\1/p' $D/x.svg | head -1")->text);
        ck_assert_msg(cell * atoi(*n) >= 280, "%s tokens: %d", *n, cell * atoi(*n));
    }
}
END_TEST

/* A heading takes three lines before it is cut, and a subtitle those that it needs. */
START_TEST(titles_are_broken_before_they_are_cut)
{
    succeed(LONG "-q --layer 1 --head 0 --width 85mm -o $D/x.svg");
    expect_exactly("grep -c '…' $D/x.svg || true", "0\n");
    expect("grep -o 'font-size=\"15.0\".*' $D/x.svg | sed 's/.*>\\(.*\\)<.*/\\1/' | tr '\\n' ' '", 0,
           "tiny: Lily lost her red ball. Lily lost her red ball. Lily lost her red ball, so she was ");
    expect("grep -o 'font-size=\"13.3\".*' $D/x.svg | sed 's/.*>\\(.*\\)<.*/\\1/' | tr '\\n' ' '", 0,
           "layer 1, head 0: attention pattern (rows: queries, columns: keys) ");
    succeed("\"$A\" run -q -m tiny -s \"$(printf 'the big red ball %.0s' $(seq 50))\" --layer 1 --head 0 --width 85mm "
            "-o $D/y.svg");
    expect_exactly("grep -o 'font-size=\"15.0\".*' $D/y.svg | grep -c .; grep -c '<text.*…' $D/y.svg", "3\n1\n");
}
END_TEST

/* ---- what does not fit is said ---- */

static const struct { const char *options, *says; int panels; } high[] = {
    {"--width 85mm", "with the labels of all tokens the figure would be ", 24},
    {"--width 85mm --figure heatmap",
     "mm high, and a page of A4 has room for 257: choose fewer matrices with --layer and --head, or --figure grid", 24},
    {"--width 85mm --layer 0 --columns 4 --cell 5", "--columns 4: only 2 matrices fit beside each other at 85 mm: "
     "there are so many in a row; --figure grid has room for more", 4},
    {"--width 85mm --figure grid", "", 24},
    {"--width 85mm --layer 0 --head 1", "", 1},
};

START_TEST(what_is_arranged_otherwise_is_said)
{
    succeed(printed(LONG "%s -o $D/x.svg 2>$D/said", high[_i].options));
    if (*high[_i].says)
        expect("cat $D/said", 0, high[_i].says);
    else
        expect_exactly("wc -c <$D/said | tr -d ' '", "0\n");
    expect_exactly("grep -c 'translate(' $D/x.svg", printed("%d\n", high[_i].panels));
    succeed(printed(LONG "%s -q -o $D/y.svg 2>$D/said && cmp $D/x.svg $D/y.svg", high[_i].options));
    expect_exactly("wc -c <$D/said | tr -d ' '", "0\n");
}
END_TEST

/* A grid of 144 heads is as wide as a column, and a page has room for it. */
START_TEST(a_column_has_room_for_144_heads)
{
    succeed("\"$A\" init -q -o $D/m --vocab-size 30 --n-ctx 32 --n-layer 12 --n-head 12 --d-model 24");
    succeed("\"$A\" run -m $D/m --ids $(seq -s, 24) --width 85mm -o $D/x.svg 2>$D/said");
    expect("cat $D/said", 0, "and a page has room for 257: it is drawn as --figure grid, without labels");
    int height = atoi(succeed("sed -n 's/.* width=\"85.000mm\" height=\"\\([0-9]*\\).*/\\1/p' $D/x.svg")->text);
    ck_assert_msg(height > 85 && height < 130, "%d mm", height);
    expect_exactly("grep -c 'translate(' $D/x.svg", "144\n");
}
END_TEST

static const struct { const char *command, *says; } unused[] = {
    {"run -m life -s Life --figure grid",
     "--figure: only --format png, svg or pdf uses it, not screen: give a path that ends in .png, as in -o figure.png"},
    {"run -m life -s Life --figure lines --format term", "--figure: only --format png, svg or pdf uses it, not term"},
    {"run -m life -s Life --query Life -o $D/x.png",
     "--query: a figure of kind heatmap does not use it: add --figure lines or --figure words"},
    {"run -m life -s Life --axes 0,1 -o $D/x.png",
     "--axes: a figure of kind heatmap does not use it: add --figure vectors"},
};

START_TEST(options_without_a_picture_are_refused)
{
    expect(printed("\"$A\" %s 2>&1", unused[_i].command), 2, unused[_i].says);
    expect_exactly("ls $D | wc -l | tr -d ' '", "0\n");
}
END_TEST

/* Scripts say for all formats how figures look: a note, and what is written is the same. */
static const struct { const char *command, *looks, *says; } passed[] = {
    {"run -m life -s Life --format json", "--hide-first",
     "--hide-first: only --format term, png, svg, pdf or html uses it, not json"},
    {"run -m life -s Life --format html", "--width 85mm", "--width: only --format screen, png, svg or pdf uses it, not html"},
    {"heads -m tiny --repeat 8", "--palette ink",
     "--palette: only --format term, png, svg, pdf or html uses it, not text"},
    {"generate -m tiny -s Lily -n 1", "--cell 3", "--cell: only --format "},
};

START_TEST(options_of_looks_are_noted)
{
    succeed(printed("\"$A\" %s >$D/plain 2>$D/none; \"$A\" %s %s >$D/looks 2>$D/said && cmp $D/plain $D/looks",
                    passed[_i].command, passed[_i].command, passed[_i].looks));
    expect("cat $D/said", 0, passed[_i].says);
    succeed(printed("! grep -e 'only --format' $D/none && ! \"$A\" %s %s -q 2>&1 >/dev/null | grep -e 'only --format'",
                    passed[_i].command, passed[_i].looks));
}
END_TEST

/* Widths that hold nothing, in every kind of figure. */
START_TEST(a_width_that_holds_nothing_is_refused)
{
    for (const char *const *kind = (const char *const[]){"heatmap", "grid", "lines", "words", "vectors", NULL};
         *kind; kind++)
        for (const char *const *format = (const char *const[]){"svg", "png", "pdf", NULL}; *format; format++) {
            expect(printed("\"$A\" run -m life -s 'Life is short' --figure %s --width 20mm --font-size 72 -o "
                           "$D/x.%s 2>&1", *kind, *format),
                   2, "choose ");
            expect_exactly("ls $D | wc -l | tr -d ' '", "0\n");
        }
}
END_TEST

/* Every picture leaves what no query can look at blank, whatever takes the weight from it: here after the softmax. */
START_TEST(what_is_masked_later_is_blank_too)
{
    succeed("\"$A\" variants -q -m life -s 'Life is short' --kinds causal-renorm --format term >$D/t && "
            "\"$A\" run -m life -s 'Life is short' --attention causal-renorm -o $D/x.svg");
    expect_exactly("grep -c '··' $D/t; grep -c 'hidden by the mask' $D/x.svg", "3\n1\n");
}
END_TEST

Suite *suite_arranging(void)
{
    Suite *s = suite_create("arranging");
    TCase *t = tcase_create("arranging");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, maps_of_one_shape_are_equal);
    tcase_add_loop_test(t, few_numbers_are_written, 0, sizeof written / sizeof *written);
    tcase_add_test(t, layers_grow_with_room);
    tcase_add_test(t, titles_are_broken_before_they_are_cut);
    tcase_add_loop_test(t, what_is_arranged_otherwise_is_said, 0, sizeof high / sizeof *high);
    tcase_add_test(t, a_column_has_room_for_144_heads);
    tcase_add_loop_test(t, options_without_a_picture_are_refused, 0, sizeof unused / sizeof *unused);
    tcase_add_loop_test(t, options_of_looks_are_noted, 0, sizeof passed / sizeof *passed);
    tcase_add_test(t, a_width_that_holds_nothing_is_refused);
    tcase_add_test(t, what_is_masked_later_is_blank_too);
    suite_add_tcase(s, t);
    return s;
}

/* run --live: what the page holds, and what is refused.  tests/browser/test_live.py tests what it does. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

/* Prints an expression of the page's own model, `x`; its bytes are `n`. */
#define HELD(expression) "$PYTHON -c 'import base64, json, re, struct, sys, zlib\n" \
    "page = open(sys.argv[1], encoding=\"utf-8\").read()\n" \
    "whole = zlib.decompress(base64.b64decode(re.search(r\"id=.packed.>([^<]*)<\", page)[1]))\n" \
    "size, = struct.unpack(\"<I\", whole[:4])\n" \
    "x, n = json.loads(whole[4:4 + size]), len(whole) - 4 - size\n" \
    "print(" expression ")' $D/live.html"
#define RUN "\"$A\" run --live -o $D/live.html "

START_TEST(holds_the_model)
{
    succeed(RUN "-m life -s 'Life is short'");
    expect_exactly(HELD("x[\"model\"][\"name\"], x[\"named\"], x[\"model\"][\"n\"][\"dh\"], x[\"attention\"], (4 + "
                        "size) % 8, n > 0"),
                   "life life 2 model 0 True\n");
}
END_TEST

START_TEST(holds_the_tokenizer)
{
    succeed(RUN "-m life -s 'Life is short'");
    expect_exactly(HELD("x[\"tokenizer\"][\"by\"], x[\"tokenizer\"][\"texts\"][0], x[\"before\"]"), "word Life []\n");
    succeed(RUN "-m tiny -s 'Lily lost'");
    expect_exactly(HELD("x[\"tokenizer\"][\"by\"], len(x[\"tokenizer\"][\"texts\"]), x[\"ends\"]"),
                   "bpe 8192 [8191]\n");
}
END_TEST

START_TEST(says_how_it_was_run)
{
    succeed(RUN "-m stacked --ids 1,2,3 --attention window:2 --scale 0.5 --dropout 0.25 --seed 7");
    expect_exactly(HELD("x[\"attention\"], x[\"scaling\"], x[\"scale\"], x[\"dropout\"], x[\"dropoutSeed\"]"),
                   "window:2 value 0.5 0.25 7\n");
}
END_TEST

/* Nothing of the model in a page that only shows. */
START_TEST(other_pages_hold_none)
{
    succeed("\"$A\" run -m life -s 'Life is short' -o $D/live.html");
    expect_exactly("grep -c 'id=\"packed\"\\|class Pass' $D/live.html || :", "0\n");
}
END_TEST

static const struct { const char *options, *why; } refused[] = {
    {"--cross 'eat dessert' -o $D/no.html", "--live with --cross"},
    {"--compute bf16 -o $D/no.html", "--live with --compute bf16"},
    {"--format json", "only --format html makes a page, which can compute, not json"},
    {"-o $D/no.png", "only --format html makes a page, which can compute, not png"},
    {"--dry-run", "only --format html makes a page, which can compute, not --dry-run"},
};

START_TEST(is_refused)
{
    expect(printed("\"$A\" run --live -m life -s 'Life is' %s 2>&1", refused[_i].options), 2, refused[_i].why);
    expect("ls $D | wc -l", 0, "0\n");
}
END_TEST

Suite *suite_live(void)
{
    Suite *s = suite_create("live");
    TCase *t = tcase_create("live");
    tcase_set_timeout(t, 60);           /* machines that do much else */
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, holds_the_model);
    tcase_add_test(t, holds_the_tokenizer);
    tcase_add_test(t, says_how_it_was_run);
    tcase_add_test(t, other_pages_hold_none);
    tcase_add_loop_test(t, is_refused, 0, (int)(sizeof refused / sizeof *refused));
    suite_add_tcase(s, t);
    return s;
}

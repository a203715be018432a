/* run --live: what the page holds, and what is refused.  tests/browser/test_live.py tests what it does. */
#include "suites.h"

#include "picture/page_engine.h"
#include "scratch.h"
#include "shell.h"

#include <string.h>

/* Prints an expression of what the page holds, `x`; its bytes are `b`. */
#define HELD(expression) "$PYTHON -c 'import base64, json, re, struct, sys, zlib\n" \
    "page = open(sys.argv[1], encoding=\"utf-8\").read()\n" \
    "whole = zlib.decompress(base64.b64decode(re.search(r\"id=.packed.>([^<]*)<\", page)[1]))\n" \
    "size, = struct.unpack(\"<I\", whole[:4])\n" \
    "x, b = json.loads(whole[4:4 + size]), whole[4 + size:]\n" \
    "print(" expression ")' $D/live.html"
#define RUN "\"$A\" run --live -o $D/live.html "

static bool computes(void)
{
    size_t n;
    return attn_engine_module(&n);
}

START_TEST(holds_the_files_of_the_model)
{
    if (!computes())
        return;
    succeed(RUN "-m life -s 'Life is short'");
    expect_exactly(HELD("x[\"model\"], x[\"named\"], x[\"text\"], x[\"attention\"], x[\"bits\"], (4 + size) % 8"),
                   "model/life life Life is short model default 0\n");
    expect_exactly(HELD("all(b[f[\"at\"]:f[\"at\"] + f[\"bytes\"]] == open(\"models/\" + f[\"name\"][6:], "
                        "\"rb\").read() for f in x[\"files\"]), "
                        "len(x[\"files\"])"), "True 3\n");
}
END_TEST

START_TEST(says_how_it_was_run)
{
    if (!computes())
        return;
    succeed(RUN "-m stacked --ids 1,2,3 --attention window:2 --scale 0.5 --dropout 0.25 --seed 7 --ablate L0H0");
    expect_exactly(HELD("x[\"text\"], x[\"ids\"], x[\"attention\"], x[\"scale\"], x[\"dropout\"], x[\"dropoutSeed\"], "
                        "x[\"edits\"]"),
                   "None 1,2,3 window:2 0.5 0.25 7 ['L0H0 = 0']\n");
}
END_TEST

/* A program without an engine says so, and the page shows. */
START_TEST(a_page_that_cannot_compute_shows)
{
    const char *note = "this build has no page engine: make engine\n";
    expect_exactly(RUN "-m life -s 'Life is short' 2>&1", computes() ? "" : note);
    expect_exactly(printed("grep -c 'id=\"packed\"' $D/live.html || :"), computes() ? "1\n" : "0\n");
    expect_exactly(RUN "-m life -s 'Life is short' -q 2>&1", "");
}
END_TEST

/* Nothing of the model in a page that only shows. */
START_TEST(other_pages_hold_none)
{
    succeed("\"$A\" run -m life -s 'Life is short' -o $D/live.html");
    expect_exactly("grep -c 'id=\"packed\"' $D/live.html || :", "0\n");
}
END_TEST

static const struct { const char *options, *why; } refusals[] = {
    {"--cross 'eat dessert' -o $D/no.html", "--live with --cross"},
    {"--compute bf16 -o $D/no.html", "--live with --compute bf16"},
    {"--format json", "only --format html makes a page, which can compute, not json"},
    {"-o $D/no.png", "only --format html makes a page, which can compute, not png"},
    {"--dry-run", "only --format html makes a page, which can compute, not --dry-run"},
};

START_TEST(is_refused)
{
    expect(printed("\"$A\" run --live -m life -s 'Life is' %s 2>&1", refusals[_i].options), 2, refusals[_i].why);
    expect("ls $D | wc -l", 0, "0\n");
}
END_TEST

Suite *suite_live_pack(void)
{
    Suite *s = suite_create("live_pack");
    TCase *t = tcase_create("live_pack");
    tcase_set_timeout(t, 60);           /* machines that do much else */
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, holds_the_files_of_the_model);
    tcase_add_test(t, says_how_it_was_run);
    tcase_add_test(t, a_page_that_cannot_compute_shows);
    tcase_add_test(t, other_pages_hold_none);
    tcase_add_loop_test(t, is_refused, 0, (int)(sizeof refusals / sizeof *refusals));
    suite_add_tcase(s, t);
    return s;
}

/* A page that computes: what it holds, and what none can.  tests/browser/test_live.py tests what it does. */
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
#define RUN "\"$A\" page -o $D/live.html "

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
    const char *note = "this build has no page engine: make engine\n", *size = "MB; open it in a browser\n";
    expect(RUN "-m life -s 'Life is short' 2>&1", 0, computes() ? size : note);
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

static const struct { const char *options, *why; } stills[] = {
    {"--cross 'eat dessert'", "the page only shows what was computed: it shows two texts (--cross)"},
    {"--compute bf16", "the page only shows what was computed: it computes in float32 (--compute)"},
};

START_TEST(is_still)
{
    expect(printed("\"$A\" page -m life -s 'Life is' -o $D/still.html %s 2>&1", stills[_i].options), 0, stills[_i].why);
    expect_exactly("grep -c 'id=\"packed\"' $D/still.html || :", "0\n");
}
END_TEST

START_TEST(nothing_else_is_replaced)
{
    succeed("cd $D; \"$A\" page -q -m life Life && \"$A\" page -q -m life -s 'Life is' --still && echo mine >x.html");
    expect("cd $D; \"$A\" page -m life Life -o x.html 2>&1", 2, "x.html: is there, and no page of attn-cli");
    expect_exactly("cat $D/x.html; ls $D", "mine\npage.html\nx.html\n");
    expect_same("\"$A\" page -q -m life -s 'Life is' --still -o - | grep -v attn-cli",
                "\"$A\" run -q -m life -s 'Life is' --format html | grep -v attn-cli");
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
    tcase_add_loop_test(t, is_still, 0, (int)(sizeof stills / sizeof *stills));
    tcase_add_test(t, nothing_else_is_replaced);
    suite_add_tcase(s, t);
    return s;
}

/* Figures of vectors: coordinates, principal axes, cosines. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFE "\"$A\" run -m life -s 'Life is short, eat dessert first' --figure vectors "
#define TEXT "$PYTHON -B tests/support/pdf_text.py $D/x.pdf"

/* The table is made of the numbers that --format json has. */
START_TEST(the_table_is_of_the_run)
{
    succeed(LIFE "--format term >$D/t && \"$A\" run -m life -s 'Life is short, eat dessert first' --show embed "
            "--format json >$D/x.json");
    expect_exactly("$PYTHON - $D/x.json $D/t <<'END'\n"
        "import json, math, sys\n"
        "x = json.load(open(sys.argv[1]))['activations'][0]['data']\n"
        "lines = [l.split() for l in open(sys.argv[2])]\n"
        "dot = lambda a, b: sum(p * q for p, q in zip(a, b))\n"
        "for i, row in enumerate(x):\n"
        "    want = row + [math.sqrt(dot(row, row))]\n"
        /* three digits */
        "    assert all(abs(float(s) - w) <= 0.0005001 for s, w in zip(lines[2 + i][1:], want)), lines[2 + i]\n"
        "    want = [dot(row, y) / math.sqrt(dot(row, row) * dot(y, y)) for y in x]\n"
        /* two */
        "    assert all(abs(float(s) - w) <= 0.0050001 for s, w in zip(lines[10 + i][1:], want)), lines[10 + i]\n"
        "print('equal', len(x))\nEND", "equal 6\n");
}
END_TEST

/* Vectors of a plane in five dimensions: its two principal axes keep every length and angle. */
START_TEST(principal_axes_keep_a_plane)
{
    succeed("$PYTHON - >$D/m.csv <<'END'\n"
        "import math\n"
        "u, v = (1, 2, 0, -1, 1), (2, -1, 3, 1, 1)\n"
        "print('token,0,1,2,3,4')\n"
        "for i in range(7):\n"
        "    a, b = 3 * math.cos(i), (i + 1) * math.sin(2 * i)\n"
        "    print(f'w{i},' + ','.join(repr(a * p + b * q) for p, q in zip(u, v)))\nEND");
    succeed("\"$A\" plot -q $D/m.csv --figure vectors --format term >$D/t");
    expect("cat $D/t", 0, "principal axis 1 (");
    expect_exactly("$PYTHON - $D/t <<'END'\n"
        "import math, sys\n"
        "lines = [l.split() for l in open(sys.argv[1])]\n"
        "at = [[float(s) for s in l[1:]] for l in lines[2:9]]\n"
        "for i, (x, y, length) in enumerate(at):\n"
        /* of three numbers, each with three digits */
        "    assert abs(math.hypot(x, y) - length) < 0.002, at[i]\n"
        "    for j, (p, q, other) in enumerate(at):\n"
        /* two digits, and those */
        "        assert abs((x * p + y * q) / (length * other) - float(lines[11 + i][1 + j])) < 0.007\n"
        "shares = [int(s[1:]) for l in lines[1:2] for s in l if s[0] == '(']\n"
        "print(sum(shares))\nEND", "100\n");
}
END_TEST

/* The same words in every format, and the same bytes again. */
START_TEST(every_format_has_the_same_words)
{
    succeed("for f in svg pdf png; do " LIFE "-o $D/x.$f && " LIFE "-o $D/y.$f && cmp $D/x.$f $D/y.$f || exit; done");
    static const char words[] = "grep '^\\(Life\\|is\\|short\\|axis [0-2]\\|-\\?[01].[0-9][0-9]\\)$' | sort";
    const char *svg = printed("sed -n 's/^<text[^>]*>\\(.*\\)<.text>$/\\1/p' $D/x.svg | %s", words);
    expect_same(svg, printed(TEXT " | %s", words));
    expect_exactly("grep -c '>-\\?[01][.][0-9][0-9]<' $D/x.svg", "36\n");
    /* arrow, row, column */
    expect_exactly("grep -o '>[a-zA-Z]*</text>' $D/x.svg | sort | uniq -c | awk '{print $1}' | sort -u", "3\n");
}
END_TEST

/* An arrow for each vector: from the origin, as long as it is, all on one scale. */
START_TEST(arrows_have_one_scale)
{
    succeed("printf 'token,0,1\\na,3,0\\nb,0,-1\\nc,-2,2\\n' >$D/m.csv && "
            "\"$A\" plot -q $D/m.csv --figure vectors -o $D/x.svg");
    expect_exactly("grep -o 'd=\"M[^\"]*\" stroke=\"#1a1a1a\"' $D/x.svg | sed 's/[^0-9.]/ /g' | awk '"
                   "{dx = $3 - $1; dy = $2 - $4; l = sqrt(dx * dx + dy * dy); if (l > 7) {if (!s) s = l / 3; "
                   "printf \"%.2f %.2f;\", dx / s, dy / s}}'",
                   "3.00 0.00;0.00 -1.00;-2.00 2.00;");
}
END_TEST

static const struct { const char *axes, *says; } wrong[] = {
    {"0,3", "--axes: found '0,3', expected two or three different numbers below 3, as in 0,1, or principal"},
    {"1", "--axes: found '1'"}, {"1,1", "--axes: found '1,1'"}, {"0,1,2,0", "--axes: found '0,1,2,0'"},
    {"0,", "--axes: found '0,'"},
    {"", "--axes: found ''"}, {"x", "--axes: found 'x'"}, {"99999999999999999999999,0", "--axes: found '9999"},
};

START_TEST(axes_that_are_none_are_refused)
{
    expect(printed(LIFE "--axes '%s' -o $D/x.pdf 2>&1", wrong[_i].axes), 2, wrong[_i].says);
    expect(printed(LIFE "--axes '%s' --format term 2>&1", wrong[_i].axes), 2, wrong[_i].says);
}
END_TEST

START_TEST(axes_are_chosen)
{
    succeed(LIFE "--axes 2,0 -o $D/x.svg");
    expect_exactly("grep -o '>[^<]* axis [0-9]<' $D/x.svg | tr -d '\\n'", ">→ axis 2<>↑ axis 0<");
    expect(LIFE "--axes principal --show q --format term", 0, "principal axis 2 (");
    expect(LIFE "--show context --format term", 0, "context vectors");
}
END_TEST

/* What has no length has no angle; what is no number is not drawn. */
START_TEST(vectors_without_a_length_have_no_cosines)
{
    succeed("printf 'token,0,1\\na,3,0\\nb,0,0\\nc,nan,1\\nd,inf,1\\n' >$D/m.csv");
    expect_exactly("\"$A\" plot -q $D/m.csv --figure vectors --format term | tail -4",
                   "a   1.00    nan    nan    nan\nb    nan    nan    nan    nan\nc    nan    nan    nan    nan\n"
                   "d    nan    nan    nan    nan\n");
    succeed("for f in svg png pdf; do \"$A\" plot -q $D/m.csv --figure vectors --axes principal -o $D/x.$f || exit; "
            "done; ! grep -q '=\"[^\"]*nan' $D/x.svg");
    succeed("$PYTHON -c 'print(\"\\n\".join(\"1,2,3\" for i in range(301)))' >$D/n.csv");
    expect("\"$A\" plot -q $D/n.csv --figure vectors -o $D/y.svg 2>&1", 2,
           "a figure of vectors shows at least 1 and at most 300 of them, and here are 301");
    expect("\"$A\" plot -q $D/n.csv --figure vectors --format term 2>&1", 2, "at most 300");
}
END_TEST

Suite *suite_figure_vectors(void)
{
    Suite *s = suite_create("figure_vectors");
    TCase *t = tcase_create("vectors");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, the_table_is_of_the_run);
    tcase_add_test(t, principal_axes_keep_a_plane);
    tcase_add_test(t, every_format_has_the_same_words);
    tcase_add_test(t, arrows_have_one_scale);
    tcase_add_loop_test(t, axes_that_are_none_are_refused, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, axes_are_chosen);
    tcase_add_test(t, vectors_without_a_length_have_no_cosines);
    suite_add_tcase(s, t);
    return s;
}

/* The tokens in an archive: as NumPy reads them, as NumPy writes them, and what plot and diff make of them;
 * and its heads. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *input, *python; } read_cases[] = {
    {"-m tiny -s 'Lily lost 日本 é'",
     "assert ''.join(t).encode('utf8').replace(b'\\xef\\xbf\\xbd', b'') == 'Lily lost  '.encode(), list(t)"},
    {"-m life -s 'Life is short, eat dessert first'",
     "assert list(t) == ['Life', 'is', 'short', 'eat', 'dessert', 'first'], list(t)"},
    {"-m tiny --ids 5,1,2", "assert list(t) == ['5', '1', '2'], list(t)"},
    {"-m tiny --ids 300,301 --labels auto", "assert len(t) == 2 and all(not x.isdigit() for x in t), list(t)"},
    {"-m life -s 'Life is short' --cross 'eat dessert'",
     "assert list(t) == ['Life', 'is', 'short'] and list(z['context_tokens']) == ['eat', 'dessert'], "
     "list(z['context_tokens'])"},
};

START_TEST(numpy_reads_them)
{
    const char *python = python_with("numpy");
    if (!python)
        return;
    succeed(printed("\"$A\" run %s --show pattern -o $D/x.npz", read_cases[_i].input));
    succeed(printed("%s -c \"\nimport numpy\nz = numpy.load('$D/x.npz')\nt = z['tokens']\n"
                    "assert t.dtype.kind == 'U' and t.ndim == 1, t\n"
                    "assert len(t) == z['blocks.0.attn.pattern'].shape[1]\n"
                    "assert z.files[0] == 'blocks.0.attn.pattern'\n%s\"", python,
                    read_cases[_i].python));
}
END_TEST

START_TEST(what_numpy_wrote_is_read)
{
    const char *python = python_with("numpy");
    if (!python)
        return;
    succeed("\"$A\" run -m life -s 'Life is short' --show pattern,scores,context -o $D/ours.npz; "
            "\"$A\" plot $D/ours.npz >$D/want; grep -q short $D/want");
    succeed(printed("%s -c \"\nimport numpy\nz = dict(numpy.load('$D/ours.npz'))\nnumpy.savez('$D/theirs.npz', **z)\n"
                    "z['tokens'] = z['tokens'].astype('>U7')\nnumpy.savez('$D/big.npz', **z)\n"
                    "z['tokens'] = numpy.array(['Life', 'was', 'short'])\nnumpy.savez('$D/other.npz', **z)\n"
                    "z['tokens'] = numpy.zeros((3, 3), dtype='f4')\nnumpy.savez('$D/numbers.npz', **z)\n"
                    "z['tokens'] = numpy.array([['a']])\nnumpy.savez('$D/square.npz', **z)\n"
                    "z['tokens'] = numpy.array([], dtype='U3')\nnumpy.savez('$D/none.npz', **z)\n"
                    "z['tokens'] = numpy.array([5, 6])\nnumpy.savez('$D/whole.npz', **z)\n\"", python));
    expect_same("\"$A\" plot $D/theirs.npz", "cat $D/want");
    expect_same("\"$A\" plot $D/big.npz", "cat $D/want");
    expect("\"$A\" plot $D/other.npz", 0, "was");
    expect("\"$A\" plot $D/numbers.npz --show tokens", 0, "tokens");
    expect("\"$A\" plot $D/square.npz 2>&1", 1, "square.npz: tokens.npy: texts with 2 axes");
    expect("\"$A\" plot $D/none.npz", 0, "attention pattern");
    expect("\"$A\" plot $D/whole.npz 2>&1", 1, "whole.npz: tokens.npy: holds numbers of type '<i8'");
    expect("\"$A\" diff $D/ours.npz $D/theirs.npz", 0, "nothing differs");
    expect("\"$A\" diff $D/ours.npz $D/none.npz", 0, "nothing differs");
}
END_TEST

/* Without NumPy: the commands among themselves.  Tokens are no tensor, and are named where they are the cause. */
START_TEST(plot_and_diff_know_them)
{
    succeed("for f in npz json; do \"$A\" run -m life -s 'Life is short' --show pattern,context -o $D/a.$f; done");
    succeed("\"$A\" run -m life -s 'Life is eat' --show pattern,context -o $D/b.npz; "
            "\"$A\" run -m life -s 'dessert Life is' --show pattern,context -o $D/c.npz");
    expect("\"$A\" plot $D/a.npz", 0, "short");
    expect("\"$A\" diff $D/a.npz $D/a.json", 0, "nothing differs");
    expect("\"$A\" diff $D/a.npz $D/b.npz", 1, "token 2 is 'short' in A and 'eat' in B");
    expect("\"$A\" diff $D/a.json $D/b.npz", 1, "token 2 is 'short' in A and 'eat' in B");
    expect("\"$A\" diff $D/a.npz $D/b.npz --format json", 1, "\"blocks.0.attn.pattern\"");
    expect_exactly("\"$A\" diff $D/a.npz $D/c.npz --all | grep -c '^only\\|tokens.npy' || true", "0\n");
    expect("\"$A\" run -m life -s 'Life is short' --patch L0.attn.context --patch-from $D/a.npz --show tokens",
           0, "short");
}
END_TEST

START_TEST(every_text_of_a_batch_has_its_own)
{
    succeed("printf 'Life is short\\neat dessert\\n' >$D/in; \"$A\" batch -m life -f $D/in --format npz --show pattern "
            "-o $D/out");
    expect("\"$A\" plot $D/out/000000/*.npz", 0, "short");
    expect("\"$A\" plot $D/out/000001/*.npz", 0, "dessert");
    expect_same("\"$A\" plot $D/out/000001", "\"$A\" plot $D/out/000001/*.npz");
    expect("\"$A\" diff $D/out/000000 $D/out/000001", 1, "token 0 is 'Life' in A and 'eat' in B");
    succeed("cp $D/out/000000/activations.npz $D/out/000000/b.npz");
    expect("\"$A\" plot $D/out/000000 2>&1", 1, "has 2 archives: name one of them, as ");
}
END_TEST

/* Chosen heads keep their numbers, in the form of the other formats. */
START_TEST(heads_keep_their_numbers)
{
    static const char *const chosen[] = {"1,3", "3", "0,1", "0,2,3", "1,2,3"};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        succeed(printed("for f in npz json; do \"$A\" run -m life-4-heads --head %s -s 'Life is short' --show "
                        "pattern,context,v -o $D/x.$f; done", chosen[i]));
        expect_same("\"$A\" plot $D/x.npz --show pattern", "\"$A\" plot $D/x.json --show pattern");
        expect("\"$A\" diff $D/x.npz $D/x.json", 0, "nothing differs");
    }
    expect("\"$A\" plot $D/x.npz --show pattern", 0, "L0 H3");
}
END_TEST

static const char *const odd_heads[] = {"heads ", "heads 1", "heads 1,3,2", "heads 1,", "heads ,1", "heads 1,x",
                                        "heads 1;3", "heads1,3",
                                        "1,3", "heads 1,99999999999999999999999", "heads -1,3", "heads 1,3 ",
                                        "heads 1;3 mask causal", "mask heads 1,3", "mask", "mask strange:9"};

START_TEST(what_is_no_list_of_heads_is_ignored)
{
    succeed("\"$A\" run -m life-4-heads --head 0,1 -s 'Life is short' --show pattern -o $D/first.npz");
    succeed("\"$A\" run -m life-4-heads --head 1,3 -s 'Life is short' --show pattern -o $D/ours.npz; "
            "\"$A\" plot $D/ours.npz >$D/want");
    for (size_t i = 0; i < sizeof odd_heads / sizeof *odd_heads; i++) {
        succeed(printed("$PYTHON -c \"\nimport zipfile\na = zipfile.ZipFile('$D/ours.npz')\n"
                        "i = a.getinfo('blocks.0.attn.pattern.npy')\n"
                        "assert a.testzip() is None and i.comment == b'heads 1,3 mask full', i.comment\n"
                        "for name, comment in ('same', i.comment), ('odd', b'%s'):\n"
                        "    with zipfile.ZipFile('$D/%%s.npz' %% name, 'w') as z:\n"
                        "        i.comment = comment\n        z.writestr(i, a.read(i))\n"
                        "        z.writestr('tokens.npy', a.read('tokens.npy'))\n\"", odd_heads[i]));
        expect_same("\"$A\" plot $D/same.npz", "cat $D/want");
        expect("\"$A\" plot $D/odd.npz", 0, "L0 H0   L0 H1");
    }
}
END_TEST

/* A text in the file as Python bytes; the header says three texts of two code points. */
static const struct { const char *type, *shape, *bytes, *says; } hostile[] = {
    {"<U2", "(3,)", "b'a' + bytes(23)", NULL},
    {"<U2", "(3,)", "b'\\\\x00\\\\xd8' + bytes(22)", "text 0: 0xd800 is no character"},
    {"<U2", "(3,)", "bytes(16) + b'\\\\x00\\\\x00\\\\x11\\\\x00' + bytes(4)", "text 2: 0x110000 is no character"},
    {"<U2", "(3,)", "bytes(23)", "23 bytes of numbers follow"},
    {"<U0", "(3,)", "b''", "type '<U0'"},
    {"<U0", "(99999999999,)", "b''", "type '<U0'"},
    {"<U4294967296", "(3,)", "bytes(24)", "type '<U4294967296'"},
    {"<U268435456", "(68719476736,)", "bytes(24)", "24 bytes of numbers follow"},
    {"<U2", "(9223372036854775807,)", "bytes(24)", "24 bytes of numbers follow"},
    {"<S8", "(3,)", "bytes(24)", "type '<S8'"},
};

START_TEST(hostile_texts_are_refused)
{
    succeed(printed("$PYTHON -c \"\nimport zipfile\n"
                    "h = b'{\\'descr\\': \\'%s\\', \\'fortran_order\\': False, \\'shape\\': %s, }'\n"
                    "h = h.ljust(117) + b'\\n'\nn = b'{\\'descr\\': \\'<f4\\', \\'fortran_order\\': False, "
                    "\\'shape\\': (1, 1), }'.ljust(117) + b'\\n'\n"
                    "m = b'\\x93NUMPY\\x01\\x00\\x76\\x00'\n"
                    "with zipfile.ZipFile('$D/x.npz', 'w') as z:\n z.writestr('x.npy', m + n + bytes(4))\n"
                    " z.writestr('tokens.npy', m + h + %s)\"",
                    hostile[_i].type, hostile[_i].shape, hostile[_i].bytes));
    expect("\"$A\" plot $D/x.npz 2>&1", hostile[_i].says ? 1 : 0, hostile[_i].says ? hostile[_i].says : "x");
}
END_TEST

Suite *suite_npz_tokens(void)
{
    Suite *s = suite_create("npz_tokens");
    TCase *t = tcase_create("npz_tokens");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, numpy_reads_them, 0, sizeof read_cases / sizeof *read_cases);
    tcase_add_test(t, what_numpy_wrote_is_read);
    tcase_add_test(t, plot_and_diff_know_them);
    tcase_add_test(t, every_text_of_a_batch_has_its_own);
    tcase_add_test(t, heads_keep_their_numbers);
    tcase_add_test(t, what_is_no_list_of_heads_is_ignored);
    tcase_add_loop_test(t, hostile_texts_are_refused, 0, sizeof hostile / sizeof *hostile);
    suite_add_tcase(s, t);
    return s;
}

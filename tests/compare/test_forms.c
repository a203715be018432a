/* Dumps that TransformerLens makes of models which it prepares as it does by default, of ports with other masks, and of
 * both with a mistake: what changes no prediction is told from what does. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

#define IDS "1,5,9,3,17,22,40"
#define OF "tests/golden/checkpoints/"

/* gpt2 and gpt_neo: positions are added; gpt_neox: parallel, rotary; llama: RMSNorm, grouped. */
static const char *const models[] = {"gpt2-b", "neo-h", "neox-i", "llama-f"};
enum { MODELS = sizeof models / sizeof *models };

static void make(const char *model, const char *mistake)
{
    succeed(printed("$PYTHON -B tests/support/lens.py " OF "%s " IDS " $D/lens.npz '%s' && "
                    "$A run -q -m " OF "%s --ids " IDS " --show '*' -o $D/ours.npz", model, mistake, model));
}

START_TEST(prepared_models_agree)
{
    const char *model = models[_i];
    bool layers = _i < 3;
    make(model, "none");
    expect("$A diff $D/lens.npz $D/ours.npz", 0, "nothing differs: ");
    expect("$A diff $D/ours.npz $D/lens.npz", 0, "nothing differs: ");
    expect("$A diff $D/lens.npz $D/ours.npz", 0, "  folded ");
    expect("$A diff $D/lens.npz $D/ours.npz", 0, "       1  apart by a number for each row, which softmax does not see\n");
    expect_exactly("$A diff $D/lens.npz $D/ours.npz --format json | jq '[.tensors[].form] | (index(\"centred\") and index(\"moved\"))'",
                   layers ? "true\n" : "false\n");
    expect(printed("$A diff $D/lens.npz $D/ours.npz -m " OF "%s --atol 1e-4", model), 0, "nothing differs: ");
    expect("$A diff $D/lens.npz $D/ours.npz --exact", 1, "differs first");
}
END_TEST

/* What reads the stream and the norms agrees there, so that the mistake is all that differs. */
START_TEST(mistakes_of_prepared_models_are_found)
{
    static const struct { const char *model, *mistake, *says; } cases[] = {
        {"gpt2-b", "scale", "blocks.2.attn.scores\nscale\n"}, {"llama-f", "scale", "blocks.1.attn.scores\nscale\n"},
        {"gpt2-b", "bias", "blocks.2.attn.out\nbias\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(cases[i].model, cases[i].mistake);
        expect_exactly("ends 1 $A diff $D/lens.npz $D/ours.npz --format json | jq -r '.first, .cause.kind'",
                       cases[i].says);
    }
}
END_TEST

/* A number that stands for -inf; one that is too small lets keys through. */
START_TEST(masks_are_numbers_too)
{
    static const char *const same[] = {"-1e4", "-65504", "-3.4028234663852886e38"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        make("gpt2-b", printed("mask=%s", same[i]));
        expect("$A diff $D/lens.npz $D/ours.npz", 0, "  mask     A           3  numbers that hide keys, so low");
        expect("$A diff $D/ours.npz $D/lens.npz", 0, "  mask     B           3  numbers that hide keys, so low");
    }
    make("gpt2-b", "mask=-20");
    expect("$A diff $D/lens.npz $D/ours.npz", 1, "blocks.0.attn.scores differs first");
}
END_TEST

/* A value bias that is left out, and not moved, shows in the output; a norm without its weight in what reads it. */
START_TEST(what_is_left_out_is_no_form)
{
    succeed("$PYTHON -B - $D <<'E'\n"
            "import json, struct, sys\n"
            "sys.path.insert(0, 'tests/support')\n"
            "import lens\n"
            "from pathlib import Path\n"
            "model = Path('" OF "gpt2-b')\n"
            "for part in ('ln_1.weight', 'v'):\n"
            "    out = Path(sys.argv[1]) / part[0]\n"
            "    out.mkdir()\n"
            "    for f in model.iterdir():\n"
            "        if f.is_file(): (out / f.name).write_bytes(f.read_bytes())\n"
            "    data = bytearray((model / 'model.safetensors').read_bytes())\n"
            "    size, = struct.unpack('<Q', data[:8])\n"
            "    header = json.loads(data[8:8 + size])\n"
            "    for name, t in header.items():\n"
            "        if name.endswith('ln_1.weight' if part[0] == 'l' else 'attn.c_attn.bias'):\n"
            "            start, end = (8 + size + at for at in t['data_offsets'])\n"
            "            if part[0] == 'v': start += (end - start) * 2 // 3\n"
            "            data[start:end] = struct.pack('<f', part[0] == 'l') * ((end - start) // 4)\n"
            "    (out / 'model.safetensors').write_bytes(data)\n"
            "E");
    succeed("for m in $D/l $D/v " OF "gpt2-b; do $A run -q -m $m --ids " IDS
            " --show '*' -o $D/$(basename $m).npz; done");
    expect_exactly("ends 1 $A diff $D/l.npz $D/gpt2-b.npz --format json | jq -r .first", "blocks.0.norm1\n");
    expect_exactly("ends 1 $A diff $D/v.npz $D/gpt2-b.npz --format json | jq -r '.first, .cause.kind'",
                   "blocks.0.attn.v\nbias\n");
}
END_TEST

/* The first activation that differs, all its heads; or what is chosen. */
START_TEST(differences_are_drawn)
{
    make("gpt2-b", "scale");
    expect("$A diff $D/lens.npz $D/ours.npz -o $D/x.svg", 1, "");
    expect("cat $D/x.svg", 0, "B - A: ");
    expect("cat $D/x.svg", 0, "attention scores");
    expect_exactly("grep -c 'layer 2, head 3' $D/x.svg", "1\n");
    expect("$A diff $D/lens.npz $D/ours.npz --show pattern --layer 2 --head 1 -o $D/y.svg", 1, "");
    expect_exactly("grep -o 'layer [0-9], head [0-9]' $D/y.svg | sort -u", "layer 2, head 1\n");
    expect_exactly("for f in png pdf html; do ends 1 $A diff $D/lens.npz $D/ours.npz -o $D/x.$f; head -c 4 $D/x.$f | "
                   "tail -c 3; done",
                   "PNGPDF!DO");
    expect("$A diff $D/lens.npz $D/ours.npz -o $D/x.json 2>&1", 2, "-o is for a picture of B - A");
    expect("$A diff $D/lens.npz $D/ours.npz --layer 2 2>&1", 2, "or choose what -o x.png draws");
    expect("$A diff -m life --with life -o $D/x.png 2>&1", 2, "give a text with -s TEXT");
    expect("$A diff -m life --with life -s Life -o $D/x.png", 0, "");
}
END_TEST

/* Words stay whole where a terminal would cut them. */
START_TEST(lines_are_broken_between_words)
{
    if (no_terminal())
        return;
    make("gpt2-b", "scale");
    const struct said *s = sh_on_terminal("ATTN_PAGER= $A diff $D/lens.npz $D/ours.npz", 60, 80);
    size_t at = 0, longest = 0;
    for (const char *c = s->text; *c; c++) {
        at = *c == '\n' || *c == '\r' ? 0 : at + 1;
        longest = at > longest ? at : longest;
    }
    ck_assert_uint_le(longest, 80);
    ck_assert_ptr_nonnull(strstr(s->text, "likely cause: A's scores are not divided by sqrt(d_head)"));
}
END_TEST

Suite *suite_forms(void)
{
    Suite *s = suite_create("forms");
    TCase *c = tcase_create("forms");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, prepared_models_agree, 0, MODELS);
    tcase_add_test(c, mistakes_of_prepared_models_are_found);
    tcase_add_test(c, masks_are_numbers_too);
    tcase_add_test(c, what_is_left_out_is_no_form);
    tcase_add_test(c, differences_are_drawn);
    tcase_add_test(c, lines_are_broken_between_words);
    suite_add_tcase(s, c);
    return s;
}

/* info --tensor: the numbers of a file, read by plain Python, in every format. */
#include "suites.h"

#include "attn_tools.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a tensor of a .safetensors file in F32 as the CSV that is expected. */
#define BY_PYTHON(file, name, rows) "python3 -c 'import json, struct, sys\n" \
    "b = open(sys.argv[1], \"rb\").read(); n = struct.unpack(\"<Q\", b[:8])[0]; " \
    "t = json.loads(b[8:8 + n])[sys.argv[2]]\n" \
    "assert t[\"dtype\"] == \"F32\"; rows, cols = t[\"shape\"]; " \
    "a = b[8 + n + t[\"data_offsets\"][0]:8 + n + t[\"data_offsets\"][1]]\n" \
    "x = struct.unpack(\"<%df\" % (rows * cols), a); labels = sys.argv[3].split()\n" \
    "print(\",\".join([\"token\" if labels else \"row\"] + [str(j) for j in range(cols)]))\n" \
    "for i in range(rows): print(\",\".join([labels[i] if labels else str(i)] + [\"%.9g\" % v for v in x[i * cols:(i " \
    "+ 1) * cols]]))' " \
    file " " name " '" rows "'"

/* What blocks of 34 bytes store, read from the file: a scale in float16, then 32 integers. */
START_TEST(what_blocks_store)
{
    static const char read[] =
        "import csv, struct, subprocess, sys\n"
        "def rows(part):\n"
        "    of = subprocess.run([sys.argv[1], 'info', '-m', sys.argv[2], '--tensor', 'blk.0.attn_v.weight', "
        "'--format', 'csv'] + part,\n"
        "                        check=True, capture_output=True, text=True).stdout\n"
        "    return [[float(x) for x in r[1:]] for r in list(csv.reader(of.splitlines()))[1:]]\n"
        "q, s, x = rows(['--stored', 'integers']), rows(['--stored', 'scales']), rows([])\n"
        "file = open(sys.argv[2], 'rb').read()\n"
        "block = struct.pack('<e', s[1][0]) + struct.pack('<32b', *[int(v) for v in q[1][:32]])\n"
        "assert file.count(block) == 1 and len(s[0]) * 32 == len(q[0])\n"
        "f = lambda v: struct.pack('<f', v)\n"
        "assert all(f(v) == f(k[i // 32] * n[i]) for k, n, r in zip(s, q, x) for i, v in enumerate(r))\n";
    scratch_put(scratch_path("read.py"), read, sizeof read - 1);
    succeed("$PYTHON -B $D/read.py \"$A\" tests/golden/gguf/llama-spm-q8_0/model.gguf");
#define Q8 "\"$A\" info -m tests/golden/gguf/llama-spm-q8_0/model.gguf --tensor "
    expect(Q8 "blk.0.attn_v.weight --stored scales", 0, "blk.0.attn_v.weight, scales of Q8_0 [");
#undef Q8
}
END_TEST

START_TEST(numbers_are_those_of_the_file)
{
    expect_same("\"$A\" info -m models/life --tensor blocks.0.attn.q.weight --format csv",
                BY_PYTHON("models/life/model.safetensors", "blocks.0.attn.q.weight", ""));
    expect_same("\"$A\" info -m models/life --tensor embed.weight --format csv",
                BY_PYTHON("models/life/model.safetensors", "embed.weight", "Life dessert eat first is short"));
    expect_same("\"$A\" info -m models/stacked --tensor blocks.2.mlp.in.weight --format csv",
                BY_PYTHON("models/stacked/model.safetensors", "blocks.2.mlp.in.weight", ""));
}
END_TEST

/* As article 000 prints W_query: torch.rand(3, 2) of seed 123. */
START_TEST(text_is_the_matrix_with_its_shape)
{
    expect_exactly("\"$A\" info -m life --tensor blocks.0.attn.q.weight",
                   "blocks.0.attn.q.weight, F32 [3, 2]\n        0       1\n0  0.2961  0.5166\n1  0.2517  0.6886\n"
                   "2  0.0740  0.8665\n");
    expect("\"$A\" info -m life --tensor embed.weight --precision 2", 0, "\nfirst    -1.19   0.70  -1.41\n");
    expect("\"$A\" info -m tests/golden/checkpoints/gpt2-a --tensor h.0.ln_1.bias", 0, "h.0.ln_1.bias, F32 [16]\n");
}
END_TEST

/* Every format has the same numbers; diff reads three of them. */
START_TEST(formats_agree)
{
#define OF "\"$A\" info -m tiny --tensor blocks.3.attn.k.weight "
    expect(OF "-o $D/k.npy && " OF "-o $D/k.csv && " OF
           "--format tidy -o $D/t.csv && \"$A\" diff --exact $D/k.npy $D/k.csv", 0,
           "nothing differs");
    expect("sed 1d $D/k.csv | cut -d, -f 2- | tr ',' '\\n' > $D/a && sed 1d $D/t.csv | cut -d, -f 8 > $D/b && "
           "cmp $D/a $D/b && head -1 $D/t.csv", 0, "name,layer,head,row,col,row_token,col_token,value\n");
    expect_same("jq -r '.data[][]' $D/k.json 2>/dev/null || " OF "--format json | jq -r '.data[][] | tostring' | wc -l",
                "sed 1d $D/t.csv | wc -l");
    expect(OF "--format json | jq -c '[.name, .shape, .nonfinite]'", 0, "[\"blocks.3.attn.k.weight\",[128,128],0]\n");
    expect("for f in png svg pdf html; do " OF "-o $D/k.$f || exit 1; done; head -c 4 $D/k.png | tail -c 3; grep -c "
           "'blocks.3.attn.k.weight' $D/k.svg", 0, "PNG1\n");
    expect("\"$A\" info -m life --tensor embed.weight --format term", 0, "dessert  ");
}
END_TEST

/* F16, BF16 and blocks are what convert makes of them. */
START_TEST(other_types_are_decoded)
{
    for (size_t i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "\"$A\" convert -q -m models/stacked --type %s -o $D/%s && \"$A\" convert -q -m $D/%s --type f32 -o "
                 "$D/w%s && for m in $D/%s $D/w%s; do \"$A\" info -m $m --tensor blocks.1.attn.o.weight --format csv | "
                 "md5sum; done | "
                 "uniq | wc -l", i ? "bf16" : "f16", i ? "b" : "h", i ? "b" : "h", i ? "b" : "h", i ? "b" : "h",
                 i ? "b" : "h");
        expect_exactly(line, "1\n");
    }
    expect("G=tests/golden/gguf/llama-spm-q8_0/model.gguf; \"$A\" convert -q -m $G --type f32 -o $D/g && "
           "\"$A\" info -m $G --tensor blk.0.attn_v.weight --format csv > $D/a && "
           "\"$A\" info -m $D/g --tensor model.layers.0.self_attn.v_proj.weight --format csv | "
           "cmp - $D/a && \"$A\" info -m $G --tensor blk.0.attn_v.weight | head -1", 0, "blk.0.attn_v.weight, Q8_0 [");
}
END_TEST

/* Of more numbers than fit: the range, and a corner. */
START_TEST(large_ones_are_summarised)
{
    struct attn_model *m = made_open("tiny");
    struct attn_err err = {0};
    size_t i, len;
    const char *path = scratch_path("text");
    const struct attn_tensor_opts o = {.path = path, .precision = 3, .limit = 4000};
    ck_assert_msg(!attn_tensor_find(&i, m, "blocks.0.attn.q.weight", &err) && !attn_tensor_write(m, i, &o, &err),
                  "%s", err.msg);
    char *text = golden_text(path, &len);
    const char *said = succeed("\"$A\" info -m tiny --tensor blocks.0.attn.q.weight --format csv | sed 1d | "
                               "cut -d, -f 2- | tr , '\\n' | sort -g | "
                               "sed -n '1p;$p' | xargs printf '[128, 128]: min %.3f, max %.3f, mean'")->text;
    ck_assert_msg(strstr(text, said) && strstr(text, "This is a summary."), "%s\nhas not: %s", text, said);
    ck_assert_uint_lt(len, 800);
    free(text);
    attn_model_close(m);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
    expect("\"$A\" info -m life -o $D/x.csv 2>&1", 2, "name it with --tensor");
    expect("\"$A\" info -m life --tensor embed.weight -o $D/x.tsv 2>&1", 2, "unknown format 'tsv'");
    expect("cp -r models/life $D/m && chmod u+w $D/m/* && \"$A\" info -m $D/m --tensor embed.weight --format csv -o "
           "$D/m/model.safetensors 2>&1", 2, "model.safetensors");
}
END_TEST

Suite *suite_tensor(void)
{
    Suite *s = suite_create("tensor");
    TCase *c = tcase_create("tensor");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_test(c, what_blocks_store);
    tcase_add_test(c, numbers_are_those_of_the_file);
    tcase_add_test(c, text_is_the_matrix_with_its_shape);
    tcase_add_test(c, formats_agree);
    tcase_add_test(c, other_types_are_decoded);
    tcase_add_test(c, large_ones_are_summarised);
    tcase_add_test(c, what_is_wrong_is_said);
    suite_add_tcase(s, c);
    return s;
}

/* convert: the same tensors, bit for bit, in one model.safetensors; nothing overwritten unasked, nothing half written. */
#include "suites.h"

#include "made.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

static void expect_same_tensors(const char *a, const char *b)
{
    struct made_weights x = made_read(a), y = made_read(b);
    ck_assert_uint_eq(attn_st_count(x.st), attn_st_count(y.st));
    for (size_t i = 0; i < attn_st_count(x.st); i++) {
        const struct attn_st_tensor *t = attn_st_at(x.st, i), *u = made_find(&y, t->name);
        ck_assert_str_eq(t->dtype, u->dtype);
        ck_assert(t->ndim == u->ndim && !memcmp(t->shape, u->shape, sizeof t->shape));
        ck_assert_msg(t->bytes == u->bytes && !memcmp(t->data, u->data, t->bytes), "%s", t->name);
    }
    made_close(&x);
    made_close(&y);
}

static const char *const models[] = {"gpt2-a", "gpt2-a-prefixed", "gpt2-b", "llama-f", "neox-i", "qwen2-j"};
enum { MODELS = sizeof models / sizeof *models };

START_TEST(test_same)
{
    const char *from = printed("tests/golden/checkpoints/%s", models[_i]);
    expect(printed("$A convert -m %s -o $D/out 2>&1", from), 0, " tensors\n");
    expect_same_tensors(printed("%s/model.safetensors", from), scratch_path("out/model.safetensors"));
    succeed(printed("for f in config.json vocab.json merges.txt tokenizer.json; do [ ! -e %s/$f ] || cmp %s/$f $D/out/$f; done", from, from));
    expect_same(printed("$A run -m %s --ids '1 2 3' --show logits", from), "$A run -m $D/out --ids '1 2 3' --show logits");
}
END_TEST

/* From safetensors to what PyTorch saves, and back. */
START_TEST(test_there_and_back)
{
    static const char find_torch[] = "for p in $ATTN_PYTHON python3 /usr/bin/python3; do if $p -c 'import torch' 2>/dev/null; then "
                                     "break; fi; p=; done; test $p";
    if (sh(find_torch)->status) {
        fprintf(stderr, "skipped: python3 has no torch (Debian: python3-torch; ATTN_PYTHON names another python3)\n");
        return;
    }
    succeed(printed("%s; for m in gpt2-a gpt2-b llama-f qwen2-j; do echo tests/golden/checkpoints/$m $D/$m zip; done | xargs $p "
                    "tests/torch_save.py", find_torch));
    static const char *const list[] = {"gpt2-a", "gpt2-b", "llama-f", "qwen2-j"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        succeed(printed("$A convert -q -m $D/%s -o $D/back-%s", list[i], list[i]));
        expect_same_tensors(printed("tests/golden/checkpoints/%s/model.safetensors", list[i]),
                            scratch_path(printed("back-%s/model.safetensors", list[i])));
    }
}
END_TEST

START_TEST(test_built_in)
{
    succeed("$A convert -q -m tiny -o $D/tiny");
    expect_same("$A run -m tiny -s 'Lily lost' --show logits", "$A run -m $D/tiny -s 'Lily lost' --show logits");
}
END_TEST

START_TEST(test_nothing_lost)
{
    succeed("$A convert -q -m tiny -o $D/m; cp -r $D/m $D/as-it-was");
    expect("ends 2 $A convert -m life -o $D/m 2>&1", 0, "merges.txt already: choose another directory, or replace");
    expect("ends 2 $A convert -m life -o $D/m --force 2>&1", 0, "there is merges.txt, which model life lacks");
    succeed("diff -r $D/m $D/as-it-was");
    succeed("$A convert -q -m tiny -o $D/m --force; diff -r $D/m $D/as-it-was");
    succeed("$A convert -q -m $D/m -o $D/m --force; $A info -m $D/m --check");   /* onto itself: what is read stays mapped */
    expect("ends 2 $A convert -m tiny 2>&1", 0, "where to? give a directory with -o DIR");
}
END_TEST

/* A write that fails leaves no directory behind, and says which file. */
START_TEST(test_disk_full)
{
    expect("ends 1 bash -c 'ulimit -f 100; trap \"\" XFSZ; exec $A convert -m tiny -o $D/full' 2>&1", 0, "full/model.safetensors");
    succeed("test ! -e $D/full");
}
END_TEST

Suite *suite_convert(void)
{
    Suite *s = suite_create("convert");
    TCase *t = tcase_create("convert");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_same, 0, MODELS);
    tcase_add_test(t, test_there_and_back);
    tcase_add_test(t, test_built_in);
    tcase_add_test(t, test_nothing_lost);
    tcase_add_test(t, test_disk_full);
    suite_add_tcase(s, t);
    return s;
}

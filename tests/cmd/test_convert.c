/* convert: the same tensors, bit for bit, in one model.safetensors; nothing overwritten unasked,
 * nothing half written. */
#include "suites.h"

#include "checkpoints.h"
#include "made.h"
#include "pickled.h"
#include "scratch.h"
#include "shell.h"

#include "attn_tools.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
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

START_TEST(test_same)
{
    const char *from = checkpoint_path(checkpoints[_i].name);
    expect(printed("$A convert -m %s -o $D/out 2>&1", from), 0, " tensors\n");
    expect_same_tensors(printed("%s/model.safetensors", from), scratch_path("out/model.safetensors"));
    succeed(printed("for f in config.json vocab.json merges.txt tokenizer.json; do [ ! -e %s/$f ] || "
                    "cmp %s/$f $D/out/$f; done", from, from));
    expect_same(printed("$A run -m %s --ids '1 2 3' --show logits", from),
                "$A run -m $D/out --ids '1 2 3' --show logits");
}
END_TEST

/* A checkpoint of any family as PyTorch saves it, in one file or two with an index, is the same model, and becomes
 * the same file. */
START_TEST(test_from_pickles)
{
    char *from = strdup(checkpoint_path(checkpoints[_i].name));         /* beyond the life of what is printed */
    struct made_weights w = made_read(printed("%s/model.safetensors", from));
    size_t n = attn_st_count(w.st), half = _i % 2 ? n : n / 2;
    struct attn_st_tensor *t = calloc(n, sizeof *t);
    FILE *index;
    for (size_t i = 0; i < n; i++)
        t[i] = *attn_st_at(w.st, i);
    succeed(printed("mkdir $D/saved && cp %s/config.json $D/saved", from));
    if (half == n) {
        pickled_write(scratch_path("saved/pytorch_model.bin"), t, n, _i % 4 == 1);
    } else {
        pickled_write(scratch_path("saved/pytorch_model-00001-of-00002.bin"), t, half, false);
        pickled_write(scratch_path("saved/pytorch_model-00002-of-00002.bin"), t + half, n - half, _i % 4 == 0);
        index = fopen(scratch_path("saved/pytorch_model.bin.index.json"), "w");
        fputs("{\"metadata\": {}, \"weight_map\": {", index);
        for (size_t i = 0; i < n; i++)
            fprintf(index, "%s\"%s\": \"pytorch_model-0000%d-of-00002.bin\"", i ? ", " : "", t[i].name,
                    i < half ? 1 : 2);
        fputs("}}", index);
        fclose(index);
    }
    expect_same(printed("$A run -m %s --ids '1 2 3' --show logits", from),
                "$A run -m $D/saved --ids '1 2 3' --show logits");
    succeed("$A convert -q -m $D/saved -o $D/back");
    expect_same_tensors(printed("%s/model.safetensors", from), scratch_path("back/model.safetensors"));
    free(t);
    free(from);
    made_close(&w);
}
END_TEST

/* PyTorch saves an output layer that is the embedding as a second name of it. */
START_TEST(test_second_name)
{
    struct made_weights w = made_read("tests/golden/checkpoints/gpt2-a/model.safetensors");
    size_t n = attn_st_count(w.st);
    struct attn_st_tensor *t = calloc(n + 1, sizeof *t);
    for (size_t i = 0; i < n; i++)
        t[i] = *attn_st_at(w.st, i);
    t[n] = *attn_st_find(w.st, "wte.weight");
    t[n].name = "lm_head.weight";
    succeed("mkdir $D/saved && cp tests/golden/checkpoints/gpt2-a/config.json $D/saved");
    pickled_write(scratch_path("saved/pytorch_model.bin"), t, n + 1, false);
    succeed("$A convert -q -m $D/saved -o $D/back");
    expect_same_tensors("tests/golden/checkpoints/gpt2-a/model.safetensors", scratch_path("back/model.safetensors"));
    free(t);
    made_close(&w);
}
END_TEST

/* From safetensors to what PyTorch itself saves, and back. */
START_TEST(test_there_and_back)
{
    const char *python = python_with("torch");
    if (!python)
        return;
    succeed(printed("for m in gpt2-a gpt2-b llama-f qwen2-j; do echo tests/golden/checkpoints/$m $D/$m zip; "
                    "done | xargs %s tests/support/torch_save.py", python));
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
    /* onto itself: what is read stays mapped */
    succeed("$A convert -q -m $D/m -o $D/m --force; $A info -m $D/m --check");
    expect("ends 2 $A convert -m tiny 2>&1", 0, "where to? give a directory with -o DIR");
}
END_TEST

struct told { uint64_t done, all; int calls, most; };

static int tell(void *self, uint64_t done, uint64_t all, struct attn_err *err)
{
    struct told *t = self;
    ck_assert(done > t->done && done <= all && (!t->all || all == t->all));
    *t = (struct told){done, all, t->calls + 1, t->most};
    return t->calls == t->most ? attn_fail(err, ATTN_EUSAGE, "enough") : ATTN_OK;
}

/* Whoever watches learns of every byte, and may end it: then nothing is left behind. */
START_TEST(test_progress)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct told told = {.most = -1}, twice = {.most = 2};
    size_t tensors;
    ck_assert(!attn_model_open(&m, "tiny", &err));
    struct attn_save_opts all = {.step = tell, .self = &told}, some = {.step = tell, .self = &twice};
    ck_assert_msg(!attn_model_save(m, scratch_path("p"), &all, &tensors, &err), "%s", err.msg);
    ck_assert(told.done == told.all && told.calls >= (int)tensors);
    ck_assert_int_eq(attn_model_save(m, scratch_path("q"), &some, &tensors, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "enough");
    succeed("test ! -e $D/q");
    attn_model_close(m);
}
END_TEST

/* A write that fails leaves no directory behind, and says which file. */
START_TEST(test_disk_full)
{
    expect("ends 1 bash -c 'ulimit -f 1000; trap \"\" XFSZ; exec $A convert -m tiny -o $D/full' 2>&1", 0,
           "full/model.safetensors");
    succeed("test ! -e $D/full");
}
END_TEST

Suite *suite_convert(void)
{
    Suite *s = suite_create("convert");
    TCase *t = tcase_create("convert");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_set_timeout(t, 300);
    attn_test_add_rows(t, test_same, CHECKPOINTS_HERE, checkpoint_name);
    attn_test_add_rows(t, test_from_pickles, CHECKPOINTS_HERE, checkpoint_name);
    tcase_add_test(t, test_second_name);
    tcase_add_test(t, test_there_and_back);
    tcase_add_test(t, test_built_in);
    tcase_add_test(t, test_nothing_lost);
    tcase_add_test(t, test_progress);
    tcase_add_test(t, test_disk_full);
    suite_add_tcase(s, t);
    return s;
}

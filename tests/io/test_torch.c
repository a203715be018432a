/* Files of torch.save: what PyTorch writes is read, what only looks like it is refused, and nothing is ever run. */
#include "suites.h"

#include "corpus.h"
#include "golden.h"
#include "hf.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "io/torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one file ---- */

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_st *st = NULL;
    int rc = attn_torch_open(&st, (const unsigned char *)bytes, len, name, err);
    ck_assert((st != NULL) == (rc == ATTN_OK));
    for (size_t i = 0; st && i < attn_st_count(st); i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        ck_assert_ptr_eq(attn_st_find(st, t->name), t);
        ck_assert_uint_eq(t->bytes, t->count * attn_st_element(t->dtype));
        ck_assert_uint_eq((uintptr_t)t->data % (t->count ? attn_st_element(t->dtype) : 1), 0);
    }
    attn_st_close(st);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_attributes.bin", "byte 140 of the pickle: gives attributes to what is no dictionary"},
        {"n_big_endian.bin", "its numbers are not little-endian"},
        {"n_call_number.bin", "byte 5 of the pickle: calls what is no function"},
        {"n_compressed.bin", "member 'archive/data.pkl' is compressed"},
        {"n_conjugated.bin", "tensor 'a': it is marked as negated or conjugated, which is not supported"},
        {"n_cut.bin", "malformed zip archive: it does not end with a list of members"},
        {"n_dims_differ.bin", "tensor 'a': expected an offset, and a shape and strides of at most 8 whole numbers"},
        {"n_empty.bin", "is no file that torch.save wrote"},
        {"n_empty_first.bin", "byte 25 of the pickle: the pickle is cut short"},
        {"n_eval.bin", "byte 10 of the pickle asks for 'builtins.eval', which is not run"},
        {"n_expanded.bin",
         "tensor 'a': its elements do not lie row after row, and there are more of them than the file has"},
        {"n_instruction.bin", "byte 10 of the pickle: instruction 0x69 is not run"},
        {"n_left_over.bin", "byte 141 of the pickle: the pickle ends with values left over"},
        {"n_legacy_big_endian.bin", "its numbers are not little-endian"},
        {"n_legacy_cut.bin", "a storage of 16 bytes begins at byte 232, but the file ends at 241"},
        {"n_legacy_elements.bin", "a storage has 1152921504606846976 elements at byte 224, the pickle says 4"},
        {"n_legacy_key_missing.bin", "the bytes of storage '0' are missing"},
        {"n_legacy_more.bin", "the last storage ends at byte 248, the file at 249"},
        {"n_legacy_no_bytes.bin", "the bytes of storage '0' are missing"},
        {"n_legacy_pickle_cut.bin", "byte 25 of the pickle: the pickle is cut short"},
        {"n_legacy_unknown_key.bin", "the list of storages does not agree with the tensors"},
        {"n_legacy_view.bin", "tensor 'a': its storage is a part of another one, which is not supported"},
        {"n_list.bin", "the pickle holds a list, expected a dictionary of tensors"},
        {"n_mark_gone.bin", "byte 7 of the pickle: the pickle ends with values left over"},
        {"n_member_twice.bin", "there are two members 'archive/data/0'"},
        {"n_memo_huge.bin", "byte 3 of the pickle: remembers a value under too large a number"},
        {"n_memo_unset.bin", "byte 2 of the pickle: recalls a value that was never remembered"},
        {"n_module.bin", "byte 2 of the pickle asks for 'torch.nn.modules.linear.Linear', which is not run"},
        {"n_name_nul.bin", "the name of tensor 1 is a string with a NUL, expected a string"},
        {"n_name_number.bin", "the name of tensor 1 is a number, expected a string"},
        {"n_nested.bin", "'model' is a dictionary, expected a tensor"},
        {"n_new_object.bin", "byte 28 of the pickle: instruction 0x81 is not run"},
        {"n_nine_dims.bin", "tensor 'a': expected an offset, and a shape and strides of at most 8 whole numbers"},
        {"n_no_mark.bin", "byte 3 of the pickle: an instruction finds too few values"},
        {"n_no_pickle.bin", "the archive has no member NAME/data.pkl"},
        {"n_no_stop.bin", "byte 140 of the pickle: the pickle is cut short"},
        {"n_no_storage.bin", "tensor 'a': expected a storage with its type, key, device and size"},
        {"n_not_a_list.bin", "byte 4 of the pickle: adds to what is no list"},
        {"n_nothing_on_stack.bin", "byte 2 of the pickle: an instruction finds too few values"},
        {"n_number.bin", "'epoch' is a number, expected a tensor"},
        {"n_odd_dictionary.bin", "byte 10 of the pickle: adds to what is no dictionary"},
        {"n_offset_beyond.bin", "tensor 'a' of F32 [2, 2] reaches beyond the 16 bytes of its storage"},
        {"n_offset_huge.bin", "tensor 'a' of F32 [2, 2] reaches beyond the 16 bytes of its storage"},
        {"n_offset_negative.bin", "tensor 'a': expected an offset, and a shape and strides of at most 8 whole numbers"},
        {"n_ordered_list.bin", "byte 43 of the pickle: makes an OrderedDict from a list"},
        {"n_protocol.bin", "byte 0 of the pickle: a protocol after 5, which no Python writes"},
        {"n_shape_beyond.bin", "tensor 'a' of F32 [2, 3] reaches beyond the 16 bytes of its storage"},
        {"n_shape_huge.bin",
         "tensor 'a' of F32 [1152921504606846976, 1152921504606846976] reaches beyond the 16 bytes of its storage"},
        {"n_storage_huge.bin", "member 'archive/data/0' has 16 bytes, the pickle says 4611686018427387904"},
        {"n_storage_missing.bin", "the bytes of storage '1' are missing"},
        {"n_storage_overflow.bin", "tensor 'a': its storage has more bytes than 64 bits can count"},
        {"n_storage_short.bin", "member 'archive/data/0' has 16 bytes, the pickle says 20"},
        {"n_storage_two_types.bin", "tensor 'b': its storage has another type or size than for another tensor"},
        {"n_storage_unknown.bin", "byte 57 of the pickle asks for 'torch.ComplexFloatStorage', which is not run"},
        {"n_storage_view.bin", "tensor 'a': its storage is a part of another one, which is not supported"},
        {"n_stride_beyond.bin", "tensor 'a' of F32 [2, 2] reaches beyond the 16 bytes of its storage"},
        {"n_stride_huge.bin", "tensor 'a' of F32 [2, 2] reaches beyond the 16 bytes of its storage"},
        {"n_stride_negative.bin", "tensor 'a': expected an offset, and a shape and strides of at most 8 whole numbers"},
        {"n_system.bin", "byte 2 of the pickle asks for 'os.system', which is not run"},
        {"n_system_stacked.bin", "byte 17 of the pickle asks for 'posix.system', which is not run"},
        {"n_tensor_alone.bin", "the pickle holds an object, expected a dictionary of tensors"},
        {"n_text.bin", "is no file that torch.save wrote"},
        {"n_text_long.bin", "byte 2 of the pickle: the pickle is cut short"},
        {"n_text_longer.bin", "byte 2 of the pickle: the pickle is cut short"},
        {"n_twice.bin", "tensor 'a': is there for the second time"},
        {"n_two_pickles.bin", "there are two members NAME/data.pkl"},
        {"n_untyped.bin", "tensor 'a': expected one type, of its storage or of its own"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/torch", faults, read_file);
}
END_TEST

/* What make_torch.py saved: the numbers as bytes, in the order of the elements. */
static const struct { const char *name, *dtype, *shape; size_t bytes; const void *data; } saved[] = {
    {"table", "F32", "[2, 3]", 24, (const float[]){0, 1, 2, 3, 4, 5}},
    {"turned", "F32", "[3, 2]", 24, (const float[]){0, 3, 1, 4, 2, 5}},
    {"same", "F32", "[2, 3]", 24, (const float[]){0, 1, 2, 3, 4, 5}},
    {"left", "F16", "[4]", 8, (const uint16_t[]){0x4900, 0x4980, 0x4a00, 0x4a80}},
    {"right", "F16", "[4]", 8, (const uint16_t[]){0x4b00, 0x4b80, 0x4c00, 0x4c40}},
    {"columns", "F16", "[2, 2]", 8, (const uint16_t[]){0x4980, 0x4a00, 0x4b80, 0x4c00}},
    {"brain", "BF16", "[2]", 4, (const uint16_t[]){0x3f80, 0xc020}},
    {"mask", "BOOL", "[1, 2]", 2, (const unsigned char[]){1, 0}},
    {"one", "I64", "[]", 8, (const int64_t[]){-7}},
    {"none", "F64", "[0, 3]", 0, ""},
    {"learned", "F32", "[2]", 8, (const float[]){0.5f, 0.25f}},
};
enum { SAVED = sizeof saved / sizeof *saved };

START_TEST(test_numbers)
{
    static const char *const files[] = {"y_zip", "y_legacy", "y_protocol4"};
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t len;
    char shape[ATTN_ST_SHAPE], *bytes = corpus_slurp(printed("tests/corpus/torch/%s.bin", files[_i]), &len);
    ck_assert_msg(!attn_torch_open(&st, (unsigned char *)bytes, len, "x", &err), "%s", err.msg);
    ck_assert_uint_eq(attn_st_count(st), SAVED);
    for (size_t i = 0; i < SAVED; i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        ck_assert_str_eq(t->name, saved[i].name);
        ck_assert_str_eq(t->dtype, saved[i].dtype);
        ck_assert_str_eq(attn_st_shape(shape, t->shape, t->ndim), saved[i].shape);
        ck_assert_uint_eq(t->bytes, saved[i].bytes);
        ck_assert_msg(!memcmp(t->data, saved[i].data, t->bytes), "%s", t->name);
    }
    attn_st_close(st);
    free(bytes);
}
END_TEST

/* Only what lies across its storage is copied. */
START_TEST(test_views)
{
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t len;
    char *bytes = golden_text("tests/corpus/torch/y_zip.bin", &len);
    ck_assert_msg(!attn_torch_open(&st, (unsigned char *)bytes, len, "x", &err), "%s", err.msg);
    for (size_t i = 0; i < SAVED; i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        bool copied = !strcmp(t->name, "turned") || !strcmp(t->name, "columns");
        ck_assert_msg(copied != ((char *)t->data >= bytes && (char *)t->data <= bytes + len), "%s", t->name);
    }
    ck_assert_ptr_eq(attn_st_find(st, "same")->data, attn_st_find(st, "table")->data);
    attn_st_close(st);
    free(bytes);
}
END_TEST

/* ---- whole models ----
 *
 * A checkpoint's tensors are written here in the older form, which needs no library; its storages
 * are rarely aligned. */

static void put_text(FILE *f, const char *s)
{
    uint32_t len = (uint32_t)strlen(s);
    fputc('X', f);
    fwrite(&len, sizeof len, 1, f);
    fputs(s, f);
}

static void put_int(FILE *f, uint64_t x)
{
    fputs("\x8a\x08", f);
    fwrite(&x, sizeof x, 1, f);
}

static const char *storage_of(const char *dtype)
{
    static const struct { const char *dtype, *storage; } list[] = {
        {"F32", "FloatStorage"}, {"F16", "HalfStorage"}, {"BF16", "BFloat16Storage"}, {"U8", "ByteStorage"},
        {"BOOL", "BoolStorage"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].dtype, dtype))
            return list[i].storage;
    ck_abort_msg("no storage for %s", dtype);
}

/* stride NULL: row after row. */
static void put_tensor(FILE *f, const struct attn_st_tensor *t, size_t key, const uint64_t *stride)
{
    put_text(f, t->name);
    fprintf(f, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_text(f, "storage");
    fprintf(f, "ctorch\n%s\n", storage_of(t->dtype));
    put_text(f, printed("%zu", key));
    put_text(f, "cpu");
    put_int(f, t->count);
    fputs("NtQ", f);
    put_int(f, 0);
    fputc('(', f);
    for (int i = 0; i < t->ndim; i++)
        put_int(f, t->shape[i]);
    fputs("t(", f);
    for (int i = 0; i < t->ndim; i++) {
        size_t plain = 1;
        for (int k = i + 1; k < t->ndim; k++)
            plain *= t->shape[k];
        put_int(f, stride ? stride[i] : plain);
    }
    fputs("t\x89" "ccollections\nOrderedDict\n)RtR", f);
}

static void write_list(const char *path, const struct attn_st_tensor *t, size_t n, const uint64_t *stride)
{
    static const char head[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}";
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fwrite(head, sizeof head - 1, 1, f);
    put_text(f, "little_endian");
    fputs("\x88s.\x80\x02}(", f);
    for (size_t i = 0; i < n; i++)
        put_tensor(f, &t[i], i, stride);
    fputs("u.\x80\x02](", f);
    for (size_t i = 0; i < n; i++)
        put_text(f, printed("%zu", i));
    fputs("e.", f);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = t[i].count;
        fwrite(&count, sizeof count, 1, f);
        fwrite(t[i].data, 1, t[i].bytes, f);
    }
    ck_assert_int_eq(fclose(f), 0);
}

static void write_legacy(const char *path, const struct attn_st *st, size_t from, size_t step)
{
    struct attn_st_tensor *t = calloc(attn_st_count(st), sizeof *t);
    size_t n = 0;
    for (size_t i = from; i < attn_st_count(st); i += step)
        t[n++] = *attn_st_at(st, i);
    write_list(path, t, n, NULL);
    free(t);
}

/* The stride of a dimension of one is never used, and may be any. */
START_TEST(test_any_stride)
{
    static const float stored[] = {0, 1, 2, 3, 4, 5}, expected[] = {0, 2, 4, 1, 3, 5};
    static const uint64_t stride[] = {1, INT64_MAX, 2};
    struct attn_st_tensor x = {.name = "x", .dtype = "F32", .ndim = 3, .shape = {2, 1, 3}, .count = 6,
                               .data = (const void *)stored, .bytes = sizeof stored};
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t len;
    write_list(scratch_path("x.bin"), &x, 1, stride);
    char *bytes = golden_text(scratch_path("x.bin"), &len);
    ck_assert_msg(!attn_torch_open(&st, (unsigned char *)bytes, len, "x", &err), "%s", err.msg);
    ck_assert_mem_eq(attn_st_find(st, "x")->data, expected, sizeof expected);
    attn_st_close(st);
    free(bytes);
}
END_TEST

/* The first half of the shell's lines: the other files of the checkpoint, copied to $D/m. */
static struct made_weights copy_model(const char *name)
{
    succeed(printed("mkdir $D/m; cd tests/golden/checkpoints/%s; for f in *.json *.txt; do [ ! -e $f ] || "
                    "cp $f $D/m; done", name));
    return made_read(printed("tests/golden/checkpoints/%s/model.safetensors", name));
}

/* The model of $D/DIR computes what the checkpoint does, to the bit. */
static void expect_same_model(const char *dir, const char *name)
{
    static const char run[] = "--ids '1 2 3 4 5' --show '*' --format json | grep -v '^\"model\":' | sha256sum";
    expect_same(printed("$A run -m $D/%s %s", dir, run),
                printed("$A run -m tests/golden/checkpoints/%s %s", name, run));
}

static const char *const models[] = {"gpt2-a", "gpt2-a-prefixed", "gpt2-b", "llama-f", "neo-h", "neox-i", "qwen2-j"};
enum { MODELS = sizeof models / sizeof *models };

START_TEST(test_model)
{
    struct made_weights w = copy_model(models[_i]);
    write_legacy(scratch_path("m/pytorch_model.bin"), w.st, 0, 1);
    made_close(&w);
    expect_same_model("m", models[_i]);
}
END_TEST

START_TEST(test_model_in_parts)
{
    struct made_weights w = copy_model("llama-f");
    FILE *f = fopen(scratch_path("m/pytorch_model.bin.index.json"), "w");
    ck_assert_ptr_nonnull(f);
    fputs("{\"weight_map\": {", f);
    for (size_t i = 0; i < attn_st_count(w.st); i++)
        fprintf(f, "%s\"%s\": \"%zu.bin\"", i ? ", " : "", attn_st_at(w.st, i)->name, i % 3);
    fputs("}}", f);
    ck_assert_int_eq(fclose(f), 0);
    for (size_t i = 0; i < 3; i++)
        write_legacy(scratch_path(printed("m/%zu.bin", i)), w.st, i, 3);
    made_close(&w);
    expect_same_model("m", "llama-f");
    const char *info = "$A info -m $D/m --digest full --format json | grep -o 'sha256:[0-9a-f]*'";
    succeed(printed("a=$(%s); printf '\\n' >>$D/m/pytorch_model.bin.index.json; b=$(%s); test $a != $b", info, info));
    expect("printf x >>$D/m/1.bin; ends 1 $A info -m $D/m 2>&1", 0, "1.bin: the last storage ends at byte");
}
END_TEST

START_TEST(test_safetensors_come_first)
{
    succeed("cp -r tests/golden/checkpoints/gpt2-a $D/m; echo nothing >$D/m/pytorch_model.bin; $A info -m $D/m");
    expect("rm $D/m/model.safetensors; ends 1 $A info -m $D/m 2>&1", 0,
           "m/pytorch_model.bin: is no file that torch.save wrote");
    expect("ends 2 $A run -m $D/m -s x -o $D/m/pytorch_model.bin 2>&1 || "
           "ends 1 $A run -m $D/m -s x -o $D/m/pytorch_model.bin 2>&1", 0, "");
}
END_TEST

/* ---- PyTorch as the judge ---- */

/* One process for all forms, as Python takes seconds to load PyTorch. */
START_TEST(test_pytorch)
{
    static const char *const forms[] = {"zip", "legacy", "turned", "parts"},
        *const list[] = {"gpt2-a", "gpt2-b", "neox-i", "qwen2-j"};
    const char *python = python_with("torch");
    if (!python)
        return;
    succeed(printed("for how in zip legacy turned parts; do for m in gpt2-a gpt2-b neox-i qwen2-j; do "
                    "echo tests/golden/checkpoints/$m $D/$how/$m $how; done; done | "
                    "xargs %s tests/support/torch_save.py", python));
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            expect_same_model(printed("%s/%s", forms[f], list[i]), list[i]);
}
END_TEST

Suite *suite_torch(void)
{
    Suite *s = suite_create("torch");
    TCase *file = tcase_create("file"), *model = tcase_create("model"), *pytorch = tcase_create("pytorch");
    tcase_add_test(file, test_corpus);
    tcase_add_loop_test(file, test_numbers, 0, 3);
    tcase_add_test(file, test_views);
    suite_add_tcase(s, file);
    tcase_add_checked_fixture(model, shell_set_up, scratch_remove);
    tcase_add_loop_test(model, test_model, 0, MODELS);
    tcase_add_test(model, test_model_in_parts);
    tcase_add_test(model, test_any_stride);
    tcase_add_test(model, test_safetensors_come_first);
    suite_add_tcase(s, model);
    tcase_add_checked_fixture(pytorch, shell_set_up, scratch_remove);
    tcase_set_timeout(pytorch, 300);
    tcase_add_test(pytorch, test_pytorch);
    suite_add_tcase(s, pytorch);
    return s;
}

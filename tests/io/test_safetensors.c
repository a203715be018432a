#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "made.h"
#include "scratch.h"

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_st *st = NULL;
    int rc = attn_st_open(&st, (const unsigned char *)bytes, len, name, err);
    ck_assert((st != NULL) == (rc == ATTN_OK));
    for (size_t i = 0; st && i < attn_st_count(st); i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        ck_assert_ptr_eq(t, attn_st_at(st, 0) + i);                 /* the code that binds weights relies on it */
        ck_assert_ptr_eq(attn_st_find(st, t->name), t);
        ck_assert_uint_le((size_t)(t->data + t->bytes - (const unsigned char *)bytes), len);
    }
    attn_st_close(st);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_bytes_overflow.safetensors", "tensor 'a' of shape [2305843009213693952] has more bytes than 64 bits"},
        {"n_dtype_number.safetensors", "header: tensor 'a': expected a \"dtype\" out of"},
        {"n_dtype_unknown.safetensors", "F64, found \"F33\""},
        {"n_empty.safetensors", "0 bytes, expected at least the 8 of a header's length"},
        {"n_field_twice.safetensors", "tensor 'a': expected one \"shape\""},
        {"n_header_above_limit.safetensors", "header claims 100000001 bytes, expected at most 100000000"},
        {"n_header_array.safetensors", "header: expected an object of tensors"},
        {"n_header_cut.safetensors", "header: line 1, column 20: expected ',' or '}' (the text ends here)"},
        {"n_header_empty.safetensors", "header: line 1, column 1: expected a value"},
        {"n_header_huge.safetensors", "header claims 9223372036854775808 bytes, expected at most 100000000"},
        {"n_header_not_json.safetensors", "header: line 1, column 1: expected a value (found 'n')"},
        {"n_header_nul_pad.safetensors", "header: line 1, column 3: expected nothing after the end"},
        {"n_header_past_end.safetensors", "header claims 4000 bytes, but the file has 126 after its length"},
        {"n_header_two.safetensors", "header: line 1, column 3: expected nothing after the end"},
        {"n_hole.safetensors", "bytes 4 to 8 of the data belong to no tensor, expected 'b' there"},
        {"n_hole_first.safetensors", "bytes 0 to 4 of the data belong to no tensor, expected 'a' there"},
        {"n_metadata_array.safetensors", "header: expected one \"__metadata__\", an object of strings"},
        {"n_metadata_key_twice.safetensors", "key 'a' for the second time"},
        {"n_metadata_number.safetensors", "an object of strings"},
        {"n_metadata_twice.safetensors", "expected one \"__metadata__\""},
        {"n_name_nul.safetensors", "\\u0000 in a string is not supported"},
        {"n_name_twice.safetensors", "key 'a' for the second time"},
        {"n_nine_dims.safetensors", "a \"shape\" of at most 8 whole numbers, found [1,1,1,1,1,1,1,1,1"},
        {"n_no_dtype.safetensors", "tensor 'a': expected \"dtype\", \"shape\" and \"data_offsets\""},
        {"n_no_offsets.safetensors", "tensor 'a': expected \"dtype\", \"shape\" and \"data_offsets\""},
        {"n_no_shape.safetensors", "tensor 'a': expected \"dtype\", \"shape\" and \"data_offsets\""},
        {"n_offsets_one.safetensors", "\"data_offsets\" of two whole numbers, found [16]"},
        {"n_offsets_three.safetensors", "\"data_offsets\" of two whole numbers, found [0,8,16"},
        {"n_overlap.safetensors", "tensor 'b' starts at byte 4 of the data, inside 'a', which ends at 8"},
        {"n_past_end.safetensors", "tensor 'b' ends at byte 24 of the data, the file after 16"},
        {"n_ragged.safetensors", "tensor 'a' has 7 bytes (0 to 7), expected 8 for F32 [2]"},
        {"n_reversed.safetensors", "tensor 'a' starts at byte 8 of the data, after its end at 0"},
        {"n_seven_bytes.safetensors", "7 bytes, expected at least the 8"},
        {"n_shape_above_64_bits.safetensors", "whole numbers, found [18446744073709551616"},
        {"n_shape_float.safetensors", "whole numbers, found [4.0"},
        {"n_shape_negative.safetensors", "whole numbers, found [-4"},
        {"n_shape_overflow.safetensors", "tensor 'a' of shape [4294967296, 4294967296] has more bytes than"},
        {"n_shape_string.safetensors", "whole numbers, found \"4\""},
        {"n_tensor_number.safetensors", "tensor 'a': expected an object with"},
        {"n_too_few_bytes.safetensors", "tensor 'a' has 16 bytes (0 to 16), expected 20 for F32 [5]"},
        {"n_trailing.safetensors", "the data has 17 bytes, expected 16, where the last tensor ends"},
        {"n_truncated.safetensors", "tensor 'b' ends at byte 16 of the data, the file after 14: cut short?"},
        {"n_two_to_60.safetensors", "expected 4611686018427387904 for F32 [1152921504606846976]"},
        {"n_unknown_field.safetensors", "expected only \"dtype\", \"shape\" and \"data_offsets\", found \"strides\""},
        {"n_zero_overflow.safetensors", "has more bytes than 64 bits can count"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/safetensors", faults, read_file);
}
END_TEST

static struct attn_st *open_corpus(const char *path, char **bytes)
{
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t len;
    *bytes = corpus_slurp(path, &len);
    ck_assert_msg(attn_st_open(&st, (unsigned char *)*bytes, len, path, &err) == ATTN_OK, "%s", err.msg);
    return st;
}

START_TEST(test_lookup)
{
    char *bytes;
    struct attn_st *st = open_corpus("tests/corpus/safetensors/y_two.safetensors", &bytes);
    const struct attn_st_tensor *a = attn_st_find(st, "a"), *b = attn_st_find(st, "b");
    ck_assert_uint_eq(attn_st_count(st), 2);
    ck_assert(a && b && !attn_st_find(st, "c") && !attn_st_find(st, ""));
    ck_assert_str_eq(a->name, "a");
    ck_assert_str_eq(a->dtype, "F32");
    ck_assert_int_eq(b->ndim, 2);
    ck_assert(b->shape[0] == 2 && b->shape[1] == 2 && b->count == 4 && b->bytes == 8);
    ck_assert_ptr_eq(a->data, (unsigned char *)bytes + st->header_len);
    ck_assert_int_eq(b->data[0], 8);
    attn_st_close(st);
    free(bytes);
}
END_TEST

START_TEST(test_order_is_by_offset)
{
    char *bytes;
    struct attn_st *st = open_corpus("tests/corpus/safetensors/y_empty_tensors.safetensors", &bytes);
    ck_assert_str_eq(attn_st_at(st, 0)->name, "e");                 /* empty, at 0 */
    ck_assert_str_eq(attn_st_at(st, 1)->name, "a");
    ck_assert_str_eq(attn_st_at(st, 2)->name, "z");                 /* empty, at the end */
    ck_assert_uint_eq(attn_st_find(st, "z")->count, 0);
    attn_st_close(st);
    free(bytes);
}
END_TEST

/* Data for any tensor of up to 64 bytes, aligned for all types. */
static const unsigned char numbers[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

START_TEST(test_write_and_read)
{
    static const struct attn_st_tensor tensors[] = {
        {.name = "half", .dtype = "F16", .ndim = 1, .shape = {3}, .count = 3, .bytes = 6, .data = numbers},
        {.name = "b\"\n\u00e9", .dtype = "F32", .ndim = 2, .shape = {2, 3}, .count = 6, .bytes = 24, .data = numbers},
        {.name = "a", .dtype = "F32", .ndim = 0, .count = 1, .bytes = 4, .data = numbers + 4},
        {.name = "wide", .dtype = "I64", .ndim = 2, .shape = {0, 7}, .count = 0, .bytes = 0, .data = numbers},
    };
    static const int order[] = {3, 2, 1, 0};                        /* element, then name */
    enum { N = sizeof tensors / sizeof *tensors };
    const char *path = scratch_path("x.safetensors");
    char *bytes;
    made_write(path, tensors, N);
    struct attn_st *st = open_corpus(path, &bytes);
    ck_assert_uint_eq(attn_st_count(st), N);
    ck_assert_uint_eq(st->header_len % 8, 0);
    ck_assert_ptr_nonnull(strstr(bytes + 8, "{\"__metadata__\":{\"format\":\"pt\"}"));
    for (size_t i = 0; i < N; i++) {
        const struct attn_st_tensor *want = &tensors[order[i]], *got = attn_st_at(st, i);
        ck_assert_str_eq(got->name, want->name);
        ck_assert_str_eq(got->dtype, want->dtype);
        ck_assert_int_eq(got->ndim, want->ndim);
        ck_assert_mem_eq(got->shape, want->shape, sizeof got->shape);
        ck_assert_uint_eq(got->bytes, want->bytes);
        ck_assert_mem_eq(got->data, want->data, want->bytes);
    }
    attn_st_close(st);
    free(bytes);
}
END_TEST

START_TEST(test_write_nothing)
{
    char *bytes;
    const char *path = scratch_path("x.safetensors");
    made_write(path, NULL, 0);
    struct attn_st *st = open_corpus(path, &bytes);
    ck_assert_uint_eq(attn_st_count(st), 0);
    ck_assert_uint_eq(st->header_len % 8, 0);
    attn_st_close(st);
    free(bytes);
}
END_TEST

/* Changes each bit of a good file in turn: it must be read or refused, without any other effect. */
START_TEST(test_flipped_bytes)
{
    size_t len;
    struct attn_err err;
    char *bytes = corpus_slurp("tests/corpus/safetensors/y_metadata.safetensors", &len);
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            int rc = read_file(bytes, len, "x", &err);
            ck_assert(rc == ATTN_OK || rc == ATTN_EFORMAT);
            ck_assert(rc == ATTN_OK || err.msg[0]);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    free(bytes);
}
END_TEST

START_TEST(test_element)
{
    ck_assert_uint_eq(attn_st_element("BF16"), 2);
    ck_assert_uint_eq(attn_st_element("F8_E4M3"), 1);
    ck_assert_uint_eq(attn_st_element("F64"), 8);
    ck_assert_uint_eq(attn_st_element("f32"), 0);
    ck_assert_uint_eq(attn_st_element(""), 0);
}
END_TEST

Suite *suite_safetensors(void)
{
    Suite *s = suite_create("safetensors");
    TCase *t = tcase_create("safetensors");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_lookup);
    tcase_add_test(t, test_order_is_by_offset);
    tcase_add_test(t, test_write_and_read);
    tcase_add_test(t, test_write_nothing);
    tcase_add_test(t, test_flipped_bytes);
    tcase_add_test(t, test_element);
    suite_add_tcase(s, t);
    return s;
}

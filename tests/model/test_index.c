#include "suites.h"

#include "corpus.h"

#include "model/shards.h"

#include <stdlib.h>
#include <string.h>

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_index x;
    int rc = attn_index_read(&x, bytes, len, name, err);
    attn_index_free(&x);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_absolute.json", "is in \"/etc/passwd\", expected the plain name"},
        {"n_array.json", "it is an array, expected an object"},
        {"n_backslash.json", "expected the plain name"},
        {"n_cut.json", "line 1"},
        {"n_file_empty.json", "tensor 'a' is in \"\", expected the plain name"},
        {"n_file_number.json", "tensor 'a' is in 1, expected the plain name of a file"},
        {"n_folder.json", "expected the plain name"},
        {"n_hidden.json", "expected the plain name"},
        {"n_long_name.json", "expected the plain name"},
        {"n_many_files.json", "more than 1024 files"},
        {"n_map_empty.json", "there is no \"weight_map\" with tensors"},
        {"n_map_list.json", "there is no \"weight_map\" with tensors"},
        {"n_no_map.json", "there is no \"weight_map\" with tensors"},
        {"n_not_json.json", "line 1"},
        {"n_nul.json", "\\u0000 in a string"},
        {"n_parent.json", "is in \"..\", expected the plain name"},
        {"n_parent_file.json", "expected the plain name"},
        {"n_tensor_twice.json", "key 'a' for the second time"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/index", faults, read_file);
}
END_TEST

START_TEST(test_find)
{
    struct attn_index x;
    struct attn_err err = {0};
    size_t len;
    char *text = corpus_slurp("tests/corpus/index/y_two.json", &len);
    ck_assert_int_eq(attn_index_read(&x, text, len, "index", &err), ATTN_OK);
    free(text);
    ck_assert(x.n == 3 && x.files == 2);
    ck_assert_str_eq(x.file[0], "model-00001-of-00002.safetensors");
    const struct attn_index_entry *e = attn_index_find(&x, "h.0.ln_1.weight");
    ck_assert(e && e->file == 1 && strcmp(e->tensor, "h.0.ln_1.weight") == 0);
    ck_assert(attn_index_find(&x, "wte.weight")->file == 0);
    ck_assert_ptr_null(attn_index_find(&x, "wte"));
    attn_index_free(&x);
    ck_assert_ptr_null(attn_index_find(&x, "wte.weight"));
}
END_TEST

Suite *suite_index(void)
{
    Suite *s = suite_create("index");
    TCase *t = tcase_create("index");
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_find);
    suite_add_tcase(s, t);
    return s;
}

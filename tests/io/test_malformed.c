/* The damaged checkpoints of tests/golden/malformed.  Each is given to the reader concerned and, if the fault is in the
 * configuration or the weights, to attn_model_open. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"

#include "attn.h"
#include "base/map.h"
#include "io/safetensors.h"
#include "text/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Readers of single files.  A file that they accept may still be refused by the model. */
static int read_weights(const struct attn_map *map, const char *path, struct attn_err *err)
{
    struct attn_st *st = NULL;
    int rc = attn_st_open(&st, map->data, map->len, path, err);
    attn_st_close(st);
    return rc;
}

static int read_vocab(const struct attn_map *map, const char *path, struct attn_err *err)
{
    struct attn_vocab *v = NULL;
    int rc = attn_vocab_read(&v, (const char *)map->data, map->len, path, err);
    attn_vocab_free(v);
    return rc;
}

static const struct reader {
    const char *file;
    int (*read)(const struct attn_map *map, const char *path, struct attn_err *err);
    const char *not_here;               /* faults that this reader cannot see */
} readers[] = {
    {"model.safetensors", read_weights, "08-wrong-dtype 09-missing-tensor 10-nan-weight"},
    {"vocab.json", read_vocab, ""},
};

static int read_file(const struct reader *r, const char *dir, struct attn_err *err)
{
    char path[256];
    struct attn_map map;
    snprintf(path, sizeof path, "tests/golden/malformed/%s/%s", dir, r->file);
    ck_assert_msg(!attn_map_open(&map, path, SIZE_MAX, err), "%s", err->msg);
    int rc = r->read(&map, path, err);
    attn_map_close(&map);
    return rc;
}

static void expect_words(const cJSON *c, const char *dir, int rc, const struct attn_err *err)
{
    const cJSON *word;
    ck_assert_msg(rc != 0, "%s was accepted", dir);
    cJSON_ArrayForEach(word, golden_get(c, "message_should_mention"))
        ck_assert_msg(strstr(err->msg, word->valuestring) != NULL,
                      "%s: '%s' lacks '%s'", dir, err->msg, word->valuestring);
}

START_TEST(each_fault_is_named)
{
    const struct reader *r = &readers[_i];
    cJSON *manifest = golden_read("tests/golden/malformed/MANIFEST.json");
    const cJSON *c;
    int faults = 0;
    cJSON_ArrayForEach(c, golden_get(manifest, "cases")) {
        const char *dir = golden_string(c, "dir");
        const cJSON *file = golden_find(c, "file");
        bool ours = file && strcmp(file->valuestring, r->file) == 0 && !strstr(r->not_here, dir);
        struct attn_err err = {0};
        if (ours)
            expect_words(c, dir, read_file(r, dir, &err), &err);
        else
            ck_assert_msg(!read_file(r, dir, &err), "%s: %s", dir, err.msg);
        faults += ours;
    }
    ck_assert_int_ge(faults, 4);
    cJSON_Delete(manifest);
}
END_TEST

/* A fault in vocabulary or merges only shows when text is encoded; the model itself opens. */
START_TEST(each_model_is_refused)
{
    cJSON *manifest = golden_read("tests/golden/malformed/MANIFEST.json");
    const cJSON *c;
    int faults = 0;
    cJSON_ArrayForEach(c, golden_get(manifest, "cases")) {
        const cJSON *file = golden_find(c, "file");
        bool ours = file &&
            (!strcmp(file->valuestring, "config.json") || !strcmp(file->valuestring, "model.safetensors"));
        const char *dir = golden_string(c, "dir");
        struct attn_err err = {0};
        struct attn_model *m = NULL;
        int rc = attn_model_open(&m, printed("tests/golden/malformed/%s", dir), &err);
        if (ours)
            expect_words(c, dir, rc, &err);
        else
            ck_assert_msg(rc == 0, "%s: %s", dir, err.msg);
        attn_model_close(m);
        faults += ours;
    }
    ck_assert_int_eq(faults, 14);
    cJSON_Delete(manifest);
}
END_TEST

Suite *suite_malformed(void)
{
    Suite *s = suite_create("malformed");
    TCase *c = tcase_create("malformed");
    tcase_add_loop_test(c, each_fault_is_named, 0, 2);
    tcase_add_test(c, each_model_is_refused);
    suite_add_tcase(s, c);
    return s;
}

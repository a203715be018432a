/* Tokenizers against the vectors of the implementations that wrote their files: ids of texts, and texts of ids.
 *
 * Each directory holds a tokenizer's files, perhaps packed by gzip, and vectors.jsonl.  Those of
 * tests/golden/tokenizers are always there, the others if ../shared is. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shared.h"

#include "attn.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {"tokenizer.json", "tokenizer_config.json", "tokenizer.model", "tokenizer.bin"};

/* Copies the tokenizer's files to the scratch directory, unpacked. */
static void unpack(const char *dir)
{
    struct stat st;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *from = printed("%s/%s", dir, names[i]), *packed = printed("%s.gz", from),
            *to = scratch_path(names[i]);
        remove(to);
        if (stat(from, &st) == 0)
            ck_assert_int_eq(system(printed("cp '%s' '%s'", from, to)), 0);
        else if (stat(packed, &st) == 0)
            ck_assert_int_eq(system(printed("gzip -dc '%s' >'%s'", packed, to)), 0);
    }
}

static size_t wrong;

static void complain(const char *dir, size_t line, const char *what, const char *text)
{
    if (wrong++ < 5)
        fprintf(stderr, "%s, vector %zu: %s of '%s'\n", dir, line, what, text);
}

static bool same_ids(const cJSON *want, const int32_t *ids, size_t n)
{
    const cJSON *v;
    size_t i = 0;
    cJSON_ArrayForEach(v, want) {
        if (i == n || ids[i] != (int32_t)v->valuedouble)
            return false;
        i++;
    }
    return i == n;
}

/* Tokens have ids in the same order, and bytes of the text that go up. */
static void check_tokens(const struct attn_tokenizer *t, const char *text, size_t len, const struct attn_encode_opts *o,
                         const int32_t *ids, size_t n)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_encode_with(&tokens, t, text, len, o, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(tokens->n, n);
    for (size_t i = 0; i < n; i++) {
        const struct attn_token *k = &tokens->tok[i];
        ck_assert_int_eq(k->id, ids[i]);
        ck_assert_msg(k->start <= k->end && k->end <= len, "'%s': token %zu is %zu-%zu", text, i, k->start, k->end);
    }
    attn_tokens_free(tokens);
}

static void check(const struct attn_tokenizer *t, const char *dir, size_t line, const cJSON *v, bool whole)
{
    const cJSON *text = golden_get(v, "text"), *decoded = golden_find(v, "decoded");
    struct attn_err err = {0};
    int32_t *ids = NULL;
    size_t n = 0, len;
    char *back = NULL;
    const char *s = text->valuestring;
    bool around = cJSON_IsTrue(golden_get(v, "add_bos"));
    struct attn_encode_opts o = {.special = cJSON_IsTrue(golden_get(v, "special")),
                                 .bos = !around ? ATTN_BOS_NO : whole ? ATTN_BOS_YES : ATTN_BOS_AUTO};
    if (attn_encode_ids(&ids, &n, t, s, strlen(s), &o, &err) != ATTN_OK || !same_ids(golden_get(v, "ids"), ids, n))
        complain(dir, line, err.msg[0] ? err.msg : "the ids", s);
    else
        check_tokens(t, s, strlen(s), &o, ids, n);
    if (decoded && (attn_decode(&back, &len, t, ids, n, &err) || strcmp(back, decoded->valuestring) != 0))
        complain(dir, line, back ? back : "the decoded text", s);
    free(back);
    free(ids);
}

/* How many vectors were compared.  A NUL ends a text in cJSON, so vectors with one are left out. */
static size_t run_vectors(const char *dir)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    struct stat st;
    char *line = NULL;
    size_t room = 0, n = 0;
    ssize_t len;
    unpack(dir);
    bool whole = stat(scratch_path("tokenizer.json"), &st) != 0;
    ck_assert_msg(attn_tokenizer_open(&t, printed("%s/", scratch_dir), &err) == ATTN_OK, "%s: %s", dir, err.msg);
    FILE *f = fopen(printed("%s/vectors.jsonl", dir), "rb");
    ck_assert_ptr_nonnull(f);
    for (size_t number = 1; (len = getline(&line, &room, f)) > 0; number++) {
        cJSON *v = strstr(line, "\\u0000") ? NULL : cJSON_ParseWithLength(line, (size_t)len);
        if (v)
            check(t, dir, number, v, whole);
        n += v != NULL;
        cJSON_Delete(v);
    }
    fclose(f);
    free(line);
    attn_tokenizer_close(t);
    return n;
}

static size_t run_all(const char *root)
{
    struct dirent **entry = NULL;
    struct stat st;
    size_t n = 0;
    int found = scandir(root, &entry, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        const char *dir = printed("%s/%s", root, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && stat(printed("%s/vectors.jsonl", dir), &st) == 0)
            n += run_vectors(dir);
        free(entry[i]);
    }
    free(entry);
    return n;
}

START_TEST(test_golden)
{
    wrong = 0;
    ck_assert_uint_gt(run_all("tests/golden/tokenizers"), 1000);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(test_shared)
{
    const char *path = shared_path("tokenizers");
    if (!path)
        return;
    char *root = strdup(path);
    wrong = 0;
    ck_assert_uint_gt(run_all(root), 8000);
    ck_assert_uint_eq(wrong, 0);
    free(root);
}
END_TEST

Suite *suite_vectors(void)
{
    Suite *s = suite_create("vectors");
    TCase *t = tcase_create("vectors");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_golden);
    tcase_add_test(t, test_shared);
    suite_add_tcase(s, t);
    return s;
}

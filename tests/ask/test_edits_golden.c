/* Edits as one types them, on five checkpoints, against what was recorded in double precision: each spelling of the
 * same edits, what `run` says that they did, how `generate` goes on under them, and each head taken away by itself. */
#include "suites.h"

#include "asked.h"
#include "keep.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a command line ---- */

enum { LINE = 2048 };

static void add(char line[LINE], const char *word)
{
    size_t n = strlen(line);
    n += (size_t)snprintf(line + n, LINE - n, " '");
    for (; *word && n + 8 < LINE; word++)
        n += (size_t)snprintf(line + n, LINE - n, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(line + n, LINE - n, "'");
}

static void add_ids(char line[LINE], const char *option, const cJSON *ids)
{
    char list[256] = "";
    const cJSON *id;
    cJSON_ArrayForEach(id, ids)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", *list ? "," : "", id->valueint);
    add(line, option);
    add(line, list);
}

/* A command on a case's text, without its edits.  Paths in edits are relative to the directory of the recorded data. */
static void begin(char line[LINE], const char *checkpoint, const char *command, const cJSON *doc, const cJSON *c)
{
    snprintf(line, LINE, "cd tests/golden/ask/%s && \"$A\" %s -q --format json -m ../../checkpoints/%s", checkpoint,
             command, checkpoint);
    if (golden_find(c, "text")) {
        add(line, "-s");
        add(line, golden_string(c, "text"));
    } else {
        add_ids(line, "--ids", golden_get(doc, "ids"));
    }
    if (cJSON_IsTrue(golden_get(c, "from")))
        add_ids(line, "--from-ids", golden_get(doc, "from"));
}

static void add_edits(char line[LINE], const cJSON *c)
{
    const cJSON *e;
    cJSON_ArrayForEach(e, golden_get(c, "edits")) {
        add(line, "--edit");
        add(line, e->valuestring);
    }
}

static cJSON *document(const char *line)
{
    cJSON *doc = cJSON_Parse(succeed(line)->text);
    ck_assert_msg(doc != NULL, "%s", line);
    return doc;
}

/* ---- what edits did ---- */

/* Rows of likeliest tokens: probabilities within float32, and the same tokens in the same order where they
 * differ by more. */
static void expect_likeliest(const cJSON *got, const cJSON *want, double off, const char *line)
{
    const cJSON *ids = golden_get(want, "ids"), *p = golden_get(want, "probabilities");
    double limit = asked_limit(off, 2);
    ck_assert_int_eq(cJSON_GetArraySize(got), 5);
    for (int i = 0; i < 5; i++) {
        const cJSON *is = cJSON_GetArrayItem(got, i);
        double should = cJSON_GetArrayItem(p, i)->valuedouble;
        bool tied = (i > 0 && cJSON_GetArrayItem(p, i - 1)->valuedouble - should < 2 * limit) || i == 4
                    || should - cJSON_GetArrayItem(p, i + 1)->valuedouble < 2 * limit;
        ck_assert_msg(fabs(golden_number(is, "probability") - should) <= limit, "%s: place %d", line, i);
        ck_assert_msg(tied || golden_get(is, "id")->valueint == cJSON_GetArrayItem(ids, i)->valueint,
                      "%s: place %d", line, i);
    }
}

static void check_effect(const char *line, const cJSON *c)
{
    cJSON *doc = document(line);
    const cJSON *compare = golden_get(doc, "compare"), *off = golden_get(c, "float32_max_abs_difference");
    double kl = golden_number(c, "kl");
    ck_assert_msg(fabs(golden_number(compare, "kl") - kl) <= asked_limit(golden_number(off, "kl"), 1 + kl),
                  "%s: %g, expected %g",
                  line, golden_number(compare, "kl"), kl);
    expect_likeliest(golden_get(compare, "before"), golden_get(c, "before"), golden_number(off, "logits"), line);
    expect_likeliest(golden_get(compare, "after"), golden_get(c, "after"), golden_number(off, "logits"), line);
    cJSON_Delete(doc);
}

/* Other spellings are the same edits: in the document, too. */
static void check_spellings(const char *line, const char *bare, const cJSON *c)
{
    const cJSON *way, *word;
    cJSON_ArrayForEach(way, golden_find(c, "also")) {
        char other[LINE];
        snprintf(other, sizeof other, "%s", bare);
        cJSON_ArrayForEach(word, way)
            add(other, word->valuestring);
        expect_same(other, line);
    }
}

static void check_continuation(const char *line, const cJSON *greedy)
{
    cJSON *doc = document(line);
    const cJSON *tokens = golden_get(doc, "tokens"), *id;
    int at = (int)golden_number(doc, "n_prompt");
    cJSON_ArrayForEach(id, greedy)
        ck_assert_msg(golden_get(cJSON_GetArrayItem(tokens, at++), "id")->valueint == id->valueint,
                      "%s: token %d", line, at - 1);
    ck_assert_int_eq(cJSON_GetArraySize(tokens), at);
    cJSON_Delete(doc);
}

START_TEST(recorded_commands)
{
    const char *name = asked_checkpoints[_i];
    cJSON *doc = golden_read(asked_path(name, "edits.json"));
    size_t ways = 0, continued = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, golden_get(doc, "cases")) {
        char line[LINE], bare[LINE];
        begin(bare, name, "run --show logits", doc, c);
        strcpy(line, bare);
        add_edits(line, c);
        check_effect(line, c);
        check_spellings(line, bare, c);
        ways += golden_find(c, "also") != NULL;
        const cJSON *greedy = golden_find(c, "greedy");
        if (!greedy)
            continue;
        begin(line, name, printed("generate --temperature 0 --ignore-eos -n %d", cJSON_GetArraySize(greedy)), doc, c);
        add_edits(line, c);
        check_continuation(line, greedy);
        continued++;
    }
    ck_assert(ways >= 5 && continued >= 3);
    cJSON_Delete(doc);
}
END_TEST

/* ---- each head ---- */

static void check_head(const struct asked *a, const cJSON *c, const struct attn_tokens *t, double off,
                       const float *logits)
{
    struct keep k = {.only = ATTN_ACT_LOGITS};
    struct attn_err err = {0};
    struct attn_plan plan = {.threads = 2};
    const char *edit = cJSON_GetArrayItem(golden_get(c, "edits"), 0)->valuestring;
    struct asked_editor e = asked_edit(a, &edit, 1, t, NULL, &plan);
    struct attn_observer obs[] = {attn_editor_observer(e.editor), keep_observer(&k)};
    ck_assert_msg(!attn_run_tokens(a->model, &plan, t, NULL, obs, 2, &err), "%s", err.msg);
    size_t V = k.a[0].shape[1];
    double loss = 0, logprob;
    for (size_t i = 0; i + 1 < t->n; i++) {
        ck_assert(!attn_logprob(&logprob, k.a[0].data + i * V, V, t->tok[i + 1].id, &err));
        loss -= logprob / (double)(t->n - 1);
    }
    ck_assert_msg(fabs(loss - golden_number(c, "loss")) <= asked_limit(off, 1 + loss),
                  "%s: the loss is %.9g", edit, loss);
    for (size_t j = 0; logits && j < V; j++) {
        double is = (double)k.a[0].data[(t->n - 1) * V + j], should = (double)logits[j];
        ck_assert_msg(fabs(is - should) <= asked_limit(off, 1 + fabs(should)),
                      "%s: logit %zu is %.9g, expected %.9g", edit, j, is, should);
    }
    keep_free(&k);
    asked_edit_end(&e);
}

START_TEST(heads_taken_away_one_by_one)
{
    int32_t ids[ASKED_IDS];
    struct attn_dump *arrays = NULL;
    struct attn_dump_array each;
    struct asked a = asked_open(asked_checkpoints[_i]);
    struct attn_info info;
    const char *path = asked_path(asked_checkpoints[_i], "edits.npz");         /* without it, the losses are left */
    ck_assert(!path || !attn_dump_open(&arrays, path, NULL));
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "edits.json"));
    const cJSON *heads = golden_get(doc, "single_heads"), *c;
    struct attn_tokens *t = asked_tokens(ids, asked_ids(ids, golden_get(doc, "ids")));
    attn_model_info(a.model, &info);
    cJSON_ArrayForEach(c, golden_get(heads, "cases")) {
        const float *logits = NULL;
        const char *member = printed("single-heads/%d", (int)golden_number(c, "layer"));
        for (size_t i = 0; arrays && attn_dump_array(arrays, i, &each) >= 0; i++)
            if (!strcmp(each.name, member))
                logits = each.data + (size_t)golden_number(c, "head") * info.V;
        ck_assert(!arrays || logits);
        check_head(&a, c, t, golden_number(heads, "float32_max_abs_difference"), logits);
    }
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(heads, "cases")), (int)(info.L * info.H));
    attn_tokens_free(t);
    cJSON_Delete(doc);
    attn_dump_free(arrays);
    asked_close(&a);
}
END_TEST

Suite *suite_edits_golden(void)
{
    Suite *s = suite_create("edits_golden");
    TCase *c = tcase_create("edits_golden");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    attn_test_add_rows(c, recorded_commands, ASKED_CHECKPOINTS, asked_name);
    attn_test_add_rows(c, heads_taken_away_one_by_one, ASKED_CHECKPOINTS, asked_name);
    suite_add_tcase(s, c);
    return s;
}

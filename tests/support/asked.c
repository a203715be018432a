#include "asked.h"

#include "shared.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const asked_checkpoints[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};

const char *asked_name(int i) { return asked_checkpoints[i]; }

struct asked asked_open(const char *checkpoint)
{
    struct asked a = {0};
    struct attn_err err = {0};
    snprintf(a.dir, sizeof a.dir, "tests/golden/checkpoints/%s", checkpoint);
    ck_assert_msg(!attn_model_open(&a.model, a.dir, &err) && !attn_tokenizer_open(&a.tokenizer, a.dir, &err),
                  "%s", err.msg);
    return a;
}

void asked_close(struct asked *a)
{
    attn_tokenizer_close(a->tokenizer);
    attn_model_close(a->model);
}

const char *asked_path(const char *checkpoint, const char *file)
{
    static char path[200];
    char leaf[160];
    snprintf(leaf, sizeof leaf, "golden/ask/%s/%s", checkpoint, file);
    snprintf(path, sizeof path, "tests/%s", leaf);
    return access(path, R_OK) == 0 ? path : shared_path(leaf);
}

size_t asked_ids(int32_t ids[ASKED_IDS], const cJSON *list)
{
    size_t n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, list) {
        ck_assert_uint_lt(n, ASKED_IDS);
        ids[n++] = (int32_t)e->valuedouble;
    }
    return n;
}

struct attn_tokens *asked_tokens(const int32_t *ids, size_t n)
{
    struct attn_tokens *t = NULL;
    struct attn_err err = {0};
    ck_assert_msg(!attn_tokens_from_ids(&t, ids, n, &err), "%s", err.msg);
    return t;
}

struct attn_metric *asked_metric(const struct asked *a, const char *text, const int32_t *ids, size_t n,
                                 const int32_t *reference)
{
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct attn_plan plan = {.threads = 1};
    struct attn_tokens *t = asked_tokens(reference, n);
    struct attn_metric_of of = {.model = a->model, .tokenizer = a->tokenizer, .ids = ids, .T = n};
    int rc = attn_metric_new(&m, text, &err) || attn_metric_bind(m, &of, &err)
        || attn_metric_refer_to(m, a->model, t, &plan, &err);
    ck_assert_msg(!rc, "%s: %s", text, err.msg);
    attn_tokens_free(t);
    return m;
}

double asked_limit(double float32, double size)
{
    return fmax(6 * float32, 6e-6 * size);
}

struct asked_editor asked_edit(const struct asked *a, const char *const *edits, size_t n,
                               const struct attn_tokens *text,
                               const struct attn_tokens *from, const struct attn_plan *plan)
{
    struct asked_editor e = {0};
    struct attn_err err = {0};
    int32_t ids[ASKED_IDS];
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        char edit[300];
        const char *file = strstr(edits[i], "vector.npy");
        snprintf(edit, sizeof edit, "%.*s%s%s%s%s", file ? (int)(file - edits[i]) : (int)strlen(edits[i]), edits[i],
                 file ? "tests/golden/ask/" : "", file ? strrchr(a->dir, '/') + 1 : "", file ? "/" : "",
                 file ? file : "");
        rc = attn_edits_parse(&e.list, edit, &err);
    }
    for (size_t i = 0; i < text->n; i++)
        ids[i] = text->tok[i].id;
    struct attn_editor_opts o = {.edits = e.list, .model = a->model, .from = from, .plan = *plan};
    rc = rc ||
        (n && (attn_editor_new(&e.editor, &o, &err) || attn_editor_text(e.editor, 0, ids, text->n, false, &err) ||
                      attn_editor_start(e.editor, &err)));
    ck_assert_msg(!rc, "%s", err.msg);
    return e;
}

struct asked_editor asked_edit_list(const struct asked *a, const cJSON *list, const struct attn_tokens *text,
                                    const struct attn_tokens *from, const struct attn_plan *plan)
{
    const char *edits[8];
    size_t n = 0;
    const cJSON *e;
    cJSON_ArrayForEach(e, list) {
        ck_assert_uint_lt(n, sizeof edits / sizeof *edits);
        edits[n++] = e->valuestring;
    }
    return asked_edit(a, edits, n, text, from, plan);
}

void asked_edit_end(struct asked_editor *e)
{
    attn_editor_free(e->editor);
    attn_edits_free(e->list);
}

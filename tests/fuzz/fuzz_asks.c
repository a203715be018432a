/* Reads the same text as a file of edits and as a metric, and asks a small model with what is one: nothing crashes,
 * canonical edits are read as they were written, and numbers that can be measured have gradients. */
#define _GNU_SOURCE 1

#include <string.h>

#include "attn_ask.h"
#include "fuzz.h"

#define MODEL "models/stacked"
enum { T = 5 };
static const int32_t ids[T] = {0, 1, 2, 0, 3};

struct asked {
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;
    struct attn_tokens *tokens;
};

/* The model is opened once. */
static const struct asked *open_model(void)
{
    static struct asked a;
    struct attn_err err = {0};
    if (!a.model)
        must(!attn_model_open(&a.model, MODEL, &err) && !attn_tokenizer_open(&a.tokenizer, MODEL, &err) &&
             !attn_tokens_from_ids(&a.tokens, ids, T, &err));
    return &a;
}

/* ---- edits ---- */

static void read_again(const struct attn_edits *list)
{
    struct attn_edits *again = NULL;
    struct attn_err err = {0};
    for (size_t i = 0; i < attn_edits_count(list); i++)
        must(!attn_edits_parse(&again, attn_edits_text(list, i), &err));
    must(attn_edits_count(again) == attn_edits_count(list));
    for (size_t i = 0; i < attn_edits_count(list); i++)
        must(!strcmp(attn_edits_text(again, i), attn_edits_text(list, i)));
    attn_edits_free(again);
}

static struct attn_editor *edit(struct attn_edits **list, const struct asked *a, const char *text, size_t size)
{
    struct attn_editor *editor = NULL;
    struct attn_err err = {0};
    if (attn_edits_read(list, text, size, "edits", &err)) {
        must(err.msg[0] && !attn_edits_count(*list));
        return NULL;
    }
    read_again(*list);
    struct attn_editor_opts o = {.edits = *list, .model = a->model, .from = a->tokens, .plan.threads = 1};
    int rc = attn_edits_count(*list) ? attn_editor_new(&editor, &o, &err) : ATTN_OK;
    if (!rc && editor)
        rc = attn_editor_text(editor, 0, ids, T, false, &err);
    if (!rc && editor)
        rc = attn_editor_start(editor, &err);
    must(!rc || err.msg[0]);
    if (rc) {
        attn_editor_free(editor);
        editor = NULL;
    }
    return editor;
}

/* ---- a metric ---- */

static struct attn_metric *measure(const struct asked *a, const char *text)
{
    static const struct attn_metric_field fields[] = {{"answer", "cat", 3, 0}, {"foil", NULL, 0, 2}};
    struct attn_metric_of of = {.model = a->model, .tokenizer = a->tokenizer, .ids = ids, .T = T, .field = fields,
                                .n_fields = 2};
    struct attn_metric *m = NULL;
    struct attn_err err = {0};
    int rc = attn_metric_new(&m, text, &err);
    if (!rc)
        rc = attn_metric_bind(m, &of, &err);
    if (!rc)
        rc = attn_metric_refer_to(m, a->model, a->tokens, &(struct attn_plan){.threads = 1}, &err);
    must(!rc || err.msg[0]);
    if (rc) {
        attn_metric_free(m);
        m = NULL;
    }
    return m;
}

static void run(const struct asked *a, struct attn_editor *editor, const struct attn_metric *m)
{
    struct attn_measure x = {.metric = m};
    struct attn_observer obs[2];
    struct attn_plan plan = {.threads = 1};
    struct attn_err err = {0};
    size_t n = 0;
    if (editor)
        obs[n++] = attn_editor_observer(editor);
    if (m)
        obs[n++] = attn_measure_observer(&x);
    must(!attn_run_tokens(a->model, &plan, a->tokens, NULL, obs, n, &err) || err.msg[0]);
}

static void differentiate(const struct asked *a, struct attn_editor *editor, const struct attn_metric *m)
{
    struct attn_slopes *slopes = NULL;
    struct attn_select *select = NULL;
    struct attn_kind kind = {0};
    struct attn_err err = {0};
    must(!attn_select_new(&select, a->model, &kind, "pattern,context", NULL, NULL, &err));
    struct attn_slopes_opts o = {.metric = m, .select = select, .plan.threads = 1, .editor = editor};
    must(!attn_slopes_new(&slopes, a->model, a->tokens, &o, &err) || err.msg[0]);
    attn_slopes_free(slopes);
    attn_select_free(select);
}

/* The first line is the metric, the others are edits; if there is only one it is read as both.  Files that are named
 * are not opened: they may be devices. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct asked *a = open_model();
    char *text = calloc(1, size + 1), *edits = text;
    must(text != NULL);
    memcpy(text, data, size);
    bool files = memmem(text, size, "/", 1) || memmem(text, size, ".np", 3) || memmem(text, size, "texts", 5);
    char *end = memchr(text, '\n', size);
    if (end) {
        *end = '\0';
        edits = end + 1;
    }
    struct attn_edits *list = NULL;
    struct attn_editor *editor = files ? NULL : edit(&list, a, edits, size - (size_t)(edits - text));
    struct attn_metric *m = measure(a, text);
    if (editor || m)
        run(a, editor, m);
    if (m && attn_metric_is_smooth(m))
        differentiate(a, editor, m);
    attn_metric_free(m);
    attn_editor_free(editor);
    attn_edits_free(list);
    free(text);
    return 0;
}

/* question.c - opens what a question speaks of, in the order in which faults are best reported: the plan, the texts,
 * then the edits. */
#include "answers/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* ---- texts ------------------------------------------------------------------------------- */

size_t attn_input_length(const struct attn_input *s)
{
    return s->text && !s->len ? strlen(s->text) : s->len;
}

int attn_asked_tokenizer(struct attn_asked_of *a, bool spell, struct attn_err *err)
{
    struct attn_err why = {0};
    if (!a->tokenizer)
        a->tokenizer = a->q->tokenizer;
    if (a->tokenizer || !attn_model_tokenizer(&a->own, a->q->model, &why)) {
        a->tokenizer = a->tokenizer ? a->tokenizer : a->own;
        return ATTN_OK;
    }
    return spell && why.code != ATTN_ENOMEM ? ATTN_OK : attn_fail_as(err, &why);
}

static int encode(struct attn_tokens **out, struct attn_asked_of *a, const struct attn_input *s, struct attn_err *err)
{
    if (s->text && s->ids)
        return attn_fail(err, ATTN_EUSAGE, "a text and token ids are both given, expected one of them");
    if (s->ids)
        return attn_tokens_from_ids(out, s->ids, s->n, err);
    if (!s->text)
        return ATTN_OK;
    int rc = attn_asked_tokenizer(a, false, err);
    return rc ? rc : attn_encode_with(out, a->tokenizer, s->text, attn_input_length(s), &a->q->encode, err);
}

static int encode_all(struct attn_asked_of *a, enum attn_asked_text how, struct attn_err *err)
{
    int rc = encode(&a->tokens, a, &a->q->text, err);
    if (!rc)
        rc = encode(&a->from, a, &a->q->from, err);
    if (!rc)
        rc = encode(&a->cross, a, &a->q->cross, err);
    if (!rc && how != ATTN_ASKED_ANY && !a->tokens)
        rc = attn_fail(err, ATTN_EUSAGE, "there is neither a text nor token ids");
    if (!rc && a->tokens && !a->tokens->n)
        rc = attn_fail(err, ATTN_EFORMAT, "the text is empty: there is no token to run");
    return rc || !a->tokens ? rc : attn_tokens_to_ids(&a->ids, a->tokens, err);
}

/* ---- edits ------------------------------------------------------------------------------- */

static int read_edits(struct attn_asked_of *a, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (const char *const *edit = a->q->edits; edit && *edit && !rc; edit++)
        rc = attn_edits_parse(&a->edits, *edit, err);
    return rc;
}

static int start_editor(struct attn_asked_of *a, enum attn_asked_text how, struct attn_err *err)
{
    const struct attn_editor_opts o = {
        .edits = a->edits, .model = a->q->model, .encode = a->q->encode,
        .from = a->from, .cross = a->cross, .plan = a->plan};
    int rc = how != ATTN_ASKED_WINDOWS ? attn_run_check_tokens(a->q->model, a->tokens, a->cross, err) : ATTN_OK;
    if (!rc)
        rc = attn_editor_new(&a->editor, &o, err);
    if (!rc)
        rc = attn_editor_text(a->editor, 0, a->ids, a->tokens->n, how == ATTN_ASKED_PROMPT, err);
    return rc ? rc : attn_editor_start(a->editor, err);
}

/* ---- all of it --------------------------------------------------------------------------- */

enum { MORE = 2 };                      /* observers that an answer may add */

static int list_observers(struct attn_asked_of *a, struct attn_err *err)
{
    a->observers = calloc(a->q->n_observers + 1 + MORE, sizeof *a->observers);
    if (!a->observers)
        return attn_no_memory(err, NULL, "for %zu observers", a->q->n_observers);
    if (a->editor)
        a->observers[a->n++] = attn_editor_observer(a->editor);
    for (size_t i = 0; i < a->q->n_observers; i++)
        a->observers[a->n++] = a->q->observers[i];
    return ATTN_OK;
}

int attn_asked_open(struct attn_asked_of *a, const struct attn_question *q, enum attn_asked_text how,
                    struct attn_err *err)
{
    *a = (struct attn_asked_of){.q = q};
    int rc = attn_plan_parse(&a->plan, q->plan, err);
    if (!rc)
        rc = encode_all(a, how, err);
    if (!rc)
        rc = read_edits(a, err);
    if (!rc && a->edits && how != ATTN_ASKED_ANY)
        rc = start_editor(a, how, err);
    return rc ? rc : list_observers(a, err);
}

void attn_asked_close(struct attn_asked_of *a)
{
    free(a->observers);
    attn_editor_free(a->editor);
    attn_edits_free(a->edits);
    attn_tokens_free(a->tokens);
    attn_tokens_free(a->from);
    attn_tokens_free(a->cross);
    attn_tokenizer_close(a->own);
    free(a->ids);
}

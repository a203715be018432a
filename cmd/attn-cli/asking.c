#include "asking.h"

#include "opts_output.h"

#include "base/err.h"

#include <ctype.h>
#include <stdio.h>

int asked_open(struct asked *a, const struct command *c, const char *format, const char *path, struct attn_err *err)
{
    struct attn_err why = {0};
    if (input_read(&a->in, err) || open_model(&a->model, c, err) || input_tokens(&a->tokens, &a->tokenizer, &a->in, err))
        return err->code;
    if (!a->tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    if (!a->tokenizer && open_tokenizer(&a->tokenizer, &why) == ATTN_ENOMEM)
        return attn_fail_as(err, &why); /* ids need none, so it may be missing or of no use */
    return input_label(a->tokens, &a->tokenizer, &a->in, a->model, output_is_seen(format, path), err);
}

int asked_edit(struct asked *a, struct attn_err *err)
{
    int code = edits_open(&a->edits, &a->tokenizer, err);
    return code ? code : edits_bind(&a->edits, a->model, a->tokens, NULL, EDITS_TEXT, err);
}

size_t asked_observe(struct asked *a, struct attn_observer list[2], bool wanted)
{
    size_t n = edits_observe(&a->edits, list);
    progress_start(&a->progress, a->model, wanted);
    list[n] = progress_observer(&a->progress);
    return n + 1;
}

void asked_close(struct asked *a)
{
    attn_tokens_free(a->tokens);
    edits_close(&a->edits);
    attn_tokenizer_close(a->tokenizer);
    attn_model_close(a->model);
    input_free(&a->in);
}

/* Most tokens that begin a word begin with a blank: without it, `ball` is a token that hardly ever comes next. */
static void note_twin(int32_t id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t)
{
    struct attn_err ignored = {0};
    char spaced[64];
    int32_t twin;
    if (isalpha((unsigned char)*text) && snprintf(spaced, sizeof spaced, " %s", text) < (int)sizeof spaced &&
        !attn_token_parse(&twin, spaced, m, t, &ignored) && twin != id)
        say_note("\"%s\" is another token than \"%s\", which begins a word within a text", text, spaced);
}

int read_token(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t, struct attn_err *err)
{
    int code = attn_token_parse(id, text, m, t, err);
    if (!code)
        note_twin(*id, text, m, t);
    return code;
}

int bind_metric(struct attn_metric *m, const struct attn_model *model, struct attn_tokenizer **tokenizer, const int32_t *ids,
                size_t n, struct attn_err *err)
{
    if (attn_metric_has_words(m) && open_tokenizer(tokenizer, err))
        return err->code;
    struct attn_metric_of of = {.model = model, .tokenizer = *tokenizer, .ids = ids, .T = n};
    return attn_metric_bind(m, &of, err);
}

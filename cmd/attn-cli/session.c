#include "session.h"

#include "opts_output.h"

#include "base/err.h"

int session_read(struct session *s, unsigned how, struct attn_err *err)
{
    int code = input_read(&s->in, err);
    return code || !(how & SESSION_CROSSES) ? code : input_read_other(&s->other, err);
}

int session_encode(struct session *s, const char *format, const char *path, unsigned how, struct attn_err *err)
{
    bool seen = output_is_seen(format, path);
    int code = input_tokens(&s->tokens, &s->tokenizer, &s->in, err);
    if (!code && !s->tokens->n && !(how & SESSION_EMPTY))
        code = attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    if (!code)
        code = input_tokens_other(&s->cross, &s->tokenizer, &s->other, err);
    if (!code && how & SESSION_SPELLS)
        code = try_tokenizer(&s->tokenizer, s->model, err);
    if (!code)
        code = input_label(s->tokens, &s->tokenizer, &s->in, s->model, seen, err);
    return code ? code : input_label(s->cross, &s->tokenizer, &s->other, s->model, seen, err);
}

int session_open(struct session *s, const struct command *c, const char *format, const char *path, unsigned how,
                 struct attn_err *err)
{
    int code = session_read(s, how, err);
    if (!code)
        code = open_model(&s->model, c, err);
    return code ? code : session_encode(s, format, path, how, err);
}

int session_edit(struct session *s, enum edits_text how, struct attn_err *err)
{
    int code = edits_open(&s->edits, &s->tokenizer, err);
    return code ? code : edits_bind(&s->edits, s->model, s->tokens, s->cross, how, err);
}

size_t session_observe(struct session *s, struct attn_observer list[2], bool wanted)
{
    size_t n = edits_observe(&s->edits, list);
    progress_start(&s->progress, s->model, wanted);
    list[n] = progress_observer(&s->progress);
    return n + 1;
}

void session_close(struct session *s)
{
    edits_close(&s->edits);
    attn_tokens_free(s->tokens);
    attn_tokens_free(s->cross);
    close_tokenizer(s->tokenizer);
    close_model(s->model);
    input_free(&s->in);
    input_free(&s->other);
}

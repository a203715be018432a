#include "transcript.h"

#include "opts_output.h"
#include "cli_print.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static int append(struct transcript *t, const char *s, size_t len, struct attn_err *err)
{
    size_t need = t->len + len + 1;
    if (need > t->size) {
        char *more = realloc(t->text, 2 * need);
        if (!more)
            return attn_no_memory(err, NULL, "for a text of %zu bytes", need);
        t->text = more;
        t->size = 2 * need;
    }
    memcpy(t->text + t->len, s, len);
    t->len += len;
    t->text[t->len] = '\0';
    return ATTN_OK;
}

static bool has_text(const struct transcript *t)
{
    return t->tokenizer || t->labels;
}

/* Tokens of a word vocabulary and labels are joined by a space, those of other tokenizers by nothing. */
static int append_space(struct transcript *t, struct attn_err *err)
{
    bool words = t->labels || (t->tokenizer && !strcmp(attn_tokenizer_kind(t->tokenizer), "word"));
    return words && t->len ? append(t, " ", 1, err) : ATTN_OK;
}

/* A model may have more ids than its tokenizer; such tokens have no text. */
static int append_token(struct transcript *t, int32_t id, bool silent, struct attn_err *err)
{
    size_t len = 0, raw_len = 0, start = t->len;
    const char *text = t->labels ? attn_labels_text(t->labels, id, &len)
                                 : t->tokenizer ? attn_tokenizer_text(t->tokenizer, id, &len) : NULL;
    const char *raw = t->labels ? text : text ? attn_tokenizer_raw(t->tokenizer, id, &raw_len) : NULL;
    raw_len = t->labels ? len : raw_len;
    int code = text && !silent ? append(t, text, len, err) : ATTN_OK;
    t->tok[t->n++] = (struct attn_token){
        .id = id, .known = text != NULL, .text = text ? text : "", .raw = raw ? raw :
              "", .text_len = len, .raw_len = raw_len,
        .start = start, .end = t->len};
    return code;
}

static int take_prompt(struct transcript *t, const struct attn_tokens *prompt, const char *text, size_t len,
                       struct attn_err *err)
{
    int code = append(t, text ? text : "", len, err);
    if (text) {
        memcpy(t->tok, prompt->tok, prompt->n * sizeof *t->tok);
        t->n = prompt->n;
    }
    for (size_t i = t->n; i < prompt->n && !code; i++) {
        code = append_space(t, err);
        if (!code)
            code = append_token(t, prompt->tok[i].id, false, err);
    }
    t->prompt = prompt->n;
    t->begin = t->final = t->len;
    return code;
}

int transcript_start(struct transcript *t, const struct attn_tokens *prompt, const char *text, size_t len, size_t room,
                     struct attn_err *err)
{
    t->tok = calloc(room, sizeof *t->tok);
    if (!t->tok)
        return attn_no_memory(err, NULL, "for %zu tokens", room);
    return take_prompt(t, prompt, text, len, err);
}

int transcript_add(struct transcript *t, int32_t id, bool silent, struct attn_err *err)
{
    int code = silent ? ATTN_OK : append_space(t, err);
    if (!code && t->n == t->prompt)
        t->begin = t->final = t->len;
    if (!code)
        code = append_token(t, id, silent, err);
    if (!code)
        t->final += attn_text_ready(t->text + t->final, t->len - t->final, t->stop, &t->stopped);
    return code;
}

static void show_ids(struct transcript *t)
{
    for (; t->shown < t->n; t->shown++)
        printf("%s%d", t->shown ? " " : "", t->tok[t->shown].id);
}

void transcript_show(struct transcript *t, bool finally)
{
    if (finally && !t->stopped)
        t->final = t->len;
    if (has_text(t)) {
        print_text(stdout, t->text + t->shown, t->final - t->shown, terminal_is(NULL));
        t->shown = t->final;
    } else {
        show_ids(t);
    }
    if (finally)
        putchar('\n');
    fflush(stdout);
}

const char *transcript_continuation(const struct transcript *t, size_t *len)
{
    *len = (t->stopped ? t->final : t->len) - t->begin;
    return has_text(t) ? t->text + t->begin : NULL;
}

void transcript_free(struct transcript *t)
{
    free(t->tok);
    free(t->text);
}

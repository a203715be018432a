#include "asking.h"

#include "input.h"
#include "say.h"

#include <ctype.h>
#include <stdio.h>

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

int read_token(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t,
               struct attn_err *err)
{
    int code = attn_token_parse(id, text, m, t, err);
    if (!code)
        note_twin(*id, text, m, t);
    return code;
}

int bind_metric(struct attn_metric *m, const struct attn_model *model, struct attn_tokenizer **tokenizer,
                const int32_t *ids, size_t n, struct attn_err *err)
{
    if (attn_metric_has_words(m) && open_tokenizer(tokenizer, err))
        return err->code;
    struct attn_metric_of of = {.model = model, .tokenizer = *tokenizer, .ids = ids, .T = n};
    if (attn_metric_bind(m, &of, err))
        return err->code;
    const char *word;
    for (size_t i = 0; (word = attn_metric_word(m, i)); i++) {
        struct attn_err ignored = {0};
        int32_t id;
        if (!attn_token_parse(&id, word, model, *tokenizer, &ignored))
            note_twin(id, word, model, *tokenizer);
    }
    return ATTN_OK;
}

#include "tokenizing.h"

#include <stdlib.h>
#include <string.h>

static void encode(const struct attn_tokenizer *t, const char *text, bool special)
{
    struct attn_encode_opts o = {.special = special};
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    size_t len = strlen(text), n = 0, back_len;
    char *back = NULL;
    int32_t *ids = NULL;
    if (attn_encode_with(&tokens, t, text, len, &o, &err) != ATTN_OK) {
        must(tokens == NULL && err.msg[0]);
        return;
    }
    must(attn_encode_ids(&ids, &n, t, text, len, &o, &err) == ATTN_OK && n == tokens->n);
    for (size_t i = 0; i < n; i++) {
        const struct attn_token *k = &tokens->tok[i];
        must(k->start <= k->end && k->end <= len && k->id == ids[i] && strlen(k->raw) == k->raw_len);
    }
    must(attn_decode(&back, &back_len, t, ids, n, &err) == ATTN_OK);
    free(back);
    free(ids);
    attn_tokens_free(tokens);
}

void must_tokenize(const uint8_t *data, size_t size, const char *name,
                   int (*read)(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err))
{
    static const char *const texts[] = {"ab  aba ", "a1\n <s>\u2581b", "e\u0301A \u00e9\u4e00", ""};
    struct attn_subword *b = NULL;
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    struct attn_text_file file = {(const char *)data, size, name};
    if (read(&b, &file, &err) != ATTN_OK) {
        must(b == NULL && err.msg[0]);
        return;
    }
    must(attn_tokenizer_subword(&t, b, name, &err) == ATTN_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        encode(t, texts[i], false);
        encode(t, texts[i], true);
    }
    attn_tokenizer_close(t);
}

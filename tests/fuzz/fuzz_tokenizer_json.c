#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text/subword.h"

/* If the vocabulary can spell a text, its tokens lie within the text and are in order. */
static void encode(const struct attn_tokenizer *t, const char *text, bool special)
{
    struct attn_encode_opts o = {.special = special};
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    size_t len = strlen(text), last = 0;
    if (attn_encode_with(&tokens, t, text, len, &o, &err) != ATTN_OK) {
        must(tokens == NULL && err.msg[0]);
        return;
    }
    for (size_t i = 0; i < tokens->n; i++) {
        const struct attn_token *k = &tokens->tok[i];
        must(k->start <= k->end && k->end <= len && last <= k->end && strlen(k->raw) == k->raw_len);
        last = k->end;
    }
    attn_tokens_free(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const texts[] = {"abc  ab cab", "a1\n new one <|end|>abc", "ae\u0301 \u1100\u1161\u11a8b", ""};
    struct attn_subword *b = NULL;
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    struct attn_text_file file = {(const char *)data, size, "tokenizer.json"};
    if (attn_tokenizer_json_read(&b, &file, &err) != ATTN_OK) {
        must(b == NULL && err.msg[0]);
        return 0;
    }
    must(attn_tokenizer_subword(&t, b, "tokenizer.json", &err) == ATTN_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        encode(t, texts[i], false);
        encode(t, texts[i], true);
    }
    attn_tokenizer_close(t);
    return 0;
}

#include <string.h>

#include "attn_tools.h"
#include "fuzz.h"
#include "text/tokens.h"

enum { LOWERCASE = 1, DROP = 2, UNKNOWN = 4 };                      /* bits of the first byte */

/* Every word of a text is in the vocabulary built from it, and the decoded text has the same tokens. */
static void round_trip(const struct attn_tokenizer *t, const char *text, size_t len, size_t words)
{
    struct attn_tokens *tokens = NULL, *again = NULL;
    struct attn_err err = {0};
    char *back = NULL;
    size_t back_len, last = 0;
    must(attn_encode(&tokens, t, text, len, &err) == ATTN_OK);
    must(attn_tokenizer_size(t) == words);
    int32_t *ids = malloc((tokens->n + 1) * sizeof *ids);
    for (size_t i = 0; i < tokens->n; i++) {
        const struct attn_token *k = &tokens->tok[i];
        must(last <= k->start && k->start < k->end && k->end <= len && k->known && strlen(k->text) == k->text_len);
        last = k->end;
        ids[i] = k->id;
    }
    must(attn_decode(&back, &back_len, t, ids, tokens->n, &err) == ATTN_OK);
    must(attn_encode(&again, t, back, back_len, &err) == ATTN_OK);
    must(again->n == tokens->n);
    for (size_t i = 0; i < again->n; i++)
        must(again->tok[i].id == ids[i]);
    attn_tokens_free(tokens);
    attn_tokens_free(again);
    free(ids);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int bits = size > 0 ? data[0] : 0;
    const char *text = size > 0 ? (const char *)data + 1 : "";
    size_t len = size > 0 ? size - 1 : 0, json_len, words;
    struct attn_vocab_opts o = {.drop = bits & DROP ? ",\u00bf" : NULL, .lowercase = bits & LOWERCASE,
                                .unknown = bits & UNKNOWN ? "<unk>" : NULL};
    struct attn_word_rule rule = {.drop = bits & DROP ? ",\u00bf" : NULL, .lowercase = bits & LOWERCASE};
    struct attn_err err = {0};
    struct attn_vocab *v = NULL;
    struct attn_tokenizer *t = NULL;
    char *json = NULL;
    if (attn_vocab_build(&json, &json_len, &words, text, len, &o, &err) != ATTN_OK) {
        must(json == NULL && err.msg[0]);
        return 0;
    }
    must(attn_vocab_read(&v, json, json_len, "vocab.json", &err) == ATTN_OK);
    must(attn_tokenizer_word(&t, v, &rule, "vocab.json", &err) == ATTN_OK);
    round_trip(t, text, len, words);
    attn_tokenizer_close(t);
    free(json);
    return 0;
}

#include <stdlib.h>

#include "fuzz.h"
#include "text/subword.h"

static const char vocab[] =
    "{\"a\": 0, \"b\": 1, \"c\": 2, \"ab\": 3, \"abc\": 4, \"\u0120\": 5, \"\u0120ab\": 6, \"#\": 7, "
    "\"aa\": 8, \"aaa\": 9, \"bc\": 10, \"<|end|>\": 11}";

/* Whatever the rules are, the tokens of a text cover it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "abcab abc aaaaaa #ab bc cba";
    struct attn_subword *b = NULL;
    struct attn_encoding spans = {0};
    struct attn_err err = {0};
    struct attn_text_file v = {vocab, sizeof vocab - 1, "vocab.json"}, m = {(const char *)data, size, "merges.txt"};
    size_t at = 0;
    if (attn_subword_read(&b, &(struct attn_merges_files){.vocab = v, .merges = m}, &err) != ATTN_OK) {
        must(b == NULL && err.msg[0]);
        return 0;
    }
    must(attn_subword_encode(&spans, b, text, sizeof text - 1, &(struct attn_encode_opts){0}, &err) == ATTN_OK);
    for (size_t i = 0; i < spans.n; i++) {
        must(spans.range[i].start == at);
        at = spans.range[i].end;
    }
    must(at == sizeof text - 1);
    attn_encoding_free(&spans);
    attn_subword_free(b);
    return 0;
}

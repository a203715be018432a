#include <string.h>

#include "fuzz.h"
#include "text/vocab.h"

/* Every word is found by its id, and every id by its word. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_vocab *v = NULL;
    struct attn_err err = {0};
    const char *near[3];
    size_t near_len[3], len, back_len;
    int32_t last = -1;
    if (attn_vocab_read(&v, (const char *)data, size, "fuzz.json", &err) != ATTN_OK) {
        must(v == NULL && err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < attn_vocab_size(v); i++) {
        const char *word = attn_vocab_at(v, i, &len);
        int32_t id = attn_vocab_id(v, word, len);
        must(id > last);
        must(attn_vocab_word(v, id, &back_len) == word && back_len == len && strlen(word) == len);
        last = id;
    }
    must(last == attn_vocab_top(v));
    must(attn_vocab_nearest(v, "Life", 4, near, near_len, 3) <= 3);
    attn_vocab_free(v);
    return 0;
}

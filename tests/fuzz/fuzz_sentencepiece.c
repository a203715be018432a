#include "tokenizing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    must_tokenize(data, size, "tokenizer.model", attn_sentencepiece_read);
    return 0;
}

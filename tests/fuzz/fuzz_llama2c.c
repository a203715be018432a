#include "tokenizing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    must_tokenize(data, size, "tokenizer.bin", attn_llama2c_read);
    return 0;
}

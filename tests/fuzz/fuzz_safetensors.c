#include <string.h>

#include "fuzz.h"
#include "io/safetensors.h"

/* Every byte of every tensor lies within the file, and together the tensors are all of its data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t end;
    if (attn_st_open(&st, data, size, "fuzz.safetensors", &err) != ATTN_OK) {
        must(st == NULL && err.msg[0]);
        return 0;
    }
    end = st->header_len;
    for (size_t i = 0; i < attn_st_count(st); i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        must(attn_st_find(st, t->name) == t);
        must(t->data == data + end);
        must(t->bytes == t->count * attn_st_element(t->dtype));
        end += t->bytes;
    }
    must(end == size);
    attn_st_close(st);
    return 0;
}

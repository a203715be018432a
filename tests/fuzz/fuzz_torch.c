#include <string.h>

#include "fuzz.h"
#include "io/torch.h"

/* Every byte of every tensor can be read, and copies are no larger than the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_st *st = NULL;
    struct attn_err err = {0};
    size_t sum = 0;
    if (attn_torch_open(&st, data, size, "fuzz.bin", &err) != ATTN_OK) {
        must(st == NULL && err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < attn_st_count(st); i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        must(attn_st_find(st, t->name) == t);
        must(t->bytes == t->count * attn_st_element(t->dtype));
        for (size_t k = 0; k < t->bytes; k++)
            sum += t->data[k];
    }
    must(sum < SIZE_MAX);
    must(st->copies <= attn_st_count(st) * 2);
    attn_st_close(st);
    return 0;
}

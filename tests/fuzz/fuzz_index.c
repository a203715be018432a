#include <string.h>

#include "fuzz.h"
#include "model/shards.h"

/* No file is outside the directory, and each tensor is found in the file that the index lists for it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_index x;
    struct attn_err err = {0};
    if (attn_index_read(&x, (const char *)data, size, "fuzz.json", &err) != ATTN_OK) {
        must(!x.n && !x.files && err.msg[0]);
        return 0;
    }
    must(x.n > 0 && x.files > 0 && x.files <= x.n);
    for (size_t i = 0; i < x.files; i++)
        must(x.file[i][0] && x.file[i][0] != '.' && !strchr(x.file[i], '/'));
    for (size_t i = 0; i < x.n; i++) {
        must(x.entry[i].file < x.files);
        must(attn_index_find(&x, x.entry[i].tensor) == &x.entry[i]);
    }
    attn_index_free(&x);
    return 0;
}

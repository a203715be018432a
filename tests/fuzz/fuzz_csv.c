#include "fuzz.h"
#include "io/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_array a = {0};
    struct attn_err err = {0};
    int rc = attn_dump_read_csv(&a, (const char *)data, size, "fuzz.csv", &err);
    must(rc == ATTN_OK || (!a.data && err.msg[0]));
    if (rc == ATTN_OK)
        must(a.ndim == 2 && a.n == a.shape[0] * a.shape[1] && a.n <= size);
    attn_array_free(&a);
    return 0;
}

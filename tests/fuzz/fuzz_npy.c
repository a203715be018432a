#include "fuzz.h"
#include "io/npy.h"

/* An array that is read has as many numbers as its shape says, and all of them can be accessed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_array a = {0};
    struct attn_err err = {0};
    if (attn_npy_read(&a, data, size, "fuzz.npy", &err) != ATTN_OK) {
        must(!a.data && err.msg[0]);
        return 0;
    }
    size_t n = 1;
    volatile double sum = 0;            /* so that each number is read */
    for (int i = 0; i < a.ndim; i++)
        n *= a.shape[i];
    must(a.n == n && n <= size);
    for (size_t i = 0; i < n; i++)
        sum += (double)a.data[i];
    (void)sum;
    free(a.data);
    return 0;
}

#include "fuzz.h"
#include "base/utf8.h"
#include "io/npy.h"

/* Texts lie within the file, and each is valid UTF-8 of at most 4 bytes for a code point. */
static void read_texts(const uint8_t *data, size_t size)
{
    struct attn_npy_texts t;
    struct attn_err err = {0};
    if (attn_npy_texts(&t, data, size, "fuzz.npy", &err) != ATTN_OK || !t.at)
        return;
    must(t.width > 0 && t.at >= data && t.n <= (size - (size_t)(t.at - data)) / (4 * t.width));
    char *text = malloc(4 * t.width);
    must(text != NULL);
    for (size_t i = 0, len; i < t.n && attn_npy_text(text, &len, &t, i, &err) == ATTN_OK; i++)
        must(len <= 4 * t.width && attn_utf8_valid(text, len) == len);
    free(text);
}

/* An array that is read has as many numbers as its shape says, and all of them can be accessed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_array a = {0};
    struct attn_err err = {0};
    read_texts(data, size);
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
    attn_array_free(&a);
    return 0;
}

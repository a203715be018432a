#include "fuzz.h"
#include "attend/numbers.h"

#include <string.h>

static void check(const struct attn_array *a, size_t size)
{
    size_t n = 1;
    volatile double sum = 0;            /* so that each number is read */
    must(a->ndim > 0 && a->ndim <= ATTN_ARRAY_DIMS && a->n > 0 && a->n <= size);
    for (int i = 0; i < a->ndim; i++)
        n *= a->shape[i];
    must(n == a->n);
    for (size_t i = 0; i < n; i++)
        sum += (double)a->data[i];
    (void)sum;
}

/* Text is read as numbers, as a table and as an .npy file: an array has as many numbers as its shape says, and a table
 * a label for each row and column, or none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_labelled n = {.name = strdup("fuzz")};
    struct attn_err err = {0};
    const char *text = (const char *)data;
    (void)attn_numbers_typed(text, size);
    if (attn_numbers_text(&n.of, text, size, "fuzz", &err) == ATTN_OK)
        check(&n.of, size);
    else
        must(!n.of.data && err.msg[0]);
    attn_array_free(&n.of);
    n.of = (struct attn_array){0};
    if (attn_numbers_table(&n, text, size, "fuzz", &err) == ATTN_OK) {
        check(&n.of, size);
        must((!n.rows.n || n.rows.n == n.of.shape[0]) && (!n.cols.n || n.cols.n == n.of.shape[1]));
    }
    attn_numbers_free(&n);
    struct attn_array a = {0};
    if (attn_npy_read_any(&a, data, size, "fuzz.npy", &err) == ATTN_OK && a.n && a.ndim)
        check(&a, size);
    attn_array_free(&a);
    return 0;
}

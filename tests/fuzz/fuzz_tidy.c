#include "attn_tools.h"
#include "fuzz.h"
#include "io/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_dump *d = calloc(1, sizeof *d);
    struct attn_err err = {0};
    d->path = "fuzz.tidy";
    int rc = attn_dump_read_tidy(d, (const char *)data, size, "fuzz.tidy", &err);
    must(rc == ATTN_OK ? d->n > 0 : err.msg[0] != '\0');
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_array *a = &d->item[i].of;
        size_t n = a->shape[0] * a->shape[1] * (a->ndim == 3 ? a->shape[2] : 1);
        must(a->n == n && n > 0 && n <= size && (a->ndim == 3) == (d->item[i].n_heads > 0));
    }
    attn_dump_free(d);
    return 0;
}

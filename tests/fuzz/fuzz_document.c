#include "attn_tools.h"
#include "fuzz.h"
#include "io/dump.h"

/* The input is read as a run's document, then as a manifest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int manifest = 0; manifest < 2; manifest++) {
        struct attn_err err = {0};
        struct attn_dump *d = calloc(1, sizeof *d);
        int rc = (manifest ? attn_dump_read_manifest : attn_dump_read_document)
            (d, (const char *)data, size, "fuzz.json", &err);
        must(rc == ATTN_OK || err.msg[0]);
        for (size_t i = 0; i < d->n; i++) {
            size_t n = 1;
            for (int k = 0; k < d->item[i].of.ndim; k++)
                n *= d->item[i].of.shape[k];
            must(d->item[i].of.n == n && n <= size && attn_dump_item(d, d->item[i].name) == &d->item[i]);
        }
        attn_dump_free(d);
    }
    return 0;
}

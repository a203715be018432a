#include "fuzz.h"
#include "io/zip.h"

/* Every member lies within the file, and all of them together are no larger. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_unzip z;
    struct attn_unzipped m;
    struct attn_err err = {0};
    size_t all = 0;
    int rc = attn_unzip_start(&z, data, size, "fuzz.npz", &err);
    while (rc == ATTN_OK && (rc = attn_unzip_next(&z, &m, &err)) == ATTN_OK && m.name) {
        must(m.data >= data && m.size <= size - (size_t)(m.data - data));
        must((const uint8_t *)m.name > data && m.name_len < size);
        all += m.size;
        must(all <= size);
    }
    must(rc == ATTN_OK || err.msg[0]);
    return 0;
}

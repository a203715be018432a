#include "picture/engine_module.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/sha256.h"

enum { STEP = 1 << 16 };

bool attn_engine_is_there(void) { return attn_engine_module != NULL; }

/* Inflates it piece by piece, so that nobody need know how long it is. */
int attn_engine_digest(char hex[65], struct attn_err *err)
{
    unsigned char *piece = malloc(STEP);
    struct attn_sha256 sum;
    z_stream z = {.next_in = (z_const Bytef *)attn_engine_module,
                  .avail_in = (uInt)(attn_engine_module_end - attn_engine_module)};
    int rc = piece && inflateInit(&z) == Z_OK ? Z_OK : Z_MEM_ERROR;
    if (!attn_engine_is_there())        /* of nothing */
        rc = rc == Z_OK ? Z_STREAM_END : rc;
    attn_sha256_start(&sum);
    while (rc == Z_OK) {
        z.next_out = piece;
        z.avail_out = STEP;
        rc = inflate(&z, Z_NO_FLUSH);
        attn_sha256_add(&sum, piece, STEP - z.avail_out);
    }
    inflateEnd(&z);
    free(piece);
    attn_sha256_end(&sum, hex);
    return rc == Z_STREAM_END ? ATTN_OK : attn_no_memory(err, NULL, "for the engine of a page");
}

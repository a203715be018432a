#include "picture/engine.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/embed.h"
#include "base/sha256.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif
ATTN_EMBED(attn_engine_packed, ATTN_BUILT "/engine.z");

const unsigned char *attn_engine_module(size_t *n)
{
    *n = (size_t)(attn_engine_packed_end - attn_engine_packed);
    return *n ? attn_engine_packed : NULL;
}

enum { PIECE = 1 << 16 };

int attn_engine_digest(char hex[65], struct attn_err *err)
{
    size_t n;
    unsigned char *piece = malloc(PIECE);
    z_stream z = {.next_in = (z_const Bytef *)attn_engine_module(&n)};
    struct attn_sha256 sum;
    z.avail_in = (uInt)n;
    int rc = piece ? inflateInit(&z) : Z_MEM_ERROR;
    attn_sha256_start(&sum);
    while (rc == Z_OK && n) {
        z.next_out = piece;
        z.avail_out = PIECE;
        rc = inflate(&z, Z_NO_FLUSH);
        attn_sha256_add(&sum, piece, PIECE - z.avail_out);
    }
    inflateEnd(&z);
    free(piece);
    attn_sha256_end(&sum, hex);
    return rc == Z_STREAM_END || (rc == Z_OK && !n) ? ATTN_OK : attn_no_memory(err, NULL, "for the engine of a page");
}

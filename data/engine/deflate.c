/* deflate.c - packs the engine of pages while attn-cli is built, as browsers unpack it: zlib's format, as small as it
 * gets.
 *
 *     deflate <engine.wasm >engine.z */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { LIMIT = 16 << 20 };

int main(void)
{
    unsigned char *raw = malloc(LIMIT), *packed = malloc(compressBound(LIMIT));
    size_t n = raw ? fread(raw, 1, LIMIT, stdin) : LIMIT;
    uLongf len = compressBound((uLong)n);
    if (!packed || n == LIMIT || ferror(stdin) || compress2(packed, &len, raw, (uLong)n, Z_BEST_COMPRESSION) != Z_OK) {
        fprintf(stderr, "deflate: the engine could not be packed\n");
        return 1;
    }
    return fwrite(packed, 1, len, stdout) != len || fflush(stdout);
}

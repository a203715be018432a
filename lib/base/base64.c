#include "base/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes 1 to 3 bytes as four letters. */
static void encode(char out[4], const unsigned char *in, size_t n)
{
    unsigned a = in[0], b = n > 1 ? in[1] : 0, c = n > 2 ? in[2] : 0;
    memcpy(out, "====", 4);
    out[0] = letters[a >> 2];
    out[1] = letters[(a << 4 | b >> 4) & 63];
    if (n > 1)
        out[2] = letters[(b << 2 | c >> 6) & 63];
    if (n > 2)
        out[3] = letters[c & 63];
}

void attn_base64_write(struct attn_out *o, const void *data, size_t len)
{
    const unsigned char *in = data;
    char text[4096];
    while (len) {
        size_t used = 0;
        while (len && used < sizeof text) {
            size_t n = len < 3 ? len : 3;
            encode(text + used, in, n);
            used += 4;
            in += n;
            len -= n;
        }
        attn_out_write(o, text, used);
    }
}

#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Four letters of n bytes, 1 to 3. */
static void encode(char out[4], const unsigned char *in, size_t n)
{
    unsigned bits = (unsigned)in[0] << 16 | (n > 1 ? (unsigned)in[1] << 8 : 0) | (n > 2 ? in[2] : 0u);
    for (size_t i = 0; i < 4; i++)
        out[i] = i <= n ? letters[bits >> (18 - 6 * i) & 63] : '=';
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

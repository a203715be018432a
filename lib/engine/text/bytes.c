#include "text/bytes.h"

#include "base/utf8.h"

/* The bytes that are not spelled by the character with their number lie in three ranges. */
enum { BLANKS = 0x21, HIGH = 0x7F, HIGH_END = 0xA1, HYPHEN = 0xAD, FIRST = 0x100,
       FIRST_HIGH = FIRST + BLANKS, FIRST_HYPHEN = FIRST_HIGH + HIGH_END - HIGH };

size_t attn_bytes_spell(char out[4], unsigned char byte)
{
    uint32_t c = byte;
    if (byte < BLANKS)
        c = FIRST + c;
    else if (byte >= HIGH && byte < HIGH_END)
        c = FIRST_HIGH + (c - HIGH);
    else if (byte == HYPHEN)
        c = FIRST_HYPHEN;
    return attn_utf8_put(out, c);
}

void attn_bytes_find(int32_t id[256], const struct attn_vocab *v)
{
    char spelled[4];
    for (int i = 0; i < 256; i++)
        id[i] = attn_vocab_own_id(v, spelled, attn_bytes_spell(spelled, (unsigned char)i));
}

/* The byte that a character spells; -1 if it spells none. */
static int byte_of(uint32_t c)
{
    if (c >= FIRST)
        return c < FIRST_HIGH ? (int)(c - FIRST) : c < FIRST_HYPHEN ? (int)(c - FIRST_HIGH + HIGH) :
               c == FIRST_HYPHEN ? HYPHEN : -1;
    return c < BLANKS || (c >= HIGH && c < HIGH_END) || c == HYPHEN ? -1 : (int)c;
}

/* The byte that the character at s spells, -1 if none, and the character's length. */
static int read_one(const char *s, size_t len, size_t *step)
{
    unsigned char first = (unsigned char)*s;
    *step = 1;
    return first >= BLANKS && first < HIGH ? first : byte_of(attn_utf8_next(s, len, step));
}

size_t attn_bytes_read(char *out, const char *s, size_t len)
{
    size_t n = 0, step;
    for (size_t at = 0; at < len; at += step)
        if (read_one(s + at, len - at, &step) < 0)
            return SIZE_MAX;
    for (size_t at = 0; at < len; at += step)
        out[n++] = (char)read_one(s + at, len - at, &step);
    return n;
}

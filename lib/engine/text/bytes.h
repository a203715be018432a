/* bytes.h - how a byte-level vocabulary spells bytes, and so how its tokens read.
 *
 * Each byte is one visible character: 0x21-7E, A1-AC and AE-FF are the character with that number, the other 68 are
 * U+0100 to U+0143 in the order of the bytes.  So a space is spelled U+0120 and a line feed U+010A. */
#ifndef ATTN_TEXT_BYTES_H
#define ATTN_TEXT_BYTES_H

#include "text/vocab.h"

/* Writes the UTF-8 spelling of a byte and returns its length. */
size_t attn_bytes_spell(char out[4], unsigned char byte);
/* The token of each byte; -1 if there is none, or only one that was added. */
void attn_bytes_find(int32_t id[256], const struct attn_vocab *v);
/* Decodes s to at most len bytes, in place too.  SIZE_MAX, and nothing written, if one of its characters is no byte. */
size_t attn_bytes_read(char *out, const char *s, size_t len);

#endif

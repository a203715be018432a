/* charsmap.h - sentencepiece's table of replacements, precompiled_charsmap.
 *
 * Layout: u32 little-endian n; n bytes of a double array (Darts-clone), u32 units; strings that end in NUL.  A unit has
 * a label u & 0x800000FF, an offset (u >> 10) << ((u & 0x200) >> 6) and a mark for a leaf, u >> 8 & 1; the value of a
 * leaf is where a string begins.  The walk from unit 0 goes to offset ^ byte, which must have the byte as label.
 * Nobody vouches for the numbers: each is checked when it is used. */
#ifndef ATTN_TEXT_CHARSMAP_H
#define ATTN_TEXT_CHARSMAP_H

#include "attn.h"

struct attn_charsmap { unsigned char *own; uint32_t *unit; size_t units; const char *strings; size_t bytes; };

/* Copies what it needs. */
int attn_charsmap_read(struct attn_charsmap **out, const char *data, size_t len, const char *name,
                       struct attn_err *err);
int attn_charsmap_read_base64(struct attn_charsmap **out, const char *text, const char *name, struct attn_err *err);
void attn_charsmap_free(struct attn_charsmap *m);                   /* NULL is fine */

/* What the shortest (longest) prefix of s with a rule becomes, *with_len bytes; *found: its length.  NULL: none has. */
const char *attn_charsmap_find(const struct attn_charsmap *m, const char *s, size_t len, bool longest, size_t *found,
                               size_t *with_len);

#endif

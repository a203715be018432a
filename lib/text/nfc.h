/* nfc.h - text in Unicode's normal form C, with a map from each byte back to the original.
 *
 * Text is processed by clusters: a character and the marks (or Hangul vowels and finals) that follow it.  Nothing
 * composes or changes places beyond a cluster.  A cluster already in NFC, as nearly all are, maps byte by byte.  A
 * changed one maps as a whole: a piece that begins inside begins at its start, and one that ends inside ends at its
 * end.  Text already in NFC is not copied. */
#ifndef ATTN_TEXT_NFC_H
#define ATTN_TEXT_NFC_H

#include "attn.h"

struct attn_nfc {
    const char *text; size_t len;       /* `own` or, if nothing had to be changed, the original */
    char *own; size_t room;
    struct change { size_t at, len, from, from_len; } *change;      /* place in the new text and in the original; ascending */
    size_t n, change_room;
    struct letter *letter; size_t letter_room;                      /* of one cluster, decomposed */
    int32_t *point; size_t point_room;                              /* and composed */
};

/* s must be valid UTF-8 and outlive *out, whose former content is replaced; false: no memory. */
bool attn_nfc_make(struct attn_nfc *out, const char *s, size_t len);
/* Where a piece that begins (ends) at byte `at` of the normalised text begins (ends) in s. */
size_t attn_nfc_start(const struct attn_nfc *t, size_t at);
size_t attn_nfc_end(const struct attn_nfc *t, size_t at);
void attn_nfc_free(struct attn_nfc *t);                             /* zeroed is fine */

#endif

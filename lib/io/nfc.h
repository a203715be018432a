/* nfc.h - text in Unicode's normal form C, and which bytes of the original each byte came from.
 *
 * Text is taken cluster by cluster: a character and the marks (or Hangul vowels and finals) that
 * follow it, beyond which nothing composes or changes places.  A cluster that is in the form already,
 * as nearly all are, maps byte by byte; one that changed maps as a whole: whatever begins in it began
 * where it began, whatever ends in it ended where it ended.  Text that is in the form is not copied. */
#ifndef ATTN_IO_NFC_H
#define ATTN_IO_NFC_H

#include "attn.h"

struct attn_nfc {
    const char *text; size_t len;       /* `own` or, where nothing had to be changed, the original */
    char *own; size_t room;
    struct change { size_t at, len, from, from_len; } *change;      /* here, and in the original; ascending */
    size_t n, change_room;
    struct letter *letter; size_t letter_room;                      /* of one cluster, decomposed */
    int32_t *point; size_t point_room;                              /* and composed */
};

/* s is valid UTF-8 and outlives *out, of which what it held is replaced; false: no memory. */
bool attn_nfc_make(struct attn_nfc *out, const char *s, size_t len);
/* Where in s a piece of the text that begins (ends) at byte `at` begins (ends). */
size_t attn_nfc_start(const struct attn_nfc *t, size_t at);
size_t attn_nfc_end(const struct attn_nfc *t, size_t at);
void attn_nfc_free(struct attn_nfc *t);                             /* zeroed is fine */

#endif

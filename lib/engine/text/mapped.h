/* mapped.h - a text made from another, with a map from each byte back to it.
 *
 * Normalising replaces some stretches of a text and keeps the rest.  Kept bytes map one by one.  A replaced stretch
 * maps as a whole: a token that begins inside begins where the original stretch does, one that ends inside ends where
 * that ends.  If nothing was replaced the text is the original itself, which is not copied. */
#ifndef ATTN_TEXT_MAPPED_H
#define ATTN_TEXT_MAPPED_H

#include "attn.h"

struct attn_regex_effort;

struct attn_swap { size_t at, len, from, from_len; };               /* places in the new and old text, ascending */

/* Zeroed is ready for use, again and again. */
struct attn_mapped {
    const char *text; size_t len;
    bool unmapped;                      /* set by those who need no map: it then costs nothing */
    char *own; size_t room, used;
    struct attn_swap *change; size_t n, change_room, near;        /* near: where the last place was found */
    const char *from; size_t from_len, done;                        /* the original; how much of it is dealt with */
    size_t most;                        /* set by those who take no longer text; 0: any.  Of one that gets longer, len
                                         * is more than most, and no more is kept */
    bool failed, changed, over;         /* failed: no memory; over: it got longer */
    struct attn_regex_effort *effort;   /* set by those who replace by patterns (regex.h) */
};

/* The original must outlive its text.  Replacements are given in the order of their places; what lies between them is
 * kept.  finish returns false if there was no memory for any of it. */
void attn_mapped_begin(struct attn_mapped *m, const char *s, size_t len);
void attn_mapped_replace(struct attn_mapped *m, size_t from, size_t from_len, const char *with, size_t len);
bool attn_mapped_finish(struct attn_mapped *m);
/* Removes all copies of a string from the end, before finish; nothing of the original but the very end may follow. */
void attn_mapped_trim(struct attn_mapped *m, const char *end, size_t len);

/* Where what begins (ends) at byte `at` of the text begins (ends) in the original. */
size_t attn_mapped_start(struct attn_mapped *m, size_t at);
size_t attn_mapped_end(struct attn_mapped *m, size_t at);
void attn_mapped_free(struct attn_mapped *m);

#endif

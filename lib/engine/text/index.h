/* index.h - a vocabulary and its rules as they lie in memory, so that they can be used without reading anything.
 *
 * The program models/index.c writes such an image of each built-in model with rules when attn-cli is built, for that
 * machine alone; most of the time that a short run took was spent on reading vocab.json and merges.txt.  No file of a
 * user is ever taken for one: nothing in it is checked. */
#ifndef ATTN_TEXT_INDEX_H
#define ATTN_TEXT_INDEX_H

#include "text/bpe.h"

/* The head, then the arrays in the order of their lengths here, and the bytes, each aligned to 8 bytes. */
struct attn_text_index_head { uint64_t rules, rule_slots, words, slots, used, specials; };

struct attn_text_index {
    struct attn_strings words; int32_t *id;
    struct attn_merges merges;
    int32_t *special; size_t specials;  /* as attn_merges_special finds them */
    int32_t *byte;                      /* [256] as attn_bytes_find finds them */
};

/* What is in the image, in place. */
struct attn_text_index attn_text_index_of(const void *image);
/* The seed of both hash tables in an image: the same program is built each time. */
enum { ATTN_TEXT_INDEX_SEED = 0x5EED };

#endif

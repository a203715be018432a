/* kind.h - checks a kind of attention and puts it into words, for the files of lib/ itself.
 *
 * A new kind is a value of enum attn_form before ATTN_MASKED, a row of attn_kinds[] in kind.c (its words), a row of
 * rules[] in compute/mask.c (which keys a query sees; attn_kind_bounds there has the first key of a window), a sentence
 * in explain/attention_weights.c and, unless dense attention will do, a method in compute/multi_head.c. */
#ifndef ATTN_MODEL_KIND_H
#define ATTN_MODEL_KIND_H

#include "attn.h"

/* Fails if a number is out of range, as attn_kind_parse does for text: callers of the library fill in structs, too. */
int attn_kind_check(const struct attn_kind *k, struct attn_err *err);
/* What a query sees, for a table: "the last 4, including itself"; "" for the model's own, which only the model knows.
 * causal: the model's own mask. */
enum { ATTN_KIND_SEEN = 96 };
void attn_kind_seen(char text[ATTN_KIND_SEEN], const struct attn_kind *k, bool causal);
/* Lists one of each kind with blanks between them: sparse ones see about so many keys. */
void attn_kind_each(char *list, size_t size, size_t keys);

/* How attention differs from the model's own. */
struct attn_sink_kind {
    const char *attention, *scale;      /* as on the command line; NULL: the model's own */
    double dropout; uint64_t seed;
    const char *note;                   /* all of it, appended to titles of matrices; NULL or "": no difference */
};

/* The same with its texts.  `of` points into the other members, so the struct must not be copied or moved. */
struct attn_kind_words { struct attn_sink_kind of; char attention[ATTN_KIND_TEXT], scale[ATTN_KIND_TEXT],
                        note[ATTN_KIND_NOTE]; };
void attn_kind_say(struct attn_kind_words *out, const struct attn_kind *k);

#endif

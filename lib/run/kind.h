/* kind.h - checks a kind of attention and puts it into words, for the files of lib/ itself. */
#ifndef ATTN_KIND_H
#define ATTN_KIND_H

#include "attn.h"

/* Fails if a number is out of range, as attn_kind_parse does for text: callers of the library fill in the struct themselves. */
int attn_kind_check(const struct attn_kind *k, struct attn_err *err);
/* How attention differs from the model's own. */
struct attn_sink_kind {
    const char *attention, *scale;      /* as on the command line; NULL: the model's own */
    double dropout; uint64_t seed;
    const char *note;                   /* all of it, appended to titles of matrices; NULL or "": no difference */
};

/* The same with its texts.  `of` points into the other members, so the struct must not be copied or moved. */
struct attn_kind_words { struct attn_sink_kind of; char attention[ATTN_KIND_TEXT], scale[ATTN_KIND_TEXT], note[ATTN_KIND_NOTE]; };
void attn_kind_say(struct attn_kind_words *out, const struct attn_kind *k);

#endif

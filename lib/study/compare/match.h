/* match.h - which array of one dump belongs to which of the other, in the order of the forward pass. */
#ifndef ATTN_COMPARE_MATCH_H
#define ATTN_COMPARE_MATCH_H

#include "compare/naming.h"
#include "compare/reading.h"

/* See other_forms.h. */
enum attn_form_kind {
    ATTN_FORM_NONE, ATTN_FORM_CENTRED, ATTN_FORM_FOLDED, ATTN_FORM_MOVED, ATTN_FORM_SHIFTED, ATTN_FORM_MASK
};

struct attn_match {
    const struct attn_dumped *side[2];  /* NULL: this side has none */
    const char *name;                   /* that of both, or else ours */
    char *made;                         /* owned: the name, where neither side has it; or NULL */
    int act, layer;                     /* act -1: none of ours */
    bool rows_first[2], exact;          /* of its names, see naming.h; exact: both are ours */
    size_t readings;                    /* 0: arrays are compared as they lie */
    struct attn_heads_reading reading;  /* the one that was chosen */
    char *note;                         /* owned: see attn_diff_note */
    bool perhaps_bare[2];               /* of its names, see naming.h */
    enum attn_form_kind form; int formed;    /* the form that both sides are compared in, and the side that has it */
};
/* common: how many pairs there are; tokens: of the sentence, 0: unknown. */
struct attn_matches { struct attn_match *item; size_t n, common, tokens; };

int attn_matches_of(struct attn_matches *out, const struct attn_dump *a, const struct attn_dump *b,
                    const struct attn_naming *rules, struct attn_err *err);
/* The first that is not before this activation in the forward pass; n: none. */
size_t attn_matches_find(const struct attn_matches *m, int act, int layer);
void attn_matches_free(struct attn_matches *m);

#endif

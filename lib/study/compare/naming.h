/* naming.h - which activation of ours an array is, whatever the program that saved it calls it.
 *
 * An array is ours if it has our name, also with slashes for dots or with .npy at its end; else if a rule of the user
 * says so ("layer{}_att=blocks.{}.attn.pattern", where {} is the number of the layer); else if TransformerLens calls
 * one of ours so.  Each of ours is at most one array of a dump: of several names that TransformerLens has for it the
 * first in our table counts.
 *
 * TransformerLens's names do not say everything.  hook_q of a rotary model is before rotation, so hook_rot_q goes
 * before it.  hook_attn_out is after a norm behind attention, where there is one: then it is our attn.added.  And
 * hook_normalized is before weight and bias in some versions and kinds of norm, and after them in others: other_forms.h
 * tells them apart by the numbers. */
#ifndef ATTN_COMPARE_NAMING_H
#define ATTN_COMPARE_NAMING_H

#include "attn_tools.h"
#include "io/dump.h"

/* A rule of the user, naming_rules.c. */
struct attn_naming_rule {
    char *left;                         /* the name without its {}, as attn_naming_spell has it */
    char *where;                        /* how to speak of the rule */
    size_t head;                        /* how much of left is before {} */
    bool each;                          /* it has {} */
    int act, layer;
};
struct attn_naming { struct attn_naming_rule *rule; size_t n, room; };
/* Whether the rule names the array that is spelled so, and of which layer. */
bool attn_naming_matches(const struct attn_naming_rule *r, const char *name, int *layer);

enum { ATTN_NAMING_ROOM = 256 };        /* longer names are not ours, nor TransformerLens's, and no rule has them */
/* A name as we spell names: without the ending of a file, dots for slashes.  False: it is too long. */
bool attn_naming_spell(char out[ATTN_NAMING_ROOM], const char *name, size_t len);
/* The tail of "blocks.{}.attn.q" or "blocks.3.attn.q"; the name itself if it has no such head. */
const char *attn_naming_tail(const char *name);

/* What an array is. */
struct attn_known {
    int act, layer;                     /* act -1: none of ours */
    bool exact;                         /* it has our very name */
    bool rows_first;                    /* [tokens, heads, width], as far as its name tells */
    bool perhaps_bare;                  /* hook_normalized */
};
struct attn_name_at { int act, layer; unsigned rank; size_t item; };
/* What the arrays of a dump are, and where each of our activations is. */
struct attn_names { struct attn_known *known; /* [n] */ struct attn_name_at *place; size_t n, places; };

/* Names the arrays of two dumps; rules may be NULL.  Fails if a rule names no array, or two of one dump alike. */
int attn_names_of(struct attn_names out[2], const struct attn_dump *const dump[2], const struct attn_naming *rules,
                  struct attn_err *err);
size_t attn_names_find(const struct attn_names *names, int act, int layer);     /* the array; SIZE_MAX: there is none */
void attn_names_free(struct attn_names *names);

#endif

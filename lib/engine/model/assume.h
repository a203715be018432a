/* assume.h - what the file of a course may leave unsaid, and what --as says of it.
 *
 * A list, "scale=width,act=relu": the key of each row of one table with one of its values, at most once, and the name
 * of the program that wrote the file.  Of each key a format says what its files mean by default, which other values it
 * can take, and whether the default is a guess, which is then told (struct attn_fact). */
#ifndef ATTN_MODEL_ASSUME_H
#define ATTN_MODEL_ASSUME_H

#include "attn_tools.h"

/* Those that may be assumed come first, in the order in which they are told. */
enum attn_as_key { ATTN_AS_SCALE, ATTN_AS_ACT, ATTN_AS_NORM, ATTN_AS_EMBED, ATTN_AS_HEADS, ATTN_AS_KEYS };

struct attn_as {
    const char *name;                   /* what wrote the file; NULL: not given */
    const char *value[ATTN_AS_KEYS];    /* NULL: not given; not that of heads */
    size_t heads;                       /* 0: not given */
};
/* Reads a list; NULL is an empty one.  A word that is not in the table, or a key twice, is wrong usage. */
int attn_as_read(struct attn_as *out, const char *list, struct attn_err *err);

/* What a format's files mean by a key. */
struct attn_fact {
    const char *value, *others;         /* others: what --as may say, with blanks around each; NULL: it is known */
    bool guessed;
};
/* The value of a key: what was given, if it is one of those, or the fact's; a guess is added to `assumed`.  `what` is
 * said of the file at `path` in messages. */
struct attn_assumptions { struct attn_assumed of[ATTN_AS_KEYS]; size_t n; };
int attn_as_settle(const char **value, struct attn_assumptions *assumed, enum attn_as_key key,
                   const struct attn_fact *fact, const struct attn_as *given, const char *path, const char *what,
                   struct attn_err *err);

#endif

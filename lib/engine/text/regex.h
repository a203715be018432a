/* regex.h - regular expressions, in the dialect of tokenizer.json, which is that of Ruby (Oniguruma).
 *
 *     a|b  ab  (a) (?:a) (?i:a) (?i)a        alternatives, of which the first that leads to a match counts, and groups
 *     a? a* a+ a{2} a{2,} a{,3} a{2,3}       as often as possible; with a ? behind, as rarely as possible
 *     [a]?+ [a]*+ [a]++                      one character, and no less than possible
 *     (?=a) (?!a) (?<=a) (?<!a)              what follows or precedes; what precedes has a fixed length
 *     ^ $ \A \z \Z \b \B                     ends of lines, of the text, of words
 *     . \s \d \w \h \p{L} \p{Han} [^a-z&&[\S]] and the opposites   characters: charset.c
 *
 * Anything else is refused by name, never taken for something similar.  Captures mean nothing here.
 *
 * A pattern becomes a program, which follows all its alternatives side by side, one character after the other: none
 * takes exponential time.  But it may look at characters from many places, so a text may take only so many steps. */
#ifndef ATTN_TEXT_REGEX_H
#define ATTN_TEXT_REGEX_H

#include <string.h>

#include "attn.h"

struct attn_regex;

/* Text is valid UTF-8.  On ATTN_EFORMAT *why says what is not known, and *at is its byte of the pattern. */
int attn_regex_read(struct attn_regex **out, const char *pattern, const char **why, size_t *at);
void attn_regex_free(struct attn_regex *r);                         /* NULL is fine */

/* What patterns have taken, and may take, for a text with all its pieces.  Zeroed, it allows nothing. */
struct attn_regex_effort { uint64_t spent, most; };
void attn_regex_allow(struct attn_regex_effort *e, size_t bytes);       /* adds what so many bytes of a text may take */
static inline bool attn_regex_tired(const struct attn_regex_effort *e) { return e->spent > e->most; }

/* The matches in a text one after the other, which may be empty, but not where another ends: set regex, s, len and
 * effort and zero the rest.  A tired walk does not look at the rest. */
struct attn_regex_walk {
    const struct attn_regex *regex;
    const char *s; size_t len;
    struct attn_regex_effort *effort;
    size_t at;                          /* where to look next */
    bool any; size_t end;               /* whether there was a match, and the end of the last one */
};
bool attn_regex_next(struct attn_regex_walk *w, size_t *start, size_t *len);

/* ---- for the files that read and run a program ---- */

enum {
    ATTN_REGEX_STEPS = 1024,            /* of a program */
    ATTN_REGEX_NESTED = 4,              /* assertions within each other */
};

/* SET takes a character of a set.  FORK goes on at both places, of which the first counts; JUMP at one.  LOOK holds if
 * the steps behind it, up to a MATCH, do so from `back` characters before; or if they do not.  Places are relative. */
enum attn_regex_op { ATTN_REGEX_SET, ATTN_REGEX_FORK, ATTN_REGEX_JUMP, ATTN_REGEX_EDGE, ATTN_REGEX_LOOK,
                    ATTN_REGEX_MATCH };
enum attn_regex_edge {
    ATTN_EDGE_LINE_START, ATTN_EDGE_LINE_END, ATTN_EDGE_START, ATTN_EDGE_END, ATTN_EDGE_LAST_LINE_END, ATTN_EDGE_WORD,
    ATTN_EDGE_NO_WORD
};
struct attn_regex_step {
    unsigned char op;
    bool opposite;                      /* LOOK */
    int16_t to, or_to;                  /* SET: its number; EDGE: which; LOOK: how many steps are its own, and `back` */
};

/* Sets of characters: a node is a set, or a part of one.  first, last: a range; first: categories as bits, the number
 * of a script, the first part of a union, or whether \w stands alone.  also: another set that must have it, too; -1:
 * there is none. */
enum attn_charset_kind {
    ATTN_SET_RANGE, ATTN_SET_CATEGORIES, ATTN_SET_SPACE, ATTN_SET_WORD, ATTN_SET_HEX, ATTN_SET_SCRIPT, ATTN_SET_UNION
};
struct attn_charset {
    enum attn_charset_kind kind;
    bool opposite, fold;                     /* fold: in upper or lower case */
    uint32_t first, last;
    int32_t next, also;                 /* next: of the parts of a union; -1: it is the last one */
    /* Once the pattern is read: */
    uint64_t ascii[2];                  /* which of ASCII's it has */
    uint32_t weight;                    /* how long it takes to say that of others */
};
struct attn_charsets { struct attn_charset *node; size_t n, room; };

struct attn_regex {
    struct attn_regex_step *step; size_t n, room;
    struct attn_charsets sets;
};

/* A pattern while it is read. */
struct attn_regex_reader {
    struct attn_regex *r;
    const char *at, *end;
    bool fold;                          /* within (?i:...) */
    int groups, looks;                  /* how deep */
    const char *why;                    /* NULL: no memory */
};

/* Whether the pattern goes on so. */
static inline bool attn_regex_follows(const struct attn_regex_reader *p, const char *what)
{
    size_t n = strlen(what);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, what, n) == 0;
}

/* Both read from behind the first character, "[" or "\", and return the number of a set, or -1. */
int32_t attn_charset_read_class(struct attn_regex_reader *p);
int32_t attn_charset_read_escape(struct attn_regex_reader *p);
int32_t attn_charset_add(struct attn_regex_reader *p, const struct attn_charset *set);
/* Fills what is known once all are read. */
void attn_charset_finish(struct attn_charsets *sets);
bool attn_charset_search(const struct attn_charsets *sets, int32_t set, uint32_t c);
static inline bool attn_charset_has(const struct attn_charsets *sets, int32_t set, uint32_t c)
{
    return c < 128 ? sets->node[set].ascii[c / 64] >> c % 64 & 1 : attn_charset_search(sets, set, c);
}

/* Whether it is part of a word: as in letters.h, but for joiners.  alone: in no class, as Latin-1's numbers are. */
bool attn_charset_is_word(uint32_t c, bool alone);

/* The script of that name, with any case, or -1; whether it has the character. */
int32_t attn_script_of(const char *name);
bool attn_script_has(int32_t script, uint32_t c);

#endif

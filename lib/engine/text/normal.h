/* normal.h - what is done to a text before it is cut into pieces: each step makes a new text from the last one.
 *
 * A step is a row of the table in normal.c. */
#ifndef ATTN_TEXT_NORMAL_H
#define ATTN_TEXT_NORMAL_H

#include "text/charsmap.h"
#include "text/mapped.h"
#include "text/regex.h"
#include "text/trie.h"

enum attn_normal_kind {
    ATTN_NORMAL_NFC, ATTN_NORMAL_NFD, ATTN_NORMAL_NFKC, ATTN_NORMAL_NFKD,
    ATTN_NORMAL_PREPEND,                /* `with` in front of what is not empty */
    ATTN_NORMAL_REPLACE,                /* each `find` by `with` */
    ATTN_NORMAL_REGEX,                  /* each match of `regex` by `with` */
    ATTN_NORMAL_STRIP,                  /* white space at the ends */
    ATTN_NORMAL_STRIP_ACCENTS, ATTN_NORMAL_LOWERCASE, ATTN_NORMAL_NMT,
    ATTN_NORMAL_STRIP_MARKS,            /* of accents those that take no space */
    ATTN_NORMAL_CLEAN,                  /* control characters away; those that are white space become spaces */
    ATTN_NORMAL_SPACE_CHINESE,          /* spaces around each Chinese character */
    ATTN_NORMAL_PRECOMPILED,            /* by a table, cluster by cluster, as Hugging Face does */
    ATTN_NORMAL_METASPACE,              /* spaces by `with`, which may also go in front */
    ATTN_NORMAL_SPACE_FIRST,            /* a space in front of what does not begin with one */
    ATTN_NORMAL_SENTENCEPIECE           /* all that sentencepiece does */
};

enum attn_prepend { ATTN_PREPEND_ALWAYS, ATTN_PREPEND_FIRST, ATTN_PREPEND_NEVER };

struct attn_normal {
    enum attn_normal_kind kind;
    char *find, *with; size_t find_len, with_len;                   /* owned */
    struct attn_regex *regex;           /* owned */
    bool left, right;                   /* strip: which ends */
    enum attn_prepend prepend;          /* metaspace; FIRST: only at the beginning of the whole text */
    struct attn_charsmap *map;          /* owned */
    /* sentencepiece: */
    bool dummy, dummy_behind, squeeze, escape;      /* a space in front, or behind; single spaces; spaces as U+2581 */
    const struct attn_trie *kept;       /* strings that are copied as they are; NULL: none */
};

/* Writes to *out, which maps back to s; s is valid UTF-8 and must outlive it.  first: s begins the whole text.  false:
 * no memory.  out->effort says whether patterns took too long. */
bool attn_normal_apply(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len, bool first);
void attn_normal_free(struct attn_normal *n);

/* ---- normal forms (forms.c) ---- */

bool attn_form_apply(struct attn_mapped *out, enum attn_normal_kind form, const char *s, size_t len);

/* ---- what sentencepiece does (squeeze.c) ---- */

bool attn_squeeze_apply(struct attn_mapped *out, const struct attn_normal *n, const char *s, size_t len);

#endif

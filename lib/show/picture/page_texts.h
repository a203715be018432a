/* page_texts.h - what the scripts of a page say, in its language.
 *
 * A script says tr("%s tokens", n) (page/texts.js): a page in another language than English has the texts that its own
 * scripts say in a dictionary, {"%s tokens": "%s 个词元", ...}, in a block that is no script.  English pages have none. */
#ifndef ATTN_PICTURE_PAGE_TEXTS_H
#define ATTN_PICTURE_PAGE_TEXTS_H

#include "picture/policy.h"

struct attn_page_texts {
    struct attn_out *out;               /* in memory: what is composed is escaped at the end, as it may hold a token */
    const struct attn_language *language;
    const char **said; size_t n, room;  /* in the dictionary already */
    bool failed;                        /* memory ran out */
};

/* l: another language than English. */
int attn_page_texts_begin(struct attn_page_texts *t, const struct attn_language *l, struct attn_err *err);
/* A text, where the language has it; NULL is none. */
void attn_page_texts_add(struct attn_page_texts *t, const char *english);
/* In place of it, what its maker says in the language. */
void attn_page_texts_put(struct attn_page_texts *t, const char *english, const char *said);
/* The texts that a script says. */
void attn_page_texts_of(struct attn_page_texts *t, const struct attn_page_file *script);
/* Writes the block. */
int attn_page_texts_end(struct attn_page_texts *t, struct attn_out *o, struct attn_err *err);

#endif

/* page_ranking.h - what the heads of a page do: its "ranking" (page_data.h), with the numbers of the command heads. */
#ifndef ATTN_PICTURE_PAGE_RANKING_H
#define ATTN_PICTURE_PAGE_RANKING_H

#include "base/out.h"
#include "picture/album.h"

/* What scores of heads ask about the words of a text (struct attn_head_row): an entry for each of the queries.  Both
 * are malloc'd; NULL: heads are not ranked. */
struct attn_page_words {
    size_t *same;
    bool *marks, any_marks;             /* any: a token before the last is punctuation */
};
int attn_page_words_find(struct attn_page_words *w, const struct attn_album *a, struct attn_err *err);
/* As the next member of an object; nothing where heads are not ranked. */
void attn_page_ranking_write(struct attn_out *o, const struct attn_album *a, const struct attn_page_words *w);

#endif

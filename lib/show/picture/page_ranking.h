/* page_ranking.h - what the heads of a page do: its "ranking" (page_data.h), with the numbers of the command heads. */
#ifndef ATTN_PICTURE_PAGE_RANKING_H
#define ATTN_PICTURE_PAGE_RANKING_H

#include "base/out.h"
#include "picture/album.h"

/* As the next member of an object; nothing where heads are not ranked. */
void attn_page_ranking_write(struct attn_out *o, const struct attn_album *a);

#endif

/* html.h - an album as one page that needs nothing but itself.
 *
 * The page (picture/page/) is the same for every album: a template, a style and scripts, with the numbers as JSON
 * (page_data.h) in a block that is no script.  Its policy lets run what has the digest of our own style and scripts
 * and nothing else, and lets nothing be fetched; all text from outside is escaped besides. */
#ifndef ATTN_PICTURE_HTML_H
#define ATTN_PICTURE_HTML_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

int attn_html_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

#endif

/* html.h - an album as a single page without external files.
 *
 * The page (picture/page/) is the same for every album: a template, a style and scripts, with the numbers as JSON
 * (page_data.h) in a block that is not a script.  Its content security policy admits only what has the digest of our
 * own style and scripts, and lets nothing be fetched.  In addition all text from outside is escaped. */
#ifndef ATTN_PICTURE_HTML_H
#define ATTN_PICTURE_HTML_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

int attn_html_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

#endif

/* drawing.h - the output formats that are pictures. */
#ifndef ATTN_PICTURE_DRAWING_H
#define ATTN_PICTURE_DRAWING_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

struct attn_drawing {
    const char *format;
    bool next;                          /* shows the likeliest next tokens */
    int (*write)(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
};
const struct attn_drawing *attn_drawing_find(const char *format);   /* NULL: not a picture */
/* A list such as "term, png". */
const char *attn_drawing_list(void);

#endif

/* picture.h - how the formats that are pictures are to look: options of run, generate and plot. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "table.h"

extern const struct option picture_options[];

/* What the options say, on this terminal or, where `terminal` is false, in a file. */
struct attn_picture_opts picture_look(bool terminal);
/* --show where none is given; NULL: as everywhere. */
const char *picture_default_show(const char *format);

#endif

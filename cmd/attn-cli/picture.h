/* picture.h - options of run, generate and plot for the formats that are pictures. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "table.h"

extern const struct option picture_options[];

/* The options' values, for a picture on this terminal or, if `terminal` is false, in a file. */
struct attn_picture_opts picture_look(bool terminal);
/* The default of --show for this format; NULL: the general default. */
const char *picture_default_show(const char *format);

#endif

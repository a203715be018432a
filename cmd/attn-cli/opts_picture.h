/* opts_picture.h - the options of pictures. */
#ifndef CLI_OPTS_PICTURE_H
#define CLI_OPTS_PICTURE_H

#include "attn_tools.h"
#include "table.h"

/* of all pictures; of those whose columns are keys */
extern const struct option picture_options[], key_picture_options[];
extern const struct option font_options[];             /* of pictures, for pages that are a PDF */
extern const struct option paper_options[];            /* of figures without matrices */
/* Fails if an option of c is given that this format (NULL: text) or the figure does not use. */
int picture_check(const struct command *c, const char *format, struct attn_err *err);
/* Says what was arranged otherwise than asked for. */
void picture_note(void);
/* The options' values, for a picture on this terminal or, if `terminal` is false, in a file. */
struct attn_picture_opts picture_look(bool terminal);
/* What the chosen figure shows of a run unless --show chooses; NULL: what the format does. */
const char *picture_default_show(void);

#endif

/* folder.h - a directory that files are written into. */
#ifndef ATTN_BASE_FOLDER_H
#define ATTN_BASE_FOLDER_H

#include "base/out.h"

/* Makes it unless it is there; *made: it was not. */
int attn_folder_make(const char *dir, bool *made, struct attn_err *err);
/* attn_out_open of DIR/FILE. */
int attn_folder_open(struct attn_out **out, const char *dir, const char *file, struct attn_err *err);
bool attn_folder_has(const char *dir, const char *file);

#endif

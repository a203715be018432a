/* file.h - whole files in memory, and what is not written over. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "attn.h"

enum { FILE_LIMIT_MB = 1024 };          /* no text to look into is longer */

/* "-" is standard input.  Malloc'd, with a NUL after the last byte. */
int file_read(char **text, size_t *len, const char *path, struct attn_err *err);
/* Fails where a training lies in the directory: what took hours is not written over. */
int file_spare_training(const char *dir, struct attn_err *err);

#endif

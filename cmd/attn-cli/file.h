/* file.h - reads whole files into memory, and protects trainings from being overwritten. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "attn.h"

enum { FILE_LIMIT_MB = 1024 };          /* a longer text is refused */

/* Reads a file, or standard input for "-", into malloc'd memory with a NUL after the last byte. */
int file_read(char **text, size_t *len, const char *path, struct attn_err *err);
/* Fails if the directory holds a training, which may have taken hours and must not be overwritten. */
int file_spare_training(const char *dir, struct attn_err *err);

#endif

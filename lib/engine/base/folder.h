/* folder.h - a directory that files are written into. */
#ifndef ATTN_BASE_FOLDER_H
#define ATTN_BASE_FOLDER_H

#include "base/out.h"

/* Creates the directory if it does not exist, and its parents; *made says how many, for attn_disk_unmake_path. */
int attn_folder_make(const char *dir, size_t *made, struct attn_err *err);
/* Calls attn_out_open on DIR/FILE, unless that is a pipe or a device: nobody typed it, and opening it may block. */
int attn_folder_open(struct attn_out **out, const char *dir, const char *file, struct attn_err *err);
bool attn_folder_has(const char *dir, const char *file);
/* Locks the directory for this process until *fd is closed.  *fd is -1 if there is no such directory yet or its file
 * system has no locks.  What killed processes left half written goes. */
int attn_folder_hold(int *fd, const char *dir, struct attn_err *err);

/* The same for what writes several files and is then done: makes the directory, too, if it does not exist. */
struct attn_held { const char *dir; size_t made; int lock; };
int attn_folder_begin(struct attn_held *h, const char *dir, struct attn_err *err);
/* Lets others in, and returns rc; if that is an error, what was made is removed. */
int attn_folder_end(struct attn_held *h, int rc);

/* What a training has in its directory.  Other files there belong to it: none may be replaced. */
#define ATTN_CHECKPOINT_FILE "checkpoint.safetensors"
#define ATTN_TRAIN_SETTINGS_FILE "train.json"
int attn_folder_spare_training(const char *dir, struct attn_err *err);

#endif

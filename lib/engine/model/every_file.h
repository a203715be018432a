/* every_file.h - all files that opening a model once more reads, wherever they come from: to take it elsewhere.
 *
 * A directory's are its config, its tokenizer's files, and of its weights the index and all shards; a GGUF model's its
 * shards; a course's the file, what belongs to it beside it, and a vocabulary that was found elsewhere. */
#ifndef ATTN_MODEL_EVERY_FILE_H
#define ATTN_MODEL_EVERY_FILE_H

#include "attn.h"

enum { ATTN_FILE_NAME = 512 };

/* How the model is opened again, where its files have the names below, relative to where they are: as with -m, --as and
 * --vocab; NULL: no option. */
struct attn_opened_again { char model[ATTN_FILE_NAME]; const char *as; char vocab[ATTN_FILE_NAME]; bool has_vocab; };
void attn_model_opens_again(struct attn_opened_again *out, const struct attn_model *m);

struct attn_file_told { int (*tell)(void *self, const char *name, const void *data, size_t len, struct attn_err *err);
                        void *self; };
/* For containers: tells one, in a folder or, folder NULL, outside of any; reads it first. */
int attn_file_tell(const struct attn_file_told *to, const char *folder, const char *file, const void *data, size_t len,
                   struct attn_err *err);
int attn_file_tell_path(const struct attn_file_told *to, const char *folder, const char *path, struct attn_err *err);
#define ATTN_FILE_VOCAB "vocab"         /* the folder of a vocabulary that was found elsewhere */

/* Tells each file, as in "tiny/config.json"; its bytes live during the call. */
int attn_model_each_file(const struct attn_model *m, const struct attn_file_told *to, struct attn_err *err);

#endif

/* hub.h - the cache in which Hugging Face's tools keep what they download.
 *
 * It holds a directory models--ORG--NAME for each model, and in it snapshots/HASH, a directory of links to files for each version
 * that was downloaded. */
#ifndef ATTN_MODEL_HUB_H
#define ATTN_MODEL_HUB_H

#include "attn.h"

/* The cache that HF_HUB_CACHE, HF_HOME or the user's directory names, in malloc'd memory; NULL: none does. */
char *attn_hub_root(void);
/* The directory there of a model called NAME or ORG/NAME, in malloc'd memory; NULL: it is not there. */
char *attn_hub_find(const char *name);
/* What such a directory's name stands for, as in "gpt2" or "org/name", in malloc'd memory; NULL: it is no such directory. */
char *attn_hub_name(const char *directory);
/* If a directory has snapshots, *path, malloc'd, becomes that of the only one, and *inside is true; several or none are an error. */
int attn_hub_enter(char **path, bool *inside, struct attn_err *err);

#endif

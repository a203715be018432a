/* hub.h - the cache in which Hugging Face's tools keep what they download.
 *
 * It holds a directory models--ORG--NAME for each model, and in it snapshots/HASH, a directory of links to files for
 * each version that was downloaded.  Its refs/main holds the HASH that the name alone stands for. */
#ifndef ATTN_MODEL_HUB_H
#define ATTN_MODEL_HUB_H

#include <dirent.h>

#include "attn.h"

/* The cache that HF_HUB_CACHE, its older spelling HUGGINGFACE_HUB_CACHE, HF_HOME or the user's directory names, in
 * malloc'd memory; NULL: none does. */
char *attn_hub_root(void);
/* The directory there of a model called NAME or ORG/NAME, in malloc'd memory; NULL: it is not there. */
char *attn_hub_find(const char *name);
/* What such a directory's name stands for, "gpt2" or "org/name", in malloc'd memory; NULL: it is no such directory. */
char *attn_hub_name(const char *directory);
/* Which of the n entries of its snapshots such a directory stands for: the only one, or that in refs/main; -1: none. */
int attn_hub_main(const char *directory, struct dirent **entry, int n);
/* If a directory has snapshots, *path, malloc'd, becomes that of the one it stands for, and *inside is true.  It is an
 * error if it has none. */
int attn_hub_enter(char **path, bool *inside, struct attn_err *err);

#endif

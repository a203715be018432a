/* made.h - a model that a test makes with attn_init in its scratch directory.  There is only one: the next replaces it. */
#ifndef ATTN_TESTS_MADE_H
#define ATTN_TESTS_MADE_H

#include "attn_tools.h"
#include "base/map.h"
#include "io/safetensors.h"

enum { MADE_CONFIG = 1024 };            /* bytes for a config */

struct made_sizes { size_t V, L, H, d, dh, dv; const char *more; };    /* more: further keys, as ", \"bias\": true" */
extern const struct made_sizes made_small;

/* Options for such a config, which is written into `text`; without a vocabulary. */
struct attn_init_opts made_options(char text[MADE_CONFIG], const struct made_sizes *s, const char *draw);
const char *made_path(const char *file);                            /* of a file of the model, or for "" of its directory */
void made_init(const struct attn_init_opts *o);                     /* fails the test if attn_init fails */
/* Makes a model from config.json and a seed; returns its directory. */
const char *made_model(const char *config, uint64_t seed, const char *dtype);

struct made_weights { struct attn_map map; struct attn_st *st; };
void made_open(struct made_weights *w);
void made_close(struct made_weights *w);
const struct attn_st_tensor *made_tensor(const struct made_weights *w, const char *name);   /* fails the test if absent */

#endif

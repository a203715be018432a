/* made.h - the models that tests make in their scratch directory, and any model's opening.
 *
 * A model is drawn by attn_init or written tensor by tensor, with the functions here; written as Hugging Face would
 * (hf.h); or a copy of a recorded checkpoint with a mistake in it (wrong.h). */
#ifndef ATTN_TESTS_MADE_H
#define ATTN_TESTS_MADE_H

#include "attn_tools.h"
#include "base/map.h"
#include "io/safetensors.h"

/* ---- the model that a test draws: there is only one, the next replaces it ---- */

enum { MADE_CONFIG = 1024 };            /* bytes for a config */

struct made_sizes { size_t V, L, H, d, dh, dv; const char *more; };    /* more: further keys, as ", \"bias\": true" */
extern const struct made_sizes made_small;

/* Options for such a config, which is written into `text`; without a vocabulary. */
struct attn_init_opts made_options(char text[MADE_CONFIG], const struct made_sizes *s, const char *draw);
/* of a file of the model, or for "" of its directory */
const char *made_path(const char *file);
void made_init(const struct attn_init_opts *o);                     /* fails the test if attn_init fails */
/* Makes a model from config.json and a seed; returns its directory. */
const char *made_model(const char *config, uint64_t seed, const char *dtype);

/* ---- tensors ---- */

/* Float32 numbers of the caller; cols 0: a vector. */
struct attn_st_tensor made_tensor(const char *name, const float *x, size_t rows, size_t cols);
void made_write(const char *path, const struct attn_st_tensor *t, size_t n);

struct made_weights { struct attn_map map; struct attn_st *st; };
struct made_weights made_read(const char *path);                    /* of a safetensors file */
void made_close(struct made_weights *w);
/* fails the test if absent */
const struct attn_st_tensor *made_find(const struct made_weights *w, const char *name);

/* ---- opening any model, by directory or name ---- */

struct attn_model *made_open(const char *dir);                      /* fails the test if it is refused */
/* Fails the test unless it is refused with a message that contains all the words ("a|b|c") and the directory. */
void made_refused(const char *dir, const char *words);

#endif

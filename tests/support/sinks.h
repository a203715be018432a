/* sinks.h - a made-up forward pass for the tests of sinks.  Its numbers encode their own position; they are announced
 * in the order and the bands that attn.h promises, with gaps between rows and heads. */
#ifndef TESTS_SINKS_H
#define TESTS_SINKS_H

#include "attn_tools.h"
#include "base/err.h"
#include "scratch.h"
#include "sinks/sink.h"

/* Element (h, t, j) of an activation.  Hidden entries of scores are -inf, those of patterns 0. */
float sinks_value(int act, int layer, size_t h, size_t t, size_t j);

/* What a sink is given: a model of 2 layers, 4 heads and 2 key/value heads; up to 64 tokens "Life", " is", a line feed,
 * "w3", "w4" ... with ids 10, 11 ..., or, if not `known`, only ids; `path` is in a new scratch directory. */
struct sinks_setup {
    struct attn_info model;
    struct attn_hook_points hooks;
    struct attn_select *select;
    struct attn_tokens *tokens;
    struct attn_sink_job job;
    char path[SCRATCH_PATH];
};
void sinks_setup(struct sinks_setup *s, size_t T, const char *show, const char *layers, const char *heads,
                 bool known);
void sinks_teardown(struct sinks_setup *s);     /* removes the directory, too */

/* Opens a sink, announces all it wants, finishes and closes it; returns the first error. */
int sinks_run(const char *format, const struct sinks_setup *s, struct attn_err *err);
/* Announces to an open sink the activations of layers -1 .. layers - 1; those outside the blocks come after them. */
int sinks_tell(const struct attn_sink_methods *f, void *self, const struct sinks_setup *s, int layers,
               struct attn_err *err);

/* A file's bytes, NUL-terminated; NULL if it does not exist.  `file` NULL: the path itself. */
char *sinks_read(const struct sinks_setup *s, const char *file, size_t *len);
bool sinks_there(const struct sinks_setup *s, const char *file);
void sinks_write(const struct sinks_setup *s, const char *file, const char *text);

void sinks_ck_run(const char *format, const struct sinks_setup *s);            /* fails the test if the run fails */
void sinks_ck_refused(const char *format, const struct sinks_setup *s, int code, const char *says);
void sinks_ck_file(const struct sinks_setup *s, const char *file, const char *text);

#endif

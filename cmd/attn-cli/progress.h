/* progress.h - how far a long run has come: "layer 3 of 12", of a second run "run 2, layer 3 of 12", on standard error, if that
 * is a terminal and not --quiet, once a second has passed.  It is gone at the end. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "attn.h"

struct progress { bool on; size_t layers, runs; double start; int shown; };     /* shown: characters on the line */
void progress_start(struct progress *p, const struct attn_model *m, bool wanted);
struct attn_observer progress_observer(struct progress *p);
void progress_end(struct progress *p);

#endif

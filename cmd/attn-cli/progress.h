/* progress.h - shows how far a long run is: "layer 3 of 12", or from the second run on "run 2, layer 3 of 12".  The line goes
 * to standard error, if that is a terminal and --quiet is not given, after the first second; it is erased at the end.  The
 * observer also hears of dots that overflow (overflow.h). */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "attn.h"

struct progress { bool on; size_t layers, runs; double start; int shown; };     /* shown: characters on the line */
void progress_start(struct progress *p, const struct attn_model *m, bool wanted);
struct attn_observer progress_observer(struct progress *p);
void progress_end(struct progress *p);

#endif

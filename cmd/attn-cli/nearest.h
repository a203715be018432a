/* nearest.h - finds the name that was probably meant.
 *
 * Offer all valid names, then look at `best`: NULL if none is near enough.  The distance is the number of letters to insert,
 * delete, replace or swap; a name that starts with what was typed has distance 0. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "say.h"

#include <stddef.h>

struct nearest { const char *typed, *best; size_t distance; };
void nearest_offer(struct nearest *n, const char *name);
/* The end of a message about the typed name: ", the nearest is 'BEFOREname'", or nothing. */
struct excerpt nearest_hint(const struct nearest *n, const char *before);

#endif

/* nearest.h - the name somebody probably meant.
 *
 * Offer all names there are, then look at `best`: NULL when none is near enough to be what was meant.  Nearness
 * is the number of letters to insert, delete, replace or swap; the start of a name is nearest of all. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "say.h"

#include <stddef.h>

struct nearest { const char *typed, *best; size_t distance; };
void nearest_offer(struct nearest *n, const char *name);
/* What a message about the typed name ends with: ", the nearest is 'BEFOREname'", or nothing. */
struct excerpt nearest_hint(const struct nearest *n, const char *before);

#endif

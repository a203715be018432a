/* nearest.h - the name somebody probably meant.
 *
 * Offer all names there are, then look at `best`.  Nearness is the number of letters to insert,
 * delete, replace or swap; the start of a name is nearest of all. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

struct nearest { const char *typed, *best; size_t distance; };
void nearest_offer(struct nearest *n, const char *name);

#endif

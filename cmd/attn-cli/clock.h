/* clock.h - how long something takes. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stddef.h>

double clock_now(void);                 /* seconds, to be subtracted from each other */
/* "6 s", "46 min 39 s", "1 h 05 min"; returns its length. */
int clock_put(char *buf, size_t size, double seconds);

#endif

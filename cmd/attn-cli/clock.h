/* clock.h - measures and formats durations. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stddef.h>

double clock_now(void);                 /* seconds since some fixed point: only differences mean anything */
/* Formats as "6 s", "46 min 39 s" or "1 h 05 min"; returns the length. */
int clock_put(char *buf, size_t size, double seconds);

#endif

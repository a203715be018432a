#include "clock.h"

#include <stdio.h>
#include <time.h>

double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int clock_put(char *buf, size_t size, double seconds)
{
    unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000;
    if (s >= 3600)
        return snprintf(buf, size, "%lu h %02lu min", s / 3600, s % 3600 / 60);
    return s >= 60 ? snprintf(buf, size, "%lu min %02lu s", s / 60, s % 60) : snprintf(buf, size, "%lu s", s);
}

/* stop.h - long work that ends at a good place when somebody asks for it: SIGINT, SIGTERM, or a time limit.
 *
 * The first signal is noted, the second ends the process as if none were caught. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

enum { STOP_STATUS = 75 };              /* EX_TEMPFAIL: call again, to go on */

void stop_watch(double max_seconds);    /* 0: no limit */
bool stop_asked(void);

#endif

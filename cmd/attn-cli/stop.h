/* stop.h - lets long work end at a good place after SIGINT, SIGTERM or a time limit.
 *
 * The first signal is only noted; the second ends the process as if none had been caught. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

enum { STOP_STATUS = 75 };              /* EX_TEMPFAIL: run the command again to go on */

void stop_watch(double max_seconds);    /* catches the signals, starts the clock; 0: no limit */
bool stop_asked(void);

#endif

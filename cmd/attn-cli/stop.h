/* stop.h - ending at a good place when somebody asks for it.
 *
 * The first SIGINT or SIGTERM is a wish, which the work looks for where it can end; a second one ends the
 * process at once, with 130 or 143. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

enum { STOP_STATUS = 75 };              /* ended early: the same command with --resume goes on */

void stop_listen(void);
bool stop_asked(void);

#endif

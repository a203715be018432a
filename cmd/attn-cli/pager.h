/* pager.h - shows a report that is longer than the terminal's screen through a pager, as git does.
 *
 * Between pager_hold and pager_show, what is written to standard output is kept in memory.  Then it goes to the
 * terminal as it is, if it fits on the screen or is no text, else to the pager.  Where standard output is no terminal
 * nothing is held. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdio.h>

void pager_hold(void);
void pager_show(void);
/* The descriptor that standard output really is: what is held goes there in the end. */
int pager_out(void);
/* Where a message goes that belongs between what was printed before and after it: to standard error, or into what is
 * held if both are shown on a terminal. */
FILE *pager_messages(void);

#endif

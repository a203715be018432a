/* process.h - what surrounds a command: its standard streams, signals and stack, and when it is to end early. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "attn.h"

/* Calls work(argc, argv) with standard streams that can be relied on, signals handled, and enough stack for a forward
 * pass, whatever the shell's limit (ulimit -s) is.  Returns what it returns. */
int process_run(int (*work)(int argc, char **argv), int argc, char **argv);
/* The exit status of an error that is not one of usage, which is 2: 1, unless this is set before the call above. */
int process_trouble(void);
void process_set_trouble(int status);
const char *process_called(void);       /* the name or path by which this program was started */
/* Flushes standard output; a failed write is an error unless nobody reads any more. */
int process_finish_output(struct attn_err *err);

enum {
    SOME_FAILED = 3,                    /* some of many texts failed, the others have their answers */
    STOP_STATUS = 75,                   /* EX_TEMPFAIL: run the command again to go on */
};

/* Lets long work end at a good place: the first SIGINT or SIGTERM is only noted, the second ends the process as if none
 * had been caught.  max_seconds 0: no time limit. */
void stop_watch(double max_seconds);
bool stop_asked(void);
bool stop_by_time(void);                /* whether the time alone ends it */

#endif

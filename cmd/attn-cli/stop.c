#include "stop.h"

#include <signal.h>
#include <unistd.h>

enum { BY_SIGNAL = 128 };               /* what shells add to a signal's number */

static volatile sig_atomic_t asked;

static void note(int signal)
{
    if (asked)
        _exit(BY_SIGNAL + signal);
    asked = 1;
}

void stop_listen(void)
{
    struct sigaction a = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

bool stop_asked(void)
{
    return asked != 0;
}

#include "stop.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t caught;
static double deadline;                 /* 0: none */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note_signal(int number)
{
    if (caught) {
        signal(number, SIG_DFL);
        raise(number);
    }
    caught = 1;
}

/* Without SA_RESTART: a read that waits returns. */
static void catch_signal(int number)
{
    struct sigaction old, new = {.sa_handler = note_signal};
    sigemptyset(&new.sa_mask);
    if (!sigaction(number, NULL, &old) && old.sa_handler != SIG_IGN)
        sigaction(number, &new, NULL);
}

void stop_watch(double max_seconds)
{
    deadline = max_seconds > 0 ? now() + max_seconds : 0;
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

bool stop_asked(void)
{
    return caught || (deadline > 0 && now() >= deadline);
}

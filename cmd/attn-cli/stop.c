#include "stop.h"

#include "clock.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;
static double deadline;                 /* 0: no limit */

static void note_signal(int number)
{
    if (caught) {
        signal(number, SIG_DFL);
        raise(number);
    }
    caught = 1;
}

/* Without SA_RESTART a waiting read returns.  A signal that was ignored is caught as well: shells ignore SIGINT for jobs in the
 * background, but whoever sends it to one of them means it. */
static void catch_signal(int number)
{
    struct sigaction a = {.sa_handler = note_signal};
    sigemptyset(&a.sa_mask);
    sigaction(number, &a, NULL);
}

void stop_watch(double max_seconds)
{
    deadline = max_seconds > 0 ? clock_now() + max_seconds : 0;
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

bool stop_asked(void)
{
    return caught || (deadline > 0 && clock_now() >= deadline);
}

#include "stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

enum { ENOUGH = 2 << 20, OURS = 8 << 20 };     /* bytes: what attn.h asks for, and room for arguments; Linux's default */

struct job { int (*work)(int argc, char **argv); int argc; char **argv; int result; };

static void *carry_out(void *arg)
{
    struct job *j = arg;
    j->result = j->work(j->argc, j->argv);
    return NULL;
}

static bool is_small(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur < ENOUGH;
}

static bool start(pthread_t *thread, struct job *j)
{
    pthread_attr_t how;
    if (pthread_attr_init(&how))
        return false;
    bool started = !pthread_attr_setstacksize(&how, OURS) && !pthread_create(thread, &how, carry_out, j);
    pthread_attr_destroy(&how);
    return started;
}

/* The main thread's stack cannot grow beyond the limit, and the hard limit may forbid raising it.  A new thread's stack is not
 * bound by it, so under a small limit a thread does the work. */
int stack_enough(int (*work)(int argc, char **argv), int argc, char **argv)
{
    struct job j = {work, argc, argv, 1};
    pthread_t thread;
    sigset_t all;
    if (!is_small() || !start(&thread, &j))
        return work(argc, argv);
    sigfillset(&all);                   /* signals interrupt the worker instead, so that a read that waits returns */
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_join(thread, NULL);
    return j.result;
}

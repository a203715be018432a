/* pinning.h - keeps the threads of a team off the processor of the thread that they help.
 *
 * Linux starts and wakes a thread on the processor of whoever does that, unless it finds an idle one.  A virtual
 * machine often finds none: a processor that waits counts as taken away by its host.  Two threads then share one
 * processor for milliseconds, which is longer than many a pass takes, while others wait. */
#ifndef ATTN_BASE_PINNING_H
#define ATTN_BASE_PINNING_H

#include <pthread.h>
#include <sched.h>

/* The processor that the calling thread is on; -1: unknown. */
int attn_place_now(void);

struct attn_places { cpu_set_t may; };  /* where a thread may run; empty: unknown */

/* Where the calling thread may run. */
void attn_places_find(struct attn_places *p);
/* Keeps a thread off processor `cpu`, if there is another for it. */
void attn_place_off(const struct attn_places *p, int cpu, pthread_t thread);

#endif

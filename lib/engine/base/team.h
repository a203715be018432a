/* team.h - a few threads that share the items of a loop.
 *
 * Item i is computed in the same way by any thread, so results do not depend on their number.  Threads are started when
 * the loops so far show that it pays, sleep if no other follows within microseconds, and are not woken for loops
 * that are shorter than waking takes.  They keep off the caller's processor, and one that wakes up too late to help is
 * not waited for.  A child of fork() has none of the threads: there the caller does all the work, so that nothing
 * hangs, and attn_team_check tells those who can fail. */
#ifndef ATTN_BASE_TEAM_H
#define ATTN_BASE_TEAM_H

#include "attn.h"

struct attn_team;
enum { ATTN_TEAM_ROOM = 800 << 10 };    /* bytes of memory that each worker has for itself: stacks may be small */
/* `threads` includes the caller: 1 starts none, 0 is as many as this process may use.  The team is smaller if a thread
 * cannot be started. */
int attn_team_new(struct attn_team **out, int threads, struct attn_err *err);
void attn_team_free(struct attn_team *t);                           /* NULL is fine */
int attn_team_size(struct attn_team *t);
/* A worker's own ATTN_TEAM_ROOM bytes, which begin a cache line; what is in them is lost between items. */
void *attn_team_room(const struct attn_team *t, int worker);
/* Whether so much work would be shared if it were one loop; of less, no part is. */
bool attn_team_helps(double cost);
/* Whether threads would be started for so much. */
bool attn_team_repays(double cost);
/* Fails in a process that is not the one which made the team: `what` belongs to that one; and in a thread whose stack
 * has no room for what a worker does. */
int attn_team_check(const struct attn_team *t, const char *what, struct attn_err *err);

/* So much work, in operations, is sure to come: threads need not wait until they have seen it. */
void attn_team_expect(struct attn_team *t, double cost);

/* Calls work(ctx, i, worker) for each i < items, with worker < attn_team_size, and returns when all are done.  Worker
 * w of W begins with items * w / W and those that follow; at items * (w + 1) / W it goes on to help others.  `cost` is
 * roughly the number of floating point operations of the whole loop.  t may be NULL: then the caller does it all. */
void attn_team_run(struct attn_team *t, size_t items, double cost,
                   void (*work)(void *ctx, size_t item, int worker), void *ctx);

#endif

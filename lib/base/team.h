/* team.h - a few threads that share out the items of one loop.
 *
 * Item i is computed alike whoever takes it, so results never depend on the number of threads.
 * Threads are started at the first loop worth it, sleep when no other follows within microseconds,
 * and are not woken for less than that costs. */
#ifndef ATTN_BASE_TEAM_H
#define ATTN_BASE_TEAM_H

#include "attn.h"

struct attn_team;
/* threads counts the caller: 1 starts none.  Where a thread cannot be started the team is smaller. */
int attn_team_new(struct attn_team **out, int threads, struct attn_err *err);
void attn_team_free(struct attn_team *t);                           /* NULL is fine */
int attn_team_size(const struct attn_team *t);

/* work(ctx, i, worker) for each i < items, worker < attn_team_size; returns when all are done.  Worker w of W begins with
 * items * w / W and those after it, and when it has come to items * (w + 1) / W helps others with theirs.
 * `cost` is a rough count of floating point operations of the whole loop.  t may be NULL: the
 * caller alone. */
void attn_team_run(struct attn_team *t, size_t items, double cost,
                   void (*work)(void *ctx, size_t item, int worker), void *ctx);

#endif

#include "base/team.h"

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Waking a sleeping thread takes about as long as this many floating point operations on one core
 * (some 10 microseconds); smaller loops stay with the caller. */
static const double WORTH_WAKING = 1e6;

struct attn_team {
    int size, started;                  /* with the caller; threads running */
    pthread_t *thread;
    pthread_mutex_t lock;               /* guards round, busy, quit and the job */
    pthread_cond_t wake, done;
    unsigned long round;
    int busy;
    bool quit;
    void (*work)(void *ctx, size_t item, int worker);
    void *ctx;
    size_t items;
    atomic_size_t next;
};

struct seat { struct attn_team *team; int worker; };

static void take_items(struct attn_team *t, int worker)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->items)
            return;
        t->work(t->ctx, i, worker);
    }
}

static void *sit(void *arg)
{
    struct seat *seat = arg;
    struct attn_team *t = seat->team;
    int worker = seat->worker;
    free(seat);
    unsigned long seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->quit)
            pthread_cond_wait(&t->wake, &t->lock);
        if (t->quit)
            break;
        seen = t->round;
        pthread_mutex_unlock(&t->lock);
        take_items(t, worker);
        pthread_mutex_lock(&t->lock);
        if (--t->busy == 0)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* What cannot be started is done without: results are the same. */
static void start(struct attn_team *t)
{
    for (; t->started < t->size - 1; t->started++) {
        struct seat *seat = malloc(sizeof *seat);
        if (!seat)
            break;
        *seat = (struct seat){t, t->started + 1};
        if (pthread_create(&t->thread[t->started], NULL, sit, seat)) {
            free(seat);
            break;
        }
    }
    t->size = t->started + 1;
}

int attn_team_new(struct attn_team **out, int threads, struct attn_err *err)
{
    struct attn_team *t = calloc(1, sizeof *t);
    if (!t)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a team of threads");
    t->size = threads < 1 ? 1 : threads;
    t->thread = calloc((size_t)t->size, sizeof *t->thread);
    if (!t->thread) {
        free(t);
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for %d threads", threads);
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->done, NULL);
    *out = t;
    return ATTN_OK;
}

void attn_team_free(struct attn_team *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->started; i++)
        pthread_join(t->thread[i], NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->wake);
    pthread_cond_destroy(&t->done);
    free(t->thread);
    free(t);
}

int attn_team_size(const struct attn_team *t)
{
    return t ? t->size : 1;
}

void attn_team_run(struct attn_team *t, size_t items, double cost,
                   void (*work)(void *ctx, size_t item, int worker), void *ctx)
{
    bool worth = t && t->size > 1 && items > 1 && cost >= WORTH_WAKING;
    if (worth && t->started == 0)
        start(t);
    if (!worth || t->started == 0) {
        for (size_t i = 0; i < items; i++)
            work(ctx, i, 0);
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->work = work;
    t->ctx = ctx;
    t->items = items;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    t->busy = t->started;
    t->round++;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    take_items(t, 0);
    pthread_mutex_lock(&t->lock);
    while (t->busy)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

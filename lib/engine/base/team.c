#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/os.h"
#include "base/stack_left.h"

/* Waking a sleeping thread takes about as long as one core needs for this many floating point operations (some 10
 * microseconds); smaller loops stay with the caller. */
static const double WORTH_WAKING = 1e6;
/* To start the threads, and to end them, takes half a millisecond, a third of what this takes alone.  It is done when
 * so much is expected, or when the loops worth waking for have come to so much together: a short text in a small model
 * never gets there, and a large one loses nothing. */
static const double WORTH_STARTING = 1.5e8;
/* How many seconds to poll before sleeping, per other thread.  Loops of a forward pass follow each other
 * within microseconds, and the last of many threads wakes up long after the first.  Nobody polls when
 * threads share processors. */
static const double SPIN_S = 30e-6;
enum { SPINS = 32 };                    /* polls between two reads of the clock */
/* Bytes of a thread's stack, regardless of the shell's limit (ulimit -s).  What libraries keep for each thread lies in
 * it as well: 770 KB in a program that looks for races. */
enum { STACK = 2 << 20 };

/* Neighbouring items often read the same memory, and item i of the next loop what item i of this loop wrote.  So each
 * worker starts with a contiguous range of items; whoever finishes its own takes from the others. */
enum { LINE = 64 };
struct range { _Alignas(LINE) atomic_size_t next; size_t end; };

struct attn_team {
    int size, started;                  /* size includes the caller, 0 is not known yet; threads running */
    double estimate;                    /* of the work worth waking threads for, done or expected until they start */
    struct range *range;                /* one for each worker */
    char *room, *rooms;                 /* the caller's, which is there from the beginning, and those of the others */
    bool pinned;                        /* each thread has its own processor: it polls before it sleeps, and keeps off
                                         * the one that the caller uses */
    double spin_s;                      /* seconds to poll */
    struct attn_places places;          /* of all of them */
    atomic_int caller_at;               /* the caller's processor when it began the current job */
    pthread_t *thread;
    pid_t process;                      /* that has the threads */
    void (*work)(void *ctx, size_t item, int worker);
    void *ctx;
    atomic_ulong round;                 /* the number of the current job, work(ctx, ...) */
    atomic_int busy;                    /* OPEN, and JOINED for each thread that takes part */
    atomic_bool quit;
    pthread_mutex_t lock;               /* guards `asleep` and `caller_asleep` */
    pthread_cond_t wake, done;
    int asleep;
    bool caller_asleep;
};

/* The caller waits for the threads that have joined a job, not for those that wake up too late to help. */
enum { OPEN = 1, JOINED = 2 };

struct start { struct attn_team *team; int worker; };

static void share_out(struct attn_team *t, size_t items)
{
    size_t workers = (size_t)t->size;
    for (size_t w = 0; w < workers; w++) {
        atomic_store_explicit(&t->range[w].next, items * w / workers, memory_order_relaxed);
        t->range[w].end = items * (w + 1) / workers;
    }
}

static void take_from(struct attn_team *t, struct range *s, int worker)
{
    while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
        size_t i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (i < s->end)
            t->work(t->ctx, i, worker);
    }
}

static void take_items(struct attn_team *t, int worker)
{
    for (int w = worker; w < t->size; w++)
        take_from(t, &t->range[w], worker);
    for (int w = 0; w < worker; w++)
        take_from(t, &t->range[w], worker);
}

/* Leaves the processor to its other thread for a moment, if it has one, and saves power. */
static inline void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");     /* takes about as long; yield takes no time */
#endif
}

/* Polls for ready(t, seen); false if it took too long. */
static bool spin(struct attn_team *t, bool (*ready)(struct attn_team *t, unsigned long seen), unsigned long seen)
{
    if (ready(t, seen) || !t->pinned)
        return ready(t, seen);
    for (double end = attn_clock_now() + t->spin_s; attn_clock_now() < end;)
        for (int i = 0; i < SPINS; i++) {
            if (ready(t, seen))
                return true;
            rest();
        }
    return false;
}

static bool has_work(struct attn_team *t, unsigned long seen)
{
    return atomic_load(&t->round) != seen || atomic_load(&t->quit);
}

static bool is_done(struct attn_team *t, unsigned long seen)
{
    (void)seen;
    return atomic_load(&t->busy) == 0;
}

static void wait_for_work(struct attn_team *t, unsigned long seen)
{
    if (spin(t, has_work, seen))
        return;
    pthread_mutex_lock(&t->lock);
    t->asleep++;
    while (!has_work(t, seen))
        pthread_cond_wait(&t->wake, &t->lock);
    t->asleep--;
    pthread_mutex_unlock(&t->lock);
}

static void wait_for_others(struct attn_team *t)
{
    if (spin(t, is_done, 0))
        return;
    pthread_mutex_lock(&t->lock);
    t->caller_asleep = true;
    while (!is_done(t, 0))
        pthread_cond_wait(&t->done, &t->lock);
    t->caller_asleep = false;
    pthread_mutex_unlock(&t->lock);
}

/* Call it after changing what they wait for; a worker checks again under the lock before it sleeps. */
static void wake_sleepers(struct attn_team *t)
{
    pthread_mutex_lock(&t->lock);
    if (t->asleep)
        pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

static void wake_caller(struct attn_team *t)
{
    pthread_mutex_lock(&t->lock);
    if (t->caller_asleep)
        pthread_cond_signal(&t->done);
    pthread_mutex_unlock(&t->lock);
}

/* A thread may have been woken where the caller is. */
static void keep_apart(struct attn_team *t)
{
    int caller_at = atomic_load(&t->caller_at);
    if (t->pinned && attn_place_now() == caller_at)
        attn_place_off(&t->places, caller_at, pthread_self());
}

/* Takes part in the current job, unless its caller has finished with it. */
static bool join(struct attn_team *t)
{
    int busy = atomic_load(&t->busy);
    while (busy & OPEN)
        if (atomic_compare_exchange_weak(&t->busy, &busy, busy + JOINED))
            return true;
    return false;
}

static void *work_on(void *arg)
{
    struct start *s = arg;
    struct attn_team *t = s->team;
    int worker = s->worker;
    free(s);
    for (unsigned long seen = 0;;) {
        wait_for_work(t, seen);
        if (atomic_load(&t->quit))
            return NULL;
        keep_apart(t);
        seen = atomic_load(&t->round);
        if (!join(t))
            continue;
        take_items(t, worker);
        if (atomic_fetch_sub(&t->busy, JOINED) == JOINED)
            wake_caller(t);
    }
}

static bool start_one(struct attn_team *t, const pthread_attr_t *attr)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return false;
    *s = (struct start){t, t->started + 1};
    if (pthread_create(&t->thread[t->started], attr, work_on, s)) {
        free(s);
        return false;
    }
    if (t->pinned)
        attn_place_off(&t->places, attn_place_now(), t->thread[t->started]);
    t->started++;
    return true;
}

/* Threads that cannot be started are done without: the results are the same. */
static void start(struct attn_team *t)
{
    pthread_attr_t attr;
    size_t size = (size_t)attn_team_size(t);
    t->pinned = t->size <= attn_cpu_count();
    t->spin_s = SPIN_S * (t->size - 1);
    attn_places_find(&t->places);
    t->thread = calloc(size, sizeof *t->thread);
    t->range = aligned_alloc(_Alignof(struct range), size * sizeof *t->range);
    t->rooms = aligned_alloc(LINE, (size - 1) * ATTN_TEAM_ROOM);
    if (t->thread && t->range && t->rooms && pthread_attr_init(&attr) == 0) {
        bool more = pthread_attr_setstacksize(&attr, STACK) == 0;
        while (more && t->started < t->size - 1)
            more = start_one(t, &attr);
        pthread_attr_destroy(&attr);
    }
    t->size = t->started + 1;
}

/* Each run has a team.  So the room that the last one leaves is kept for the next: where malloc maps so much anew, as
 * that of sanitizers does, short runs would spend most of their time on it. */
static _Atomic(char *) kept;

static void leave(char *room)
{
    free(atomic_exchange(&kept, room));
}

int attn_team_new(struct attn_team **out, int threads, struct attn_err *err)
{
    struct attn_team *t = calloc(1, sizeof *t);
    char *room = atomic_exchange(&kept, NULL);
    if (!room)
        room = aligned_alloc(LINE, ATTN_TEAM_ROOM);
    if (!t || !room) {
        free(t);
        free(room);
        return attn_no_memory(err, NULL, "for a team of threads");
    }
    t->room = room;
    t->size = threads < 1 ? 0 : threads;
    t->process = getpid();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->done, NULL);
    *out = t;
    return ATTN_OK;
}

static bool is_here(const struct attn_team *t)
{
    return t->process == getpid();
}

int attn_team_check(const struct attn_team *t, const char *what, struct attn_err *err)
{
    if (!t || is_here(t))
        return attn_stack_check(err);
    return attn_fail(err, ATTN_EUSAGE, "%s belongs to process %ld, which made it, and has no threads in this child of "
                                       "it: make another one after fork", what, (long)t->process);
}

void attn_team_free(struct attn_team *t)
{
    if (!t)
        return;
    if (is_here(t)) {                   /* in a child the lock may be held by a thread that is not there */
        atomic_store(&t->quit, true);
        wake_sleepers(t);
        for (int i = 0; i < t->started; i++)
            pthread_join(t->thread[i], NULL);
        pthread_mutex_destroy(&t->lock);
        pthread_cond_destroy(&t->wake);
        pthread_cond_destroy(&t->done);
    }
    leave(t->room);
    free(t->rooms);
    free(t->range);
    free(t->thread);
    free(t);
}

/* Finding out how many processors there are reads files, which a short run can do without. */
int attn_team_size(struct attn_team *t)
{
    if (t && t->size == 0)
        t->size = attn_cpu_count();
    return t ? t->size : 1;
}

void *attn_team_room(const struct attn_team *t, int worker)
{
    return worker == 0 ? t->room : t->rooms + (size_t)(worker - 1) * ATTN_TEAM_ROOM;
}

bool attn_team_helps(double cost) { return cost >= WORTH_WAKING; }
bool attn_team_repays(double cost) { return cost >= WORTH_STARTING; }

void attn_team_expect(struct attn_team *t, double cost)
{
    if (t && t->estimate < cost)
        t->estimate = cost;
}

void attn_team_run(struct attn_team *t, size_t items, double cost,
                   void (*work)(void *ctx, size_t item, int worker), void *ctx)
{
    bool worth = t && items > 1 && attn_team_helps(cost) && attn_team_size(t) > 1;
    if (worth && t->started == 0)
        t->estimate += cost;
    worth = worth && (t->started > 0 || attn_team_repays(t->estimate)) && is_here(t);
    if (worth && t->started == 0)
        start(t);
    if (!worth || t->started == 0) {
        for (size_t i = 0; i < items; i++)
            work(ctx, i, 0);
        return;
    }
    t->work = work;
    t->ctx = ctx;
    share_out(t, items);
    atomic_store(&t->caller_at, attn_place_now());
    atomic_store(&t->busy, OPEN);
    atomic_fetch_add(&t->round, 1);
    wake_sleepers(t);
    take_items(t, 0);
    atomic_fetch_sub(&t->busy, OPEN);
    wait_for_others(t);
}

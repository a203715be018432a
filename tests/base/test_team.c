#include "suites.h"

#include "base/arena.h"
#include "base/cpu.h"
#include "base/os.h"
#include "base/team.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 1000 };
static const double WORTH = 1e9;

struct count { atomic_int times[ITEMS]; atomic_int wrong_worker; int size; };

static void visit(void *ctx, size_t item, int worker)
{
    struct count *c = ctx;
    atomic_fetch_add(&c->times[item], 1);
    if (worker < 0 || worker >= c->size)
        atomic_fetch_add(&c->wrong_worker, 1);
}

static void expect_each_once(struct attn_team *t, size_t items, double cost)
{
    struct count *c = calloc(1, sizeof *c);
    ck_assert_ptr_nonnull(c);
    c->size = attn_team_size(t);
    attn_team_run(t, items, cost, visit, c);
    for (size_t i = 0; i < ITEMS; i++)
        ck_assert_int_eq(c->times[i], i < items);
    ck_assert_int_eq(c->wrong_worker, 0);
    free(c);
}

START_TEST(visits_each_item_once)
{
    struct attn_team *t = NULL;
    ck_assert_int_eq(attn_team_new(&t, _i, NULL), 0);
    ck_assert_int_eq(attn_team_size(t), _i);
    for (int round = 0; round < 50; round++)
        expect_each_once(t, (size_t)(round * 19 % ITEMS), WORTH);
    expect_each_once(t, ITEMS, 0);      /* too little work to wake a thread */
    attn_team_free(t);
}
END_TEST

/* The worker of the first item waits until all others are done. */
struct held { atomic_int done; int others; };

static void wait_in_the_first(void *ctx, size_t item, int worker)
{
    (void)worker;
    struct held *h = ctx;
    if (item > 0)
        atomic_fetch_add(&h->done, 1);
    while (item == 0 && atomic_load(&h->done) < h->others)
        sched_yield();
}

START_TEST(helps_whoever_is_late)
{
    struct attn_team *t = NULL;
    struct held h = {.others = ITEMS - 1};
    ck_assert_int_eq(attn_team_new(&t, _i, NULL), 0);
    attn_team_run(t, ITEMS, WORTH, wait_in_the_first, &h);
    ck_assert_int_eq(h.done, h.others);
    attn_team_free(t);
}
END_TEST

enum { DEEP = 512 << 10, TOGETHER = 3 };

/* Waits until each thread has an item and has used its room and more stack than anything needs. */
static void go_deep(void *ctx, size_t item, int worker)
{
    atomic_int *there = ctx;
    volatile char stack[DEEP];
    (void)item, (void)worker;
    for (size_t i = DEEP; i > 0; i -= 1024)
        stack[i - 1] = 1;
    atomic_fetch_add(there, stack[DEEP - 1]);
    while (atomic_load(there) < TOGETHER)
        sched_yield();
}

START_TEST(stacks_are_large_whatever_the_limit)
{
    struct attn_team *t = NULL;
    atomic_int there = 0;
    pthread_attr_t small;
    ck_assert(!pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, 256 << 10));
    ck_assert(!pthread_setattr_default_np(&small));     /* as under ulimit -s 256 */
    ck_assert(!attn_team_new(&t, TOGETHER, NULL));
    attn_team_run(t, TOGETHER, WORTH, go_deep, &there);
    ck_assert_int_eq(there, TOGETHER);
    attn_team_free(t);
    pthread_attr_destroy(&small);
}
END_TEST

/* The child has none of the threads, and the lock may be held by one of them. */
START_TEST(a_child_of_fork_works_alone)
{
    struct attn_err err = {0};
    struct attn_team *t = NULL;
    int status;
    ck_assert_int_eq(attn_team_new(&t, 4, NULL), 0);
    expect_each_once(t, ITEMS, WORTH);
    ck_assert_int_eq(attn_team_check(t, "this", &err), 0);
    pid_t child = fork();
    if (child == 0) {
        struct count c = {.size = 1};
        alarm(20);
        attn_team_run(t, ITEMS, WORTH, visit, &c);
        bool told = attn_team_check(t, "this", &err) == ATTN_EUSAGE &&
            strstr(err.msg, "this belongs to process ") != NULL;
        attn_team_free(t);
        _exit(told && c.times[0] == 1 && c.times[ITEMS - 1] == 1 && c.wrong_worker == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    expect_each_once(t, ITEMS, WORTH);
    attn_team_free(t);
}
END_TEST

/* ---- late threads, and where they run -------------------------------------------------- */

static atomic_bool held_up, go_on;

static void hold_up(int signal)
{
    (void)signal;
    atomic_store(&held_up, true);
    while (!atomic_load(&go_on))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The id of the youngest thread of this process, which is not the caller. */
static pid_t youngest_thread(void)
{
    DIR *d = opendir("/proc/self/task");
    pid_t found = 0;
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)); )
        if (atoi(e->d_name) > found)
            found = atoi(e->d_name);
    closedir(d);
    ck_assert_int_ne(found, gettid());
    return found;
}

START_TEST(nobody_waits_for_a_thread_that_does_not_come)
{
    struct attn_team *t = NULL;
    ck_assert_int_eq(attn_team_new(&t, 2, NULL), 0);
    expect_each_once(t, ITEMS, WORTH);
    ck_assert(signal(SIGUSR1, hold_up) != SIG_ERR);
    /* by then it sleeps; before that it may hold the team's lock */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    ck_assert_int_eq(tgkill(getpid(), youngest_thread(), SIGUSR1), 0);
    while (!atomic_load(&held_up))
        sched_yield();
    for (int i = 0; i < 3; i++)
        expect_each_once(t, ITEMS, WORTH);
    atomic_store(&go_on, true);
    for (int i = 0; i < 50; i++)
        expect_each_once(t, ITEMS, WORTH);
    attn_team_free(t);
}
END_TEST

struct apart { atomic_int there, done; int processor[2]; };

/* Waits until both threads have an item; the caller is done long before the other. */
static void note_processor(void *ctx, size_t item, int worker)
{
    struct apart *a = ctx;
    (void)item;
    a->processor[worker] = attn_place_now();
    atomic_fetch_add(&a->there, 1);
    while (atomic_load(&a->there) < 2)
        sched_yield();
    if (worker > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_add(&a->done, 1);
}

static void pin(int processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

START_TEST(a_thread_leaves_the_processor_of_the_caller)
{
    struct attn_team *t = NULL;
    cpu_set_t all;
    if (attn_place_now() < 0)           /* threads are where the system wants them */
        return;
    if (attn_cpu_count() < 2) {
        skipped("a second processor", NULL);
        return;
    }
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_eq(attn_team_new(&t, 2, NULL), 0);
    for (int i = 0; i < 20; i++) {      /* the caller follows it wherever it goes */
        struct apart a = {0};
        attn_team_run(t, 2, WORTH, note_processor, &a);
        ck_assert_int_eq(a.done, 2);
        ck_assert_int_ge(a.processor[1], 0);
        if (i > 0)
            ck_assert_int_ne(a.processor[0], a.processor[1]);
        pin(a.processor[1]);
    }
    attn_team_free(t);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST

START_TEST(works_without_a_team)
{
    expect_each_once(NULL, ITEMS, WORTH);
    attn_team_free(NULL);
}
END_TEST

START_TEST(counts_processors)
{
    ck_assert_int_ge(attn_cpu_count(), 1);
}
END_TEST

static void lay_out(struct attn_arena *a, float *piece[3])
{
    piece[0] = attn_arena_f32(a, 3, 5, 1);
    piece[1] = attn_arena_f32(a, 0, 7, 7);
    piece[2] = attn_arena_f32(a, 1, 1, 1);
}

START_TEST(arena_counts_then_carves)
{
    struct attn_arena a = {0};
    float *piece[3];
    lay_out(&a, piece);
    ck_assert_ptr_null(piece[0]);
    size_t counted = a.used;
    ck_assert_int_eq(attn_arena_make(&a, NULL), 0);
    lay_out(&a, piece);
    ck_assert_uint_eq(a.used, counted);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq((uintptr_t)piece[i] % 64, 0);
    for (int i = 0; i < 15; i++)
        ck_assert(piece[0][i] == 0);
    ck_assert_ptr_eq(piece[1], piece[2]);
    attn_arena_free(&a);
}
END_TEST

START_TEST(arena_refuses_what_overflows)
{
    static const size_t n[][3] = {{SIZE_MAX, 2, 1}, {SIZE_MAX / 2, 1, 3}, {SIZE_MAX / 4, 1, 1}, {1, SIZE_MAX / 8, 4}};
    struct attn_arena a = {0};
    struct attn_err err = {0};
    attn_arena_f32(&a, n[_i][0], n[_i][1], n[_i][2]);
    attn_arena_f32(&a, 1, 1, 1);        /* the first failure is kept */
    attn_arena_f32(&a, n[_i][0], n[_i][1], n[_i][2]);
    ck_assert_int_eq(attn_arena_make(&a, &err), ATTN_ENOMEM);
    ck_assert_ptr_nonnull(strstr(err.msg, "memory"));
    attn_arena_free(&a);
}
END_TEST

Suite *suite_team(void)
{
    Suite *s = suite_create("team");
    TCase *c = tcase_create("team");
    tcase_add_loop_test(c, visits_each_item_once, 1, 9);
    tcase_add_loop_test(c, helps_whoever_is_late, 2, 9);
    tcase_add_test(c, stacks_are_large_whatever_the_limit);
    tcase_add_test(c, a_child_of_fork_works_alone);
    tcase_add_test(c, nobody_waits_for_a_thread_that_does_not_come);
    tcase_add_test(c, a_thread_leaves_the_processor_of_the_caller);
    tcase_add_test(c, works_without_a_team);
    tcase_add_test(c, counts_processors);
    tcase_add_test(c, arena_counts_then_carves);
    tcase_add_loop_test(c, arena_refuses_what_overflows, 0, 4);
    suite_add_tcase(s, c);
    return s;
}

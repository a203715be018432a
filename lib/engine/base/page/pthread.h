/* pthread.h - for a page, whose engine has one thread: locks are free, and no other thread can be started (team.h then
 * works alone).  wasi-libc has none. */
#ifndef ATTN_BASE_PAGE_PTHREAD_H
#define ATTN_BASE_PAGE_PTHREAD_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>                  /* has the types */

#define PTHREAD_MUTEX_INITIALIZER {{{0}}}
#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *m, const void *attr) { (void)m, (void)attr; return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *m) { (void)m; return 0; }
static inline int pthread_mutex_lock(pthread_mutex_t *m) { (void)m; return 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *m) { (void)m; return 0; }
static inline int pthread_cond_init(pthread_cond_t *c, const void *attr) { (void)c, (void)attr; return 0; }
static inline int pthread_cond_destroy(pthread_cond_t *c) { (void)c; return 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *c) { (void)c; return 0; }
static inline int pthread_cond_signal(pthread_cond_t *c) { (void)c; return 0; }
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { (void)c, (void)m; return 0; }
static inline int pthread_attr_init(pthread_attr_t *a) { (void)a; return 0; }
static inline int pthread_attr_destroy(pthread_attr_t *a) { (void)a; return 0; }
static inline int pthread_attr_setstacksize(pthread_attr_t *a, size_t size) { (void)a, (void)size; return 0; }
static inline pthread_t pthread_self(void) { return 0; }
static inline int pthread_join(pthread_t t, void **result) { (void)t, (void)result; return EINVAL; }
static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*start)(void *), void *self)
{
    (void)t, (void)a, (void)start, (void)self;
    return EAGAIN;
}
static inline int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)before, (void)parent, (void)child;
    return 0;
}
static inline int pthread_once(pthread_once_t *once, void (*work)(void))
{
    if (!*once) {
        *once = 1;
        work();
    }
    return 0;
}

#endif

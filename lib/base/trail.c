#include "base/trail.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attn_trail {
    struct attn_trail *next;
    atomic_bool live;                   /* false: the entry can be used again */
    char *path;
    uintptr_t data; size_t len;         /* 0: not mapped */
    pid_t owner;
};

static _Atomic(struct attn_trail *) first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* for those who add */

/* An entry that is not used, perhaps new; NULL: no memory. */
static struct attn_trail *spare(void)
{
    struct attn_trail *t = atomic_load(&first);
    while (t && atomic_load(&t->live))
        t = t->next;
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (t) {
        t->next = atomic_load(&first);
        atomic_store(&first, t);
    }
    return t;
}

struct attn_trail *attn_trail_add(const char *path, const void *data, size_t len)
{
    char *copy = strdup(path);
    pthread_mutex_lock(&lock);
    struct attn_trail *t = copy ? spare() : NULL;
    if (t) {
        free(t->path);
        t->path = copy;
        t->data = (uintptr_t)data;
        t->len = len;
        t->owner = getpid();
        atomic_store(&t->live, true);
    }
    pthread_mutex_unlock(&lock);
    if (!t)
        free(copy);
    return t;
}

void attn_trail_drop(struct attn_trail *t)
{
    if (t)
        atomic_store(&t->live, false);
}

bool attn_trail_is_ours(const struct attn_trail *t)
{
    return !t || t->owner == getpid();
}

const char *attn_file_mapped_at(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (struct attn_trail *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->live) && t->data && at - t->data < t->len)
            return t->path;
    return NULL;
}

void attn_files_abandon(void)
{
    for (struct attn_trail *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->live) && !t->data && attn_trail_is_ours(t))
            unlink(t->path);
}

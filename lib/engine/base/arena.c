#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/os.h"

enum { LINE = 64, LARGE = 2 << 20 };       /* bytes: of a cache line, of a large page */
/* Arenas up to this size come from the heap, which many short runs use again; to unmap one, all processors that ran its
 * threads are interrupted, which takes longer than such a run. */
enum { SMALL = 1 << 20 };

void *attn_arena_bytes(struct attn_arena *a, size_t n, size_t size)
{
    size_t bytes, end;
    if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, LINE - 1, &bytes) ||
        __builtin_add_overflow(a->used, bytes & ~(size_t)(LINE - 1), &end)) {
        a->overflow = true;
        return NULL;
    }
    void *p = a->base ? a->base + a->used : NULL;
    a->used = end;
    return p;
}

float *attn_arena_f32(struct attn_arena *a, size_t n0, size_t n1, size_t n2)
{
    size_t n;
    if (__builtin_mul_overflow(n0, n1, &n) || __builtin_mul_overflow(n, n2, &n)) {
        a->overflow = true;
        return NULL;
    }
    return attn_arena_bytes(a, n, sizeof(float));
}

int attn_arena_make(struct attn_arena *a, struct attn_err *err)
{
    if (a->overflow)
        return attn_fail(err, ATTN_ENOMEM, "a run of this size needs more memory than can be addressed");
    a->size = a->used ? a->used : LINE;
    a->used = 0;
    bool small = a->size <= SMALL;
    void *p = small ? aligned_alloc(LINE, a->size) : mmap(NULL, a->size, PROT_READ | PROT_WRITE,
                                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!p || p == MAP_FAILED)
        return attn_no_memory(err, NULL, "for a run of this size, which needs %zu MB", (a->size >> 20) + 1);
    if (small)
        memset(p, 0, a->size);
    a->base = p;
    return ATTN_OK;
}

void attn_arena_large_pages(struct attn_arena *a)
{
    if (a->size >= LARGE)
        attn_os_large_pages(a->base, a->size);
}

void attn_arena_free(struct attn_arena *a)
{
    if (a->size <= SMALL)
        free(a->base);
    else if (a->base)
        munmap(a->base, a->size);
    *a = (struct attn_arena){0};
}

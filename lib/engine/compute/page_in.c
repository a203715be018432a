#include "compute/page_in.h"

#include "base/size.h"

#include <stdint.h>

enum {
    AROUND = 1 << 16,                   /* bytes that Linux maps at a fault, in aligned blocks; others may map less */
    AT_ONCE = 16                        /* blocks of an item */
};
static const double FAULT = 9e4;        /* operations that a core does meanwhile */

struct blocks { const volatile char *first; size_t n; };        /* first: the second block that the weight reaches */

static void touch(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct blocks *b = ctx;
    for (size_t i = item * AT_ONCE; i < smaller(b->n, (item + 1) * AT_ONCE); i++)
        (void)b->first[i * AROUND];
}

void attn_page_in(struct attn_team *t, const struct attn_mat *w)
{
    const char *data = w->data;
    if (!data || w->panels || w->in == 0 || w->out == 0)
        return;
    size_t last = w->transposed ? attn_mat_index(w, w->out - 1) : w->in - 1;
    size_t bytes = attn_dtype_bytes(w->type, last * w->ld + (w->transposed ? w->in : w->out));
    size_t before = AROUND - (uintptr_t)data % AROUND;
    (void)*(const volatile char *)data;
    struct blocks b = {data + before, bytes > before ? parts_of(bytes - before, AROUND) : 0};
    attn_team_run(t, parts_of(b.n, AT_ONCE), FAULT * (double)b.n, touch, &b);
}

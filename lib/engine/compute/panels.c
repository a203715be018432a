#include "compute/panels.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/size.h"
#include "compute/bf16.h"
#include "compute/k_block.h"
#include "compute/vec.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    CONVERTED = 512                     /* steps of a panel that are converted at a time */
};

/* Bytes of k steps of a panel. */
static size_t bytes_of(const struct attn_mat *w, size_t k, bool in_bf16)
{
    return PANEL * (in_bf16 ? attn_bf16_words(k) * sizeof(float) : k * attn_dtype_size(w->type));
}

const void *attn_panels_at(const struct attn_mat *w, size_t j, size_t k, bool in_bf16)
{
    return (const char *)w->panels + j * bytes_of(w, w->in, in_bf16) + bytes_of(w, k, in_bf16);
}

size_t attn_panels_size(const struct attn_mat *w, bool in_bf16)
{
    return parts_of(w->out, PANEL) * bytes_of(w, w->in, in_bf16) / sizeof(float);
}

bool attn_panels_help_one(bool in_bf16)
{
    return !in_bf16 || (attn_bf16_ops() && attn_bf16_ops()->row_panels);
}

bool attn_panels_help_many(const struct attn_mat *w, bool in_bf16)
{
    return in_bf16 || w->type == ATTN_F32;
}

/* ---- one matrix ---- */

struct filling { const struct attn_mat *w; char *panels; bool in_bf16; };

static void fill_floats(float *to, const struct attn_mat *w, size_t j)
{
    for (size_t k = 0; k < w->in; k += ATTN_K_BLOCK) {
        struct attn_k_block s = attn_k_block_of(w, j, k, ATTN_K_BLOCK);
        attn_k_block_copy(to + k * PANEL, w, &s, false);
    }
}

/* Numbers of 16 bits, some steps of all columns at a time. */
static void fill_halves(uint16_t *to, const struct attn_mat *w, size_t j)
{
    size_t cols = smaller(PANEL, w->out - j * PANEL);
    memset(to, 0, w->in * PANEL * sizeof *to);
    for (size_t k = 0; k < w->in && !w->transposed; k++)
        memcpy(to + k * PANEL, attn_element(w->data, w->type, k * w->ld + j * PANEL), cols * sizeof *to);
    for (size_t k0 = 0; k0 < w->in && w->transposed; k0 += CONVERTED)
        for (size_t l = 0; l < cols; l++) {
            const uint16_t *row = attn_mat_row(w, j * PANEL + l);
            for (size_t k = k0; k < smaller(w->in, k0 + CONVERTED); k++)
                to[k * PANEL + l] = row[k];
        }
}

static void fill_words(float *to, const struct attn_mat *w, size_t j)
{
    for (size_t k = 0; k < w->in; k += CONVERTED)
        attn_chunk_words(to + k / 2 * PANEL, w, &(struct attn_chunk){j, j + 1, k, smaller(w->in - k, CONVERTED)});
}

static void fill_panel(void *ctx, size_t j, int worker)
{
    (void)worker;
    const struct filling *p = ctx;
    void *to = p->panels + j * bytes_of(p->w, p->w->in, p->in_bf16);
    if (p->in_bf16)
        fill_words(to, p->w, j);
    else if (p->w->type == ATTN_F32)
        fill_floats(to, p->w, j);
    else
        fill_halves(to, p->w, j);
}

void attn_panels_fill(struct attn_mat *w, float *panels, bool in_bf16, struct attn_team *t)
{
    struct filling p = {w, (char *)panels, in_bf16};
    attn_team_run(t, parts_of(w->out, PANEL), (double)w->in * (double)w->out, fill_panel, &p);
    w->panels = panels;
}

/* ---- one row ---- */

/* Some processors fetch two panels side by side faster, others, by up to a tenth, one after the other: the first copy
 * of a process that is large enough is read both ways, parts of it in turn.  (Four are read another 2 % faster on a
 * Zen 5, but threads then end their wider items further apart.) */
enum { STEPS = 1024, PART = STEPS * PANEL, ITEM = ATTN_AT_ONCE * PART, ITEMS = 32, TRIALS = 8 };
static atomic_size_t decided;           /* 0: not yet */

size_t attn_panels_at_once(void)
{
    size_t n = atomic_load_explicit(&decided, memory_order_relaxed);
    return n ? n : ATTN_AT_ONCE;
}

size_t attn_panels_choose(size_t at_once)
{
    return atomic_exchange_explicit(&decided, at_once, memory_order_relaxed);
}

struct trial { const float *part; size_t n; };

static void read_item(void *ctx, size_t i, int worker)
{
    (void)worker;
    static const float x[STEPS];        /* what they are multiplied with does not matter */
    float y[ATTN_AT_ONCE * PANEL];
    const struct trial *t = ctx;
    for (size_t j = 0; j < ATTN_AT_ONCE; j += t->n)
        attn_vec_of(ATTN_F32)->row_panels(y, x, t->part + i * ITEM + j * PART, PART, t->n, STEPS);
}

static void try_both(const float *copy, size_t size, struct attn_team *team)
{
    double alone = INFINITY, beside = INFINITY;
    if (atomic_load_explicit(&decided, memory_order_relaxed) || size < (size_t)TRIALS * ITEMS * ITEM)
        return;
    for (size_t i = 0; i < TRIALS; i++) {
        struct trial t = {copy + i * ITEMS * ITEM, i % 2 ? ATTN_AT_ONCE : 1};
        double start = attn_clock_now(), *best = i % 2 ? &beside : &alone;
        attn_team_run(team, ITEMS, 2.0 * ITEMS * ITEM, read_item, &t);
        *best = fmin(*best, attn_clock_now() - start);
    }
    attn_panels_choose(beside < alone ? ATTN_AT_ONCE : 1);
}

/* ---- a model ---- */

struct request { struct attn_arena *memory; const struct attn_panels_use *use; struct attn_team *team; };

static bool repays(const struct attn_mat *w, const struct attn_panels_use *use)
{
    return w->data && !attn_dtype_in_blocks(w->type) && (attn_panels_help_many(w, use->bf16) || use->lone);
}

static bool lay_out_mat(struct attn_mat *w, const struct request *r)
{
    if (!repays(w, r->use))
        return false;
    float *panels = attn_arena_f32(r->memory, attn_panels_size(w, r->use->bf16), 1, 1);
    if (panels)
        attn_panels_fill(w, panels, r->use->bf16, r->team);
    return true;
}

/* Walked twice, as the layout of any arena: first it counts, then it copies.  Returns whether anything repays it. */
static bool lay_out(struct attn_panels *p, const struct attn_weights *w, const struct request *r)
{
    bool any = false;
    p->w = *w;
    p->w.block = attn_arena_bytes(&p->memory, w->n.L, sizeof *w->block);
    for (size_t layer = 0; layer < w->n.L; layer++) {
        struct attn_block b = w->block[layer];
        struct attn_mat *mat[] = {&b.q, &b.k, &b.v, &b.o, &b.gate, &b.in, &b.out};
        for (size_t i = 0; i < sizeof mat / sizeof *mat; i++)
            any |= lay_out_mat(mat[i], r);
        if (p->w.block)
            p->w.block[layer] = b;
    }
    if (r->use->logits)
        any |= lay_out_mat(&p->w.unembed, r);
    return any;
}

size_t attn_panels_bytes(const struct attn_weights *w, const struct attn_panels_use *use)
{
    struct attn_panels p = {0};
    bool any =
        !(use->bf16 && attn_bf16_kind() == ATTN_BF16_FLOATS) && lay_out(&p, w, &(struct request){&p.memory, use, NULL});
    return any && !p.memory.overflow && p.memory.used <= attn_memory_available() / 2 ? p.memory.used : 0;
}

bool attn_panels_make(struct attn_panels *p, const struct attn_weights *w, const struct attn_panels_use *use,
                      struct attn_team *t)
{
    *p = (struct attn_panels){.memory.used = attn_panels_bytes(w, use)};
    if (p->memory.used == 0 || attn_arena_make(&p->memory, NULL))
        return false;
    attn_arena_large_pages(&p->memory);
    lay_out(p, w, &(struct request){&p->memory, use, t});
    if (use->lone)
        try_both((const float *)(const void *)p->memory.base, p->memory.used / sizeof(float), t);
    return true;
}

void attn_panels_free(struct attn_panels *p)
{
    attn_arena_free(&p->memory);
}

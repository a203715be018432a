#include "compute/panels.h"

#include "base/cpu.h"
#include "base/size.h"
#include "compute/pairs.h"
#include "compute/slab.h"

enum {
    PANEL = ATTN_PANEL,
    AT_ONCE = 512                       /* steps of a panel in pairs that are converted at a time */
};

static size_t steps_of(size_t k, bool in_pairs) { return in_pairs ? attn_pairs_words(k) : k; }

const float *attn_panels_at(const struct attn_mat *w, size_t j, size_t k, bool in_pairs)
{
    return w->panels + (j * steps_of(w->in, in_pairs) + steps_of(k, in_pairs)) * PANEL;
}

size_t attn_panels_size(const struct attn_mat *w, bool in_pairs)
{
    return parts_of(w->out, PANEL) * PANEL * steps_of(w->in, in_pairs);
}

/* ---- one matrix ---- */

struct filling { const struct attn_mat *w; float *panels; bool in_pairs; };

static void fill_floats(float *to, const struct attn_mat *w, size_t j)
{
    for (size_t k = 0; k < w->in; k += ATTN_SLAB) {
        struct attn_slab s = attn_slab_of(w, j, k, ATTN_SLAB);
        attn_slab_floats(to + k * PANEL, w, &s, ATTN_SLAB_FEW + 1, false);
    }
}

static void fill_words(float *to, const struct attn_mat *w, size_t j)
{
    for (size_t k = 0; k < w->in; k += AT_ONCE)
        attn_chunk_words(to + k / 2 * PANEL, w, &(struct attn_chunk){j, j + 1, k, smaller(w->in - k, AT_ONCE)});
}

static void fill_panel(void *ctx, size_t j, int worker)
{
    (void)worker;
    const struct filling *p = ctx;
    float *to = p->panels + j * PANEL * steps_of(p->w->in, p->in_pairs);
    (p->in_pairs ? fill_words : fill_floats)(to, p->w, j);
}

void attn_panels_fill(struct attn_mat *w, float *panels, bool in_pairs, struct attn_team *t)
{
    struct filling p = {w, panels, in_pairs};
    attn_team_run(t, parts_of(w->out, PANEL), (double)w->in * (double)w->out, fill_panel, &p);
    w->panels = panels;
}

/* ---- a model ---- */

struct request { struct attn_arena *memory; bool in_pairs; struct attn_team *team; };

/* As float32, numbers of 16 bits would take twice the memory. */
static bool repays(const struct attn_mat *w, bool in_pairs)
{
    return w->data && (in_pairs || w->type == ATTN_F32);
}

static bool lay_out_mat(struct attn_mat *w, const struct request *r)
{
    if (!repays(w, r->in_pairs))
        return false;
    float *panels = attn_arena_f32(r->memory, attn_panels_size(w, r->in_pairs), 1, 1);
    if (panels)
        attn_panels_fill(w, panels, r->in_pairs, r->team);
    return true;
}

/* Walked twice, as the layout of any arena: first it counts, then it copies.  Returns whether anything repays it. */
static bool lay_out(struct attn_panels *p, const struct attn_weights *w, bool logits, const struct request *r)
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
    if (logits)
        any |= lay_out_mat(&p->w.unembed, r);
    return any;
}

size_t attn_panels_bytes(const struct attn_weights *w, bool bf16, bool logits)
{
    struct attn_panels p = {0};
    bool any = !(bf16 && attn_pairs_kind() == ATTN_BF16_FLOATS) && lay_out(&p, w, logits, &(struct request){&p.memory, bf16, NULL});
    return any && !p.memory.overflow && p.memory.used <= attn_memory_available() / 2 ? p.memory.used : 0;
}

bool attn_panels_make(struct attn_panels *p, const struct attn_weights *w, bool bf16, bool logits, struct attn_team *t)
{
    *p = (struct attn_panels){.memory.used = attn_panels_bytes(w, bf16, logits)};
    if (p->memory.used == 0 || attn_arena_make(&p->memory, NULL))
        return false;
    attn_arena_large_pages(&p->memory);
    lay_out(p, w, logits, &(struct request){&p->memory, bf16, t});
    return true;
}

void attn_panels_free(struct attn_panels *p)
{
    attn_arena_free(&p->memory);
}

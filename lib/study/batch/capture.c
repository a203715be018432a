/* capture.c - keeps the selected numbers of sentences that run together, to pass them to one sink each afterwards.
 *
 * A run announces one activation of all its sentences, then the next; a sink expects all activations of one sentence.
 * Of an activation only the selected heads are kept, in the order they are announced. */
#include "batch/batch.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "trace/slice.h"

/* An activation that is kept: `matrices` of T rows, preceded by linear * T + square * T * T numbers of its sentence. */
struct kept {
    int act, layer;
    const size_t *heads; size_t matrices, cols;         /* cols 0: T columns */
    uint64_t linear, square;
};

struct sentence { size_t T, start; };

struct attn_capture {
    const struct attn_info *info;
    const struct attn_select *select;
    struct kept *kept; size_t n;
    size_t *index;                      /* [slots] index in kept, from 1; 0: not kept */
    uint64_t linear, square;            /* sizes of a whole sentence */
    struct sentence *sentence; size_t room;
    float *data; size_t data_room;
};

static size_t *index_of(const struct attn_capture *c, int act, int layer)
{
    return &c->index[attn_act_slot(act, layer)];
}

static void keep(struct attn_capture *c, int act, int layer)
{
    size_t shape[3], heads;
    int ndim = attn_act_shape(shape, c->info, act, 1, 1);
    struct kept *k = &c->kept[c->n];
    *k = (struct kept){.act = act, .layer = layer, .heads = attn_select_heads(c->select, act, layer, &heads),
                       .linear = c->linear,
                       .square = c->square};
    k->matrices = heads ? heads : 1;
    k->cols = attn_act_square(act) ? 0 : shape[ndim - 1];
    c->linear += k->matrices * k->cols;
    c->square += k->cols ? 0 : k->matrices;
    *index_of(c, act, layer) = ++c->n;
}

/* Lists activations in the order of the forward pass: before the blocks, the blocks, after them. */
static void keep_all(struct attn_capture *c)
{
    for (int act = 0; act < ATTN_ACT_RESID_PRE; act++)
        if (attn_select_wants(c->select, act, -1))
            keep(c, act, -1);
    for (int layer = 0; layer < (int)c->info->L; layer++)
        for (int act = ATTN_ACT_RESID_PRE; act < ATTN_ACTS; act++)
            if (attn_act_per_layer(act) && attn_select_wants(c->select, act, layer))
                keep(c, act, layer);
    for (int act = ATTN_ACT_NORM_FINAL; act < ATTN_ACTS; act++)
        if (attn_select_wants(c->select, act, -1))
            keep(c, act, -1);
}

int attn_capture_new(struct attn_capture **out, const struct attn_info *info, const struct attn_select *select,
                     struct attn_err *err)
{
    struct attn_capture *c = *out = calloc(1, sizeof *c);
    size_t n = attn_select_activations(select);
    if (c) {
        c->info = info;
        c->select = select;
        c->kept = calloc(n + 1, sizeof *c->kept);
        c->index = calloc(attn_act_slots(info->L), sizeof *c->index);
    }
    if (!c || !c->kept || !c->index) {
        attn_capture_free(c);
        *out = NULL;
        return attn_no_memory(err, NULL, "to list %zu activations", n);
    }
    keep_all(c);
    return ATTN_OK;
}

void attn_capture_free(struct attn_capture *c)
{
    if (!c)
        return;
    free(c->kept);
    free(c->index);
    free(c->sentence);
    free(c->data);
    free(c);
}

uint64_t attn_capture_numbers(const struct attn_capture *c, size_t T)
{
    uint64_t a, b, sum;
    if (__builtin_mul_overflow(c->square, (uint64_t)T, &a) || __builtin_add_overflow(a, c->linear, &b) ||
        __builtin_mul_overflow(b, (uint64_t)T, &sum))
        return UINT64_MAX;
    return sum;
}

uint64_t attn_capture_bytes(const struct attn_capture *c)
{
    return (uint64_t)c->data_room * sizeof *c->data;
}

int attn_capture_start(struct attn_capture *c, const struct attn_seq *seq, size_t n, struct attn_err *err)
{
    uint64_t numbers = 0;
    struct sentence *more = attn_grow(c->sentence, &c->room, n, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "to list %zu sentences", n);
    c->sentence = more;
    for (size_t i = 0; i < n; i++) {
        more[i] = (struct sentence){seq[i].T, (size_t)numbers};
        if (__builtin_add_overflow(numbers, attn_capture_numbers(c, seq[i].T), &numbers))
            return attn_fail(err, ATTN_ENOMEM, "more numbers are selected than can be addressed: ask for less");
    }
    float *data = attn_grow(c->data, &c->data_room, (size_t)numbers + 1, sizeof *data);
    if (!data)
        return attn_no_memory(err, NULL, "to keep %zu numbers: ask for less", (size_t)numbers);
    c->data = data;
    return ATTN_OK;
}

static float *data_of(const struct attn_capture *c, const struct kept *k, size_t i)
{
    size_t T = c->sentence[i].T;
    return c->data + c->sentence[i].start + (k->linear + k->square * T) * T;
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_capture *c = self;
    return attn_slice_wants(c->select, act, layer, false);
}

static int watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    (void)err;
    const struct attn_capture *c = self;
    struct attn_slice p;
    const struct kept *k = &c->kept[*index_of(c, probe->act, probe->layer) - 1];
    float *data = data_of(c, k, probe->seq);
    for (size_t at = 0; attn_slice_next(&p, c->select, probe, &at);)
        attn_slice_keep(data, NULL, &p);
    return ATTN_OK;
}

struct attn_observer attn_capture_observer(struct attn_capture *c)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = c};
}

int attn_capture_announce(const struct attn_capture *c, size_t i,
                          int (*to)(void *, const struct attn_probe *, struct attn_err *), void *self,
                          struct attn_err *err)
{
    size_t T = c->sentence[i].T;
    int rc = ATTN_OK;
    for (const struct kept *k = c->kept; k < c->kept + c->n && !rc; k++) {
        char name[ATTN_NAME_MAX];
        size_t cols = k->cols ? k->cols : T;
        struct attn_probe p = {.name = name, .act = k->act, .layer = k->layer, .heads = 1, .rows = T, .cols = cols,
                               .ld_head = T * cols, .ld = cols};
        attn_act_name(name, k->act, k->layer);
        p.ndim = attn_act_shape(p.shape, c->info, k->act, T, T);
        for (size_t nth = 0; nth < k->matrices && !rc; nth++) {
            p.head0 = k->heads ? k->heads[nth] : 0;
            p.data = data_of(c, k, i) + nth * T * cols;
            rc = to(self, &p, err);
        }
    }
    return rc;
}

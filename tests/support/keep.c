#include "keep.h"

#include "made.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned keep_wants(void *self, int act, int layer)
{
    const struct keep *k = self;
    (void)layer;
    if (k->cross && act == ATTN_ACT_ROLLOUT)
        return 0;
    return k->only >= 0 && k->only != act ? 0 : k->flags ? k->flags : ATTN_WATCH;
}

static struct kept *slot(struct keep *k, const struct attn_probe *p)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->a[i].name, p->name) == 0 && k->a[i].seq == p->seq)
            return &k->a[i];
    ck_assert_uint_lt(k->n, KEEP_MAX);
    struct kept *a = &k->a[k->n++];
    *a = (struct kept){0};
    snprintf(a->name, sizeof a->name, "%s", p->name);
    a->act = p->act;
    a->layer = p->layer;
    a->seq = p->seq;
    a->ndim = p->ndim;
    memcpy(a->shape, p->shape, sizeof a->shape);
    a->n = p->shape[0] * p->shape[1] * (p->ndim == 3 ? p->shape[2] : 1);
    a->data = malloc(a->n * sizeof(float) + 1);
    ck_assert_ptr_nonnull(a->data);
    return a;
}

static int keep_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    struct keep *k = self;
    if (k->paused)
        return 0;
    struct kept *a = slot(k, p);
    size_t rows = a->shape[a->ndim - 2], cols = a->shape[a->ndim - 1];
    ck_assert_uint_eq(cols, p->cols);
    if (a->seen != (p->head0 * rows + p->row0) * cols)
        k->disorder++;
    attn_probe_copy(a->data, p);
    a->seen += p->heads * p->rows * p->cols;
    k->bands++;
    return 0;
}

struct attn_observer keep_observer(struct keep *k)
{
    return (struct attn_observer){.wants = keep_wants, .watch = keep_watch, .self = k};
}

void keep_free(struct keep *k)
{
    for (size_t i = 0; i < k->n; i++)
        free(k->a[i].data);
    k->n = 0;
}

const struct kept *keep_find(const struct keep *k, const char *name, size_t seq)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->a[i].name, name) == 0 && k->a[i].seq == seq) {
            ck_assert_msg(k->a[i].seen == k->a[i].n, "%s: told %zu of %zu numbers", name, k->a[i].seen, k->a[i].n);
            return &k->a[i];
        }
    return NULL;
}

void keep_expect_same(const struct keep *a, const struct keep *b)
{
    ck_assert_uint_eq(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct kept *x = &a->a[i], *y = keep_find(b, x->name, x->seq);
        ck_assert_msg(y != NULL, "%s is missing", x->name);
        ck_assert_uint_eq(x->n, y->n);
        ck_assert_msg(memcmp(x->data, y->data, x->n * sizeof(float)) == 0, "%s differs", x->name);
    }
}

static void run_all(struct keep *k, const char *model, const int32_t *ids, const struct attn_seq *seq,
                    const struct attn_plan *plan)
{
    struct attn_err err = {0};
    struct attn_model *m = made_open(model);
    struct attn_run *r = NULL;
    const struct attn_observer obs = keep_observer(k);
    int rc = attn_run_new(&r, m, plan, &obs, 1, &err);
    if (!rc)
        rc = attn_run_forward(r, ids, seq, plan->seqs, &err);
    ck_assert_msg(rc == 0, "%s", err.msg);
    ck_assert_uint_eq(k->disorder, 0);
    attn_run_free(r);
    attn_model_close(m);
}

static void run(struct keep *k, const char *model, const int32_t *ids, const struct attn_plan *plan)
{
    run_all(k, model, ids, &(struct attn_seq){.T = plan->rows}, plan);
}

void keep_run(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads)
{
    run(k, model, ids, &(struct attn_plan){.rows = T, .seqs = 1, .threads = threads});
}

void keep_run_cross(struct keep *k, const char *model, const int32_t *ids, size_t T, size_t Tk, int threads)
{
    struct attn_seq seq[] = {{.T = T, .keys = &seq[1]}, {.T = Tk}};
    run_all(k, model, ids, seq, &(struct attn_plan){.rows = T + Tk, .seqs = 2, .threads = threads});
}

void keep_run_bf16(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads)
{
    run(k, model, ids, &(struct attn_plan){.rows = T, .seqs = 1, .threads = threads, .bf16 = true});
}

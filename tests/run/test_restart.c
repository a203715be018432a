/* A run may begin at any layer and, where earlier rows do not depend on later ones, at any row: with the bits of
 * the whole run. */
#include "suites.h"

#include "asked.h"
#include "checkpoints.h"
#include "keep.h"

#include <stdio.h>
#include <string.h>

enum { TOKENS = 21 };
static const char *const kinds[] = {NULL, "window:4", "strided:3,2", "random:2,3,9", "block:5", "full",
                                    "causal-renorm"};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct begun { struct asked a; struct attn_plan plan; int32_t ids[TOKENS]; struct keep whole; struct attn_kv *kv,
              *cut; bool causal; };

static struct begun begin(const char *checkpoint, const char *kind, int threads)
{
    struct begun b = {.a = asked_open(checkpoint),
                      .plan = {.rows = TOKENS, .seqs = 1, .keys = TOKENS, .threads = threads}, .whole.only = -1};
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    if (kind)
        ck_assert_msg(!attn_kind_parse(&b.plan.kind, kind, &err), "%s", err.msg);
    for (size_t i = 0; i < TOKENS; i++)
        b.ids[i] = (int32_t)(i * 29 % 61);
    b.causal = !attn_model_continues(b.a.model, &b.plan.kind, NULL);
    struct attn_observer observer = keep_observer(&b.whole);
    ck_assert_msg(!attn_kv_new(&b.kv, b.a.model, TOKENS, &err) && !attn_kv_new(&b.cut, b.a.model, TOKENS, &err) &&
                  !attn_run_new(&r, b.a.model, &b.plan, &observer, 1, &err) &&
                  !attn_run_forward(r, b.ids, &(struct attn_seq){.T = TOKENS, .kv = b.causal ? b.kv : NULL}, 1, &err),
                  "%s",
                      err.msg);
    attn_run_free(r);
    return b;
}

static void end(struct begun *b)
{
    attn_kv_free(b->kv);
    attn_kv_free(b->cut);
    keep_free(&b->whole);
    asked_close(&b->a);
}

/* What block `layer` reads: after the last, what it gives. */
static const float *reads(const struct begun *b, const struct attn_info *info, size_t layer)
{
    char name[64];
    snprintf(name, sizeof name,
             "blocks.%zu.resid_p%s", layer < info->L ? layer : layer - 1, layer < info->L ? "re" : "ost");
    return keep_find(&b->whole, name, 0)->data;
}

/* The rows from `first` on, of as many columns, have the same bits. */
static void expect_rows(const struct kept *whole, const struct kept *part, size_t first)
{
    size_t cols = whole->shape[whole->ndim - 1], T = whole->shape[whole->ndim - 2],
        heads = whole->ndim == 3 ? whole->shape[0] : 1;
    ck_assert_uint_eq(part->shape[part->ndim - 1], cols);
    ck_assert_uint_eq(part->shape[part->ndim - 2], T - first);
    for (size_t h = 0; h < heads; h++)
        ck_assert_msg(!memcmp(part->data + h * (T - first) * cols, whole->data + (h * T + first) * cols,
                              (T - first) * cols * sizeof(float)),
                      "%s, head %zu differs from row %zu on", whole->name, h, first);
}

static void restart(const struct begun *b, const struct attn_info *info, size_t layer, size_t first)
{
    struct keep part = {.only = -1};
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    struct attn_observer observer = keep_observer(&part);
    const float *x = reads(b, info, layer) + first * info->d;
    struct attn_seq seq = {.T = TOKENS - first, .kv = b->causal ? b->cut : NULL};
    size_t seen = 0;
    ck_assert_msg((!b->causal || !attn_kv_copy(b->cut, b->kv, first, &err)) &&
                  !attn_run_new(&r, b->a.model, &b->plan, &observer, 1, &err)
                      && !attn_run_restart(r, layer, &x, &seq, 1, &err), "%s", err.msg);
    attn_run_free(r);
    for (size_t i = 0; i < b->whole.n; i++) {
        const struct kept *w = &b->whole.a[i], *p = keep_find(&part, w->name, 0);
        bool before = w->layer < 0 ? w->act < ATTN_ACT_RESID_PRE : (size_t)w->layer < layer;
        ck_assert_msg(before == !p, "%s", w->name);
        if (p)
            expect_rows(w, p, first);
        seen += p != NULL;
    }
    ck_assert_uint_eq(seen, part.n);
    keep_free(&part);
}

START_TEST(a_restart_has_the_bits_of_the_whole_run)
{
    struct attn_info info;
    for (size_t i = 0; i < CHECKPOINTS_HERE; i++) {
        struct begun b = begin(checkpoints[i].name, kinds[_i], 1 + (int)i % 3);
        attn_model_info(b.a.model, &info);
        for (size_t layer = 0; layer <= info.L; layer++)
            for (size_t first = 0; first < (b.causal && attn_model_keeps(b.a.model, 1, TOKENS) ? TOKENS : 1);
                 first += first < 3 ? 1 : 5)
                restart(&b, &info, layer, first);
        ck_assert(b.causal == (_i < 5));
        end(&b);
    }
}
END_TEST

START_TEST(what_cannot_restart_is_refused)
{
    struct attn_err err = {0};
    struct begun b = begin("gpt2-a", NULL, 1);
    struct attn_kv *other = NULL;
    struct attn_run *r = NULL;
    const float *x = NULL;
    struct attn_seq seq = {.T = 1};
    ck_assert(!attn_run_new(&r, b.a.model, &b.plan, NULL, 0, &err) && attn_run_restart(r, 3, &x, &seq, 1, &err));
    ck_assert_str_eq(err.msg, "a run cannot begin at layer 3: model gpt2-a has 2");
    ck_assert(!attn_kv_new(&other, b.a.model, TOKENS - 1, &err) && attn_kv_copy(other, b.kv, TOKENS, &err)
              && strstr(err.msg, "that has room for it"));
    ck_assert(attn_kv_copy(b.cut, b.kv, TOKENS + 1, &err) && strstr(err.msg, "up to the 21 it has"));
    attn_kv_free(other);
    attn_run_free(r);
    end(&b);
}
END_TEST

Suite *suite_restart(void)
{
    Suite *s = suite_create("restart");
    TCase *c = tcase_create("restart");
    tcase_add_loop_test(c, a_restart_has_the_bits_of_the_whole_run, 0, KINDS);
    tcase_add_test(c, what_cannot_restart_is_refused);
    suite_add_tcase(s, c);
    return s;
}

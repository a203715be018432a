/* Attention of several sentences against its definition, with any distribution of work, cached, and observed. */

#include "suites.h"
#include "draw.h"

#include "compute/multi_head.h"
#include "compute/panels.h"
#include "compute/vec.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Chains longer than one block of the product, values that do not fill whole panels, queries in several bands. */
enum { H = 4, HKV = 2, DH = 150, DV = 70, N = 4, ROWS = 275, LONGEST = 200 };
static const size_t lengths[N] = {5, 69, 1, LONGEST};

static float q[ROWS * H * DH], k[ROWS * HKV * DH], v[ROWS * HKV * DV];
static float context[ROWS * H * DV], again[ROWS * H * DV], pattern[N * H * LONGEST * LONGEST];

struct how { int threads; unsigned flags; bool edits, little; struct attn_kind kind; float scale; };

static void setup(void)
{
    draw_numbers(q, sizeof q / sizeof *q, 1);
    draw_numbers(k, sizeof k / sizeof *k, 2);
    draw_numbers(v, sizeof v / sizeof *v, 3);
}

/* ---- the definition ---- */

/* The definition, for row t of a head in the sentence whose first row is `row`: chains over all
 * visible keys, ascending. */
static void define_row(float *out, const struct how *how, size_t row, size_t t, size_t head)
{
    float m[LONGEST + 16];
    size_t window = how->kind.w, end = t + 1, lo = window && end > window ? end - window : 0, first = lo / 16 * 16;
    for (size_t j = first; j < end; j++) {
        float dot = 0;
        for (size_t i = 0; i < DH; i++)
            dot = fmaf(q[((row + t) * H + head) * DH + i], k[((row + j) * HKV + head / 2) * DH + i], dot);
        m[j] = j < lo ? -INFINITY : dot * how->scale;
    }
    bool finite;
    attn_vec_softmax(m + first, 1, attn_vec_max(m + first, 1, end - first, &finite), end - first);
    for (size_t i = 0; i < DV; i++) {
        out[i] = 0;
        for (size_t j = lo; j < end; j++)
            out[i] = fmaf(m[j], v[((row + j) * HKV + head / 2) * DV + i], out[i]);
    }
}

static void expect_definition(const struct how *how)
{
    float want[DV];
    for (size_t s = 0, row = 0; s < N; row += lengths[s++])
        for (size_t t = 0; t < lengths[s]; t++)
            for (size_t h = 0; h < H; h++) {
                define_row(want, how, row, t, h);
                ck_assert_msg(memcmp(want, context + ((row + t) * H + h) * DV, sizeof want) == 0,
                              "sentence %zu, row %zu, head %zu", s, t, h);
            }
}

/* ---- as it is done ---- */

static unsigned wants(void *self, int act, int layer)
{
    const struct how *how = self;
    (void)layer;
    return act == ATTN_ACT_PATTERN ? how->flags | (how->edits ? ATTN_EDIT : 0) : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            memcpy(pattern + ((p->seq * H + p->head0 + h) * LONGEST + p->row0 + t) * LONGEST,
                   p->data + h * p->ld_head + t * p->ld, p->cols * sizeof *pattern);
    return 0;
}

static struct attn_heads_seq text(float *out, size_t s, size_t first, size_t rows)
{
    size_t row = first;
    for (size_t i = 0; i < s; i++)
        row += lengths[i];
    return (struct attn_heads_seq){.q = q + row * H * DH, .k = k + row * HKV * DH, .v = v + row * HKV * DV,
                                   .context = out + row * H * DV, .Tq = rows, .Tk = first + rows, .pos = first};
}

static void run(const struct how *how, struct attn_heads_seq *texts, size_t n)
{
    struct attn_arena arena = {0};
    struct attn_team *team = NULL;
    unsigned want[2 * ATTN_ACTS];
    const struct attn_observer obs = {.wants = wants, .watch = watch, .self = (void *)how};
    struct attn_trace trace = {.obs = &obs, .n_obs = 1, .L = 1, .want = want};
    const struct attn_hook_points hooks = {.L = 1, .has = {[ATTN_ACT_PATTERN] = true}};
    struct attn_scratch scratch = {
        .H = H, .dh = DH, .dv = DV, .rows = ROWS, .longest = LONGEST, .keys = LONGEST, .own = LONGEST,
        .positions = LONGEST,
        .kind = how->kind, .threads = how->threads,
        .watched = how->flags && !(how->little && how->kind.form != ATTN_BLOCK), .whole = how->flags & ATTN_WHOLE};
    ck_assert(!attn_team_new(&team, how->threads, NULL));
    attn_trace_ask(&trace, &hooks, 0);
    attn_scratch_lay_out(&scratch, &arena);
    ck_assert(!attn_arena_make(&arena, NULL));
    attn_scratch_lay_out(&scratch, &arena);
    struct attn_heads a = {
        .head = {.ldc = H * DV, .dh = DH, .dv = DV, .scale = how->scale, .kind = how->kind},
        .H = H, .Hkv = HKV, .next_q = DH, .next_k = DH, .next_v = DV, .next_context = DV, .ldq = H * DH,
        .ldk = HKV * DH, .ldv = HKV * DV, .seq = texts, .seqs = n, .scratch = &scratch, .trace = &trace};
    attn_heads_run(&a, team);
    ck_assert_uint_eq(a.lost.rows, 0);
    attn_arena_free(&arena);
    attn_team_free(team);
}

static void run_all(const struct how *how, float *out)
{
    struct attn_heads_seq texts[N];
    for (size_t s = 0; s < N; s++)
        texts[s] = text(out, s, 0, lengths[s]);
    memset(out, 0xff, sizeof context);
    run(how, texts, N);
}

static const struct attn_kind kinds[] = {
    {.form = ATTN_CAUSAL}, {.form = ATTN_WINDOW, .w = 1}, {.form = ATTN_WINDOW, .w = 30},
    {.form = ATTN_WINDOW, .w = 64},
    {.form = ATTN_STRIDED, .w = 3, .s = 7}, {.form = ATTN_RANDOM, .w = 5, .r = 9, .seed = 3},
    {.form = ATTN_LINEAR, .causal = true},
    {.form = ATTN_BLOCK, .b = 1, .causal = true}, {.form = ATTN_BLOCK, .b = 50, .causal = true},
    {.form = ATTN_WINDOW, .w = 30, .dropout = 0.25}, {.form = ATTN_RANDOM, .w = 5, .r = 9, .dropout = 0.25},
    {.form = ATTN_LINEAR, .causal = true, .dropout = 0.25},
    {.form = ATTN_BLOCK, .b = 50, .causal = true, .dropout = 0.25}};
/* define_row's with two scales */
enum { DEFINED = 4, KINDS = sizeof kinds / sizeof *kinds, WAYS = DEFINED + KINDS };

static struct how plain(int i)
{
    return (struct how){.threads = 1, .kind = kinds[i < DEFINED ? i : i - DEFINED],
                        .scale = i < DEFINED ? -0.25f : 0.25f};
}

/* Whether the context has the same bits if it is computed from a pattern in memory. */
static bool by_pattern(const struct attn_kind *kind)
{
    return kind->dropout > 0 ? kind->form != ATTN_RANDOM : kind->form == ATTN_CAUSAL || kind->form == ATTN_WINDOW;
}

START_TEST(keeps_to_its_definition)
{
    struct how how = plain(_i);
    if (!attn_vec_fused())              /* without fused multiply-adds a chain's steps are rounded twice */
        return;
    run_all(&how, context);
    expect_definition(&how);
}
END_TEST

/* No bit depends on threads, on scratch space for few bands or many, or on observers that watch, edit, or
 * want whole layers. */
START_TEST(sharing_and_watching_change_no_bit)
{
    static const int threads[] = {1, 2, 3, 7};
    static const unsigned flags[] = {0, ATTN_WATCH, ATTN_WATCH | ATTN_WHOLE};
    static float kept[N * H * LONGEST * LONGEST];
    struct how how = plain(_i);
    run_all(&how, context);
    for (int i = 0; i < (by_pattern(&how.kind) ? 48 : 24); i++) {      /* the second half with edits */
        how.threads = threads[i % 4];
        how.flags = flags[i / 4 % 3];
        how.little = i / 12 % 2;
        how.edits = how.flags && i / 24;
        memset(pattern, 0, sizeof pattern);
        run_all(&how, again);
        ck_assert_msg(memcmp(context, again, sizeof context) == 0, "way %d", i);
        if (i == 4)
            memcpy(kept, pattern, sizeof kept);
        ck_assert(!how.flags || memcmp(kept, pattern, sizeof kept) == 0);
    }
}
END_TEST

/* Sentences grow through caches, in pieces and side by side; one of them has no cache.  One row reads some panels at
 * once, or one. */
START_TEST(caches_change_no_bit)
{
    static const size_t pieces[] = {3, 1, 60, 1, 135};
    size_t each = attn_keys_size(LONGEST, DH, DV), done[N] = {0};
    size_t state = attn_linear_size(DH, DV);
    float *cache = calloc(N * HKV * each, sizeof *cache), *sums = calloc(N * HKV * state, sizeof *sums);
    static float apart[sizeof again / sizeof *again];
    struct how how = plain(_i % WAYS);
    attn_panels_choose(_i / WAYS ? 1 : ATTN_AT_ONCE);
    run_all(&how, context);
    how.threads = 2;
    memset(again, 0xff, sizeof again);
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        struct attn_heads_seq texts[N + 1];
        size_t n = 0;
        for (size_t s = 0; s < N; s++) {
            size_t left = lengths[s] - done[s], rows = left < pieces[p] ? left : pieces[p];
            if (rows == 0)
                continue;
            texts[n] = text(again, s, done[s], rows);
            texts[n].cache = cache + s * HKV * each;
            texts[n].state = sums + s * HKV * state;
            texts[n++].capacity = LONGEST;
            done[s] += rows;
        }
        texts[n++] = text(apart, 0, 0, lengths[0]);
        run(&how, texts, n);
    }
    ck_assert(memcmp(context, again, sizeof context) == 0);
    ck_assert(memcmp(context, apart, lengths[0] * H * DV * sizeof *apart) == 0);
    free(cache);
    free(sums);
}
END_TEST

START_TEST(keys_lie_as_stated)
{
    enum { MANY = 83 };
    size_t size = attn_keys_size(MANY, DH, DV);
    float *room = malloc(size * sizeof *room);
    struct attn_keys keys = attn_keys_in(room, MANY, DH, DV);
    for (size_t at = 0, n; at < MANY; at += n) {        /* from any key, any number of keys */
        n = at % 5 * 7 + 1 < MANY - at ? at % 5 * 7 + 1 : MANY - at;
        attn_keys_put(&keys, at, k + at * HKV * DH, HKV * DH, n);
        attn_values_put(&keys, at, v + at * HKV * DV, HKV * DV, n);
    }
    for (size_t j = 0; j < MANY; j++) {
        for (size_t i = 0; i < DH; i++)
            ck_assert(keys.k[(j / 64 * DH + i) * 64 + j % 64] == k[j * HKV * DH + i]);
        ck_assert(memcmp(keys.v + j * keys.ldv, v + j * HKV * DV, DV * sizeof *v) == 0);
    }
    /* a row's last panel can be read */
    ck_assert(keys.v + (MANY - 1) * keys.ldv + DV / 64 * 64 + 64 <= room + size);
    ck_assert_uint_eq(attn_keys_size(SIZE_MAX / 8, 64, 64), SIZE_MAX);
    ck_assert_uint_eq(attn_keys_size(SIZE_MAX, 1, 1), SIZE_MAX);
    free(room);
}
END_TEST

Suite *suite_heads(void)
{
    Suite *s = suite_create("heads");
    TCase *c = tcase_create("heads");
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, keeps_to_its_definition, 0, 2 * DEFINED);
    tcase_add_loop_test(c, sharing_and_watching_change_no_bit, 0, WAYS);
    tcase_add_loop_test(c, caches_change_no_bit, 0, 2 * WAYS);
    tcase_add_test(c, keys_lie_as_stated);
    suite_add_tcase(s, c);
    return s;
}

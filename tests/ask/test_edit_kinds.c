/* Edits under every kind of attention: what follows an edited activation in its layer is computed again here in double
 * precision, from the definition of the kind, and compared with what the edited run shows.  And what comes after the
 * contexts is a function of these. */
#include "suites.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include "asked.h"
#include "checkpoints.h"

#include "base/splitmix.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYER = 1, T = 9, TK = 6, Q = 0, K, V, DOTS, SCORES, PATTERN, CONTEXT, PARTS };
static const char *const part_name[PARTS] = {"q", "k", "v", "dots", "scores", "pattern", "context"};
static const int32_t ids[T] = {5, 9, 5, 30, 12, 9, 7, 5, 12}, other_ids[TK] = {3, 9, 31, 14, 2, 6};

/* ---- ways to run ---- */

static const struct way { const char *attention, *scale; double dropout; bool bf16, cross; } ways[] = {
    {.attention = "model"}, {.attention = "full"}, {.attention = "causal"}, {.attention = "causal-renorm"},
    {.attention = "window:3"},
    {.attention = "strided:2,3"}, {.attention = "random:2,2,7"}, {.attention = "linear"}, {.attention = "block:2"},
    {.attention = "model", .scale = "none"}, {.attention = "window:4", .scale = "0.7"},
    {.attention = "model", .dropout = 0.3},
    {.attention = "strided:1,2", .dropout = 0.5}, {.attention = "linear", .dropout = 0.4},
    {.attention = "model", .bf16 = true},
    {.attention = "linear", .bf16 = true}, {.attention = "model", .cross = true},
    {.attention = "model", .scale = "0.7", .dropout = 0.3, .cross = true}};
enum { WAYS = sizeof ways / sizeof *ways };

static struct attn_kind kind_of(const struct way *w)
{
    struct attn_kind k = {0};
    ck_assert_int_eq(attn_kind_parse(&k, w->attention, NULL), 0);
    if (w->scale)
        k.scaling = strcmp(w->scale, "none") ? ATTN_SCALE_VALUE : ATTN_SCALE_NONE;
    k.scale = k.scaling == ATTN_SCALE_VALUE ? atof(w->scale) : 0;
    k.dropout = w->dropout;
    k.dropout_seed = 11;
    return k;
}

/* ---- what layer 1 of a model has of its own, as its config.json says ---- */

enum alibi { NO_ALIBI, LATE, EARLY };           /* added to scores; to dots, in bfloat16 */
static const struct own { const char *name; size_t window; double cap; enum alibi alibi; } owns[] = {
    {"neo-h", 5, 0, NO_ALIBI}, {"gemma2-a", 0, 4, NO_ALIBI}, {"gemma3-a", 5, 0, NO_ALIBI},
    {"starcoder2-a", 8, 0, NO_ALIBI},
    {"bloom-a", 0, 0, LATE}, {"falcon-alibi-a", 0, 0, EARLY}, {"mpt-a", 0, 0, LATE}, {"olmo3-a", 6, 0, NO_ALIBI},
    {NULL, 0, 0, NO_ALIBI}};

static const struct own *own_of(const char *name)
{
    const struct own *own = owns;
    while (own->name && strcmp(own->name, name))
        own++;
    return own;
}

/* With 2, 4 or 8 heads the slopes are powers of two; they and positions below 9 are what bfloat16 holds exactly. */
static double alibi(const struct own *own, size_t H, size_t h, size_t k, double scale)
{
    double term = exp2(-8.0 * (double)(h + 1) / (double)H) * (double)k;
    return own->alibi == NO_ALIBI ? 0 : own->alibi == EARLY ? term * scale : term;
}

/* ---- one layer ---- */

struct layer {
    size_t H, Hkv, Tk, dh;
    const struct own *own;
    struct attn_kind kind;
    bool cross;
    double scale;
    bool seen[T][T];                    /* by the kind's definition, or for `random` as the unedited run has it */
    size_t n[PARTS];
    double *x[PARTS];
};

/* Of a head: the head's rows and columns of an activation; for k and v those that serve a query head. */
static double *at(const struct layer *l, int part, size_t h, size_t row, size_t col)
{
    size_t Hkv = h / (l->H / l->Hkv);
    switch (part) {
    case Q:       return &l->x[Q][(h * T + row) * l->dh + col];
    case K:
    case V:       return &l->x[part][(Hkv * l->Tk + row) * l->dh + col];
    case CONTEXT: return &l->x[CONTEXT][row * l->H * l->dh + h * l->dh + col];
    default:      return &l->x[part][(h * T + row) * l->Tk + col];
    }
}

static bool is_seen(const struct layer *l, size_t q, size_t k)
{
    const struct attn_kind *kind = &l->kind;
    switch (kind->form) {
    case ATTN_MODEL:   return l->cross || (k <= q && (!l->own->window || q - k < l->own->window));
    case ATTN_FULL:    return true;
    case ATTN_WINDOW:  return k <= q && q - k < kind->w;
    case ATTN_STRIDED: return k <= q && (q - k < kind->w || (q - k) % kind->s == 0);
    case ATTN_RANDOM:  return isfinite(*at(l, SCORES, 0, q, k));
    default:           return k <= q;
    }
}

static bool is_dropped(const struct layer *l, size_t h, size_t q, size_t k)
{
    uint64_t u = attn_splitmix(attn_splitmix(attn_splitmix(attn_splitmix(l->kind.dropout_seed + LAYER) + h) + q) + k);
    return (double)(u >> 11) * 0x1p-53 < l->kind.dropout;
}

static double feature(double x) { return x > 0 ? x + 1 : exp(x); }

static void find_dots(struct layer *l, size_t h, size_t q)
{
    for (size_t k = 0; k < l->Tk; k++) {
        double sum = 0;
        for (size_t c = 0; c < l->dh; c++) {
            double a = *at(l, Q, h, q, c), b = *at(l, K, h, k, c);
            sum += l->kind.form == ATTN_LINEAR ? feature(a) * feature(b) : a * b;
        }
        *at(l, DOTS, h, q, k) = sum;
    }
}

static double score(const struct layer *l, size_t h, size_t q, size_t k)
{
    double x = *at(l, DOTS, h, q, k) * l->scale + alibi(l->own, l->H, h, k, l->scale);
    return l->own->cap > 0 ? l->own->cap * tanh(x / l->own->cap) : x;
}

static void find_scores(struct layer *l, size_t h, size_t q)
{
    for (size_t k = 0; k < l->Tk; k++)
        *at(l, SCORES, h, q, k) = l->seen[q][k] || l->kind.form == ATTN_CAUSAL_RENORM ? score(l, h, q, k) : -INFINITY;
}

/* exp(score) over its sum over the keys that are seen; for linear attention the product of features takes the
 * place of exp(score). */
static void find_pattern(struct layer *l, size_t h, size_t q)
{
    double top = -INFINITY, sum = 0, w[T];
    bool linear = l->kind.form == ATTN_LINEAR;
    for (size_t k = 0; k < l->Tk && !linear; k++)
        top = fmax(top, *at(l, SCORES, h, q, k));
    for (size_t k = 0; k < l->Tk; k++) {
        w[k] = !l->seen[q][k] ? 0 : linear ? *at(l, DOTS, h, q, k) : isinf(top) ? 0 :
            exp(*at(l, SCORES, h, q, k) - top);
        sum += w[k];
    }
    for (size_t k = 0; k < l->Tk; k++)
        *at(l, PATTERN, h, q, k) = sum > 0 && !is_dropped(l, h, q, k) ? w[k] / sum / (1 - l->kind.dropout) : 0;
}

static void find_context(struct layer *l, size_t h, size_t q)
{
    for (size_t c = 0; c < l->dh; c++) {
        double sum = 0;
        for (size_t k = 0; k < l->Tk; k++)
            sum += *at(l, PATTERN, h, q, k) * *at(l, V, h, k, c);
        *at(l, CONTEXT, h, q, c) = sum;
    }
}

/* Computes what follows a part; linear attention has products of features in place of dots, and no scores. */
static void follow(struct layer *l, int from)
{
    bool linear = l->kind.form == ATTN_LINEAR;
    for (size_t h = 0; h < l->H; h++)
        for (size_t q = 0; q < T; q++) {
            if (from == Q || from == K || (from == V && linear))
                find_dots(l, h, q);
            if ((from < V || from == DOTS) && !linear)
                find_scores(l, h, q);
            if (from < V || from == DOTS || from == SCORES)
                find_pattern(l, h, q);
            if (from < CONTEXT)
                find_context(l, h, q);
        }
}

/* ---- edits ---- */

/* first-last are both included; last -1: to the end.  uniform: `x` is divided by how many keys the query sees. */
struct span { int first, last; };
static const struct change {
    const char *edit; int part; struct span head, row, col; char op; double x; bool uniform;
} changes[] = {
    {"q[head=0,pos=2-4] = 0.5", Q, {0, 0}, {2, 4}, {0, -1}, '=', 0.5, false},
    {"q *= -1.5", Q, {0, -1}, {0, -1}, {0, -1}, '*', -1.5, false},
    {"k[pos=1,col=0-2] += 0.25", K, {0, -1}, {1, 1}, {0, 2}, '+', 0.25, false},
    {"v[col=1] = 1", V, {0, -1}, {0, -1}, {1, 1}, '=', 1, false},
    {"v[pos=-1] *= 3", V, {0, -1}, {-1, -1}, {0, -1}, '*', 3, false},
    {"dots[key=0] = 0.5", DOTS, {0, -1}, {0, -1}, {0, 0}, '=', 0.5, false},
    {"dots[head=1,pos=5] -= 2", DOTS, {1, 1}, {5, 5}, {0, -1}, '+', -2, false},
    {"scores[pos=-1,key=0-2] = -inf", SCORES, {0, -1}, {-1, -1}, {0, 2}, '=', -INFINITY, false},
    {"scores[pos=3] = -inf", SCORES, {0, -1}, {3, 3}, {0, -1}, '=', -INFINITY, false},
    {"scores[head=1] *= 0.5", SCORES, {1, 1}, {0, -1}, {0, -1}, '*', 0.5, false},
    {"scores = 1", SCORES, {0, -1}, {0, -1}, {0, -1}, '=', 1, false},
    {"pattern[head=0] = uniform", PATTERN, {0, 0}, {0, -1}, {0, -1}, '=', 1, true},
    {"pattern[pos=4-8,key=1-4] += 0.5*uniform", PATTERN, {0, -1}, {4, 8}, {1, 4}, '+', 0.5, true},
    {"pattern = 0.25", PATTERN, {0, -1}, {0, -1}, {0, -1}, '=', 0.25, false},
    {"context[head=1,pos=2] = -1", CONTEXT, {1, 1}, {2, 2}, {0, -1}, '=', -1, false}};
enum { CHANGES = sizeof changes / sizeof *changes };

static bool within(struct span s, size_t i, size_t n)
{
    size_t first = s.first < 0 ? n - 1 : (size_t)s.first, last = s.last < 0 ? n - 1 : (size_t)s.last;
    return i >= first && i <= last;
}

static void change(struct layer *l, const struct change *c)
{
    bool masked = c->part == SCORES || c->part == PATTERN, square = masked || c->part == DOTS,
        kv = c->part == K || c->part == V;
    size_t rows = kv ? l->Tk : T, cols = square ? l->Tk : l->dh;
    for (size_t h = 0; h < l->H; h += kv ? l->H / l->Hkv : 1)
        for (size_t i = 0; i < rows; i++) {
            size_t seen = 0;
            for (size_t k = 0; k < l->Tk && !kv; k++)
                seen += l->seen[i][k];
            for (size_t j = 0; j < cols; j++) {
                double *x = at(l, c->part, h, i, j), by = c->uniform ? c->x / (double)seen : c->x;
                bool hidden = masked && !l->seen[i][j] && !(c->part == SCORES && l->kind.form == ATTN_CAUSAL_RENORM);
                if (hidden || !within(c->head, h, l->H) || !within(c->row, i, rows) || !within(c->col, j, cols))
                    continue;
                *x = (double)(float)(c->op == '=' ? by : c->op == '+' ? *x + by : *x * by);
            }
        }
}

/* ---- runs ---- */

/* Shows all parts of the layer, or the contexts and the logits alone: the kernels then compute no more
 * than they need. */
static int run_way(struct attn_dump **out, const struct asked *a, const struct way *w, const char *edit, bool all,
                   struct attn_err *err)
{
    struct attn_tokens *text = asked_tokens(ids, T), *cross = w->cross ? asked_tokens(other_ids, TK) : NULL;
    struct attn_plan plan = {.threads = 2, .bf16 = w->bf16, .kind = kind_of(w)};
    struct attn_edits *list = NULL;
    struct attn_editor *e = NULL;
    struct attn_observer observer;
    struct attn_select *select = NULL;
    bool linear = plan.kind.form == ATTN_LINEAR;
    const char *show = !all ? "context,logits" : linear ? "context,logits,q,k,v,pattern" :
        "context,logits,q,k,v,dots,scores,pattern";
    int rc = attn_select_new(&select, a->model, &plan.kind, show, "1", NULL, err);
    if (!rc && edit)
        rc = attn_edits_parse(&list, edit, err);
    struct attn_editor_opts o = {.edits = list, .model = a->model, .cross = cross, .plan = plan};
    if (!rc && edit)
        rc = attn_editor_new(&e, &o, err);
    if (!rc && edit)
        rc = attn_editor_text(e, 0, ids, T, false, err);
    if (!rc && edit)
        rc = attn_editor_start(e, err);
    if (e)
        observer = attn_editor_observer(e);
    if (!rc)
        rc = attn_dump_run(out, a->model, text, cross, select, &plan, e ? &observer : NULL, err);
    attn_editor_free(e);
    attn_edits_free(list);
    attn_select_free(select);
    attn_tokens_free(text);
    attn_tokens_free(cross);
    return rc;
}

/* The parts of a layer, in double precision; what linear attention does not have is 0. */
static struct layer layer_of(const struct asked *a, const struct way *w, const struct attn_dump *d)
{
    struct attn_info info;
    struct attn_dump_array array;
    char name[64];
    attn_model_info(a->model, &info);
    struct layer l = {.H = info.H, .Hkv = info.Hkv, .Tk = w->cross ? TK : T, .dh = info.dh, .kind = kind_of(w),
                      .cross = w->cross};
    l.own = own_of(strrchr(a->dir, '/') + 1);
    l.scale = l.kind.scaling == ATTN_SCALE_NONE ? 1 : l.kind.scaling == ATTN_SCALE_VALUE ? (double)(float)l.kind.scale
            : strstr(info.scale, "none") ? 1 : strstr(info.scale, "sqrt") ? 1 / sqrt((double)info.dh) :
            atof(info.scale);
    for (int p = 0; p < PARTS; p++) {
        l.n[p] = p == Q || p == CONTEXT ? l.H * T * l.dh : p == K || p == V ? l.Hkv * l.Tk * l.dh : l.H * T * l.Tk;
        l.x[p] = calloc(l.n[p], sizeof *l.x[p]);
    }
    for (size_t i = 0; attn_dump_array(d, i, &array) >= 0; i++)
        for (int p = 0; p < PARTS; p++) {
            snprintf(name, sizeof name, "blocks.%d.attn.%s", LAYER, part_name[p]);
            for (size_t k = 0; !strcmp(array.name, name) && k < l.n[p]; k++)
                l.x[p][k] = (double)array.data[k];
        }
    for (size_t q = 0; q < T; q++)
        for (size_t k = 0; k < l.Tk; k++)
            l.seen[q][k] = is_seen(&l, q, k);
    return l;
}

static void free_layer(struct layer *l)
{
    for (int p = 0; p < PARTS; p++)
        free(l->x[p]);
}

/* The run is float32: a sum of dh or Tk products loses a few units in the last place of its largest term, and exp as
 * much as its argument's error.  Terms here are below 100, so 1e-5 of 1 + |x| is a fair limit; an edit that acts
 * elsewhere is off by 0.1. */
static void expect_layer(const struct layer *got, const struct layer *want, const char *model, const char *way,
                         const char *edit)
{
    for (int p = 0; p < PARTS; p++)
        for (size_t i = 0; i < got->n[p]; i++) {
            double x = got->x[p][i], y = want->x[p][i];
            if (got->kind.form == ATTN_LINEAR && (p == DOTS || p == SCORES))
                continue;
            ck_assert_msg(isinf(y) ? isinf(x) && x < 0 : fabs(x - y) <= 1e-5 * (1 + fabs(y)),
                          "%s, %s, %s: %s[%zu] is %.9g, expected %.9g",
                          model, way, edit, part_name[p], i, x, y);
        }
}

/* Watching changes nothing: what both have is the same. */
static void expect_same_bits(const struct attn_dump *all, const struct attn_dump *some, const char *edit)
{
    struct attn_dump_array x, y;
    size_t same = 0;
    for (size_t i = 0; attn_dump_array(all, i, &x) >= 0; i++)
        for (size_t j = 0; attn_dump_array(some, j, &y) >= 0; j++)
            if (!strcmp(x.name, y.name)) {
                ck_assert_msg(!memcmp(x.data, y.data, x.shape[0] * x.shape[1] * sizeof(float)), "%s: %s", edit, x.name);
                same++;
            }
    ck_assert_uint_eq(same, 2);
}

static void check_change(const struct asked *a, const struct way *w, const struct attn_dump *plain,
                         const struct change *c)
{
    struct attn_dump *edited = NULL, *alone = NULL;
    struct attn_err err = {0};
    const char *edit = printed("L%d.%s", LAYER, c->edit);
    bool refused = kind_of(w).form == ATTN_LINEAR && (c->part == DOTS || c->part == SCORES);
    int rc = run_way(&edited, a, w, edit, true, &err);
    ck_assert_msg(refused ? rc && strstr(err.msg, "linear attention has neither dots nor scores") : !rc,
                  "%s, %s: %s", w->attention, edit, err.msg);
    if (refused)
        return;
    struct layer want = layer_of(a, w, plain), got = layer_of(a, w, edited);
    if (kind_of(w).form == ATTN_RANDOM)
        memcpy(got.seen, want.seen, sizeof got.seen);
    change(&want, c);
    follow(&want, c->part);
    expect_layer(&got, &want, a->dir,
                 printed("%s%s%s", w->attention, w->bf16 ? " bf16" : "", w->cross ? " cross" : ""), edit);
    ck_assert_int_eq(run_way(&alone, a, w, edit, false, &err), 0);
    expect_same_bits(edited, alone, edit);
    free_layer(&want);
    free_layer(&got);
    attn_dump_free(edited);
    attn_dump_free(alone);
}

START_TEST(edited_layers_follow_the_definition)
{
    const struct way *w = &ways[_i];
    for (size_t m = 0; m < CHECKPOINTS_HERE; m++) {
        struct asked a = asked_open(checkpoints[m].name);
        struct attn_dump *plain = NULL;
        struct attn_err err = {0};
        struct attn_info info;
        attn_model_info(a.model, &info);
        /* the same weights as another */
        if (info.L <= LAYER || !strncmp(checkpoints[m].name, "gpt2-a-", 7)) {
            asked_close(&a);
            continue;
        }
        ck_assert_msg(!run_way(&plain, &a, w, NULL, true, &err), "%s", err.msg);
        for (size_t i = 0; i < CHANGES; i++)
            check_change(&a, w, plain, &changes[i]);
        attn_dump_free(plain);
        asked_close(&a);
    }
}
END_TEST

Suite *suite_edit_kinds(void)
{
    Suite *s = suite_create("edit_kinds");
    TCase *t = tcase_create("edit_kinds");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, edited_layers_follow_the_definition, 0, WAYS);
    suite_add_tcase(s, t);
    return s;
}

/* contrast_weights.c - which numbers of two models' tensors differ, where and by how much?
 *
 * Tensors are paired by name; a family's prefix ("transformer."), which files may omit, is no part of it.  Of a pair
 * whose shapes differ in one dimension, as that of an embedding with more tokens, the part that both have is compared.
 * The files are mapped and read once, from start to end. */
#include "compare/contrast.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "compare/evidence.h"
#include "compute/vec.h"
#include "model/layout.h"

enum { CHUNK = 4096, MISSING = 1000 };

/* ---- numbers ---- */

enum form { REALS, DOUBLES, WHOLE, BYTES };     /* BYTES: numbers we cannot read, such as F8 */

static enum form form_of(const char *dtype)
{
    static const char *const reals[] = {"F32", "F16", "BF16"}, *const whole[] = {
        "BOOL", "U8", "I8", "I16", "U16", "I32", "U32", "I64", "U64"};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (!strcmp(dtype, reals[i]))
            return REALS;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(dtype, whole[i]))
            return WHOLE;
    return strcmp(dtype, "F64") ? BYTES : DOUBLES;
}

static double whole_number(const unsigned char *data, size_t size, bool has_sign)
{
    uint64_t bits = 0;
    memcpy(&bits, data, size);          /* little-endian, as the file is */
    unsigned unused = 64 - 8 * (unsigned)size;
    return has_sign ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

/* x[n] = numbers first.. of a tensor, which need not be aligned; of what we cannot read, NaN. */
static void read_numbers(double *x, const struct attn_st_tensor *t, size_t first, size_t n)
{
    enum form form = form_of(t->dtype);
    size_t size = t->bytes / t->count;
    const unsigned char *data = t->data + first * size;
    float aligned[CHUNK], wide[CHUNK];
    if (form == REALS) {
        memcpy(aligned, data, n * size);
        attn_vec_widen(wide, aligned, size == 4 ? ATTN_F32 : t->dtype[0] == 'B' ? ATTN_BF16 : ATTN_F16, 0, n);
        for (size_t i = 0; i < n; i++)
            x[i] = (double)wide[i];
    } else if (form == DOUBLES) {
        memcpy(x, data, n * size);
    } else {
        for (size_t i = 0; i < n; i++)
            x[i] = form == WHOLE ? whole_number(data + i * size, size, t->dtype[0] == 'I') : (double)NAN;
    }
}

/* What makes numbers of the second type from those of the first by rounding; NULL: they are not of these types. */
static float (*rounding(const char *from, const char *to))(float)
{
    if (strcmp(from, "F32") != 0 && strcmp(from, "F64") != 0)
        return NULL;
    return !strcmp(to, "BF16") ? attn_round_bf16 : !strcmp(to, "F16") ? attn_round_f16 : NULL;
}

struct pair {
    struct attn_contrast *c;
    const struct attn_st_tensor *t[2];
    struct attn_contrast_weight *w;
    float (*round[2])(float);           /* [0] makes a from b, [1] b from a; NULL: not, or no longer */
    bool blind, bytes;                  /* only bytes can be read; they decide what is the same */
    double largest; size_t where;       /* in a, counted flat; largest -1: none differs */
};

static bool same_number(double a, double b) { return a == b ? signbit(a) == signbit(b) : isnan(a) && isnan(b); }

static void compare_number(struct pair *p, size_t at, double a, double b)
{
    const struct attn_contrast_opts *o = &p->c->o;
    struct attn_contrast_weight *w = p->w;
    bool finite = isfinite(a) && isfinite(b);
    double d = finite ? fabs(a - b) : (double)INFINITY;
    w->squares += d * d;
    w->differing += !finite || !(o->atol > 0 || o->rtol > 0) || !(d <= o->atol + o->rtol * fabs(b));
    if (d > p->largest) {
        p->largest = d;
        p->where = at;
        w->a = a;
        w->b = b;
    }
}

/* Numbers ia.. of a and ib.. of b, n of them, at most CHUNK. */
static void compare_chunk(struct pair *p, size_t ia, size_t ib, size_t n)
{
    const struct attn_st_tensor *ta = p->t[0], *tb = p->t[1];
    size_t sa = ta->bytes / ta->count, sb = tb->bytes / tb->count;
    double a[CHUNK], b[CHUNK];
    if (!strcmp(ta->dtype, tb->dtype) && !memcmp(ta->data + ia * sa, tb->data + ib * sb, n * sa))
        return;
    read_numbers(a, ta, ia, n);
    read_numbers(b, tb, ib, n);
    for (size_t i = 0; i < n; i++) {
        bool same = p->bytes ? !memcmp(ta->data + (ia + i) * sa, tb->data + (ib + i) * sb, sa) :
                    same_number(a[i], b[i]);
        if (!same)
            compare_number(p, ia + i, a[i], b[i]);
        if (p->round[0] && !same_number((double)p->round[0]((float)b[i]), a[i]))
            p->round[0] = NULL;
        if (p->round[1] && !same_number((double)p->round[1]((float)a[i]), b[i]))
            p->round[1] = NULL;
    }
}

static void compare_run(struct pair *p, size_t ia, size_t ib, size_t n)
{
    for (size_t done = 0; done < n; done += CHUNK)
        compare_chunk(p, ia + done, ib + done, n - done < CHUNK ? n - done : CHUNK);
}

/* The one dimension in which the shapes differ; -1: none; ndim: too many, or too few dimensions. */
static int other_dimension(const struct attn_st_tensor *a, const struct attn_st_tensor *b)
{
    int at = -1;
    if (a->ndim != b->ndim)
        return a->ndim;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            at = at < 0 ? i : a->ndim;
    return at;
}

static size_t product(const size_t *shape, int from, int to)
{
    size_t n = 1;
    for (int i = from; i < to; i++)
        n *= shape[i];
    return n;
}

/* Numbers that both have, in order: from the start or, within each of the `outer` parts, up to the shorter end. */
static void compare_common(struct pair *p, int axis)
{
    const size_t *a = p->t[0]->shape, *b = p->t[1]->shape;
    int ndim = p->t[0]->ndim;
    size_t outer = axis < 0 ? 1 : product(a, 0, axis), inner = axis < 0 ? p->t[0]->count : product(a, axis + 1, ndim);
    size_t na = axis < 0 ? 1 : a[axis], nb = axis < 0 ? 1 : b[axis], n = na < nb ? na : nb;
    p->w->count = outer * n * inner;
    for (size_t i = 0; i < outer && p->w->count; i++)
        compare_run(p, i * na * inner, i * nb * inner, n * inner);
}

static void set_place(struct pair *p)
{
    struct attn_contrast_weight *w = p->w;
    size_t at = p->where;
    for (int i = w->ndim[0]; i-- > 0; at /= w->shape[0][i])
        w->at[i] = at % w->shape[0][i];
    w->max_abs = p->largest < 0 ? 0 : p->blind ? (double)NAN : p->largest;
}

/* The sum of squares of b, of which the error is a part. */
static void measure(struct pair *p)
{
    double b[CHUNK];
    for (size_t i = 0, n; i < p->t[1]->count; i += n) {
        n = p->t[1]->count - i < CHUNK ? p->t[1]->count - i : CHUNK;
        read_numbers(b, p->t[1], i, n);
        for (size_t k = 0; k < n; k++)
            p->w->squares_b += b[k] * b[k];
    }
}

static void compare_pair(struct pair *p)
{
    const struct attn_st_tensor *a = p->t[0], *b = p->t[1];
    int axis = other_dimension(a, b);
    bool other_type = strcmp(a->dtype, b->dtype) != 0;
    p->blind = form_of(a->dtype) == BYTES || form_of(b->dtype) == BYTES;
    /* doubles have too few digits for the largest */
    p->bytes = p->blind || (form_of(a->dtype) == WHOLE && !other_type);
    p->largest = -1;
    p->w->kind = ATTN_DIFF_SHAPE;
    if (axis == a->ndim || !a->count || !b->count || (p->blind && other_type)) {
        p->w->kind = axis >= 0 || (p->blind && other_type) ? ATTN_DIFF_SHAPE : ATTN_DIFF_SAME;
        return;
    }
    if (other_type && axis < 0) {
        p->round[0] = rounding(b->dtype, a->dtype);
        p->round[1] = rounding(a->dtype, b->dtype);
    }
    compare_common(p, axis);
    set_place(p);
    p->w->rounded = p->largest < 0 ? 0 : p->round[0] ? 1 : p->round[1] ? 2 : 0;
    if (axis < 0 && !p->blind && p->largest >= 0)
        measure(p);
    else
        p->w->squares = 0;
    if (axis < 0)
        p->w->kind = p->w->differing ? ATTN_DIFF_NUMBERS : p->largest < 0 ? ATTN_DIFF_SAME : ATTN_DIFF_CLOSE;
}

/* ---- names ---- */

/* Numbers in names count as numbers, so that block 2 is before block 10. */
static int by_name(const void *x, const void *y)
{
    const char *a = (*(const struct attn_st_tensor *const *)x)->name,
    *b = (*(const struct attn_st_tensor *const *)y)->name;
    for (; *a && *a == *b && !isdigit((unsigned char)*a); a++)
        b++;
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            size_t na = strspn(a, "0123456789"), nb = strspn(b, "0123456789");
            int order = na != nb ? (na < nb ? -1 : 1) : memcmp(a, b, na);
            if (order)
                return order;
            a += na;
            b += nb;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static const char *prefix_of(const struct attn_contrast_side *s)
{
    return s->known ? attn_layout_prefix(&s->config, ATTN_PART_EMBED) : "";
}

/* The tensor that has this name, with or without the prefix of either side. */
static const struct attn_st_tensor *counterpart(const struct attn_contrast *c, int side, const char *name)
{
    const struct attn_shards *in = &c->side[side].weights;
    const struct attn_shard *file;
    const struct attn_st_tensor *t = attn_shards_find(in, name, &file);
    for (int i = 0; i < 2 && !t; i++) {
        const char *prefix = prefix_of(&c->side[i]);
        size_t n = strlen(prefix);
        char longer[2 * ATTN_SLOT_NAME_MAX];
        if (!n)
            continue;
        if (!strncmp(name, prefix, n))
            t = attn_shards_find(in, name + n, &file);
        else if (n + strlen(name) < sizeof longer)
            t = attn_shards_find(in, strcat(strcpy(longer, prefix), name), &file);
    }
    return t;
}

/* All tensors of a side, those of the forward pass first in its order, if its configuration tells; the rest by name. */
struct order { const struct attn_st_tensor **t, *embedding; size_t n; bool *taken; };

static void take(struct order *o, const struct attn_shards *in, const char *name, const struct attn_slot *slot)
{
    const struct attn_shard *file;
    const struct attn_st_tensor *t = attn_shards_find(in, name, &file);
    size_t i = t ? attn_shards_index(in, t) : 0;
    if (!t || o->taken[i])
        return;
    o->taken[i] = true;
    o->t[o->n++] = t;
    if (slot->part == ATTN_PART_EMBED)
        o->embedding = t;
}

static int put_in_order(struct order *o, const struct attn_contrast_side *s, struct attn_err *err)
{
    size_t n = s->weights.tensors;
    struct attn_slot slot;
    o->t = calloc(n + 1, sizeof *o->t);
    o->taken = calloc(n + 1, sizeof *o->taken);
    if (!o->t || !o->taken)
        return attn_no_memory(err, NULL, "to compare %zu tensors", n);
    struct attn_layout walk = attn_layout_start(&s->config);
    /* A configuration may claim any number of layers and heads, so the walk ends where no more tensors are found. */
    for (size_t missing = 0, had = 0; s->known && missing < MISSING && attn_layout_next(&walk, &slot); had = o->n) {
        take(o, &s->weights, slot.name, &slot);
        if (slot.prefix)
            take(o, &s->weights, slot.name + slot.prefix, &slot);
        missing = o->n > had ? 0 : missing + 1;
    }
    size_t known = o->n;
    for (size_t i = 0; i < n; i++) {
        const struct attn_shard *file;
        if (!o->taken[i])
            o->t[o->n++] = attn_shards_at(&s->weights, i, &file);
    }
    qsort(o->t + known, o->n - known, sizeof *o->t, by_name);
    return ATTN_OK;
}

/* ---- all of them ---- */

static void describe(struct attn_contrast_weight *w, int side, const struct attn_st_tensor *t)
{
    w->dtype[side] = t->dtype;
    w->ndim[side] = t->ndim;
    memcpy(w->shape[side], t->shape, sizeof t->shape);
}

/* A tensor whose numbers are made of a GGUF file's: as float32, in memory to be freed. */
static int make_numbers(struct attn_st_tensor *out, float **x, const struct attn_contrast_side *s,
                        const struct attn_st_tensor *t, struct attn_err *err)
{
    *out = *t;
    *x = NULL;
    if (!s->recast)
        return ATTN_OK;
    *x = calloc(t->count + 1, sizeof **x);
    if (!*x)
        return attn_no_memory(err, NULL, "for tensor '%s'", t->name);
    out->data = (const unsigned char *)*x;
    out->dtype = "F32";
    out->bytes = t->count * sizeof **x;
    return s->recast->make(s->recast, attn_shards_index(&s->weights, t), *x, err);
}

static int compare_two(struct attn_contrast *c, const struct attn_st_tensor *a, const struct attn_st_tensor *b,
                       struct attn_contrast_weight *w, struct attn_err *err)
{
    struct attn_st_tensor made[2];
    float *x[2] = {NULL, NULL};
    struct pair p = {.c = c, .t = {&made[0], &made[1]}, .w = w};
    int rc = make_numbers(&made[0], &x[0], &c->side[0], a, err);
    if (!rc)
        rc = make_numbers(&made[1], &x[1], &c->side[1], b, err);
    if (!rc)
        compare_pair(&p);
    free(x[0]);
    free(x[1]);
    return rc;
}

static int add_row(struct attn_contrast *c, const struct attn_st_tensor *a, const struct attn_st_tensor *b,
                   struct attn_err *err)
{
    struct attn_contrast_weight *w = attn_grow(c->weight, &c->weight_room, c->result.weight_rows + 1, sizeof *w);
    if (!w)
        return attn_no_memory(err, NULL, "to compare weights");
    c->weight = w;
    w += c->result.weight_rows++;
    *w = (struct attn_contrast_weight){.kind = a ? ATTN_DIFF_ONLY_A : ATTN_DIFF_ONLY_B};
    if (a) {
        w->name = w->name_b = a->name;
        describe(w, 0, a);
    }
    if (b) {
        w->name_b = b->name;
        w->name = a ? a->name : b->name;
        describe(w, 1, b);
    }
    int rc = a && b ? compare_two(c, a, b, w, err) : ATTN_OK;
    if (rc)
        return rc;
    c->result.compared += a && b;
    c->result.differing += w->kind != ATTN_DIFF_SAME && w->kind != ATTN_DIFF_CLOSE;
    return ATTN_OK;
}

/* An output layer that is tied may be stored a second time, as PyTorch does it: where it is there, is no difference. */
static bool is_second_name(const struct attn_contrast_side *s, const struct order *o, const struct attn_st_tensor *t)
{
    const struct attn_st_tensor *e = o->embedding;
    return s->known && s->config.tied && e && t != e && t->bytes == e->bytes && !strcmp(t->dtype, e->dtype) &&
           t->data && !memcmp(t->data, e->data, t->bytes);
}

static int compare_all(struct attn_contrast *c, const struct order *a, const struct order *b, struct attn_err *err)
{
    uint64_t all = c->side[0].weights.bytes, done = 0;
    int rc = ATTN_OK;
    for (size_t i = 0; i < a->n && !rc; i++) {
        const struct attn_st_tensor *other = counterpart(c, 1, a->t[i]->name);
        if (other || !is_second_name(&c->side[0], a, a->t[i]))
            rc = add_row(c, a->t[i], other, err);
        if (!rc && a->t[i] == a->embedding)
            c->weight[c->result.weight_rows - 1].of_tokens = true;
        done += a->t[i]->bytes;
        if (!rc && c->o.step)
            rc = c->o.step(c->o.self, done, all, err);
    }
    for (size_t i = 0; i < b->n && !rc; i++)
        if (!counterpart(c, 0, b->t[i]->name) && !is_second_name(&c->side[1], b, b->t[i]))
            rc = add_row(c, NULL, b->t[i], err);
    return rc;
}

int attn_contrast_weights(struct attn_contrast *c, struct attn_err *err)
{
    struct order o[2] = {{0}};
    int rc = ATTN_OK;
    for (int i = 0; i < 2 && !rc; i++)
        rc = put_in_order(&o[i], &c->side[i], err);
    if (!rc)
        rc = compare_all(c, &o[0], &o[1], err);
    for (int i = 0; i < 2; i++) {
        free(o[i].t);
        free(o[i].taken);
    }
    return rc;
}

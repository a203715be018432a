#include "model/describe.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/narrow.h"

/* A member that is added to these must be written here and read by picture/page/decoder.js: a page without it would
 * compute other numbers.  Then its size here is changed. */
_Static_assert(sizeof(struct attn_block) == 1200 && sizeof(struct attn_norm) == 56 && sizeof(struct attn_mat) == 104 &&
               sizeof(struct attn_rope) == 48, "a new member of a block's weights is described");
_Static_assert(sizeof(struct attn_weights) == 904, "a new member of a model's weights is described");

/* ---- numbers ---- */

static bool same(const struct attn_described *a, const struct attn_described *b)
{
    return a->data == b->data && a->rows == b->rows && a->cols == b->cols && a->ld == b->ld && a->group == b->group &&
           a->step == b->step && a->skip == b->skip && a->paired == b->paired && a->type == b->type;
}

static int too_many(struct attn_description *d, size_t bytes)
{
    return attn_fail(d->err, ATTN_EUSAGE, "model %s has more than %zu MB of weights, at least %zu, and a page that "
                     "computes holds %zu: take one in float16, with fewer layers, or a page without --live", d->name,
                     d->most >> 20, (d->n + bytes) >> 20, d->most >> 20);
}

static unsigned char *make_room(struct attn_description *d, size_t bytes)
{
    size_t all;
    bool huge = __builtin_add_overflow(d->n, bytes, &all);
    if (huge || (d->most && all > d->most)) {
        d->rc = too_many(d, bytes);
        return NULL;
    }
    unsigned char *more = attn_grow(d->bytes, &d->room, all, 1);
    struct attn_described *what = attn_grow(d->what, &d->what_room, d->whats + 1, sizeof *what);
    if (more)
        d->bytes = more;
    if (what)
        d->what = what;
    if (!more || !what) {
        d->rc = attn_no_memory(d->err, NULL, "for %zu bytes of weights", all);
        return NULL;
    }
    return d->bytes + d->n;
}

/* Blocks are decoded, as `attn-cli convert` does it. */
static enum attn_dtype written_as(enum attn_dtype type) { return attn_dtype_in_blocks(type) ? ATTN_F16 : type; }

/* One row of blocks, from number `first` of the matrix on. */
static void decode_row(struct attn_description *d, unsigned char *to, const struct attn_described *what, size_t first,
                       float *x)
{
    attn_blocks_decode(x, what->data, what->type, first, what->cols);
    d->rc = attn_narrow(attn_narrow_find("F16"), x, what->cols, d->name, d->err);
    memcpy(to, x, what->cols * attn_dtype_size(ATTN_F16));
}

/* Only rows and columns that the model has. */
static void copy_rows(struct attn_description *d, unsigned char *to, const struct attn_described *what)
{
    const struct attn_mat order = {.group = what->group, .step = what->step, .paired = what->paired};
    const bool blocks = attn_dtype_in_blocks(what->type);
    const size_t size = attn_dtype_size(written_as(what->type)), bytes = what->cols * size;
    float *x = blocks ? calloc(what->cols + 1, sizeof *x) : NULL;
    if (blocks && !x)
        d->rc = attn_no_memory(d->err, NULL, "for a row of %zu numbers", what->cols);
    for (size_t i = 0; i < what->rows && !d->rc; i++) {
        size_t first = attn_mat_index(&order, i) * what->ld + what->skip;
        if (blocks)
            decode_row(d, to + i * bytes, what, first, x);
        else
            memcpy(to + i * bytes, (const char *)what->data + first * size, bytes);
    }
    free(x);
}

/* Returns where they begin. */
static size_t put_numbers(struct attn_description *d, struct attn_described what)
{
    const size_t bytes = what.cols * attn_dtype_size(written_as(what.type));
    for (size_t i = 0; i < d->whats; i++)
        if (same(&d->what[i], &what))
            return d->what[i].at;
    what.at = (d->n + 3) / 4 * 4;       /* as float32 wants it */
    const size_t gap = what.at - d->n, all = gap + what.rows * bytes;
    unsigned char *to = d->rc ? NULL : make_room(d, all);
    if (!to)
        return 0;
    memset(to, 0, gap);
    copy_rows(d, to + gap, &what);
    d->n += all;
    d->what[d->whats] = what;
    d->what[d->whats++].at = what.at;
    return what.at;
}

/* ---- members ---- */

struct writer { struct attn_out *out; struct attn_description *to; bool first; };

static void put_key(struct writer *w, const char *key)
{
    if (!w->first)
        attn_out_char(w->out, ',');
    w->first = false;
    attn_out_printf(w->out, "\"%s\":", key);
}

static void open_member(struct writer *w, const char *key, char bracket)
{
    put_key(w, key);
    attn_out_char(w->out, bracket);
    w->first = true;
}

static void close_member(struct writer *w, char bracket)
{
    attn_out_char(w->out, bracket);
    w->first = false;
}

static void put_size(struct writer *w, const char *key, size_t x)
{
    put_key(w, key);
    attn_out_u64(w->out, x);
}

static void put_bool(struct writer *w, const char *key, bool x)
{
    put_key(w, key);
    attn_out_str(w->out, x ? "true" : "false");
}

static void put_float(struct writer *w, const char *key, float x)
{
    put_key(w, key);
    attn_out_f32(w->out, x);
}

static void put_double(struct writer *w, const char *key, double x)
{
    put_key(w, key);
    attn_out_f64(w->out, x);
}

static void put_doubles(struct writer *w, const char *key, const double *x, size_t n)
{
    put_key(w, key);
    for (size_t i = 0; x && i < n; i++) {
        attn_out_char(w->out, i ? ',' : '[');
        attn_out_f64(w->out, x[i]);
    }
    attn_out_str(w->out, !x ? "null" : n ? "]" : "[]");
}

static void put_floats(struct writer *w, const char *key, const float *x, size_t n)
{
    put_key(w, key);
    for (size_t i = 0; x && i < n; i++) {
        attn_out_char(w->out, i ? ',' : '[');
        attn_out_f32(w->out, x[i]);
    }
    attn_out_str(w->out, !x ? "null" : n ? "]" : "[]");
}

static void put_text(struct writer *w, const char *key, const char *text)
{
    put_key(w, key);
    attn_out_json(w->out, text, strlen(text));
}

static void put_type(struct writer *w, enum attn_dtype type)
{
    if (attn_dtype_in_blocks(type))
        w->to->blocks |= 1U << type;
    put_text(w, "type", attn_dtypes[written_as(type)].name);
}

/* The types of blocks that were decoded, as a list with commas; null: the numbers are as they are stored. */
static void put_blocks(struct writer *w)
{
    bool any = false;
    put_key(w, "blocks");
    for (int type = 0; type < ATTN_DTYPES; type++)
        if (w->to->blocks >> type & 1) {
            attn_out_printf(w->out, "%s%s", any ? ", " : "\"", attn_dtypes[type].name);
            any = true;
        }
    attn_out_str(w->out, any ? "\"" : "null");
}

static void put_vec(struct writer *w, const char *key, const struct attn_vec *v, struct attn_described what)
{
    if (!v->data) {
        put_key(w, key);
        attn_out_str(w->out, "null");
        return;
    }
    open_member(w, key, '{');
    what.data = v->data;
    what.type = v->type;
    put_type(w, v->type);
    put_size(w, "at", w->to->rc ? 0 : put_numbers(w->to, what));
    put_size(w, "n", what.rows * what.cols);
    close_member(w, '}');
}

/* The bias of a matrix lies as its outputs do. */
static void put_bias(struct writer *w, const struct attn_mat *m)
{
    struct attn_described what = {.rows = 1, .cols = m->out};
    if (m->group)
        what = (struct attn_described){.rows = m->out, .cols = 1, .ld = 1, .group = m->group, .step = m->step,
                                       .paired = m->paired};
    put_vec(w, "bias", &m->bias, what);
}

static void put_mat(struct writer *w, const char *key, const struct attn_mat *m)
{
    if (!m->data) {
        put_key(w, key);
        attn_out_str(w->out, "null");
        return;
    }
    const size_t rows = m->transposed ? m->out : m->in, cols = m->transposed ? m->in : m->out;
    open_member(w, key, '{');
    put_type(w, m->type);
    put_size(w, "at", w->to->rc ? 0 : put_numbers(w->to, (struct attn_described){
        .data = m->data, .rows = rows, .cols = cols, .ld = m->ld, .group = m->group, .step = m->step,
        .skip = m->skip, .paired = m->paired, .type = m->type}));
    put_size(w, "in", m->in);
    put_size(w, "out", m->out);
    put_bool(w, "transposed", m->transposed);
    put_bias(w, m);
    close_member(w, '}');
}

/* of: how many numbers a row has. */
static void put_norm(struct writer *w, const char *key, const struct attn_norm *norm, size_t of)
{
    if (!attn_has(norm)) {
        put_key(w, key);
        attn_out_str(w->out, "null");
        return;
    }
    const size_t n = norm->span && !norm->own ? norm->span : of;
    open_member(w, key, '{');
    put_vec(w, "weight", &norm->weight, (struct attn_described){.rows = 1, .cols = n});
    put_vec(w, "bias", &norm->bias, (struct attn_described){.rows = 1, .cols = n});
    put_bool(w, "rms", norm->rms);
    put_size(w, "span", norm->span);
    put_bool(w, "own", norm->own);
    put_bool(w, "from_one", norm->from_one);
    close_member(w, '}');
}

static void put_rope(struct writer *w, const struct attn_rope *r, size_t half)
{
    attn_out_str(w->out, w->first ? "{" : ",{");
    w->first = true;
    put_doubles(w, "inv_freq", r->inv_freq, half);
    put_double(w, "attention_factor", r->attention_factor);
    put_size(w, "original_max_position", r->original_max_position);
    put_doubles(w, "long_inv_freq", r->long_inv_freq, half);
    put_double(w, "theta", r->theta);
    put_double(w, "factor", r->factor);
    close_member(w, '}');
}

static void put_block(struct writer *w, const struct attn_block *b, const struct attn_dims *n)
{
    attn_out_str(w->out, w->first ? "{" : ",{");
    w->first = true;
    const struct { const char *key; const struct attn_norm *norm; size_t of; } norms[] = {
        {"norm1", &b->norm1, n->d}, {"norm2", &b->norm2, n->d}, {"post1", &b->post1, n->d}, {"post2", &b->post2, n->d},
        {"sum1", &b->sum1, n->d}, {"sum2", &b->sum2, n->d}, {"q_norm", &b->q_norm, n->H * n->dh},
        {"k_norm", &b->k_norm, n->Hkv * n->dh}};
    const struct { const char *key; const struct attn_mat *mat; } mats[] = {
        {"q", &b->q}, {"k", &b->k}, {"v", &b->v}, {"o", &b->o}, {"gate", &b->gate}, {"in", &b->in}, {"out", &b->out}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        put_norm(w, norms[i].key, norms[i].norm, norms[i].of);
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++)
        put_mat(w, mats[i].key, mats[i].mat);
    put_float(w, "scale", b->scale);
    put_size(w, "window", b->window);
    put_key(w, "rope");
    attn_out_printf(w->out, "%d", b->rope);
    close_member(w, '}');
}

static void put_dims(struct writer *w, const struct attn_dims *n)
{
    const struct { const char *key; size_t x; } sizes[] = {
        {"L", n->L}, {"d", n->d}, {"H", n->H}, {"Hkv", n->Hkv}, {"dh", n->dh}, {"dv", n->dv}, {"m", n->m}, {"V", n->V},
        {"n_ctx", n->n_ctx}, {"width", n->width}};
    open_member(w, "n", '{');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        put_size(w, sizes[i].key, sizes[i].x);
    close_member(w, '}');
}

static void put_choices(struct writer *w, const struct attn_weights *of)
{
    const struct { const char *key; bool x; } flags[] = {
        {"residual", of->residual}, {"causal", of->causal}, {"parallel", of->parallel}, {"one_norm", of->one_norm},
        {"post_norm_residual", of->post_norm_residual}, {"late_norms", of->late_norms},
        {"interleaved", of->interleaved}, {"backwards", of->backwards}, {"sinusoid", of->sinusoid},
        {"alibi_early", of->alibi_early}};
    const struct { const char *key; float x; } numbers[] = {
        {"eps", of->eps}, {"clip", of->clip}, {"cap", of->cap}, {"logit_cap", of->logit_cap},
        {"embed_scale", of->embed_scale}, {"branch_scale", of->branch_scale}, {"logit_scale", of->logit_scale}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        put_bool(w, flags[i].key, flags[i].x);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_float(w, numbers[i].key, numbers[i].x);
    put_text(w, "mlp", attn_mlp_name(of->mlp));
    put_size(w, "rotary", of->rotary);
    open_member(w, "rope", '[');
    for (size_t i = 0; i < of->ropes; i++)
        put_rope(w, &of->rope[i], of->rotary / 2);
    close_member(w, ']');
    put_floats(w, "alibi", of->alibi, of->n.H);
}

int attn_model_describe(struct attn_description *to, struct attn_out *out, const struct attn_model *m,
                        struct attn_err *err)
{
    const struct attn_weights *of = &m->w;
    struct writer w = {.out = out, .to = to, .first = true};
    to->err = err;
    to->name = m->source.name;
    attn_out_char(out, '{');
    put_text(&w, "name", m->source.name);
    put_dims(&w, &of->n);
    put_choices(&w, of);
    put_mat(&w, "embed", &of->embed);
    put_mat(&w, "pos", &of->pos);
    put_mat(&w, "project_in", &of->project_in);
    put_norm(&w, "embed_norm", &of->embed_norm, of->n.d);
    open_member(&w, "block", '[');
    for (size_t i = 0; i < of->n.L && !to->rc; i++)
        put_block(&w, &of->block[i], &of->n);
    close_member(&w, ']');
    put_norm(&w, "final", &of->final, of->n.L ? of->n.width : of->n.d);
    put_mat(&w, "project_out", &of->project_out);
    put_mat(&w, "unembed", &of->unembed);
    put_blocks(&w);
    attn_out_char(out, '}');
    return to->rc;
}

void attn_description_free(struct attn_description *d)
{
    free(d->bytes);
    free(d->what);
    *d = (struct attn_description){0};
}

/* encode.c - the way of a text through a tokenizer by pieces of words. */
#include "text/subword.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/utf8.h"

/* A text on its way: the whole, what is between added tokens, what a step has made of that.  Its place 0 is byte `at`
 * of the outer one, or of what `map` maps back to. */
struct view { const char *s; size_t len; struct attn_mapped *map; const struct view *outer; size_t at; };

enum { TIMES = 64, LEAST = 4096 };      /* how long a text may become */

struct encoder {
    const struct attn_subword *b;
    struct attn_regex_effort effort;
    size_t most;                        /* bytes that any step may make of the text, of all its pieces together */
    struct attn_encoding *out;
    struct attn_bpe bpe;
    struct attn_lattice lattice;
    struct attn_lookup_work lookup;
    struct attn_mapped normal[ATTN_STEPS_MAX], pre[ATTN_STEPS_MAX];
    size_t normal_made[ATTN_STEPS_MAX], pre_made[ATTN_STEPS_MAX];
    bool special;
    struct attn_err *err;
};

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the tokens of a text");
}

/* Where what begins (ends) at byte `at` of a view begins (ends) in the whole text. */
static size_t start_of(const struct view *v, size_t at)
{
    for (; v; v = v->outer)
        at = v->at + (v->map ? attn_mapped_start(v->map, at) : at);
    return at;
}

static size_t end_of(const struct view *v, size_t at)
{
    for (; v; v = v->outer)
        at = v->at + (v->map ? attn_mapped_end(v->map, at) : at);
    return at;
}

static struct view part_of(const struct view *v, size_t at, size_t len)
{
    return (struct view){.s = v->s + at, .len = len, .outer = v, .at = at};
}

/* A pattern may look at a text from everywhere, again and again. */
static int tired(struct encoder *e)
{
    return attn_fail(e->err, ATTN_EFORMAT, "the tokenizer's patterns take too long for this text: they look at most of "
                                           "it from everywhere; a shorter one takes less");
}

/* Applies a step, which has made so many bytes of other pieces.  They are limited: a file might have steps that make a
 * short text endless. */
static int apply(struct encoder *e, struct attn_mapped *m, size_t *made, const struct attn_normal *step,
                 const struct view *v, bool first)
{
    m->most = e->most - *made;
    m->effort = &e->effort;
    if (m->most == 0)                   /* which would mean any */
        m->most = 1;
    if (!attn_normal_apply(m, step, v->s, v->len, first))
        return no_memory(e->err);
    if (attn_regex_tired(&e->effort))
        return tired(e);
    if (m->len <= m->most) {
        *made += m->len;
        return ATTN_OK;
    }
    return attn_fail(e->err, ATTN_EFORMAT, "the tokenizer makes more than %d times as many bytes of the text, expected "
                                           "a normal form of it", TIMES);
}

/* ---- pieces ---------------------------------------------------------------------------- */

/* Adds the tokens that `s`, which lies in the view, has become. */
static int add_tokens(struct encoder *e, const struct view *v, const char *s, const struct attn_piece_token *part,
                      size_t n)
{
    struct attn_encoding *out = e->out;
    size_t at = (size_t)(s - v->s);
    if (!attn_encoding_reserve(out, n))
        return no_memory(e->err);
    for (size_t i = 0; i < n; at += part[i++].len) {
        if (part[i].id < 0)
            continue;
        out->id[out->n] = part[i].id;
        if (!out->ids_only) {
            size_t start = start_of(v, at), end = end_of(v, at + part[i].len);
            out->range[out->n] = (struct attn_byte_range){start, end > start ? end : start};
        }
        out->n++;
    }
    return ATTN_OK;
}

static int lacks(struct encoder *e, const struct view *v, const char *s)
{
    size_t at = start_of(v, (size_t)(s - v->s)), step;
    if (e->b->lookup)
        return attn_fail(e->err, ATTN_EFORMAT, "the vocabulary has no token for '%.*s' at byte %zu of the text, and "
                                               "none for unknown words", attn_shown(v->s, v->len), v->s, at);
    if (e->b->unigram)
        return attn_fail(e->err, ATTN_EFORMAT,
                         "the vocabulary has no token for the character U+%04X at byte %zu of the text, and none for "
                         "unknown ones",
                         (unsigned)attn_utf8_next(s, (size_t)(v->s + v->len - s), &step), at);
    return attn_fail(e->err, ATTN_EFORMAT, "the vocabulary has no token for the byte 0x%02X at byte %zu of the text",
                     (unsigned char)*s, at);
}

/* The model. */
static int encode_by(struct encoder *e, const char *s, size_t len, size_t readable,
                     const struct attn_piece_token **part, size_t *n)
{
    const struct attn_subword *b = e->b;
    return b->unigram ? attn_unigram_encode(&e->lattice, b->unigram, s, len, part, n) :
           b->lookup ? attn_lookup_encode(&e->lookup, b->lookup, s, len, part, n) :
           attn_bpe_encode(&e->bpe, s, len, readable, part, n);
}

static int encode_part(struct encoder *e, const struct view *v, const char *s, size_t len)
{
    const struct attn_piece_token *part;
    size_t n, readable = (size_t)(v->s + v->len - s);
    int rc = encode_by(e, s, len, readable, &part, &n);
    if (rc == ATTN_EFORMAT)
        return lacks(e, v, s + n);
    return rc ? no_memory(e->err) : add_tokens(e, v, s, part, n);
}

static int encode_piece(struct encoder *e, const struct view *v)
{
    int rc = ATTN_OK;
    for (size_t at = 0, n; at < v->len && !rc; at += n) {
        n = e->b->unigram || e->b->lookup ? v->len : attn_bpe_part(&e->b->rules, v->s + at, v->len - at);
        rc = encode_part(e, v, v->s + at, n);
    }
    return rc;
}

/* The usual last step of all: a pattern that matches everything, each match a piece. */
static bool is_plain_cut(const struct attn_subword *b, size_t k)
{
    const struct attn_split *c = &b->pre[k].cut;
    return k + 1 == b->pres && c->pattern < ATTN_PRETOKEN_DEEPSEEK && c->behavior == ATTN_ISOLATED && b->byte_level;
}

static int cut_plainly(struct encoder *e, size_t k, const struct view *v)
{
    enum attn_pretoken pattern = e->b->pre[k].cut.pattern;
    int rc = ATTN_OK;
    for (size_t at = 0, n; at < v->len && !rc; at += n) {
        n = attn_pretoken_next(pattern, v->s + at, v->len - at);
        rc = encode_part(e, v, v->s + at, n);
    }
    return rc;
}

/* Applies the steps from number k on.  Each sees a piece of the one before as if it were the whole text. */
static int pre_tokenize(struct encoder *e, size_t k, const struct view *v)
{
    const struct attn_pre_step *step = &e->b->pre[k];
    const char *piece;
    size_t len;
    int rc = ATTN_OK;
    if (v->len == 0)
        return ATTN_OK;
    if (k == e->b->pres)
        return encode_piece(e, v);
    if (!step->cuts) {
        struct attn_mapped *m = &e->pre[k];
        bool first = step->change.prepend == ATTN_PREPEND_FIRST && start_of(v, 0) == 0;
        rc = apply(e, m, &e->pre_made[k], &step->change, v, first);
        const struct view changed = {.s = m->text, .len = m->len, .map = m, .outer = v};
        return rc ? rc : pre_tokenize(e, k + 1, &changed);
    }
    if (is_plain_cut(e->b, k))
        return cut_plainly(e, k, v);
    struct attn_cutter cutter = {.cut = &step->cut, .s = v->s, .len = v->len, .effort = &e->effort};
    while (!rc && attn_cutter_next(&cutter, &piece, &len)) {
        const struct view inner = part_of(v, (size_t)(piece - v->s), len);
        rc = pre_tokenize(e, k + 1, &inner);
    }
    return !rc && attn_regex_tired(&e->effort) ? tired(e) : rc;
}

/* ---- between added tokens -------------------------------------------------------------- */

static int encode_plain(struct encoder *e, const struct view *v)
{
    return pre_tokenize(e, 0, v);
}

/* Calls `encode` for what is between added tokens and adds those tokens. */
static int encode_around(struct encoder *e, const struct attn_added *added, const struct view *v,
                         int (*encode)(struct encoder *e, const struct view *v))
{
    struct attn_hit hit = {0};
    size_t done = 0;
    int rc = ATTN_OK;
    while (!rc && attn_added_next(added, v->s, v->len, e->special, &hit)) {
        const struct view between = part_of(v, done, done < hit.start ? hit.start - done : 0);
        if (between.len > 0)
            rc = encode(e, &between);
        if (!rc && !attn_encoding_add(e->out, hit.token->id, start_of(v, hit.start), end_of(v, hit.end)))
            rc = no_memory(e->err);
        done = hit.end;
    }
    const struct view rest = part_of(v, done, v->len - done);
    return !rc && rest.len > 0 ? encode(e, &rest) : rc;
}

/* Applies the steps of normalisation from number k on, then looks for the added tokens that come after them. */
static int normalize(struct encoder *e, size_t k, const struct view *v)
{
    const struct attn_subword *b = e->b;
    struct attn_mapped *m = &e->normal[k];
    if (k == b->normals)
        return encode_around(e, &b->added[1], v, encode_plain);
    int rc = apply(e, m, &e->normal_made[k], &b->normal[k], v, false);
    const struct view changed = {.s = m->text, .len = m->len, .map = m, .outer = v};
    return rc ? rc : normalize(e, k + 1, &changed);
}

static int encode_section(struct encoder *e, const struct view *v)
{
    return normalize(e, 0, v);
}

/* ---- the whole text -------------------------------------------------------------------- */

static int add_around(struct attn_encoding *out, const struct attn_around *a, size_t at, struct attn_err *err)
{
    for (size_t i = 0; i < a->n; i++)
        if (!attn_encoding_add(out, a->id[i], at, at))
            return no_memory(err);
    return ATTN_OK;
}

static int add_before(struct attn_encoding *out, const struct attn_subword *b, enum attn_bos bos, struct attn_err *err)
{
    struct attn_around only = {.id = {b->bos}, .n = 1};
    if (bos != ATTN_BOS_YES || b->before.n > 0)
        return add_around(out, &b->before, 0, err);
    if (b->bos < 0)
        return attn_fail(err, ATTN_EFORMAT, "the model's files do not say which token begins a text (BOS)");
    return add_around(out, &only, 0, err);
}

static void start(struct encoder *e)
{
    for (size_t i = 0; i < ATTN_STEPS_MAX; i++)
        e->normal[i].unmapped = e->pre[i].unmapped = e->out->ids_only;
    for (size_t i = 0; i < e->b->pres; i++)
        if (e->b->pre[i].change.prepend == ATTN_PREPEND_FIRST)      /* asks for places */
            for (size_t k = 0; k < ATTN_STEPS_MAX; k++)
                e->normal[k].unmapped = e->pre[k].unmapped = false;
}

static void finish(struct encoder *e)
{
    attn_bpe_free(&e->bpe);
    attn_lattice_free(&e->lattice);
    attn_lookup_work_free(&e->lookup);
    for (size_t i = 0; i < ATTN_STEPS_MAX; i++) {
        attn_mapped_free(&e->normal[i]);
        attn_mapped_free(&e->pre[i]);
    }
}

int attn_subword_encode(struct attn_encoding *out, const struct attn_subword *b, const char *text, size_t len,
                        const struct attn_encode_opts *o, struct attn_err *err)
{
    struct encoder e = {.b = b, .out = out, .bpe = {.rules = &b->rules}, .special = o->special, .err = err};
    const struct view whole = {.s = text, .len = len};
    size_t valid = attn_utf8_valid(text, len);
    if (__builtin_mul_overflow(len, TIMES, &e.most) || __builtin_add_overflow(e.most, LEAST, &e.most))
        e.most = SIZE_MAX;
    bool around = o->bos == ATTN_BOS_YES || (o->bos == ATTN_BOS_AUTO && (len > 0 || o->empty));
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    attn_regex_allow(&e.effort, len);
    start(&e);
    int rc = around ? add_before(out, b, o->bos, err) : ATTN_OK;
    if (!rc && len > 0)
        rc = encode_around(&e, &b->added[0], &whole, encode_section);
    if (!rc && around)
        rc = add_around(out, &b->after, len, err);
    finish(&e);
    return rc;
}

/* sink_picture.c - formats that are pictures: numbers are collected while the model runs, and drawn when it is done. */
#include "sinks/hide.h"
#include "sinks/print.h"
#include "sinks/live_pack.h"
#include "sinks/sink_picture.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/out.h"
#include "model/model.h"
#include "picture/figure.h"
#include "picture/lettering.h"
#include "picture/look.h"
#include "picture/section.h"
#include "trace/slice.h"

/* ---- collecting ------------------------------------------------------------------------ */

_Static_assert((int)ATTN_NEXT_MAX == (int)ATTN_ALBUM_NEXT, "an album has room for what the text lists");

/* A table of more cells is no longer looked at, and makes a page large. */
enum { LENS_CELLS = 16384 };

/* Whether the lens is to be a table of its likeliest tokens, and is small enough. */
static bool takes_lens(const struct attn_sink_job *job, char *why, size_t size)
{
    size_t layers = 0, T = job->tokens->n;
    for (size_t layer = 0; layer < job->model->L; layer++)
        layers += attn_select_wants(job->select, ATTN_ACT_LENS, (int)layer);
    bool fits = layers * T <= LENS_CELLS;
    if (!fits)
        snprintf(why, size, "%zu layers at %zu positions are more than the %d cells that a page has room for: choose "
                            "layers with --layer, or take the command lens", layers, T, LENS_CELLS);
    return layers && fits;
}

enum attn_sight attn_sight_of(int act)
{
    return act == ATTN_ACT_MASK ? ATTN_ONE_IS_SEEN : act == ATTN_ACT_MASK_INF ? ATTN_ZERO_IS_SEEN : ATTN_NO_SIGHT;
}

/* What heads do is told of a text that looks at itself, of tokens of a vocabulary. */
static bool asks_what_heads_do(const struct attn_sink_job *job)
{
    bool known = job->of && !job->cross;
    for (size_t i = 0; known && i < job->pieces->n; i++)
        known = job->pieces->tok[i].id >= 0 && (size_t)job->pieces->tok[i].id < job->model->V;
    return known;
}

static int start_scores(struct attn_collect *c, struct attn_err *err)
{
    const struct attn_sink_job *job = c->job;
    const struct attn_scores_opts o = {.chance = true, .text = job->token_text, .ctx = job->token_ctx};
    const struct attn_seq seq = {.T = job->pieces->n};
    int rc = attn_tokens_to_ids(&c->ids, job->pieces, err);
    if (!rc)
        rc = attn_scores_new(&c->scores, job->of, &job->attention, job->select, &o, job->team, err);
    return rc ? rc : attn_scores_start(c->scores, c->ids, &seq, 1, err);
}

int attn_collect_start(struct attn_collect *c, const struct attn_sink_job *job, bool next, struct attn_err *err)
{
    *c = (struct attn_collect){
        .job = job, .next = next,
        .album = {.model = job->model->name, .H = job->model->H, .Hkv = job->model->Hkv, .text = job->text,
                  .text_len = job->text_len, .keys_text = job->cross_text, .keys_len = job->cross_len,
                  .queries = job->tokens, .keys = attn_sink_keys(job), .edits = job->edits, .live = job->live}};
    c->lens = next && takes_lens(job, c->album.no_lens, sizeof c->album.no_lens);
    return next && asks_what_heads_do(job) ? start_scores(c, err) : ATTN_OK;
}

void attn_collect_end(struct attn_collect *c)
{
    attn_album_free(&c->album);
    attn_scores_free(c->scores);
    free(c->ids);
}

unsigned attn_collect_wants(const struct attn_collect *c, int act, int layer)
{
    unsigned wants = act == ATTN_ACT_LENS && c->next &&
                     !c->lens ? 0 : attn_slice_wants(c->job->select, act, layer, false);
    if (act == ATTN_ACT_LOGITS && c->next && c->job->model->unembed && !wants)
        wants = ATTN_WATCH | ATTN_LAST;
    return wants;
}

/* Layers that hide the same share a mask. */
static int add_mask(struct attn_collect *c, struct attn_sheet *s, int act, struct attn_err *err)
{
    const struct attn_sink_job *job = c->job;
    const struct attn_masking how = attn_sink_masking(job);
    if (!attn_masks(&how, act))
        return ATTN_OK;
    const struct attn_window all = {.rows = s->rows, .cols = s->cols, .keys = s->cols, .row_words = job->rows,
                                    .key_words = job->keys};
    const struct attn_kind k = attn_masked_by(&how, act, s->layer), *last = &c->masked;
    bool same = c->mask && !job->of->attend && k.form == last->form && k.w == last->w && k.s == last->s &&
                k.r == last->r && k.seed == last->seed && k.causal == last->causal;
    int rc = ATTN_OK;
    if (same)
        s->mask = c->mask;
    else
        rc = attn_sink_mask(&c->album, s, job, act, &all, err);
    c->mask = s->mask;
    c->masked = k;
    return rc;
}

/* Options in a note stay as they are typed. */
static void make_titles(struct attn_collect *c, int act)
{
    const char *note = c->job->kind.note ? c->job->kind.note : "", *title = attn_act_title(act);
    char gradient[ATTN_GRADIENT_NOTE] = "";
    snprintf(c->title[act], sizeof c->title[act], "%s%s", title, note);
    if (c->job->gradient) {
        attn_sink_gradient_note(gradient, c->job->gradient, NULL);
        note += strlen(gradient);
        attn_sink_gradient_note(gradient, c->job->gradient, c->job->language);
    }
    snprintf(c->said[act], sizeof c->said[act], "%s%s%s", attn_tr(c->job->language, title), gradient, note);
}

static int begin(struct attn_collect *c, const struct attn_slice *p, struct attn_err *err)
{
    int act = p->of->act;
    const struct attn_dims *n = c->job->of ? &c->job->of->w.n : NULL;
    make_titles(c, act);
    struct attn_sheet sheet = {
        .kind = attn_act_tail(act), .title = c->title[act], .said = c->said[act], .axes = attn_act_axes(act),
        .layer = p->of->layer, .n = p->matrices, .rows = p->T, .cols = p->cols,
        .heads = p->n_kept ? p->kept : NULL, .keys = attn_act_square(act),
        .of_keys = attn_act_of_keys(act), .sight = attn_sight_of(act),
        .shared = attn_act_kv_heads(act) && n && n->H != n->Hkv};
    int rc = add_mask(c, &sheet, act, err);
    return rc ? rc : attn_album_add(&c->album, &sheet, &c->band[act], err);
}

static int add_slice(struct attn_collect *c, const struct attn_slice *p, struct attn_err *err)
{
    int rc = attn_slice_opens(p) ? begin(c, p, err) : ATTN_OK;
    if (!rc)
        attn_slice_keep(c->band[p->of->act], NULL, p);
    return rc;
}

/* ---- what comes next ---- */

static struct attn_album_next spell(const struct attn_collect *c, const struct attn_likely *best, size_t n)
{
    struct attn_album_next next = {.n = n};
    for (size_t i = 0; i < n; i++) {
        next.of[i].id = best[i].id;
        next.of[i].p = best[i].p;
        if (c->job->token_text)
            next.of[i].text = c->job->token_text(c->job->token_ctx, best[i].id, &next.of[i].len);
    }
    return next;
}

static struct attn_album_next likeliest(const struct attn_collect *c, const struct attn_probe *p, size_t row,
                                        struct attn_err *err)
{
    struct attn_likely best[ATTN_NEXT_MAX];
    size_t n = 0;
    attn_logits_top(best, &n, ATTN_NEXT_MAX, p->data + row * p->ld, p->cols, err);
    return spell(c, best, n);
}

static void add_next(struct attn_collect *c, const struct attn_probe *p)
{
    struct attn_err why = {0};
    c->album.next = likeliest(c, p, p->rows - 1, &why);
    if (!c->album.next.n)
        snprintf(c->album.no_next, sizeof c->album.no_next, "%.140s%s", why.msg, ATTN_NEXT_ADVICE);
}

/* A band of rows of a layer: the likeliest tokens of each are kept, the logits are not. */
static int add_lens(struct attn_collect *c, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_album *a = &c->album;
    if (!p->row0) {
        struct attn_album_lens *more = attn_grow(a->lens, &a->lens_room, a->n_lens + 1, sizeof *more);
        if (!more)
            return attn_no_memory(err, NULL, "for the lens of %zu layers", a->n_lens + 1);
        a->lens = more;
        more[a->n_lens] = (struct attn_album_lens){.layer = p->layer, .at = calloc(p->shape[0], sizeof *more->at)};
        if (!more[a->n_lens].at)
            return attn_no_memory(err, NULL, "for the likeliest tokens at %zu positions", p->shape[0]);
        a->n_lens++;
    }
    for (size_t t = 0; t < p->rows; t++)
        a->lens[a->n_lens - 1].at[p->row0 + t] = likeliest(c, p, t, NULL);
    return ATTN_OK;
}

static int add_without(struct attn_collect *c, struct attn_err *err)
{
    struct attn_album *a = &c->album;
    a->without = c->job->n_ablated ? calloc(c->job->n_ablated, sizeof *a->without) : NULL;
    if (c->job->n_ablated && !a->without)
        return attn_no_memory(err, NULL, "for %zu heads", c->job->n_ablated);
    for (; a->n_without < c->job->n_ablated; a->n_without++) {
        const struct attn_ablated *from = &c->job->ablated[a->n_without];
        a->without[a->n_without] = (struct attn_album_without){from->layer, from->head, from->kl,
                                                               spell(c, from->after, from->n)};
    }
    return ATTN_OK;
}

int attn_collect_watch(struct attn_collect *c, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_slice p;
    int rc = ATTN_OK;
    if (c->next && probe->act == ATTN_ACT_LOGITS && probe->row0 + probe->rows == probe->shape[0])
        add_next(c, probe);
    if (c->next && probe->act == ATTN_ACT_LENS)
        return add_lens(c, probe, err);
    if (c->scores && probe->act == ATTN_ACT_PATTERN)
        rc = attn_scores_watch(c->scores, probe, err);
    for (size_t at = 0; !rc && attn_slice_next(&p, c->job->select, probe, &at);)
        rc = add_slice(c, &p, err);
    return rc;
}

static int add_scored(struct attn_collect *c, struct attn_err *err)
{
    struct attn_album *a = &c->album;
    size_t n = c->scores ? attn_scores_heads(c->scores) : 0;
    a->scored = n ? calloc(n, sizeof *a->scored) : NULL;
    if (n && !a->scored)
        return attn_no_memory(err, NULL, "for the scores of %zu heads", n);
    for (; a->n_scored < n; a->n_scored++)
        a->scored[a->n_scored] = attn_scores_head(c->scores, a->n_scored);
    return ATTN_OK;
}

/* ---- the sinks ------------------------------------------------------------------------- */

struct picture {
    struct attn_out *out;
    struct attn_collect collect;
    struct attn_look look;
    const struct attn_sink_methods *methods;
    struct attn_lacks lacks;
    char note[ATTN_LOW_CONTRAST_TEXT];  /* "": nothing is said */
};

static void picture_close(void *self)
{
    struct picture *p = self;
    if (!p)
        return;
    attn_out_close(p->out);
    attn_collect_end(&p->collect);
    free(p);
}

static int picture_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    if (!attn_select_activations(job->select))
        return attn_fail(err, ATTN_EUSAGE, "a picture shows activations, and only tokens are selected; for the token "
                                           "table take text, json or csv");
    struct picture *p = calloc(1, sizeof *p);
    if (!p)
        return attn_no_memory(err, NULL, "for a picture");
    p->methods = attn_format_methods(f);
    int rc = attn_collect_start(&p->collect, job, p->methods->next && !job->gradient, err);
    if (!rc)
        rc = attn_look_make(&p->look, &job->picture, err);
    p->look.width = job->width;
    p->look.words = job->words;
    p->look.lacks = &p->lacks;
    if (!rc)
        rc = attn_out_open(&p->out, job->path, err);
    if (rc)
        picture_close(p);
    else
        *self = p;
    return rc;
}

static unsigned picture_wants(void *self, int act, int layer)
{
    return attn_collect_wants(&((struct picture *)self)->collect, act, layer);
}

static int picture_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    return attn_collect_watch(&((struct picture *)self)->collect, probe, err);
}

static int picture_finish(void *self, struct attn_err *err)
{
    struct picture *p = self;
    int rc = p->methods->next ? add_without(&p->collect, err) : ATTN_OK;
    if (!rc)
        rc = add_scored(&p->collect, err);
    if (!rc)
        rc = attn_album_link(&p->collect.album, err);
    if (!rc)
        rc = p->methods->draw(p->out, &p->collect.album, &p->look, err);
    attn_lacks_text(p->note, sizeof p->note, &p->lacks, ".svg or .html");
    if (!rc && !*p->note && !p->methods->next)
        attn_album_low_contrast(p->note, &p->collect.album, &p->look);
    return rc ? rc : attn_out_commit(p->out, err);
}

static const char *picture_note(void *self)
{
    const struct picture *p = self;
    return *p->note ? p->note : NULL;
}

#define METHODS .open = picture_open, .wants = picture_wants, .watch = picture_watch, .finish = picture_finish, \
                .note = picture_note, .close = picture_close, .look = attn_look_make

const struct attn_sink_methods attn_term_methods = {METHODS, .draw = attn_term_write};
const struct attn_sink_methods attn_png_methods = {METHODS, .draw = attn_png_write};
const struct attn_sink_methods attn_svg_methods = {METHODS, .draw = attn_svg_write};
const struct attn_sink_methods attn_pdf_methods = {METHODS, .draw = attn_pdf_write};
const struct attn_sink_methods attn_html_methods = {METHODS, .draw = attn_html_write, .live = attn_live_make,
                                                    .live_free = attn_live_free, .next = true, .merges = true};

bool attn_figure_draws(const char *figure, const char *format)
{
    const struct attn_figure_method *m;
    const struct attn_format *f = attn_format_find(format);
    if (!f || !(f->flags & ATTN_FORMAT_PICTURE) || attn_figure_find(&m, figure, NULL))
        return false;
    return f->flags & ATTN_FORMAT_FIGURE || (m->print && attn_format_methods(f) == &attn_term_methods);
}

/* picture.c - formats that are pictures: numbers are collected while the model runs, and drawn when it is done. */
#include "sinks/print.h"
#include "sinks/picture.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/out.h"
#include "picture/look.h"
#include "trace/strip.h"

/* ---- collecting ------------------------------------------------------------------------ */

_Static_assert((int)ATTN_NEXT_MAX == (int)ATTN_ALBUM_NEXT, "an album has room for what the text lists");

void attn_collect_start(struct attn_collect *c, const struct attn_sink_job *job, bool next)
{
    *c = (struct attn_collect){
        .job = job, .next = next,
        .album = {.model = job->model->name, .H = job->model->H, .Hkv = job->model->Hkv, .text = job->text,
                  .text_len = job->text_len, .keys_text = job->cross_text, .keys_len = job->cross_len,
                  .queries = job->tokens, .keys = attn_sink_keys(job)}};
}

void attn_collect_end(struct attn_collect *c)
{
    attn_album_free(&c->album);
}

unsigned attn_collect_wants(const struct attn_collect *c, int act, int layer)
{
    unsigned wants = attn_strip_wants(c->job->select, act, layer, false);
    if (act == ATTN_ACT_LOGITS && c->next && c->job->model->unembed && !wants)
        wants = ATTN_WATCH | ATTN_LAST;
    return wants;
}

static int begin(struct attn_collect *c, const struct attn_strip *p, struct attn_err *err)
{
    int act = p->of->act;
    const char *note = c->job->kind.note;
    snprintf(c->title[act], sizeof c->title[act], "%s%s", attn_act_title(act), note ? note : "");
    struct attn_sheet sheet = {
        .kind = attn_act_tail(act), .title = c->title[act], .axes = attn_act_axes(act), .layer = p->of->layer,
        .n = p->matrices, .rows = p->T, .cols = p->cols, .heads = p->n_kept ? p->kept : NULL, .keys = attn_act_square(act),
        .of_keys = attn_act_kv(act)};
    return attn_album_add(&c->album, &sheet, &c->band[act], err);
}

static int add_strip(struct attn_collect *c, const struct attn_strip *p, struct attn_err *err)
{
    int rc = attn_strip_opens(p) ? begin(c, p, err) : ATTN_OK;
    if (rc)
        return rc;
    attn_strip_keep(c->band[p->of->act], p);
    return ATTN_OK;
}

static void add_next(struct attn_collect *c, const struct attn_probe *p)
{
    struct attn_next next = {0};
    attn_logits_top(next.best, &next.n, ATTN_NEXT_MAX, p->data + (p->rows - 1) * p->ld, p->cols, &next.err);
    c->album.n_next = next.n;
    if (!next.n)
        snprintf(c->album.no_next, sizeof c->album.no_next, "%.140s%s", next.err.msg, ATTN_NEXT_ADVICE);
    for (size_t i = 0; i < next.n; i++) {
        size_t len = 0;
        const char *text = c->job->token_text ? c->job->token_text(c->job->token_ctx, next.best[i].id, &len) : NULL;
        c->album.next[i] = (struct attn_album_next){text, len, next.best[i].id, next.best[i].p};
    }
}

int attn_collect_watch(struct attn_collect *c, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_strip p;
    int rc = ATTN_OK;
    if (c->next && probe->act == ATTN_ACT_LOGITS && probe->row0 + probe->rows == probe->shape[0])
        add_next(c, probe);
    for (size_t at = 0; !rc && attn_strip_next(&p, c->job->select, probe, &at);)
        rc = add_strip(c, &p, err);
    return rc;
}

/* ---- the sinks ------------------------------------------------------------------------- */

struct picture {
    struct attn_out *out;
    struct attn_collect collect;
    struct attn_look look;
    const struct attn_sink_methods *methods;
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
        return attn_fail(err, ATTN_EUSAGE, "a picture shows activations, and only tokens are selected; for the token table take "
                         "text, json or csv");
    struct picture *p = calloc(1, sizeof *p);
    if (!p)
        return attn_no_memory(err, NULL, "for a picture");
    p->methods = f->methods;
    attn_collect_start(&p->collect, job, p->methods->next && !job->gradient);
    int rc = attn_look_make(&p->look, &job->picture, err);
    p->look.width = job->width;
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
    int rc = attn_album_link(&p->collect.album, err);
    if (!rc)
        rc = p->methods->draw(p->out, &p->collect.album, &p->look, err);
    return rc ? rc : attn_out_commit(p->out, err);
}

#define METHODS .open = picture_open, .wants = picture_wants, .watch = picture_watch, .finish = picture_finish, \
                .close = picture_close

const struct attn_sink_methods attn_term_methods = {METHODS, .draw = attn_term_write};
const struct attn_sink_methods attn_png_methods = {METHODS, .draw = attn_png_write};
const struct attn_sink_methods attn_svg_methods = {METHODS, .draw = attn_svg_write};
const struct attn_sink_methods attn_html_methods = {METHODS, .draw = attn_html_write, .next = true};

#include "sinks/collect.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "sinks/next.h"
#include "sinks/piece.h"

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
    unsigned wants = attn_piece_wants(c->job->select, act, layer, false);
    if (act == ATTN_ACT_LOGITS && c->next && c->job->model->unembed && !wants)
        wants = ATTN_WATCH | ATTN_LAST;
    return wants;
}

static int begin(struct attn_collect *c, const struct attn_piece *p, struct attn_err *err)
{
    int act = p->of->act;
    const char *note = c->job->kind.note;
    snprintf(c->title[act], sizeof c->title[act], "%s%s", attn_act_title(act), note ? note : "");
    struct attn_sheet sheet = {
        .kind = attn_act_tail(act), .title = c->title[act], .axes = attn_act_axes(act), .layer = p->of->layer, .n = p->matrices, .rows = p->T,
        .cols = p->cols, .heads = p->n_kept ? p->kept : NULL, .keys = attn_act_square(act),
        .of_keys = attn_act_kv(act)};
    return attn_album_add(&c->album, &sheet, &c->band[act], err);
}

static int add_piece(struct attn_collect *c, const struct attn_piece *p, struct attn_err *err)
{
    int rc = attn_piece_opens(p) ? begin(c, p, err) : ATTN_OK;
    if (rc)
        return rc;
    float *to = c->band[p->of->act] + (p->nth * p->T + p->row0) * p->cols;
    for (size_t i = 0; i < p->rows; i++)
        memcpy(to + i * p->cols, attn_piece_row(p, i), p->cols * sizeof *to);
    return ATTN_OK;
}

static void add_next(struct attn_collect *c, const struct attn_probe *p)
{
    struct attn_next next;
    attn_next_find(&next, p->data + (p->rows - 1) * p->ld, p->cols);
    c->album.n_next = next.n;
    if (!next.n)
        attn_next_why(c->album.no_next, &next);
    for (size_t i = 0; i < next.n; i++) {
        size_t len = 0;
        const char *text = c->job->token_text ? c->job->token_text(c->job->token_ctx, next.best[i].id, &len) : NULL;
        c->album.next[i] = (struct attn_album_next){text, len, next.best[i].id, next.best[i].p};
    }
}

int attn_collect_watch(struct attn_collect *c, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_piece p;
    int rc = ATTN_OK;
    if (c->next && probe->act == ATTN_ACT_LOGITS && probe->row0 + probe->rows == probe->shape[0])
        add_next(c, probe);
    for (size_t at = 0; !rc && attn_piece_next(&p, c->job->select, probe, &at);)
        rc = add_piece(c, &p, err);
    return rc;
}

/* picture.c - formats that are pictures: numbers are collected while the model runs, and drawn when it is done. */
#include <stdlib.h>

#include "base/err.h"
#include "base/out.h"
#include "picture/html.h"
#include "picture/png.h"
#include "picture/svg.h"
#include "picture/term.h"
#include "sinks/collect.h"

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
        return attn_fail(err, ATTN_ENOMEM, "no memory for a picture");
    p->methods = f->methods;
    attn_collect_start(&p->collect, job, p->methods->next);
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

#define METHODS .open = picture_open, .wants = picture_wants, .watch = picture_watch, .finish = picture_finish, .close = picture_close

const struct attn_sink_methods attn_term_methods = {METHODS, .draw = attn_term_write};
const struct attn_sink_methods attn_png_methods = {METHODS, .draw = attn_png_write};
const struct attn_sink_methods attn_svg_methods = {METHODS, .draw = attn_svg_write};
const struct attn_sink_methods attn_html_methods = {METHODS, .draw = attn_html_write, .next = true};

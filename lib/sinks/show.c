/* show.c - the public functions for selections and sinks: checks options and opens the sink of a format. */
#include "attn.h"

#include "base/cpu.h"
#include "base/err.h"
#include "compute/vec.h"
#include "run/kind.h"
#include "model/model.h"
#include "sinks/sink.h"
#include "trace/select.h"
#include "trace/trace.h"

#include <stdlib.h>

enum { PRECISION_MAX = 17 };            /* 17 digits tell any two doubles apart */

struct attn_sink {
    const struct attn_format *format;
    void *self;
    struct attn_sink_job job;           /* it borrows from the members here */
    struct attn_info info;
    struct attn_team *team;
    char digest[80];
    struct attn_kind_words kind;
};

int attn_select_new(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind, const char *show,
                    const char *layers, const char *heads, struct attn_err *err)
{
    static const struct attn_kind own;
    struct attn_stage stage = attn_model_stage(m, kind ? kind : &own);
    struct attn_select *otherwise;
    int rc = attn_select_make(out, &stage, m->source.name, show, layers, heads, err);
    if (rc != ATTN_EFORMAT || attn_select_make(&otherwise, &m->stage, m->source.name, show, layers, heads, NULL))
        return rc;
    attn_select_free(otherwise);
    return attn_fail(err, rc, "--show: linear attention has neither dots nor scores, only a pattern");
}

static const char *token_text(void *tokenizer, int32_t id, size_t *len)
{
    return attn_tokenizer_text(tokenizer, id, len);
}

static int open_sink(struct attn_sink *s, const struct attn_sink_opts *o, struct attn_err *err)
{
    s->format = attn_format_find(o->format ? o->format : "text");
    if (!s->format)
        return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of %s", o->format, attn_format_list());
    if (o->precision < 0 || o->precision > PRECISION_MAX)
        return attn_fail(err, ATTN_EUSAGE, "%d digits after the point, expected 0 to %d", o->precision, PRECISION_MAX);
    if (s->format->digest) {
        int rc = attn_model_digest(o->model, false, s->digest, err);
        if (rc)
            return rc;
    }
    int rc = attn_team_new(&s->team, o->threads > 0 ? o->threads : attn_cpu_count(), err);
    if (rc)
        return rc;
    attn_model_info(o->model, &s->info);
    attn_kind_say(&s->kind, &o->kind);
    s->job = (struct attn_sink_job){
        .model = &s->info, .digest = s->digest, .cpu = attn_vec_target(), .select = o->select, .tokens = o->tokens,
        .text = o->text, .text_len = o->text_len, .cross = o->cross, .cross_text = o->cross_text, .cross_len = o->cross_len,
        .command = o->command, .kind = s->kind.of, .path = o->path, .team = s->team,
        .precision = o->precision, .width = o->width > 0 ? o->width : 0, .limit = o->limit, .color = o->color, .picture = o->picture,
        .token_text = o->tokenizer ? token_text : NULL, .token_ctx = (void *)o->tokenizer};
    return s->format->open(&s->self, &s->job, err);
}

int attn_sink_open(struct attn_sink **out, const struct attn_sink_opts *o, struct attn_err *err)
{
    *out = NULL;
    struct attn_sink *s = calloc(1, sizeof *s);
    if (!s)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for the output");
    int rc = open_sink(s, o, err);
    if (rc) {
        attn_sink_close(s);
        return rc;
    }
    *out = s;
    return ATTN_OK;
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_sink *s = self;
    return s->format->wants(s->self, act, layer);
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct attn_sink *s = self;
    int rc = attn_team_check(s->team, "this sink", err);
    return !rc && attn_trace_is_shown(p, s->job.cross) ? s->format->watch(s->self, p, err) : rc;
}

struct attn_observer attn_sink_observer(struct attn_sink *s)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = s};
}

int attn_sink_finish(struct attn_sink *s, struct attn_err *err)
{
    int rc = attn_team_check(s->team, "this sink", err);
    return rc ? rc : s->format->finish(s->self, err);
}

const char *attn_sink_note(const struct attn_sink *s)
{
    return s->format->note ? s->format->note(s->self) : NULL;
}

void attn_sink_close(struct attn_sink *s)
{
    if (!s)
        return;
    if (s->format)
        s->format->close(s->self);
    attn_team_free(s->team);
    free(s);
}

#include "sinks/sink.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "compute/vec.h"
#include "model/model.h"
#include "sinks/merge_words.h"
#include "text/whole_words.h"
#include "trace/trace.h"

/* ---- a public sink --------------------------------------------------------------------- */

struct attn_sink {
    const struct attn_format *format;
    const struct attn_sink_methods *methods;
    void *self;
    struct attn_sink_job job;           /* it borrows from the members here */
    struct attn_info info;
    struct attn_team *team;
    char digest[80];
    struct attn_kind_words kind;
    const struct attn_tokenizer *tokenizer;
    const struct attn_labels *labels;   /* in its place; NULL: none */
    char note[ATTN_KIND_NOTE + 160];    /* the kind's, and what is shown in place of activations */
    struct attn_words rows, keys;
    struct attn_merger *merger;         /* NULL: tokens are shown as they are */
    struct attn_album_live *live;
    bool still;                         /* a page that should compute cannot */
    bool finished;
};

static const char *token_text(void *self, int32_t id, size_t *len)
{
    const struct attn_sink *s = self;
    return s->labels ? attn_labels_text(s->labels, id, len) : attn_tokenizer_text(s->tokenizer, id, len);
}

static int find_format(const struct attn_format **out, const char *name, struct attn_err *err)
{
    char list[ATTN_FORMAT_LIST];
    *out = attn_format_find(name);
    if (*out && attn_format_methods(*out))
        return ATTN_OK;
    *out = NULL;
    return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of %s", name,
                     attn_format_list(list, ATTN_FORMAT_RUN | ATTN_FORMAT_LINES));
}

void attn_sink_gradient_note(char note[ATTN_GRADIENT_NOTE], const struct attn_sink_gradient *g,
                             const struct attn_language *l)
{
    snprintf(note, ATTN_GRADIENT_NOTE, g->times ? attn_tr(l, ", gradient of %.100s times activation")
             : attn_tr(l, ", gradient of %.100s"), g->metric);
}

/* Titles say that gradients are shown, and of what. */
static void add_note(struct attn_sink *s, const struct attn_sink_gradient *g)
{
    char note[ATTN_GRADIENT_NOTE];
    attn_sink_gradient_note(note, g, NULL);
    snprintf(s->note, sizeof s->note, "%s%s", note, s->kind.of.note ? s->kind.of.note : "");
    s->kind.of.note = s->note;
}

/* ---- words ---- */

static int check_words(const struct attn_sink *s, const struct attn_sink_opts *o, struct attn_err *err)
{
    char name[ATTN_ACT_TEXT];
    if (o->gradient)
        return attn_fail(err, ATTN_EUSAGE,
                         "--words merges weights, and a gradient is none: leave --words or --gradient out");
    if (o->tokens->n && !o->tokens->tok[0].known)
        return attn_fail(err, ATTN_EUSAGE, "--words needs the texts of tokens, and these are ids: give a text, or name "
                                           "them with --labels");
    for (int layer = -1; layer < (int)s->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++)
            if (attn_select_wants(o->select, act, layer) && !attn_merger_takes(act) && !s->methods->merges)
                return attn_fail(err, ATTN_EUSAGE,
                                 "--words merges pattern, rollout and context: %s means nothing when it is added up "
                                 "over the tokens of a word: leave it, or --words, out", attn_act_text(name, act));
    return ATTN_OK;
}

/* From here on a format sees words in place of tokens. */
static int merge_words(struct attn_sink *s, const struct attn_sink_opts *o, struct attn_err *err)
{
    int rc = check_words(s, o, err);
    s->job.words = true;
    if (rc || s->methods->merges)
        return rc;
    rc = attn_words_make(&s->rows, o->tokens, o->text, o->text_len, err);
    if (!rc && o->cross)
        rc = attn_words_make(&s->keys, o->cross, o->cross_text, o->cross_len, err);
    if (rc)
        return rc;
    s->job.tokens = &s->rows.tokens;
    s->job.cross = o->cross ? &s->keys.tokens : NULL;
    s->job.rows = &s->rows;
    s->job.keys = o->cross ? &s->keys : &s->rows;
    return attn_merger_new(&s->merger, s->job.rows, s->job.keys, err);
}

/* Whether more than a third of the tokens are parts of characters, which a known text puts together. */
static bool are_parts(const struct attn_tokens *t, const char *text)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->tok[i].parts > 0;
    return text && 3 * n > t->n;
}

static bool joins(const struct attn_sink *s, const struct attn_sink_opts *o)
{
    struct attn_err none;
    return s->methods->joins && !o->words && are_parts(o->tokens, o->text) && !check_words(s, o, &none);
}

static int make_live(struct attn_sink *s, const struct attn_sink_opts *o, struct attn_err *err)
{
    if (!s->methods->live)
        return attn_fail(err, ATTN_EUSAGE, "only a page (html) can compute, not %s",
                         s->format->name);
    if (o->bf16)
        return attn_fail(err, ATTN_EUSAGE, "a page that computes does so in float32: leave --compute bf16 out, or "
                         "take a page that is still");
    int rc = s->methods->live(&s->live, &s->job, o->tokenizer, err);
    s->job.live = s->live;
    s->still = !s->live;
    return rc;
}

static int open_sink(struct attn_sink *s, const struct attn_sink_opts *o, struct attn_err *err)
{
    const char *lang = o->lang ? o->lang : o->picture.lang;
    const struct attn_language *language = NULL;
    int rc = find_format(&s->format, o->format ? o->format : "text", err);
    if (rc)
        return rc;
    s->methods = attn_format_methods(s->format);
    if (o->precision < 0 || o->precision > ATTN_PRECISION_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%d digits after the point, expected 0 to %d", o->precision,
                         ATTN_PRECISION_MOST);
    if (lang)
        rc = attn_language_choose(&language, lang, err);
    if (!rc && s->format->flags & ATTN_FORMAT_DIGEST)
        rc = attn_model_digest(o->model, false, s->digest, err);
    if (!rc)
        rc = attn_team_new(&s->team, o->threads, err);
    if (rc)
        return rc;
    s->tokenizer = o->tokenizer;
    s->labels = o->labels && attn_labels_by_id(o->labels) ? o->labels : NULL;
    attn_model_info(o->model, &s->info);
    attn_kind_say(&s->kind, &o->kind);
    const bool joined = joins(s, o), words = o->words || joined;
    if (o->gradient)
        add_note(s, o->gradient);
    else if (words && !s->methods->merges) {
        snprintf(s->note, sizeof s->note, ", of words%s", s->kind.of.note ? s->kind.of.note : "");
        s->kind.of.note = s->note;
    }
    s->job = (struct attn_sink_job){
        .model = &s->info, .of = o->model, .attention = o->kind, .hints = o->hints, .language = language,
        .digest = s->digest, .cpu = o->bf16 ? attn_cpu_target() : attn_vec_target(), .select = o->select,
        .tokens = o->tokens, .pieces = o->tokens, .context_pieces = o->cross,
        .text = o->text, .text_len = o->text_len, .cross = o->cross, .cross_text = o->cross_text,
        .cross_len = o->cross_len,
        .command = o->command, .kind = s->kind.of, .gradient = o->gradient, .edits = o->edits,
        .compare = o->compare, .ablated = o->ablated, .n_ablated = o->n_ablated, .path = o->path, .team = s->team,
        .precision = o->precision, .width = o->width > 0 ? o->width : 0, 
        .limit = o->limit, .color = o->color, .csv_safe = o->csv_safe,
        .picture = o->picture, .token_text = s->tokenizer || s->labels ? token_text : NULL, .token_ctx = s};
    s->job.joined = joined;
    s->job.picture.lang = lang;
    if (words)
        rc = merge_words(s, o, err);
    if (!rc && o->live)
        rc = make_live(s, o, err);
    return rc ? rc : s->methods->open(&s->self, s->format, &s->job, err);
}

int attn_sink_open(struct attn_sink **out, const struct attn_sink_opts *o, struct attn_err *err)
{
    *out = NULL;
    struct attn_sink *s = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for the output");
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
    return s->methods->wants(s->self, act, layer);
}

/* Logits are not merged: they are what comes next. */
static int watch_words(const struct attn_sink *s, const struct attn_probe *p, struct attn_err *err)
{
    const struct attn_sink_methods *m = s->methods;
    struct attn_probe merged = *p;
    bool any = true;
    int rc = m->pieces ? m->pieces(s->self, p, err) : ATTN_OK;
    if (!rc && attn_merger_takes(p->act))
        rc = attn_merger_add(s->merger, &merged, &any, p, err);
    return rc || !any ? rc : m->watch(s->self, &merged, err);
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct attn_sink *s = self;
    int rc = attn_team_check(s->team, "this sink", err);
    if (rc || !attn_trace_is_shown(p, s->job.cross))
        return rc;
    const bool other = s->job.context_pieces && attn_act_of_keys(p->act);
    const struct attn_tokens *of = other ? s->job.context_pieces : s->job.pieces;
    if (p->shape[p->ndim - 2] != of->n)
        return attn_fail(err, ATTN_EUSAGE, "an output of %zu tokens is shown a run of %zu: it takes one pass over all "
                                           "of them", of->n,
                         p->shape[p->ndim - 2]);
    return s->merger ? watch_words(s, p, err) : s->methods->watch(s->self, p, err);
}

struct attn_observer attn_sink_observer(struct attn_sink *s)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = s};
}

int attn_sink_finish(struct attn_sink *s, struct attn_err *err)
{
    int rc = attn_team_check(s->team, "this sink", err);
    if (!rc && s->finished)
        rc = attn_fail(err, ATTN_EUSAGE, "this output is finished already");
    s->finished = true;
    return rc ? rc : s->methods->finish(s->self, err);
}

const char *attn_sink_note(const struct attn_sink *s)
{
    if (s->still)
        return "this build has no page engine: make engine";
    return s->methods->note ? s->methods->note(s->self) : NULL;
}

void attn_sink_close(struct attn_sink *s)
{
    if (!s)
        return;
    if (s->methods) {
        s->methods->close(s->self);
        if (s->live)
            s->methods->live_free(s->live);
    }
    attn_merger_free(s->merger);
    attn_words_free(&s->rows);
    attn_words_free(&s->keys);
    attn_team_free(s->team);
    free(s);
}

/* ---- what sinks share ------------------------------------------------------------------ */

int attn_sink_stream(struct attn_out **out, const struct attn_sink_job *job, struct attn_err *err)
{
    *out = job->to;
    return job->to ? ATTN_OK : attn_out_open(out, job->path, err);
}

int attn_sink_stream_end(struct attn_out *out, const struct attn_sink_job *job, struct attn_err *err)
{
    return job->to ? ATTN_OK : attn_out_commit(out, err);
}

void attn_sink_stream_close(struct attn_out *out, const struct attn_sink_job *job)
{
    if (!job->to)
        attn_out_close(out);
}

const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job)
{
    return job->cross ? job->cross : job->tokens;
}

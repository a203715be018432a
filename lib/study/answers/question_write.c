/* question_write.c - one call for one question whose answer is a document: what a command writes. */
#include "answers/question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answers.h"
#include "answers/heads.h"
#include "base/err.h"
#include "base/strings.h"

/* What is written, and to where: `to`, unless it is NULL. */
struct writing { struct attn_asked_of *a; const struct attn_answer_opts *o; const char *path; struct attn_out *to; };

static const char *text_of(const struct writing *w) { return w->a->q->text.text; }
static size_t length_of(const struct writing *w) { return attn_input_length(&w->a->q->text); }

/* ---- run --------------------------------------------------------------------------------- */

/* What the edits did to the next token, where there is one to predict. */
static int compare_before(struct attn_compare **out, const struct writing *w, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    struct attn_info info;
    attn_model_info(a->q->model, &info);
    if (!a->edits || !info.unembed)
        return ATTN_OK;
    int rc = attn_compare_new(out, a->q->model, err);
    struct attn_observer before = *out ? attn_compare_before(*out) : (struct attn_observer){0};
    return rc ? rc : attn_run_tokens(a->q->model, &a->plan, a->tokens, a->cross, &before, 1, err);
}

static int run_into(struct attn_sink *s, struct attn_compare *compare, const struct writing *w, struct attn_err *err)
{
    struct attn_asked_of *a = w->a;
    size_t n = a->n;
    a->observers[n++] = attn_sink_observer(s);
    if (compare)
        a->observers[n++] = attn_compare_after(compare);
    int rc = attn_run_tokens(a->q->model, &a->plan, a->tokens, a->cross, a->observers, n, err);
    return rc ? rc : attn_sink_finish(s, err);
}

static int write_run(const struct writing *w, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    const struct attn_answer_opts *o = w->o;
    struct attn_select *select = NULL;
    struct attn_compare *compare = NULL;
    struct attn_sink *sink = NULL;
    int rc = attn_run_check_tokens(a->q->model, a->tokens, a->cross, err);
    if (!rc)
        rc = attn_select_new(&select, a->q->model, &a->plan.kind, o->show, o->layers, o->heads, err);
    if (!rc)
        rc = compare_before(&compare, w, err);
    const struct attn_sink_opts opts = {
        .format = o->format, .path = w->path, .model = a->q->model, .select = select, .tokens = a->tokens,
        .text = text_of(w), .text_len = length_of(w), .cross = a->cross, .cross_text = a->q->cross.text,
        .cross_len = attn_input_length(&a->q->cross), .tokenizer = a->tokenizer, .command = "", .kind = a->plan.kind,
        .edits = a->edits, .compare = compare, .threads = a->plan.threads, .precision = o->precision,
        .bf16 = a->plan.bf16, .picture = o->picture, .words = o->words};
    if (!rc)
        rc = attn_sink_open(&sink, &opts, err);
    if (!rc)
        rc = run_into(sink, compare, w, err);
    attn_sink_close(sink);
    attn_compare_free(compare);
    attn_select_free(select);
    return rc;
}

/* ---- what the residual stream says ------------------------------------------------------- */

static int read_token(int32_t *id, const char *text, const struct writing *w, struct attn_err *err)
{
    return text ? attn_token_parse(id, text, w->a->q->model, w->a->tokenizer, err) : ATTN_OK;
}

static int write_lens(const struct writing *w, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    const struct attn_answer_opts *o = w->o;
    int32_t target;
    int rc = read_token(&target, o->target, w, err);
    const struct attn_lens_opts opts = {
        .tokenizer = a->tokenizer, .text = text_of(w), .text_len = length_of(w), .target = o->target ? &target : NULL,
        .top = o->top, .all = o->all, .format = o->format, .path = w->path, .picture = o->picture,
        .threads = a->plan.threads, .bf16 = a->plan.bf16, .kind = a->plan.kind, .observers = a->observers,
        .n_observers = a->n, .edits = a->edits};
    return rc ? rc : attn_lens_into(w->to, a->q->model, a->tokens, &opts, err);
}

static int write_attribute(const struct writing *w, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    const struct attn_answer_opts *o = w->o;
    int32_t target = -1, foil;
    if (!o->target)
        return attn_fail(err, ATTN_EUSAGE, "attribute: target is missing: which token's logit is to be taken apart?");
    if (a->plan.bf16)
        return attn_fail(err, ATTN_EUSAGE, "attribute: compute=bf16 does not go with attribution: rounded products do "
                                           "not add up to the logit");
    int rc = read_token(&target, o->target, w, err);
    if (!rc)
        rc = read_token(&foil, o->foil, w, err);
    const struct attn_attribute_opts opts = {
        .tokenizer = a->tokenizer, .text = text_of(w), .text_len = length_of(w), .target = target,
        .foil = o->foil ? &foil : NULL, .pos = o->pos, .neurons = o->neurons, .top = o->top,
        .layers = o->layers, .heads = o->heads, .format = o->format,
        .path = w->path, .threads = a->plan.threads, .kind = a->plan.kind, .observers = a->observers,
        .n_observers = a->n, .edits = a->edits};
    return rc ? rc : attn_attribute_into(w->to, a->q->model, a->tokens, &opts, err);
}

/* ---- heads ------------------------------------------------------------------------------- */

struct texts {
    struct attn_repeated repeated; size_t *T, n; const int32_t *ids;
    struct attn_labels *labels;         /* what the ids of a text read */
    char about[160];
};

/* Without a text, random ids twice. */
static int find_texts(struct texts *t, const struct writing *w, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    const struct attn_repeat_opts o = {.tokenizer = a->tokenizer, .bos = a->q->encode.bos, .n = w->o->repeat,
                                       .texts = w->o->samples, .seed = w->o->seed};
    int rc = a->tokens ? ATTN_OK : attn_repeat(&t->repeated, a->q->model, &o, err);
    if (rc)
        return rc;
    t->n = a->tokens ? 1 : t->repeated.texts;
    t->ids = a->tokens ? a->ids : t->repeated.ids;
    t->T = calloc(t->n, sizeof *t->T);
    if (!t->T)
        return attn_no_memory(err, NULL, "for %zu texts", t->n);
    for (size_t i = 0; i < t->n; i++)
        t->T[i] = a->tokens ? a->tokens->n : t->repeated.T;
    if (!a->tokens)
        snprintf(t->about, sizeof t->about, "%zu random ids, twice (seed %" PRIu64 ")", t->repeated.n, w->o->seed);
    else if (text_of(w))
        snprintf(t->about, sizeof t->about, "%.*s", attn_shown_of(text_of(w), length_of(w), sizeof t->about - 1),
                 text_of(w));
    return a->tokens && a->tokenizer ? attn_labels_new(&t->labels, a->tokenizer, err) : ATTN_OK;
}

static int rank(const struct writing *w, const struct texts *t, struct attn_err *err)
{
    const struct attn_asked_of *a = w->a;
    const struct attn_answer_opts *o = w->o;
    struct attn_select *select = NULL;
    struct attn_heads_state state;
    int rc = attn_select_new(&select, a->q->model, &a->plan.kind, "pattern", o->layers, o->heads, err);
    const struct attn_batch_opts over = {.model = a->q->model, .select = select,
                                         .labels = t->labels, .encode = a->q->encode, .edits = a->edits,
                                         .from = a->from, .plan = a->plan};
    const struct attn_heads_opts opts = {
        .over = &over, .ids = t->ids, .T = t->T, .texts = t->n, .copying = o->copying, .by = o->by, .top = o->top,
        .format = o->format, .path = w->path, .about = *t->about ? t->about : NULL, .picture = o->picture,
        .repeat = t->repeated.n};
    if (!rc)
        rc = attn_heads_into(w->to, &state, &opts, err);
    attn_select_free(select);
    return rc;
}

static int write_heads(const struct writing *w, struct attn_err *err)
{
    struct texts t = {.n = 0};
    if (w->a->q->n_observers)
        return attn_fail(err, ATTN_EUSAGE, "heads: its runs take no observers");
    if (w->a->cross)
        return attn_fail(err, ATTN_EUSAGE, "heads: scores compare a text with itself, expected no cross");
    if (w->a->tokens && (w->o->repeat || w->o->samples || w->o->seed))
        return attn_fail(err, ATTN_EUSAGE, "heads: repeat, samples and seed are for random texts, and a text is given");
    int rc = find_texts(&t, w, err);
    if (!rc)
        rc = rank(w, &t, err);
    attn_labels_free(t.labels);
    free(t.repeated.ids);
    free(t.T);
    return rc;
}

/* ---- patching ---------------------------------------------------------------------------- */

static int write_patch(const struct writing *w, struct attn_err *err)
{
    struct attn_asked_of *a = w->a;
    const struct attn_answer_opts *o = w->o;
    struct attn_patch *patch = NULL;
    const struct attn_patch_opts ask = {.what = o->what, .over = o->over, .method = o->method};
    struct attn_patch_report_opts opts = {
        .format = o->format, .path = w->path, .model = a->q->model, .tokens = a->tokens, .from = a->from,
        .text = text_of(w), .text_len = length_of(w), .from_text = a->q->from.text,
        .from_len = attn_input_length(&a->q->from), .what = o->what, .method = o->method ? o->method : "exact",
        .metric = o->metric, .edits = a->edits, .kind = a->plan.kind, .precision = o->precision,
        .picture = o->picture};
    if (!opts.picture.palette)
        opts.picture.palette = "balance";                   /* effects have signs */
    int rc = attn_asked_patch(&patch, a, &ask, o->metric, err);
    if (!rc)
        rc = attn_patch_write_into(w->to, patch, &opts, err);
    attn_patch_free(patch);
    return rc;
}

/* ---- all of them ------------------------------------------------------------------------- */

static const struct document {
    const char *name;
    unsigned of;
    enum attn_asked_text how;
    int (*write)(const struct writing *w, struct attn_err *err);
} documents[] = {
    {"run", ATTN_OF_RUN, ATTN_ASKED_TEXT, write_run},
    {"lens", ATTN_OF_LENS, ATTN_ASKED_TEXT, write_lens},
    {"attribute", ATTN_OF_ATTRIBUTE, ATTN_ASKED_TEXT, write_attribute},
    {"heads", ATTN_OF_HEADS, ATTN_ASKED_ANY, write_heads},
    {"patch", ATTN_OF_PATCH, ATTN_ASKED_TEXT, write_patch},
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static const struct document *find(const char *name)
{
    for (size_t i = 0; i < DOCUMENTS; i++)
        if (!strcmp(documents[i].name, name))
            return &documents[i];
    return NULL;
}

static int unknown(const char *name, struct attn_err *err)
{
    char list[80] = "";
    for (size_t i = 0; i < DOCUMENTS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", documents[i].name);
    return attn_fail(err, ATTN_EUSAGE, "there is no answer '%.*s', expected one of %s", attn_shown(name, strlen(name)),
                     name, list);
}

static int answer(const struct document *d, const struct attn_question *q, const struct attn_answer_opts *o,
                  struct attn_out *to, const char *path, struct attn_err *err)
{
    struct attn_asked_of a;
    int rc = attn_asked_open(&a, q, d->how, err);
    if (!rc)
        rc = attn_asked_tokenizer(&a, true, err);
    if (!rc)
        rc = d->write(&(struct writing){&a, o, path, to}, err);
    attn_asked_close(&a);
    return rc;
}

static int write_to(struct attn_out *to, const char *path, const struct attn_question *q, const char *what,
                    const char *const *options, struct attn_err *err)
{
    const struct document *d = find(what);
    struct attn_answer_opts o = {0};
    if (!d)
        return unknown(what, err);
    int rc = attn_answer_read(&o, options, d->of, d->name, err);
    if (!o.format)
        o.format = "json";
    if (!rc && to && d->write == write_run)
        rc = attn_fail(err, ATTN_EUSAGE, "run: its formats are files of their own");
    return rc ? rc : answer(d, q, &o, to, path, err);
}

int attn_ask_write(const struct attn_question *q, const char *what, const char *const *options, const char *path,
                   struct attn_err *err)
{
    return write_to(NULL, path, q, what, options, err);
}

int attn_ask_write_to(struct attn_out *to, const struct attn_question *q, const char *what, const char *const *options,
                      struct attn_err *err)
{
    return write_to(to, NULL, q, what, options, err);
}

const char *attn_answer_document(size_t i, unsigned *of)
{
    for (size_t k = 0; k < DOCUMENTS; k++)
        if (documents[k].write != write_run && !i--) {
            *of = documents[k].of;
            return documents[k].name;
        }
    return NULL;
}

int attn_dump_draw(const struct attn_dump *d, const char *const *options, const char *path, struct attn_err *err)
{
    struct attn_answer_opts o = {0};
    int rc = attn_answer_read(&o, options, ATTN_OF_PLOT, "plot", err);
    const struct attn_format *by_path = attn_format_of_path(path);
    if (rc)
        return rc;
    const struct attn_plot_opts opts = {
        .format = o.format ? o.format : by_path ? by_path->name : "svg", .path = path, .title = o.picture.title,
        .show = o.show, .layers = o.layers, .heads = o.heads, .picture = o.picture, .words = o.words};
    return attn_plot(d, &opts, err);
}

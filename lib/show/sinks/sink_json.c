#include "sinks/hide.h"
#include "sinks/sink_json.h"
#include "sinks/tensor_sheet.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "text/whole_words.h"

void attn_doc_string(struct attn_out *o, const char *s)
{
    if (s)
        attn_out_json(o, s, strlen(s));
    else
        attn_out_str(o, "null");
}

void attn_doc_index(struct attn_out *o, int i)
{
    if (i < 0)
        attn_out_str(o, "null");
    else
        attn_out_u64(o, (uint64_t)i);
}

void attn_doc_sizes(struct attn_out *o, const size_t *list, size_t n)
{
    attn_out_char(o, '[');
    for (size_t i = 0; i < n; i++) {
        attn_out_str(o, i ? "," : "");
        attn_out_u64(o, list[i]);
    }
    attn_out_char(o, ']');
}

void attn_doc_model(struct attn_out *o, const struct attn_sink_job *job)
{
    attn_out_str(o, "{\"name\":");
    attn_doc_string(o, job->model->name);
    attn_out_str(o, ",\"family\":");
    attn_doc_string(o, job->model->family);
    attn_out_str(o, ",\"digest\":");
    attn_doc_string(o, job->digest);
    attn_out_char(o, '}');
}

void attn_doc_mask(struct attn_out *o, const struct attn_sink_job *job, int act, int layer)
{
    char mask[ATTN_KIND_TEXT];
    if (!*attn_sink_masked_text(mask, job, act, layer))
        return;
    attn_out_str(o, ",\"mask\":");
    attn_doc_string(o, mask);
}

void attn_doc_kind(struct attn_out *o, const struct attn_sink_kind *k, const char *between)
{
    if (k->attention) {
        attn_out_printf(o, ",%s\"attention\":", between);
        attn_doc_string(o, k->attention);
    }
    if (k->scale) {
        attn_out_printf(o, ",%s\"scale\":", between);
        if (strchr("ns", *k->scale))
            attn_doc_string(o, k->scale);
        else
            attn_out_str(o, k->scale);
    }
    if (k->dropout <= 0)
        return;
    attn_out_printf(o, ",%s\"dropout\":", between);
    attn_out_f64(o, k->dropout);
    attn_out_printf(o, ",%s\"seed\":", between);
    attn_out_u64(o, k->seed);
}

void attn_doc_edits(struct attn_out *o, const struct attn_edits *edits, const char *between)
{
    if (!attn_edits_count(edits))
        return;
    attn_out_printf(o, ",%s\"edits\":[", between);
    for (size_t i = 0; i < attn_edits_count(edits); i++) {
        attn_out_str(o, i ? "," : "");
        attn_doc_string(o, attn_edits_text(edits, i));
    }
    attn_out_char(o, ']');
}

static void write_token(struct attn_out *o, const struct attn_token *t)
{
    attn_out_str(o, "{\"id\":");
    attn_doc_index(o, t->id);
    if (!t->known) {
        attn_out_str(o, ",\"text\":null,\"raw\":null,\"start\":null,\"end\":null}");
        return;
    }
    attn_out_str(o, ",\"text\":");
    attn_out_json(o, t->text, t->text_len);
    attn_out_str(o, ",\"raw\":");
    attn_out_json(o, t->raw, t->raw_len);
    if (t->named) {
        attn_out_str(o, ",\"start\":null,\"end\":null}");
        return;
    }
    attn_out_str(o, ",\"start\":");
    attn_out_u64(o, t->start);
    attn_out_str(o, ",\"end\":");
    attn_out_u64(o, t->end);
    attn_out_char(o, '}');
}

void attn_doc_tokens(struct attn_out *o, const struct attn_tokens *t, const char *eol)
{
    attn_out_char(o, '[');
    for (size_t i = 0; i < t->n; i++) {
        attn_out_str(o, i ? "," : "");
        attn_out_str(o, eol);
        write_token(o, &t->tok[i]);
    }
    attn_out_str(o, eol);
    attn_out_char(o, ']');
}

/* How the tokens of a text make its words: their ids, and the first of each word. */
static void put_words(struct attn_out *o, const char *key, const struct attn_words *w, const struct attn_tokens *t,
                      const char *between)
{
    attn_out_printf(o, ",%s\"%s\":{\"ids\":[", between, key);
    for (size_t i = 0; i < t->n; i++) {
        attn_out_str(o, i ? "," : "");
        attn_out_u64(o, (uint64_t)t->tok[i].id);
    }
    attn_out_str(o, "],\"first\":");
    attn_doc_sizes(o, w->first, w->n);
    attn_out_char(o, '}');
}

void attn_doc_words(struct attn_out *o, const struct attn_sink_job *job, const char *between)
{
    if (job->rows)
        put_words(o, "words", job->rows, job->pieces, between);
    if (job->rows && job->cross)
        put_words(o, "context_words", job->keys, job->context_pieces, between);
}

static void member(struct attn_out *o, const char *key, const char *eol)
{
    attn_out_char(o, ',');
    attn_out_str(o, eol);
    attn_doc_string(o, key);
    attn_out_char(o, ':');
}

static void write_id(struct attn_out *o, const struct attn_record *r)
{
    if (r->id && !r->id_is_number)
        attn_out_json(o, r->id, r->id_len);
    else
        attn_out_write(o, r->id ? r->id : "null", r->id ? r->id_len : strlen("null"));
}

/* The members that only documents of a batch have. */
static void write_record(struct attn_out *o, const struct attn_sink_record *r, const char *eol)
{
    attn_out_str(o, "\"record\":");
    attn_out_u64(o, r->of->number);
    member(o, "line", eol);
    attn_out_u64(o, r->of->line);
    member(o, "id", eol);
    write_id(o, r->of);
    member(o, "key", eol);
    attn_doc_string(o, r->key);
    attn_out_char(o, ',');
    attn_out_str(o, eol);
}

static void sentence(struct attn_out *o, const char *text, size_t len)
{
    if (text)
        attn_out_json(o, text, len);
    else
        attn_out_str(o, "null");
}

/* from the opening brace to "text" */
static void doc_head(struct attn_out *o, const struct attn_sink_job *job, const char *eol)
{
    attn_out_char(o, '{');
    if (job->record)
        write_record(o, job->record, eol);
    attn_out_printf(o, "\"version\":\"%s\"", attn_version());
    member(o, "model", eol);
    attn_doc_model(o, job);
    member(o, "text", eol);
    sentence(o, job->text, job->text_len);
}

void attn_doc_opening(struct attn_out *o, const struct attn_sink_job *job, const char *eol)
{
    doc_head(o, job, eol);
    attn_doc_kind(o, &job->kind, eol);
    member(o, "tokens", eol);
    attn_doc_tokens(o, job->tokens, eol);
    attn_doc_edits(o, job->edits, eol);
}

static void other_text(struct attn_doc *d)
{
    member(d->out, "context_text", d->eol);
    sentence(d->out, d->job->cross_text, d->job->cross_len);
    member(d->out, "context_tokens", d->eol);
    attn_doc_tokens(d->out, d->job->cross, d->eol);
}

static void gradient(struct attn_doc *d)
{
    const struct attn_sink_gradient *g = d->job->gradient;
    member(d->out, "gradient", d->eol);
    attn_doc_string(d->out, g->metric);
    member(d->out, "value", d->eol);
    attn_out_f64(d->out, g->value);
    member(d->out, "times", d->eol);
    attn_out_str(d->out, g->times ? "true" : "false");
}

void attn_doc_begin(struct attn_doc *d)
{
    doc_head(d->out, d->job, d->eol);
    attn_doc_kind(d->out, &d->job->kind, d->eol);
    member(d->out, "tokens", d->eol);
    attn_doc_tokens(d->out, d->job->tokens, d->eol);
    if (d->job->cross)
        other_text(d);
    attn_doc_words(d->out, d->job, d->eol);
    attn_doc_edits(d->out, d->job->edits, d->eol);
    if (d->job->gradient)
        gradient(d);
    member(d->out, "activations", d->eol);
    attn_out_char(d->out, '[');
}

void attn_doc_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why)
{
    doc_head(o, job, "");
    member(o, "error", "");
    attn_doc_string(o, why);
    attn_out_str(o, "}\n");
}

static void begin_activation(struct attn_doc *d, const struct attn_slice *p)
{
    size_t shape[3];
    int ndim = attn_slice_shape(shape, p);
    attn_out_str(d->out, d->activations++ ? "," : "");
    attn_out_str(d->out, d->eol);
    attn_out_str(d->out, "{\"name\":");
    attn_doc_string(d->out, p->of->name);
    attn_out_str(d->out, ",\"layer\":");
    attn_doc_index(d->out, p->of->layer);
    attn_out_str(d->out, ",\"heads\":");
    if (p->n_kept)
        attn_doc_sizes(d->out, p->kept, p->n_kept);
    else
        attn_out_str(d->out, "null");
    attn_doc_mask(d->out, d->job, p->of->act, p->of->layer);
    attn_out_str(d->out, ",\"shape\":");
    attn_doc_sizes(d->out, shape, (size_t)ndim);
    attn_out_str(d->out, p->n_kept ? ",\"data\":[" : ",\"data\":");
    d->nonfinite = 0;
}

static void end_activation(struct attn_doc *d, const struct attn_slice *p)
{
    attn_out_str(d->out, p->n_kept ? "],\"nonfinite\":" : ",\"nonfinite\":");
    attn_out_u64(d->out, d->nonfinite);
    attn_out_char(d->out, '}');
}

static size_t count_nonfinite(const struct attn_slice *p, size_t i)
{
    size_t count = 0;
    for (size_t j = 0; j < p->cols; j++)
        count += !isfinite(attn_slice_number(p, i, j));
    return count;
}

/* ",1,null" */
static size_t put_with_nulls(char *buf, const struct attn_slice *p, size_t i)
{
    char *at = buf;
    for (size_t j = 0; j < p->cols; j++)
        if (isfinite(attn_slice_number(p, i, j)))
            at += attn_slice_text(at, p, i, j, 1, ',');
        else
            at = stpcpy(at, ",null");
    return (size_t)(at - buf);
}

/* ",[1,null]", without the first comma in the first row of a matrix. */
static size_t put_row(const void *ctx, size_t i, char *buf)
{
    const struct attn_slice *p = ctx;
    size_t n = p->row0 + i > 0;
    buf[0] = ',';
    size_t len = count_nonfinite(p, i) ? put_with_nulls(buf + n, p, i)
                                       : attn_slice_text(buf + n, p, i, 0, p->cols, ',');
    buf[n] = '[';                       /* in place of the comma */
    buf[n + len] = ']';
    return n + len + 1;
}

static int write_rows(struct attn_doc *d, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_row_printer rows = { p->rows, 1 + attn_slice_text_most(p, p->cols), put_row, p };
    for (size_t i = 0; i < p->rows; i++)
        d->nonfinite += count_nonfinite(p, i);
    return attn_lines_write(d->lines, d->out, &rows, err);
}

static int write_slice(struct attn_doc *d, const struct attn_slice *p, struct attn_err *err)
{
    if (attn_slice_opens(p))
        begin_activation(d, p);
    if (attn_slice_opens_matrix(p))
        attn_out_str(d->out, p->nth ? ",[" : "[");
    int rc = write_rows(d, p, err);
    if (rc || !attn_slice_ends_matrix(p))
        return rc;
    attn_lines_flush(d->lines);
    attn_out_char(d->out, ']');
    if (attn_slice_ends(p))
        end_activation(d, p);
    return 0;
}

/* ---- what edits did ---- */

static void write_likely(struct attn_doc *d, const char *key, const struct attn_likely *list, size_t n)
{
    attn_out_printf(d->out, "\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *s = d->job->token_text ? d->job->token_text(d->job->token_ctx, list[i].id, &len) : NULL;
        attn_out_printf(d->out, "%s{\"id\":%d,\"text\":", i ? "," : "", (int)list[i].id);
        sentence(d->out, s, s ? len : 0);
        attn_out_str(d->out, ",\"probability\":");
        attn_out_f64(d->out, list[i].p);
        attn_out_char(d->out, '}');
    }
    attn_out_char(d->out, ']');
}

/* null: not compared, no output layer, or logits that are not finite. */
static void write_compare(struct attn_doc *d)
{
    struct attn_compared c;
    member(d->out, "compare", d->eol);
    if (!d->job->compare || attn_compare_result(d->job->compare, &c, NULL)) {
        attn_out_str(d->out, "null");
        return;
    }
    attn_out_str(d->out, "{\"kl\":");
    attn_out_f64(d->out, c.kl);
    attn_out_char(d->out, ',');
    write_likely(d, "before", c.before, c.n_before);
    attn_out_char(d->out, ',');
    write_likely(d, "after", c.after, c.n_after);
    attn_out_char(d->out, '}');
}

void attn_doc_end(struct attn_doc *d)
{
    attn_out_str(d->out, d->eol);
    attn_out_char(d->out, ']');
    if (d->job->edits && !d->job->record)
        write_compare(d);
    attn_out_char(d->out, '}');
}

/* ---- the sink; in ndjson a document is one line ---------------------------------------- */

static void json_close(void *self)
{
    struct attn_doc *d = self;
    if (!d)
        return;
    attn_lines_free(d->lines);
    attn_sink_stream_close(d->out, d->job);
    free(d);
}

static int json_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    struct attn_doc *d = calloc(1, sizeof *d);
    if (!d)
        return attn_no_memory(err, NULL, "for a JSON document");
    d->job = job;
    d->eol = f->flags & ATTN_FORMAT_LINES ? "" : "\n";
    int rc = attn_sink_stream(&d->out, job, err);
    if (!rc)
        rc = attn_lines_new(&d->lines, job->team, err);
    if (rc) {
        json_close(d);
        return rc;
    }
    attn_doc_begin(d);
    *self = d;
    return 0;
}

static unsigned json_wants(void *self, int act, int layer)
{
    return attn_slice_wants(((struct attn_doc *)self)->job->select, act, layer, true);
}

static int json_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_doc *d = self;
    struct attn_slice slice;
    int rc = 0;                         /* the output keeps its error for finish */
    for (size_t at = 0; !rc && !attn_out_failed(d->out) && attn_slice_next(&slice, d->job->select, p, &at);)
        rc = write_slice(d, &slice, err);
    return rc;
}

static int json_finish(void *self, struct attn_err *err)
{
    struct attn_doc *d = self;
    attn_doc_end(d);
    attn_out_char(d->out, '\n');
    return attn_sink_stream_end(d->out, d->job, err);
}

/* Nested lists, as deep as the tensor has axes. */
static void put_axis(const struct attn_tensor_sheet *w, int axis, const float **x, uint64_t *nonfinite)
{
    if (axis == w->of->ndim) {
        *nonfinite += !isfinite(**x);
        attn_out_f32(w->out, *(*x)++);
        return;
    }
    attn_out_char(w->out, '[');
    for (size_t i = 0; i < w->of->shape[axis]; i++) {
        attn_out_str(w->out, i ? axis + 1 < w->of->ndim ? ",\n  " : "," : "");
        put_axis(w, axis + 1, x, nonfinite);
    }
    attn_out_char(w->out, ']');
}

static int json_tensor(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    struct attn_info info;
    char digest[80];
    const float *x = w->x;
    uint64_t nonfinite = 0;
    attn_model_info(w->model, &info);
    int rc = attn_model_digest(w->model, false, digest, err);
    if (rc)
        return rc;
    attn_out_printf(w->out, "{\"version\":\"%s\",\n \"model\":", attn_version());
    attn_doc_model(w->out, &(struct attn_sink_job){.model = &info, .digest = digest});
    attn_out_str(w->out, ",\n \"name\":");
    attn_doc_string(w->out, w->of->name);
    attn_out_printf(w->out, ",\n \"dtype\":\"%s\",\n \"stored\":", w->of->dtype);
    attn_doc_string(w->out, w->o->stored);
    attn_out_str(w->out, ",\n \"shape\":");
    attn_doc_sizes(w->out, w->of->shape, (size_t)w->of->ndim);
    attn_out_str(w->out, ",\n \"data\":\n ");
    put_axis(w, 0, &x, &nonfinite);
    attn_out_str(w->out, ",\n \"nonfinite\":");
    attn_out_u64(w->out, nonfinite);
    attn_out_str(w->out, "}\n");
    return ATTN_OK;
}

const struct attn_sink_methods attn_json_methods = {
    .open = json_open, .wants = json_wants, .watch = json_watch, .finish = json_finish, .close = json_close,
    .tensor = json_tensor,
};

const struct attn_sink_methods attn_ndjson_methods = {
    .open = json_open, .wants = json_wants, .watch = json_watch, .finish = json_finish, .close = json_close,
    .failed = attn_doc_failed,
};

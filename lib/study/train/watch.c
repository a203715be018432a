/* watch.c - how the activations of one sentence change while a model is trained.
 *
 * DIR/watch holds a stack for each, NAME.npy [times, heads, T, n] or [times, T, n], steps.npy [times], and a
 * manifest.json with tokens and heads.  They are written with each checkpoint; a training that is continued reads
 * them back and drops what was noted after the step it continues from. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/grow.h"
#include "io/dump.h"
#include "sinks/sink_json.h"
#include "sinks/sink_npy.h"

/* The values of one activation at all times; `one` describes a single array of it. */
struct stack { char *name; struct attn_dumped one; float *data; size_t room; };

struct attn_watch {
    char *dir;
    struct attn_tokens *tokens;
    struct attn_select *select;
    size_t every;
    int threads;
    struct stack *stack; size_t n;
    float *step; size_t times, room;    /* step: exact up to 16 million */
};

static int no_memory(const char *what, struct attn_err *err)
{
    attn_no_memory(err, NULL, "to watch %s", what);
    return ATTN_ENOMEM;
}

/* ---- noting -------------------------------------------------------------------------------- */

static int look(struct attn_dump **out, const struct attn_watch *w, const struct attn_model *live, struct attn_err *err)
{
    struct attn_plan plan = {.rows = w->tokens->n, .seqs = 1, .threads = w->threads};
    return attn_dump_run(out, live, w->tokens, NULL, w->select, &plan, NULL, err);
}

static bool append(struct stack *s, size_t times, const float *data)
{
    size_t n = s->one.of.n, need;
    float *more = __builtin_mul_overflow(times + 1, n, &need) ? NULL : attn_grow(s->data, &s->room, need, sizeof *more);
    if (!more)
        return false;
    s->data = more;
    memcpy(more + times * n, data, n * sizeof *more);
    return true;
}

/* Appends data[n], one array for each stack. */
static int add_time(struct attn_watch *w, float step, const float *const *data, struct attn_err *err)
{
    float *more = attn_grow(w->step, &w->room, w->times + 1, sizeof *more);
    if (!more)
        return no_memory("a sentence", err);
    w->step = more;
    for (size_t i = 0; i < w->n; i++)
        if (!append(&w->stack[i], w->times, data[i]))
            return no_memory(w->stack[i].name, err);
    more[w->times++] = step;
    return ATTN_OK;
}

int attn_watch_note(struct attn_watch *w, const struct attn_model *live, size_t step, size_t steps,
                    struct attn_err *err)
{
    struct attn_dump *d = NULL;
    if (!w || (step % w->every != 0 && step != steps))
        return ATTN_OK;
    const float **data = calloc(w->n + 1, sizeof *data);
    int rc = data ? look(&d, w, live, err) : no_memory("a sentence", err);
    for (size_t i = 0; i < w->n && !rc; i++)
        data[i] = d->item[i].of.data;
    if (!rc)
        rc = add_time(w, (float)step, data, err);
    attn_dump_free(d);
    free(data);
    return rc;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int write_array(const char *dir, const char *name, const float *data, const size_t *shape, int ndim,
                       struct attn_err *err)
{
    struct attn_out *out = NULL;
    char file[128], header[ATTN_NPY_HEADER];
    size_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    snprintf(file, sizeof file, "%s.npy", name);
    int rc = attn_folder_open(&out, dir, file, err);
    if (rc)
        return rc;
    attn_npy_header(header, shape, ndim);
    attn_out_write(out, header, sizeof header);
    attn_out_write(out, data, n * sizeof *data);
    return attn_out_end(out, ATTN_OK, err);
}

static int write_stack(const struct attn_watch *w, const struct stack *s, struct attn_err *err)
{
    size_t shape[ATTN_ARRAY_DIMS + 1] = {w->times};
    memcpy(shape + 1, s->one.of.shape, (size_t)s->one.of.ndim * sizeof *shape);
    return write_array(w->dir, s->name, s->data, shape, s->one.of.ndim + 1, err);
}

static void put_manifest(struct attn_out *out, const struct attn_watch *w)
{
    attn_out_printf(out, "{\"tool\": \"attn-cli\", \"version\": \"%s\",\n \"tokens\": ", attn_version());
    attn_doc_tokens(out, w->tokens, "\n");
    attn_out_str(out, ",\n \"files\": [");
    for (size_t i = 0; i < w->n; i++) {
        const struct attn_dumped *one = &w->stack[i].one;
        attn_out_printf(out, "%s\n  {\"file\": \"%s.npy\", \"name\": \"%s\", \"heads\": ", i ? "," :
                        "", w->stack[i].name, w->stack[i].name);
        if (one->n_heads)
            attn_doc_sizes(out, one->heads, one->n_heads);
        else
            attn_out_str(out, "null");
        attn_out_printf(out, *one->mask ? ", \"mask\": \"%s\"}" : "}", one->mask);
    }
    attn_out_str(out, "]}\n");
}

int attn_watch_save(const struct attn_watch *w, struct attn_err *err)
{
    struct attn_out *out = NULL;
    struct attn_held held;
    int rc = w ? attn_folder_begin(&held, w->dir, err) : ATTN_OK;
    if (!w)
        return rc;
    for (size_t i = 0; i < w->n && !rc; i++)
        rc = write_stack(w, &w->stack[i], err);
    if (!rc)
        rc = write_array(w->dir, "steps", w->step, &w->times, 1, err);
    if (!rc)
        rc = attn_folder_open(&out, w->dir, "manifest.json", err);
    if (!rc) {
        put_manifest(out, w);
        rc = attn_out_commit(out, err);
    }
    attn_out_close(out);
    return attn_folder_end(&held, rc);
}

/* ---- reading back -------------------------------------------------------------------------- */

static bool same_tokens(const struct attn_dump *d, const struct attn_tokens *t)
{
    bool same = d->tokens.n == t->n;
    for (size_t i = 0; same && i < t->n; i++)
        same = d->tokens.item[i].id == t->tok[i].id;
    return same;
}

/* The activation at time k; NULL: there is none. */
static const float *was_at(const struct attn_dump *d, const struct stack *s, size_t k)
{
    const struct attn_dumped *has = attn_dump_item(d, s->name);
    const struct attn_array *one = &s->one.of;
    if (!has || has->of.ndim != one->ndim + 1 || has->of.shape[0] <= k ||
        memcmp(has->of.shape + 1, one->shape, (size_t)one->ndim * sizeof *one->shape) != 0)
        return NULL;
    return has->of.data + k * one->n;
}

static int take_time(struct attn_watch *w, const struct attn_dump *d, size_t k, float step, const float **data,
                     struct attn_err *err)
{
    bool same = same_tokens(d, w->tokens);
    for (size_t i = 0; i < w->n && same; i++)
        same = (data[i] = was_at(d, &w->stack[i], k)) != NULL;
    return same ? add_time(w, step, data, err)
                : attn_fail(err, ATTN_EFORMAT,
                            "%s: another sentence, or other activations, were watched there: ask for the same, or "
                            "remove it", w->dir);
}

/* If writing was interrupted the files may differ in age, but all contain what was noted before the checkpoint. */
static int take_back(struct attn_watch *w, const struct attn_dump *d, size_t step, struct attn_err *err)
{
    const struct attn_dumped *list = attn_dump_item(d, "steps");
    const float *steps = d->steps ? d->steps : list ? list->of.data : NULL;
    size_t n = d->steps ? d->n_steps : list ? list->of.n : 0;
    const float **data = calloc(w->n + 1, sizeof *data);
    int rc = data ? ATTN_OK : no_memory("a sentence", err);
    for (size_t k = 0; k < n && !rc && steps[k] < (float)step; k++)
        rc = take_time(w, d, k, steps[k], data, err);
    free(data);
    return rc;
}

static int read_back(struct attn_watch *w, size_t step, struct attn_err *err)
{
    struct attn_dump *d = NULL;
    if (step == 0 || !attn_folder_has(w->dir, "steps.npy"))   /* none, or one that has only just begun */
        return ATTN_OK;
    int rc = attn_dump_open(&d, w->dir, err);
    if (!rc)
        rc = take_back(w, d, step, err);
    attn_dump_free(d);
    return rc;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Makes an empty stack for each activation of a first run, whose arrays give the shapes. */
static int make_stacks(struct attn_watch *w, const struct attn_model *live, struct attn_err *err)
{
    struct attn_dump *d = NULL;
    int rc = look(&d, w, live, err);
    if (rc)
        return rc;
    w->stack = calloc(d->n + 1, sizeof *w->stack);
    if (!w->stack)
        rc = no_memory("a sentence", err);
    for (; !rc && w->n < d->n; w->n++) {
        struct stack *s = &w->stack[w->n];
        s->one = d->item[w->n];
        s->name = s->one.name;
        d->item[w->n] = (struct attn_dumped){0};        /* it has been moved to the stack */
    }
    attn_dump_free(d);
    return rc;
}

int attn_watch_open(struct attn_watch **out, const char *dir, const struct attn_model *live,
                    const struct attn_tokenizer *t, const struct attn_train_watch_opts *o, size_t step,
                    struct attn_err *err)
{
    struct attn_watch *w = calloc(1, sizeof *w);
    if (!w || attn_asprintf(&w->dir, "%s/watch", dir) < 0) {
        attn_watch_close(w);
        return no_memory("a sentence", err);
    }
    w->every = o->every;
    w->threads = o->threads;
    int rc = attn_encode_with(&w->tokens, t, o->text, o->len, &o->encode, err);
    if (!rc && w->tokens->n == 0)
        rc = attn_fail(err, ATTN_EUSAGE, "the sentence to watch is empty");
    if (!rc)
        rc = attn_select_new(&w->select, live, NULL, o->show ? o->show : "pattern", o->layers, o->heads, err);
    if (!rc)
        rc = make_stacks(w, live, err);
    if (!rc)
        rc = read_back(w, step, err);
    if (rc)
        attn_watch_close(w);
    else
        *out = w;
    return rc;
}

void attn_watch_close(struct attn_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++) {
        attn_dump_drop(&w->stack[i].one);
        free(w->stack[i].data);
    }
    free(w->stack);
    free(w->step);
    attn_tokens_free(w->tokens);
    attn_select_free(w->select);
    free(w->dir);
    free(w);
}

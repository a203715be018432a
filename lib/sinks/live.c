#include "sinks/live.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/near.h"
#include "base/out.h"
#include "base/size.h"
#include "model/describe.h"
#include "text/describe_text.h"

/* What the tokenizer puts around a text are tokens without bytes. */
static void put_around(struct attn_out *o, const char *key, const struct attn_tokens *t, bool before)
{
    size_t first = 0, end = t->n;
    attn_out_printf(o, ",\"%s\":[", key);
    while (first < t->n && t->tok[first].known && t->tok[first].start == t->tok[first].end && t->tok[first].end == 0)
        first++;
    while (end > first && t->tok[end - 1].known && t->tok[end - 1].start == t->tok[end - 1].end)
        end--;
    for (size_t i = before ? 0 : end, n = before ? first : t->n, any = 0; i < n; i++, any = 1)
        attn_out_printf(o, "%s%d", any ? "," : "", (int)t->tok[i].id);
    attn_out_char(o, ']');
}

static void put_run(struct attn_out *o, const struct attn_sink_job *job)
{
    static const char *const scalings[] = {[ATTN_SCALE_MODEL] = "model", [ATTN_SCALE_NONE] = "none",
                                           [ATTN_SCALE_SQRT] = "sqrt", [ATTN_SCALE_VALUE] = "value"};
    const struct attn_kind *k = &job->attention;
    const struct attn_config *c = &job->of->config;
    char text[ATTN_KIND_TEXT];
    const char *named = job->model->path ? job->model->path : job->model->name;
    attn_out_str(o, ",\"named\":");
    attn_out_json(o, named, strlen(named));
    attn_out_str(o, ",\"ends\":[");
    for (size_t i = 0; i < c->n_eos; i++)
        attn_out_printf(o, "%s%d", i ? "," : "", (int)c->eos[i]);
    attn_out_printf(o, "],\"attention\":\"%s\",\"scaling\":\"%s\",\"scale\":", attn_kind_text(text, k),
                    scalings[k->scaling]);
    attn_out_f64(o, k->scale);
    attn_out_str(o, ",\"dropout\":");
    attn_out_f64(o, k->dropout);
    attn_out_printf(o, ",\"dropoutSeed\":\"%llu\"", (unsigned long long)k->dropout_seed);
}

/* Words of others for names, so that messages of wrong edits guess as the program does. */
static void put_meanings(struct attn_out *o)
{
    const char *word, *name;
    attn_out_str(o, ",\"meanings\":[");
    for (size_t i = 0; (word = attn_near_word(i, &name)); i++)
        attn_out_printf(o, "%s[\"%s\",\"%s\"]", i ? "," : "", word, name);
    attn_out_str(o, "]}");
}

static int write_json(char **json, size_t *len, struct attn_description *d, const struct attn_sink_job *job,
                      const struct attn_tokenizer *t, struct attn_err *err)
{
    struct attn_out *o = NULL;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    attn_out_str(o, "{\"model\":");
    rc = attn_model_describe(d, o, job->of, err);
    attn_out_str(o, ",\"tokenizer\":");
    if (t)
        attn_tokenizer_describe(o, t);
    else
        attn_out_str(o, "null");
    put_around(o, "before", job->tokens, true);
    put_around(o, "after", job->tokens, false);
    put_run(o, job);
    put_meanings(o);
    if (!rc)
        rc = attn_out_take(o, json, len, err);
    attn_out_close(o);
    return rc;
}

/* Deflates the head, the JSON and the numbers. */
static int pack(struct attn_album_live *live, const char *json, size_t len, const struct attn_description *d,
                struct attn_err *err)
{
    enum { HEAD = 4, WHOLE = 8 };
    const size_t padded = up(len + HEAD, WHOLE) - HEAD, all = HEAD + padded + d->n;
    unsigned char *bytes = padded < UINT32_MAX ? malloc(all) : NULL;
    uLongf n = compressBound(all);
    live->packed = malloc(n);
    if (!bytes || !live->packed) {
        free(bytes);
        return attn_no_memory(err, NULL, "for a page with %zu bytes of a model", all);
    }
    for (size_t i = 0; i < HEAD; i++)
        bytes[i] = (unsigned char)(padded >> 8 * i);
    memcpy(bytes + HEAD, json, len);
    memset(bytes + HEAD + len, ' ', padded - len);
    if (d->n)
        memcpy(bytes + HEAD + padded, d->bytes, d->n);
    const int rc = compress2(live->packed, &n, bytes, all, Z_DEFAULT_COMPRESSION);
    free(bytes);
    live->n = n;
    return rc == Z_OK ? ATTN_OK : attn_no_memory(err, NULL, "to compress %zu bytes of a model", all);
}

static int check(const struct attn_sink_job *job, struct attn_err *err)
{
    if (job->cross)
        return attn_fail(err, ATTN_EUSAGE, "--live with --cross: the page computes with one text, which looks at "
                                           "itself: leave one of them out");
    if (job->of->attend)
        return attn_fail(err, ATTN_EUSAGE, "--live: the page computes with a model, and there are only numbers");
    if (job->gradient)
        return attn_fail(err, ATTN_EUSAGE, "--live with --gradient: the page computes activations, no gradients: leave "
                                           "one of them out");
    return ATTN_OK;
}

int attn_live_make(struct attn_album_live **out, const struct attn_sink_job *job, const struct attn_tokenizer *t,
                   struct attn_err *err)
{
    struct attn_description d = {.most = ATTN_LIVE_MOST};
    struct attn_album_live *live = NULL;
    char *json = NULL;
    size_t len = 0;
    *out = NULL;
    int rc = check(job, err);
    if (!rc)
        rc = write_json(&json, &len, &d, job, t, err);
    if (!rc && !(live = calloc(1, sizeof *live)))
        rc = attn_no_memory(err, NULL, "for a page that computes");
    if (!rc)
        rc = pack(live, json, len, &d, err);
    free(json);
    attn_description_free(&d);
    if (rc)
        attn_live_free(live);
    else
        *out = live;
    return rc;
}

void attn_live_free(struct attn_album_live *live)
{
    if (live)
        free(live->packed);
    free(live);
}

#include "sinks/live_pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "base/out.h"
#include "base/simd.h"
#include "base/size.h"
#include "model/every_file.h"
#include "model/model.h"
#include "picture/page_engine.h"

enum { HEAD = 4, WHOLE = 8 };

/* The bytes of all files, and what the JSON says of each. */
struct pack {
    unsigned char *bytes; size_t n, room;
    struct attn_out *list;
    bool any;
};

/* ---- files ------------------------------------------------------------------------------- */

static int take_file(void *self, const char *name, const void *data, size_t len, struct attn_err *err)
{
    struct pack *p = self;
    const size_t at = up(p->n, WHOLE);
    unsigned char *more = attn_grow(p->bytes, &p->room, at + len + 1, 1);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu bytes of a model", at + len);
    p->bytes = more;
    memset(more + p->n, 0, at - p->n);
    memcpy(more + at, data, len);
    p->n = at + len;
    attn_out_str(p->list, p->any ? ",{\"name\":" : "{\"name\":");
    p->any = true;
    char path[ATTN_FILE_NAME + 8] = "model/";
    strncat(path, name, ATTN_FILE_NAME);
    attn_out_json(p->list, path, strlen(path));
    attn_out_printf(p->list, ",\"at\":%zu,\"bytes\":%zu}", at, len);
    return ATTN_OK;
}

/* ---- how it was run ---------------------------------------------------------------------- */

static void put_word(struct attn_out *o, const char *key, const char *s)
{
    attn_out_printf(o, ",\"%s\":", key);
    if (s)
        attn_out_json(o, s, strlen(s));
    else
        attn_out_str(o, "null");
}

static void put_text(struct attn_out *o, const struct attn_sink_job *job)
{
    attn_out_str(o, ",\"text\":");
    if (job->text)
        attn_out_json(o, job->text, job->text_len);
    else
        attn_out_str(o, "null,\"ids\":\"");
    for (size_t i = 0; i < job->pieces->n && !job->text; i++)
        attn_out_printf(o, "%s%d", i ? "," : "", (int)job->pieces->tok[i].id);
    attn_out_str(o, job->text ? ",\"ids\":null,\"edits\":[" : "\",\"edits\":[");
    for (size_t i = 0; i < attn_edits_count(job->edits); i++) {
        const char *edit = attn_edits_text(job->edits, i);
        attn_out_str(o, i ? "," : "");
        attn_out_json(o, edit, strlen(edit));
    }
    attn_out_char(o, ']');
}

static void put_kind(struct attn_out *o, const struct attn_kind *k)
{
    char text[ATTN_KIND_TEXT], number[ATTN_NUM_MAX + 1];
    number[attn_num_f64(number, k->scale)] = '\0';
    put_word(o, "attention", attn_kind_text(text, k));
    put_word(o, "scale", k->scaling == ATTN_SCALE_MODEL ? "" : k->scaling == ATTN_SCALE_NONE ? "none"
             : k->scaling == ATTN_SCALE_SQRT ? "sqrt" : number);
    attn_out_str(o, ",\"dropout\":");
    attn_out_f64(o, k->dropout);
    attn_out_printf(o, ",\"dropoutSeed\":\"%llu\"", (unsigned long long)k->dropout_seed);
}

static void put_model(struct attn_out *o, const struct attn_model *m, const struct attn_info *info)
{
    struct attn_opened_again again;
    char path[ATTN_FILE_NAME + 8] = "model/";
    attn_model_opens_again(&again, m);
    strncat(path, again.model, ATTN_FILE_NAME);
    attn_out_str(o, "{\"model\":");
    attn_out_json(o, path, strlen(path));
    put_word(o, "as", again.as);
    strcpy(path, "model/");
    strncat(path, again.vocab, ATTN_FILE_NAME);
    put_word(o, "vocab", again.has_vocab ? path : NULL);
    put_word(o, "named", info->path ? info->path : info->name);
}

static int write_json(char **json, size_t *len, struct pack *p, const struct attn_sink_job *job, struct attn_err *err)
{
    const struct attn_file_told to = {take_file, p};
    int rc = attn_out_open_memory(&p->list, err);
    if (rc)
        return rc;
    put_model(p->list, job->of, job->model);
    attn_out_str(p->list, ",\"files\":[");
    rc = attn_model_each_file(job->of, &to, err);
    attn_out_char(p->list, ']');
    put_text(p->list, job);
    put_kind(p->list, &job->attention);
    put_word(p->list, "bits", attn_cpu_simd() == ATTN_SIMD_GENERIC ? "generic" : "default");
    attn_out_char(p->list, '}');
    if (!rc)
        rc = attn_out_take(p->list, json, len, err);
    attn_out_close(p->list);
    return rc;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Deflates the head, the JSON and the files. */
static int deflate_all(struct attn_album_live *live, const char *json, size_t len, const struct pack *p,
                       struct attn_err *err)
{
    const size_t padded = up(len + HEAD, WHOLE) - HEAD, all = HEAD + padded + p->n;
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
    memcpy(bytes + HEAD + padded, p->bytes, p->n);
    const int rc = compress2(live->packed, &n, bytes, all, Z_DEFAULT_COMPRESSION);
    free(bytes);
    live->n = n;
    return rc == Z_OK ? ATTN_OK : attn_no_memory(err, NULL, "to compress %zu bytes of a model", all);
}

static int check(const struct attn_sink_job *job, struct attn_err *err)
{
    if (job->cross)
        return attn_fail(err, ATTN_EUSAGE, "a page that computes has one text, which looks at itself: leave --cross "
                         "out");
    if (job->of->attend)
        return attn_fail(err, ATTN_EUSAGE, "a page computes with a model, and there are only numbers");
    if (job->gradient)
        return attn_fail(err, ATTN_EUSAGE, "a page computes activations, no gradients: leave --gradient out");
    if (job->of->weights.bytes > ATTN_LIVE_MOST)
        return attn_fail(err, ATTN_EUSAGE,
                         "model %s has %zu MB of weights, and a page that computes holds %d: take one "
                         "in float16, with fewer layers, or a page that is still", job->model->name,
                         job->of->weights.bytes >> 20, ATTN_LIVE_MOST >> 20);
    return ATTN_OK;
}

int attn_live_make(struct attn_album_live **out, const struct attn_sink_job *job, const struct attn_tokenizer *t,
                   struct attn_err *err)
{
    struct pack p = {.bytes = NULL};
    struct attn_album_live *live = NULL;
    char *json = NULL;
    size_t len = 0;
    (void)t;
    *out = NULL;
    int rc = check(job, err);
    if (rc || !attn_engine_module(&len))
        return rc;
    rc = write_json(&json, &len, &p, job, err);
    if (!rc && !(live = calloc(1, sizeof *live)))
        rc = attn_no_memory(err, NULL, "for a page that computes");
    if (!rc)
        rc = deflate_all(live, json, len, &p, err);
    free(json);
    free(p.bytes);
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

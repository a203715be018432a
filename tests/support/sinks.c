#include "sinks.h"
#include "attn_tools.h"

#include "golden.h"
#include "scratch.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAND = 2, GAP = 3 };             /* rows per band; unused floats between rows */

/* Of its name, so that a further activation leaves the others what they are: with this factor no two have the same. */
static unsigned number_of(int act)
{
    unsigned n = 0;
    for (const char *c = attn_act_tail(act); *c; c++)
        n = n * 65 + (unsigned char)*c;
    return 1 + n % 97;
}

float sinks_value(int act, int layer, size_t h, size_t t, size_t j)
{
    if (act == ATTN_ACT_PATTERN && j > t)
        return 0;
    if (act == ATTN_ACT_SCORES && j > t)
        return -INFINITY;
    if (act == ATTN_ACT_PATTERN)
        return 1.0f / (float)(t + 1);
    return (float)number_of(act) * 0.1f + (float)(layer + 1) * 10 + (float)h - (float)t * 0.01f + (float)j * 0.003f;
}

static struct attn_tokens *make_tokens(size_t n, bool known)
{
    static const char *const first[] = { "Life", " is", "\n" };
    static char words[64][24];
    struct attn_tokens *t = calloc(1, sizeof *t);
    t->n = n;
    t->tok = calloc(n, sizeof *t->tok);
    for (size_t i = 0, at = 0; i < n; i++) {
        struct attn_token *token = &t->tok[i];
        token->id = (int32_t)(10 + i);
        if (!known)
            continue;
        snprintf(words[i], sizeof words[i], "w%zu", i);
        token->known = true;
        token->text = token->raw = i < 3 ? first[i] : words[i];
        token->text_len = token->raw_len = strlen(token->text);
        token->start = at;
        token->end = at += token->text_len;
    }
    return t;
}

void sinks_setup(struct sinks_setup *s, size_t T, const char *show, const char *layers, const char *heads,
                 bool known)
{
    struct attn_err err = { 0 };
    *s = (struct sinks_setup){
        .model = { .name = "toy", .family = "attn-decoder", .unembed = true, .output_projection = true, .L = 2, .H = 4,
                   .Hkv = 2, .d = 3, .dh = 2, .dv = 2, .m = 5, .V = 6 },
        .hooks = { .L = 2, .H = 4, .Hkv = 2 },
        .tokens = make_tokens(T, known),
    };
    memset(s->hooks.has, true, sizeof s->hooks.has);
    ck_assert_msg(!attn_select_make(&s->select, &s->hooks, "toy", show, layers, heads, &err), "%s", err.msg);
    scratch_make();
    snprintf(s->path, sizeof s->path, "%s", scratch_path("out"));
    s->job = (struct attn_sink_job){
        .model = &s->model, .digest = "sampled:00", .cpu = "generic", .select = s->select, .tokens = s->tokens,
        .text = known ? "Life is\n" : NULL, .text_len = 8, .command = "run -s 'Life is'", .path = s->path,
        .precision = 4,
    };
}

void sinks_teardown(struct sinks_setup *s)
{
    scratch_remove();
    attn_select_free(s->select);
    free(s->tokens->tok);
    free(s->tokens);
}

/* ---- telling --------------------------------------------------------------------------- */

struct told { const struct attn_sink_methods *f; void *self; const struct sinks_setup *s; int act,
              layer; struct attn_err *err; };

/* Announces one band from memory that is freed afterwards, so that sanitizers catch a sink that keeps a
 * pointer to it. */
static int tell_band(const struct told *t, size_t head0, size_t heads, size_t row0, size_t rows)
{
    char name[ATTN_NAME_MAX];
    struct attn_probe p = { .name = name, .act = t->act, .layer = t->layer, .head0 = head0, .heads = heads,
                            .row0 = row0, .rows = rows };
    attn_act_name(name, t->act, t->layer);
    p.ndim = attn_act_shape(p.shape, &t->s->model, t->act, t->s->tokens->n, t->s->tokens->n);
    p.cols = p.shape[p.ndim - 1];
    p.ld = p.cols + GAP;
    p.ld_head = rows * p.ld + GAP;
    float *data = malloc(heads * p.ld_head * sizeof *data);
    for (size_t i = 0; i < heads * p.ld_head; i++)
        data[i] = 1e30f;
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < p.cols; j++)
                data[h * p.ld_head + i * p.ld + j] = sinks_value(t->act, t->layer, head0 + h, row0 + i, j);
    p.data = data;
    int rc = t->f->watch(t->self, &p, t->err);
    free(data);
    return rc;
}

static int tell_one(const struct told *t, unsigned wants)
{
    size_t T = t->s->tokens->n, heads = attn_act_heads(&t->s->hooks, t->act);
    if (!(wants & ATTN_WATCH))
        return 0;
    return wants & ATTN_LAST ? tell_band(t, 0, 1, T - 1, 1) : tell_band(t, 0, heads ? heads : 1, 0, T);
}

/* Announces dots, scores and pattern: band by band in turn, or each as a whole. */
static int tell_squares(struct told t)
{
    size_t T = t.s->tokens->n;
    unsigned wants[ATTN_ACTS] = { 0 };
    int rc = 0;
    for (t.act = ATTN_ACT_DOTS; t.act <= ATTN_ACT_PATTERN; t.act++) {
        wants[t.act] = t.f->wants(t.self, t.act, t.layer);
        if (!rc && wants[t.act] & ATTN_WHOLE)
            rc = tell_one(&t, wants[t.act]);
    }
    for (size_t h = 0; h < t.s->hooks.H; h++)
        for (size_t row = 0; row < T; row += BAND)
            for (t.act = ATTN_ACT_DOTS; t.act <= ATTN_ACT_PATTERN; t.act++)
                if (!rc && wants[t.act] && !(wants[t.act] & ATTN_WHOLE))
                    rc = tell_band(&t, h, 1, row, T - row < BAND ? T - row : BAND);
    return rc;
}

int sinks_tell(const struct attn_sink_methods *f, void *self, const struct sinks_setup *s, int layers,
               struct attn_err *err)
{
    struct told t = { f, self, s, 0, -1, err };
    int rc = 0;
    for (t.act = 0; !rc && t.act < ATTN_ACT_RESID_PRE; t.act++)
        rc = tell_one(&t, f->wants(self, t.act, -1));
    for (t.layer = 0; t.layer < layers; t.layer++)
        for (t.act = ATTN_ACT_RESID_PRE; !rc && t.act < ATTN_ACT_NORM_FINAL; t.act++) {
            if (t.act == ATTN_ACT_DOTS)
                rc = tell_squares(t);
            else if (!attn_act_square(t.act))
                rc = tell_one(&t, f->wants(self, t.act, t.layer));
        }
    t.layer = -1;
    for (t.act = ATTN_ACT_NORM_FINAL; !rc && layers == (int)s->model.L && t.act < ATTN_ACTS; t.act++)
        rc = tell_one(&t, f->wants(self, t.act, -1));
    return rc;
}

int sinks_run(const char *format, const struct sinks_setup *s, struct attn_err *err)
{
    const struct attn_format *f = attn_format_find(format);
    void *self = NULL;
    int rc = attn_format_methods(f)->open(&self, f, &s->job, err);
    if (!rc)
        rc = sinks_tell(attn_format_methods(f), self, s, (int)s->model.L, err);
    if (!rc)
        rc = attn_format_methods(f)->finish(self, err);
    attn_format_methods(f)->close(self);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------- */

static const char *full_path(const struct sinks_setup *s, const char *file)
{
    static char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, file ? "%s/%s" : "%s", s->path, file);
    return path;
}

char *sinks_read(const struct sinks_setup *s, const char *file, size_t *len)
{
    return sinks_there(s, file) ? golden_text(full_path(s, file), len) : NULL;
}

bool sinks_there(const struct sinks_setup *s, const char *file)
{
    return access(full_path(s, file), F_OK) == 0;
}

void sinks_write(const struct sinks_setup *s, const char *file, const char *text)
{
    scratch_put(full_path(s, file), text, strlen(text));
}

/* ---- verdicts -------------------------------------------------------------------------- */

void sinks_ck_run(const char *format, const struct sinks_setup *s)
{
    struct attn_err err = { 0 };
    ck_assert_msg(!sinks_run(format, s, &err), "%s: %s", format, err.msg);
}

void sinks_ck_refused(const char *format, const struct sinks_setup *s, int code, const char *says)
{
    struct attn_err err = { 0 };
    ck_assert_int_eq(sinks_run(format, s, &err), code);
    ck_assert_msg(strstr(err.msg, says), "'%s' lacks '%s'", err.msg, says);
}

void sinks_ck_file(const struct sinks_setup *s, const char *file, const char *text)
{
    char *got = sinks_read(s, file, NULL);
    ck_assert_msg(got, "no file %s", file ? file : s->path);
    ck_assert_str_eq(got, strstr(text, "VERSION") ? of_this_version(text) : text);
    free(got);
}

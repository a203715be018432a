/* variants.c - checks the request, measures, and writes the result in one of the formats. */
#include "variants/variants.h"

#include "base/err.h"
#include "sinks/sink.h"

#include <stdlib.h>
#include <string.h>

static int check(const struct attn_variants *s, struct attn_err *err)
{
    const struct attn_dims *n = &s->model->w.n;
    const char *format = s->o->format ? s->o->format : "text";
    if (!s->tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to compare attention of");
    if (s->o->layer >= n->L || s->o->head >= n->H)
        return attn_fail(err, ATTN_EUSAGE, "layer %zu, head %zu is not there: model %s has %zu layers of %zu heads, numbered from 0",
                         s->o->layer, s->o->head, s->model->source.name, n->L, n->H);
    const struct attn_format *f = attn_format_find(format);
    char list[ATTN_FORMAT_LIST];
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 && !(f && f->flags & ATTN_FORMAT_PICTURE))
        return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected text, json or one of %s", format,
                         attn_format_list(list, ATTN_FORMAT_PICTURE));
    return ATTN_OK;
}

static int write_as(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
{
    const char *format = s->o->format ? s->o->format : "text";
    if (!strcmp(format, "text"))
        return attn_variants_lesson(o, s, err);
    if (!strcmp(format, "json"))
        return attn_variants_report(o, s, err);
    return attn_variants_grid(o, s, format, err);
}

static int compare(struct attn_variants *s, struct attn_err *err)
{
    struct attn_out *o;
    int rc = check(s, err);
    if (!rc)
        rc = attn_variants_choose(s, s->o->kinds, err);
    if (!rc)
        rc = attn_variants_measure(s, err);
    if (!rc)
        rc = attn_variants_price(s, err);
    if (!rc)
        rc = attn_out_open(&o, s->o->path, err);
    if (rc)
        return rc;
    rc = write_as(o, s, err);
    if (!rc)
        rc = attn_out_commit(o, err);
    attn_out_close(o);
    return rc;
}

int attn_variants(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_variants_opts *o,
                  struct attn_err *err)
{
    struct attn_variants s = {.model = m, .tokens = tokens, .o = o};
    int rc = compare(&s, err);
    for (size_t i = 0; i < s.n; i++)
        free(s.v[i].drawn);
    free(s.v);
    return rc;
}

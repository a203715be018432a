/* variants.c - which kinds of attention are compared, and the comparison from request to output. */
#include "variants/variants.h"
#include "attn_tools.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "run/kind.h"
#include "sinks/sink.h"

/* ---- the list -------------------------------------------------------------------------- */

enum { KINDS_MAX = 64 };                /* more than anybody compares */

static int add(struct attn_variants *s, const char *text, size_t len, struct attn_err *err)
{
    char name[ATTN_KIND_TEXT];
    struct attn_variant *v = &s->v[s->n];
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), text);
    if (s->n == KINDS_MAX)
        return attn_fail(err, ATTN_EUSAGE, "more than %d kinds of attention to compare", KINDS_MAX);
    int rc = attn_kind_parse(&v->kind, name, err);
    if (rc)
        return rc;
    attn_kind_text(v->name, &v->kind);
    v->kl = NAN;
    s->n++;
    return ATTN_OK;
}

/* Length of the first kind in a list.  Kinds begin with a letter, which distinguishes separators from a comma as in
 * "window:4 random:4,2,7". */
static size_t length(const char *at)
{
    static const char between[] = ",; \t\r\n";
    for (size_t n = 0;; n++) {
        size_t gap = strspn(at + n, between);
        if (!at[n] || (gap && (!at[n + gap] || isalpha((unsigned char)at[n + gap]))))
            return n;
    }
}

static int choose(struct attn_variants *s, const char *list, struct attn_err *err)
{
    char each[256];
    size_t root = (size_t)sqrt((double)s->tokens->n);
    attn_kind_each(each, sizeof each, root < 2 ? 2 : root);     /* sparse kinds see about this many keys */
    s->v = calloc(KINDS_MAX + 1, sizeof *s->v);
    if (!s->v)
        return attn_no_memory(err, NULL, "to list %d kinds of attention", KINDS_MAX);
    int rc = ATTN_OK;
    for (const char *at = list ? list : each; !rc && *(at += strspn(at, ",; \t\r\n")); at += length(at))
        rc = add(s, at, length(at), err);
    return rc || s->n ? rc : attn_fail(err, ATTN_EUSAGE, "no kind of attention to compare: name some, as in %s", each);
}

/* ---- the comparison -------------------------------------------------------------------- */

static int check(const struct attn_variants *s, struct attn_err *err)
{
    const struct attn_dims *n = &s->model->w.n;
    const char *format = s->o->format ? s->o->format : "text";
    if (!s->tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to compare attention of");
    if (s->o->layer >= n->L || s->o->head >= n->H)
        return attn_fail(err, ATTN_EUSAGE, "layer %zu, head %zu is not there: model %s has %zu layers of %zu heads, "
                         "numbered from 0", s->o->layer, s->o->head, s->model->source.name, n->L, n->H);
    const struct attn_format *f = attn_format_find(format);
    char list[ATTN_FORMAT_LIST];
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 && !(f && f->flags & ATTN_FORMAT_PICTURE))
        return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected text, json or one of %s", format,
                         attn_format_list(list, ATTN_FORMAT_PICTURE));
    return ATTN_OK;
}

static int compare(struct attn_variants *s, struct attn_err *err)
{
    struct attn_out *o;
    int rc = check(s, err);
    if (!rc)
        rc = choose(s, s->o->kinds, err);
    if (!rc)
        rc = attn_variants_measure(s, err);
    if (!rc)
        rc = attn_out_open(&o, s->o->path, err);
    if (rc)
        return rc;
    rc = attn_variants_write(o, s, err);
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

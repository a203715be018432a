/* report.c - the comparison for programs.
 *
 *     {"version", "model", "text", "tokens", "layer", "head",
 *      "variants": [{"kind", "about", "pattern": {"max_abs", "mean_abs"}, "context", "residual", "kl", "lost_rows",
 *                    "scores", "operations", "bytes", "seconds", "data"}, ...]}
 *
 * "data" is the pattern of that layer and head.  Numbers that are not finite are null, and so is "kl" without an
 * output layer. */
#include "variants/variants.h"

#include "sinks/doc.h"

static void key(struct attn_out *o, const char *name)
{
    attn_out_printf(o, ",\"%s\":", name);
}

static void member(struct attn_out *o, const char *name, double x)
{
    key(o, name);
    attn_out_f64(o, x);
}

static void change(struct attn_out *o, const char *name, const struct attn_change *c)
{
    key(o, name);
    attn_out_str(o, "{\"max_abs\":");
    attn_out_f64(o, c->largest);
    member(o, "mean_abs", c->mean);
    attn_out_char(o, '}');
}

static void matrix(struct attn_out *o, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            attn_out_str(o, j ? "," : i ? "],[" : "[[");
            attn_out_f32(o, x[i * n + j]);
        }
    attn_out_str(o, "]]");
}

static void variant(struct attn_out *o, const struct attn_variants *s, const struct attn_variant *v)
{
    char about[ATTN_VARIANT_ABOUT];
    attn_variant_about(about, v, s->model);
    attn_out_str(o, "{\"kind\":");
    attn_doc_string(o, v->name);
    key(o, "about");
    attn_doc_string(o, about);
    change(o, "pattern", &v->pattern);
    change(o, "context", &v->context);
    change(o, "residual", &v->residual);
    member(o, "kl", v->kl);
    member(o, "lost_rows", (double)v->lost);
    member(o, "scores", v->scores);
    member(o, "operations", v->operations);
    member(o, "bytes", (double)v->bytes);
    member(o, "seconds", v->seconds);
    key(o, "data");
    matrix(o, v->drawn, s->tokens->n);
    attn_out_char(o, '}');
}

int attn_variants_report(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
{
    char digest[80];
    struct attn_info info;
    int rc = attn_model_digest(s->model, false, digest, err);
    if (rc)
        return rc;
    attn_model_info(s->model, &info);
    attn_out_str(o, "{\"version\":\"" ATTN_VERSION "\",\n\"model\":");
    attn_doc_model(o, &(struct attn_sink_job){.model = &info, .digest = digest});
    attn_out_str(o, ",\n\"text\":");
    if (s->o->text)
        attn_out_json(o, s->o->text, s->o->text_len);
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\n\"tokens\":");
    attn_doc_tokens(o, s->tokens, "\n");
    attn_out_printf(o, ",\n\"layer\":%zu,\n\"head\":%zu,\n\"variants\":[", s->o->layer, s->o->head);
    for (size_t i = 0; i < s->n; i++) {
        attn_out_str(o, i ? ",\n" : "\n");
        variant(o, s, &s->v[i]);
    }
    attn_out_str(o, "\n]}\n");
    return ATTN_OK;
}

/* gguf_metadata.c - the metadata of a GGUF file, pair by pair, for people to look at. */
#include "base/err.h"
#include "base/out.h"
#include "model/gguf_model.h"

enum { VALUES = 8, TEXT = 200 };        /* so much of an array, and of a string, is shown */

static void put_text(struct attn_out *out, struct attn_str_view s, bool *cut)
{
    int shown = attn_shown_of(s.s, s.len, TEXT);
    *cut |= (size_t)shown < s.len;
    attn_out_json(out, s.s, (size_t)shown);
}

static void put_value(struct attn_out *out, const struct attn_gguf_value *v, size_t i, const unsigned char **at,
                      bool *cut)
{
    uint64_t whole = 0;
    double real = 0;
    if (v->kind == ATTN_GGUF_STRING)
        put_text(out, attn_gguf_next_text(at), cut);
    else if (v->kind == ATTN_GGUF_BOOL)
        attn_out_str(out, v->at[i] ? "true" : "false");
    else if (attn_gguf_whole(v, i, &whole))
        attn_out_u64(out, whole);
    else if (attn_gguf_real(v, i, &real))
        attn_out_f64(out, real);
    else
        attn_out_printf(out, "-%ju", (uintmax_t)(0 - whole));       /* a negative number */
}

int attn_gguf_metadata(struct attn_metadata *out, const struct attn_source *s, size_t i, struct attn_err *err)
{
    const struct attn_gguf *g = ((const struct attn_gguf_model *)s->of)->meta;
    struct attn_out *text;
    size_t len;
    if (i >= g->keys.n)
        return ATTN_OK;
    int rc = attn_out_open_memory(&text, err);
    if (rc)
        return rc;
    const struct attn_gguf_value *v = &g->value[i];
    const unsigned char *at = v->at;
    *out = (struct attn_metadata){.key = v->key, .type = attn_gguf_kind_name(v), .n = v->n, .cut = v->n > VALUES};
    attn_out_str(text, v->array ? "[" : "");
    for (size_t k = 0; k < v->n && k < VALUES; k++) {
        attn_out_str(text, k ? ", " : "");
        put_value(text, v, k, &at, &out->cut);
    }
    attn_out_str(text, v->array ? "]" : "");
    rc = attn_out_take(text, &out->value, &len, err);
    attn_out_close(text);
    return rc;
}

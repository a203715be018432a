#include "io/config_check.h"

#include "base/err.h"

int attn_config_derive(struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->Hkv == 0)
        c->Hkv = c->H;
    if (c->dh == 0 && c->d % c->H != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"d_model\" %zu is not a multiple of \"n_head\" %zu, expected one, "
                         "or a \"d_head\"", name, c->d, c->H);
    if (c->dh == 0)
        c->dh = c->d / c->H;
    if (c->dv == 0)
        c->dv = c->dh;
    return ATTN_OK;
}

/* The widths of q and v fit the 31 bits every kernel and stride is counted in. */
static int check_width(const char *key, size_t width, const struct attn_config *c, const char *name,
                       struct attn_err *err)
{
    if (width > INT32_MAX / c->H)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"n_head\" %zu times \"%s\" %zu is too large, expected at most %d",
                         name, c->H, key, width, INT32_MAX);
    return ATTN_OK;
}

static int check_heads(const struct attn_config *c, const char *name, struct attn_err *err)
{
    int rc = check_width("d_head", c->dh, c, name, err);
    if (!rc)
        rc = check_width("d_value", c->dv, c, name, err);
    if (rc)
        return rc;
    if (c->H % c->Hkv != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"n_kv_head\" is %zu, expected a divisor of \"n_head\" %zu",
                         name, c->Hkv, c->H);
    if (c->position == ATTN_POS_ROPE && c->dh % 2 != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"d_head\" is %zu, expected an even number with "
                         "\"position\": \"rope\"", name, c->dh);
    if (!(c->rope_theta > 0))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_theta\" is 0, expected a number above it", name);
    return ATTN_OK;
}

/* Why the context must be as wide as the residual stream; NULL if it need not. */
static const char *needs_width(const struct attn_config *c)
{
    if (c->residual)
        return "\"residual\": true";
    if (c->mlp != ATTN_MLP_NONE)
        return "an \"mlp\"";
    if (c->L > 1)
        return "\"n_layer\" above 1";
    return c->unembed ? "\"unembed\": true" : NULL;
}

static int check_context(const struct attn_config *c, const char *name, struct attn_err *err)
{
    const char *why = needs_width(c);
    if (c->output_projection || !why || c->H * c->dv == c->d)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: \"n_head\" %zu times \"d_value\" %zu is %zu, expected \"d_model\" "
                     "%zu, because of %s without an output projection; set \"output_projection\": true or change "
                     "the sizes", name, c->H, c->dv, c->H * c->dv, c->d, why);
}

int attn_config_check_tokenizer(const struct attn_config *c, const char *name, struct attn_err *err)
{
    const struct attn_word_rule *t = &c->tokenizer;
    if (t->bpe && (t->drop || t->unknown || t->lowercase))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"tokenizer.%s\" is set, expected it only with \"type\": "
                         "\"word\", not \"bpe\"", name, t->drop ? "drop" : t->unknown ? "unknown" : "lowercase");
    return ATTN_OK;
}

int attn_config_check(const struct attn_config *c, const char *name, struct attn_err *err)
{
    int rc = check_heads(c, name, err);
    if (!rc)
        rc = check_context(c, name, err);
    if (!rc && c->mlp != ATTN_MLP_NONE && c->m == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"d_mlp\" is 0, expected its width because \"mlp\" is \"%s\"", name,
                       attn_mlp_name(c->mlp));
    return rc ? rc : attn_config_check_tokenizer(c, name, err);
}

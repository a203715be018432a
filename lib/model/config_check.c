#include "model/config_check.h"

#include "base/err.h"
#include "model/family.h"

/* The name of a field in the family's files. */
#define KEY(f) attn_key_at(c->family->keys, offsetof(struct attn_config, f))

/* Truncates, as Hugging Face's int() does. */
static void derive_rotary(struct attn_config *c)
{
    if (c->position == ATTN_POS_ROPE)
        c->rotary = (size_t)((double)c->dh * c->rotary_share);
}

int attn_config_derive(struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->Hkv == 0)
        c->Hkv = c->H;
    if (c->dh == 0 && c->d % c->H != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" %zu is not a multiple of \"%s\" %zu, expected one%s", name, KEY(d),
                         c->d, KEY(H), c->H, c->family->ours ? ", or a \"d_head\"" : "");
    if (c->dh == 0)
        c->dh = c->d / c->H;
    if (c->dv == 0)
        c->dv = c->dh;
    if (c->m == 0 && !c->family->ours)
        c->m = 4 * c->d;
    if (c->rotary_share > 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is %g, expected at most 1", name, KEY(rotary_share), c->rotary_share);
    derive_rotary(c);
    return ATTN_OK;
}

/* The widths of q and v must fit into the 31 bits that kernels and strides are counted in. */
static int check_width(const char *key, size_t width, const struct attn_config *c, const char *name,
                       struct attn_err *err)
{
    if (width > INT32_MAX / c->H)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" %zu times \"%s\" %zu is too large, expected at most %d",
                         name, KEY(H), c->H, key, width, INT32_MAX);
    return ATTN_OK;
}

static int check_heads(const struct attn_config *c, const char *name, struct attn_err *err)
{
    int rc = check_width(KEY(dh), c->dh, c, name, err);
    if (!rc)
        rc = check_width(KEY(dv), c->dv, c, name, err);
    if (rc)
        return rc;
    if (c->H % c->Hkv != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is %zu, expected a divisor of \"%s\" %zu",
                         name, KEY(Hkv), c->Hkv, KEY(H), c->H);
    return ATTN_OK;
}

static int check_scaling(const struct attn_config *c, const char *name, struct attn_err *err)
{
    const struct attn_rope_scaling *s = &c->rope;
    if (s->kind == ATTN_ROPE_DEFAULT && s->factor != 0 && s->factor != 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_scaling\" has a factor %g but no \"rope_type\" that uses it, expected "
                         "\"linear\" or \"llama3\"", name, s->factor);
    if (s->kind != ATTN_ROPE_DEFAULT && !(s->factor >= 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_scaling.factor\" is %g, expected at least 1", name, s->factor);
    if (s->kind == ATTN_ROPE_LLAMA3 && !(s->low > 0 && s->high > s->low && s->original >= 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_scaling\" has low_freq_factor %g, high_freq_factor %g, "
                         "original_max_position_embeddings %g, expected 0 < low < high and at least 1", name, s->low,
                         s->high, s->original);
    return ATTN_OK;
}

static int check_rope(const struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->position == ATTN_POS_ROPE && c->rotary % 2 != 0 && c->family->ours)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"d_head\" is %zu, expected an even number with \"position\": \"rope\"", name,
                         c->dh);
    if (c->position == ATTN_POS_ROPE && c->rotary % 2 != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu numbers of each head of %zu are turned by position, expected an even "
                         "number: see \"%s\"", name, c->rotary, c->dh, *KEY(rotary_share) ? KEY(rotary_share) : KEY(dh));
    if (!(c->rope_theta > 0))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is 0, expected a number above it", name, KEY(rope_theta));
    return check_scaling(c, name, err);
}

/* The reason why the context must be as wide as the residual stream; NULL if it need not be. */
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
        rc = check_rope(c, name, err);
    if (!rc)
        rc = check_context(c, name, err);
    if (!rc && c->m > INT32_MAX)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" %zu makes an mlp of width %zu, expected at most %d", name, KEY(d),
                       c->d, c->m, INT32_MAX);
    if (!rc && c->mlp != ATTN_MLP_NONE && c->m == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"d_mlp\" is 0, expected its width because \"mlp\" is \"%s\"", name,
                       attn_mlp_name(c->mlp));
    if (!rc && c->end >= c->V && c->end > 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is %zu, expected less than \"%s\" %zu", name, KEY(end), c->end, KEY(V), c->V);
    return rc ? rc : attn_config_check_tokenizer(c, name, err);
}

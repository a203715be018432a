#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "model/family.h"
#include "model/nearest.h"
#include "model/quantized.h"
#include "model/rope.h"

/* ---- what involves several keys ---------------------------------------------------------
 *
 * The family's table says what each key may be; here combinations without a meaning are refused. */

/* The name of a field in the family's files. */
#define KEY(f) attn_key_at(c->family->keys, offsetof(struct attn_config, f))

/* Where the file says how rotation is scaled. */
static const char *rope_section(const struct attn_config *c)
{
    return c->rope_section ? "rope_parameters" : "rope_scaling";
}

/* Truncates, as Hugging Face's int() does. */
static void derive_rotary(struct attn_config *c)
{
    if (c->position != ATTN_POS_ROPE)
        c->rotary = 0;
    else if (c->rotary == 0)
        c->rotary = (size_t)((double)c->dh * c->rotary_share);
}

/* How long texts may be: scaled rotation is there to take longer ones than the model was trained with. */
static void derive_context(struct attn_config *c)
{
    double n = (double)c->n_ctx, original = c->rope.original > 0 ? c->rope.original : n;
    c->trained_ctx = c->n_ctx;
    /* Gemma's has it */
    if (c->rope.kind == ATTN_ROPE_DYNAMIC || (c->rope.kind == ATTN_ROPE_LINEAR && !c->rope_apart))
        n *= c->rope.factor;
    if (c->rope.kind == ATTN_ROPE_YARN)
        n = fmax(n, original * c->rope.factor);
    c->n_ctx = (size_t)fmin(n, INT32_MAX);
}

/* Without a factor, yarn's is how much longer texts may be than those of the training, if the file tells both. */
static void derive_factor(struct attn_config *c, const cJSON *root)
{
    const cJSON *factor = attn_tree_member(attn_tree_member(root, rope_section(c)), "factor");
    if (c->rope.kind == ATTN_ROPE_YARN && c->rope.factor == 0 && c->rope.original > 0 &&
        (!factor || cJSON_IsNull(factor)))
        c->rope.factor = (double)c->n_ctx / c->rope.original;
}

/* Fills in the sizes that are 0 because their keys are absent. */
static int derive(struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->Hkv == 0)
        c->Hkv = c->H;
    if (c->dh == 0 && c->d % c->H != 0)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: \"%s\" %zu is not a multiple of \"%s\" %zu, expected one%s", name, KEY(d),
                         c->d, KEY(H), c->H, c->family->native ? ", or a \"d_head\"" : "");
    if (c->dh == 0)
        c->dh = c->d / c->H;
    if (c->dv == 0)
        c->dv = c->dh;
    if (c->m == 0 && !c->family->native)
        c->m = 4 * c->d;
    if (c->rotary_share > 1)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: \"%s\" is %g, expected at most 1", name, KEY(rotary_share), c->rotary_share);
    if (c->embed_by_root)
        c->embed_scale = sqrt((double)c->d);
    if (c->d_embed == c->d)
        c->d_embed = 0;
    if (c->alibi)
        c->position = ATTN_POS_ALIBI;
    if (!c->rope_apart)
        c->local_theta = c->rope_theta;
    derive_rotary(c);
    derive_context(c);
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

/* Longrope's lists have a number for each pair. */
static int check_longrope(const struct attn_config *c, const struct attn_rope_scaling *s, const char *name,
                          struct attn_err *err)
{
    if (s->few.n != c->rotary / 2 || s->many.n != c->rotary / 2)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"short_factor\" and \"long_factor\" have %zu and %zu numbers, "
                                            "expected %zu, one for each pair of a head that is turned", name, s->few.n,
                         s->many.n, c->rotary / 2);
    if (!isfinite(attn_longrope_attention_factor(c, s)))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"original_max_position_embeddings\" is so small that its logarithm "
                                            "cannot divide, expected more than 1", name);
    return ATTN_OK;
}

static int check_scaling(const struct attn_config *c, const struct attn_rope_scaling *s, double theta, const char *name,
                         struct attn_err *err)
{
    const char *section = rope_section(c);
    if (s->kind == ATTN_ROPE_DEFAULT && s->factor != 0 && s->factor != 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" has a factor %g but no \"rope_type\" that uses it, expected "
                         "\"linear\", \"llama3\", \"yarn\" or \"dynamic\"", name, section, s->factor);
    if (s->kind == ATTN_ROPE_LONGROPE)
        return check_longrope(c, s, name, err);
    if (s->kind != ATTN_ROPE_DEFAULT && s->factor == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s.factor\" is missing or 0, expected at least 1", name, section);
    if (s->kind != ATTN_ROPE_DEFAULT && !(s->factor >= 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s.factor\" is %g, expected at least 1", name, section, s->factor);
    if (s->kind == ATTN_ROPE_DYNAMIC && c->rotary <= 2)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu numbers of each head are turned, expected more than 2 with "
                                            "\"rope_type\": \"dynamic\"", name, c->rotary);
    if (s->kind == ATTN_ROPE_YARN && !(theta > 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_theta\" is %g, expected more than 1 with \"rope_type\": "
                                            "\"yarn\"", name,
                         theta);
    if (s->kind == ATTN_ROPE_LLAMA3 && !(s->low > 0 && s->high > s->low && s->original >= 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" has low_freq_factor %g, high_freq_factor %g, "
                         "original_max_position_embeddings %g, expected 0 < low < high and at least 1", name, section,
                         s->low, s->high, s->original);
    return ATTN_OK;
}

static int check_rotary(const struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->rotary <= c->dh)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: %zu numbers of each head of %zu are turned by position, expected at most "
                                        "%zu", name,
                     c->rotary, c->dh, c->dh);
}

static int check_rope(const struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->position == ATTN_POS_ROPE && c->rotary % 2 != 0 && c->family->native)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"d_head\" is %zu, expected an even number with \"position\": "
                                            "\"rope\"", name,
                         c->dh);
    const char *turned = *KEY(rotary_share) ? KEY(rotary_share) : *KEY(rotary) ? KEY(rotary) : KEY(dh);
    if (c->position == ATTN_POS_ROPE && c->rotary % 2 != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu numbers of each head of %zu are turned by position, expected an "
                                            "even number: see \"%s\"", name, c->rotary, c->dh, turned);
    if (!(c->rope_theta > 0))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is 0, expected a number above it", name, KEY(rope_theta));
    if (c->rope_apart && !(c->local_theta > 0))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"rope_local_base_freq\" is 0, expected a number above it", name);
    int rc = c->position == ATTN_POS_ROPE ? check_rotary(c, name, err) : ATTN_OK;
    if (!rc)
        rc = check_scaling(c, &c->rope, c->rope_theta, name, err);
    return rc ? rc : check_scaling(c, &c->local_rope, c->local_theta, name, err);
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

static int check_tokenizer(const struct attn_config *c, const char *name, struct attn_err *err)
{
    const struct attn_word_rule *t = &c->tokenizer;
    if (t->kind == ATTN_RULE_BPE && (t->drop || t->unknown || t->lowercase))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"tokenizer.%s\" is set, expected it only with \"type\": "
                         "\"word\", not \"bpe\"", name, t->drop ? "drop" : t->unknown ? "unknown" : "lowercase");
    return ATTN_OK;
}

static int check(const struct attn_config *c, const char *name, struct attn_err *err)
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
    if (!rc && c->position == ATTN_POS_SINUSOID && c->d < 4)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"%s\" is %zu, expected at least 4: positions are sines and cosines of "
                                          "at least two speeds", name, KEY(d), c->d);
    if (!rc && c->norm_embed && c->norm == ATTN_NORM_NONE)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: \"norm_embed\" is true, but \"norm\" is \"none\": expected "
                                          "\"layernorm\" or \"rmsnorm\"", name);
    if (!rc && *KEY(query_scalar) && !(c->query_scalar > 0))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: \"%s\" is 0, expected a number above it: scores are divided by its root", name,
                       KEY(query_scalar));
    if (!rc && c->end > c->V)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: \"%s\" is %zu, expected less than \"%s\" %zu", name, KEY(end), c->end - 1, KEY(V),
                       c->V);
    return rc ? rc : check_tokenizer(c, name, err);
}

/* ---- the family ------------------------------------------------------------------------ */

static const struct attn_family *family_named(const cJSON *v)
{
    for (size_t i = 0; attn_families[i]; i++)
        if (cJSON_IsString(v) && strcmp(v->valuestring, attn_families[i]->name) == 0)
            return attn_families[i];
    return NULL;
}

static int require_keys(const struct attn_key_reader *r, const struct attn_config *c)
{
    for (const char *const *name = c->family->required; *name; name++) {
        const struct attn_key *k = attn_key_named(c->family->keys, *name);
        if (*(const size_t *)(const void *)((const char *)c + k->at) == 0)
            return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"%s\", expected %s", r->name, k->name,
                             attn_size_from_1);
    }
    return ATTN_OK;
}

/* Reads a number or a list of them.  If some do not fit, a generated text only gets longer. */
static void read_eos(struct attn_config *c, const cJSON *v)
{
    double id;
    const cJSON *at = cJSON_IsArray(v) ? v->child : v;
    for (; at && c->n_eos < sizeof c->eos / sizeof *c->eos; at = cJSON_IsArray(v) ? at->next : NULL)
        if (attn_tree_whole(at, 0, INT32_MAX, &id))
            c->eos[c->n_eos++] = (int32_t)id;
}

static void read_bos(struct attn_config *c, const cJSON *v)
{
    double id;
    if (v && attn_tree_whole(v, 0, INT32_MAX, &id))
        c->begin = (size_t)id + 1;
}

/* ---- reading --------------------------------------------------------------------------- */

enum { VALUES_MAX = 4096 };

/* The keys of a family: those of the file, or of a section of it; then ids of tokens, and whether the output layer is
 * tied, may stand beside the section. */
static int find_section(struct attn_key_reader *r, const struct attn_family *f, const cJSON **root)
{
    const cJSON *section = f->section ? attn_tree_member(*root, f->section) : *root;
    if (!section)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"%s\", expected an object with the keys of the model "
                                               "of texts", r->name, f->section);
    if (!cJSON_IsObject(section))
        return attn_key_unexpected(r, f->section, section, "an object");
    *root = section;
    return ATTN_OK;
}

static int read_beside(const struct attn_key_reader *r, const struct attn_family *f, const cJSON *file)
{
    static const char tie[] = "tie_word_embeddings";
    const cJSON *v = f->section ? attn_tree_member(file, tie) : NULL;
    return v ? attn_key_read(r, attn_key_named(f->keys, tie), v) : ATTN_OK;
}

static const cJSON *member_of(const cJSON *inner, const cJSON *file, const char *name)
{
    const cJSON *v = attn_tree_member(inner, name);
    return v ? v : attn_tree_member(file, name);
}

/* Reads the family first: it determines the meaning of every other key. */
static int read_model(struct attn_key_reader *r, const cJSON *file, const struct attn_tensor_names *names)
{
    const cJSON *root = file;
    struct attn_config *c = r->to;
    const cJSON *type = attn_tree_member(root, "model_type");
    const struct attn_family *family = family_named(type);
    if (!family)
        return attn_nearest_fail(r, file, type, names);
    *c = *family->defaults;
    c->family = family;
    int rc = find_section(r, family, &root);
    if (rc)
        return rc;
    c->rope_section = cJSON_IsObject(attn_tree_member(root, "rope_parameters"));
    r->lax = r->none = !family->native;
    if (!family->native)
        rc = attn_quantized_config(r, member_of(root, file, "quantization_config"));
    if (!rc)
        rc = read_beside(r, family, file);
    if (!rc)
        rc = attn_keys_read(r, family->keys, root);
    if (!rc)
        rc = require_keys(r, c);
    if (!rc)
        rc = family->more ? family->more(r, c, root) : ATTN_OK;
    if (!rc)
        rc = attn_family_layers(r, c, root);
    if (!rc && r->lax)
        read_bos(c, member_of(root, file, "bos_token_id"));
    if (!rc && r->lax)
        read_eos(c, member_of(root, file, "eos_token_id"));
    else if (!rc && c->end > 0)
        c->eos[c->n_eos++] = (int32_t)(c->end - 1);
    if (!rc) {
        derive_factor(c, root);
        rc = derive(c, r->name, r->err);
    }
    return rc ? rc : check(c, r->name, r->err);
}

/* Reads the native section; the tokenizers of other families have files of their own. */
static int read_tokenizer(struct attn_key_reader *r, const cJSON *root, const struct attn_tensor_names *names)
{
    (void)names;
    struct attn_config *c = r->to;
    const struct attn_key *k = attn_key_named(attn_families[0]->keys, "tokenizer");
    const cJSON *v = attn_tree_member(root, k->name);
    int rc = v ? attn_key_read(r, k, v) : ATTN_OK;
    return rc ? rc : check_tokenizer(c, r->name, r->err);
}

static int read_with(int (*part)(struct attn_key_reader *r, const cJSON *root, const struct attn_tensor_names *names),
                     struct attn_config *out, const char *text, size_t len, const char *name,
                     const struct attn_tensor_names *names, struct attn_err *err)
{
    struct attn_key_reader r = {.to = out, .name = name, .section = "", .err = err};
    cJSON *root = NULL;
    *out = *attn_families[0]->defaults;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (!rc)
        rc = part(&r, root, names);
    cJSON_Delete(root);
    if (rc)
        attn_config_free(out);
    return rc;
}

int attn_config_read_ends(struct attn_config *c, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, text, len, name, len, err);     /* lists of ids to suppress may be long */
    const cJSON *ends = rc ? NULL : attn_tree_member(root, "eos_token_id");
    if (ends && !cJSON_IsNull(ends)) {
        c->n_eos = 0;
        c->ends_apart = true;
        read_eos(c, ends);
    }
    cJSON_Delete(root);
    return rc;
}

int attn_config_read(struct attn_config *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    return read_with(read_model, out, text, len, name, &(const struct attn_tensor_names){0}, err);
}

int attn_config_read_named(struct attn_config *out, const char *text, size_t len, const char *name,
                           const struct attn_tensor_names *names, struct attn_err *err)
{
    return read_with(read_model, out, text, len, name, names, err);
}

int attn_config_read_tokenizer(struct attn_config *out, const char *text, size_t len, const char *name,
                               struct attn_err *err)
{
    return read_with(read_tokenizer, out, text, len, name, NULL, err);
}

void attn_config_free(struct attn_config *c)
{
    free(c->local);
    free(c->no_rope);
    free(c->rope.few.x);
    free(c->rope.many.x);
    free(c->local_rope.few.x);
    free(c->local_rope.many.x);
    free(c->tokenizer.drop);
    free(c->tokenizer.unknown);
    *c = (struct attn_config){0};
}

void attn_config_write(struct attn_out *out, const struct attn_config *c)
{
    attn_keys_write(out, attn_families[0]->keys, c, 2);
    attn_out_char(out, '\n');
}

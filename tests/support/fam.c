#include "fam.h"

#include "scratch.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- a config.json, key by key ---- */

void fam_put(struct fam *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs(", ", f->f);
    vfprintf(f->f, fmt, ap);
    va_end(ap);
}

void fam_flag(struct fam *f, const char *key, bool value, bool absent)
{
    if (value != absent || pick(2))
        fam_put(f, "\"%s\": %s", key, value ? "true" : "false");
}

void fam_kind(struct fam *f, const char *key, const char *const *choices, int chosen)
{
    fam_put(f, "\"%s\": \"%s\"", key, choices[chosen]);
}

void fam_noise(struct fam *f)
{
    static const char *const noise[] = {
        "\"torch_dtype\": \"float16\"", "\"use_cache\": true", "\"bos_token_id\": 1", "\"eos_token_id\": [1, 2]",
        "\"attention_dropout\": 0.1", "\"initializer_range\": 0.02", "\"pretraining_tp\": 2",
        "\"quantization_config\": null",
        "\"pruned_heads\": {}", "\"task_specific_params\": {\"a\": [1, {}]}", "\"reorder_and_upcast_attn\": true",
        "\"is_encoder_decoder\": false", "\"logit_scale\": 1.0"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        const char *key = printed("%.*s", (int)strcspn(noise[i], ":"), noise[i]);
        fflush(f->f);
        if (sometimes() && !strstr(f->text, key))       /* a family may have it */
            fam_put(f, "%s", noise[i]);
    }
}

/* ---- sizes ---- */

struct fam_wish fam_wish;

static void wished_sizes(struct ref_config *c)
{
    static const double eps[] = {1e-5, 1e-6, 1e-12};
    c->V = 40 + pick(40), c->n_ctx = 24 + pick(8), c->L = fam_wish.d > 256 ? 3 : 3 + pick(2);
    c->dh = fam_wish.d < 128 ? 16 : fam_wish.d > 256 ? 64 : 16 << pick(3);
    c->H = fam_wish.d / c->dh, c->m = fam_wish.d * (fam_wish.d > 256 ? 1 : 1 + pick(2)), c->eps = eps[pick(3)];
}

void fam_groups(struct ref_config *c)
{
    static const int shares[] = {1, 2, 3, 4, 6};
    int H = c->H, share = 1;
    c->Hkv = 1 + pick(3);
    c->H = c->Hkv * (1 + pick(3));
    if (!fam_wish.d)
        return;
    do
        share = shares[pick(5)];
    while (H % share);
    c->H = H, c->Hkv = H / share;
}

int fam_width(void)
{
    return fam_wish.d ? fam_wish.d + 32 : NARROWEST + pick(53);
}

int fam_window(int most)
{
    return fam_wish.d ? 3 + pick(8) : 1 + pick(most);
}

/* So that the largest products of queries and keys are about 100. */
double fam_sharp(const struct ref_config *c)
{
    int norm = c->dh < 32 ? 8 : c->dh < 64 ? 4 : 2;
    return !fam_wish.d ? 0 : c->qk_norm ? norm : c->dh < 64 ? 16 : 8;
}

void fam_sizes(struct fam *f, bool even)
{
    struct ref_config *c = &f->c;
    *c = (struct ref_config){
        .V = 2 + pick(60), .n_ctx = 1 + pick(70), .L = 1 + pick(3), .H = 1 + pick(6), .dh = NARROWEST + pick(13),
        .m = 1 + pick(90), .causal = true, .scale = true, .residual = true, .projection = true, .unembed = true,
        .eps = pick(2) ? 1e-5 : 1e-3, .theta = 10000};
    if (fam_wish.d)
        wished_sizes(c);
    c->dh += even && c->dh % 2;
    c->Hkv = c->H;
    c->d = c->H * c->dh;
    c->dv = c->dh;
}

/* ---- names ---- */

const char *fam_block(const struct fam *f, const char *stem, int layer, const char *tail)
{
    return printed("%s%s%d.%s", f->prefix, stem, layer, tail);
}

const char *fam_native(int layer, const char *tail)
{
    return printed("blocks.%d.%s", layer, tail);
}

void fam_head(struct fam *f, const char *embed, const char *head)
{
    head = f->head ? f->head : head;
    if (!f->c.tied)
        hf_linear(&f->hf, "unembed", head, (size_t)f->c.d, (size_t)f->c.V, true, false);
    else if (sometimes())
        hf_copy(&f->hf, printed("%s.weight", head), printed("%s%s.weight", f->prefix, embed));
    else if (*f->prefix && sometimes())
        hf_rename(&f->hf, printed("%s.weight", head), printed("%s%s.weight", f->prefix, embed));
}

/* ---- rotary positions, in all spellings ---- */

/* Original contexts are so short that fast, slow and middling pairs all occur. */
static void put_llama3(struct fam *f)
{
    struct ref_config *c = &f->c;
    c->low = 1 + pick(2), c->high = c->low + 1 + pick(4), c->original = 8 + pick(300);
    fam_put(f, "\"low_freq_factor\": %g, \"high_freq_factor\": %g, \"original_max_position_embeddings\": %g",
            c->low, c->high, c->original);
}

static double yarn_grows(double scale, double factor) { return factor <= 1 ? 1 : 0.1 * scale * log(factor) + 1; }

static void put_yarn(struct fam *f)
{
    struct ref_config *c = &f->c;
    c->grow = yarn_grows(1, c->factor);
    if (pick(2)) {
        c->original = 8 + pick(300);
        fam_put(f, "\"original_max_position_embeddings\": %g", c->original);
    }
    if (pick(2)) {
        c->beta_fast = 2 + pick(40), c->beta_slow = 0.5 + pick(3) / 2.0;
        fam_put(f, "\"beta_fast\": %g, \"beta_slow\": %g", c->beta_fast, c->beta_slow);
    }
    if ((c->real = sometimes()))
        fam_put(f, "\"truncate\": false");
    switch (pick(4)) {
    case 0:
        c->grow = 0.75 + pick(3) / 4.0;
        fam_put(f, "\"attention_factor\": %g, \"mscale\": 0.5, \"mscale_all_dim\": 0.25", c->grow);
        break;
    case 1:
        c->grow = yarn_grows(0.5, c->factor) / yarn_grows(0.25, c->factor);
        fam_put(f, "\"mscale\": 0.5, \"mscale_all_dim\": 0.25");
        break;
    default:
        fam_put(f, "\"attention_factor\": null");
    }
    f->longest = (int)fmax(c->n_ctx, (c->original > 0 ? c->original : c->n_ctx) * c->factor);
}

static void put_scaling(struct fam *f, bool theta_inside)
{
    struct ref_config *c = &f->c;
    static const char *const kinds[] = {"linear", "llama3", "yarn", "dynamic"};
    int kind = pick(5), turned = c->part ? c->rotary : c->dh;
    const char *section = theta_inside || pick(2) ? "rope_parameters" : "rope_scaling",
        *type = pick(2) ? "type" : "rope_type";
    if (kind == 3 && turned <= 2)
        kind = 4;
    if (kind == 4 && !theta_inside)
        return;
    fam_put(f, "\"%s\": {\"%s\": \"%s\"", section, type, kind == 4 ? "default" : kinds[kind]);
    if (kind < 4) {
        c->scaling = kinds[kind];
        c->factor = 1 + pick(8) / 2.0;
        fam_put(f, "\"factor\": %g", c->factor);
    }
    if (kind == 1)
        put_llama3(f);
    if (kind == 2)
        put_yarn(f);
    if (kind == 3)                      /* texts beyond the context are what changes it */
        f->longest = (int)(c->n_ctx * c->factor);
    if (theta_inside)
        fam_put(f, "\"rope_theta\": %g", c->theta);
    fputc('}', f->f);
}

void fam_theta(struct fam *f, const char *key, double usual)
{
    static const double thetas[] = {10000, 500000, 100, 1000000};
    f->c.theta = pick(4) ? thetas[pick(4)] : usual;
    bool inside = sometimes();
    if (!inside && (f->c.theta != usual || pick(2)))
        fam_put(f, "\"%s\": %g", key, f->c.theta);
    if (inside || sometimes())
        put_scaling(f, inside);
}

/* drawn_course.c - models of nanoGPT, minGPT and the lecture, as the files of courses become them. */
#include "fam.h"

#include "scratch.h"

#include <stdlib.h>
#include <string.h>

static void nanogpt_config(struct fam *f)
{
    static const char *const kinds[] = {"gelu", "gelu_new", "relu"};
    struct ref_config *c = &f->c;
    int kind = pick(3);
    fam_sizes(f, false);
    c->position = "learned", c->norm = "layernorm", c->mlp = kinds[kind];
    c->tied = often(), c->bias = often();
    fam_put(f, "\"vocab_size\": %d, \"block_size\": %d, \"n_embd\": %d, \"n_head\": %d, \"n_layer\": %d", c->V,
            c->n_ctx, c->d, c->H, c->L);
    if (pick(2))
        c->m = 4 * c->d;
    if (c->m != 4 * c->d || pick(2))
        fam_put(f, "\"n_inner\": %d", c->m);
    if (kind || pick(2))
        fam_put(f, "\"activation_function\": \"%s\"", kinds[kind]);
    c->eps = 1e-5;
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    fam_flag(f, "bias", c->bias, true);
    if (c->bias && pick(2))
        fam_put(f, "\"qkv_bias\": %s", pick(2) ? "true" : "false");
}

static void nanogpt_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m;
    struct hf *h = &f->hf;
    fflush(f->f);
    bool bias = c->bias, asked = bias && !strstr(f->text, "\"qkv_bias\": false");
    f->prefix = pick(2) ? "transformer." : "";
    hf_table(h, "embed", printed("%swte", f->prefix), (size_t)c->V, d);
    hf_table(h, "pos_embed", printed("%swpe", f->prefix), (size_t)c->n_ctx, d);
    for (int i = 0; i < c->L; i++) {
        char *part[] = {strdup(fam_native(i, "attn.q")), strdup(fam_native(i, "attn.k")),
                        strdup(fam_native(i, "attn.v"))};
        hf_norm(h, fam_native(i, "norm1"), fam_block(f, "h.", i, "ln_1"), d, bias);
        hf_fused(h, (const struct hf_part[]){{part[0], d}, {part[1], d}, {part[2], d}}, 3, 1,
                 fam_block(f, "h.", i, "attn.c_attn"), d, asked);
        hf_linear(h, fam_native(i, "attn.o"), fam_block(f, "h.", i, "attn.c_proj"), d, d, true, bias);
        hf_norm(h, fam_native(i, "norm2"), fam_block(f, "h.", i, "ln_2"), d, bias);
        hf_linear(h, fam_native(i, "mlp.in"), fam_block(f, "h.", i, "mlp.c_fc"), d, m, true, bias);
        hf_linear(h, fam_native(i, "mlp.out"), fam_block(f, "h.", i, "mlp.c_proj"), m, d, true, bias);
        for (int k = 0; k < 3; k++)
            free(part[k]);
    }
    hf_norm(h, "norm_final", printed("%sln_f", f->prefix), d, bias);
    fam_head(f, "wte", "lm_head");
}

const struct fam_family fam_courses[] = {{"nanogpt", nanogpt_config, nanogpt_tensors}, {NULL, NULL, NULL}};

#include "trace/hooks.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

/* The last ones are those of bridges to other libraries (hook_in, hook_out). */
static const struct attn_hook hooks[] = {
    {"hook_embed", ATTN_ACT_EMBED, .added = false},
    {"hook_pos_embed", ATTN_ACT_POS_EMBED, .added = false},
    {"hook_resid_pre", ATTN_ACT_RESID_PRE, .added = false},
    {"hook_resid_mid", ATTN_ACT_RESID_MID, .added = false},
    {"hook_resid_post", ATTN_ACT_RESID_POST, .added = false},
    {"ln1.hook_out", ATTN_ACT_NORM1, .added = false},
    {"ln2.hook_out", ATTN_ACT_NORM2, .added = false},
    {"ln_final.hook_out", ATTN_ACT_NORM_FINAL, .added = false},
    {"ln1.hook_normalized", ATTN_ACT_NORM1, .bare = true},
    {"ln2.hook_normalized", ATTN_ACT_NORM2, .bare = true},
    {"ln_final.hook_normalized", ATTN_ACT_NORM_FINAL, .bare = true},
    {"attn.hook_rot_q", ATTN_ACT_Q, .added = false},
    {"attn.hook_rot_k", ATTN_ACT_K, .added = false},
    {"attn.hook_q", ATTN_ACT_Q, .unturned = true},
    {"attn.hook_k", ATTN_ACT_K, .unturned = true},
    {"attn.hook_v", ATTN_ACT_V, .added = false},
    {"attn.hook_attn_scores", ATTN_ACT_SCORES, .added = false},
    {"attn.hook_pattern", ATTN_ACT_PATTERN, .added = false},
    {"attn.hook_attn", ATTN_ACT_PATTERN, .added = false},
    {"attn.hook_z", ATTN_ACT_CONTEXT, .added = false},
    {"attn.hook_result", ATTN_ACT_RESULT, .added = false},
    {"attn.hook_out", ATTN_ACT_OUT, .added = false},
    {"hook_attn_out", ATTN_ACT_ADDED, .added = true},
    {"hook_attn_out", ATTN_ACT_OUT, .added = false},
    {"mlp.hook_pre", ATTN_ACT_MLP_PRE, .added = false},
    {"mlp.hook_pre_linear", ATTN_ACT_MLP_LINEAR, .added = false},
    {"mlp.hook_post", ATTN_ACT_MLP_POST, .added = false},
    {"mlp.hook_out", ATTN_ACT_MLP_OUT, .added = false},
    {"hook_mlp_out", ATTN_ACT_MLP_ADDED, .added = true},
    {"hook_mlp_out", ATTN_ACT_MLP_OUT, .added = false},
    {"hook_unembed", ATTN_ACT_LOGITS, .added = false},
    {"embed.hook_out", ATTN_ACT_EMBED, .added = false},
    {"pos_embed.hook_out", ATTN_ACT_POS_EMBED, .added = false},
    {"hook_in", ATTN_ACT_RESID_PRE, .added = false},
    {"hook_out", ATTN_ACT_RESID_POST, .added = false},
    {"attn.q.hook_out", ATTN_ACT_Q, .unturned = true},
    {"attn.k.hook_out", ATTN_ACT_K, .unturned = true},
    {"attn.v.hook_out", ATTN_ACT_V, .added = false},
    {"attn.o.hook_in", ATTN_ACT_CONTEXT, .added = false},
    {"mlp.out.hook_in", ATTN_ACT_MLP_POST, .added = false},
    {"unembed.hook_out", ATTN_ACT_LOGITS, .added = false},
};
enum { HOOKS = sizeof hooks / sizeof *hooks };

const struct attn_hook *attn_hook_at(size_t i) { return i < HOOKS ? &hooks[i] : NULL; }

/* ---- modules of Hugging Face ------------------------------------------------------------ */

/* What stands before the number of a layer. */
static const char *const stacks[] = {
    "model.layers.", "transformer.h.", "gpt_neox.layers.", "model.decoder.layers.", "transformer.blocks.", "layers.",
        "h.",
};

/* UNGATED: ours only in models whose MLP has no gate; the others where nothing follows that changes the numbers. */
enum { PLAIN, UNTURNED, UNGATED, UNSCALED };

/* In the order in which they count: one that the model has not got is passed over for a later row.  The module of a
 * layer as a whole has no tail. */
static const struct module { const char *tail; int act, how; } modules[] = {
    {"", ATTN_ACT_RESID_POST, PLAIN},
    {"input_layernorm", ATTN_ACT_NORM1, PLAIN}, {"ln_1", ATTN_ACT_NORM1, PLAIN},
    {"self_attn_layer_norm", ATTN_ACT_NORM1, PLAIN}, {"norm_1", ATTN_ACT_NORM1, PLAIN},
    {"post_attention_layernorm", ATTN_ACT_ADDED, PLAIN},        /* Gemma 2 and OLMo 2: behind attention */
    {"post_attention_layernorm", ATTN_ACT_NORM2, PLAIN}, {"ln_2", ATTN_ACT_NORM2, PLAIN},
    {"pre_feedforward_layernorm", ATTN_ACT_NORM2, PLAIN}, {"final_layer_norm", ATTN_ACT_NORM2, PLAIN},
    {"norm_2", ATTN_ACT_NORM2, PLAIN},
    {"post_feedforward_layernorm", ATTN_ACT_MLP_ADDED, PLAIN},
    {"self_attn.q_proj", ATTN_ACT_Q, UNTURNED}, {"self_attn.k_proj", ATTN_ACT_K, UNTURNED},
    {"self_attn.v_proj", ATTN_ACT_V, PLAIN},
    {"self_attn.o_proj", ATTN_ACT_OUT, PLAIN}, {"self_attn.out_proj", ATTN_ACT_OUT, PLAIN},
    {"self_attn.dense", ATTN_ACT_OUT, PLAIN}, {"attn.c_proj", ATTN_ACT_OUT, PLAIN},
    {"attn.out_proj", ATTN_ACT_OUT, PLAIN}, {"attention.dense", ATTN_ACT_OUT, PLAIN},
    {"attn.attention.out_proj", ATTN_ACT_OUT, PLAIN}, {"self_attention.dense", ATTN_ACT_OUT, PLAIN},
    {"self_attn", ATTN_ACT_OUT, PLAIN}, {"attn", ATTN_ACT_OUT, PLAIN}, {"attention", ATTN_ACT_OUT, PLAIN},
    {"mlp.gate_proj", ATTN_ACT_MLP_PRE, PLAIN}, {"mlp.up_proj", ATTN_ACT_MLP_LINEAR, PLAIN},
    {"mlp.up_proj", ATTN_ACT_MLP_PRE, PLAIN},
    {"mlp.c_fc", ATTN_ACT_MLP_PRE, PLAIN}, {"mlp.fc1", ATTN_ACT_MLP_PRE, PLAIN}, {"fc1", ATTN_ACT_MLP_PRE, PLAIN},
    {"mlp.dense_h_to_4h", ATTN_ACT_MLP_PRE, PLAIN},
    {"mlp.act_fn", ATTN_ACT_MLP_POST, UNGATED}, {"mlp.act", ATTN_ACT_MLP_POST, UNGATED},
    {"mlp.activation_fn", ATTN_ACT_MLP_POST, UNGATED}, {"activation_fn", ATTN_ACT_MLP_POST, UNGATED},
    {"mlp.down_proj", ATTN_ACT_MLP_OUT, PLAIN}, {"mlp.c_proj", ATTN_ACT_MLP_OUT, PLAIN},
    {"mlp.fc2", ATTN_ACT_MLP_OUT, PLAIN}, {"fc2", ATTN_ACT_MLP_OUT, PLAIN},
    {"mlp.dense_4h_to_h", ATTN_ACT_MLP_OUT, PLAIN}, {"mlp", ATTN_ACT_MLP_OUT, PLAIN},
    {"model.embed_tokens", ATTN_ACT_EMBED, UNSCALED}, {"embed_tokens", ATTN_ACT_EMBED, UNSCALED},
    {"transformer.wte", ATTN_ACT_EMBED, UNSCALED}, {"wte", ATTN_ACT_EMBED, UNSCALED},
    {"gpt_neox.embed_in", ATTN_ACT_EMBED, UNSCALED}, {"model.decoder.embed_tokens", ATTN_ACT_EMBED, UNSCALED},
    {"transformer.word_embeddings", ATTN_ACT_EMBED, UNSCALED},
    {"transformer.wpe", ATTN_ACT_POS_EMBED, PLAIN}, {"wpe", ATTN_ACT_POS_EMBED, PLAIN},
    {"model.decoder.embed_positions", ATTN_ACT_POS_EMBED, PLAIN},
    {"model.norm", ATTN_ACT_NORM_FINAL, PLAIN}, {"transformer.ln_f", ATTN_ACT_NORM_FINAL, PLAIN},
    {"ln_f", ATTN_ACT_NORM_FINAL, PLAIN}, {"gpt_neox.final_layer_norm", ATTN_ACT_NORM_FINAL, PLAIN},
    {"model.final_layernorm", ATTN_ACT_NORM_FINAL, PLAIN},
    {"model.decoder.final_layer_norm", ATTN_ACT_NORM_FINAL, PLAIN},
    {"lm_head", ATTN_ACT_LOGITS, UNSCALED}, {"embed_out", ATTN_ACT_LOGITS, UNSCALED},
    {"attentions", ATTN_ACT_PATTERN, PLAIN},
};
enum { MODULES = sizeof modules / sizeof *modules };

/* ---- from their names to ours ------------------------------------------------------------ */

struct name {
    const char *text; size_t len;       /* as it was typed */
    const char *block, *tail; size_t block_len, tail_len;      /* block NULL: there is none */
    const struct attn_hook_points *model;
    const char *where; struct attn_err *err;
};

/* Cuts "blocks.3.attn.hook_z" after its number, or after what stands for it. */
static void cut(struct name *n, const char *stack)
{
    size_t before = strlen(stack);
    if (n->len <= before || memcmp(n->text, stack, before))
        return;
    const char *number = n->text + before;
    size_t digits = strspn(number, "0123456789*?");
    if (!digits || before + digits > n->len || (before + digits < n->len && number[digits] != '.'))
        return;
    n->block = number;
    n->block_len = digits;
    n->tail = number + digits + (before + digits < n->len);
    n->tail_len = (size_t)(n->text + n->len - n->tail);
}

static bool is(const struct name *n, const char *tail)
{
    return strlen(tail) == n->tail_len && !memcmp(tail, n->tail, n->tail_len);
}

/* "hook_z" for "attn.hook_z". */
static bool ends(const struct name *n, const char *tail)
{
    size_t len = strlen(tail);
    return len > n->tail_len && tail[len - n->tail_len - 1] == '.' && n->tail_len > 5 && !memcmp(n->tail, "hook_", 5) &&
           !memcmp(tail + len - n->tail_len, n->tail, n->tail_len);
}

static int say(char out[ATTN_HOOK_ROOM], const struct name *n, int act)
{
    int used = n->block ? snprintf(out, ATTN_HOOK_ROOM, "blocks.%.*s.", (int)(n->block_len < 24 ? n->block_len : 24),
                                   n->block) : 0;
    snprintf(out + used, (size_t)(ATTN_HOOK_ROOM - used), "%s", attn_act_tail(act));
    return ATTN_OK;
}

static int refuse(const struct name *n, const char *why, int act)
{
    return attn_fail(n->err, ATTN_EUSAGE, "%s: '%.*s' %s%s", n->where, attn_shown(n->text, n->len), n->text, why,
                     attn_act_tail(act));
}

static const char turned[] = "is before rotation, and this model rotates queries and keys; after it they are ";
static const char bare[] = "is before weight and bias where TransformerLens moved these elsewhere, and after them "
                           "where it did not; after them it is ";
static const char scaled[] = "is before a factor or a limit that this model has behind it; after it it is ";
static const char gated[] = "is the gate alone, and this model multiplies it by another product: that is ";

static int of_hook(char out[ATTN_HOOK_ROOM], const struct name *n, bool (*means)(const struct name *, const char *))
{
    for (size_t i = 0; i < HOOKS; i++) {
        const struct attn_hook *h = &hooks[i];
        if (!means(n, h->tail) || (n->block && !attn_act_per_layer(h->act)) || (h->added && !n->model->has[h->act]))
            continue;
        return h->bare ? refuse(n, bare, h->act) : h->unturned && n->model->turned ? refuse(n, turned, h->act)
                                                                                    : say(out, n, h->act);
    }
    return ATTN_OK;
}

static bool changes(const struct attn_hook_points *model, int act)
{
    return act == ATTN_ACT_EMBED ? model->embed_scaled : model->logits_scaled;
}

static int of_module(char out[ATTN_HOOK_ROOM], const struct name *n)
{
    const struct module *last = NULL;
    for (size_t i = 0; i < MODULES; i++) {
        const struct module *m = &modules[i];
        bool whole = m->act == ATTN_ACT_PATTERN || !attn_act_per_layer(m->act);
        if (!is(n, m->tail) || !whole != (n->block != NULL))
            continue;
        last = m;
        if (!n->model->has[m->act])
            continue;
        return m->how == UNTURNED && n->model->turned ? refuse(n, turned, m->act)
               : m->how == UNGATED && n->model->has[ATTN_ACT_MLP_LINEAR] ? refuse(n, gated, m->act)
               : m->how == UNSCALED && changes(n->model, m->act) ? refuse(n, scaled, m->act) : say(out, n, m->act);
    }
    return last ? say(out, n, last->act) : ATTN_OK;
}

int attn_hook_translate(char out[ATTN_HOOK_ROOM], const char *name, size_t len, const struct attn_hook_points *model,
                        const char *where, struct attn_err *err)
{
    struct name n = {.text = name, .len = len, .tail = name, .tail_len = len, .model = model, .where = where,
        .err = err};
    *out = '\0';
    cut(&n, "blocks.");
    int rc = of_hook(out, &n, is);
    if (!rc && !*out)
        rc = of_hook(out, &n, ends);
    if (rc || *out || (n.block && n.text[0] == 'b'))
        return rc;
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks && !n.block; i++)
        cut(&n, stacks[i]);
    return of_module(out, &n);
}

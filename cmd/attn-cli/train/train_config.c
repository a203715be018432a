/* train_config.c - what is trained, and how: the options for it, as config.json and train.json. */
#include "train/cmd_train.h"

#include "attn_tools.h"
#include "families.h"

#include "base/err.h"

#include <string.h>

/* Values for config.json. */
static struct {
    struct number n_ctx, n_layer, n_head, n_kv_head, d_model, d_head, d_value, d_mlp;
    const char *position, *norm, *norm_weight, *norm_embed, *final_norm, *mlp, *scale, *bias, *tied;
    struct real norm_eps, rope_theta;
} k;

/* Values for train.json. */
static struct {
    struct number steps, batch, accumulate, warmup, eval_every, seed;
    struct real lr, lr_end, beta1, beta2, eps, weight_decay, clip, dropout, held_out, also_share, against_share;
    const char *documents, *keep, *dtype;
} s;

static const char *const documents[] = {"part", "join", NULL};
static const char *const kept[] = {"last", "best", NULL};

static void explain_mlps(char help[OPTION_HELP])
{
    char list[OPTION_HELP / 2];
    list_terms(list, sizeof list, mlp_terms(false, NULL), " or ");
    snprintf(help, OPTION_HELP, "the kind of mlp: %s (default: swiglu)", list);
}

static void explain_width(char help[OPTION_HELP])
{
    char list[OPTION_HELP / 2];
    list_terms(list, sizeof list, mlp_terms(true, NULL), " or ");
    snprintf(help, OPTION_HELP, "width of the mlp (default: 4 d_model, with %s 3 d_model)", list);
}

const struct option train_model_options[] = {
    SIZE_OPTION("n-ctx", &k.n_ctx, "tokens in a context, and in the longest sentence (default: 256)",
     .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-layer", &k.n_layer, "blocks (default: 4)", .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-head", &k.n_head, "query heads (default: 4)", .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-kv-head", &k.n_kv_head, "key and value heads (default: one for each query head)", .section = OF_NEW),
    SIZE_OPTION("d-model", &k.d_model,
                "width of a token's vector (default: 128)", .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("d-head", &k.d_head,
                "width of a head's queries and keys (default: d_model over n_head)", .section = OF_NEW),
    SIZE_OPTION("d-value", &k.d_value, "width of a head's values (default: d_head)", .section = OF_NEW),
    COUNT_OPTION("d-mlp", &k.d_mlp, NULL, .explain = explain_width, .section = OF_NEW),
    CHOICE_OPTION("position", &k.position, key_positions,
                  "how positions are encoded: none, learned or rope (default: rope)",
     .section = OF_NEW),
    CHOICE_OPTION("norm", &k.norm, key_norms, "the norm before each branch: none, layernorm or rmsnorm (default: "
                                              "rmsnorm)",
     .section = OF_NEW),
    REAL_OPTION("norm-eps", &k.norm_eps, "what the norms add to the variance (default: 1e-5)", .section = OF_NEW),
    SWITCH_OPTION("norm-weight", &k.norm_weight, "norms have weights, and biases with layernorm (default: true)",
                  .section = OF_NEW),
    SWITCH_OPTION("norm-embed", &k.norm_embed, "what enters the first block is normalised, too (default: false)",
                  .section = OF_NEW),
    SWITCH_OPTION("final-norm", &k.final_norm, "the norm after the last block (default: true)", .section = OF_NEW),
    {0, "mlp", OPT_CHOICE, &k.mlp, "KIND", NULL, .choice = mlp_choice, .explain = explain_mlps, .section = OF_NEW},
    CHOICE_OPTION("scale", &k.scale, key_scales,
                  "how dot products become scores: sqrt divides them by sqrt(d_head), none leaves them as they are "
                  "(default: sqrt)", .section = OF_NEW),
    SWITCH_OPTION("bias", &k.bias, "biases on q, k, v, o and the mlp (default: false)", .section = OF_NEW),
    SWITCH_OPTION("tied", &k.tied, "the output layer is the embedding, transposed (default: true)", .section = OF_NEW),
    REAL_OPTION("rope-theta", &k.rope_theta, "base of the rotary frequencies (default: 10000)", .section = OF_NEW),
    {.name = NULL},
};

const struct option train_step_options[] = {
    {0, "steps", OPT_NUMBER, &s.steps, "N", "how often the weights are updated; the learning rate is scheduled for "
     "them, so --resume cannot lengthen a training that is finished (default: 2000, or as many as take --max-seconds)",
     .min = 1, .max = INT32_MAX, .flags = OPT_USUAL},
    {0, "batch", OPT_NUMBER, &s.batch, "N", "contexts in a batch (default: 16)", .min = 1, .max = INT32_MAX,
     .flags = OPT_USUAL},
    {0, "accumulate", OPT_NUMBER, &s.accumulate, "N",
     "batches per step: their gradients are added up (default: 1)", .min = 1,
     .max = INT32_MAX},
    REAL_OPTION("lr", &s.lr, "the highest learning rate (default: 0.001)", .flags = OPT_USUAL),
    REAL_OPTION("lr-end", &s.lr_end, "the last learning rate, reached along a cosine, as a share of --lr (default: "
                                     "0.1)",
     .flags = 0),
    COUNT_OPTION("warmup", &s.warmup, "steps in which the learning rate rises to --lr (default: 100)", .flags = 0),
    REAL_OPTION("beta1", &s.beta1, "AdamW: how much of the mean gradient is kept per step (default: 0.9)", .flags = 0),
    REAL_OPTION("beta2", &s.beta2, "AdamW: how much of the mean square is kept per step (default: 0.95)", .flags = 0),
    REAL_OPTION("eps", &s.eps, "AdamW: what is added to the root of the mean square (default: 1e-8)", .flags = 0),
    REAL_OPTION("weight-decay", &s.weight_decay,
                "how much of a matrix each step removes, times the learning rate; biases and "
                "norms have no decay (default: 0.1)", .flags = 0),
    REAL_OPTION("clip", &s.clip, "clip the gradient of all weights together to this length; 0: never (default: 1)",
     .flags = 0),
    REAL_OPTION("dropout", &s.dropout, "share of the embedding, of the attention weights and of what branches add that "
                                       "is dropped (default: 0)", .flags = 0),
    REAL_OPTION("held-out", &s.held_out, "percent of the text, at its end, that is measured instead of trained on "
                                         "(default: 5)",
     .flags = 0),
    COUNT_OPTION("eval-every", &s.eval_every, "steps between measurements of the held-out text, besides the last; 0: "
                                              "none (default: 250)", .flags = 0),
    REAL_OPTION("also-share", &s.also_share, "the share of contexts that come from --also, above 0 (default: in "
                                             "proportion to its length)",
     .flags = 0),
    REAL_OPTION("against-share", &s.against_share, "the share of all contexts that come from --against (default: 0.25)",
     .flags = 0),
    COUNT_OPTION("seed", &s.seed, "decides the first weights, the contexts and what is dropped (default: 0)",
     .flags = OPT_USUAL),
    {0, "documents", OPT_CHOICE, &s.documents, "HOW",
     "what a context is: with part, a document or a piece of a longer one; with "
     "join, contexts continue across <|endoftext|> (default: part)", .choices = documents},
    {0, "keep", OPT_CHOICE, &s.keep, "WHICH", "the model that model.safetensors holds: the last, or the one with the "
                                              "best held-out loss (default: last)", .choices = kept,
     .section = OF_OUTPUT},
    {0, "dtype", OPT_CHOICE, &s.dtype, "TYPE", "how model.safetensors holds numbers: F32, F16 or BF16 (default: F32)",
     .choices = key_dtypes, .section = OF_OUTPUT},
    {.name = NULL},
};

const struct option *train_config_given(void)
{
    const struct option *row = train_model_options;
    while (row->name && !option_given(row))
        row++;
    return row->name ? row : NULL;
}

bool train_steps_given(void)
{
    return s.steps.given;
}

bool train_warmup_given(void)
{
    return s.warmup.given;
}

int train_check_shares(bool also, bool against, struct attn_err *err)
{
    const char *alone = s.also_share.given && !also ? "also" : s.against_share.given && !against ? "against" : NULL;
    if (alone)
        return attn_fail(err, ATTN_EUSAGE, "--%s-share is the share of --%s, which is not given", alone, alone);
    return s.also_share.given && s.also_share.x == 0
               ? attn_fail(err, ATTN_EUSAGE, "--also-share 0 reads nothing from --also: leave both out") : ATTN_OK;
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void number_default(struct number *to, uint64_t n)
{
    if (!to->given)
        *to = (struct number){.given = "default", .n = n};
}

static void text_default(const char **to, const char *text)
{
    if (!*to)
        *to = text;
}

static void fill_in(void)
{
    number_default(&k.n_ctx, 256);
    number_default(&k.n_layer, 4);
    number_default(&k.n_head, 4);
    number_default(&k.d_model, 128);
    text_default(&k.position, "rope");
    text_default(&k.norm, "rmsnorm");
    text_default(&k.mlp, "swiglu");
    if (strcmp(k.mlp, "none") != 0)
        number_default(&k.d_mlp, k.d_model.n * (attn_mlp_find(k.mlp)->gated ? 3 : 4));
}

/* Writes a JSON object: `head`, the options that were given, `tail`. */
static int write_object(char **text, size_t *len, const char *head, const struct option *rows, const char *tail,
                        struct attn_err *err)
{
    FILE *f = open_memstream(text, len);
    if (!f)
        return attn_no_memory(err, NULL, "for the configuration");
    fputs(head, f);
    opts_write_keys(f, rows);
    fputs(tail, f);
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0 || !*text;
    return bad ? attn_no_memory(err, NULL, "for the configuration") : ATTN_OK;
}

static int family_config(char **text, size_t *len, const char *family, size_t tokens, struct attn_err *err)
{
    FILE *f = open_memstream(text, len);
    if (!f)
        return attn_no_memory(err, NULL, "for the configuration");
    int code = family_write(f, family, train_model_options, tokens, err);
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0 || !*text;
    return bad ? attn_no_memory(err, NULL, "for the configuration") : code;
}

int train_config(char **text, size_t *len, const char *family, size_t tokens, const char *kind,
                 struct attn_err *err)
{
    char head[160], tail[64];
    if (family)
        return family_config(text, len, family, tokens, err);
    fill_in();
    snprintf(head, sizeof head, "{\"model_type\": \"attn-decoder\", \"vocab_size\": %zu, \"residual\": true, "
             "\"output_projection\": true, \"unembed\": true, ", tokens);
    snprintf(tail, sizeof tail, "\"tokenizer\": {\"type\": \"%s\"}}\n", kind);
    return write_object(text, len, head, train_model_options, tail, err);
}

int train_settings(char **text, size_t *len, struct attn_err *err)
{
    int code = write_object(text, len, "{", train_step_options, "}\n", err);
    char *comma = code || !*text ? NULL : strrchr(*text, ',');
    if (comma && comma[1] == ' ' && comma[2] == '}')
        *comma = ' ';
    return code;
}

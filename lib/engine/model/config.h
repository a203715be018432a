/* config.h - config.json: the kind of decoder in a directory, and its sizes.
 *
 * "model_type" names a family: attn-decoder, our own format, or one of Hugging Face's.  A family is a table of keys
 * and a table of tensor names (family.h).  In our format an unknown key is an error.  In the others, whose files hold
 * much that changes no number, only what would change one and is not supported is refused, by name.  Past this reader
 * all sizes are sane: at least 1 where they must be, below 2^31, and consistent. */
#ifndef ATTN_MODEL_CONFIG_H
#define ATTN_MODEL_CONFIG_H

#include "attn.h"
#include "base/json_keys.h"
#include "compute/mlp.h"

enum attn_position { ATTN_POS_NONE, ATTN_POS_LEARNED, ATTN_POS_ROPE, ATTN_POS_ALIBI, ATTN_POS_SINUSOID };
enum attn_norm_kind { ATTN_NORM_NONE, ATTN_NORM_LAYER, ATTN_NORM_RMS };
enum attn_rope_kind { ATTN_ROPE_DEFAULT, ATTN_ROPE_LINEAR, ATTN_ROPE_LLAMA3, ATTN_ROPE_YARN, ATTN_ROPE_DYNAMIC,
                      ATTN_ROPE_LONGROPE };

/* What a token of our own format is: a word, a piece of byte-level BPE, or a character. */
enum attn_word_kind { ATTN_RULE_WORD, ATTN_RULE_BPE, ATTN_RULE_CHAR };

struct attn_family;

struct attn_config {
    const struct attn_family *family;
    const char *prefix;                 /* of the tensors' names; NULL: the family's first */
    size_t V, n_ctx, L, H, Hkv, d, dh, dv, m;
    enum attn_position position;
    enum attn_norm_kind norm;
    enum attn_mlp_kind mlp;
    double norm_eps, rope_theta;
    bool causal, scale, residual, output_projection, bias, tied, unembed;
    bool parallel;                      /* attention and MLP both read the block's input */
    bool scale_by_layer;                /* also divides the scale of layer n by n + 1 */
    bool attention_bias, mlp_bias;      /* whether q, k, v, o and the MLP have biases, if the family leaves it open */
    bool one_norm;                      /* parallel branches read the same norm */
    bool post_norm_residual;            /* what a norm gives takes the place of the stream */
    bool norm_from_one;                 /* RMS norms multiply with 1 + weight */
    bool plain_norms;                   /* norms have neither weight nor bias */
    bool norm_embed;                    /* what enters the first block is normalised */
    bool qk_norm;                       /* queries and keys are normalised, as the family says */
    bool late_norms;                    /* ... after they are rotated */
    double clip;                        /* queries, keys and values are clamped to -clip..clip; 0: they are not */
    bool no_final;                      /* there is no final norm */
    size_t d_embed;                     /* width of the embedding, if it is projected to d; 0: it is not */
    double query_scalar;                /* scores are divided by its root; 0: `scale` says by what */
    double attention_scale;             /* dots are multiplied by it; 0: see query_scalar */
    double cap, logit_cap;              /* soft caps of scores and logits; 0: none */
    double embed_scale, branch_scale, logits_divided, logits_times;         /* 0: not scaled */
    bool embed_by_root;                 /* the embedding is multiplied by the root of d */
    bool alibi, alibi_early;            /* scores grow with the position of the key; before dots are scaled, in bf16 */
    bool interleaved;                   /* RoPE pairs (2i, 2i + 1) */
    bool paired;                        /* q and k weights are stored for such pairs but rotated as others: attn_mat */
    bool backwards;                     /* RoPE rotates by minus the angle */
    double rotary_share;                /* share of a head's numbers that RoPE rotates, 0 to 1 */
    size_t rotary;                      /* how many numbers of a head RoPE rotates; 0: by rotary_share */
    struct attn_rope_scaling {
        enum attn_rope_kind kind;
        double alpha;                   /* of some dynamic ones: stretches theta at any length of text; 0: not given */
        double factor, low, high, original;     /* llama3: bounds in rotations over the original context */
        /* yarn; attention_factor: also longrope; 0: not given */
        double beta_fast, beta_slow, attention_factor, mscale, mscale_all;
        bool rounded, finetuned;        /* yarn: whether its bounds are whole numbers; a key without a meaning */
        struct attn_reals few, many;    /* longrope: divisors of speeds, for texts up to `original` tokens and above */
    } rope, local_rope;                 /* local_rope: of layers with a window, if the family tells them apart */
    double local_theta;
    bool rope_apart;                    /* it does */
    bool rope_section;                  /* the file has "rope_parameters", as newer ones do */
    size_t original_ctx;                /* longrope: the context before it was extended; 0: not given */
    size_t trained_ctx;                 /* the context that the file states; n_ctx may be more, as rotation is scaled */
    unsigned char *no_rope;             /* [L], whether each layer does without rotation, or NULL: none; owned */
    size_t window;                      /* number of keys a query sees in the layers of local[] */
    size_t window_from;                 /* the first layer with a window, or how often one has none: see family.h */
    bool windows;                       /* whether the window counts, if the family leaves it open */
    unsigned char *local;               /* [L], whether each layer has the window, or NULL: none; owned */
    const char *doubt;                  /* what the file says and may not mean, for a warning; NULL: nothing */
    int32_t eos[8]; size_t n_eos;       /* tokens that end a text */
    bool ends_apart;                    /* by generation_config.json */
    size_t begin;                       /* one more than the token that begins a text; 0: none, or our own format */
    size_t end;                         /* one more than the end token of our own format; 0: none */
    struct attn_word_rule {
        enum attn_word_kind kind;       /* "type" */
        char *drop, *unknown;           /* NULL: none; owned */
        bool lowercase;
    } tokenizer;
};

/* On failure `out` is zeroed. */
int attn_config_read(struct attn_config *out, const char *text, size_t len, const char *name, struct attn_err *err);
/* The same, where the names of the model's tensors help to say what an unknown "model_type" may be. */
struct attn_tensor_names;
int attn_config_read_named(struct attn_config *out, const char *text, size_t len, const char *name,
                           const struct attn_tensor_names *names, struct attn_err *err);
/* Reads "eos_token_id" of a generation_config.json, which counts before that of config.json. */
int attn_config_read_ends(struct attn_config *c, const char *text, size_t len, const char *name, struct attn_err *err);
/* Reads only the tokenizer's part, which is all `tokenize` needs.  Other faults of the file are ignored. */
int attn_config_read_tokenizer(struct attn_config *out, const char *text, size_t len, const char *name,
                               struct attn_err *err);
void attn_config_free(struct attn_config *c);                       /* what it owns; zeroed is fine */
/* Writes the keys of our own format in the order of the table; attn_config_read gives the same struct back. */
struct attn_out;
void attn_config_write(struct attn_out *out, const struct attn_config *c);

/* Names as our format spells them. */
const char *attn_position_name(enum attn_position p);
const char *attn_norm_name(enum attn_norm_kind n);
const char *attn_mlp_name(enum attn_mlp_kind m);

#endif

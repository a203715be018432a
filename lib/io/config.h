/* config.h - config.json of a native model.
 *
 * Keys, types and defaults are one table in config.c; unknown keys are errors that name the key,
 * and so is every combination that has no meaning.  Past this reader all sizes are sane: each at
 * least 1 where it must be, below 2^31, and consistent with each other. */
#ifndef ATTN_IO_CONFIG_H
#define ATTN_IO_CONFIG_H

#include "attn.h"

enum attn_position { ATTN_POS_NONE, ATTN_POS_LEARNED, ATTN_POS_ROPE };
enum attn_norm_kind { ATTN_NORM_NONE, ATTN_NORM_LAYER, ATTN_NORM_RMS };
enum attn_mlp_kind { ATTN_MLP_NONE, ATTN_MLP_GELU, ATTN_MLP_GELU_NEW, ATTN_MLP_SWIGLU };

struct attn_config {
    size_t V, n_ctx, L, H, Hkv, d, dh, dv, m;
    enum attn_position position;
    enum attn_norm_kind norm;
    enum attn_mlp_kind mlp;
    double norm_eps, rope_theta;
    bool causal, scale, residual, output_projection, bias, tied, unembed;
    struct attn_word_rule {
        bool bpe;                       /* "type": "bpe" */
        char *drop, *unknown;           /* NULL: none; owned */
        bool lowercase;
    } tokenizer;
};

/* On failure `out` is zeroed. */
int attn_config_read(struct attn_config *out, const char *text, size_t len, const char *name, struct attn_err *err);
/* The tokenizer's part alone: all that `tokenize` needs.  Any other fault is left alone. */
int attn_config_read_tokenizer(struct attn_config *out, const char *text, size_t len, const char *name,
                               struct attn_err *err);
void attn_config_free(struct attn_config *c);                       /* what it owns; zeroed is fine */
/* Every key, in the order of the table; config_read gives the same struct back. */
struct attn_out;
void attn_config_write(struct attn_out *out, const struct attn_config *c);

/* Names as the file spells them. */
const char *attn_position_name(enum attn_position p);
const char *attn_norm_name(enum attn_norm_kind n);
const char *attn_mlp_name(enum attn_mlp_kind m);

#endif

/* reference.h - a decoder in double precision, written as plainly as possible.
 *
 * It shares nothing with the library but the weights it is given: one loop per sum, no bands, no views, no
 * optimisation.  It is used to check every activation of every kind of model; it asks for tensors by the names and in
 * the layout of native models, whatever the file's own format is. */
#ifndef ATTN_TESTS_REFERENCE_H
#define ATTN_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ref_config {
    int V, n_ctx, L, H, Hkv, d, dh, dv, m;
    const char *position, *norm, *mlp;  /* as config.json spells them */
    bool causal, scale, residual, projection, bias, tied, unembed;
    double eps, theta;
    bool parallel;                      /* x + attn(norm1(x)) + mlp(norm2(x)) */
    bool by_layer;                      /* the scale of layer n is divided by n + 1 */
    bool part; int rotary;              /* part: rope turns only the first `rotary` numbers of a head */
    const char *scaling;                /* of rope: NULL or its "rope_type" */
    double factor, low, high, original;
    /* yarn, longrope: grow is the factor on cos and sin; real: bounds not rounded */
    double beta_fast, beta_slow, grow; bool real;
    double few[64], many[64];           /* longrope: divisors of speeds */
    int window; bool local[8];          /* local: these layers see `window` keys */
    double local_theta;                 /* of these layers, which are then not scaled; 0: the others' */
    bool still[8], interleaved;         /* layers without rotation; pairs (2i, 2i + 1) */
    const char *alibi;                  /* NULL, "late": added to scores, or "early": to dots, in bfloat16 */
    /* NULL, "head", "own" weights of each head, those in one "table", or all heads as a "whole" */
    const char *qk_norm;
    bool from_one, plain;               /* norms multiply with 1 + weight; have no weights */
    bool norm_embed;                    /* what enters the first block is normalised, positions added */
    bool late;                          /* norms of queries and keys come after the rotation */
    bool backwards;                     /* which is by minus the angle */
    double clip;                        /* queries, keys and values are clamped to -clip..clip; 0: they are not */
    double logits_times;                /* 0: there is none */
    /* norms: none before branches; after them; after additions; none at the end */
    bool no_before, post, after, no_final;
    /* both branches read the same norm; what norms give takes the place of the stream */
    bool one_norm, post_norm_residual;
    double attention_scale, cap, logit_cap, embed_scale, branch_scale, logits_divided;      /* 0: there is none */
    int narrow;                         /* width of the embedding, if it is projected; 0: d */
    /* What no model has, but ports do. */
    int start;                          /* the position of the first token; before 0, learned ones are that of 0 */
    int ahead;                          /* causal: a query sees so many keys beyond its own */
    bool tiled;                         /* query head h reads key/value head h % Hkv */
};

/* Returns a tensor of the file, or NULL if there is none. */
typedef const double *ref_weight(void *ctx, const char *name);
/* Is told each activation as a whole, [rows, cols] or [heads, rows, cols]. */
typedef void ref_tell(void *ctx, const char *name, const double *data, size_t n);

void ref_run(const struct ref_config *c, const int32_t *ids, int T, ref_weight *weight, ref_tell *tell, void *ctx);

/* What a port of the decoder computes otherwise, by mistake or by right; all zero: nothing. */
struct ref_port {
    const struct ref_config *other; int from, to;   /* the config of layers from..to; -1 precedes them, L follows */
    double (*dot)(const double *x, const double *y, int n);     /* how products, or for y NULL numbers, are summed */
    /* Changes an activation before it is told and read. */
    void (*edit)(void *ctx, const char *name, double *data, size_t n);
};
/* As ref_run, without what is derived. */
void ref_run_port(const struct ref_config *c, const struct ref_port *port, const int32_t *ids, int T,
                  ref_weight *weight, ref_tell *tell, void *ctx);

double ref_activate(const char *mlp, double x);         /* the function of such an mlp, in a gated one of the gate */

/* Cross-attention: runs the other sentence by itself, then the first one, which attends to all keys of the other in
 * every layer and announces no k and v of its own. */
void ref_run_cross(const struct ref_config *c, const int32_t *ids, int T, const int32_t *other, int T_other,
                   ref_weight *weight, ref_tell *tell, ref_tell *tell_other, void *ctx);

#endif

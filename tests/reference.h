/* reference.h - a decoder in double precision, as plain as it can be written.
 *
 * It shares nothing with the library but the weights it is handed: one loop a sum, no bands, no
 * views, no tricks.  Used to check every activation of every kind of model; tensors are asked for by the
 * names and in the layout of native models, whatever the file at hand is. */
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
    bool part; int rotary;              /* part: rope turns the first `rotary` numbers of a head; else all */
    const char *scaling;                /* of rope: NULL, "linear" or "llama3" */
    double factor, low, high, original;
    int window; bool local[8];          /* keys a query of such a layer sees */
};

/* A tensor of the file, or NULL when there is none. */
typedef const double *ref_weight(void *ctx, const char *name);
/* Hears each activation whole, [rows, cols] or [heads, rows, cols]. */
typedef void ref_tell(void *ctx, const char *name, const double *data, size_t n);

void ref_run(const struct ref_config *c, const int32_t *ids, int T, ref_weight *weight, ref_tell *tell, void *ctx);

/* Cross-attention: the other sentence as it is, and then the first, which looks at the keys of the other, all of them,
 * in every layer.  The first tells no k and no v. */
void ref_run_cross(const struct ref_config *c, const int32_t *ids, int T, const int32_t *other, int T_other, ref_weight *weight,
                   ref_tell *tell, ref_tell *tell_other, void *ctx);

#endif

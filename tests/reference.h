/* reference.h - a decoder in double precision, as plain as it can be written.
 *
 * It shares nothing with the library but the weights it is handed: one loop a sum, no bands, no
 * views, no tricks.  Used to check every activation of every kind of native model. */
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
};

/* A tensor of the file, or NULL when there is none. */
typedef const double *ref_weight(void *ctx, const char *name);
/* Hears each activation whole, [rows, cols] or [heads, rows, cols]. */
typedef void ref_tell(void *ctx, const char *name, const double *data, size_t n);

void ref_run(const struct ref_config *c, const int32_t *ids, int T, ref_weight *weight, ref_tell *tell, void *ctx);

#endif

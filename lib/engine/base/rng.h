/* rng.h - torch's random numbers on the CPU, bit for bit (torch 1.13, x86-64, float32).
 *
 * The engine is MT19937 seeded with one word.  Uniforms take one word each.  Normals come from the Box-Muller
 * transform in two forms: one by one in double precision for tensors of fewer than 16 numbers, else 16 at a time in
 * float32 (details in torch-rng.md in tests/golden). torch has two code paths that differ in the last bits; nearly
 * every machine runs the AVX2 one. */
#ifndef ATTN_BASE_RNG_H
#define ATTN_BASE_RNG_H

#include "attn.h"

struct attn_rng { uint32_t mt[624]; unsigned next; bool has_saved; double saved; bool scalar; };

void attn_rng_seed(struct attn_rng *r, uint64_t seed);              /* manual_seed; keeps r->scalar */
uint32_t attn_rng_u32(struct attn_rng *r);
/* Draw one tensor of n numbers.  Two calls are not the same as one long one: the normals differ. */
void attn_rng_uniform(struct attn_rng *r, float *out, size_t n, float lo, float hi);   /* uniform_ */
void attn_rng_normal(struct attn_rng *r, float *out, size_t n, double mean, double std);   /* normal_ */
/* The bound within which nn.Linear draws weight and bias of a layer with n_in inputs. */
float attn_rng_linear_bound(size_t n_in);

#endif

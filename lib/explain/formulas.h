/* formulas.h - what a head computes, in mathematical notation. */
#ifndef ATTN_FORMULAS_H
#define ATTN_FORMULAS_H

#include "sinks/derivation.h"

extern const struct attn_formula attn_formula_layernorm, attn_formula_rmsnorm, attn_formula_turn, attn_formula_dot,
    attn_formula_softmax, attn_formula_feature, attn_formula_mixture;

#endif

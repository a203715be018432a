#include "explain/formulas.h"

#define MI(x) "<mi>" x "</mi>"
#define MO(x) "<mo>" x "</mo>"
#define MROW(x) "<mrow>" x "</mrow>"
#define MFRAC(over, under) "<mfrac>" MROW(over) MROW(under) "</mfrac>"
#define MROOT(x) "<msqrt>" x "</msqrt>"
#define MSUB(x, i) "<msub>" MI(x) MROW(i) "</msub>"
#define MSUM(i) "<munder>" MO("∑") MI(i) "</munder>"
#define MSQUARE(x) "<msup>" MI(x) "<mn>2</mn></msup>"

const struct attn_formula attn_formula_layernorm = {
    "norm1 = (x - mean) / √(variance + ε) · weight + bias",
    MI("norm1") MO("=") MFRAC(MI("x") MO("−") MI("mean"), MROOT(MI("variance") MO("+") MI("ε"))) MO("·") MI("weight") MO("+") MI("bias")};

const struct attn_formula attn_formula_rmsnorm = {
    "norm1 = x / √(mean(x²) + ε) · weight",
    MI("norm1") MO("=") MFRAC(MI("x"), MROOT(MI("mean") MO("(") MSQUARE("x") MO(")") MO("+") MI("ε"))) MO("·") MI("weight")};

const struct attn_formula attn_formula_turn = {
    "turned[i] = u[i]·cos - u[j]·sin, turned[j] = u[j]·cos + u[i]·sin",
    MSUB("turned", MI("i")) MO("=") MSUB("u", MI("i")) MI("cos") MO("−") MSUB("u", MI("j")) MI("sin") MO(",")
    "<mspace width=\"1em\"></mspace>"
    MSUB("turned", MI("j")) MO("=") MSUB("u", MI("j")) MI("cos") MO("+") MSUB("u", MI("i")) MI("sin")};

const struct attn_formula attn_formula_dot = {
    "dot = Σ q[c]·k[c]",
    MI("dot") MO("=") MSUM("c") MSUB("q", MI("c")) MSUB("k", MI("c"))};

#define EXPONENTIAL MI("exp") MO("(") MSUB("score", MI("j")) MO("−") MI("largest") MO(")")
const struct attn_formula attn_formula_softmax = {
    "weight[j] = exp(score[j] - largest) / Σ exp(score[j] - largest)",
    MSUB("weight", MI("j")) MO("=") MFRAC(EXPONENTIAL, MSUM("j") EXPONENTIAL)};

#define MPHI(x) MI("φ") MO("(") MSUB(x, MI("c")) MO(")")
const struct attn_formula attn_formula_feature = {
    "φ(x) = x + 1 for x > 0, else exp(x);  product = Σ φ(q[c])·φ(k[c])",
    MI("product") MO("=") MSUM("c") MPHI("q") MPHI("k")};

const struct attn_formula attn_formula_mixture = {
    "context[c] = Σ weight[j]·v[j][c]",
    MSUB("context", MI("c")) MO("=") MSUM("j") MSUB("weight", MI("j")) MSUB("v", MI("j") MI("c"))};

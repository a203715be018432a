/* formula.c - what attention computes, in mathematical notation: as text, in MathML, in TeX. */
#include "explain/explain.h"

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
    MI("norm1") MO("=") MFRAC(MI("x") MO("−") MI("mean"), MROOT(MI("variance") MO("+") MI("ε")))
    MO("·") MI("weight") MO("+") MI("bias"),
    "\\text{norm1} = \\frac{x - \\text{mean}}{\\sqrt{\\text{variance} + \\varepsilon}} \\cdot \\text{weight} + "
    "\\text{bias}"};

const struct attn_formula attn_formula_rmsnorm = {
    "norm1 = x / √(mean(x²) + ε) · weight",
    MI("norm1") MO("=") MFRAC(MI("x"),
                              MROOT(MI("mean") MO("(") MSQUARE("x") MO(")") MO("+") MI("ε"))) MO("·") MI("weight"),
    "\\text{norm1} = \\frac{x}{\\sqrt{\\text{mean}(x^2) + \\varepsilon}} \\cdot \\text{weight}"};

const struct attn_formula attn_formula_rotation = {
    "turned[i] = u[i]·cos - u[j]·sin, turned[j] = u[j]·cos + u[i]·sin",
    MSUB("turned", MI("i")) MO("=") MSUB("u", MI("i")) MI("cos") MO("−") MSUB("u", MI("j")) MI("sin") MO(",")
    "<mspace width=\"1em\"></mspace>"
    MSUB("turned", MI("j")) MO("=") MSUB("u", MI("j")) MI("cos") MO("+") MSUB("u", MI("i")) MI("sin"),
    "\\text{turned}_i = u_i \\cos - u_j \\sin, \\quad \\text{turned}_j = u_j \\cos + u_i \\sin"};

const struct attn_formula attn_formula_dot = {
    "dot = Σ q[c]·k[c]",
    MI("dot") MO("=") MSUM("c") MSUB("q", MI("c")) MSUB("k", MI("c")), "\\text{dot} = \\sum_c q_c k_c"};

#define EXPONENTIAL MI("exp") MO("(") MSUB("score", MI("j")) MO("−") MI("largest") MO(")")
const struct attn_formula attn_formula_softmax = {
    "weight[j] = exp(score[j] - largest) / Σ exp(score[j] - largest)",
    MSUB("weight", MI("j")) MO("=") MFRAC(EXPONENTIAL, MSUM("j") EXPONENTIAL),
    "\\text{weight}_j = \\frac{\\exp(\\text{score}_j - \\text{largest})}{\\sum_j \\exp(\\text{score}_j - "
    "\\text{largest})}"};

#define MPHI(x) MI("φ") MO("(") MSUB(x, MI("c")) MO(")")
const struct attn_formula attn_formula_feature = {
    "φ(x) = x + 1 (x > 0), exp(x) (x ≤ 0);  product = Σ φ(q[c])·φ(k[c])",
    MI("product") MO("=") MSUM("c") MPHI("q") MPHI("k"), "\\text{product} = \\sum_c \\varphi(q_c)\\,\\varphi(k_c)"};

const struct attn_formula attn_formula_mixture = {
    "context[c] = Σ weight[j]·v[j][c]",
    MSUB("context", MI("c")) MO("=") MSUM("j") MSUB("weight", MI("j")) MSUB("v", MI("j") MI("c")),
    "\\text{context}_c = \\sum_j \\text{weight}_j\\, v_{jc}"};

#define MSUP(x, i) "<msup>" MI(x) MROW(i) "</msup>"
#define MPROJECTION(x, w) MI(x) MO("=") MI("x") MO("·") MSUB("W", MI(w))
const struct attn_formula attn_formula_projections = {
    "q = x·W_q,  k = x·W_k,  v = x·W_v",
    MPROJECTION("q", "q") MO(",") MPROJECTION("k", "k") MO(",") MPROJECTION("v", "v"),
    "q = x W_q, \\quad k = x W_k, \\quad v = x W_v"};

const struct attn_formula attn_formula_scaled = {
    "score = q·k / √d_k", MI("score") MO("=") MFRAC(MI("q") MO("·") MI("k"), MROOT(MSUB("d", MI("k")))),
    "\\text{score} = \\frac{q \\cdot k}{\\sqrt{d_k}}"};

const struct attn_formula attn_formula_attention = {
    "Attention(Q, K, V) = softmax(Q·K^T / √d_k)·V",
    MI("Attention") MO("(") MI("Q") MO(",") MI("K") MO(",") MI("V") MO(")") MO("=") MI("softmax")
    MO("(") MFRAC(MI("Q") MO("·") MSUP("K", MI("T")), MROOT(MSUB("d", MI("k")))) MO(")") MO("·") MI("V"),
    "\\operatorname{Attention}(Q, K, V) = \\operatorname{softmax}\\left(\\frac{Q K^T}{\\sqrt{d_k}}\\right) V"};

const struct attn_formula attn_formula_causal = {
    "score[i][j] = -∞,  j > i", MSUB("score", MI("i") MI("j")) MO("=") MO("−") MI("∞") MO(",")
    "<mspace width=\"1em\"></mspace>" MI("j") MO("&gt;") MI("i"),
    "\\text{score}_{ij} = -\\infty, \\quad j > i"};

const struct attn_formula attn_formula_heads = {
    "output = [head_1, ..., head_H]·W_o",
    MI("output") MO("=") MO("[") MSUB("head", "<mn>1</mn>") MO(",") MO("…") MO(",") MSUB("head", MI("H")) MO("]")
    MO("·") MSUB("W", MI("o")),
    "\\text{output} = [\\text{head}_1, \\ldots, \\text{head}_H] \\, W_o"};

const struct attn_formula attn_formula_renorm = {
    "weight[j] ← weight[j] / Σ weight[i]",
    MSUB("weight", MI("j")) MO("←") MFRAC(MSUB("weight", MI("j")), MSUM("i") MSUB("weight", MI("i"))),
    "\\text{weight}_j \\leftarrow \\frac{\\text{weight}_j}{\\sum_i \\text{weight}_i}"};

const struct attn_formula attn_formula_dropout = {
    "weight ← weight / (1 - p)",
    MI("weight") MO("←") MFRAC(MI("weight"), "<mn>1</mn>" MO("−") MI("p")),
    "\\text{weight} \\leftarrow \\frac{\\text{weight}}{1 - p}"};

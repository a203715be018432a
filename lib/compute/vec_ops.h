/* vec_ops.h - what one instruction set provides; vec.c picks one table. */
#ifndef ATTN_COMPUTE_VEC_OPS_H
#define ATTN_COMPUTE_VEC_OPS_H

#include "compute/vec.h"

/* Functions of weights that are stored in one type. */
struct vec_of_type {
    void (*widen)(float *y, const void *x, size_t n);
    void (*block)(float *y, const void *x, size_t ld, size_t K);
    void (*turn)(float *y, const void *const *x, size_t n);
    void (*panel_copy)(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, size_t ldw, size_t K,
                       bool more, size_t n, struct attn_ahead *ahead);
    void (*stream)(float *y, size_t ldy, const float *x, size_t ldx, const void *w, size_t ldw, size_t n, size_t K, size_t cols);
    void (*stream_turned)(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K,
                          struct attn_ahead *ahead);
};

struct vec_ops {
    const char *name;
    bool fused;
    void (*scale)(float *y, const float *x, float s, size_t n);
    void (*add)(float *y, const float *x, size_t n);
    float (*max)(const float *x, float s, size_t n, bool *finite);
    void (*softmax)(float *x, float s, float max, size_t n);
    double (*exps)(float *x, float s, float max, size_t n);
    void (*feature)(float *y, const float *x, size_t n);
    void (*layernorm)(float *y, const float *x, const float *w, const float *b, float eps, size_t n);
    void (*rmsnorm)(float *y, const float *x, const float *w, float eps, size_t n);
    void (*gelu)(float *y, const float *x, size_t n);
    void (*gelu_new)(float *y, const float *x, size_t n);
    void (*silu_mul)(float *y, const float *g, const float *x, size_t n);
    void (*round)(float *y, const float *x, size_t n);
    void (*rotate)(float *x, const float *c, const float *s, size_t r);
    bool (*finite)(const float *x, size_t n);
    double (*squares)(const float *x, size_t n);
    void (*adamw)(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n);
    void (*panel)(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                  size_t n, size_t K, bool more, struct attn_ahead *ahead);
    size_t tile_rows;                   /* rows that panel_copy takes */
    struct vec_of_type of[3];           /* by enum attn_dtype */
    void (*outer)(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K);
    void (*gelu_back)(float *dy, float *x, size_t n);
    void (*gelu_new_back)(float *dy, float *x, size_t n);
    void (*silu_mul_back)(float *dy, float *g, float *x, size_t n);
    void (*softmax_back)(float *dp, const float *p, float s, size_t n);
    void (*norm_back)(const struct attn_norm_back *b, const float *dy, const float *x, size_t n);
    double (*loss)(float *x, size_t target, float weight, size_t n);
    void (*drop)(float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n);
};

extern const struct vec_ops attn_vec_avx512, attn_vec_avx2, attn_vec_generic;

#endif

#include "compute/vec.h"

#include "base/cpu.h"
#include "base/size.h"
#include "compute/vec_ops.h"

static const struct vec_ops *ops(void)
{
    static const struct vec_ops *const by_width[] = {&attn_vec_generic, &attn_vec_avx2, &attn_vec_avx512};
    return by_width[attn_cpu_simd()];
}

const char *attn_vec_target(void) { return ops()->name; }
bool attn_vec_fused(void) { return ops()->fused; }

void attn_vec_scale(float *y, const float *x, float s, size_t n) { ops()->scale(y, x, s, n); }
void attn_vec_add(float *y, const float *x, size_t n) { ops()->add(y, x, n); }
float attn_vec_max(const float *x, float s, size_t n, bool *finite) { return ops()->max(x, s, n, finite); }
void attn_vec_softmax(float *x, float s, float max, size_t n) { ops()->softmax(x, s, max, n); }
double attn_vec_exps(float *x, float s, float max, size_t n) { return ops()->exps(x, s, max, n); }
void attn_vec_feature(float *y, const float *x, size_t n) { ops()->feature(y, x, n); }
void attn_vec_gelu(float *y, const float *x, size_t n) { ops()->gelu(y, x, n); }
void attn_vec_gelu_new(float *y, const float *x, size_t n) { ops()->gelu_new(y, x, n); }
void attn_vec_rotate(float *x, const float *c, const float *s, size_t r) { ops()->rotate(x, c, s, r); }
void attn_vec_round(float *y, const float *x, size_t n) { ops()->round(y, x, n); }
bool attn_vec_finite(const float *x, size_t n) { return ops()->finite(x, n); }
double attn_vec_squares(const float *x, size_t n) { return ops()->squares(x, n); }

void attn_vec_adamw(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n)
{
    ops()->adamw(a, x, m, v, g, n);
}

void attn_vec_layernorm(float *y, const float *x, const float *w, const float *b, float eps, size_t n)
{
    ops()->layernorm(y, x, w, b, eps, n);
}

void attn_vec_rmsnorm(float *y, const float *x, const float *w, float eps, size_t n)
{
    ops()->rmsnorm(y, x, w, eps, n);
}

void attn_vec_silu_mul(float *y, const float *g, const float *x, size_t n)
{
    ops()->silu_mul(y, g, x, n);
}

/* Element `first` of x, as it is stored. */
static const void *element(const void *x, enum attn_dtype type, size_t first)
{
    return (const char *)x + first * attn_dtype_size(type);
}

void attn_vec_widen(float *y, const void *x, enum attn_dtype type, size_t first, size_t n)
{
    ops()->of[type].widen(y, element(x, type, first), n);
}

struct attn_ahead attn_vec_ahead(const void *at, size_t rows, size_t bytes, size_t step)
{
    const size_t line = 64, before = (uintptr_t)at % line;
    if (bytes == step && rows > ATTN_ABREAST) {         /* no gaps between them: treat them as ATTN_ABREAST long rows */
        bytes = step = up(rows * bytes / ATTN_ABREAST, line);
        rows = ATTN_ABREAST;
    }
    return (struct attn_ahead){.at = (uintptr_t)at - before, .rows = rows, .bytes = before + bytes, .step = step};
}

void attn_vec_block(float *y, const void *x, enum attn_dtype type, size_t first, size_t ld, size_t K)
{
    ops()->of[type].block(y, element(x, type, first), ld, K);
}

void attn_vec_turn(float *y, const void *const *x, enum attn_dtype type, size_t n) { ops()->of[type].turn(y, x, n); }

void attn_vec_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                    size_t n, size_t K, bool more, struct attn_ahead *ahead)
{
    ops()->panel(y, ldy, x, ldx, w, ldw, n, K, more, ahead);
}

size_t attn_vec_panel_copy(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, enum attn_dtype type,
                           size_t first, size_t ldw, size_t K, bool more, size_t n, struct attn_ahead *ahead)
{
    ops()->of[type].panel_copy(y, ldy, x, ldx, copy, element(w, type, first), ldw, K, more, n, ahead);
    return ops()->tile_rows;
}

void attn_vec_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                     size_t ldw, size_t n, size_t K, size_t cols)
{
    ops()->of[type].stream(y, ldy, x, ldx, element(w, type, first), ldw, n, K, cols);
}

void attn_vec_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type, size_t n,
                            size_t K, struct attn_ahead *ahead)
{
    ops()->of[type].stream_turned(y, ldy, x, ldx, w, n, K, ahead);
}

void attn_vec_outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K)
{
    ops()->outer(y, ldy, x, ldx, w, ldw, n, K);
}

void attn_vec_gelu_back(float *dy, float *x, size_t n) { ops()->gelu_back(dy, x, n); }
void attn_vec_gelu_new_back(float *dy, float *x, size_t n) { ops()->gelu_new_back(dy, x, n); }
void attn_vec_silu_mul_back(float *dy, float *g, float *x, size_t n) { ops()->silu_mul_back(dy, g, x, n); }
void attn_vec_softmax_back(float *dp, const float *p, float s, size_t n) { ops()->softmax_back(dp, p, s, n); }
double attn_vec_loss(float *x, size_t target, float weight, size_t n) { return ops()->loss(x, target, weight, n); }

void attn_vec_norm_back(const struct attn_norm_back *b, const float *dy, const float *x, size_t n)
{
    ops()->norm_back(b, dy, x, n);
}

void attn_vec_drop(float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n)
{
    ops()->drop(y, x, d, row, n);
}

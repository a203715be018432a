#include "compute/position.h"

#include "base/elementary.h"
#include "compute/vec.h"

#include <math.h>

static double inv_freq_of(const struct attn_weights *w, const struct attn_rope *rope, size_t i, size_t tokens)
{
    if (rope->original_max_position == 0 || tokens <= rope->original_max_position)
        return rope->inv_freq[i];
    if (rope->long_inv_freq)
        return rope->long_inv_freq[i];
    double r = (double)w->rotary,
           longer = rope->factor * (double)tokens / (double)rope->original_max_position - (rope->factor - 1);
    return attn_pow(rope->theta * attn_pow(longer, r / (r - 2)), -2 * (double)i / r);
}

double attn_rope_inv_freq(const struct attn_weights *w, const struct attn_rope *rope, size_t i, size_t tokens)
{
    double inv_freq = inv_freq_of(w, rope, i, tokens);
    return w->backwards ? -inv_freq : inv_freq;
}

/* The angles are computed in double; Hugging Face's are float32 and differ by about 1e-6. */
void attn_rope_cos_sin(float *cosines, float *sines, const struct attn_weights *w, const struct attn_rope *rope,
                       size_t pos, size_t n, size_t tokens)
{
    size_t half = w->rotary / 2;
    for (size_t i = 0; i < half; i++) {
        double inv_freq = attn_rope_inv_freq(w, rope, i, tokens);
        for (size_t t = 0; t < n; t++) {
            double sine, cosine;
            attn_sin_cos(&sine, &cosine, (double)(pos + t) * inv_freq);
            cosines[t * half + i] = (float)(cosine * rope->attention_factor);
            sines[t * half + i] = (float)(sine * rope->attention_factor);
        }
    }
}

bool attn_rope_cache_valid(const struct attn_weights *w, size_t have, size_t tokens)
{
    for (size_t i = 0; i < w->ropes && have > 0; i++) {
        const struct attn_rope *rope = &w->rope[i];
        if (rope->original_max_position && tokens > rope->original_max_position &&
            (!rope->long_inv_freq || have <= rope->original_max_position))
            return false;
    }
    return true;
}

void attn_sinusoid(float *to, size_t d, size_t pos)
{
    size_t half = d / 2;
    double p = (double)pos + 2;         /* rows 0 and 1 of the table that models are trained with are never used */
    for (size_t i = 0; i < half; i++) {
        double sine, cosine;
        attn_sin_cos(&sine, &cosine, p * attn_pow(10000, -(double)i / (double)(half - 1)));
        to[i] = (float)sine;
        to[half + i] = (float)cosine;
    }
    if (d % 2)
        to[d - 1] = 0;
}

static float short_float(float x)
{
    attn_vec_round(&x, &x, 1);
    return x;
}

float attn_alibi_at(const struct attn_weights *w, float scale, size_t head, size_t key)
{
    float slope = w->alibi[head], at = (float)key;
    /* as the models were trained, in bf16 */
    return w->alibi_early ? short_float(short_float(slope) * short_float(at)) * scale
                          : slope * at;
}

void attn_alibi_fill(float *to, size_t ld, const struct attn_weights *w, float scale, size_t keys)
{
    for (size_t h = 0; h < w->n.H; h++)
        for (size_t k = 0; k < keys; k++)
            to[h * ld + k] = attn_alibi_at(w, scale, h, k);
}

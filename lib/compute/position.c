#include "compute/position.h"

#include "compute/vec.h"

#include <math.h>

double attn_turn_speed(const struct attn_weights *w, const struct attn_turn *turn, size_t i, size_t tokens)
{
    if (turn->up_to == 0 || tokens <= turn->up_to)
        return turn->speed[i];
    if (turn->beyond)
        return turn->beyond[i];
    double r = (double)w->rotary, longer = turn->factor * (double)tokens / (double)turn->up_to - (turn->factor - 1);
    return pow(turn->theta * pow(longer, r / (r - 2)), -2 * (double)i / r);
}

/* The angles are computed in double; Hugging Face's are float32 and differ by about 1e-6. */
void attn_turn_angles(float *cosines, float *sines, const struct attn_weights *w, const struct attn_turn *turn, size_t pos,
                      size_t n, size_t tokens)
{
    size_t half = w->rotary / 2;
    for (size_t i = 0; i < half; i++) {
        double speed = attn_turn_speed(w, turn, i, tokens);
        for (size_t t = 0; t < n; t++) {
            double angle = (double)(pos + t) * speed;
            cosines[t * half + i] = (float)(cos(angle) * turn->grow);
            sines[t * half + i] = (float)(sin(angle) * turn->grow);
        }
    }
}

bool attn_turns_last(const struct attn_weights *w, size_t have, size_t tokens)
{
    for (size_t i = 0; i < w->turns && have > 0; i++) {
        const struct attn_turn *turn = &w->turn[i];
        if (turn->up_to && tokens > turn->up_to && (!turn->beyond || have <= turn->up_to))
            return false;
    }
    return true;
}

static float short_float(float x)
{
    attn_vec_round(&x, &x, 1);
    return x;
}

float attn_alibi_at(const struct attn_weights *w, float scale, size_t head, size_t key)
{
    float slope = w->alibi[head], at = (float)key;
    return w->alibi_early ? short_float(short_float(slope) * short_float(at)) * scale     /* as the models were trained, in bf16 */
                          : slope * at;
}

void attn_alibi_fill(float *to, size_t ld, const struct attn_weights *w, float scale, size_t keys)
{
    for (size_t h = 0; h < w->n.H; h++)
        for (size_t k = 0; k < keys; k++)
            to[h * ld + k] = attn_alibi_at(w, scale, h, k);
}

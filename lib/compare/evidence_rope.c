/* evidence_rope.c - rotary positions: pair i of a head is rotated by position * theta^(-2i/r). */
#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THETAS = 5, WIDTHS = 3, MOST = 1 + 2 * THETAS * WIDTHS * 2 };

void attn_turn_back(float *y, const float *x, const struct attn_pair *shape, const struct attn_turn *how)
{
    size_t half = how->pairing == ATTN_UNTURNED ? 0 : how->r / 2, n = shape->n;
    for (size_t t = 0; t < shape->T; t++)
        for (size_t h = 0; h < shape->H; h++)
            memcpy(y + (h * shape->T + t) * n, x + h * shape->ld_head + t * shape->ld, n * sizeof *y);
    for (size_t t = 0; t < shape->T; t++)
        for (size_t i = 0; i < half; i++) {
            double angle = (double)(t + how->start) * pow(how->theta, -2.0 * (double)i / (double)how->r);
            double c = cos(angle), s = sin(angle);
            size_t u = how->pairing == ATTN_HALVES ? i : 2 * i, v = how->pairing == ATTN_HALVES ? i + half : 2 * i + 1;
            for (size_t h = 0; h < shape->H; h++) {
                float *row = y + (h * shape->T + t) * n;
                double first = row[u], second = row[v];
                row[u] = (float)(first * c + second * s);
                row[v] = (float)(second * c - first * s);
            }
        }
}

static size_t turns(struct attn_turn out[MOST], size_t dh, double theta)
{
    const double thetas[THETAS] = {theta, 10000, 500000, 1000000, 100000};
    const size_t widths[WIDTHS] = {dh, dh / 2, dh / 4};
    size_t n = 0;
    out[n++] = (struct attn_turn){.pairing = ATTN_UNTURNED};
    for (int i = 0; i < THETAS; i++)
        for (int w = 0; w < WIDTHS; w++)
            for (int k = 0; k < 4; k++)
                if (thetas[i] > 0 && !(i && thetas[i] == theta) && widths[w] >= 2 && widths[w] % 2 == 0)
                    out[n++] = (struct attn_turn){k % 2 ? ATTN_ADJACENT : ATTN_HALVES, thetas[i], widths[w], (size_t)k / 2};
    return n;
}

/* The number of respects in which two rotations differ; not rotating at all counts as one. */
static int respects(const struct attn_turn *a, const struct attn_turn *b)
{
    if (a->pairing == ATTN_UNTURNED || b->pairing == ATTN_UNTURNED)
        return a->pairing != b->pairing;
    return (a->pairing != b->pairing) + (a->theta != b->theta) + (a->r != b->r) + (a->start != b->start);
}

static double turned_gap(const struct attn_pair *p, const struct attn_turn *a, const struct attn_turn *b, float *room)
{
    size_t n = p->H * p->T * p->n;
    attn_turn_back(room, p->a, p, a);
    attn_turn_back(room + n, p->b, p, b);
    return attn_gap(room, room + n, n);
}

/* The first rows of the first heads, which select a candidate; the final test uses all. */
static struct attn_pair few(const struct attn_pair *p)
{
    struct attn_pair some = *p;
    some.H = p->H < 2 ? p->H : 2;
    some.T = p->T < 6 ? p->T : 6;
    return some;
}

bool attn_seems_turned(const struct attn_pair *p, double theta, struct attn_turn *a, struct attn_turn *b)
{
    struct attn_turn list[MOST];
    struct attn_pair some = few(p);
    size_t n = turns(list, p->n, theta);
    double least = INFINITY;
    float *room = malloc(2 * p->H * p->T * p->n * sizeof *room + 1);
    if (!room)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double gap = respects(&list[i], &list[k]) == 1 ? turned_gap(&some, &list[i], &list[k], room) : INFINITY;
            if (gap < least * 0.999) {                  /* of equal candidates the first, which is the more usual */
                least = gap;
                *a = list[i];
                *b = list[k];
            }
        }
    bool found = isfinite(least) && attn_gap_explained(turned_gap(p, a, b, room), attn_pair_gap(p));
    free(room);
    return found;
}

bool attn_seems_turned_offset(const struct attn_pair *p, double theta)
{
    struct attn_turn list[MOST];
    size_t n = turns(list, p->n, theta), all = p->H * p->T * p->n;
    bool found = false;
    float *room = malloc(2 * all * sizeof *room + 1);
    if (!room)
        return false;
    for (size_t i = 1; i < n && !found; i++) {
        attn_turn_back(room, p->a, p, &list[i]);
        attn_turn_back(room + all, p->b, p, &list[i]);
        struct attn_pair back = attn_pair_of(room, room + all, p->H, p->T, p->n);
        found = attn_seems_offset(&back);
    }
    free(room);
    return found;
}

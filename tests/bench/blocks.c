/* blocks - prints how fast one row of x is multiplied with weights in quantised blocks, by turns with F16.  Usage:
 * blocks THREADS [ROUNDS [ROWS]].
 *
 * The seven weights of a block of a model in the shape of Llama 1B, stored [out, in], are multiplied one after the
 * other, in each type, so that they come from memory as they do from one token to the next.  "F16 copied" reads them in
 * panels, as a run does that has computed some tens of tokens; quantised weights are never copied.  All types take
 * turns in each round.  On a machine that others use the least time of each says most. */
#include "base/team.h"
#include "compute/gemm.h"
#include "compute/panels.h"
#include "draw.h"
#include "in_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MATRICES = 7, WIDTH = 2048, HIDDEN = 5632, MOST_ROUNDS = 99, DRAWN = 16 /* rows, which are repeated */ };
static const size_t sizes[MATRICES][2] = {{WIDTH, WIDTH}, {WIDTH, WIDTH}, {WIDTH, WIDTH}, {WIDTH, WIDTH},
                                          {WIDTH, HIDDEN},
                                          {WIDTH, HIDDEN}, {HIDDEN, WIDTH}};      /* in, out */

static const struct { const char *name; enum attn_dtype type; bool copied; } kinds[] = {
    {"F16", ATTN_F16, false}, {"F16 copied", ATTN_F16, true}, {"F32", ATTN_F32, false}, {"Q8_0", ATTN_Q8_0, false},
    {"Q4_K", ATTN_Q4_K, false}, {"Q6_K", ATTN_Q6_K, false}, {"Q5_K", ATTN_Q5_K, false}, {"Q3_K", ATTN_Q3_K, false},
    {"Q2_K", ATTN_Q2_K, false}, {"Q4_0", ATTN_Q4_0, false}, {"Q4_1", ATTN_Q4_1, false}, {"Q5_0", ATTN_Q5_0, false},
    {"Q5_1", ATTN_Q5_1, false}, {"IQ4_NL", ATTN_IQ4_NL, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *room(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        perror("blocks");
        exit(1);
    }
    return p;
}

static void fill(void *to, enum attn_dtype type, size_t n, uint32_t *seed)
{
    if (attn_dtype_in_blocks(type))
        in_blocks_fill(to, type, n, seed);
    for (size_t i = 0; i < n && type == ATTN_F32; i++)
        ((float *)to)[i] = draw_number(seed);
    for (size_t i = 0; i < n && type == ATTN_F16; i++)         /* from 2^-8 to 1 */
        ((uint16_t *)to)[i] = (uint16_t)(0x1c00 + draw_below(seed, 0x2000));
}

static struct attn_mat weight(int kind, int matrix, struct attn_team *team)
{
    const size_t in = sizes[matrix][0], out = sizes[matrix][1], bytes = attn_dtype_bytes(kinds[kind].type, in * out);
    const size_t drawn = attn_dtype_bytes(kinds[kind].type, in * DRAWN);
    uint32_t seed = (uint32_t)matrix + 1;
    char *data = room(bytes);
    fill(data, kinds[kind].type, in * DRAWN, &seed);
    for (size_t at = drawn; at < bytes; at += drawn)
        memcpy(data + at, data, drawn);
    struct attn_mat w = {.data = data, .type = kinds[kind].type, .in = in, .out = out, .ld = in, .transposed = true};
    if (kinds[kind].copied)
        attn_panels_fill(&w, room(attn_panels_size(&w, false) * sizeof(float)), false, team);
    return w;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print(int kind, double *seconds, const double *of_f16, int rounds)
{
    double bytes = 0, ratio[MOST_ROUNDS];
    for (int i = 0; i < MATRICES; i++)
        bytes += (double)attn_dtype_bytes(kinds[kind].type, sizes[i][0] * sizes[i][1]);
    for (int i = 0; i < rounds; i++)
        ratio[i] = seconds[i] / of_f16[i];
    qsort(ratio, (size_t)rounds, sizeof *ratio, by_size);
    double least = seconds[0];
    for (int i = 1; i < rounds; i++)
        least = seconds[i] < least ? seconds[i] : least;
    printf("%-12s %8.2f ms at least  %6.1f GB/s   %5.2f of F16 in a round (median)\n", kinds[kind].name, 1e3 * least,
           1e-9 * bytes / least, ratio[rounds / 2]);
}

int main(int argc, char **argv)
{
    static struct attn_mat w[KINDS][MATRICES];
    static double seconds[KINDS][MOST_ROUNDS];
    const int threads = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 30,
        n = argc > 3 ? atoi(argv[3]) : 1;
    struct attn_team *team = NULL;
    if (threads < 1 || rounds < 1 || rounds > MOST_ROUNDS || n < 1 || attn_team_new(&team, threads, NULL)) {
        fprintf(stderr, "usage: blocks THREADS [ROUNDS [ROWS]]\n");
        return 2;
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < MATRICES; i++)
            w[kind][i] = weight(kind, i, team);
    float *x = room((size_t)n * HIDDEN * sizeof *x), *y = room((size_t)n * HIDDEN * sizeof *y);
    draw_numbers(x, (size_t)n * HIDDEN, 1);
    for (int round = -1; round < rounds; round++)              /* the first one is not counted */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = now();
            for (int i = 0; i < MATRICES; i++)
                attn_gemm(team, y, sizes[i][1], x, sizes[i][0], (size_t)n, &w[kind][i], ATTN_STORE, NULL);
            if (round >= 0)
                seconds[kind][round] = now() - start;
        }
    printf("%d thread%s, %d row%s:\n", threads, threads == 1 ? "" : "s", n, n == 1 ? "" : "s");
    for (int kind = KINDS; kind-- > 0;)                         /* F16, which all are compared with, last */
        print(kind, seconds[kind], seconds[0], rounds);
    attn_team_free(team);
    return 0;
}

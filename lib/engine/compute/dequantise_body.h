/* dequantise_body.h - the source of dequantise.h's functions, compiled once for each instruction set by
 * dequantise_avx512.c, dequantise_avx2.c and dequantise.c, which define TABLE to the name of theirs.
 *
 * unit_TYPE decodes the numbers of 32 rows in their order and gives each vector to `take`, which stores or multiplies
 * it.  dtype.c has the same formulas for one row, number by number. */
#include "compute/dequantise.h"

#include "compute/dequantise_lanes.h"
#include "compute/prefetch.h"

enum { HALF = 128, BYTES = 4, GROUP = 8 /* words of 32 bytes */, ROWS = ATTN_DEQUANTISE_ROWS };

/* What becomes of number k of the rows; returns the sums so far. */
struct target { float *y; size_t ld; const float *x; };
typedef v32 taker(const struct target *to, size_t k, v32 number, v32 sum);
static inline v32 keep_number(const struct target *to, size_t k, v32 number, v32 sum)
{
    stored(to->y + k * to->ld, number);
    return sum;
}
static inline v32 add_product(const struct target *to, size_t k, v32 number, v32 sum)
{
    return plus_product(sum, to->x[k], number);
}

/* ---- types ---- */

/* at: the first byte of the block; half: which unit of it. */
#define UNIT(type) static inline __attribute__((always_inline)) \
v32 unit_##type(v32 sum, const struct target *to, const void *const *row, size_t at, size_t half, taker *take)
/* Each number of n words, b being its byte, i its word and k which number of the unit it is. */
#define NUMBERS(n, first, value) \
    for (size_t i = 0; i < (n); i++) \
        UNROLL for (unsigned b = 0; b < BYTES; b++) \
            sum = take(to, (first) + BYTES * i + b, value, sum);
/* Two halves of bytes, then: the low four bits and the high ones. */
#define NIBBLES(n, value) \
    UNROLL for (unsigned side = 0; side < 2; side++) \
        NUMBERS(n, side * BYTES * (n), value)

UNIT(q4_0)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 2);
    const v32 d = even_halves(head[0]);
    NIBBLES(4, product(few_bits(q[i], 8 * b + 4 * side, 4, -8), d))
    return sum;
}

UNIT(iq4_nl)
{
    (void)half;
    static const float levels[LANES] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 2);
    const v32 d = even_halves(head[0]);
    const v16 table = load(levels);
    NIBBLES(4, product(d, level(q[i], 8 * b + 4 * side, table)))
    return sum;
}

UNIT(q4_1)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 4);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]);
    NIBBLES(4, total(product(few_bits(q[i], 8 * b + 4 * side, 4, 0), d), m))
    return sum;
}

/* Five bits in each byte: four of w, and above them one of `top`. */
static inline v32 five_bits(v32 w, unsigned shift, v32 top)
{
    return joined_bits(bits(w, shift, 0x0f0f0f0f), moved_up(top, 4));
}

/* Four bits from `shift` on, one in each byte. */
static inline v32 spread(v32 w, unsigned shift)
{
    const v32 four = bits(w, shift, 15), two = joined_bits(four, moved_up(four, 14));
    return bits(joined_bits(two, moved_up(two, 7)), 0, 0x01010101);
}

/* Each number of four words whose bytes have five bits. */
#define FIVE_BITS(value) \
    UNROLL for (unsigned side = 0; side < 2; side++) \
        for (unsigned i = 0; i < 4; i++) { \
            const v32 five = five_bits(q[i], 4 * side, spread(h, 16 * side + 4 * i)); \
            UNROLL for (unsigned b = 0; b < BYTES; b++) \
                sum = take(to, 16 * side + BYTES * i + b, value, sum); \
        }

UNIT(q5_0)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 6);
    const v32 d = even_halves(head[0]), h = joined_bits(bits(head[0], 16, 0xffff), moved_up(head[1], 16));
    FIVE_BITS(product(few_bits(five, 8 * b, 5, -16), d))
    return sum;
}

UNIT(q5_1)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 8);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]), h = head[1];
    FIVE_BITS(total(product(few_bits(five, 8 * b, 5, 0), d), m))
    return sum;
}

UNIT(q8_0)
{
    (void)half;
    v32 head[4], q[GROUP];
    words_at(head, row, at);
    eight_words(q, row, at + 2);
    const v32 d = even_halves(head[0]);
    NUMBERS(GROUP, 0, product(signed_bits(q[i], b, 24), d))
    return sum;
}

/* Of a half block in which each byte has two bits of four groups of 32 numbers. */
#define TWO_BITS(...) \
    UNROLL for (unsigned j = 0; j < 4; j++) \
        UNROLL for (unsigned second = 0; second < 2; second++) { \
            const unsigned k = 2 * j + second, by_four = k % 4; \
            const v32 *part = q + 4 * second; \
            __VA_ARGS__ \
        }

UNIT(q2_k)
{
    v32 s[4], q[GROUP], last[4] = {0};
    words_at(s, row, at);
    eight_words(q, row, at + 16 + 32 * half);
    words_at(last, row, at + 68);
    const v32 d = even_halves(last[3]), m = odd_halves(last[3]);
    TWO_BITS(
        const v32 scales = s[2 * half + k / 4];
        const v32 by = product(d, number(scales, 8 * by_four, 15));
        const v32 less = product(m, number(scales, 8 * by_four + 4, 15));
        NUMBERS(4, 16 * k, rest(product(by, few_bits(part[i], 8 * b + 2 * j, 2, 0)), less)))
    return sum;
}

UNIT(q3_k)
{
    v32 h[GROUP], q[GROUP], a[4], last[4] = {0}, scale[2];
    eight_words(h, row, at);
    eight_words(q, row, at + 32 + 32 * half);
    words_at(a, row, at + 92);          /* a begins with the second word */
    words_at(last, row, at + 94);
    const v32 d = odd_halves(last[3]);
    UNROLL for (unsigned i = 0; i < 2; i++)     /* six bits of eight scales, of which a[3] has the upper two */
        scale[i] = joined_bits(bits(a[1 + i], 4 * (unsigned)half, 0x0f0f0f0f),
                               moved_up(bits(a[3], 4 * (unsigned)half + 2 * i, 0x03030303), 4));
    TWO_BITS(
        const v32 by = product(d, rest(number(scale[k / 4], 8 * by_four, 255), all_same(32)));
        v32 three[4];
        UNROLL for (unsigned i = 0; i < 4; i++)
            three[i] = joined_bits(bits(part[i], 2 * j, 0x03030303),
                                   moved_up(bits(h[4 * second + i], 4 * (unsigned)half + j, 0x01010101), 2));
        NUMBERS(4, 16 * k, product(by, few_bits(three[i], 8 * b, 3, -4))))
    return sum;
}

/* Scales and minima of the four groups of a half block, a byte each, from the twelve bytes behind d and m. */
struct six_bits { v32 scale, min; };
static inline struct six_bits six_bits(const v32 head[4], size_t half)
{
    const v32 upper_scale = moved_up(bits(head[1], 6, 0x03030303), 4),
              upper_min = moved_up(bits(head[2], 6, 0x03030303), 4);
    if (half == 0)
        return (struct six_bits){bits(head[1], 0, 0x3f3f3f3f), bits(head[2], 0, 0x3f3f3f3f)};
    return (struct six_bits){joined_bits(bits(head[3], 0, 0x0f0f0f0f), upper_scale),
                             joined_bits(bits(head[3], 4, 0x0f0f0f0f), upper_min)};
}

UNIT(q4_k)
{
    v32 head[4], q[GROUP];
    words_at(head, row, at);
    const struct six_bits s = six_bits(head, half);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]);
    UNROLL for (unsigned pair = 0; pair < 2; pair++) {
        eight_words(q, row, at + 16 + 64 * half + 32 * pair);
        UNROLL for (unsigned side = 0; side < 2; side++) {
            const unsigned j = 2 * pair + side;
            const v32 by = product(d, number(s.scale, 8 * j, 255)), less = product(m, number(s.min, 8 * j, 255));
            NUMBERS(GROUP, 32 * j, rest(product(by, few_bits(q[i], 8 * b + 4 * side, 4, 0)), less))
        }
    }
    return sum;
}

UNIT(q5_k)
{
    v32 head[4], h[GROUP], q[GROUP];
    words_at(head, row, at);
    eight_words(h, row, at + 16);
    const struct six_bits s = six_bits(head, half);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]);
    UNROLL for (unsigned pair = 0; pair < 2; pair++) {
        eight_words(q, row, at + 48 + 64 * half + 32 * pair);
        UNROLL for (unsigned side = 0; side < 2; side++) {
            const unsigned j = 2 * pair + side, bit = 4 * (unsigned)half + j;
            const v32 by = product(d, number(s.scale, 8 * j, 255)), less = product(m, number(s.min, 8 * j, 255));
            for (size_t i = 0; i < GROUP; i++) {
                const v32 five = five_bits(q[i], 4 * side, bits(h[i], bit, 0x01010101));
                UNROLL for (unsigned b = 0; b < BYTES; b++)
                    sum = take(to, 32 * j + BYTES * i + b, rest(product(by, few_bits(five, 8 * b, 5, 0)), less), sum);
            }
        }
    }
    return sum;
}

UNIT(q6_k)
{
    v32 q[2 * GROUP], h[GROUP], s[4], last[4] = {0};
    eight_words(q, row, at + 64 * half);
    eight_words(q + GROUP, row, at + 64 * half + 32);
    eight_words(h, row, at + 128 + 32 * half);
    words_at(s, row, at + 192);
    words_at(last, row, at + 194);
    const v32 d = odd_halves(last[3]);
    UNROLL for (unsigned j = 0; j < 4; j++)
        UNROLL for (unsigned second = 0; second < 2; second++) {
            const unsigned k = 2 * j + second;
            const v32 by = product(d, signed_bits(s[2 * half + k / 4], k % 4, 24));
            const v32 *few = q + j % 2 * GROUP + 4 * second, *top = h + 4 * second;
            v32 six[4];         /* in each byte the upper bits: with the first turned over, a number from -32 on */
            UNROLL for (unsigned i = 0; i < 4; i++)
                six[i] = turned(joined_bits(moved_up(bits(few[i], j / 2 * 4, 0x0f0f0f0f), 2),
                                            moved_up(bits(top[i], 2 * j, 0x03030303), 6)), 0x80808080);
            NUMBERS(4, 16 * k, product(by, signed_bits(six[i], b, 26)))
        }
    return sum;
}

/* ---- the functions ---- */

#define TRANSPOSES(type, bytes, values, unit) \
static void transpose_##type(float *y, size_t ld, const void *const *row, size_t first, size_t n) \
{ \
    for (size_t k = 0; k < n; k += unit) { \
        const struct target to = {.y = y + k * ld, .ld = ld}; \
        unit_##type(all_same(0), &to, row, (first + k) / values * bytes, (first + k) % values / unit, keep_number); \
    } \
}
#define ONE_ROW(type, bytes, values, unit) \
static void one_row_##type(float *y, const float *x, const void *const *row, size_t first, size_t n, \
                           struct attn_prefetch *prefetch) \
{ \
    v32 sum = loaded(y); \
    const size_t rate = prefetch_rate(prefetch, n / unit); \
    for (size_t k = 0; k < n; k += unit) { \
        const struct target to = {.x = x + k}; \
        sum = unit_##type(sum, &to, row, (first + k) / values * bytes, (first + k) % values / unit, add_product); \
        prefetch_some(prefetch, rate); \
    } \
    stored(y, sum); \
}
#define EACH_TYPE(DO) DO(Q4_0, q4_0, 18, 32, 32) DO(Q4_1, q4_1, 20, 32, 32) DO(Q5_0, q5_0, 22, 32, 32) \
    DO(Q5_1, q5_1, 24, 32, 32) DO(Q8_0, q8_0, 34, 32, 32) DO(IQ4_NL, iq4_nl, 18, 32, 32) \
    DO(Q2_K, q2_k, 84, 256, HALF) DO(Q3_K, q3_k, 110, 256, HALF) DO(Q4_K, q4_k, 144, 256, HALF) \
    DO(Q5_K, q5_k, 176, 256, HALF) DO(Q6_K, q6_k, 210, 256, HALF)
#define DEFINE(id, type, bytes, values, unit) TRANSPOSES(type, bytes, values, unit)
EACH_TYPE(DEFINE)
#undef DEFINE

#if defined(__wasm__)                   /* in little code: products take what was transposed */

#define ROW(id, type, bytes, values, unit) [ATTN_##id] = {unit, transpose_##type, NULL},
const struct attn_dequantise_ops TABLE = {.of = {EACH_TYPE(ROW)}};

#else

#define DEFINE(id, type, bytes, values, unit) ONE_ROW(type, bytes, values, unit)
EACH_TYPE(DEFINE)
#undef DEFINE

/* Callers pass a constant for n. */
static inline __attribute__((always_inline))
void add_rows(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t K)
{
    v32 sum[ATTN_STREAM];
    UNROLL for (size_t r = 0; r < n; r++)
        sum[r] = loaded(y + r * ldy);
    for (size_t k = 0; k < K; k++, w += ROWS) {
        const v32 numbers = loaded(w);
        UNROLL for (size_t r = 0; r < n; r++)
            sum[r] = plus_product(sum[r], x[r * ldx + k], numbers);
    }
    UNROLL for (size_t r = 0; r < n; r++)
        stored(y + r * ldy, sum[r]);
}

static void few_rows(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t K)
{
    switch (n) {
    case 1: add_rows(y, ldy, x, ldx, w, 1, K); break;
    case 2: add_rows(y, ldy, x, ldx, w, 2, K); break;
    case 3: add_rows(y, ldy, x, ldx, w, 3, K); break;
    case 4: add_rows(y, ldy, x, ldx, w, 4, K); break;
    case 5: add_rows(y, ldy, x, ldx, w, 5, K); break;
    default: add_rows(y, ldy, x, ldx, w, ATTN_STREAM, K); break;
    }
}

#define ROW(id, type, bytes, values, unit) [ATTN_##id] = {unit, transpose_##type, one_row_##type},
const struct attn_dequantise_ops TABLE = {.of = {EACH_TYPE(ROW)}, .few_rows = few_rows};

#endif

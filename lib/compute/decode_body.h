/* decode_body.h - the source of decode.h's functions, compiled once for each instruction set by decode_avx512.c,
 * decode_avx2.c and decode.c, which define TABLE to the name of theirs.
 *
 * unit_TYPE decodes the numbers of 32 rows in their order and gives each vector to `take`, which stores or
 * multiplies it.  dtype.c has the same formulas for one row, number by number. */
#include "compute/decode.h"

#include "compute/lanes.h"
#include "compute/prefetch.h"

enum { HALF = 128, BYTES = 4, GROUP = 8 /* words of 32 bytes */, ROWS = ATTN_DECODE_ROWS };

/* A number of each of 32 rows.  Two chains of multiply-adds side by side do not wait for each other. */
typedef struct { v16 h[2]; } v32;
#define V32(name, parameters, value) static inline v32 name parameters \
{ \
    v32 to; \
    { enum { g = 0 }; to.h[g] = value; } \
    { enum { g = 1 }; to.h[g] = value; } \
    return to; \
}
V32(all_same, (float x), all(x))
V32(loaded, (const float *p), load(p + g * LANES))
V32(total, (v32 x, v32 y), add(x.h[g], y.h[g]))
V32(rest, (v32 x, v32 y), sub(x.h[g], y.h[g]))
V32(product, (v32 x, v32 y), mul(x.h[g], y.h[g]))
V32(plus_product, (v32 sum, float x, v32 y), fma16(all(x), y.h[g], sum.h[g]))
V32(even_halves, (v32 x), even_f16(x.h[g]))
V32(odd_halves, (v32 x), odd_f16(x.h[g]))
static inline void stored(float *p, v32 x)
{
    store(p, x.h[0]);
    store(p + LANES, x.h[1]);
}

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

/* ---- words of the rows ---- */

/* Four words from a byte of each row on. */
static inline __attribute__((always_inline)) void words_at(v32 out[4], const void *const *row, size_t byte)
{
    UNROLL for (size_t g = 0; g < 2; g++) {
        v16 part[4], words[4];
        UNROLL for (size_t l = 0; l < 4; l++)
            part[l] = fourths(row + g * LANES, l, byte);
        transpose4(words, part);
        UNROLL for (size_t i = 0; i < 4; i++)
            out[i].h[g] = words[i];
    }
}

/* n words, a multiple of four. */
static inline __attribute__((always_inline)) void more_words(v32 *out, const void *const *row, size_t byte, size_t n)
{
    UNROLL for (size_t i = 0; i < n; i += 4)
        words_at(out + i, row, byte + 4 * i);
}

/* Bits from `shift` on, and in place; joined; moved up; a byte with its sign, a number without one. */
V16(bits16, (v16 w, unsigned shift, uint32_t mask), (vf)((vu)w.v[i] >> shift & mask))
V16(joined16, (v16 x, v16 y), (vf)((vu)x.v[i] | (vu)y.v[i]))
V16(moved16, (v16 w, unsigned by), (vf)((vu)w.v[i] << by))
V16(signed16, (v16 w, unsigned at), __builtin_convertvector((vi)((vu)w.v[i] << (24 - 8 * at)) >> 24, vf))
V16(float16, (v16 w), __builtin_convertvector((vi)w.v[i], vf))
V32(bits, (v32 w, unsigned shift, uint32_t mask), bits16(w.h[g], shift, mask))
V32(joined_bits, (v32 x, v32 y), joined16(x.h[g], y.h[g]))
V32(moved_up, (v32 w, unsigned by), moved16(w.h[g], by))
V32(signed_byte, (v32 w, unsigned at), signed16(w.h[g], at))
V32(to_float, (v32 w), float16(w.h[g]))
static inline v32 number(v32 w, unsigned shift, uint32_t mask) { return to_float(bits(w, shift, mask)); }

/* Four bits from `shift` on choose one of sixteen numbers, which are whole ones from `first` on, or any. */
#if defined(__AVX512F__)
static inline v16 level16(v16 w, unsigned shift, v16 table)
{
    return (v16){{_mm512_permutexvar_ps((__m512i)((vu)w.v[0] >> shift), table.v[0])}};
}
V32(level, (v32 w, unsigned shift, v16 table), level16(w.h[g], shift, table))
static inline v32 four_bits(v32 w, unsigned shift, float first)
{
    static const float count[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return level(w, shift, add(load(count), all(first)));
}
#else
static inline v32 four_bits(v32 w, unsigned shift, float first)
{
    const v32 q = number(w, shift, 15);
    return first == 0 ? q : total(q, all_same(first));
}
#if defined(__AVX2__) && defined(__FMA__)
static inline vf vf_level(vu i, v16 table)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.v[0], (__m256i)i),
                            _mm256_permutevar8x32_ps(table.v[1], (__m256i)i), (vf)(i << 28));
}
V16(level16, (v16 w, unsigned shift, v16 table), vf_level((vu)w.v[i] >> shift, table))
#else
static inline v16 level16(v16 w, unsigned shift, v16 table)
{
    float from[LANES], to[LANES];
    uint32_t at[LANES];
    store(from, table);
    memcpy(at, &w, sizeof at);
    for (size_t l = 0; l < LANES; l++)
        to[l] = from[at[l] >> shift & 15];
    return load(to);
}
#endif
V32(level, (v32 w, unsigned shift, v16 table), level16(w.h[g], shift, table))
#endif

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
    NIBBLES(4, product(four_bits(q[i], 8 * b + 4 * side, -8), d))
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
    NIBBLES(4, total(product(four_bits(q[i], 8 * b + 4 * side, 0), d), m))
    return sum;
}

/* Four bits of w, and above them one of `top`. */
static inline v32 five_bits(v32 w, unsigned shift, v32 top, unsigned bit)
{
    return joined_bits(bits(w, shift, 15), moved_up(bits(top, bit, 1), 4));
}

UNIT(q5_0)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 6);
    const v32 d = even_halves(head[0]), h = joined_bits(bits(head[0], 16, 0xffff), moved_up(head[1], 16));
    UNROLL for (unsigned side = 0; side < 2; side++)
        NUMBERS(4, 16 * side, product(rest(to_float(five_bits(q[i], 8 * b + 4 * side, h, 16 * side + 4 * (unsigned)i + b)),
                                      all_same(16)), d))
    return sum;
}

UNIT(q5_1)
{
    (void)half;
    v32 head[4], q[4];
    words_at(head, row, at);
    words_at(q, row, at + 8);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]), h = head[1];
    UNROLL for (unsigned side = 0; side < 2; side++)
        NUMBERS(4, 16 * side, total(product(to_float(five_bits(q[i], 8 * b + 4 * side, h, 16 * side + 4 * (unsigned)i + b)),
                                      d), m))
    return sum;
}

UNIT(q8_0)
{
    (void)half;
    v32 head[4], q[GROUP];
    words_at(head, row, at);
    more_words(q, row, at + 2, GROUP);
    const v32 d = even_halves(head[0]);
    NUMBERS(GROUP, 0, product(signed_byte(q[i], b), d))
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
    v32 s[4], q[GROUP], last[4];
    words_at(s, row, at);
    more_words(q, row, at + 16 + 32 * half, GROUP);
    words_at(last, row, at + 68);
    const v32 d = even_halves(last[3]), m = odd_halves(last[3]);
    TWO_BITS(
        const v32 scales = s[2 * half + k / 4];
        const v32 by = product(d, number(scales, 8 * by_four, 15)), less = product(m, number(scales, 8 * by_four + 4, 15));
        NUMBERS(4, 16 * k, rest(product(by, number(part[i], 8 * b + 2 * j, 3)), less)))
    return sum;
}

UNIT(q3_k)
{
    v32 h[GROUP], q[GROUP], a[4], last[4], scale[2];
    more_words(h, row, at, GROUP);
    more_words(q, row, at + 32 + 32 * half, GROUP);
    words_at(a, row, at + 92);          /* a begins with the second word */
    words_at(last, row, at + 94);
    const v32 d = odd_halves(last[3]);
    UNROLL for (unsigned i = 0; i < 2; i++)     /* six bits of eight scales, of which a[3] has the upper two */
        scale[i] = joined_bits(bits(a[1 + i], 4 * (unsigned)half, 0x0f0f0f0f),
                               moved_up(bits(a[3], 4 * (unsigned)half + 2 * i, 0x03030303), 4));
    TWO_BITS(
        const v32 by = product(d, rest(number(scale[k / 4], 8 * by_four, 255), all_same(32)));
        const v32 *third = h + 4 * second;
        NUMBERS(4, 16 * k, product(by, rest(to_float(joined_bits(bits(part[i], 8 * b + 2 * j, 3),
                    moved_up(bits(third[i], 8 * b + 4 * (unsigned)half + j, 1), 2))), all_same(4)))))
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
        more_words(q, row, at + 16 + 64 * half + 32 * pair, GROUP);
        UNROLL for (unsigned side = 0; side < 2; side++) {
            const unsigned j = 2 * pair + side;
            const v32 by = product(d, number(s.scale, 8 * j, 255)), less = product(m, number(s.min, 8 * j, 255));
            NUMBERS(GROUP, 32 * j, rest(product(by, four_bits(q[i], 8 * b + 4 * side, 0)), less))
        }
    }
    return sum;
}

UNIT(q5_k)
{
    v32 head[4], h[GROUP], q[GROUP];
    words_at(head, row, at);
    more_words(h, row, at + 16, GROUP);
    const struct six_bits s = six_bits(head, half);
    const v32 d = even_halves(head[0]), m = odd_halves(head[0]);
    UNROLL for (unsigned pair = 0; pair < 2; pair++) {
        more_words(q, row, at + 48 + 64 * half + 32 * pair, GROUP);
        UNROLL for (unsigned side = 0; side < 2; side++) {
            const unsigned j = 2 * pair + side, bit = 4 * (unsigned)half + j;
            const v32 by = product(d, number(s.scale, 8 * j, 255)), less = product(m, number(s.min, 8 * j, 255));
            NUMBERS(GROUP, 32 * j,
                    rest(product(by, to_float(five_bits(q[i], 8 * b + 4 * side, h[i], 8 * b + bit))), less))
        }
    }
    return sum;
}

UNIT(q6_k)
{
    v32 q[2 * GROUP], h[GROUP], s[4], last[4];
    more_words(q, row, at + 64 * half, 2 * (size_t)GROUP);
    more_words(h, row, at + 128 + 32 * half, GROUP);
    words_at(s, row, at + 192);
    words_at(last, row, at + 194);
    const v32 d = odd_halves(last[3]);
    UNROLL for (unsigned j = 0; j < 4; j++)
        UNROLL for (unsigned second = 0; second < 2; second++) {
            const unsigned k = 2 * j + second;
            const v32 by = product(d, signed_byte(s[2 * half + k / 4], k % 4));
            const v32 *few = q + j % 2 * GROUP + 4 * second, *top = h + 4 * second;
            NUMBERS(4, 16 * k, product(by, rest(to_float(joined_bits(bits(few[i], 8 * b + j / 2 * 4, 15),
                        moved_up(bits(top[i], 8 * b + 2 * j, 3), 4))), all_same(32))))
        }
    return sum;
}

/* ---- the functions ---- */

#define FUNCTIONS(type, bytes, values, unit) \
static void transpose_##type(float *y, size_t ld, const void *const *row, size_t first, size_t n) \
{ \
    for (size_t k = 0; k < n; k += unit) { \
        const struct target to = {.y = y + k * ld, .ld = ld}; \
        unit_##type(all_same(0), &to, row, (first + k) / values * bytes, (first + k) % values / unit, keep_number); \
    } \
} \
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
#define DEFINE(id, type, bytes, values, unit) FUNCTIONS(type, bytes, values, unit)
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
const struct attn_decode_ops TABLE = {.of = {EACH_TYPE(ROW)}, .few_rows = few_rows};

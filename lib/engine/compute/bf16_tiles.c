/* bf16_tiles.c - products in pairs by tdpbf16ps, or for one or two rows of x with its bits. */
#include "compute/bf16_body.h"

/* A tile is 16 x 16 words; SECOND, THIRD and FOURTH are the columns where a panel's other tiles begin. */
enum { SIDE = 16, SECOND = 16, THIRD = 32, FOURTH = 48 };

/* What ldtilecfg reads. */
static const struct { uint8_t palette, start, unused[14]; uint16_t bytes[16]; uint8_t rows[16]; } eight_tiles = {
    .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

/* Loads sums into tiles 0 to 3.  Sums and x are loaded with a streaming hint, so that w stays in the L1 cache. */
static void load_sums(const float *y, size_t bytes)
{
    _tile_stream_loadd(0, y, bytes);
    _tile_stream_loadd(1, y + SECOND, bytes);
    _tile_stream_loadd(2, y + THIRD, bytes);
    _tile_stream_loadd(3, y + FOURTH, bytes);
}

static void zero_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

static void store_sums(float *y, size_t bytes)
{
    _tile_stored(0, y, bytes);
    _tile_stored(1, y + SECOND, bytes);
    _tile_stored(2, y + THIRD, bytes);
    _tile_stored(3, y + FOURTH, bytes);
}

/* Adds the products of 16 words (32 steps).  Tile 4 has x; tiles 5 to 7 take turns with w, so that one is loaded
 * while another is multiplied. */
static void add_products(const float *x, const float *w)
{
    const size_t panel = ATTN_PANEL * sizeof *w;
    _tile_stream_loadd(4, x, SIDE * sizeof *x);
    _tile_loadd(5, w, panel);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, w + SECOND, panel);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(7, w + THIRD, panel);
    _tile_dpbf16ps(2, 4, 7);
    _tile_loadd(5, w + FOURTH, panel);
    _tile_dpbf16ps(3, 4, 5);
}

static void panel_tiles(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words,
                        bool more, struct attn_prefetch *prefetch)
{
    size_t rate = prefetch_rate(prefetch, parts_of(n, SIDE) * words / SIDE);
    __asm__ volatile("" : : : "memory");    /* gcc's intrinsics do not say that they read memory */
    _tile_loadconfig(&eight_tiles);
    for (size_t i = 0; i < n; i += SIDE, y += SIDE * ldy, x += SIDE * ldx) {
        if (more)
            load_sums(y, ldy * sizeof *y);
        else
            zero_sums();
        for (size_t k = 0; k < words; k += SIDE) {
            add_products(x + k * SIDE, w + k * ATTN_PANEL);
            prefetch_some(prefetch, rate);
        }
        store_sums(y, ldy * sizeof *y);
    }
    _tile_release();                    /* else the operating system saves the tiles at every context switch */
}

/* ---- one or two rows of x ---- */

/* Computes the bits of tdpbf16ps for one or two rows of x by fused multiply-adds: the instruction itself would take
 * as long as for 16 rows, and needs pairs of w.  Here w is read where it is stored, as in products_body.h. */
enum {
    WORDS = ATTN_BF16_ROWS, STEPS = 2 * WORDS,          /* steps of k after which the two chains start again from 0 */
    WIDTH = ATTN_BF16_WIDTH                             /* columns whose chains fit into the cache */
};
/* MXCSR as tdpbf16ps behaves: round to nearest, no exceptions, denormal operands and results are 0. */
enum { AS_TILES = 0x1f80 | 0x8040 };

/* The words of x for 32 steps as floats: the first step of each pair, and the second. */
struct words { float first[ATTN_BF16_LONE][WORDS], second[ATTN_BF16_LONE][WORDS]; };
struct chains { float first[ATTN_BF16_LONE][WIDTH], second[ATTN_BF16_LONE][WIDTH]; };

static inline struct words words_of(const float *x, size_t rows)
{
    struct words to = {0};
    for (size_t r = 0; r < rows; r++) {
        v16 words = load(x + r * WORDS);
        store(to.first[r], even_bf16(words));
        store(to.second[r], odd_bf16(words));
    }
    return to;
}

static inline v16 rounded(v16 x)
{
    return (v16){{(vf)((vu)_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x.v[0])) << 16)}};
}

static inline v16 from_f32_rows(const void *w) { return rounded(load(w)); }
static inline v16 from_f16_rows(const void *w) { return rounded(from_f16(w)); }
static inline v16 from_bf16_rows(const void *w) { return from_bf16(w); }

/* ---- w stored [in, out] ---- */

/* Eight of the 32 steps, from word `word` on: the first part begins the chains, the last one adds them to y. */
struct part { size_t word; bool begin, end; };

/* Callers pass constants for size, from and rows. */
static inline __attribute__((always_inline))
void eight_steps(float *y, size_t ldy, struct chains *chains, const struct words *words, struct part part,
                 const struct rows *w,
                 struct coming_rows *next, size_t cols, size_t size, v16 (*from)(const void *), size_t rows)
{
    v16 first[ATTN_BF16_LONE][DEEP / 2], second[ATTN_BF16_LONE][DEEP / 2];
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t k = 0; k < DEEP / 2; k++) {
            first[r][k] = all(words->first[r][part.word + k]);
            second[r][k] = all(words->second[r][part.word + k]);
        }
    for (size_t c = 0; c < cols; c += LANES) {
        v16 row[DEEP];
        if (c * size % LINE_BYTES == 0)
            prefetch_rows(next);
        UNROLL for (size_t k = 0; k < DEEP; k++)
            row[k] = from(w->at[k] + c * size);
        UNROLL for (size_t r = 0; r < rows; r++) {
            v16 a = part.begin ? all(0) : load(chains->first[r] + c),
                b = part.begin ? all(0) : load(chains->second[r] + c);
            UNROLL for (size_t k = 0; k < DEEP / 2; k++) {
                a = fma16(first[r][k], row[2 * k], a);
                b = fma16(second[r][k], row[2 * k + 1], b);
            }
            if (part.end) {
                store(y + r * ldy + c, add(load(y + r * ldy + c), add(a, b)));
            } else {
                store(chains->first[r] + c, a);
                store(chains->second[r] + c, b);
            }
        }
    }
}

static inline __attribute__((always_inline))
void stream(float *y, size_t ldy, const float *x, const char *w, size_t bytes, size_t K, size_t cols, size_t size,
            v16 (*from)(const void *), size_t rows)
{
    struct chains chains;
    struct coming_rows next = coming_rows(w, bytes, cols * size);
    for (size_t k = 0; k < K; k += STEPS, x += ATTN_BF16_TILE) {
        size_t parts = K - k < STEPS ? (K - k) / DEEP + 1 : STEPS / DEEP;
        struct words words = words_of(x, rows);
        for (size_t i = 0; i < parts; i++) {
            struct rows eight = rows_at(w, bytes, k + i * DEEP, K);
            struct part part = {i * DEEP / 2, i == 0, i + 1 == parts};
            eight_steps(y, ldy, &chains, &words, part, &eight, &next, cols, size, from, rows);
        }
    }
}

#define STREAM(name, size, from) \
static void name(float *y, size_t ldy, const float *x, const char *w, size_t bytes, size_t n, size_t K, size_t cols) \
{ \
    if (n == 1) \
        stream(y, ldy, x, w, bytes, K, cols, size, from, 1); \
    else \
        stream(y, ldy, x, w, bytes, K, cols, size, from, ATTN_BF16_LONE); \
}
STREAM(stream_f32, 4, from_f32_rows) STREAM(stream_f16, 2, from_f16_rows) STREAM(stream_bf16, 2, from_bf16_rows)
#undef STREAM

/* ---- w stored [out, in] ---- */

/* Adds 32 steps to the sums.  Callers pass a constant for rows. */
static inline __attribute__((always_inline))
void transposed_steps(v16 *sum, const float *x, const struct sixteen_rows *t, size_t rows,
                      struct attn_prefetch *prefetch, size_t rate)
{
    struct words words = words_of(x, rows);
    struct lines lines;
    v16 first[ATTN_BF16_LONE], second[ATTN_BF16_LONE], out[4];
    UNROLL for (size_t r = 0; r < rows; r++)
        first[r] = second[r] = all(0);
    take_lines(&lines, t->row, 0);
    UNROLL for (size_t p = 0, k = 0; p < PARTS; p++, k += 4) {
        transpose4(out, lines.part[p]);
        UNROLL for (size_t r = 0; r < rows; r++)
            UNROLL for (size_t i = 0; i < 4; i++) {
                first[r] = fma16(all(words.first[r][k + i]), even_bf16(out[i]), first[r]);
                second[r] = fma16(all(words.second[r][k + i]), odd_bf16(out[i]), second[r]);
            }
        prefetch_some(prefetch, rate);
    }
    UNROLL for (size_t r = 0; r < rows; r++)
        sum[r] = add(sum[r], add(first[r], second[r]));
}

static inline __attribute__((always_inline))
void transposed(float *y, size_t ldy, const float *x, const void *const *w, size_t K, struct attn_prefetch *prefetch,
                size_t size,
                v32_from *from, size_t rows)
{
    struct sixteen_rows t;
    v16 sum[ATTN_BF16_LONE];
    size_t rate = prefetch_rate(prefetch, attn_bf16_words(K) / 4);
    UNROLL for (size_t r = 0; r < rows; r++)
        sum[r] = load(y + r * ldy);
    for (size_t k = 0; k < K; k += STEPS, x += ATTN_BF16_TILE) {
        make_words(&t, w, k, K, size, from);
        transposed_steps(sum, x, &t, rows, prefetch, rate);
    }
    UNROLL for (size_t r = 0; r < rows; r++)
        store(y + r * ldy, sum[r]);
}

#define TRANSPOSED(name, size, from) \
static void name(float *y, size_t ldy, const float *x, const void *const *w, size_t n, size_t K, \
                 struct attn_prefetch *prefetch) \
{ \
    if (n == 1) \
        transposed(y, ldy, x, w, K, prefetch, size, from, 1); \
    else \
        transposed(y, ldy, x, w, K, prefetch, size, from, ATTN_BF16_LONE); \
}
TRANSPOSED(transposed_f32, 4, v32_from_f32)
TRANSPOSED(transposed_f16, 2, v32_from_f16) TRANSPOSED(transposed_bf16, 2, v32_from_bf16)
#undef TRANSPOSED

/* ---- w of any type ---- */

/* Between begin_tiles and end_tiles, arithmetic rounds as tdpbf16ps does; what is computed stays between the two. */
static unsigned begin_tiles(void)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr(AS_TILES);
    __asm__ volatile("" : : : "memory");
    return before;
}

static void end_tiles(unsigned before)
{
    __asm__ volatile("" : : : "memory");
    _mm_setcsr(before);
}

static void stream_tiles(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type,
                         size_t ldw, size_t n, size_t K, size_t cols)
{
    static void (*const by_type[])(float *, size_t, const float *, const char *, size_t, size_t, size_t, size_t) = {
        [ATTN_F32] = stream_f32, [ATTN_F16] = stream_f16, [ATTN_BF16] = stream_bf16};
    (void)ldx;
    unsigned before = begin_tiles();
    by_type[type](y, ldy, x, w, ldw * attn_dtype_size(type), n, K, cols);
    end_tiles(before);
}

static void stream_transposed_tiles(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w,
                                    enum attn_dtype type,
                                    size_t n, size_t K, struct attn_prefetch *prefetch)
{
    static void (*const by_type[])(float *, size_t, const float *, const void *const *, size_t, size_t,
                                   struct attn_prefetch *) = {
        [ATTN_F32] = transposed_f32, [ATTN_F16] = transposed_f16, [ATTN_BF16] = transposed_bf16};
    (void)ldx;
    unsigned before = begin_tiles();
    by_type[type](y, ldy, x, w, n, K, prefetch);
    end_tiles(before);
}

const struct attn_bf16_ops attn_bf16_tiles = {
    panel_tiles, NULL, stream_tiles, stream_transposed_tiles, NULL,
    attn_bf16_row_words, attn_bf16_rows_words, attn_bf16_transpose};

/* tile.h - the plain loops of products: some rows of x times 16 or 64 columns of w, with all sums in
 * registers while k runs.  They multiply what libxsmm's kernels do not (multiply.h).
 *
 * Included by products_body.h and bf16_dots.c alone.  The rows that pack a weight prefetch, every few steps, some cache
 * lines of what is packed next, so that it comes from memory while others are multiplied. */
#ifndef ATTN_COMPUTE_TILE_H
#define ATTN_COMPUTE_TILE_H

enum { TILE = TILE_COLS * LANES };

/* Loads sixteen stored numbers of w as float32. */
typedef v16 from_stored(const void *w);
static inline v16 from_stored_f32(const void *w) { return load(w); }

/* Loads what one step of w has for the columns of a tile; the next step is so many bytes further on. */
typedef void columns_of(v16 *col, const char *w, size_t next);
static inline __attribute__((always_inline)) void columns(v16 *col, const char *w, size_t size, from_stored *from)
{
    UNROLL for (size_t c = 0; c < TILE_COLS; c++)
        col[c] = from(w + c * LANES * size);
}
static inline void columns_f32(v16 *col, const char *w, size_t next)
{
    (void)next, columns(col, w, sizeof(float), from_stored_f32);
}

/* One tile: rows (at most TILE_ROWS) x TILE columns.  row, step: floats from one row of x, one step of k, to the
 * next; one of them is the constant 1.  next: bytes from one step of w to the next.  If `copies`, what `take` loads
 * is also written to copy [K, 64], which is not used otherwise.  Callers pass constants for rows, take and copies. */
static inline __attribute__((always_inline))
void tile(float *y, size_t ldy, const float *x, size_t row, size_t step, const char *w, size_t next, columns_of *take,
          bool copies, float *copy, size_t rows, size_t K, bool more, struct attn_prefetch *prefetch, size_t rate)
{
    v16 acc[TILE_ROWS][TILE_COLS];
    const float *lower = x + 3 * row;   /* with a pointer for each half of the rows, addresses need fewer registers */
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t c = 0; c < TILE_COLS; c++)
            acc[r][c] = more ? load(y + r * ldy + c * LANES) : all(0);
    for (size_t k = 0; k < K; k++, x += step, lower += step, w += next) {
        v16 col[TILE_COLS];
        take(col, w, next);
        UNROLL for (size_t c = 0; copies && c < TILE_COLS; c++)
            store(copy + k * ATTN_PANEL + c * LANES, col[c]);
        UNROLL for (size_t r = 0; r < rows; r++) {
            v16 f = all(r < 3 ? x[r * row] : lower[(r - 3) * row]);
            UNROLL for (size_t c = 0; c < TILE_COLS; c++)
                acc[r][c] = fma16(f, col[c], acc[r][c]);
        }
        prefetch_some(prefetch, rate);
    }
    __asm__("" : "+r"(y));              /* else gcc keeps the addresses of y in registers during the loop */
    UNROLL for (size_t r = 0; r < rows; r++, y += ldy)
        UNROLL for (size_t c = 0; c < TILE_COLS; c++)
            store(y + c * LANES, acc[r][c]);
}

#define ROWS_OF(n) static void rows##n(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, \
                                       size_t K, bool more) \
{ \
    struct attn_prefetch none = {0}; \
    tile(y, ldy, x, ldx, 1, (const char *)w, ldw * sizeof *w, columns_f32, false, y, n, K, more, &none, 0); \
}
ROWS_OF(1) ROWS_OF(2) ROWS_OF(3)
#if TILE_ROWS == 6
ROWS_OF(4) ROWS_OF(5) ROWS_OF(6)
#define TILES rows1, rows2, rows3, rows4, rows5, rows6
#else
#define TILES rows1, rows2, rows3
#endif
#undef ROWS_OF

/* A product of n rows and one panel, in tiles of about equally many rows: a tile of one or two rows takes as long as
 * one of three. */
static void vec_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                      size_t n, size_t K, bool more)
{
    static void (*const by_rows[])(float *, size_t, const float *, size_t, const float *, size_t, size_t, bool) = {
        TILES};
    for (size_t j = 0; j < ATTN_PANEL; j += TILE)
        for (size_t i = 0, left = parts_of(n, TILE_ROWS), rows; i < n; i += rows, left--) {
            rows = parts_of(n - i, left);
            by_rows[rows - 1](y + i * ldy + j, ldy, x + i * ldx, ldx, w + j, ldw, K, more);
        }
}

/* How many panels one row of x is multiplied with side by side at most: so many stretches of memory are read at once,
 * which the hardware fetches ahead faster than we could, as each is long and has no gaps. */
_Static_assert(ATTN_AT_ONCE == 2, "row_times leaves one panel at most");
enum { IN_PANEL = ATTN_PANEL / LANES, BESIDE = TILE_COLS == IN_PANEL ? ATTN_AT_ONCE : 1 };

/* Callers pass constants for n, size and from; next: bytes from one panel to the next. */
static inline __attribute__((always_inline))
void row_beside(float *y, const float *x, const char *w, size_t next, size_t K, size_t n, size_t size,
                from_stored *from)
{
    v16 acc[ATTN_AT_ONCE][IN_PANEL];
    UNROLL for (size_t p = 0; p < n; p++)
        UNROLL for (size_t c = 0; c < IN_PANEL; c++)
            acc[p][c] = all(0);
    for (size_t k = 0; k < K; k++, w += ATTN_PANEL * size) {
        v16 f = all(x[k]);
        UNROLL for (size_t p = 0; p < n; p++)
            UNROLL for (size_t c = 0; c < IN_PANEL; c++)
                acc[p][c] = fma16(f, from(w + p * next + c * LANES * size), acc[p][c]);
    }
    UNROLL for (size_t p = 0; p < n; p++)
        UNROLL for (size_t c = 0; c < IN_PANEL; c++)
            store(y + p * ATTN_PANEL + c * LANES, acc[p][c]);
}

/* y[n * 64] = x[K] times n panels. */
static inline __attribute__((always_inline))
void row_times(float *y, const float *x, const char *w, size_t next, size_t n, size_t K, size_t size, from_stored *from)
{
    for (; n >= BESIDE; n -= BESIDE, y += BESIDE * ATTN_PANEL, w += BESIDE * next)
        row_beside(y, x, w, next, K, BESIDE, size, from);
    if (n > 0)
        row_beside(y, x, w, next, K, 1, size, from);
}

#endif

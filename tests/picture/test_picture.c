/* test_picture.c - colours that can be read back, pages without overlaps, files that say what was drawn. */
#include "suites.h"
#include "attn_tools.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "picture/figure.h"
#include "picture/png.h"
#include "picture/look.h"
#include "parsers.h"

static const char *const palettes[] = {"viridis", "magma", "cividis", "gray", "balance", "blues", "ink"};
enum { PALETTES = sizeof palettes / sizeof palettes[0] };

static struct attn_look look_of(const char *palette, const char *scale)
{
    struct attn_look look;
    struct attn_err err = {0};
    struct attn_picture_opts o = {.palette = palette, .scale = scale};
    ck_assert_msg(!attn_look_make(&look, &o, &err), "%s", err.msg);
    return look;
}

static int apart(struct attn_rgb a, struct attn_rgb b)
{
    return abs(a.r - b.r) + abs(a.g - b.g) + abs(a.b - b.b);
}

/* ---- palettes -------------------------------------------------------------------------- */

/* Those that begin with nearly white grow darker. */
START_TEST(colours_differ_and_grow_lighter)
{
    struct attn_look look = look_of(palettes[_i], NULL);
    bool falls = attn_palette_color(look.palette, 0).g > attn_palette_color(look.palette, ATTN_STEPS - 1).g;
    double before = falls ? 256 : -1;
    for (unsigned i = 0; i < ATTN_STEPS; i++) {
        struct attn_rgb c = attn_palette_color(look.palette, i);
        double light = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
        for (unsigned k = 0; k < i; k++)
            ck_assert_msg(apart(c, attn_palette_color(look.palette, k)) > 0, "%s: steps %u and %u", palettes[_i], k, i);
        /* NaN and blank cells must not look like numbers. */
        ck_assert_int_gt(apart(c, attn_palette_nan(look.palette)), 40);
        ck_assert_int_gt(apart(c, attn_palette_blank(look.palette)), 12);
        if (!attn_palette_diverges(look.palette))
            ck_assert_msg(falls ? light < before : light > before, "%s: step %u turns back", palettes[_i], i);
        before = light;
    }
}
END_TEST

START_TEST(unknown_looks_are_refused_with_a_list)
{
    struct attn_look look;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){.palette = "jet"}, &err), ATTN_EUSAGE);
    for (size_t i = 0; i < PALETTES; i++)
        ck_assert_ptr_nonnull(strstr(err.msg, palettes[i]));
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){.scale = "cubic"}, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "unknown colour scale 'cubic': expected linear, sqrt, log or row");
}
END_TEST

/* ---- scales ---------------------------------------------------------------------------- */

static const char *const words[] = {"Life", " is", "short", "<b>&\"", "\x01\xff", "\n", "]]>", "日本", "naïve",
                                    "e\u0301te\u0301", "dessert", "🙂", "\uFFFF"};
enum { WORDS = sizeof words / sizeof words[0] };

struct page { struct attn_album album; struct attn_tokens tokens; };

static void add_sheet(struct page *p, const char *kind, int layer, size_t n, size_t cols, bool keys,
                      float (*value)(size_t h, size_t i, size_t j))
{
    static const size_t heads[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct attn_err err = {0};
    float *own = NULL;
    unsigned char *hidden = NULL;
    ck_assert(!attn_album_mask(&p->album, &hidden, p->tokens.n * cols, &err));
    for (size_t i = 0; i < p->tokens.n; i++)
        for (size_t j = i + 1; j < cols; j++)
            hidden[i * cols + j] = 1;
    struct attn_sheet s = {.kind = kind, .title = kind, .axes = keys ? " (rows: queries, columns: keys)" : "",
                           .layer = layer, .n = n,
                           .rows = p->tokens.n, .cols = cols, .heads = n > 1 ? heads : NULL, .keys = keys,
                           .mask = keys ? hidden : NULL};
    ck_assert_msg(!attn_album_add(&p->album, &s, &own, &err) && !attn_album_link(&p->album, &err), "%s", err.msg);
    for (size_t h = 0; h < n; h++)
        for (size_t i = 0; i < s.rows; i++)
            for (size_t j = 0; j < cols; j++)
                own[(h * s.rows + i) * cols + j] = value(h, i, j);
}

static void open_page(struct page *p, size_t T)
{
    *p = (struct page){.tokens = {T, calloc(T, sizeof *p->tokens.tok)}};
    for (size_t i = 0; i < T; i++) {
        const char *w = words[i % WORDS];
        p->tokens.tok[i] = (struct attn_token){.id = (int32_t)i, .known = true, .text = w, .text_len = strlen(w)};
    }
    p->album.model = "toy";
    p->album.text = "Life is <b>&short\n";
    p->album.text_len = strlen(p->album.text);
    p->album.queries = p->album.keys = &p->tokens;
}

static void close_page(struct page *p)
{
    attn_album_free(&p->album);
    free(p->tokens.tok);
}

static float pattern(size_t h, size_t i, size_t j)
{
    return j > i ? 0 : 1.0f / (float)(1 + i + h) + 0.001f * (float)j;
}

static float scores(size_t h, size_t i, size_t j)
{
    return j > i ? -INFINITY : (float)i - 1.5f * (float)j + (float)h;
}

static const struct { const char *scale, *palette; float (*value)(size_t h, size_t i, size_t j); } scaled[] = {
    {NULL, NULL, pattern}, {"log", NULL, pattern}, {"row", NULL, pattern}, {NULL, NULL, scores},
    {"row", "balance", scores},
    {NULL, "balance", scores}, {"log", NULL, scores}, {"log", "balance", scores}, {"log", "balance", pattern},
};

/* The value that a colour stands for is within one colour step of the number. */
START_TEST(steps_map_back_to_numbers)
{
    struct page p;
    struct attn_scale s;
    struct attn_look look = look_of(scaled[_i].palette, scaled[_i].scale);
    open_page(&p, 9);
    add_sheet(&p, "x", 0, 3, 9, true, scaled[_i].value);
    attn_scale_make(&s, &p.album, p.album.sheet, &look);
    for (size_t row = 0; row < 27; row++) {
        const float *x = p.album.sheet->data + row * 9;
        uint8_t steps[9];
        float most = 0;
        for (size_t j = 0; j < 9; j++)
            most = isfinite(x[j]) ? fmaxf(most, fabsf(x[j])) : most;
        attn_scale_row(&s, steps, p.album.sheet, row);
        for (size_t j = 0; j < 9; j++) {
            bool blank = j > row % 9;
            ck_assert_int_eq(steps[j] == ATTN_STEP_BLANK, blank);
            if (blank)
                continue;
            double want = (double)(look.scaling == ATTN_COLOR_BY_ROW && most > 0 ? x[j] / most : x[j]);
            double low = attn_scale_value(&s, steps[j] ? steps[j] - 1u : 0), high = attn_scale_value(&s, steps[j] + 1u);
            /* both ends are rounded in double */
            ck_assert_msg(want >= low - 1e-9 && want <= high + 1e-9, "%g is not in %g..%g", want, low, high);
        }
    }
    close_page(&p);
}
END_TEST

static float odd(size_t h, size_t i, size_t j)
{
    static const float few[] = {NAN, INFINITY, -INFINITY, 0, 0, 2};
    (void)h;
    return few[(i * 3 + j) % 6];
}

static float signs(size_t h, size_t i, size_t j)
{
    static const float few[] = {0.11f, -0.11f, -100, 100, 0, 1e-9f};
    (void)h;
    return few[(i * 3 + j) % 6];
}

/* A logarithm keeps the sign: what is below 0 is on the other side of the middle, as far from it, and
 * none is hidden. */
START_TEST(logarithms_keep_signs)
{
    static const char *const two[] = {"balance", "viridis"},
        *const want[] = {"-100", "-10", "-1", "-0.1", "-0.01", "-0.001", "0"};
    struct page p;
    struct attn_scale s;
    struct attn_tick tick[ATTN_TICKS_MAX];
    struct attn_look look = look_of(two[_i], "log");
    uint8_t steps[2][3];
    char text[96];
    int step;
    open_page(&p, 2);
    add_sheet(&p, "x", 0, 1, 3, false, signs);
    attn_scale_make(&s, &p.album, p.album.sheet, &look);
    for (size_t r = 0; r < 2; r++)
        attn_scale_row(&s, steps[r], p.album.sheet, r);
    ck_assert_uint_eq(steps[0][0] + steps[0][1], ATTN_STEPS - 1);
    ck_assert_uint_gt(steps[0][0], ATTN_STEPS / 2);
    ck_assert(steps[0][2] == 0 && steps[1][0] == ATTN_STEPS - 1);
    ck_assert(steps[1][1] == ATTN_STEPS / 2 && steps[1][2] == ATTN_STEPS / 2);
    ck_assert_uint_eq(attn_scale_ticks(tick, &s), 13);
    for (size_t i = 0; i < 7; i++)
        ck_assert_str_eq(tick[i].text, want[i]);
    ck_assert(attn_legend_line(&s, 0, text, &step) && !attn_legend_line(&s, 1, text, &step));
    ck_assert_str_eq(text, "logarithms of magnitudes, 0 in the middle");
    close_page(&p);
}
END_TEST

START_TEST(what_is_on_no_scale_is_counted)
{
    struct page p;
    struct attn_scale s;
    char text[96];
    int step;
    struct attn_look look = look_of(NULL, "log");
    look.hide_first = true;
    open_page(&p, 4);
    add_sheet(&p, "x", 0, 1, 3, false, odd);
    attn_scale_make(&s, &p.album, p.album.sheet, &look);
    static const char *const lines[] = {"logarithmic", "2 of -inf", "4 not above 0", "2 NaN, 2 inf"};
    for (size_t i = 0; i < 4; i++) {
        ck_assert(attn_legend_line(&s, i, text, &step));
        ck_assert_str_eq(text, lines[i]);
    }
    ck_assert_int_eq(step, ATTN_STEP_NAN);
    ck_assert(!attn_legend_line(&s, 4, text, &step));
    p.album.sheet->keys = true;         /* columns are numbered above: no key is hidden there */
    attn_scale_make(&s, &p.album, p.album.sheet, &look);
    ck_assert(attn_legend_line(&s, 1, text, &step));
    ck_assert_str_eq(text, "first key hidden, nothing renormalised");
    close_page(&p);
}
END_TEST

static float ones(size_t h, size_t i, size_t j) { (void)h; return j > i ? 0 : 1; }

/* A 0 is hidden only where a mask is known to hide it, and what an edit has put there is not. */
START_TEST(nothing_is_hidden_because_it_is_zero)
{
    struct page p;
    struct attn_scale s;
    char text[96];
    int step;
    uint8_t steps[3][3];
    struct attn_look look = look_of(NULL, NULL);
    open_page(&p, 3);
    add_sheet(&p, "x", 0, 1, 3, true, ones);
    ((float *)p.album.sheet->data)[2] = 0.5f;                       /* in a hidden cell */
    const unsigned char *hidden = p.album.sheet->mask;
    for (int known = 0; known < 2; known++) {
        p.album.sheet->mask = known ? hidden : NULL;
        attn_scale_make(&s, &p.album, p.album.sheet, &look);
        for (size_t r = 0; r < 3; r++)
            attn_scale_row(&s, steps[r], p.album.sheet, r);
        ck_assert_uint_eq(steps[0][1], known ? ATTN_STEP_BLANK : 0);
        ck_assert_uint_eq(steps[1][2], known ? ATTN_STEP_BLANK : 0);
        ck_assert(steps[0][2] > 0 && steps[0][2] < ATTN_STEPS - 1);
        ck_assert_int_eq(attn_legend_line(&s, 0, text, &step), known);
    }
    ck_assert_str_eq(text, "hidden by the mask");
    close_page(&p);
}
END_TEST

/* A mask has two colours, and its legend says which is which. */
START_TEST(a_mask_has_two_colours)
{
    static const enum attn_sight sights[] = {ATTN_ONE_IS_SEEN, ATTN_ZERO_IS_SEEN};
    static const char *const says[][2] = {{"1: the query sees the key", "0: hidden by the mask"},
                                          {"0: the query sees the key", "-inf: hidden by the mask"}};
    struct page p;
    struct attn_scale s;
    char text[96];
    int step;
    struct attn_look look = look_of(NULL, "log");
    for (size_t k = 0; k < 2; k++) {
        open_page(&p, 3);
        add_sheet(&p, "x", 0, 1, 3, true, ones);
        p.album.sheet->mask = NULL;
        p.album.sheet->sight = sights[k];
        for (size_t i = 0; i < 9 && k; i++)
            ((float *)p.album.sheet->data)[i] = p.album.sheet->data[i] == 1 ? 0 : -INFINITY;
        attn_scale_make(&s, &p.album, p.album.sheet, &look);
        for (size_t r = 0; r < 3; r++) {
            uint8_t steps[3];
            attn_scale_row(&s, steps, p.album.sheet, r);
            for (size_t j = 0; j < 3; j++)
                ck_assert_uint_eq(steps[j], j > r ? 0 : ATTN_STEPS - 1);
        }
        for (size_t i = 0; i < 2; i++) {
            ck_assert(attn_legend_line(&s, i, text, &step));
            ck_assert_str_eq(text, says[k][i]);
            ck_assert_int_eq(step, i ? 0 : ATTN_STEPS - 1);
        }
        ck_assert(!attn_legend_line(&s, 2, text, &step) && !attn_scale_is_bar(&s));
        close_page(&p);
    }
}
END_TEST

START_TEST(ticks_are_round_numbers)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    struct attn_scale linear = {.low = -0.3, .high = 0.31}, log = {.scaling = ATTN_COLOR_LOG, .low = -4.2, .high = 0};
    size_t n = attn_scale_ticks(tick, &linear);
    static const char *const want[] = {"-0.2", "0", "0.2"};
    ck_assert_uint_eq(n, 3);
    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(tick[i].text, want[i]);
    n = attn_scale_ticks(tick, &log);
    ck_assert_uint_eq(n, 5);
    ck_assert_str_eq(tick[0].text, "0.0001");
    ck_assert_double_eq_tol(tick[0].at, 0.2 / 4.2, 1e-12);  /* rounded in double */
    ck_assert_str_eq(tick[4].text, "1");
}
END_TEST

/* ---- pages ----------------------------------------------------------------------------- */

/* A pen that records the boxes of texts and checks that none overlaps another, a matrix or the edge of the page. */
struct recorder { struct attn_figure f; struct attn_area box[20000]; size_t n, texts; };

static bool meet(const struct attn_area *a, const struct attn_area *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static void put_box(struct recorder *r, struct attn_area a, const char *what)
{
    ck_assert_msg(a.x + a.width <= r->f.width && a.y + a.height <= r->f.height && a.x < r->f.width,
                  "'%s' is cut off", what);
    for (size_t i = 0; i < r->n; i++)
        ck_assert_msg(!meet(&a, &r->box[i]), "'%s' touches another", what);
    r->box[r->n++] = a;
}

static void no_fill(void *self, const struct attn_area *a, uint8_t color)
{
    struct recorder *r = self;
    (void)color;
    ck_assert(a->x + a->width <= r->f.width && a->y + a->height <= r->f.height);
}

static void record_words(void *self, const struct attn_lettering *w)
{
    size_t length = attn_utf8_width(w->s, strlen(w->s)) * w->column, high = 9 * w->column / 7;
    size_t back = w->anchor == ATTN_BEGINS ? 0 : w->anchor == ATTN_ENDS ? length : length / 2;
    struct attn_area flat = {w->x - back, w->y - high, length, high}, up = {w->x - high, w->y - length, high, length};
    struct recorder *r = self;
    r->texts++;
    put_box(r, w->up ? up : flat, w->s);
}

static void record_over(void *self, const struct attn_lettering *w, uint8_t color)
{
    (void)color;
    record_words(self, w);
}

static void no_use(void *self, const struct attn_palette *p)
{
    (void)self;
    ck_assert_ptr_nonnull(p);
}

static void no_line(void *self, const struct attn_stroke *s, uint8_t color)
{
    const struct recorder *r = self;
    ck_assert(fmax(s->x0, s->x1) <= (double)r->f.width && fmax(s->y0, s->y1) <= (double)r->f.height &&
              color < ATTN_STEPS);
}

static int record_cells(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                        struct attn_err *err)
{
    (void)steps;
    (void)err;
    (void)rows;
    (void)cols;
    put_box(self, *a, "a matrix");
    return ATTN_OK;
}

static const struct { size_t T, layers, heads, cell; } pages[] = {
    {1, 1, 1, 0}, {2, 1, 1, 0}, {6, 1, 1, 0}, {6, 3, 4, 0}, {64, 1, 12, 0}, {64, 12, 12, 0}, {100, 2, 1, 0},
    {512, 1, 12, 0}, {512, 1, 1, 0},
    {6, 2, 2, 1}, {6, 2, 2, 64}, {30, 1, 3, 13}, {30, 1, 3, 12},
};

START_TEST(no_label_touches_another_or_is_cut_off)
{
    struct page p;
    struct recorder *r = calloc(1, sizeof *r);
    struct attn_err err = {0};
    struct attn_look look = look_of(NULL, NULL);
    look.cell = pages[_i].cell;
    open_page(&p, pages[_i].T);
    for (size_t l = 0; l < pages[_i].layers; l++) {
        add_sheet(&p, "attention pattern", (int)l, pages[_i].heads, pages[_i].T, true, pattern);
        add_sheet(&p, "context vectors", (int)l, 1, 40, false, scores);
    }
    ck_assert_msg(!attn_figure_plan(&r->f, &p.album, &look, &err), "%s", err.msg);
    struct attn_pen pen = {r, no_fill, record_words, record_cells, record_over, no_use, no_line};
    ck_assert_msg(!attn_figure_draw(&r->f, &pen, &err), "%s", err.msg);
    ck_assert_uint_gt(r->texts, 4);
    attn_figure_free(&r->f);
    close_page(&p);
    free(r);
}
END_TEST

START_TEST(pages_too_large_are_refused)
{
    struct page p;
    struct attn_figure f;
    struct attn_err err = {0};
    struct attn_look look = look_of(NULL, NULL);
    look.cell = 64;
    open_page(&p, 512);
    add_sheet(&p, "attention pattern", 0, 1, 512, true, pattern);
    ck_assert_int_eq(attn_figure_plan(&f, &p.album, &look, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "a smaller --cell"), "%s", err.msg);
    attn_figure_free(&f);
    close_page(&p);
}
END_TEST

/* Whether a page of one matrix is small enough, and its size. */
static bool fits(size_t rows, size_t cols, size_t cell, size_t *width, size_t *height)
{
    struct page p;
    struct attn_figure f;
    struct attn_err err = {0};
    struct attn_look look = look_of(NULL, NULL);
    look.cell = cell;
    open_page(&p, rows);
    add_sheet(&p, "context vectors", 0, 1, cols, false, pattern);
    int rc = attn_figure_plan(&f, &p.album, &look, &err);
    ck_assert(rc == ATTN_OK || (rc == ATTN_EUSAGE && strstr(err.msg, " x ") != NULL));
    *width = f.width;
    *height = f.height;
    attn_figure_free(&f);
    close_page(&p);
    return rc == ATTN_OK;
}

/* The largest page that fits is as large as viewers take, and one more pixel, or row, is too much. */
START_TEST(pages_may_be_as_large_as_viewers_open)
{
    enum { SIDE = 32000, PIXELS = 1 << 28 };
    size_t w, h, w0, h0, more;
    fits(1, 30000, 1, &w0, &h0);
    ck_assert(fits(1, 30000 + SIDE - w0, 1, &w, &h) && w == SIDE);
    ck_assert(!fits(1, 30001 + SIDE - w0, 1, &w, &h) && w == SIDE + 1);
    fits(20000, 1, 1, &w0, &h0);
    ck_assert(fits(20000 + SIDE - h0, 1, 1, &w, &h) && h == SIDE);
    ck_assert(!fits(20001 + SIDE - h0, 1, 1, &w, &h) && h == SIDE + 1);
    fits(1040, 3900, 8, &w0, &h0);
    more = (PIXELS / w0 - h0) / 8;
    ck_assert(fits(1040 + more, 3900, 8, &w, &h) && w * h <= PIXELS && w * (h + 8) > PIXELS);
    ck_assert(!fits(1041 + more, 3900, 8, &w, &h) && w * h > PIXELS);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------- */

static unsigned char *decode(const void *png, size_t len, size_t *width, size_t *height)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_memory(&image, png, len), "%s", image.message);
    image.format = PNG_FORMAT_RGB;
    unsigned char *rgb = malloc(PNG_IMAGE_SIZE(image));
    ck_assert_msg(png_image_finish_read(&image, NULL, rgb, 0, NULL), "%s", image.message);
    *width = image.width;
    *height = image.height;
    return rgb;
}

START_TEST(png_is_what_was_drawn)
{
    struct attn_canvas c;
    struct attn_look look = look_of(palettes[_i], NULL);
    unsigned char *png;
    size_t len, width, height;
    ck_assert_int_eq(attn_canvas_new(&c, 67, 31, NULL), 0);
    for (size_t i = 0; i < 67 * 31; i++)
        c.pixel[i] = (uint8_t)(i * 7 % 256);
    ck_assert_int_eq(attn_png_encode(&png, &len, &c, look.palette, NULL), 0);
    unsigned char *rgb = decode(png, len, &width, &height);
    ck_assert(width == 67 && height == 31);
    for (size_t i = 0; i < 67 * 31; i++) {
        struct attn_rgb want = attn_canvas_color(look.palette, c.pixel[i]);
        ck_assert(rgb[3 * i] == want.r && rgb[3 * i + 1] == want.g && rgb[3 * i + 2] == want.b);
    }
    free(rgb);
    free(png);
    attn_canvas_free(&c);
}
END_TEST

static char *write_page(const struct page *p, const struct attn_look *look,
                        int (*to)(struct attn_out *, const struct attn_album *, const struct attn_look *,
                                  struct attn_err *), size_t *len)
{
    struct attn_out *out;
    struct attn_err err = {0};
    char *text;
    ck_assert_int_eq(attn_out_open_memory(&out, &err), 0);
    ck_assert_msg(!to(out, &p->album, look, &err), "%s", err.msg);
    ck_assert_msg(!attn_out_take(out, &text, len, &err), "%s", err.msg);
    attn_out_close(out);
    return text;
}

struct found { size_t x, y, cell, n; };

static void skip_words(void *self, const struct attn_lettering *w) { (void)self; (void)w; }
static void skip_fill(void *self, const struct attn_area *a, uint8_t color) { (void)self; (void)a; (void)color; }
static int find_cells(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                      struct attn_err *err)
{
    (void)steps;
    (void)rows;
    (void)err;
    struct found *f = self;
    f[f->n + 1] = (struct found){a->x, a->y, a->width / cols, 0};
    f->n++;
    return ATTN_OK;
}

/* Reads back the colour in the middle of each cell of the file. */
START_TEST(cells_of_the_file_map_back_to_numbers)
{
    struct page p;
    struct attn_scale s;
    struct attn_figure f;
    struct found at[8] = {{0}};
    size_t len, width, height;
    struct attn_look look = look_of(palettes[_i], NULL);
    open_page(&p, 7);
    add_sheet(&p, "attention pattern", 0, 4, 7, true, pattern);
    char *png = write_page(&p, &look, attn_png_write, &len);
    unsigned char *rgb = decode(png, len, &width, &height);
    attn_scale_make(&s, &p.album, p.album.sheet, &look);
    ck_assert_int_eq(attn_figure_plan(&f, &p.album, &look, NULL), 0);
    ck_assert_int_eq(attn_figure_draw(&f, &(struct attn_pen){at, skip_fill, skip_words, find_cells, NULL, no_use, NULL},
                                      NULL), 0);
    ck_assert_uint_eq(at->n, 4);
    double step = (s.high - s.low) / (ATTN_STEPS - 1);
    for (size_t k = 0; k < 4 * 49; k++) {
        const struct found *m = &at[1 + k / 49];
        const unsigned char *pixel = rgb + 3 *
            ((m->y + k % 49 / 7 * m->cell + m->cell / 2) * width + m->x + k % 7 * m->cell + m->cell / 2);
        struct attn_rgb color = {pixel[0], pixel[1], pixel[2]};
        unsigned found = ATTN_STEP_BLANK;
        for (unsigned i = 0; i < ATTN_STEPS; i++)
            if (!apart(attn_palette_color(look.palette, i), color))
                found = i;
        bool hidden = k % 7 > k % 49 / 7;
        ck_assert_int_eq(found == ATTN_STEP_BLANK && !apart(attn_palette_blank(look.palette), color), hidden);
        if (hidden)
            continue;
        ck_assert_double_eq_tol(attn_scale_value(&s, found), (double)p.album.sheet->data[k], step);
    }
    attn_figure_free(&f);
    free(rgb);
    free(png);
    close_page(&p);
}
END_TEST

START_TEST(svg_is_xml_with_its_text)
{
    struct page p;
    struct attn_look look = look_of(NULL, NULL);
    char fault[PARSERS_FAULT];
    size_t len;
    open_page(&p, _i ? 101 : WORDS);        /* squares, then an image */
    add_sheet(&p, "attention pattern", 0, 1, p.tokens.n, true, pattern);
    char *svg = write_page(&p, &look, attn_svg_write, &len);
    ck_assert_msg(!xml_fault(fault, svg, len), "%s", fault);
    ck_assert_ptr_nonnull(strstr(svg, "toy: Life is &lt;b&gt;&amp;short"));
    ck_assert_ptr_nonnull(strstr(svg, "]]&gt;</text>"));
    ck_assert_ptr_nonnull(strstr(svg, "日本</text>"));
    ck_assert_int_eq(strstr(svg, "data:image/png;base64,iVBORw0KGgo") != NULL, _i);
    free(svg);
    close_page(&p);
}
END_TEST

static float halves(size_t h, size_t i, size_t j)
{
    (void)h;
    (void)i;
    return j % 2 ? 1 : 0.5f;
}

/* One path for each colour there is, and none for others. */
START_TEST(svg_has_the_colours_it_needs)
{
    struct page p;
    struct attn_look look = look_of(NULL, NULL);
    size_t len, paths = 0;
    open_page(&p, 6);
    add_sheet(&p, "attention pattern", 0, 1, 6, false, halves);
    char *svg = write_page(&p, &look, attn_svg_write, &len);
    for (const char *s = svg; (s = strstr(s, " d=\"")) != NULL; s++, paths++)
        ck_assert_int_eq(s[4], 'M');
    ck_assert_uint_eq(paths, 4);        /* two colours, the frame and the edge of the mask, and marks of the scale */
    free(svg);
    close_page(&p);
}
END_TEST

Suite *suite_picture(void)
{
    Suite *s = suite_create("picture");
    TCase *t = tcase_create("picture");
    tcase_add_loop_test(t, colours_differ_and_grow_lighter, 0, PALETTES);
    tcase_add_test(t, unknown_looks_are_refused_with_a_list);
    tcase_add_loop_test(t, steps_map_back_to_numbers, 0, sizeof scaled / sizeof *scaled);
    tcase_add_test(t, what_is_on_no_scale_is_counted);
    tcase_add_test(t, nothing_is_hidden_because_it_is_zero);
    tcase_add_test(t, a_mask_has_two_colours);
    tcase_add_loop_test(t, logarithms_keep_signs, 0, 2);
    tcase_add_test(t, ticks_are_round_numbers);
    tcase_add_loop_test(t, no_label_touches_another_or_is_cut_off, 0, sizeof pages / sizeof *pages);
    tcase_add_test(t, pages_too_large_are_refused);
    tcase_add_test(t, pages_may_be_as_large_as_viewers_open);
    tcase_add_loop_test(t, png_is_what_was_drawn, 0, PALETTES);
    tcase_add_loop_test(t, cells_of_the_file_map_back_to_numbers, 0, PALETTES);
    tcase_add_loop_test(t, svg_is_xml_with_its_text, 0, 2);
    tcase_add_test(t, svg_has_the_colours_it_needs);
    suite_add_tcase(s, t);
    return s;
}

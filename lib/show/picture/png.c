#include "picture/png.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "picture/lettering.h"

_Static_assert((int)ATTN_STEP_NAN < (int)ATTN_PAPER, "steps and shades share a byte");

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err)
{
    size_t size;
    *c = (struct attn_canvas){.width = width, .height = height};
    c->pixel = __builtin_mul_overflow(width, height, &size) ? NULL : malloc(size ? size : 1);
    if (!c->pixel)
        return attn_no_memory(err, NULL, "for a picture of %zu x %zu pixels", width, height);
    memset(c->pixel, ATTN_PAPER, size);
    return ATTN_OK;
}

void attn_canvas_free(struct attn_canvas *c)
{
    free(c->pixel);
    free(c->over);
}

struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel)
{
    if (pixel < ATTN_STEPS)
        return attn_palette_color(p, pixel);
    if (pixel == ATTN_STEP_BLANK)
        return attn_palette_blank(p);
    if (pixel == ATTN_STEP_NAN)
        return attn_palette_nan(p);
    uint8_t grey = (uint8_t)(255 - (pixel - ATTN_PAPER) * 229 / (ATTN_SHADES - 1));     /* ink is not quite black */
    return (struct attn_rgb){grey, grey, grey};
}

/* Parts outside of the canvas are clipped. */
static void fill(void *self, const struct attn_area *a, uint8_t pixel)
{
    struct attn_canvas *c = self;
    size_t right = a->x < c->width ? a->x + smaller(a->width, c->width - a->x) : a->x;
    size_t bottom = a->y < c->height ? a->y + smaller(a->height, c->height - a->y) : a->y;
    for (size_t row = a->y; row < bottom && right > a->x; row++)
        memset(c->pixel + row * c->width + a->x, pixel, right - a->x);
}

/* ---- a file ---------------------------------------------------------------------------- */

static void fill_colors(unsigned char colors[256 * 3], const struct attn_palette *palette,
                        const struct attn_palette *second)
{
    for (size_t i = 0; i < 256; i++) {
        bool half = second && i < ATTN_STEPS;
        struct attn_rgb c = half ? attn_palette_color(i < ATTN_STEPS / 2 ? palette : second, i % (ATTN_STEPS / 2) * 2) :
                            attn_canvas_color(palette, (uint8_t)i);
        memcpy(colors + 3 * i, (unsigned char[]){c.r, c.g, c.b}, 3);
    }
}

/* A pixel's colour with the text that covers some of it. */
static void mix(unsigned char out[3], const unsigned char color[3], uint8_t over, const unsigned char ink[3])
{
    unsigned much = over & ATTN_OVER_MOST, of = ATTN_OVER_MOST;
    for (size_t i = 0; i < 3; i++)
        out[i] = (unsigned char)((color[i] * (of - much) + ink[i] * much + of / 2) / of);
}

/* The pixels in full colours; NULL: no memory. */
static unsigned char *mixed(const struct attn_canvas *c, const unsigned char *colors)
{
    size_t n = c->width * c->height;
    unsigned char *all = n > SIZE_MAX / 3 ? NULL : malloc(n ? 3 * n : 1);
    for (size_t i = 0; i < n && all; i++)
        mix(all + 3 * i, colors + 3 * (size_t)c->pixel[i], c->over[i],
            colors + 3 * (size_t)(c->over[i] & ATTN_OVER_PAPER ? ATTN_PAPER : ATTN_INK));
    return all;
}

int attn_png_encode(unsigned char **png, size_t *len, const struct attn_canvas *c, const struct attn_palette *palette,
                    struct attn_err *err)
{
    unsigned char colors[256 * 3], *all = NULL;
    /* FAST: no filters, as they help only photographs, and light compression: a third of the time, 10% more bytes. */
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)c->width, .height = (png_uint_32)c->height,
                       .format = c->over ? PNG_FORMAT_RGB : PNG_FORMAT_RGB_COLORMAP, .colormap_entries = 256,
                       .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    int step = (int)c->width * (c->over ? 3 : 1);
    fill_colors(colors, palette, c->second);
    *len = 0;
    *png = malloc(size);
    if (!*png || (c->over && !(all = mixed(c, colors)))) {
        free(*png);
        *png = NULL;
        return attn_no_memory(err, NULL, "for a PNG of %zu x %zu pixels", c->width, c->height);
    }
    int made = png_image_write_to_memory(&image, *png, &size, 0, all ? all : c->pixel, step, colors);
    free(all);
    if (made) {
        *len = size;
        return ATTN_OK;
    }
    free(*png);
    *png = NULL;
    return attn_fail(err, ATTN_ENOMEM,
                     "a PNG of %zu x %zu pixels cannot be made: %s", c->width, c->height, image.message);
}

/* ---- its size on paper ------------------------------------------------------------------ */

/* In the order of the bytes of a PNG. */
static void put_word(unsigned char *to, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* Writes a PNG with the chunk that says how many pixels a metre has, which stands behind the header. */
static void write_sized(struct attn_out *o, const unsigned char *png, size_t len, double pixels_of_metre)
{
    enum { HEADER = 8 + 12 + 13, SIZE = 9 };    /* signature, and a chunk of 13 bytes; bytes of this one */
    unsigned char chunk[12 + SIZE] = {0, 0, 0, SIZE, 'p', 'H', 'Y', 's'};
    put_word(chunk + 8, (uint32_t)lround(pixels_of_metre));
    put_word(chunk + 12, (uint32_t)lround(pixels_of_metre));
    chunk[16] = 1;                      /* the unit is the metre */
    put_word(chunk + 8 + SIZE, (uint32_t)crc32(0, chunk + 4, 4 + SIZE));
    attn_out_write(o, png, HEADER);
    attn_out_write(o, chunk, sizeof chunk);
    attn_out_write(o, png + HEADER, len - HEADER);
}

/* ---- a figure -------------------------------------------------------------------------- */

enum { SIDE_MOST = 32000, MM_OF_METRE = 1000 };

/* A figure whose units are `scale` pixels. */
struct enlarged {
    struct attn_canvas canvas;
    size_t scale;
    struct attn_faces faces;
    bool second;                        /* steps are now those of the canvas's second palette */
};

struct line_ink { struct attn_canvas *c; unsigned color, level; };

static uint8_t pixel_of(const struct enlarged *e, uint8_t color)
{
    bool half = e->canvas.second && color < ATTN_STEPS;
    return half ? (uint8_t)(color / 2 + (e->second ? ATTN_STEPS / 2 : 0)) : color;
}

static void use(void *self, const struct attn_palette *p)
{
    struct enlarged *e = self;
    e->second = p == e->canvas.second;
}

static void fill_enlarged(void *self, const struct attn_area *a, uint8_t color)
{
    struct enlarged *e = self;
    size_t k = e->scale;
    color = pixel_of(e, color);
    fill(&e->canvas, &(struct attn_area){k * a->x, k * a->y, k * a->width, k * a->height}, color);
}

static struct attn_lettering enlarge(const struct attn_lettering *w, size_t k)
{
    return (struct attn_lettering){w->s, k * w->x, k * w->y, k * w->column, w->anchor, w->up};
}

static void put_words(void *self, const struct attn_lettering *w)
{
    struct enlarged *e = self;
    struct attn_lettering to = enlarge(w, e->scale);
    attn_canvas_write(&e->canvas, &e->faces, &to, NULL);
}

static void put_words_over(void *self, const struct attn_lettering *w, uint8_t color)
{
    struct enlarged *e = self;
    struct attn_lettering to = enlarge(w, e->scale);
    attn_canvas_write(&e->canvas, &e->faces, &to, &color);
}

/* A pixel that several numbers share has the last step among them, which stands for the largest. */
static uint8_t step_over(const uint8_t *steps, size_t cols, size_t r0, size_t r1, size_t c0, size_t c1)
{
    uint8_t most = 0;
    bool any = false;
    for (size_t r = r0; r < r1; r++)
        for (size_t c = c0; c < c1; c++) {
            uint8_t step = steps[r * cols + c];
            if (step < ATTN_STEPS && (!any || step > most)) {
                most = step;
                any = true;
            }
        }
    return any ? most : steps[r0 * cols + c0];
}

static int cells(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err)
{
    struct enlarged *e = self;
    size_t width = e->scale * a->width, height = e->scale * a->height;
    (void)err;
    if (a->width % cols == 0 && a->height % rows == 0) {
        size_t wide = a->width / cols, high = a->height / rows;
        for (size_t i = 0; i < rows * cols; i++)
            fill_enlarged(e, &(struct attn_area){a->x + i % cols * wide, a->y + i / cols * high, wide, high}, steps[i]);
        return ATTN_OK;
    }
    for (size_t y = 0; y < height; y++) {
        size_t r0 = y * rows / height, r1 = larger((y + 1) * rows / height, r0 + 1);
        for (size_t x = 0; x < width; x++) {
            size_t c0 = x * cols / width, c1 = larger((x + 1) * cols / width, c0 + 1);
            uint8_t pixel = pixel_of(e, step_over(steps, cols, r0, r1, c0, c1));
            fill(&e->canvas, &(struct attn_area){e->scale * a->x + x, e->scale * a->y + y, 1, 1}, pixel);
        }
    }
    return ATTN_OK;
}

/* Where lines of heads cross, the stronger one is seen. */
static void draw_over(void *ctx, long x, long y, double cover)
{
    const struct line_ink *ink = ctx;
    struct attn_canvas *c = ink->c;
    if (x < 0 || y < 0 || (size_t)x >= c->width || (size_t)y >= c->height)
        return;
    uint8_t *pixel = &c->pixel[(size_t)y * c->width + (size_t)x], level = (uint8_t)(ink->level * cover + 0.5);
    bool fainter = *pixel >= ATTN_PAPER ? *pixel == ATTN_PAPER : *pixel % ATTN_LINE_LEVELS <= level;
    if (level && fainter)
        *pixel = (uint8_t)(ink->color - ink->level + level);
}

/* A line in a shade of ink darkens paper. */
static void darken_line(void *ctx, long x, long y, double cover)
{
    const struct line_ink *ink = ctx;
    struct attn_canvas *c = ink->c;
    if (x < 0 || y < 0 || (size_t)x >= c->width || (size_t)y >= c->height)
        return;
    uint8_t *pixel = &c->pixel[(size_t)y * c->width + (size_t)x];
    uint8_t dark = (uint8_t)(ATTN_PAPER + cover * (ink->color - ATTN_PAPER) + 0.5);
    if (*pixel >= ATTN_PAPER && dark > *pixel)
        *pixel = dark;
}

static void line(void *self, const struct attn_stroke *s, uint8_t color)
{
    struct enlarged *e = self;
    double dx = s->x1 - s->x0, dy = s->y1 - s->y0, length = sqrt(dx * dx + dy * dy), k = (double)e->scale;
    double nx = length > 0 ? -dy / length * s->width / 2 : 0, ny = length > 0 ? dx / length * s->width / 2 : 0;
    struct attn_outline_point p[] = {{s->x0 + nx, s->y0 + ny, true, false}, {s->x1 + nx, s->y1 + ny, true, false},
                                     {s->x1 - nx, s->y1 - ny, true, false}, {s->x0 - nx, s->y0 - ny, true, true}};
    struct attn_outline o = {p, 4, 4};
    struct line_ink ink = {&e->canvas, color, color % ATTN_LINE_LEVELS};
    attn_raster_fill(&e->faces.raster, &o, &(struct attn_placing){k, 0, 0, k, 0, 0}, SIDE_MOST,
                     color < ATTN_PAPER ? draw_over : darken_line, &ink,
                     &e->faces.failed);
}

/* On paper a figure has at least 300 pixels to an inch. */
static size_t scale_of(const struct attn_look *look)
{
    return look->paper > 0 ? (size_t)ceil(300 * attn_look_unit(look) / 72) : 1;
}

static int draw(struct enlarged *e, const struct attn_figure *f, struct attn_err *err)
{
    struct attn_pen pen = {e, fill_enlarged, put_words, cells, put_words_over, use, line};
    if (e->scale * larger(f->width, f->height) > SIDE_MOST)
        return attn_fail(err, ATTN_EUSAGE, "a picture of %zu x %zu pixels is more than viewers open: take a smaller "
                                           "--width, or svg or pdf", e->scale * f->width, e->scale * f->height);
    int rc = attn_canvas_new(&e->canvas, e->scale * f->width, e->scale * f->height, err);
    e->canvas.second = f->palette[1];
    if (!rc)
        rc = attn_figure_draw(f, &pen, err);
    return rc ? rc : attn_faces_failed(&e->faces, err);
}

int attn_png_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct attn_figure f;
    struct enlarged e = {.scale = scale_of(look), .faces = attn_look_faces(look)};
    unsigned char *png = NULL;
    size_t len = 0;
    int rc = attn_figure_plan(&f, a, look, err);
    if (!rc)
        rc = draw(&e, &f, err);
    if (!rc)
        rc = attn_png_encode(&png, &len, &e.canvas, f.palette[0] ? f.palette[0] : look->palette, err);
    if (!rc && look->paper > 0)
        write_sized(o, png, len, (double)e.canvas.width / look->paper * MM_OF_METRE);
    else
        attn_out_write(o, png, len);
    free(png);
    attn_canvas_free(&e.canvas);
    attn_faces_free(&e.faces);
    attn_figure_free(&f);
    return rc;
}

/* ---- a chart of curves ------------------------------------------------------------------ */

enum {                                  /* pixels */
    WIDTH = 800, HEIGHT = 440, LEFT = 72, RIGHT = 24, TOP = 64, BOTTOM = 56, LETTER = 8, MARK = 5,
    ACROSS = WIDTH - LEFT - RIGHT, DOWN = HEIGHT - TOP - BOTTOM
};
enum { GRID = ATTN_PAPER + 2, RANGE = ATTN_PAPER + 4, PLAIN = ATTN_INK, ACCENT = ATTN_STEPS / 3 };      /* colours */

struct axis { double low, high, tick; };
struct plot { struct attn_canvas canvas; struct attn_faces faces; struct axis x, y; };

/* ---- its axes --------------------------------------------------------------------------- */

/* The distance between ticks: 1, 2 or 5 times a power of ten, such that the range has four to nine of them. */
static double tick_of(double range)
{
    double power = pow(10, floor(log10(range))), share = range / power;
    return power * (share < 2 ? 0.2 : share < 5 ? 0.5 : 1);
}

/* What a chart shows of any number: those of a changed file may be infinite, or none. */
static double shown(double v)
{
    const double most = 1e30;
    return fmin(fmax(v, -most), most);
}

static struct axis axis_of(double low, double high)
{
    bool none = low > high;
    low = none ? 1 : shown(low);
    high = none ? 1 : shown(high);
    double least = fmax(fabs(low), fabs(high)) * 1e-9;          /* ticks that are nearer could not be told apart */
    if (!(high - low > least)) {
        double around = fmax(1, least);
        low -= around;
        high = low + 2 * around;
    }
    double tick = tick_of(high - low);
    return (struct axis){floor(low / tick) * tick, ceil(high / tick) * tick, tick};
}

static void find_axes(struct plot *d, const struct attn_chart *c)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < c->curve[k].n; i++) {
            x[0] = fmin(x[0], c->curve[k].x[i]);
            x[1] = fmax(x[1], c->curve[k].x[i]);
            y[0] = fmin(y[0], c->curve[k].y[i]);
            y[1] = fmax(y[1], c->curve[k].y[i]);
        }
    d->x = axis_of(fmin(x[0], 0), x[1]);
    d->y = axis_of(y[0], y[1]);
}

static double share(const struct axis *a, double v)
{
    return (v - a->low) / (a->high - a->low);
}

static size_t column(const struct plot *d, double x)
{
    return LEFT + (size_t)(share(&d->x, shown(x)) * (ACROSS - 1));
}

static size_t row(const struct plot *d, double y)
{
    return TOP + (size_t)((1 - share(&d->y, shown(y))) * (DOWN - 1));
}

static void paint(struct plot *d, size_t x, size_t y, size_t width, size_t height, uint8_t color)
{
    fill(&d->canvas, &(struct attn_area){x, y, width, height}, color);
}

static void write_words(struct plot *d, const char *s, size_t x, size_t y, enum attn_anchor anchor)
{
    attn_canvas_write(&d->canvas, &d->faces, &(struct attn_lettering){s, x, y, LETTER, anchor, false}, NULL);
}

static void write_number(struct plot *d, const struct axis *a, double v, size_t x, size_t y, enum attn_anchor anchor)
{
    char text[ATTN_NUM_FIXED_MAX + 1];
    int digits = a->tick < 1 ? (int)ceil(-log10(a->tick)) : 0;
    text[attn_num_fixed(text, v, digits < 9 ? digits : 9)] = '\0';
    write_words(d, text, x, y, anchor);
}

static int ticks(const struct axis *a)
{
    return (int)lround((a->high - a->low) / a->tick);
}

static void draw_axes(struct plot *d)
{
    for (int i = 0; i <= ticks(&d->y); i++) {
        double v = d->y.low + i * d->y.tick;
        paint(d, LEFT, row(d, v), ACROSS, 1, GRID);
        write_number(d, &d->y, v, LEFT - LETTER, row(d, v) + LETTER / 2, ATTN_ENDS);
    }
    for (int i = 0; i <= ticks(&d->x); i++) {
        double v = d->x.low + i * d->x.tick;
        paint(d, column(d, v), TOP, 1, DOWN, GRID);
        write_number(d, &d->x, v, column(d, v), HEIGHT - BOTTOM + 2 * LETTER, ATTN_MIDDLE);
    }
}

/* ---- its curves ------------------------------------------------------------------------- */

static void draw_line(struct plot *d, size_t x0, size_t y0, size_t x1, size_t y1, uint8_t color)
{
    double rise = x1 > x0 ? ((double)y1 - (double)y0) / (double)(x1 - x0) : 0;
    for (size_t x = x0; x <= x1; x++) {
        double from = (double)y0 + rise * (double)(x - x0), to = x < x1 ? from + rise : from;
        double top = fmin(from, to);
        paint(d, x, (size_t)top, 2, (size_t)fabs(to - from) + 2, color);
    }
}

/* Draws the range of the points from i on that share a column of pixels; *mean gets the row of their mean. */
static size_t draw_column(struct plot *d, const struct attn_chart_curve *c, size_t i, size_t *mean)
{
    size_t at = column(d, c->x[i]), n = 0;
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (; i < c->n && column(d, c->x[i]) == at; i++, n++) {
        sum += c->y[i];
        low = fmin(low, c->y[i]);
        high = fmax(high, c->y[i]);
    }
    if (n > 1)
        paint(d, at, row(d, high), 1, row(d, low) - row(d, high) + 1, RANGE);
    *mean = row(d, sum / (double)n);
    return i;
}

static void draw_curve(struct plot *d, const struct attn_chart_curve *c)
{
    uint8_t color = c->marked ? ACCENT : PLAIN;
    size_t x = 0, y = 0;
    for (size_t i = 0, next, mean; i < c->n; i = next) {
        size_t at = column(d, c->x[i]);
        next = draw_column(d, c, i, &mean);
        if (i > 0)
            draw_line(d, x, y, at, mean, color);
        if (c->marked)
            paint(d, at - MARK / 2, mean - MARK / 2, MARK + 1, MARK + 1, color);
        x = at;
        y = mean;
    }
}

static void draw_legend(struct plot *d, const struct attn_chart *c)
{
    write_words(d, c->title, LEFT, TOP / 2 - LETTER / 2, ATTN_BEGINS);
    write_words(d, c->x_label, WIDTH - RIGHT, HEIGHT - LETTER, ATTN_ENDS);
    for (size_t k = 0; k < c->n; k++) {
        size_t letter = LETTER, x = LEFT + k * (ACROSS / 2), y = TOP - letter;
        paint(d, x, y - letter / 2, 3 * letter, 2, c->curve[k].marked ? ACCENT : PLAIN);
        write_words(d, c->curve[k].label, x + 4 * letter, y, ATTN_BEGINS);
    }
}

int attn_chart_write(struct attn_out *out, const struct attn_chart *c, struct attn_err *err)
{
    struct plot d = {.canvas = {0}};
    unsigned char *png = NULL;
    size_t len = 0;
    int rc = attn_canvas_new(&d.canvas, WIDTH, HEIGHT, err);
    if (rc)
        return rc;
    find_axes(&d, c);
    draw_axes(&d);
    for (size_t k = 0; k < c->n; k++)
        draw_curve(&d, &c->curve[k]);
    draw_legend(&d, c);
    rc = attn_faces_failed(&d.faces, err);
    if (!rc)
        rc = attn_png_encode(&png, &len, &d.canvas, attn_palette_at(0), err);
    attn_out_write(out, png, len);
    free(png);
    attn_canvas_free(&d.canvas);
    attn_faces_free(&d.faces);
    return rc;
}

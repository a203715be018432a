#include "fuzz.h"
#include "picture/raster.h"
#include "picture/subset.h"

static void covers(void *ctx, long x, long y, double much)
{
    (void)x;
    (void)y;
    must(much > 0 && much <= 1);
    ++*(size_t *)ctx;
}

/* A part of the font with its first glyphs can be read like the font itself. */
static void cut(const struct attn_truetype *t)
{
    struct attn_subset_glyph of[8];
    struct attn_truetype part;
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    char *data = NULL;
    size_t n = t->glyphs < 8 ? t->glyphs : 8, len = 0;
    for (size_t i = 0; i < n; i++)
        of[i] = (struct attn_subset_glyph){(unsigned)i, attn_truetype_advance(t, (unsigned)i), 64 + (uint32_t)i};
    must(attn_out_open_memory(&o, &err) == ATTN_OK);
    if (attn_subset_write(o, t, of, n, true, &err) == ATTN_OK) {
        must(attn_out_take(o, &data, &len, &err) == ATTN_OK);
        must(attn_truetype_open(&part, "part", data, len, 0, &err) == ATTN_OK);
        for (size_t i = 1; i < n; i++)
            must(attn_truetype_glyph(&part, 64 + (uint32_t)i) == i &&
                 attn_truetype_advance(&part, (unsigned)i) == of[i].advance);
    }
    free(data);
    attn_out_close(o);
}

/* Any glyph can be drawn or is refused, in little memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const double reach = 40;
    struct attn_truetype t;
    struct attn_err err = {0};
    struct attn_outline o = {.n = 0};
    struct attn_raster r = {.room = 0};
    size_t pixels = 0;
    if (attn_truetype_open(&t, "fuzz.ttf", data, size, 0, &err) != ATTN_OK) {
        must(err.msg[0]);
        return 0;
    }
    for (unsigned c = 0; c < 300; c++)
        must(attn_truetype_glyph(&t, c) < t.glyphs);
    for (unsigned glyph = 0; glyph < t.glyphs && glyph < 16; glyph++) {
        struct attn_placing to = {10.0 / t.units, 0, 0, -10.0 / t.units, 3, 12};
        o.n = 0;
        if (attn_truetype_outline(&t, glyph, &o, &err) == ATTN_OK)
            must(attn_raster_fill(&r, &o, &to, reach, covers, &pixels, &err) == ATTN_OK);
        must(r.room < 2 * (2 * 40 + 2) * (2 * 40 + 2));     /* it grows in steps, of less than twice what it needs */
    }
    cut(&t);
    free(o.p);
    attn_raster_free(&r);
    return 0;
}

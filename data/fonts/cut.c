/* cut.c - cuts some characters out of a font while attn-cli is built, and packs them for lib/show/picture/faces.c.
 *
 *     cut FONT INDEX CHARACTERS >sans.face
 *
 * CHARACTERS is a file: a line as U+0400-U+04FF is a range, any other line the characters themselves.  Those that the
 * font lacks are left out.  The same font gives the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/map.h"
#include "base/utf8.h"
#include "picture/subset.h"

enum { LIMIT = 64 << 20, CHARACTERS = 0x110000 };

static int by_character(const void *a, const void *b)
{
    uint32_t x = ((const struct attn_subset_glyph *)a)->c, y = ((const struct attn_subset_glyph *)b)->c;
    return (x > y) - (x < y);
}

/* Adds c, unless it is already there or the font lacks it. */
static size_t add(struct attn_subset_glyph *of, size_t n, unsigned char *seen, const struct attn_truetype *t,
                  uint32_t c)
{
    unsigned glyph = c < CHARACTERS && !seen[c] ? attn_truetype_glyph(t, c) : 0;
    if (!glyph || n == ATTN_SUBSET_MOST)
        return n;
    seen[c] = 1;
    of[n] = (struct attn_subset_glyph){glyph, attn_truetype_advance(t, glyph), c};
    return n + 1;
}

static size_t choose(struct attn_subset_glyph *of, unsigned char *seen, const struct attn_truetype *t,
                     const struct attn_map *list)
{
    const char *s = (const char *)list->data, *end = s + list->len;
    size_t n = 1, step;
    of[0] = (struct attn_subset_glyph){0, attn_truetype_advance(t, 0), 0};
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        unsigned long first, last;
        stop = stop ? stop : end;
        if (end - s > 2 && s[0] == 'U' && sscanf(s, "U+%lx-U+%lx", &first, &last) == 2)
            for (unsigned long c = first; c <= last; c++)
                n = add(of, n, seen, t, (uint32_t)c);
        else
            for (; s < stop; s += step)
                n = add(of, n, seen, t, attn_utf8_next(s, (size_t)(stop - s), &step));
        s = stop + 1;
    }
    qsort(of + 1, n - 1, sizeof *of, by_character);
    return n;
}

static int pack(const char *font, size_t len, struct attn_err *err)
{
    uLongf room = compressBound((uLong)len);
    unsigned char *packed = malloc(room), size[4] = {(unsigned char)len, (unsigned char)(len >> 8),
                                                     (unsigned char)(len >> 16), (unsigned char)(len >> 24)};
    int rc = packed ? ATTN_OK : attn_no_memory(err, NULL, "to pack a font");
    if (!rc && compress2(packed, &room, (const unsigned char *)font, (uLong)len, 9) != Z_OK)
        rc = attn_no_memory(err, NULL, "to pack a font");
    if (!rc && (fwrite(size, 1, 4, stdout) != 4 || fwrite(packed, 1, room, stdout) != room || fflush(stdout)))
        rc = attn_fail(err, ATTN_EIO, "cannot write the font");
    free(packed);
    return rc;
}

static int cut(const struct attn_truetype *t, const struct attn_map *list, struct attn_err *err)
{
    struct attn_subset_glyph *of = calloc(ATTN_SUBSET_MOST, sizeof *of);
    unsigned char *seen = calloc(CHARACTERS, 1);
    struct attn_out *o = NULL;
    char *font = NULL;
    size_t len = 0;
    int rc = of && seen ? attn_out_open_memory(&o, err) : attn_no_memory(err, NULL, "to choose characters");
    if (!rc)
        rc = attn_subset_write(o, t, of, choose(of, seen, t, list), true, err);
    if (!rc)
        rc = attn_out_take(o, &font, &len, err);
    if (!rc)
        rc = pack(font, len, err);
    free(font);
    attn_out_close(o);
    free(seen);
    free(of);
    return rc;
}

int main(int argc, char **argv)
{
    struct attn_err err = {0};
    struct attn_map font = {0}, list = {0};
    struct attn_truetype t;
    int rc = argc == 4 ? attn_map_open(&font, argv[1], LIMIT, &err) :
             attn_fail(&err, ATTN_EUSAGE, "usage: cut FONT INDEX CHARACTERS");
    if (rc && argc == 4)
        fputs("cut: the build takes letters from Debian's fonts-dejavu-core and fonts-wqy-microhei: install them, or "
              "say where they are with make font_sans=FILE font_mono=FILE font_chinese=FILE\n", stderr);
    if (!rc)
        rc = attn_truetype_open(&t, argv[1], font.data, font.len, strtoul(argv[2], NULL, 10), &err);
    if (!rc)
        rc = attn_map_open(&list, argv[3], LIMIT, &err);
    if (!rc)
        rc = cut(&t, &list, &err);
    if (rc)
        fprintf(stderr, "cut: %s\n", err.msg);
    attn_map_close(&list);
    attn_map_close(&font);
    return rc != ATTN_OK;
}

#include "picture/faces.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/embed.h"
#include "base/err.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif

/* The font's length in four bytes, the lowest first, and the font, packed by zlib: see data/fonts/cut.c. */
ATTN_EMBED(attn_face_sans, ATTN_BUILT "/sans.face");
ATTN_EMBED(attn_face_mono, ATTN_BUILT "/mono.face");
ATTN_EMBED(attn_face_chinese, ATTN_BUILT "/chinese.face");

#define FONT_MOST ((size_t)1 << 28)     /* bytes of a file */

struct packed { const char *name, *type; const unsigned char *data, *end; };

static struct packed packed_of(const struct attn_faces *f, int i)
{
    if (i == ATTN_FACE_CHINESE)
        return (struct packed){"the built-in Chinese face", "WenQuanYiMicroHei", attn_face_chinese,
                               attn_face_chinese_end};
    if (f->columns && i == ATTN_FACE_LATIN)
        return (struct packed){"the built-in face with columns", "DejaVuSansMono", attn_face_mono,
                               attn_face_mono_end};
    return (struct packed){"the built-in face", "DejaVuSans", attn_face_sans, attn_face_sans_end};
}

static int unpack(struct attn_faces *f, int i, struct attn_err *err)
{
    struct attn_face *face = &f->face[i];
    struct packed p = packed_of(f, i);
    uLongf len = p.data[0] | (uLongf)p.data[1] << 8 | (uLongf)p.data[2] << 16 | (uLongf)p.data[3] << 24;
    face->unpacked = malloc(len);
    if (!face->unpacked)
        return attn_no_memory(err, p.name, "for %lu bytes", (unsigned long)len);
    int status = uncompress(face->unpacked, &len, p.data + 4, (uLong)(p.end - p.data - 4));
    if (status != Z_OK)
        return attn_no_memory(err, p.name, "to unpack it");         /* nothing else can be wrong with it */
    int rc = attn_truetype_open(&face->type, p.name, face->unpacked, len, 0, err);
    strcpy(face->type.name, p.type);    /* a cut face has no table of names */
    return rc;
}

static int open_file(struct attn_face *face, const char *path, size_t index, struct attn_err *err)
{
    int rc = attn_map_open(&face->file, path, FONT_MOST, err);
    return rc ? rc : attn_truetype_open(&face->type, path, face->file.data, face->file.len, index, err);
}

/* All that the Latin faces have is below this; most of what they lack is above. */
enum { CHINESE_FROM = 0x2000 };

bool attn_face_ready(struct attn_faces *f, int i, uint32_t c)
{
    struct attn_face *face = &f->face[i];
    if ((i == ATTN_FACE_FILE && !f->path) || (i == ATTN_FACE_MORE && !f->columns) ||
        (i == ATTN_FACE_CHINESE && c < CHINESE_FROM))
        return false;
    if (face->open || f->failed.code)
        return face->open;
    int rc = i == ATTN_FACE_FILE ? open_file(face, f->path, f->index, &f->failed) : unpack(f, i, &f->failed);
    return face->open = rc == ATTN_OK;
}

int attn_font_check(const char *path, size_t index, struct attn_err *err)
{
    struct attn_face face = {.open = false};
    if (!path)
        return !index ? ATTN_OK : attn_fail(err, ATTN_EUSAGE, "--font-index chooses one of the fonts of a collection: "
                                                              "give that with --font FILE");
    int rc = open_file(&face, path, index, err);
    attn_map_close(&face.file);
    return rc;
}

void attn_faces_free(struct attn_faces *f)
{
    for (int i = 0; i < ATTN_FACES; i++) {
        attn_map_close(&f->face[i].file);
        free(f->face[i].unpacked);
    }
    free(f->letter);
    free(f->outline.p);
    attn_raster_free(&f->raster);
}

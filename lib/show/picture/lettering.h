/* lettering.h - texts as letters of faces, for pictures whose file must bring its letters along: PNG and PDF.
 *
 * The faces: that of a file, if one is given; DejaVu Sans, or DejaVu Sans Mono where columns are to stay columns
 * (Latin, Greek, Cyrillic, mathematics); WenQuanYi Micro Hei (Chinese of GB 2312, kana).  The built-in ones are parts
 * of Debian's fonts, cut and packed when the program is built, and opened when a letter of theirs is needed.  A face
 * of the system is never taken: another machine would draw something else.
 *
 * A character that none of them has is a frame with its code point; so is one whose letters change with
 * their neighbours (Arabic, Devanagari), or that is a picture of its own (emoji).  Accents join the letter
 * that they follow. */
#ifndef ATTN_PICTURE_LETTERING_H
#define ATTN_PICTURE_LETTERING_H

#include "base/map.h"
#include "picture/figure.h"
#include "picture/raster.h"
#include "picture/truetype.h"

#define ATTN_COLUMN (1233 / 2048.0)     /* ems of a column: a letter of DejaVu Sans Mono */

/* The characters that were drawn as frames, each once, as far as there is room. */
enum { ATTN_LACKS = 64 };
struct attn_lacks { uint32_t c[ATTN_LACKS]; size_t n; };
/* "6 characters are drawn as boxes: ...", and which formats have them; "" if there are none.  others: those formats. */
void attn_lacks_text(char *text, size_t size, const struct attn_lacks *l, const char *others);

/* MORE: DejaVu Sans where columns are asked for, whose own face has fewer letters. */
enum { ATTN_FACE_FILE, ATTN_FACE_LATIN, ATTN_FACE_CHINESE, ATTN_FACE_MORE, ATTN_FACES };
struct attn_face {
    struct attn_truetype type;
    struct attn_map file;               /* of a face that was read */
    unsigned char *unpacked;            /* of one that is built in */
    bool open;
};

/* x, y: from the beginning of the text; everything in ems of the text. */
struct attn_letter {
    int face;                           /* one of ATTN_FACES; negative: a frame, */
    size_t inside;                      /* and how many letters after it are its digits */
    unsigned glyph;
    uint32_t c;
    double x, y, size, advance;
};

struct attn_faces {
    struct attn_face face[ATTN_FACES];
    bool columns;                       /* letters stand in columns */
    const char *path; size_t index;     /* of a file; NULL: none */
    struct attn_lacks *lacks;           /* NULL: nobody asks */
    struct attn_letter *letter; size_t n, room;         /* of the text that was laid out last, */
    double width;                                       /* and how wide it is */
    struct attn_outline outline;
    struct attn_raster raster;
    struct attn_err failed;             /* the first failure; later texts then have no letters */
};

/* The faces of a figure; to be freed. */
struct attn_faces attn_look_faces(const struct attn_look *look);
/* Checks that a file is a font that can be used; path NULL: there is none. */
int attn_font_check(const char *path, size_t index, struct attn_err *err);
/* Passes the first failure on. */
int attn_faces_failed(const struct attn_faces *f, struct attn_err *err);
void attn_faces_free(struct attn_faces *f);             /* not the struct itself; zeroed is fine */

/* Lays a text out; whether it could. */
bool attn_faces_lay(struct attn_faces *f, const char *s, size_t len);
/* Where what has just been laid out is written: from ems to a picture whose y grows downwards.  size: pixels of an em;
 * what would take more than its columns is written more narrowly. */
struct attn_placing attn_faces_place(const struct attn_faces *f, const struct attn_lettering *w, double size);
/* The outline of a letter, in f->outline, and from it to the picture. */
bool attn_faces_outline(struct attn_faces *f, const struct attn_letter *l);
struct attn_placing attn_letter_placing(const struct attn_faces *f, const struct attn_letter *l,
                                        const struct attn_placing *text);

#endif

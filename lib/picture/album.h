/* album.h - the matrices a picture is drawn from, whatever they come from: a run that is watched, a saved dump.
 *
 * A sheet is one activation, [n, rows, cols]: n matrices, one a head, or one alone.  Rows are tokens, columns are
 * tokens too (`keys`) or numbered.  Sheets of one `kind` (the same activation in several layers) are drawn
 * together and share their colour scale.  Names and tokens are borrowed, an activation's numbers may be. */
#ifndef ATTN_PICTURE_ALBUM_H
#define ATTN_PICTURE_ALBUM_H

#include "attn.h"

#define ATTN_NO_HEAD SIZE_MAX

struct attn_sheet {
    const char *kind;                   /* "attn.pattern": what sheets drawn together have in common */
    const char *title, *axes;           /* "attention pattern", " (rows: queries, columns: keys)" */
    int layer;                          /* -1: outside the blocks */
    const char *name;                   /* what it is called in place of its layer, which is then a number among others */
    size_t n, rows, cols;
    const size_t *heads;                /* [n]; NULL: no head axis, and n is 1, unless there are steps */
    const size_t *steps; size_t head;   /* [n]: the matrices are those of one head, or of none (ATTN_NO_HEAD), after so many
                                         * steps of training; NULL: they are not */
    bool keys;                          /* columns are the album's keys; else they are numbered */
    bool of_keys;                       /* rows are its keys; else its queries */
    const float *data;                  /* [n, rows, cols] */
    float *own;                         /* the same when the album holds it */
};

enum { ATTN_ALBUM_NEXT = 5 };
struct attn_album_next { const char *text; size_t len; int32_t id; double p; };         /* text NULL: only the id is known */

struct attn_album {
    const char *model;                  /* its name; NULL: not known */
    size_t H, Hkv;                      /* its heads; 0: not known */
    const char *text; size_t text_len;  /* the sentence; NULL: not known */
    const char *keys_text; size_t keys_len;     /* the one it looks at, where that is another; NULL: not known */
    const struct attn_tokens *queries, *keys;   /* of rows and of columns; NULL: not known.  start = end = 0: place not known */
    struct attn_sheet *sheet; size_t n, room;
    struct attn_album_next next[ATTN_ALBUM_NEXT];
    size_t n_next;                      /* likeliest first; 0 where nobody asked or the model has no output layer */
};

/* Adds a copy of `what`.  Where its data is NULL the album gets room for the numbers, all zero, and *own points to
 * them until the album is freed. */
int attn_album_add(struct attn_album *a, const struct attn_sheet *what, float **own, struct attn_err *err);
void attn_album_free(struct attn_album *a);     /* what it holds, not the struct; zeroed is fine */

/* What labels its rows and its columns; NULL: nothing does. */
const struct attn_tokens *attn_album_rows(const struct attn_album *a, const struct attn_sheet *s);
const struct attn_tokens *attn_album_columns(const struct attn_album *a, const struct attn_sheet *s);

/* Whether sheet i is the first of its kind. */
bool attn_album_opens_kind(const struct attn_album *a, size_t i);
bool attn_sheet_same_kind(const struct attn_sheet *a, const struct attn_sheet *b);

/* Everything above the diagonal is the number in the upper right corner, and that is one a mask leaves: 0 or -inf. */
bool attn_sheet_is_triangle(const struct attn_sheet *s);
/* What to call it: "layer 0, head 3"; "L0 H3"; "0.3"; "" where there is neither. */
enum { ATTN_BREVITIES = 3 };
void attn_sheet_call(char text[64], const struct attn_sheet *s, size_t i, size_t brevity);

#endif

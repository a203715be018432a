/* album.h - the matrices that a picture is drawn from, regardless of their source: a run or a saved dump.
 *
 * A sheet is one activation, [n, rows, cols]: n matrices, one for each head, or a single one.  Rows are tokens, or
 * what the axes say; columns have labels too (`keys`) or are numbered.  Sheets of one `kind` (the same activation in
 * several layers) are drawn together and share their colour scale.  Names and tokens are borrowed; an activation's
 * numbers may be, too. */
#ifndef ATTN_PICTURE_ALBUM_H
#define ATTN_PICTURE_ALBUM_H

#include "ask/scores.h"
#include "attn_ask.h"
#include "language/language.h"
#include "text/label.h"

#define ATTN_NO_HEAD SIZE_MAX

/* Matrices that say which keys a query sees have two values, and two colours: what their larger one is. */
enum attn_sight { ATTN_NO_SIGHT, ATTN_ONE_IS_SEEN, ATTN_ZERO_IS_SEEN };

struct attn_sheet {
    const char *kind;                   /* "attn.pattern": what sheets drawn together have in common */
    const char *title, *axes;           /* "attention pattern", " (rows: queries, columns: keys)" */
    const char *said;                   /* the title in the language of a page, or `title` if that is a name; NULL: it
                                         * is looked up */
    int layer;                          /* -1: outside of the blocks */
    const char *name;                   /* shown in place of the layer, which is then only an index; NULL: the layer */
    size_t n, rows, cols;
    const size_t *heads;                /* [n]; NULL: no head axis, and n is 1 unless there are steps */
    const size_t *steps; size_t head;   /* [n]: steps of training after which each matrix was recorded, all of one head
                                         * or of none (ATTN_NO_HEAD); NULL: the matrices are not a history */
    bool keys;                          /* columns are the album's keys; else they are numbered */
    bool of_keys;                       /* rows are the album's keys; else its queries */
    bool shared;                        /* heads are key/value heads, which several query heads share */
    bool numbered;                      /* in figures its numbers are written in the cells where they are few */
    enum attn_sight sight;
    const float *data;                  /* [n, rows, cols] */
    const unsigned char *mask;          /* [rows, cols], or with `masks` [n, rows, cols]: not 0 where a mask is known to
                                         * hide the key; NULL: none is */
    bool masks;
    const struct attn_label *words;     /* [n, rows, cols]: to write in the cells of figures; NULL: nothing */
    const struct attn_label *brief;     /* shorter ones, for a width on paper where these have no room; NULL: none */
    float *own;                         /* the same if the album owns it */
    size_t opens, next;                 /* first sheet of its kind; the one after this: set by attn_album_link */
};

/* The tokens after a position, likeliest first; n 0: a logit is not finite.  text NULL: only the id is known. */
enum { ATTN_ALBUM_NEXT = 5 };
struct attn_album_next { struct { const char *text; size_t len; int32_t id; double p; } of[ATTN_ALBUM_NEXT]; size_t n;
    };
/* what comes next without a head */
struct attn_album_without { size_t layer, head; double kl; struct attn_album_next next; };
/* [queries] what comes next if the model ended there */
struct attn_album_lens { int layer; struct attn_album_next *at; };

/* The model itself, for a page that computes: sinks/live_pack.h says what the bytes are. */
struct attn_album_live { unsigned char *packed; size_t n; };

struct attn_album {
    const char *model;                  /* its name; NULL: unknown */
    size_t H, Hkv;                      /* its numbers of heads; 0: unknown */
    const char *text; size_t text_len;  /* the sentence; NULL: unknown */
    const char *keys_text; size_t keys_len;     /* the text attended to, if it is another; NULL: unknown */
    const struct attn_tokens *queries, *keys;   /* of rows and columns, or NULL.  start = end = 0: position unknown */
    struct attn_sheet *sheet; size_t n, room;
    unsigned char **mask; size_t n_masks, masks_room;   /* owned */
    const struct attn_edits *edits;     /* of the run; NULL: none, or unknown */
    struct attn_album_next next;        /* n 0 also if not requested or without an output layer */
    char no_next[192];                  /* why there are none although they were asked for; else "" */
    struct attn_album_without *without; size_t n_without;       /* owned, as what follows */
    struct attn_album_lens *lens; size_t n_lens, lens_room;     /* by layer */
    char no_lens[192];                  /* why there is none although it was requested, likewise */
    struct attn_head_scored *scored; size_t n_scored;   /* what the heads of the patterns do, by layer and head */
    const struct attn_album_live *live; /* NULL: the page only shows */
};

/* Adds a copy of `what`.  If its data is NULL the album allocates the numbers, all zero, and *own points to them
 * until the album is freed. */
int attn_album_add(struct attn_album *a, const struct attn_sheet *what, float **own, struct attn_err *err);
/* *out gets a mask of so many cells, all 0, which the album owns. */
int attn_album_mask(struct attn_album *a, unsigned char **out, size_t cells, struct attn_err *err);
void attn_album_free(struct attn_album *a);     /* not the struct itself; zeroed is fine */

/* The labels of a sheet's rows and columns; NULL: it has none. */
const struct attn_tokens *attn_album_rows(const struct attn_album *a, const struct attn_sheet *s);
const struct attn_tokens *attn_album_columns(const struct attn_album *a, const struct attn_sheet *s);
/* What a title says of the run's edits: ", edited: L0H0 = 0, L1H2 *= 2 and 5 more", or "". */
enum { ATTN_ALBUM_EDITS = 384 };
void attn_album_edits(char text[ATTN_ALBUM_EDITS], const struct attn_album *a);
/* Whether rows are tokens, and not layers or a file's: as the axes say, else if the token of each is known. */
bool attn_album_rows_are_tokens(const struct attn_album *a, const struct attn_sheet *s);

/* Links the sheets of each kind, before they are drawn. */
int attn_album_link(struct attn_album *a, struct attn_err *err);
/* Whether sheet i is the first of its kind. */
bool attn_album_opens_kind(const struct attn_album *a, size_t i);
/* The next sheet of the same kind; NULL: there is none. */
const struct attn_sheet *attn_album_next_sheet(const struct attn_album *a, const struct attn_sheet *s);

/* Whether the mask hides column c of row r of the n * rows rows, and left nothing there: an edit may have. */
bool attn_sheet_hides(const struct attn_sheet *s, size_t r, size_t c);
/* Names matrix i in the given brevity: "layer 0, head 3"; "L0 H3"; "0.3"; "" if it has neither layer nor head. */
enum { ATTN_BREVITIES = 3 };
void attn_sheet_call(char text[64], const struct attn_sheet *s, size_t i, size_t brevity);
/* The title in a language. */
const char *attn_sheet_title(const struct attn_sheet *s, const struct attn_language *l);
/* Names matrix 0 without brevity, in a language. */
void attn_sheet_say(char text[64], const struct attn_sheet *s, const struct attn_language *l);

#endif

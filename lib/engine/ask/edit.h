/* edit.h - one edit as the grammar has it: a place, an operation, a value.
 *
 *     EDIT   := PLACE OP                                                       "L1H2[pos=-1] += 0.5*from"
 *     PLACE  := NAME [ '[' SEL {',' SEL} ']' ]
 *     NAME   := a name, glob or short name | L<n>.<part> | L<n>H<m> | L<n>H<m>.<part> | L<n>N<m> | n.m
 *     SEL    := head=R | pos=P | key=P | col=R
 *     R      := 3 | 0,2-4 | *
 *     P      := R, also -1 from the end, "token", prompt, new
 *     OP     := = VALUE | += VALUE | -= VALUE | *= NUMBER | -= proj(SOURCE)
 *     VALUE  := NUMBER | -inf | uniform | SOURCE | mean(SOURCE) | noise(SIGMA,SEED); NUMBER* may precede these
 *     SOURCE := FILE.npz[:NAME] | FILE.npy | text("...") | ids(1,2,3) | texts(FILE) | from
 *
 * Here it knows no model: edit_place.c finds its place in one, edit_source.c its values, and editor.c does it. */
#ifndef ATTN_ASK_EDIT_H
#define ATTN_ASK_EDIT_H

#include "attn_ask.h"

/* A part of the text that the edit keeps, NUL-terminated; 0, 0: none. */
struct attn_edit_part { size_t at, len; };

enum attn_index_form { ATTN_INDEX_RANGE, ATTN_INDEX_ALL, ATTN_INDEX_BACK, ATTN_INDEX_TOKEN, ATTN_INDEX_PROMPT,
                      ATTN_INDEX_NEW };
struct attn_edit_index {
    enum attn_index_form form;
    size_t lo, hi;                      /* RANGE: both included; BACK: lo from the end, 1 is the last */
    struct attn_edit_part token;
};
struct attn_indices { size_t first, n; };               /* of attn_edit.index; n 0: not written, which means all */

enum attn_selector { ATTN_BY_HEAD, ATTN_BY_POS, ATTN_BY_KEY, ATTN_BY_COL, ATTN_SELECTORS };
extern const char *const attn_selector_names[ATTN_SELECTORS];

struct attn_place {
    bool layered;                       /* begins with L<n> */
    struct attn_indices layers, heads, neurons;         /* of this form */
    struct attn_edit_part name;              /* the whole name, or the <part> */
    struct attn_indices by[ATTN_SELECTORS];
    enum attn_selector order[ATTN_SELECTORS]; size_t selectors;     /* in the order in which they were written */
};

enum attn_edit_op { ATTN_EDIT_SET, ATTN_EDIT_ADD, ATTN_EDIT_SUBTRACT, ATTN_EDIT_TIMES };
enum { ATTN_EDIT_OPS = ATTN_EDIT_TIMES + 1 };
extern const char *const attn_edit_op_names[ATTN_EDIT_OPS];         /* as they are written */

enum attn_origin_form { ATTN_ORIGIN_FILE, ATTN_ORIGIN_TEXT, ATTN_ORIGIN_IDS, ATTN_ORIGIN_TEXTS, ATTN_ORIGIN_FROM };
struct attn_origin {                    /* a SOURCE */
    enum attn_origin_form form;
    struct attn_edit_part text;              /* a path, or the text itself */
    struct attn_edit_part member;            /* of an archive; none: the activation's own name */
    size_t first, n;                    /* ids, of attn_edit.id */
};

enum attn_value_form { ATTN_VALUE_NUMBER, ATTN_VALUE_UNIFORM, ATTN_VALUE_NOISE, ATTN_VALUE_SOURCE, ATTN_VALUE_MEAN,
                       ATTN_VALUE_PROJ };
struct attn_value {
    enum attn_value_form form;
    double number;                      /* the number itself, or the factor of what follows */
    double sigma; uint64_t seed;        /* of noise */
    struct attn_origin of;
};

struct attn_edit {
    struct attn_place place;
    enum attn_edit_op op;
    struct attn_value value;
    struct attn_edit_index *index; size_t indices, index_room;
    int32_t *id; size_t ids, id_room;
    char *strings; size_t used, room;
    char *text;                         /* canonical form */
    char *origin;                       /* that of its SOURCE alone; NULL: it has none */
};

struct attn_edits { struct attn_edit *edit; size_t n, room; };

static inline const char *attn_edit_at(const struct attn_edit *e, struct attn_edit_part k) { return e->strings + k.at; }

/* Reads an edit, which is zeroed before.  `where` is what messages call it, as in "--edit". */
int attn_edit_read(struct attn_edit *e, const char *text, size_t len, const char *where, struct attn_err *err);
/* Reads a list of places, "L0H1,L2.mlp.out", each as an edit that sets it to the same VALUE.  `places_where` and
 * `value_where` are what messages call both. */
int attn_edit_read_places(struct attn_edits *to, const char *places, const char *places_where, const char *value,
                          const char *value_where, struct attn_err *err);
/* Room for one more edit, zeroed, at the end of the list; it counts when to->n is increased. */
struct attn_edit *attn_edits_next(struct attn_edits *to, struct attn_err *err);
/* edit_text.c: sets text and origin. */
int attn_edit_spell(struct attn_edit *e, struct attn_err *err);

#endif

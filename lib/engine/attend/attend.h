/* attend.h - attention on numbers that somebody gives, in double precision.
 *
 * A model of one block is made for them, which says what there is, how large it is and what it is called, and has no
 * weights.  Where it is run (attn_run_tokens), attend_run.c computes what follows from what is given, by the definition
 * in compute/attention_f64.c, and announces it as a run announces its activations: rows of x are the embeddings of the
 * "tokens".  So every kind of attention, every format and every derivation is that of a run.
 *
 * Only what follows from the numbers is announced: scores alone have no dots; without values there is no context. */
#ifndef ATTN_ATTEND_ATTEND_H
#define ATTN_ATTEND_ATTEND_H

#include "attn_tools.h"
#include "attend/numbers.h"
#include "compute/attention_f64.h"

/* Number (h, i, j) of what is given is x[h * next_head + i * next_row + j * next_col]. */
struct attn_attend_view { const double *x; size_t heads, rows, cols, next_head, next_row, next_col; };

enum { ATTN_ATTEND_GIVEN = 512 };       /* bytes of a list of what is given */
struct attn_attend {
    struct attn_labelled numbers[ATTN_ATTEND_INPUTS];
    struct attn_attend_view view[ATTN_ATTEND_INPUTS];       /* x NULL: not given */
    size_t H, Hkv, Tq, Tk, d, dh, dv, out;      /* d, dh, dv 1 where nothing says what they are; out 0: no output */
    bool cross;                         /* the keys are another text's */
    bool plain;                         /* rows of x are their own queries, keys and values */
    bool scored, dotted, valued;        /* there are scores or a pattern; dots; values */
    bool adds, hides;                   /* the mask is added to scores; it has 1 where a key is hidden */
    bool late, causal;                  /* masks come after the division by the sum; as a model's own mask */
    enum attn_weighing weights;
    double cap;
    struct attn_model *model;
    struct attn_tokens *tokens, *keys;  /* keys NULL: the same */
    char about[ATTN_ATTEND_GIVEN];
};

/* "--q", and the short name of what it is. */
const char *attn_attend_option(int input);
const char *attn_attend_name(int input);
/* Writes "[2, 6, 3]"; returns buf. */
enum { ATTN_SHAPE_TEXT = 192 };
const char *attn_shape_text(char buf[ATTN_SHAPE_TEXT], const struct attn_array *a);

/* Writes what is given, as "q [3, 2], k [3, 2]" with that separator; returns buf. */
const char *attn_attend_given(char buf[ATTN_ATTEND_GIVEN], const struct attn_attend *a, const char *separator);

/* "--q [6, 2]", for messages. */
struct attn_attend_called { char text[ATTN_SHAPE_TEXT + 16]; };
struct attn_attend_called attn_attend_called(const struct attn_attend *a, int input);

/* attend_shapes.c: finds the sizes and checks that what is given fits together. */
int attn_attend_fit(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err);
/* attend_model.c: makes the model. */
int attn_attend_make(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err);

/* attend_run.c: computes all of it, under a kind of attention, and announces it to those observers. */
int attn_attend_run(const struct attn_attend *a, const struct attn_plan *plan, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs,
                    struct attn_err *err);
/* The weight of --wq, --wk, --wv, of one head, or --wo, with what is added to its products; x NULL: it is not given. */
struct attn_f64_weight attn_attend_weight(const struct attn_attend *a, int input, size_t head);
/* attend_mask.c: fails unless each query sees a key. */
int attn_attend_check_sight(const struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err);
/* What the mask says of query q and key k: false where it hides it; `add` gets what it adds to the score. */
bool attn_attend_sees(const struct attn_attend *a, size_t head, size_t q, size_t k, double *add);
/* Whether what is given, a mask or scores, hides the key. */
bool attn_attend_hides(const struct attn_attend *a, size_t head, size_t q, size_t k);

#endif

/* term_vectors.c - vectors of tokens on a terminal: coordinates and lengths, and the cosines between all of them. */
#include "picture/section.h"
#include "picture/term_pen.h"
#include "picture/axes.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/size.h"

enum { LEFT_MAX = 18, GAP = 2, COSINE = 5, NUMBER = 8, DIGITS = 3 };    /* columns; of a cosine, of another number */

struct print {
    struct attn_out *out;
    const struct attn_tokens *t;
    size_t left, width;
};

static struct attn_label label_of(const struct print *p, size_t i, size_t columns)
{
    return p->t && i < p->t->n ? attn_label_token(&p->t->tok[i], columns) : attn_label_number(i);
}

static void put_number(const struct print *p, double x, int digits, size_t columns)
{
    char text[ATTN_NUM_FIXED_MAX];
    size_t n = attn_num_fixed(text, x, digits);
    attn_label_pad(p->out, columns - smaller(n, columns));
    attn_out_write(p->out, text, n);
}

static void put_label(const struct print *p, size_t i)
{
    struct attn_label l = label_of(p, i, LEFT_MAX);
    attn_label_right(p->out, &l, p->left);
}

static void put_coordinates(const struct print *p, const struct attn_vectors *v)
{
    char name[48];
    size_t wide[ATTN_AXES];
    attn_label_pad(p->out, p->left);
    for (size_t k = 0; k < v->axes.n; k++) {
        attn_axis_name(name, v, k);
        wide[k] = larger(strlen(name), NUMBER);
        attn_label_pad(p->out, GAP + wide[k] - strlen(name));
        attn_out_str(p->out, name);
    }
    attn_out_printf(p->out, "%*s\n", GAP + NUMBER, "length");
    for (size_t i = 0; i < v->n; i++) {
        put_label(p, i);
        for (size_t k = 0; k < v->axes.n; k++)
            put_number(p, v->at[i][k], DIGITS, GAP + wide[k]);
        put_number(p, v->length[i], DIGITS, GAP + NUMBER);
        attn_out_char(p->out, '\n');
    }
}

/* So many columns as fit, then the next ones below. */
static void put_cosines(const struct print *p, const struct attn_vectors *v)
{
    size_t each = GAP + COSINE, room = p->width > p->left ? p->width - p->left : 0, across = larger(room / each, 1);
    attn_out_str(p->out, "cosines\n");
    for (size_t from = 0, to; from < v->n; from = to) {
        to = smaller(from + across, v->n);
        attn_out_str(p->out, from ? "\n" : "");
        attn_label_pad(p->out, p->left);
        for (size_t k = from; k < to; k++) {
            struct attn_label l = label_of(p, k, COSINE);
            attn_label_pad(p->out, GAP);
            attn_label_right(p->out, &l, COSINE);
        }
        attn_out_char(p->out, '\n');
        for (size_t i = 0; i < v->n; i++) {
            put_label(p, i);
            for (size_t k = from; k < to; k++)
                put_number(p, (double)v->cosine[i * v->n + k], 2, each);
            attn_out_char(p->out, '\n');
        }
    }
}

static int put_matrix(struct print *p, const struct attn_sheet *sheet, size_t i, const struct attn_axes *axes,
                      struct attn_err *err)
{
    struct attn_vectors v;
    char name[64];
    int rc = attn_vectors_make(&v, sheet, i, axes, err);
    attn_sheet_call(name, sheet, i, 0);
    if (!rc) {
        if (*name)
            attn_out_printf(p->out, "%s\n", name);
        put_coordinates(p, &v);
        put_cosines(p, &v);
    }
    attn_vectors_free(&v);
    return rc;
}

int attn_vectors_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                       const struct attn_look *look, struct attn_err *err)
{
    struct print p = {.out = o, .left = 1, .width = look->width ? (size_t)look->width : SIZE_MAX};
    struct attn_term_pen pen = {o, look, look->palette, -1};
    struct attn_axes axes;
    int rc = attn_axes_read(&axes, look->axes, first->cols, err);
    if (!rc)
        attn_term_title(&pen, a, first->title, "", "");
    for (const struct attn_sheet *s = first; s && !rc; s = attn_album_next_sheet(a, s)) {
        p.t = attn_album_rows(a, s);
        for (size_t i = 0; i < s->rows; i++) {
            struct attn_label l = label_of(&p, i, LEFT_MAX);
            p.left = larger(p.left, l.columns);
        }
        for (size_t i = 0; i < s->n && !rc; i++)
            rc = put_matrix(&p, s, i, &axes, err);
    }
    return rc;
}

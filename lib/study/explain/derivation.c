/* derivation.c - makes a derivation; derivation_write.c prints it. */
#include "explain/derivation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/grow.h"

void attn_derivation_free(struct attn_derivation *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct attn_passage *p = &d->passage[i];
        for (size_t j = 0; j < p->cells; j++)
            free(p->cell[j].text);
        free(p->cell);
        free(p->term);
        free(p->text);
    }
    free(d->passage);
    free(d->title);
    *d = (struct attn_derivation){0};
}

static char *written(struct attn_derivation *d, const char *fmt, va_list args)
{
    char *text;
    if (d->failed || attn_vasprintf(&text, attn_tr(d->language, fmt), args) < 0) {
        d->failed = true;
        return NULL;
    }
    return text;
}

/* Takes ownership of `text`, even on failure. */
static struct attn_passage *add(struct attn_derivation *d, enum attn_passage_kind kind, char *text)
{
    struct attn_passage *more = d->failed ? NULL : attn_grow(d->passage, &d->room, d->n + 1, sizeof *more);
    if (!more) {
        d->failed = true;
        free(text);
        return NULL;
    }
    d->passage = more;
    d->passage[d->n] = (struct attn_passage){.kind = kind, .text = text};
    return &d->passage[d->n++];
}

static struct attn_passage *last(const struct attn_derivation *d)
{
    return &d->passage[d->n - 1];
}

void attn_derive_title(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    free(d->title);
    d->title = written(d, fmt, args);
    va_end(args);
}

void attn_derive_step(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, d->nested ? ATTN_PASSAGE_PART : ATTN_PASSAGE_STEP, written(d, fmt, args));
    va_end(args);
}

void attn_derive_part(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, ATTN_PASSAGE_PART, written(d, fmt, args));
    va_end(args);
}

void attn_derive_words(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, ATTN_PASSAGE_WORDS, written(d, fmt, args));
    va_end(args);
}

void attn_derive_command(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, ATTN_PASSAGE_COMMAND, written(d, fmt, args));
    va_end(args);
}

void attn_derive_formula(struct attn_derivation *d, const struct attn_formula *f)
{
    struct attn_passage *p = add(d, ATTN_PASSAGE_FORMULA, NULL);
    if (p)
        p->formula = *f;
}

void attn_derive_sum(struct attn_derivation *d, struct attn_number result, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct attn_passage *p = add(d, ATTN_PASSAGE_SUM, written(d, fmt, args));
    va_end(args);
    if (p)
        p->result = result;
}

static void add_term(struct attn_derivation *d, struct attn_term t)
{
    if (d->failed)
        return;
    struct attn_passage *p = last(d);
    struct attn_term *more = attn_grow(p->term, &p->term_room, p->terms + 1, sizeof *more);
    if (!more) {
        d->failed = true;
        return;
    }
    p->term = more;
    p->term[p->terms++] = t;
}

void attn_derive_term(struct attn_derivation *d, enum attn_addend_kind kind, struct attn_number a, struct attn_number b)
{
    add_term(d, (struct attn_term){.kind = kind, .a = a, .b = b});
}

void attn_derive_left_out(struct attn_derivation *d, size_t count, struct attn_number sum)
{
    add_term(d, (struct attn_term){.kind = ATTN_ADDEND_LEFT_OUT, .a = sum, .count = count});
}

void attn_derive_table(struct attn_derivation *d, size_t cols)
{
    struct attn_passage *p = add(d, ATTN_PASSAGE_TABLE, NULL);
    if (p)
        p->cols = cols;
}

/* Takes ownership of the cell's text, even on failure. */
static void add_cell(struct attn_derivation *d, struct attn_cell c)
{
    struct attn_passage *p = d->failed ? NULL : last(d);
    struct attn_cell *more = p ? attn_grow(p->cell, &p->cell_room, p->cells + 1, sizeof *more) : NULL;
    if (!more) {
        d->failed = true;
        free(c.text);
        return;
    }
    p->cell = more;
    p->cell[p->cells++] = c;
}

void attn_derive_cell(struct attn_derivation *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_cell(d, (struct attn_cell){.text = written(d, fmt, args)});
    va_end(args);
}

void attn_derive_number(struct attn_derivation *d, double x, int digits)
{
    add_cell(d, (struct attn_cell){.number = attn_rounded(x, digits)});
}

void attn_derive_weight(struct attn_derivation *d, double x, int digits)
{
    add_cell(d, (struct attn_cell){.number = attn_rounded(x, digits), .weight = true});
}

void attn_derive_headings(struct attn_derivation *d, const char *const *heading, size_t cols)
{
    attn_derive_table(d, cols);
    for (size_t i = 0; i < cols; i++)
        attn_derive_cell(d, "%s", attn_tr(d->language, heading[i]));
}

void attn_derive_blanks(struct attn_derivation *d, size_t n)
{
    while (n-- > 0)
        attn_derive_cell(d, "%s", "");
}

void attn_derive_gap(struct attn_derivation *d, size_t cols)
{
    attn_derive_cell(d, "…");
    attn_derive_blanks(d, cols - 1);
}

void attn_derive_strong(struct attn_derivation *d, size_t cells)
{
    for (size_t i = 0; !d->failed && i < cells; i++)
        last(d)->cell[last(d)->cells - 1 - i].strong = true;
}

static void stage(struct attn_derivation *d, const struct attn_stage_array *a)
{
    attn_derive_cell(d, "%s", a->name ? attn_tr(d->language, a->name) : "");
    attn_derive_cell(d, "%s", a->name && a->how ? attn_tr(d->language, a->how) : "");
    if (a->name)
        attn_derive_cell(d, "[%zu,%zu]", a->rows, a->cols);
    else
        attn_derive_blanks(d, 1);
    for (size_t i = 0; i < ATTN_STAGE_NUMBERS; i++)
        if (a->name && i + 1 == ATTN_STAGE_NUMBERS && a->cols > ATTN_STAGE_NUMBERS)
            attn_derive_cell(d, "…");
        else if (a->name && i < a->cols)
            attn_derive_number(d, a->f64 ? a->f64[i] : (double)a->x[i], a->digits);
        else
            attn_derive_blanks(d, 1);
}

void attn_derive_diagram(struct attn_derivation *d, const struct attn_stage_array array[ATTN_STAGES])
{
    struct attn_passage *p = add(d, ATTN_PASSAGE_DIAGRAM, NULL);
    if (p)
        p->cols = ATTN_STAGE_CELLS;
    for (size_t i = 0; i < ATTN_STAGES; i++)
        stage(d, &array[i]);
}

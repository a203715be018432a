/* screen_rows.c - the lines of the first look, one per token: its context vector or, where that is wider than a
 * line, what it looks at. */
#include "sinks/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/size.h"

enum { NUMBER = 9 };                    /* columns of a number of a context vector */

size_t attn_screen_widest(const struct attn_tokens *t)
{
    size_t widest = 1;
    for (size_t i = 0; i < t->n; i++)
        widest = larger(widest, attn_label_token(&t->tok[i], ATTN_SCREEN_LABEL).columns);
    return widest;
}

void attn_screen_heading(struct attn_screen *s, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    attn_vsnprintf(text, sizeof text, tr(s, fmt), args);
    va_end(args);
    struct attn_label l = attn_label_line(text, strlen(text), s->width);
    attn_out_char(s->out, '\n');
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, l.text);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_char(s->out, '\n');
}

static void print_number(struct attn_screen *s, double x)
{
    attn_out_printf(s->out, fabs(x) < 1e4 ? "%*.3f" : "%*.1e", NUMBER, x);
}

/* How many numbers of a context vector a line has room for. */
static size_t numbers_shown(const struct attn_screen *s, size_t left)
{
    const size_t number = NUMBER, fit = s->width > left + 2 * number ? (s->width - left - number) / number : 1;
    return smaller(smaller(s->job->model->H * s->job->model->dv, ATTN_SCREEN_FIRST), fit);
}

static void print_label(struct attn_screen *s, size_t row, size_t columns)
{
    struct attn_label label = attn_label_token(&s->queries.tok[row], ATTN_SCREEN_LABEL);
    attn_paint(s->out, s->job->color, ATTN_DIM);
    attn_label_left(s->out, &label, columns);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
}

static void print_contexts(struct attn_screen *s, int layer)
{
    size_t left = attn_screen_widest(&s->queries), shown = numbers_shown(s, left);
    char part[48] = "";
    if (s->vectors == 1 && s->rows > 1)
        snprintf(part, sizeof part, "%s", tr(s, ", last token"));
    else if (s->vectors < s->rows)
        snprintf(part, sizeof part, tr(s, ", last %zu tokens"), s->vectors);
    attn_screen_heading(s, "layer %d: context vectors%s: length, then %zu of %zu numbers", layer, part, shown,
                        s->columns);
    for (size_t i = s->rows - s->vectors; i < s->rows; i++) {
        const struct attn_screen_vector *v = &s->vector[(size_t)layer * s->rows + i];
        print_label(s, i, left);
        print_number(s, sqrt(v->squares));
        for (size_t j = 0; j < shown; j++)
            print_number(s, (double)v->first[j]);
        attn_out_char(s->out, '\n');
    }
}

/* "she → so 0.90 (L2H1)", one line per token. */
static void print_targets(struct attn_screen *s)
{
    const struct attn_tokens *keys = attn_sink_keys(s->job);
    const char *but = s->job->cross ? "" : tr(s, ", beyond itself and the first");
    size_t left = attn_screen_widest(&s->queries);
    if (s->vectors < s->rows || s->row0)
        attn_screen_heading(s, s->job->rows ? "what each of the last %zu words looks at most%s"
                               : "what each of the last %zu tokens looks at most%s", s->vectors, but);
    else
        attn_screen_heading(s, s->job->rows ? "what each word looks at most%s" : "what each token looks at most%s",
                            but);
    for (size_t i = s->rows - s->vectors; i < s->rows; i++) {
        const struct attn_screen_target *t = &s->target[i];
        print_label(s, i, left);
        if (t->weight > 0) {
            struct attn_label key = attn_label_token(&keys->tok[t->key], ATTN_SCREEN_LABEL);
            attn_out_printf(s->out, " → %s %.2f (L%zuH%zu)\n", key.text, (double)t->weight, t->at.layer, t->at.head);
        } else {
            attn_out_printf(s->out, " → %s\n", tr(s, "nothing"));
        }
    }
}

/* Vectors of students' models have a line each; of wider ones it would say nothing. */
void attn_screen_rows(struct attn_screen *s, int layer)
{
    if (numbers_shown(s, attn_screen_widest(&s->queries)) < s->job->model->H * s->job->model->dv)
        print_targets(s);
    else if (s->known[layer])
        print_contexts(s, layer);
}

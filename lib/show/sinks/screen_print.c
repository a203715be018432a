/* screen_print.c - prints the first look at a run.
 *
 * Patterns are printed as numbers where all of them fit, else those of one layer are drawn: the layer of the head with
 * the clearest role, as the command heads ranks them. */
#include "sinks/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "sinks/hide.h"
#include "text/label.h"

enum {
    GAP = 2,
    DRAWN = 64                          /* most heads beside each other */
};

static size_t width_of(const char *text)
{
    return attn_utf8_width(text, strlen(text));
}

/* What is said of the kind of attention; options in it stay as they are typed. */
static const char *note(const struct attn_screen *s, char buf[128])
{
    static const char words[] = ", of words";
    const char *said = s->job->kind.note ? s->job->kind.note : "";
    const bool merged = !strncmp(said, words, sizeof words - 1);
    snprintf(buf, 128, "%s%s", merged ? tr(s, ", of words") : "", said + (merged ? sizeof words - 1 : 0));
    return buf;
}

/* A line that explains. */
static void print_dim(struct attn_screen *s, const char *text)
{
    struct attn_label l = attn_label_line(text, strlen(text), s->width);
    attn_paint(s->out, s->job->color, ATTN_DIM);
    attn_out_str(s->out, l.text);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_char(s->out, '\n');
}

/* ---- the model and the tokens ------------------------------------------------------------ */

/* "tokens  Life is short …", in at most ATTN_SCREEN_TOKEN_LINES lines. */
static void print_tokens(struct attn_screen *s, const char *heading, const struct attn_tokens *t)
{
    size_t at = strlen(ATTN_SCREEN_TOKENS), lines = 1, i = 0;
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, heading);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_label_pad(s->out, at - smaller(at, width_of(heading)));
    for (; i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], ATTN_SCREEN_LABEL);
        size_t reserve = lines == ATTN_SCREEN_TOKEN_LINES ? 16 : 0;        /* for "… 1000 more" */
        if (at + 1 + l.columns + reserve > s->width) {
            if (lines++ == ATTN_SCREEN_TOKEN_LINES)
                break;
            attn_out_char(s->out, '\n');
            attn_label_pad(s->out, at = strlen(ATTN_SCREEN_TOKENS));
        }
        attn_out_char(s->out, ' ');
        attn_out_str(s->out, l.text);
        at += 1 + l.columns;
    }
    if (i < t->n)
        attn_out_printf(s->out, tr(s, " … %zu more"), t->n - i);
    attn_out_char(s->out, '\n');
}

/* ": 6 layers of 4 heads, 24 tokens, the last 12 shown" */
static void describe(char text[256], const struct attn_screen *s)
{
    enum { PART = 48 };
    const struct attn_info *m = s->job->model;
    const size_t words = s->job->tokens->n, pieces = s->job->pieces->n;
    char layers[PART], heads[PART], tokens[PART], of[PART] = "", part[PART] = "";
    snprintf(layers, PART, m->L == 1 ? tr(s, "%zu layer") : tr(s, "%zu layers"), m->L);
    snprintf(heads, PART, m->H == 1 ? tr(s, "%zu head") : tr(s, "%zu heads"), m->H);
    snprintf(tokens, PART, pieces == 1 ? tr(s, "%zu token") : tr(s, "%zu tokens"), pieces);
    if (s->job->rows)
        snprintf(of, PART, words == 1 ? tr(s, "%zu word of ") : tr(s, "%zu words of "), words);
    if (s->row0)
        snprintf(part, PART, tr(s, ", the last %zu shown"), s->rows);
    snprintf(text, 256, tr(s, ": %s of %s, %s%s%s"), layers, heads, of, tokens, part);
}

/* A space is explained where its sign first appears, if there is room. */
static void print_model(struct attn_screen *s)
{
    const char *name = s->job->model->name, *sign = tr(s, "; · is a space");
    char text[256];
    describe(text, s);
    bool room = width_of(name) + width_of(text) + width_of(sign) <= s->width;
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, name);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_printf(s->out, "%s%s\n", text, room && attn_label_has_dots(s->job->tokens) ? sign : "");
    if (s->job->joined)
        print_dim(s, tr(s, "characters that were split into tokens are joined; --format text has the tokens"));
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* Whether a head has a role: the first one has the clearest. */
static bool any_role(const struct attn_screen *s)
{
    return s->heads && s->head[0].role;
}

/* The sheet of the layer whose head has the clearest role; without one, that of the last layer. */
static const struct attn_sheet *telling_sheet(const struct attn_screen *s)
{
    for (size_t i = 0; i < s->album.n && any_role(s); i++)
        if ((size_t)s->album.sheet[i].layer == s->head[0].at.layer)
            return &s->album.sheet[i];
    return &s->album.sheet[s->album.n - 1];
}

/* Whether there is room for the numbers of all patterns. */
static bool fits_as_numbers(const struct attn_screen *s)
{
    size_t matrices = 0, columns = larger(8, 2 + (size_t)s->job->precision);
    for (size_t i = 0; i < s->album.n; i++)
        matrices += s->album.sheet[i].n;
    return !s->row0 && !s->col0 && attn_screen_widest(&s->queries) + s->cols * (columns + GAP) <= s->width &&
           matrices * (s->rows + 3) <= attn_screen_room(s) - s->vectors + 2;
}

static void print_numbers(struct attn_screen *s)
{
    for (size_t i = 0; i < s->album.n; i++)
        for (size_t k = 0; k < s->album.sheet[i].n; k++) {
            const struct attn_sheet *of = &s->album.sheet[i];
            char said[128];
            attn_screen_heading(s, "layer %d, head %zu: attention pattern%s (rows: queries, columns: keys)", of->layer,
                                of->heads[k], note(s, said));
            attn_print_grid(s->out, &(struct attn_grid){
                .data = of->data + k * of->rows * of->cols, .rows = of->rows, .cols = of->cols, .tokens = &s->queries,
                .keys = &s->keys, .precision = s->job->precision, .width = (int)s->width, .color = s->job->color});
        }
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Which matrices of the sheet to draw, at most `most`: if not all fit side by side, those of the heads ranked first. */
static size_t choose_matrices(size_t chosen[DRAWN], const struct attn_screen *s, const struct attn_sheet *of,
                              size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < s->heads && of->n > most && n < most; i++)
        for (size_t k = 0; k < of->n && s->head[i].at.layer == (size_t)of->layer; k++)
            if (of->heads[k] == s->head[i].at.head)
                chosen[n++] = k;
    for (size_t k = 0; !n && k < smaller(of->n, most); k++)
        chosen[k] = k;
    n = n ? n : smaller(of->n, most);
    qsort(chosen, n, sizeof *chosen, ascending);
    return n;
}

static int draw(struct attn_screen *s, const struct attn_sheet *of, const size_t *chosen, size_t n,
                struct attn_err *err)
{
    struct attn_album album = s->album;
    size_t heads[DRAWN];
    float *to;
    struct attn_sheet sheet = *of;
    sheet.n = n;
    sheet.heads = heads;
    sheet.data = NULL;
    album.sheet = NULL;
    album.mask = NULL;
    album.n = album.room = album.n_masks = album.masks_room = 0;
    for (size_t i = 0; i < n; i++)
        heads[i] = of->heads[chosen[i]];
    const struct attn_window part = {s->row0, of->rows, s->col0, of->cols, attn_sink_keys(s->job)->n, s->job->rows,
                                     s->job->keys};
    const struct attn_masking how = attn_sink_masking(s->job);
    int rc = attn_masks(&how, ATTN_ACT_PATTERN)
             ? attn_sink_mask(&album, &sheet, s->job, ATTN_ACT_PATTERN, &part, err) : ATTN_OK;
    if (!rc)
        rc = attn_album_add(&album, &sheet, &to, err);
    for (size_t i = 0, all = of->rows * of->cols; i < n && !rc; i++)
        memcpy(to + i * all, of->data + chosen[i] * all, all * sizeof *to);
    if (!rc)
        rc = attn_album_link(&album, err);
    if (!rc)
        rc = attn_term_write(s->out, &album, &s->look, err);
    attn_album_free(&album);
    return rc;
}

/* Why this layer is drawn, where there are others. */
static void print_why(struct attn_screen *s)
{
    char text[128];
    if (s->album.n < 2)
        return;
    snprintf(text, sizeof text, "%s", s->heads ? tr(s, "the last layer, since no head has a clear role")
                                               : tr(s, "the last layer"));
    if (any_role(s))
        attn_snprintf(text, sizeof text, tr(s, "shown because L%zuH%zu has the clearest role: %s %.2f"),
                      s->head[0].at.layer, s->head[0].at.head, tr(s, s->head[0].role->name), s->head[0].share);
    print_dim(s, text);
}

static int draw_layer(struct attn_screen *s, const struct attn_sheet *of, struct attn_err *err)
{
    size_t chosen[DRAWN], width = s->width - smaller(attn_screen_widest(&s->queries), s->width);
    bool wide = of->n * (2 * s->cols + GAP) <= width;   /* two columns are about as wide as a line is high */
    s->look.cell = s->look.cell ? s->look.cell : wide ? 2 : 1;
    size_t most = larger(smaller(width / (s->look.cell * s->cols + GAP), DRAWN), 1),
    n = choose_matrices(chosen, s, of, most);
    char part[64] = "", said[128];
    const struct attn_masking how = attn_sink_masking(s->job);
    if (n < of->n)
        snprintf(part, sizeof part, tr(s, ", %zu of %zu heads"), n, of->n);
    attn_screen_heading(s, "layer %d%s: attention pattern%s (rows: queries, columns: keys%s)", of->layer, part,
                        note(s, said), attn_masks(&how, ATTN_ACT_PATTERN) ? tr(s, "; ··: hidden") : "");
    print_why(s);
    s->look.bare = true;
    s->look.width = (int)s->width;
    return draw(s, of, chosen, n, err);
}

/* ---- what heads do ----------------------------------------------------------------------- */

/* "L2H0    previous 0.45, entropy 0.81" */
static size_t name_head(char text[64], const struct attn_screen *s, const struct attn_head_scored *r)
{
    char place[32];
    const double entropy = r->score[attn_head_score_index(s->entropy)];
    snprintf(place, sizeof place, "L%zuH%zu", r->at.layer, r->at.head);
    if (r->role)
        attn_snprintf(text, 64, tr(s, "%-6s  %s %.2f, entropy %.2f"), place, tr(s, r->role->name), r->share, entropy);
    else
        attn_snprintf(text, 64, tr(s, "%-6s  no clear role, entropy %.2f"), place, entropy);
    return width_of(text);
}

static void print_heads(struct attn_screen *s)
{
    size_t across = attn_screen_heads_across(s), shown = smaller(s->heads, s->head_lines * across),
    lines = parts_of(shown, across);
    char more[64] = "";
    if (shown < s->heads)
        snprintf(more, sizeof more, tr(s, " (the %zu clearest of %zu)"), shown, s->heads);
    attn_screen_heading(s, "main role of each head, mean over all rows but the first%s", more);
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = line; i < shown; i += lines) {
            char text[64];
            size_t columns = name_head(text, s, &s->head[i]);
            attn_out_str(s->out, text);
            if (i + lines < shown)
                attn_label_pad(s->out, ATTN_SCREEN_HEAD + GAP - smaller(columns, ATTN_SCREEN_HEAD));
        }
        attn_out_char(s->out, '\n');
    }
}

/* ---- what comes next, and what to do next ------------------------------------------------ */

static void print_likely(struct attn_screen *s, const char *heading, const struct attn_next *next)
{
    size_t at = width_of(heading);
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, heading);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    if (!next->n)
        attn_out_printf(s->out, tr(s, "  none: %s"), next->err.msg);
    for (size_t i = 0; i < next->n; i++) {
        size_t len = 0;
        const char *text = s->job->token_text ? s->job->token_text(s->job->token_ctx, next->best[i].id, &len) : NULL;
        struct attn_label l = text ? attn_label_text(text, len, ATTN_SCREEN_LABEL) :
                              attn_label_number((uint64_t)next->best[i].id);
        at += l.columns + 7;
        if (at > s->width)
            break;
        attn_out_printf(s->out, "  %s %.2f", l.text, next->best[i].p);
    }
    attn_out_char(s->out, '\n');
}

/* As attn_print_edits, but none is wider than the screen. */
static void print_edits(struct attn_screen *s)
{
    const char *said = tr(s, "edit: ");
    for (size_t i = 0; i < attn_edits_count(s->job->edits); i++) {
        const char *edit = attn_edits_text(s->job->edits, i);
        struct attn_label l = attn_label_line(edit, strlen(edit), s->width - width_of(said));
        attn_out_printf(s->out, "%s%s%s\n", i ? "" : "\n", said, l.text);
    }
}

static void print_next(struct attn_screen *s)
{
    struct attn_compared c;
    struct attn_next before;
    print_edits(s);
    if (!s->predicts)
        return;
    attn_out_char(s->out, '\n');
    if (attn_next_before(&before, &c, s->job)) {
        print_likely(s, tr(s, "next, before the edits"), &before);
        print_likely(s, tr(s, "next, after the edits "), &s->next);
    } else {
        print_likely(s, tr(s, "next"), &s->next);
    }
}

/* The length of an option at s with its value, up to the blank before the next one; quotes are a shell's. */
static size_t option_length(const char *s)
{
    size_t n = 0;
    for (bool quoted = false; s[n] && (quoted || n == 0 || s[n] != ' ' || s[n + 1] != '-'); n++) {
        if (s[n] == '\'')
            quoted = !quoted;
        else if (s[n] == '\\' && !quoted && s[n + 1])
            n++;
    }
    return n;
}

/* Breaks a long command before options, as a shell reads it on. */
static void print_command(struct attn_screen *s, const char *command)
{
    size_t at = ATTN_SCREEN_HINT, n;
    for (bool first = true; *command; command += n, first = false) {
        char form[ATTN_VISIBLE];
        size_t columns = 0, step;
        n = option_length(command);
        for (size_t i = 0; i < n; i += step) {
            step = attn_utf8_visible(form, command + i, n - i);
            columns += attn_utf8_width(form, strlen(form));
        }
        if (!first && at + columns + 2 > s->width) {
            attn_out_str(s->out, " \\\n");
            attn_label_pad(s->out, at = ATTN_SCREEN_HINT - 1);      /* an option begins with the blank before it */
        }
        at += columns;
        for (size_t i = 0; i < n; i += step) {
            step = attn_utf8_visible(form, command + i, n - i);
            attn_out_str(s->out, form);
        }
    }
    attn_out_char(s->out, '\n');
}

/* The options that name the most informative head, or the first of the last layer; none for the first of the first,
 * which needs none. */
static void point_at_head(char options[ATTN_SCREEN_OF_HEAD], const struct attn_screen *s)
{
    const struct attn_sheet *telling = telling_sheet(s);
    struct attn_head_place at = {.layer = (size_t)telling->layer, .head = telling->heads ? telling->heads[0] : 0};
    if (any_role(s))
        at = s->head[0].at;
    *options = '\0';
    if (at.layer || at.head)
        snprintf(options, ATTN_SCREEN_OF_HEAD, " --layer %zu --head %zu", at.layer, at.head);
}

/* Where no command has room: their names, in one line. */
static void print_names(struct attn_screen *s)
{
    const char *more = tr(s, " with the same options"), *then = tr(s, "then");
    size_t at = width_of(then) + strlen("  attn-cli");
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, then);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_str(s->out, "  attn-cli");
    for (const struct attn_sink_hint *h = s->job->hints; h->command; h++) {
        size_t columns = h->brief ? strlen(h->brief) + 2 : s->width;
        if (at + columns > s->width)
            break;
        attn_out_printf(s->out, "%s %s", h == s->job->hints ? "" : ",", h->brief);
        at += columns;
    }
    attn_out_printf(s->out, "%s\n", at + width_of(more) <= s->width ? more : "");
}

static int print_hints(struct attn_screen *s, struct attn_err *err)
{
    char of_head[ATTN_SCREEN_OF_HEAD], *command;
    if (s->names)
        print_names(s);
    point_at_head(of_head, s);
    for (const struct attn_sink_hint *h = s->job->hints; h && h < s->job->hints + s->hints; h++) {
        if (h == s->job->hints)
            attn_out_char(s->out, '\n');
        attn_paint(s->out, s->job->color, ATTN_BOLD);
        attn_out_str(s->out, tr(s, h->what));
        attn_paint(s->out, s->job->color, ATTN_PLAIN);
        attn_label_pad(s->out, ATTN_SCREEN_HINT - smaller(ATTN_SCREEN_HINT, width_of(tr(s, h->what))));
        if (attn_asprintf(&command, "%s%s", h->command, h->of_head ? of_head : "") < 0)
            return attn_no_memory(err, NULL, "for a command line");
        print_command(s, command);
        free(command);
    }
    return ATTN_OK;
}

/* ---- the screen -------------------------------------------------------------------------- */

int attn_screen_print(struct attn_screen *s, struct attn_err *err)
{
    const struct attn_sheet *telling = telling_sheet(s);
    int rc = ATTN_OK;
    print_model(s);
    print_tokens(s, s->job->cross ? tr(s, "queries") : tr(s, "tokens"), s->job->tokens);
    if (s->job->cross)
        print_tokens(s, tr(s, "keys"), s->job->cross);
    if (fits_as_numbers(s))
        print_numbers(s);
    else
        rc = draw_layer(s, telling, err);
    if (rc)
        return rc;
    if (s->heads)
        print_heads(s);
    if (s->contexts)
        attn_screen_rows(s, telling->layer);
    print_next(s);
    return print_hints(s, err);
}

/* screen_print.c - prints the first look at a run: model and tokens, the numbers of the head that tells most, and then
 * what a screen of 24 lines holds: it among the heads of its layer, what heads do, what tokens look at, what comes
 * next. */
#include "sinks/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/size.h"
#include "text/label.h"

enum { GAP = 2, NUMBER = 8, CELL = 2, HEAD = 38, LINES_OF_TOKENS = 2, EDITS = 2 };

/* What is shown of all: a head, and why; and for how much there is room. */
struct shown { size_t layer, head; double away; bool tells; size_t looks, roles; bool apart; };

/* A text in the language of the screen. */
__attribute__((format_arg(2))) static const char *tr(const struct attn_screen *s, const char *english)
{
    return attn_tr(s->job->language, english);
}

static size_t width_of(const char *text) { return attn_utf8_width(text, strlen(text)); }

static void print_bold(struct attn_screen *s, const char *text)
{
    attn_paint(s->out, s->job->color, ATTN_BOLD);
    attn_out_str(s->out, text);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
}

/* A line that heads others, or says something of them; no wider than the screen. */
__attribute__((format(printf, 3, 4)))
static void print_line(struct attn_screen *s, enum attn_paint paint, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    attn_vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct attn_label l = attn_label_line(text, strlen(text), s->width);
    attn_paint(s->out, s->job->color, paint);
    attn_out_str(s->out, l.text);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_char(s->out, '\n');
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

/* ---- the model and the tokens ------------------------------------------------------------ */

/* "tokens  Life is short …", in at most two lines. */
static void print_tokens(struct attn_screen *s, const char *heading, const struct attn_tokens *t)
{
    const size_t left = width_of(tr(s, "tokens")) + 1;
    size_t at = left, lines = 1, i = 0;
    print_bold(s, heading);
    attn_label_pad(s->out, at - smaller(at, width_of(heading)));
    for (; i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], ATTN_SCREEN_LABEL);
        size_t reserve = lines == LINES_OF_TOKENS ? 16 : 0;        /* for "… 1000 more" */
        if (at + 1 + l.columns + reserve > s->width) {
            if (lines++ == LINES_OF_TOKENS)
                break;
            attn_out_char(s->out, '\n');
            attn_label_pad(s->out, at = left);
        }
        attn_out_char(s->out, ' ');
        attn_out_str(s->out, l.text);
        at += 1 + l.columns;
    }
    if (i < t->n)
        attn_out_printf(s->out, tr(s, " … %zu more"), t->n - i);
    attn_out_char(s->out, '\n');
}

/* ": 6 layers of 4 heads, 24 tokens" */
static void describe(char text[256], const struct attn_screen *s)
{
    enum { PART = 48 };
    const struct attn_info *m = s->job->model;
    const size_t words = s->job->tokens->n, pieces = s->job->pieces->n;
    char layers[PART], heads[PART], tokens[PART], of[PART] = "";
    snprintf(layers, PART, m->L == 1 ? tr(s, "%zu layer") : tr(s, "%zu layers"), m->L);
    snprintf(heads, PART, m->H == 1 ? tr(s, "%zu head") : tr(s, "%zu heads"), m->H);
    snprintf(tokens, PART, pieces == 1 ? tr(s, "%zu token") : tr(s, "%zu tokens"), pieces);
    if (s->job->rows)
        snprintf(of, PART, words == 1 ? tr(s, "%zu word of ") : tr(s, "%zu words of "), words);
    snprintf(text, 256, tr(s, ": %s of %s, %s%s"), layers, heads, of, tokens);
}

/* A space is explained where its sign first appears, if there is room. */
static void print_model(struct attn_screen *s)
{
    const char *name = s->job->model->name, *sign = tr(s, "; · is a space");
    char text[256];
    describe(text, s);
    bool room = width_of(name) + width_of(text) + width_of(sign) <= s->width;
    print_bold(s, name);
    attn_out_printf(s->out, "%s%s\n", text, room && attn_label_has_dots(s->job->tokens) ? sign : "");
    if (s->job->joined)
        print_line(s, ATTN_DIM, "%s", tr(s, "characters that were split into tokens are joined; --format text has the "
                                            "tokens"));
}

/* ---- the numbers of a head --------------------------------------------------------------- */

/* Whether tokens between the first and the last three are left out. */
static bool is_cut(size_t kept, size_t all) { return kept < all; }

static size_t widest(const struct attn_screen *s)
{
    size_t columns = 1;
    for (size_t i = 0; i < s->rows; i++)
        columns = larger(columns, attn_label_token(&s->job->tokens->tok[s->row[i]], ATTN_SCREEN_LABEL).columns);
    return columns;
}

static void print_row_label(struct attn_screen *s, size_t token, size_t columns)
{
    struct attn_label label = attn_label_token(&s->job->tokens->tok[token], ATTN_SCREEN_LABEL);
    attn_paint(s->out, s->job->color, ATTN_DIM);
    attn_label_left(s->out, &label, columns);
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
}

/* Between the corners of a matrix. */
static void print_dots(struct attn_screen *s, size_t columns)
{
    attn_label_pad(s->out, columns - 1);
    attn_out_str(s->out, "…\n");
}

static void print_key(struct attn_screen *s, size_t token)
{
    struct attn_label l = attn_label_token(&attn_sink_keys(s->job)->tok[token], NUMBER - 1);
    attn_label_right(s->out, &l, NUMBER);
}

static void print_matrix(struct attn_screen *s, const struct shown *of, size_t left)
{
    const float *weight = attn_screen_weights(s, of->layer, of->head);
    const bool cut = is_cut(s->keys, attn_sink_keys(s->job)->n);
    attn_label_pad(s->out, left);
    attn_paint(s->out, s->job->color, ATTN_DIM);
    for (size_t k = 0; k < s->keys; k++) {
        attn_out_str(s->out, cut && k == ATTN_SCREEN_KEPT / 2 ? "  …" : "");
        print_key(s, s->key[k]);
    }
    attn_paint(s->out, s->job->color, ATTN_PLAIN);
    attn_out_char(s->out, '\n');
    for (size_t r = 0; r < s->rows; r++) {
        if (is_cut(s->rows, s->job->tokens->n) && r == ATTN_SCREEN_KEPT / 2)
            print_dots(s, left);
        print_row_label(s, s->row[r], left);
        for (size_t k = 0; k < s->keys; k++) {
            attn_out_str(s->out, cut && k == ATTN_SCREEN_KEPT / 2 ? "  …" : "");
            attn_out_printf(s->out, "%*.4f", NUMBER, (double)weight[r * s->keys + k]);
        }
        attn_out_char(s->out, '\n');
    }
}

static void print_contexts(struct attn_screen *s, const struct shown *of, size_t left)
{
    const size_t shown = smaller(s->dv, ATTN_SCREEN_NUMBERS);
    print_line(s, ATTN_BOLD, tr(s, "its context vectors: %zu of %zu numbers"), shown, s->dv);
    for (size_t r = 0; r < s->rows; r++) {
        const float *x = s->context + ((of->layer * s->H + of->head) * s->rows + r) * ATTN_SCREEN_NUMBERS;
        if (is_cut(s->rows, s->job->tokens->n) && r == ATTN_SCREEN_KEPT / 2)
            print_dots(s, left);
        print_row_label(s, s->row[r], left);
        for (size_t j = 0; j < shown; j++)
            attn_out_printf(s->out, fabs((double)x[j]) < 1e3 ? "%*.4f" : "%*.0e", NUMBER + 1, (double)x[j]);
        attn_out_char(s->out, '\n');
    }
}

/* ---- the heads of its layer -------------------------------------------------------------- */

/* The shade of a weight, and on a terminal its colour: from dark to light, as viridis has them. */
static void print_cell(struct attn_screen *s, float w)
{
    static const struct { double least; const char *shade, *color; } shades[] = {
        {0.75, "██", "220"}, {0.5, "▓▓", "77"}, {0.25, "▒▒", "30"}, {0.05, "░░", "60"}, {-INFINITY, "  ", NULL}};
    size_t i = 0;
    if (w == 0) {
        attn_out_str(s->out, "··");
        return;
    }
    while (!((double)w >= shades[i].least) && i + 1 < sizeof shades / sizeof *shades)
        i++;
    char code[16];
    snprintf(code, sizeof code, "\033[38;5;%sm", shades[i].color ? shades[i].color : "");
    if (s->job->color && shades[i].color)
        attn_out_steer(s->out, code);
    attn_out_str(s->out, shades[i].shade);
    if (s->job->color && shades[i].color)
        attn_out_steer(s->out, "\033[0m");
}

/* Which heads of the layer: all that fit, else the one that is shown and those before it. */
static size_t choose_heads(size_t chosen[ATTN_SCREEN_WIDTH], const struct attn_screen *s, const struct shown *of,
                           size_t most)
{
    size_t there = 0, n = 0, before = 0;
    for (size_t h = 0; h < s->H; h++)
        there += s->there[of->layer * s->H + h];
    for (size_t h = 0; h < of->head; h++)
        before += s->there[of->layer * s->H + h];
    size_t skip = there > most && before >= most ? before - most + 1 : 0;
    for (size_t h = 0; h < s->H && n < smaller(most, ATTN_SCREEN_WIDTH); h++)
        if (s->there[of->layer * s->H + h] && !(skip && skip--))
            chosen[n++] = h;
    return n;
}

static void print_layer(struct attn_screen *s, const struct shown *of, size_t left)
{
    const size_t cells = s->keys + is_cut(s->keys, attn_sink_keys(s->job)->n), wide = larger(cells * CELL, 6) + GAP;
    size_t chosen[ATTN_SCREEN_WIDTH];
    size_t n = choose_heads(chosen, s, of, larger((s->width - smaller(left, s->width)) / wide, 1));
    attn_label_pad(s->out, left);
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "L%zuH%zu%s", of->layer, chosen[i], chosen[i] == of->head ? "*" : "");
        attn_label_pad(s->out, GAP);
        if (chosen[i] == of->head)
            print_bold(s, name);
        else
            attn_out_str(s->out, name);
        attn_label_pad(s->out, i + 1 < n ? wide - GAP - smaller(wide - GAP, strlen(name)) : 0);
    }
    attn_out_char(s->out, '\n');
    for (size_t r = 0; r < s->rows; r++) {
        if (is_cut(s->rows, s->job->tokens->n) && r == ATTN_SCREEN_KEPT / 2)
            print_dots(s, left);
        print_row_label(s, s->row[r], left);
        for (size_t i = 0; i < n; i++) {
            const float *weight = attn_screen_weights(s, of->layer, chosen[i]) + r * s->keys;
            attn_label_pad(s->out, GAP);
            for (size_t k = 0; k < s->keys; k++) {
                attn_out_str(s->out, cells > s->keys && k == ATTN_SCREEN_KEPT / 2 ? "… " : "");
                print_cell(s, weight[k]);
            }
            attn_label_pad(s->out, i + 1 < n ? wide - GAP - smaller(wide - GAP, cells * CELL) : 0);
        }
        attn_out_char(s->out, '\n');
    }
}

static void print_why(struct attn_screen *s, const struct shown *of)
{
    if (of->tells)
        print_line(s, ATTN_DIM, tr(s, "L%zuH%zu looks most beyond itself and the first token: %.2f of its weight"),
                   of->layer, of->head, of->away);
    else if (s->job->cross)
        print_line(s, ATTN_DIM, "%s", tr(s, "the first head"));
    else
        print_line(s, ATTN_DIM, "%s", s->job->tokens->n < 3
                   ? tr(s, "the first head, since a text of fewer than three tokens tells none apart")
                   : tr(s, "the first head, since none looks beyond itself and the first token"));
}

/* ---- what heads do, and what tokens look at ---------------------------------------------- */

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

static void print_heads(struct attn_screen *s, size_t most)
{
    size_t across = larger(s->width / HEAD, 1), shown = smaller(s->heads, most * across);
    size_t lines = parts_of(shown, across);
    char more[64] = "";
    if (shown < s->heads)
        snprintf(more, sizeof more, tr(s, " (the %zu clearest of %zu)"), shown, s->heads);
    print_line(s, ATTN_BOLD, tr(s, "main role of each head, mean over all rows but the first%s"), more);
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = line; i < shown; i += lines) {
            char text[64];
            size_t columns = name_head(text, s, &s->head[i]);
            attn_out_str(s->out, text);
            if (i + lines < shown)
                attn_label_pad(s->out, HEAD + GAP - smaller(columns, HEAD));
        }
        attn_out_char(s->out, '\n');
    }
}

/* "she → so 0.90 (L2H1)", of the last tokens. */
static void print_targets(struct attn_screen *s, size_t most)
{
    const struct attn_tokens *keys = attn_sink_keys(s->job), *t = s->job->tokens;
    const char *but = s->job->cross ? "" : tr(s, ", beyond itself and the first");
    const size_t all = smaller(t->n, ATTN_SCREEN_LOOKS), n = smaller(all, most), left = widest(s);
    if (n < t->n)
        print_line(s, ATTN_BOLD, tr(s, s->job->rows ? "what each of the last %zu words looks at most%s"
                                       : "what each of the last %zu tokens looks at most%s"), n, but);
    else
        print_line(s, ATTN_BOLD, tr(s, s->job->rows ? "what each word looks at most%s"
                                       : "what each token looks at most%s"), but);
    for (size_t i = 0; i < n; i++) {
        const struct attn_screen_target *to = &s->target[all - n + i];
        print_row_label(s, t->n - n + i, left);
        if (to->weight > 0) {
            struct attn_label key = attn_label_token(&keys->tok[to->key], ATTN_SCREEN_LABEL);
            attn_out_printf(s->out, " → %s %.2f (L%zuH%zu)\n", key.text, (double)to->weight, to->at.layer,
                            to->at.head);
        } else {
            attn_out_printf(s->out, " → %s\n", tr(s, "nothing"));
        }
    }
}

/* ---- what comes next, and what to do next ------------------------------------------------ */

static void print_likely(struct attn_screen *s, const char *heading, const struct attn_next *next)
{
    size_t at = width_of(heading);
    print_bold(s, heading);
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

static void print_edits(struct attn_screen *s)
{
    const size_t n = attn_edits_count(s->job->edits);
    const size_t shown = n > EDITS ? EDITS - 1 : n;
    for (size_t i = 0; i < shown; i++)
        print_line(s, ATTN_PLAIN, "%s%s", tr(s, "edit: "), attn_edits_text(s->job->edits, i));
    if (n > EDITS)
        print_line(s, ATTN_PLAIN, tr(s, "edit: … %zu more"), n - shown);
}

static void print_next(struct attn_screen *s)
{
    struct attn_compared c;
    struct attn_next before;
    print_edits(s);
    if (!s->predicts)
        return;
    if (attn_next_before(&before, &c, s->job)) {
        print_likely(s, tr(s, "next, before the edits"), &before);
        print_likely(s, tr(s, "next, after the edits "), &s->next);
    } else {
        print_likely(s, tr(s, "next"), &s->next);
    }
}

/* "then  attn-cli explain --head L4H3, heads, page with the same options" */
static void print_then(struct attn_screen *s, const struct shown *of)
{
    char line[256] = "";
    for (const struct attn_sink_hint *h = s->job->hints; h && h->command; h++) {
        char head[32] = "";
        if (h->of_head && (of->layer || of->head))
            snprintf(head, sizeof head, " --head L%zuH%zu", of->layer, of->head);
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s %s%s", *line ? "," : "", h->command, head);
    }
    if (!*line)
        return;
    print_bold(s, tr(s, "then"));
    attn_out_printf(s->out, "  attn-cli%s%s\n", line, tr(s, " with the same options"));
}

/* ---- the screen -------------------------------------------------------------------------- */

static size_t token_lines(const struct attn_screen *s, const struct attn_tokens *t)
{
    size_t columns = width_of(tr(s, "tokens")) + 1;
    for (size_t i = 0; i < t->n && columns <= s->width; i++)
        columns += 1 + attn_label_token(&t->tok[i], ATTN_SCREEN_LABEL).columns;
    return columns <= s->width ? 1 : LINES_OF_TOKENS;
}

/* All but what tokens look at, what heads do and the lines between: these give way. */
static size_t taken_lines(const struct attn_screen *s)
{
    enum { MODEL = 1, OVER_MATRIX = 2, OVER_CONTEXTS = 1, OVER_LAYER = 3, OVER_LOOKS = 1, THEN = 1, MATRICES = 3 };
    const size_t rows = s->rows + is_cut(s->rows, s->job->tokens->n), edits = attn_edits_count(s->job->edits);
    size_t n = MODEL + s->job->joined + token_lines(s, s->job->tokens) + OVER_MATRIX + OVER_CONTEXTS + OVER_LAYER +
               MATRICES * rows + OVER_LOOKS + (s->job->hints ? THEN : 0);
    n += s->job->cross ? token_lines(s, s->job->cross) : s->heads > 0;
    n += smaller(edits, EDITS) + (s->predicts ? 1 + (s->job->compare != NULL) : 0);
    return n;
}

static void make_room(struct shown *of, const struct attn_screen *s)
{
    enum { BLANKS = 2 };
    size_t left = ATTN_SCREEN_LINES - smaller(taken_lines(s), ATTN_SCREEN_LINES);
    of->apart = left >= BLANKS + 2;     /* a line each is for looks and roles */
    left -= of->apart ? BLANKS : 0;
    of->roles = s->heads ? smaller(larger(left / 3, 1), ATTN_SCREEN_ROLES) : 0;
    of->looks = smaller(larger(left - smaller(of->roles, left), 1), ATTN_SCREEN_LOOKS);
}

/* The head that tells most of those that were asked for. */
static struct shown choose_shown(const struct attn_screen *s)
{
    struct shown of = {0};
    size_t first = 0;
    while (!s->there[first] && first + 1 < s->job->model->L * s->H)
        first++;
    make_room(&of, s);
    of.tells = attn_away_most(&s->away, s->job->model->L, &of.layer, &of.head, &of.away);
    of.layer = of.tells ? of.layer : first / s->H;
    of.head = of.tells ? of.head : first % s->H;
    return of;
}

int attn_screen_print(struct attn_screen *s, struct attn_err *err)
{
    const struct shown of = choose_shown(s);
    const size_t left = widest(s);
    char said[128];
    (void)err;
    print_model(s);
    print_tokens(s, s->job->cross ? tr(s, "queries") : tr(s, "tokens"), s->job->tokens);
    if (s->job->cross)
        print_tokens(s, tr(s, "keys"), s->job->cross);
    attn_out_str(s->out, of.apart ? "\n" : "");
    print_line(s, ATTN_BOLD, tr(s, "layer %zu, head %zu: attention pattern%s (rows: queries, columns: keys)"), of.layer,
               of.head, note(s, said));
    print_matrix(s, &of, left);
    print_contexts(s, &of, left);
    attn_out_str(s->out, of.apart ? "\n" : "");
    print_line(s, ATTN_BOLD, tr(s, "layer %zu: attention of its heads (··: 0)"), of.layer);
    print_why(s, &of);
    print_layer(s, &of, left);
    if (s->heads)
        print_heads(s, of.roles);
    print_targets(s, of.looks);
    print_next(s);
    print_then(s, &of);
    return ATTN_OK;
}

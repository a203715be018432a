/* heads_write.c - the table of heads: for people, one line for each head, the best first; for programs in the same
 * order if it was asked for (--by, --top), else by layer and head, as JSON
 *
 *     {"version", "model", "attention", ..., "texts": [[id, ...], ...], "edits": ["L1H2 = 0", ...] where there are any,
 *      "loss": {"first", "second", "repeats"} of texts that are said twice,
 *      "rows": [{"layer", "head", "previous", ..., "label", "previous_chance", ...,
 *               "previous_rows", ...}, ...]}
 *
 * or a table with the columns of these rows (table/columns.h); as pictures, layers by heads, one for each score.  A
 * score that no row offers is null, empty, NaN. */
#include "answers/heads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answers.h"
#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "base/size.h"
#include "model/kind.h"
#include "picture/album.h"
#include "picture/look.h"
#include "sinks/print.h"
#include "sinks/sink.h"
#include "sinks/sink_json.h"
#include "table/columns.h"

/* ---- for people -------------------------------------------------------------------------- */

enum { CELL = ATTN_NUM_FIXED_MAX + 1, BAR_MOST = 24, BAR_LEAST = 4 };

struct layout { size_t head, word, column[ATTN_HEAD_SCORES], gap, bar; };       /* gap: between columns */

/* Edited patterns may hold any numbers. */
static void put_number(char text[CELL], double x)
{
    if (isnan(x))
        snprintf(text, CELL, "-");
    else if (fabs(x) >= 1e7 && !isinf(x))
        attn_snprintf(text, CELL, "%.2e", x);
    else
        text[attn_num_fixed(text, x, 2)] = '\0';
}

/* Of how many rows a score is the mean; one of weights alone is of none. */
static void put_rows(char text[CELL], const struct attn_heads_row *r, const struct attn_head_score *s)
{
    snprintf(text, CELL, s->of ? "%zu" : "-", r->of.rows[attn_head_score_index(s)]);
}

static void put_head(char text[CELL], const struct attn_heads_row *r)
{
    snprintf(text, CELL, "L%zuH%zu", r->of.at.layer, r->of.at.head);
}

static void put_word(char text[CELL], const struct attn_heads_row *r)
{
    char number[CELL];
    put_number(number, r->of.share);
    snprintf(text, CELL, r->of.role ? "%.16s %.14s" : "-", r->of.role ? r->of.role->name : "", number);
}

static bool is_shown(const struct attn_ranking *h, const struct attn_head_score *s)
{
    bool any = !(s->flags & ATTN_SCORE_IF_ANY) || h->by == s;
    for (size_t i = 0; i < h->n && !any; i++)
        any = !isnan(h->row[i].of.score[attn_head_score_index(s)]);
    return s->of ? any : h->copying;
}

static void measure_row(struct layout *l, const struct attn_heads_row *r)
{
    char text[CELL];
    put_head(text, r);
    l->head = larger(l->head, strlen(text));
    put_word(text, r);
    l->word = larger(l->word, strlen(text));
    const struct attn_head_score *s = NULL;
    for (size_t c = 0; (s = attn_head_score_next(s)); c++) {
        put_number(text, r->of.score[c]);
        l->column[c] = larger(l->column[c], strlen(text));
        put_rows(text, r, s);
        l->column[c] = larger(l->column[c], strlen(text));
    }
}

static struct layout measure(const struct attn_ranking *h)
{
    struct layout l = {.head = strlen("head"), .word = strlen("main role")};
    const struct attn_head_score *s = NULL;
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        l.column[c] = strlen(s->brief);
    for (size_t i = 0; i < h->kept; i++)
        measure_row(&l, h->best[i]);
    size_t used = l.head + 2 + l.word + 1, columns = 0, width = h->o->width > 0 ? (size_t)h->o->width : SIZE_MAX;
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (is_shown(h, s)) {
            used += l.column[c];
            columns++;
        }
    size_t bar = h->o->bars ? BAR_LEAST : 0;
    l.gap = used + 2 * columns + bar <= width ? 2 : 1;
    used += l.gap * columns;
    l.bar = h->o->bars && used + BAR_LEAST <= width ? smaller(width - used, BAR_MOST) : 0;
    return l;
}

/* A bar of eighths of a column for a part, 0 to 1. */
static void draw_bar(struct attn_out *o, size_t width, double part)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t n = part > 0 ? (size_t)(part * (double)width * 8 + 0.5) : 0;
    n = smaller(n, width * 8);
    attn_out_char(o, ' ');
    for (size_t i = 0; i < n / 8; i++)
        attn_out_str(o, "█");
    attn_out_str(o, eighths[n % 8]);
    attn_out_printf(o, "%*s", (int)(width - n / 8 - (n % 8 > 0)), "");
}

/* What a full bar stands for: 1, or the largest number there is. */
static double largest(const struct attn_ranking *h)
{
    double most = 1;
    for (size_t i = 0; i < h->n; i++)
        if (h->row[i].by > most)
            most = h->row[i].by;
    return most;
}

static void write_headings(struct attn_out *o, const struct attn_ranking *h, const struct layout *l)
{
    const struct attn_head_score *s = NULL;
    attn_out_printf(o, "%-*s  %-*s", (int)l->head, "head", (int)l->word, "main role");
    if (l->bar)
        attn_out_printf(o, " %*s", (int)l->bar, "");
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (is_shown(h, s))
            attn_out_printf(o, "%*s", (int)(l->gap + l->column[c]), s->brief);
    attn_out_char(o, '\n');
}

static void write_row(struct attn_out *o, const struct attn_ranking *h, const struct layout *l,
                      const struct attn_heads_row *r, double full)
{
    char text[CELL];
    const struct attn_head_score *s = NULL;
    put_head(text, r);
    attn_out_printf(o, "%-*s", (int)l->head, text);
    put_word(text, r);
    attn_out_printf(o, "  %-*s", (int)l->word, text);
    if (l->bar)
        draw_bar(o, l->bar, r->by / full);
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (is_shown(h, s)) {
            put_number(text, r->of.score[c]);
            attn_out_printf(o, "%*s", (int)(l->gap + l->column[c]), text);
        }
    attn_out_char(o, '\n');
}

/* Whether two layers see the same keys, as far as scores tell. */
static bool same_below(const struct attn_heads_row *a, const struct attn_heads_row *b)
{
    bool same = true;
    for (size_t c = 0; c < attn_head_score_count(); c++)
        same &= a->of.rows[c] == b->of.rows[c] &&
                (a->of.chance[c] == b->of.chance[c] || (isnan(a->of.chance[c]) && isnan(b->of.chance[c])));
    return same;
}

/* A line below the heads, for one layer or for all. */
static void write_below(struct attn_out *o, const struct attn_ranking *h, const struct layout *l, const char *what,
                        const struct attn_heads_row *r, bool alike)
{
    char text[CELL];
    const struct attn_head_score *s = NULL;
    snprintf(text, sizeof text, alike ? "%s" : "%s, L%zu", what, r->of.at.layer);
    attn_out_printf(o, "%-*s", (int)(l->head + 2 + l->word + (l->bar ? 1 + l->bar : 0)), text);
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (is_shown(h, s)) {
            if (!strcmp(what, "rows"))
                put_rows(text, r, s);
            else
                put_number(text, r->of.chance[c]);
            attn_out_printf(o, "%*s", (int)(l->gap + l->column[c]), text);
        }
    attn_out_char(o, '\n');
}

/* What a head would get that looks at all keys alike, and of how many rows scores are means; where layers see different
 * keys, for each of them. */
static void write_chance(struct attn_out *o, const struct attn_ranking *h, const struct layout *l)
{
    static const char *const lines[] = {"chance", "rows"};
    bool alike = true;
    for (size_t i = 1; i < h->n; i++)
        alike &= same_below(&h->row[i], &h->row[0]);
    attn_out_char(o, '\n');
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < (alike ? smaller(h->n, 1) : h->n); i++)
            if (!i || h->row[i].of.at.layer != h->row[i - 1].of.at.layer)
                write_below(o, h, l, lines[k], &h->row[i], alike);
}

static void write_losses(struct attn_out *o, const struct attn_ranking *h)
{
    if (!isnan(h->first))
        attn_out_printf(o, "\nLoss: %.2f nats per token, then %.2f the second time: the model %s the text\n", h->first,
                        h->second, attn_heads_repeats(h) ? "repeats" : "does not repeat");
}

static const char *why_none(const struct attn_ranking *h)
{
    if (h->overflowed && isnan(h->best[0]->of.score[0]))
        return "patterns are NaN, since dots overflow";
    if (!h->by)
        return "no share is twice chance, 0.1 above it, over three rows";
    return h->by && h->by->flags & ATTN_SCORE_IF_ANY ? "the text has no punctuation before its last token"
           : "no row of the text can have it; a text said twice can (--repeat 24)";
}

static void write_text(struct attn_out *o, const struct attn_ranking *h)
{
    struct layout l = measure(h);
    attn_out_printf(o, "Model %s, %zu text%s, %" PRIu64 " token%s", h->info.name, h->texts, h->texts == 1 ? "" :
                    "s", h->tokens, h->tokens == 1 ? "" : "s");
    if (h->o->about) {
        struct attn_label about = attn_label_line(h->o->about, strlen(h->o->about), SIZE_MAX);
        attn_out_printf(o, ": %s", about.text);
    }
    attn_out_printf(o, "\n%s%zu of %zu heads, sorted by %s; means over all rows but the first\n\n", h->kept < h->n ?
                    "The first "
                    : "", h->kept, h->n,
                    h->by ? h->by->name : "main role");
    attn_print_edits(o, h->o->over->edits);
    attn_out_str(o, attn_edits_count(h->o->over->edits) ? "\n" : "");
    write_headings(o, h, &l);
    const double full = largest(h);
    for (size_t i = 0; i < h->kept; i++)
        write_row(o, h, &l, h->best[i], full);
    write_chance(o, h, &l);
    write_losses(o, h);
    if (isnan(h->best[0]->by))
        attn_out_printf(o, "\nNo head has %s: %s\n", h->by ? h->by->name : "a main role", why_none(h));
}

/* ---- for programs ------------------------------------------------------------------------ */

static void write_texts(struct attn_out *o, const struct attn_ranking *h)
{
    const int32_t *ids = h->ids;
    for (size_t i = 0; i < h->texts; i++) {
        attn_out_str(o, i ? ",\n[" : "\n[");
        for (size_t k = 0; k < h->T[i]; k++)
            attn_out_printf(o, "%s%" PRId32, k ? "," : "", *ids++);
        attn_out_char(o, ']');
    }
}

/* Whether somebody asked for the best; else programs find a head where its layer and number say. */
static bool is_ordered(const struct attn_ranking *h)
{
    return h->by || h->o->top;
}

struct columns {
    struct attn_column column[3 + 3 * ATTN_HEAD_SCORES];
    char chance[ATTN_HEAD_SCORES][ATTN_NAME_MAX], rows[ATTN_HEAD_SCORES][ATTN_NAME_MAX];
    const struct attn_ranking *of;
};

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_ranking *h = ((const struct columns *)self)->of;
    const struct attn_heads_row *r = is_ordered(h) ? h->best[i] : &h->row[i];
    const struct attn_head_score *s = NULL;
    *cell++ = attn_datum_whole(r->of.at.layer);
    *cell++ = attn_datum_whole(r->of.at.head);
    for (size_t c = 0; c < attn_head_score_count(); c++)
        *cell++ = attn_datum_number(r->of.score[c]);
    *cell++ = attn_datum_str(r->of.role ? r->of.role->name : NULL);
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (s->of)
            *cell++ = attn_datum_number(r->of.chance[c]);
    for (size_t c = 0; (s = attn_head_score_next(s)); c++)
        if (s->of)
            *cell++ = attn_datum_whole(r->of.rows[c]);
}

/* The columns are those of the table of scores; all of them, also for people. */
static size_t name_columns(struct columns *c)
{
    struct attn_column *at = c->column;
    *at++ = (struct attn_column){.name = "layer", .kind = ATTN_COLUMN_WHOLE};
    *at++ = (struct attn_column){.name = "head", .kind = ATTN_COLUMN_WHOLE};
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
        *at++ = (struct attn_column){.name = s->name, .kind = ATTN_COLUMN_REAL, .digits = 4};
    *at++ = (struct attn_column){.name = "label"};
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
        if (s->of) {
            char *name = c->chance[attn_head_score_index(s)];
            snprintf(name, ATTN_NAME_MAX, "%s_chance", s->name);
            *at++ = (struct attn_column){.name = name, .kind = ATTN_COLUMN_REAL, .digits = 4};
        }
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
        if (s->of) {
            char *name = c->rows[attn_head_score_index(s)];
            snprintf(name, ATTN_NAME_MAX, "%s_rows", s->name);
            *at++ = (struct attn_column){.name = name, .kind = ATTN_COLUMN_WHOLE};
        }
    return (size_t)(at - c->column);
}

static int write_rows(struct attn_out *o, const struct attn_ranking *h, const char *format, struct attn_err *err)
{
    struct columns c = {.of = h};
    struct attn_table t = {.column = c.column, .columns = name_columns(&c), .rows = h->kept, .row = fill, .self = &c};
    return strcmp(format, "json") ? attn_table_write(o, &t, format, err) : attn_table_objects(o, &t, "\n", "\n", err);
}

static int write_json(struct attn_out *o, const struct attn_ranking *h, struct attn_err *err)
{
    struct attn_kind_words kind;
    attn_kind_say(&kind, &h->o->over->plan.kind);
    attn_out_printf(o, "{\"version\":\"%s\",\n\"model\":", attn_version());
    attn_doc_model(o, &(struct attn_sink_job){.model = &h->info, .digest = h->digest});
    attn_doc_kind(o, &kind.of, "\n");
    attn_out_str(o, ",\n\"texts\":[");
    write_texts(o, h);
    attn_out_str(o, "\n]");
    attn_doc_edits(o, h->o->over->edits, "\n");
    if (!isnan(h->first)) {
        attn_out_str(o, ",\n\"loss\":{\"first\":");
        attn_out_f64(o, h->first);
        attn_out_str(o, ",\"second\":");
        attn_out_f64(o, h->second);
        attn_out_printf(o, ",\"repeats\":%s}", attn_heads_repeats(h) ? "true" : "false");
    }
    attn_out_str(o, ",\n\"rows\":[");
    int rc = write_rows(o, h, "json", err);
    attn_out_str(o, "\n]}\n");
    return rc;
}

/* ---- pictures ---------------------------------------------------------------------------- */

/* A score that no row offers, as `induction` where no text repeats itself, has no picture, unless no score has one. */
static bool is_drawn(const struct attn_ranking *h, const struct attn_head_score *s)
{
    bool any = false;
    for (size_t c = 0; c < attn_head_score_count(); c++)
        for (size_t i = 0; i < h->n; i++)
            if (!isnan(h->row[i].of.score[c])) {
                if (c == attn_head_score_index(s))
                    return true;
                any = true;
            }
    return is_shown(h, s) && !any;
}

/* The heads of a selection may be few: the picture has the layers and heads that were selected. */
static int add_sheet(struct attn_album *a, const struct attn_ranking *h, const struct attn_head_score *s, size_t heads,
                     const struct attn_language *l, struct attn_err *err)
{
    float *to = NULL;
    bool share = s->flags & ATTN_SCORE_SHARE;
    size_t c = attn_head_score_index(s);
    const struct attn_sheet sheet = {.kind = share ? "share" : s->name, .title = share ?
                                     "share of the attention" : s->name,
                                     .said = share ? attn_tr(l, "share of the attention") : NULL,
                                     .axes = " (rows: layers, columns: heads)", .layer = share ? (int)c : -1,
                                     .name = share
                                         ? s->name : NULL, .n = 1,
                                     .rows = h->n / heads, .cols = heads, .keys = true,
                                     .numbered = true};
    int rc = attn_album_add(a, &sheet, &to, err);
    for (size_t i = 0; i < h->n && to; i++)
        to[i] = (float)h->row[i].of.score[c];
    return rc;
}

static int draw(struct attn_out *o, const struct attn_ranking *h, struct attn_err *err)
{
    struct attn_look look;
    struct attn_album a = {.model = h->info.name, .text = h->o->about,
                           .text_len = h->o->about ? strlen(h->o->about) : 0,
                           .edits = h->o->over->edits};
    struct attn_named layer = {0}, head = {0};
    size_t heads = 1;
    while (heads < h->n && h->row[heads].of.at.layer == h->row[0].of.at.layer)
        heads++;
    int rc = attn_format_look(&look, h->o->format, &h->o->picture, err);
    if (!rc)
        rc = attn_named_new(&layer, h->n / heads, err);
    if (!rc)
        rc = attn_named_new(&head, heads, err);
    for (size_t i = 0; i < layer.tokens.n && !rc; i++)
        attn_named_set(&layer, i, (int32_t)h->row[i * heads].of.at.layer, "%zu", h->row[i * heads].of.at.layer);
    for (size_t i = 0; i < heads && !rc; i++)
        attn_named_set(&head, i, (int32_t)h->row[i].of.at.head, "%zu", h->row[i].of.at.head);
    a.queries = &layer.tokens;
    a.keys = &head.tokens;
    look.width = h->o->width;
    for (const struct attn_head_score *s = NULL; !rc && (s = attn_head_score_next(s));)
        if (is_drawn(h, s))
            rc = add_sheet(&a, h, s, heads, look.language, err);
    if (!rc)
        rc = attn_album_link(&a, err);
    if (!rc)
        rc = attn_format_draw(o, h->o->format, &a, &look, err);
    attn_album_free(&a);
    attn_named_free(&layer);
    attn_named_free(&head);
    return rc;
}

int attn_heads_write(struct attn_out *o, const struct attn_ranking *h, struct attn_err *err)
{
    const char *format = h->o->format ? h->o->format : "text";
    if (!strcmp(format, "text")) {
        write_text(o, h);
        return ATTN_OK;
    }
    if (!strcmp(format, "json"))
        return write_json(o, h, err);
    if (attn_table_writes(format))
        return write_rows(o, h, format, err);
    return draw(o, h, err);
}

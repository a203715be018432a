/* history.c - what was watched while a model was trained, as a page with a slider over the steps.
 *
 * Numbers are bytes, their places on the scale of their kind: a page of a hundred steps stays small.  The page's policy
 * admits its own style and script by their digests, as that of a run does, and nothing is fetched. */
#include "picture/figure.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/err.h"
#include "base/out.h"
#include "picture/page_texts.h"

ATTN_EMBED(attn_history_html, "lib/show/picture/history/history.html");
ATTN_EMBED(attn_history_css, "lib/show/picture/history/history.css");
ATTN_EMBED(attn_history_js, "lib/show/picture/history/history.js");
ATTN_EMBED(attn_history_texts_js, "lib/show/picture/page/texts.js");

struct history {
    struct attn_out *out;
    const struct attn_album *album;
    const struct attn_look *look;
};

/* ---- the data ------------------------------------------------------------------------------ */

static void put_str(struct attn_out *o, const char *s)
{
    attn_out_json(o, s, strlen(s));
}

static void put_labels(struct attn_out *o, const char *name, const struct attn_tokens *t)
{
    attn_out_printf(o, ",\"%s\":", name);
    attn_out_str(o, t ? "[" : "null");
    for (size_t i = 0; t && i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], 40);
        attn_out_str(o, i ? "," : "");
        put_str(o, l.text);
    }
    attn_out_str(o, t ? "]" : "");
}

/* All steps of a head, [steps, rows, cols]. */
static int put_panel(const struct history *h, const struct attn_sheet *s, const struct attn_scale *scale,
                     struct attn_err *err)
{
    char name[64];
    size_t size = s->n * s->rows * s->cols;
    uint8_t *bytes = malloc(size + 1);
    struct attn_sheet head = *s;
    if (!bytes)
        return attn_no_memory(err, NULL, "for %zu numbers", size);
    for (size_t r = 0; r < s->n * s->rows; r++)
        attn_scale_row(scale, bytes + r * s->cols, s, r);
    head.steps = NULL;
    head.heads = s->head == ATTN_NO_HEAD ? NULL : &s->head;
    attn_sheet_say(name, &head, h->look->language);
    attn_out_str(h->out, "{\"name\":");
    put_str(h->out, *name ? name : attn_sheet_title(s, h->look->language));
    attn_out_printf(h->out, ",\"rows\":%zu,\"cols\":%zu,\"data\":\"", s->rows, s->cols);
    attn_out_base64(h->out, bytes, size);
    attn_out_str(h->out, "\"}");
    free(bytes);
    return ATTN_OK;
}

static void put_scale(const struct history *h, const struct attn_scale *scale, const struct attn_palette *palette)
{
    char text[96];
    int step;
    attn_out_str(h->out, ",\"colors\":\"");
    for (unsigned i = 0; i <= ATTN_STEP_NAN; i++) {
        struct attn_rgb c = i < ATTN_STEPS ? attn_palette_color(palette, i) : i == ATTN_STEP_NAN ?
                            attn_palette_nan(palette) : attn_palette_blank(palette);
        attn_out_printf(h->out, "%02x%02x%02x", c.r, c.g, c.b);
    }
    attn_out_str(h->out, "\",\"values\":[");
    for (unsigned i = 0; i < ATTN_STEPS; i++)
        attn_out_printf(h->out, "%s\"%.3g\"", i ? "," : "", attn_scale_value(scale, i) + 0.0);
    attn_out_str(h->out, "],\"notes\":[");
    for (size_t i = 0; attn_legend_line(scale, i, text, &step); i++) {
        attn_out_str(h->out, i ? ",{\"text\":" : "{\"text\":");
        put_str(h->out, text);
        attn_out_printf(h->out, ",\"step\":%d}", step);
    }
    attn_out_str(h->out, "]");
}

static int put_kind(const struct history *h, const struct attn_sheet *first, struct attn_err *err)
{
    struct attn_scale scale;
    const struct attn_palette *palette = attn_scale_choose(&scale, h->album, first, h->look, true);
    int rc = ATTN_OK;
    scale.language = h->look->language;
    attn_out_str(h->out, "{\"title\":");
    put_str(h->out, attn_sheet_title(first, h->look->language));
    attn_out_printf(h->out, ",\"keys\":%s", first->keys ? "true" : "false");
    put_scale(h, &scale, palette);
    attn_out_str(h->out, ",\"panels\":[");
    for (const struct attn_sheet *s = first; s && !rc; s = attn_album_next_sheet(h->album, s)) {
        attn_out_str(h->out, s == first ? "\n" : ",\n");
        rc = put_panel(h, s, &scale, err);
    }
    attn_out_str(h->out, "]}");
    return rc;
}

static int write_data(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct history *h = self;
    const struct attn_album *a = h->album;
    int rc = ATTN_OK;
    attn_out_str(o, "{\"steps\":[");
    for (size_t k = 0; k < a->sheet[0].n; k++)
        attn_out_printf(o, "%s%zu", k ? "," : "", a->sheet[0].steps[k]);
    attn_out_char(o, ']');
    put_labels(o, "rows", a->queries);
    put_labels(o, "keys", a->keys);
    attn_out_str(o, ",\"kinds\":[");
    for (size_t i = 0, kinds = 0; i < a->n && !rc; i++)
        if (attn_album_opens_kind(a, i)) {
            attn_out_str(o, kinds++ ? ",\n" : "\n");
            rc = put_kind(h, &a->sheet[i], err);
        }
    attn_out_str(o, "]}");
    return rc;
}

/* ---- the page ------------------------------------------------------------------------------ */

#define PART(symbol) {symbol, symbol##_end}
static const struct attn_page_file style = PART(attn_history_css),
    scripts[] = {PART(attn_history_texts_js), PART(attn_history_js)};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static int write_policy(void *self, struct attn_out *o, struct attn_err *err)
{
    (void)self;
    (void)err;
    attn_out_str(o, ATTN_POLICY "style-src");
    attn_policy_digest(o, &style);
    attn_out_str(o, "; script-src");
    for (size_t i = 0; i < SCRIPTS; i++)
        attn_policy_digest(o, &scripts[i]);
    return ATTN_OK;
}

static int write_title(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct history *h = self;
    const struct attn_album *a = h->album;
    (void)err;
    attn_out_str(o, attn_tr(h->look->language, "While training"));
    if (a->model) {
        attn_out_str(o, attn_tr(h->look->language, ": "));
        attn_out_markup(o, a->model, strlen(a->model));
    }
    return ATTN_OK;
}

static int write_version(void *self, struct attn_out *o, struct attn_err *err)
{
    (void)self;
    (void)err;
    attn_out_str(o, attn_version());
    return ATTN_OK;
}

static int write_style(void *self, struct attn_out *o, struct attn_err *err)
{
    (void)self;
    (void)err;
    attn_out_write(o, style.start, (size_t)(style.end - style.start));
    return ATTN_OK;
}

static int write_texts(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct history *h = self;
    struct attn_page_texts texts;
    if (!h->look->language)
        return ATTN_OK;
    int rc = attn_page_texts_begin(&texts, h->look->language, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < SCRIPTS; i++)
        attn_page_texts_of(&texts, &scripts[i]);
    return attn_page_texts_end(&texts, o, err);
}

static int write_scripts(void *self, struct attn_out *o, struct attn_err *err)
{
    (void)self;
    (void)err;
    for (size_t i = 0; i < SCRIPTS; i++) {
        attn_out_str(o, "<script>");
        attn_out_write(o, scripts[i].start, (size_t)(scripts[i].end - scripts[i].start));
        attn_out_str(o, "</script>\n");
    }
    return ATTN_OK;
}

int attn_history_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look,
                       struct attn_err *err)
{
    static const struct attn_page_slot slots[] = {
        {"policy", write_policy}, {"version", write_version}, {"title", write_title}, {"style", write_style},
        {"data", write_data}, {"texts", write_texts}, {"scripts", write_scripts}, {NULL, NULL}};
    const struct attn_page_file page = PART(attn_history_html);
    struct history h = {o, a, look};
    return attn_template_write(o, &page, slots, &h, look->language, err);
}

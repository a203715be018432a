#include "picture/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "base/utf8.h"
#include "picture/page_pack.h"
#include "picture/page_ranking.h"
#include "text/token_json.h"
#include "trace/trace.h"

enum {
    EXACT_BYTES = 1 << 20,              /* of all numbers together as float32 */
    FINE_NUMBERS = 3 << 20,             /* more than these have coarse codes: 144 heads of 200 tokens */
    MANY_COLUMNS = 4096                 /* of numbered columns: the width of the widest MLPs */
};

struct pages {
    const struct attn_album *album;
    const struct attn_look *look;
    struct attn_pack *pack; size_t n;   /* of the sheets that are not left out */
};

/* ---- text ------------------------------------------------------------------------------ */

static void put_string(struct attn_out *o, const char *s, size_t len)
{
    if (s)
        attn_out_json(o, s, len);
    else
        attn_out_str(o, "null");
}

static void put_name(struct attn_out *o, const char *s)
{
    put_string(o, s, s ? strlen(s) : 0);
}

static void put_key(struct attn_out *o, const char *key)
{
    attn_out_str(o, ",\"");
    attn_out_str(o, key);
    attn_out_str(o, "\":");
}

static void put_bool(struct attn_out *o, const char *key, bool x)
{
    put_key(o, key);
    attn_out_str(o, x ? "true" : "false");
}

static void put_size(struct attn_out *o, const char *key, size_t x)
{
    put_key(o, key);
    attn_out_u64(o, x);
}

static void put_tokens(struct attn_out *o, const char *key, const struct attn_tokens *t)
{
    put_key(o, key);
    if (!t) {
        attn_out_str(o, "null");
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        attn_out_char(o, i ? ',' : '[');
        attn_token_json(o, &t->tok[i]);
    }
    attn_out_str(o, t->n ? "]" : "[]");
}

static void put_likeliest(struct attn_out *o, const struct attn_album_next *next)
{
    attn_out_char(o, '[');
    for (size_t i = 0; i < next->n; i++) {
        attn_out_str(o, i ? ",{\"id\":" : "{\"id\":");
        attn_out_u64(o, (uint64_t)next->of[i].id);
        attn_token_text_json(o, next->of[i].text, next->of[i].len);
        put_key(o, "p");
        attn_out_f32(o, (float)next->of[i].p);
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
}

static void put_why_not(struct attn_out *o, const char *key, const char *why)
{
    if (!*why)
        return;
    put_key(o, key);
    put_name(o, why);
}

static void put_next(struct attn_out *o, const struct attn_album *a)
{
    put_key(o, "next");
    put_likeliest(o, &a->next);
    put_why_not(o, "noNext", a->no_next);
}

/* ---- what was asked for besides -------------------------------------------------------- */

static void put_edits(struct attn_out *o, const struct attn_edits *edits)
{
    size_t n = attn_edits_count(edits);
    if (n)
        put_key(o, "edits");
    for (size_t i = 0; i < n; i++) {
        attn_out_char(o, i ? ',' : '[');
        put_name(o, attn_edits_text(edits, i));
    }
    attn_out_str(o, n ? "]" : "");
}

static void put_without(struct attn_out *o, const struct attn_album *a)
{
    if (a->n_without)
        put_key(o, "without");
    for (size_t i = 0; i < a->n_without; i++) {
        const struct attn_album_without *w = &a->without[i];
        attn_out_printf(o, "%c{\"layer\":%zu,\"head\":%zu,\"kl\":", i ? ',' : '[', w->layer, w->head);
        attn_out_f64(o, w->kl);
        put_key(o, "next");
        put_likeliest(o, &w->next);
        attn_out_char(o, '}');
    }
    attn_out_str(o, a->n_without ? "]" : "");
}

static void put_lens(struct attn_out *o, const struct attn_album *a)
{
    if (a->n_lens)
        put_key(o, "lens");
    for (size_t i = 0; i < a->n_lens; i++) {
        attn_out_printf(o, "%c{\"layer\":%d,\"at\":", i ? ',' : '[', a->lens[i].layer);
        for (size_t t = 0; t < a->queries->n; t++) {
            attn_out_char(o, t ? ',' : '[');
            put_likeliest(o, &a->lens[i].at[t]);
        }
        attn_out_str(o, "]}");
    }
    attn_out_str(o, a->n_lens ? "]" : "");
    put_why_not(o, "noLens", a->no_lens);
}

/* ---- colours --------------------------------------------------------------------------- */

static void put_palette(struct attn_out *o, const struct attn_palette *p)
{
    attn_out_str(o, "{\"colours\":\"");
    for (unsigned i = 0; i < ATTN_STEPS; i++) {
        struct attn_rgb c = attn_palette_color(p, i);
        attn_out_printf(o, "%02x%02x%02x", c.r, c.g, c.b);
    }
    attn_out_char(o, '"');
    put_bool(o, "diverges", attn_palette_diverges(p));
    attn_out_char(o, '}');
}

static void put_palettes(struct attn_out *o)
{
    const struct attn_palette *p;
    put_key(o, "palettes");
    for (size_t i = 0; (p = attn_palette_at(i)); i++) {
        attn_out_char(o, i ? ',' : '{');
        put_name(o, attn_palette_name(p));
        attn_out_char(o, ':');
        put_palette(o, p);
    }
    attn_out_char(o, '}');
}

/* The colours of lines, one for each head, from the palette that has them in steps. */
static void put_head_colours(struct attn_out *o)
{
    put_key(o, "headColours");
    for (unsigned i = 0; i < ATTN_LINE_HEADS; i++) {
        struct attn_rgb c = attn_palette_color(attn_palette_heads(), (i + 1) * ATTN_LINE_LEVELS - 1);
        attn_out_printf(o, "%s\"%02x%02x%02x\"", i ? "," : "[", c.r, c.g, c.b);
    }
    attn_out_char(o, ']');
}

/* Colours that nobody chose are those of the page's own palette, light or dark as its theme is. */
static void put_look(struct attn_out *o, const struct attn_look *look)
{
    static const char *const scales[] = {[ATTN_COLOR_LINEAR] = "linear", [ATTN_COLOR_LOG] = "log",
                                         [ATTN_COLOR_BY_ROW] = "row", [ATTN_COLOR_SQRT] = "sqrt",
                                         [ATTN_COLOR_AUTO] = "auto"};
    put_key(o, "look");
    attn_out_str(o, "{\"palette\":");
    put_name(o, look->chosen ? attn_palette_name(look->palette) : "paper");
    put_key(o, "scale");
    put_name(o, scales[look->scaling]);
    put_bool(o, "hideFirst", look->hide_first);
    put_size(o, "cell", look->cell);
    put_size(o, "manyKeys", ATTN_MANY_KEYS);
    if (look->words)
        put_bool(o, "merge", true);
    attn_out_char(o, '}');
}

/* ---- sheets ---------------------------------------------------------------------------- */

static void put_heads(struct attn_out *o, const struct attn_sheet *s)
{
    put_key(o, "heads");
    if (!s->heads) {
        attn_out_str(o, "null");
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        attn_out_char(o, i ? ',' : '[');
        attn_out_u64(o, s->heads[i]);
    }
    attn_out_str(o, s->n ? "]" : "[]");
}

/* ---- what a sheet is to the page, so that no script need know a name ---- */

static const struct part { int act; const char *part; } parts[] = {     /* of a weight, as it is explained */
    {ATTN_ACT_PATTERN, "weight"}, {ATTN_ACT_Q, "query"}, {ATTN_ACT_K, "key"},
    {ATTN_ACT_DOTS, "product"}, {ATTN_ACT_SCORES, "score"},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static bool is_of(const struct attn_sheet *s, int act) { return !strcmp(s->kind, attn_act_tail(act)); }

static void put_part(struct attn_out *o, const struct attn_sheet *s)
{
    const char *part = NULL;
    for (size_t i = 0; i < PARTS; i++)
        if (is_of(s, parts[i].act))
            part = parts[i].part;
    put_key(o, "part");
    put_name(o, part);
    put_bool(o, "beside", is_of(s, ATTN_ACT_CONTEXT));
    put_bool(o, "shared", s->shared);
    put_key(o, "sight");
    attn_out_str(o, s->sight == ATTN_NO_SIGHT ? "null" : s->sight == ATTN_ONE_IS_SEEN ? "1" : "0");
}

/* A kind in a list: what is of attention needs no word for that, but for its output, as that of the MLP is one, too. */
static const char *shorter(const char *kind)
{
    return !strncmp(kind, "attn.", 5) && strncmp(kind + 5, "out", 3) ? kind + 5 : kind;
}

/* The command that shows all that a weight comes from. */
static void put_explains(struct attn_out *o)
{
    attn_out_str(o, ",\"explains\":\"run --show ");
    for (size_t i = 0; i < PARTS; i++)
        attn_out_printf(o, "%s%s", i ? "," : "", attn_act_short(parts[i].act));
    attn_out_char(o, '"');
}

/* The word that the axes have after `side`; null: they say nothing of it. */
static void put_axis(struct attn_out *o, const char *key, const char *axes, const char *side)
{
    const char *at = axes ? strstr(axes, side) : NULL;
    at = at ? at + strlen(side) : NULL;
    put_key(o, key);
    put_string(o, at, at ? strcspn(at, ",)") : 0);
}

/* Of each matrix, so that a page knows its colours before it has looked at all numbers. */
static void put_extents(struct attn_out *o, const struct attn_pack *p)
{
    if (!p->narrow)
        return;
    put_key(o, "extents");
    for (size_t i = 0; i < p->sheet->n; i++)
        for (size_t first = 0; first < 2; first++) {
            struct attn_pack_extent e = attn_pack_extent(p, i, first);
            attn_out_str(o, first ? "," : i ? "],[" : "[[");
            attn_out_f32(o, e.least);
            attn_out_char(o, ',');
            attn_out_f32(o, e.most);
        }
    attn_out_str(o, p->sheet->n ? "]]" : "[]");
}

/* ---- masks ---- */

/* Which mask a sheet has: its number among those that differ, in the order of the sheets; SIZE_MAX: none. */
static size_t mask_of(const struct pages *p, const struct attn_sheet *s)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n && s->mask; i++) {
        const struct attn_sheet *other = p->pack[i].sheet;
        if (other->mask == s->mask)
            return n;
        bool first = other->mask != NULL;
        for (size_t k = 0; k < i; k++)
            first &= p->pack[k].sheet->mask != other->mask;
        n += first;
    }
    return SIZE_MAX;
}

/* Lengths of runs, those that are seen first. */
static void put_mask(struct attn_out *o, const struct attn_sheet *s)
{
    size_t cells = (s->masks ? s->n : 1) * s->rows * s->cols, from = 0;
    bool hidden = false;
    attn_out_char(o, '[');
    for (size_t i = 0; i <= cells; i++) {
        if (i < cells && (s->mask[i] != 0) == hidden)
            continue;
        attn_out_printf(o, from || hidden ? ",%zu" : "%zu", i - from);
        from = i;
        hidden = !hidden;
    }
    attn_out_char(o, ']');
}

static void put_masks(struct attn_out *o, const struct pages *p)
{
    size_t n = 0;
    put_key(o, "masks");
    attn_out_char(o, '[');
    for (size_t i = 0; i < p->n; i++)
        if (mask_of(p, p->pack[i].sheet) == n) {
            attn_out_str(o, n++ ? "," : "");
            put_mask(o, p->pack[i].sheet);
        }
    attn_out_char(o, ']');
}

static void put_sheet(struct attn_out *o, const struct pages *pages, const struct attn_pack *p)
{
    const struct attn_album *a = pages->album;
    const struct attn_sheet *s = p->sheet;
    attn_out_str(o, "{\"kind\":");
    put_name(o, s->kind);
    put_key(o, "short");
    put_name(o, shorter(s->kind));
    put_part(o, s);
    put_key(o, "title");
    put_name(o, s->title);
    put_key(o, "layer");
    attn_out_printf(o, s->layer < 0 ? "null" : "%d", s->layer);
    put_key(o, "name");
    put_name(o, s->name);
    put_heads(o, s);
    put_size(o, "rows", s->rows);
    put_size(o, "cols", s->cols);
    put_bool(o, "keys", s->keys);
    put_bool(o, "ofKeys", s->of_keys);
    put_bool(o, "tokens", attn_album_rows_are_tokens(a, s));
    put_axis(o, "rowAxis", s->axes, "rows: ");
    put_axis(o, "colAxis", s->axes, "columns: ");
    put_key(o, "beyond");
    attn_out_str(o, !p->triangle ? "null" : p->beyond == 0 ? "\"0\"" : "\"-inf\"");
    put_key(o, "mask");
    attn_out_printf(o, s->mask ? "%zu" : "null", mask_of(pages, s));
    put_bool(o, "masks", s->masks);
    put_key(o, "type");
    put_name(o, p->narrow ? "u16" : "f32");
    if (p->narrow) {
        put_key(o, "low");
        attn_out_f32(o, p->low);
        put_key(o, "step");
        attn_out_f32(o, p->step);
    }
    put_extents(o, p);
    attn_out_char(o, '}');
}

static bool left_out(const struct attn_sheet *s)
{
    return !s->keys && s->cols > MANY_COLUMNS;
}

static void put_left_out(struct attn_out *o, const struct attn_album *a)
{
    bool any = false;
    put_key(o, "leftOut");
    attn_out_char(o, '[');
    for (size_t i = 0; i < a->n; i++)
        if (left_out(&a->sheet[i])) {
            attn_out_str(o, any ? "," : "");
            put_name(o, shorter(a->sheet[i].kind));
            any = true;
        }
    attn_out_char(o, ']');
}

/* Writes everything but the numbers. */
static void put_page(struct attn_out *o, const struct pages *p)
{
    const struct attn_album *a = p->album;
    attn_out_printf(o, "{\"version\":\"%s\"", attn_version());
    put_key(o, "model");
    put_name(o, a->model);
    put_key(o, "text");
    put_string(o, a->text, a->text_len);
    put_size(o, "heads", a->H);
    put_size(o, "kvHeads", a->Hkv);
    put_tokens(o, "queries", a->queries);
    put_tokens(o, "keys", a->keys == a->queries ? NULL : a->keys);
    put_key(o, "keysText");
    put_string(o, a->keys_text, a->keys_len);
    put_next(o, a);
    put_edits(o, a->edits);
    put_without(o, a);
    put_lens(o, a);
    attn_page_ranking_write(o, a);
    put_explains(o);
    if (a->live)
        attn_out_str(o, ",\"editExample\":\"L1H2[pos=-1] *= 0.5\"");
    put_look(o, p->look);
    put_left_out(o, a);
    put_palettes(o);
    put_head_colours(o);
    put_key(o, "sheets");
    attn_out_char(o, '[');
    for (size_t i = 0; i < p->n; i++) {
        attn_out_str(o, i ? "," : "");
        put_sheet(o, p, &p->pack[i]);
    }
    attn_out_char(o, ']');
    put_masks(o, p);
}

/* ---- escaping for an HTML element ------------------------------------------------------ */

/* Line separators end a line of JavaScript, and '<' may begin an end tag.  Such characters occur only in strings. */
static bool is_plain(uint32_t c)
{
    return c != '<' && c != 0x2028 && c != 0x2029 && attn_utf8_in_markup(c);
}

static void put_escape(struct attn_out *o, uint32_t c)
{
    if (c < 0x10000)
        attn_out_printf(o, "\\u%04x", (unsigned)c);
    else
        attn_out_printf(o, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)), (unsigned)(0xDC00 + (c & 0x3FF)));
}

void attn_page_escaped(struct attn_out *o, const char *text, size_t len)
{
    size_t start = 0, step;
    for (size_t i = 0; i < len; i += step) {
        uint32_t c = attn_utf8_next(text + i, len - i, &step);
        if (is_plain(c))
            continue;
        attn_out_write(o, text + start, i - start);
        put_escape(o, c);
        start = i + step;
    }
    attn_out_write(o, text + start, len - start);
}

static int write_page(struct attn_out *o, const struct pages *p, struct attn_err *err)
{
    struct attn_out *memory;
    char *text = NULL;
    size_t len;
    int rc = attn_out_open_memory(&memory, err);
    if (rc)
        return rc;
    put_page(memory, p);
    rc = attn_out_take(memory, &text, &len, err);
    if (!rc)
        attn_page_escaped(o, text, len);
    free(text);
    attn_out_close(memory);
    return rc;
}

/* ---- numbers --------------------------------------------------------------------------- */

static int plan(struct pages *p, struct attn_err *err)
{
    size_t numbers = 0;
    p->pack = calloc(p->album->n + 1, sizeof *p->pack);
    if (!p->pack)
        return attn_no_memory(err, NULL, "for a page of %zu activations", p->album->n);
    for (size_t i = 0; i < p->album->n; i++)
        if (!left_out(&p->album->sheet[i]))
            attn_pack_plan(&p->pack[p->n++], &p->album->sheet[i]);
    for (size_t i = 0; i < p->n; i++)
        numbers += p->pack[i].count;
    for (size_t i = 0; i < p->n && numbers * sizeof(float) > EXACT_BYTES; i++)
        attn_pack_narrow(&p->pack[i], numbers > FINE_NUMBERS ? ATTN_PACK_COARSE : ATTN_PACK_FINE);
    return ATTN_OK;
}

static int write_sheet(struct attn_out *o, const struct attn_pack *p, struct attn_err *err)
{
    size_t size = attn_pack_size(p);
    unsigned char *bytes = NULL;
    int rc = ATTN_OK;
    if (p->narrow) {
        rc = attn_pack_deflate(&bytes, &size, p, err);
    } else {
        bytes = malloc(size + 1);
        rc = bytes ? ATTN_OK : attn_no_memory(err, NULL, "to write %s: %zu bytes", p->sheet->title, size);
        if (!rc)
            attn_pack_fill(bytes, p);
    }
    if (!rc)
        attn_out_base64(o, bytes, size);
    free(bytes);
    return rc;
}

static int write_numbers(struct attn_out *o, const struct pages *p, struct attn_err *err)
{
    int rc = ATTN_OK;
    attn_out_str(o, ",\"data\":[");
    for (size_t i = 0; i < p->n && !rc; i++) {
        attn_out_str(o, i ? ",\"" : "\"");
        rc = write_sheet(o, &p->pack[i], err);
        attn_out_char(o, '"');
    }
    attn_out_str(o, "]}");
    return rc;
}

int attn_page_data_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look,
                         struct attn_err *err)
{
    struct pages p = {.album = a, .look = look};
    int rc = plan(&p, err);
    if (!rc)
        rc = write_page(o, &p, err);
    if (!rc)
        rc = write_numbers(o, &p, err);
    free(p.pack);
    return rc;
}

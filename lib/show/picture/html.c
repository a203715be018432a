/* html.c - an album as a single page without external files.
 *
 * The page (picture/page/) is the same for every album, but for parts that few albums need: a template, styles and
 * scripts, with the numbers as JSON (page_data.h) in a block that is not a script.  Its content security policy
 * admits only what has the digest of our own style and scripts, and lets nothing be fetched; in a page that computes
 * also WebAssembly, whose bytes a script compares with a digest in a script.  All text from outside is escaped, too. */
#include "picture/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ask/scores.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/out.h"
#include "base/sha256.h"
#include "picture/page_engine.h"
#include "picture/page_data.h"
#include "picture/page_texts.h"

ATTN_EMBED(attn_page_html, "lib/show/picture/page/page.html");
ATTN_EMBED(attn_page_css, "lib/show/picture/page/page.css");
ATTN_EMBED(attn_page_without_css, "lib/show/picture/page/without.css");
ATTN_EMBED(attn_page_lens_css, "lib/show/picture/page/lens.css");
ATTN_EMBED(attn_page_live_css, "lib/show/picture/page/live.css");
ATTN_EMBED(attn_page_texts_js, "lib/show/picture/page/texts.js");
ATTN_EMBED(attn_page_inflate_js, "lib/show/picture/page/inflate.js");
ATTN_EMBED(attn_page_data_js, "lib/show/picture/page/data.js");
ATTN_EMBED(attn_page_words_js, "lib/show/picture/page/words.js");
ATTN_EMBED(attn_page_colour_js, "lib/show/picture/page/colour.js");
ATTN_EMBED(attn_page_heat_js, "lib/show/picture/page/heat.js");
ATTN_EMBED(attn_page_lines_js, "lib/show/picture/page/lines.js");
ATTN_EMBED(attn_page_overview_js, "lib/show/picture/page/overview.js");
ATTN_EMBED(attn_page_choice_js, "lib/show/picture/page/choice.js");
ATTN_EMBED(attn_page_later_js, "lib/show/picture/page/later.js");
ATTN_EMBED(attn_page_views_js, "lib/show/picture/page/views.js");
ATTN_EMBED(attn_page_ranking_js, "lib/show/picture/page/ranking.js");
ATTN_EMBED(attn_page_heads_js, "lib/show/picture/page/heads.js");
ATTN_EMBED(attn_page_derivation_js, "lib/show/picture/page/derivation.js");
ATTN_EMBED(attn_page_copy_js, "lib/show/picture/page/copy.js");
ATTN_EMBED(attn_page_without_js, "lib/show/picture/page/without.js");
ATTN_EMBED(attn_page_lens_js, "lib/show/picture/page/lens.js");
ATTN_EMBED(attn_page_engine_js, "lib/show/picture/page/engine.js");
ATTN_EMBED(attn_page_answer_js, "lib/show/picture/page/answer.js");
ATTN_EMBED(attn_page_bits_js, "lib/show/picture/page/bits.js");
ATTN_EMBED(attn_page_live_js, "lib/show/picture/page/live.js");
ATTN_EMBED(attn_page_liveviews_js, "lib/show/picture/page/liveviews.js");
ATTN_EMBED(attn_page_liveheads_js, "lib/show/picture/page/liveheads.js");
ATTN_EMBED(attn_page_liveasks_js, "lib/show/picture/page/liveasks.js");
ATTN_EMBED(attn_page_page_js, "lib/show/picture/page/page.js");

static bool without(const struct attn_album *a) { return a->n_without > 0; }
static bool live(const struct attn_album *a) { return a->live != NULL; }
static bool lens(const struct attn_album *a) { return a->n_lens > 0 || *a->no_lens || a->live; }

struct part { const unsigned char *start, *end; bool (*needed)(const struct attn_album *); };       /* NULL: always */
#define PART(symbol, needed) { symbol, symbol##_end, needed }

static const struct part styles[] = {
    PART(attn_page_css, NULL), PART(attn_page_without_css, without), PART(attn_page_lens_css, lens),
    PART(attn_page_live_css, live),
};
static const struct part scripts[] = {  /* in this order: each uses those before it */
    PART(attn_page_texts_js, NULL), PART(attn_page_inflate_js, NULL), PART(attn_page_data_js, NULL),
    PART(attn_page_words_js, NULL), PART(attn_page_colour_js, NULL), PART(attn_page_heat_js, NULL),
    PART(attn_page_lines_js, NULL), PART(attn_page_overview_js, NULL), PART(attn_page_choice_js, NULL),
    PART(attn_page_later_js, NULL), PART(attn_page_views_js, NULL), PART(attn_page_ranking_js, NULL),
    PART(attn_page_heads_js, NULL), PART(attn_page_derivation_js, NULL), PART(attn_page_copy_js, NULL),
    PART(attn_page_without_js, without),
    PART(attn_page_lens_js, lens),
    PART(attn_page_engine_js, live), PART(attn_page_answer_js, live), PART(attn_page_bits_js, live),
    PART(attn_page_page_js, NULL),
    PART(attn_page_live_js, live), PART(attn_page_liveviews_js, live), PART(attn_page_liveheads_js, live),
    PART(attn_page_liveasks_js, live),
};
enum { STYLES = sizeof styles / sizeof styles[0], SCRIPTS = sizeof scripts / sizeof scripts[0] };

enum { DIGEST_TEXT = 128 };
struct page {
    struct attn_out *out;
    const struct attn_album *album;
    const struct attn_look *look;
    char digest[DIGEST_TEXT];           /* of a page that computes: the script that knows the digest of its engine */
};

static int write_version(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    attn_out_str(p->out, attn_version());
    return ATTN_OK;
}

static int write_title(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    const struct attn_album *a = p->album;
    const char *title = a->n ? attn_sheet_title(&a->sheet[0], p->look->language) : "";
    if (a->n && !attn_album_rows_are_tokens(a, &a->sheet[0]))
        attn_out_markup(p->out, title, strlen(title));
    else
        attn_out_str(p->out, attn_tr(p->look->language, "Attention"));
    if (a->text) {
        attn_out_str(p->out, attn_tr(p->look->language, ": "));
        attn_out_markup(p->out, a->text, a->text_len);
    }
    return ATTN_OK;
}

static bool needs(const struct page *p, const struct part *part)
{
    return !part->needed || part->needed(p->album);
}

static void write_parts(const struct page *p, const struct part *part, size_t n, const char *open, const char *close)
{
    for (size_t i = 0; i < n; i++)
        if (needs(p, &part[i])) {
            attn_out_str(p->out, open);
            attn_out_write(p->out, part[i].start, (size_t)(part[i].end - part[i].start));
            attn_out_str(p->out, close);
        }
}

static int write_style(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    write_parts(p, styles, STYLES, "<style>", "</style>\n");
    return ATTN_OK;
}

static int write_scripts(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    if (live(p->album))
        attn_out_printf(p->out, "<script>%s</script>\n", p->digest);
    write_parts(p, scripts, SCRIPTS, "<script>", "</script>\n");
    return ATTN_OK;
}

static void write_digests(const struct page *p, const struct part *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (needs(p, &part[i]))
            attn_policy_digest(p->out, &(struct attn_page_file){part[i].start, part[i].end});
}

static int write_policy(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    attn_out_str(p->out, ATTN_POLICY "style-src");
    write_digests(p, styles, STYLES);
    attn_out_str(p->out, "; script-src");
    write_digests(p, scripts, SCRIPTS);
    if (live(p->album)) {
        const unsigned char *digest = (const unsigned char *)p->digest;
        attn_policy_digest(p->out, &(struct attn_page_file){digest, digest + strlen(p->digest)});
        attn_out_str(p->out, ATTN_POLICY_ENGINE);
    }
    return ATTN_OK;
}

static int write_data(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    return attn_page_data_write(p->out, p->album, p->look, err);
}

/* What the page says of its numbers, besides what its scripts say. */
static void add_texts_of_data(struct attn_page_texts *t, const struct attn_album *a)
{
    bool patterns = false;
    for (const struct attn_sheet *s = a->sheet; s < a->sheet + a->n; s++) {
        patterns |= !strcmp(s->kind, "attn.pattern");
        if (!s->said)
            attn_page_texts_add(t, s->title);
        else if (s->said != s->title)
            attn_page_texts_put(t, s->title, s->said);
    }
    for (const struct attn_head_score *c = NULL; patterns && (c = attn_head_score_next(c));)
        if (c->flags & ATTN_SCORE_SHARE) {
            attn_page_texts_add(t, c->name);
            attn_page_texts_add(t, c->brief);
            attn_page_texts_add(t, c->help);
        }
}

static int write_texts(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    struct attn_page_texts texts;
    if (!p->look->language)
        return ATTN_OK;
    int rc = attn_page_texts_begin(&texts, p->look->language, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < SCRIPTS; i++)
        if (needs(p, &scripts[i]))
            attn_page_texts_of(&texts, &(struct attn_page_file){scripts[i].start, scripts[i].end});
    add_texts_of_data(&texts, p->album);
    return attn_page_texts_end(&texts, o, err);
}

static void write_block(struct attn_out *o, const char *id, const unsigned char *bytes, size_t n)
{
    attn_out_printf(o, "<script type=\"application/octet-stream\" id=\"%s\">", id);
    attn_out_base64(o, bytes, n);
    attn_out_str(o, "</script>\n");
}

static int write_live(void *self, struct attn_out *o, struct attn_err *err)
{
    const struct page *p = self;
    (void)o;
    (void)err;
    const struct attn_album_live *live = p->album->live;
    if (!live)
        return ATTN_OK;
    size_t n;
    const unsigned char *engine = attn_engine_module(&n);
    write_block(p->out, "packed", live->packed, live->n);
    write_block(p->out, "engine", engine, n);
    return ATTN_OK;
}

/* SHA-256 of the engine as it is when it is unpacked; of nothing, if there is none. */
static int digest_engine(char hex[65], struct attn_err *err)
{
    enum { PIECE = 1 << 16 };
    size_t n;
    unsigned char *piece = malloc(PIECE);
    z_stream z = {.next_in = (z_const Bytef *)attn_engine_module(&n)};
    struct attn_sha256 sum;
    z.avail_in = (uInt)n;
    int rc = piece ? inflateInit(&z) : Z_MEM_ERROR;
    attn_sha256_start(&sum);
    while (rc == Z_OK && n) {
        z.next_out = piece;
        z.avail_out = PIECE;
        rc = inflate(&z, Z_NO_FLUSH);
        attn_sha256_add(&sum, piece, PIECE - z.avail_out);
    }
    inflateEnd(&z);
    free(piece);
    attn_sha256_end(&sum, hex);
    return rc == Z_STREAM_END || (rc == Z_OK && !n) ? ATTN_OK : attn_no_memory(err, NULL, "for the engine of a page");
}

/* The engine's own bytes are checked against this, which the policy's digest of the script vouches for. */
static int say_digest(struct page *p, struct attn_err *err)
{
    char hex[65];
    int rc = digest_engine(hex, err);
    snprintf(p->digest, sizeof p->digest, "\"use strict\"; const ENGINE_DIGEST = \"%s\";", rc ? "" : hex);
    return rc;
}

int attn_html_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    static const struct attn_page_slot slots[] = {
        {"policy", write_policy}, {"version", write_version}, {"title", write_title}, {"style", write_style},
        {"data", write_data}, {"texts", write_texts}, {"live", write_live}, {"scripts", write_scripts}, {NULL, NULL}};
    const struct attn_page_file template = {attn_page_html, attn_page_html_end};
    struct page page = {.out = o, .album = a, .look = look};
    int rc = live(a) ? say_digest(&page, err) : ATTN_OK;
    return rc ? rc : attn_template_write(o, &template, slots, &page, look->language, err);
}

/* html.c - an album as a single page without external files.
 *
 * The page (picture/page/) is the same for every album: a template, a style and scripts, with the numbers as JSON
 * (page_data.h) in a block that is not a script.  Its content security policy admits only what has the digest of our
 * own style and scripts, and lets nothing be fetched.  In addition all text from outside is escaped. */
#include "picture/look.h"

#include <assert.h>
#include <string.h>

#include "base/embed.h"
#include "base/out.h"
#include "base/sha256.h"
#include "picture/page_data.h"

ATTN_EMBED(attn_page_html, "lib/picture/page/page.html");
ATTN_EMBED(attn_page_css, "lib/picture/page/page.css");
ATTN_EMBED(attn_page_data_js, "lib/picture/page/data.js");
ATTN_EMBED(attn_page_words_js, "lib/picture/page/words.js");
ATTN_EMBED(attn_page_colour_js, "lib/picture/page/colour.js");
ATTN_EMBED(attn_page_heat_js, "lib/picture/page/heat.js");
ATTN_EMBED(attn_page_lines_js, "lib/picture/page/lines.js");
ATTN_EMBED(attn_page_overview_js, "lib/picture/page/overview.js");
ATTN_EMBED(attn_page_choice_js, "lib/picture/page/choice.js");
ATTN_EMBED(attn_page_views_js, "lib/picture/page/views.js");
ATTN_EMBED(attn_page_page_js, "lib/picture/page/page.js");

struct part { const unsigned char *start, *end; };
#define PART(symbol) { symbol, symbol##_end }

static const struct part style = PART(attn_page_css);
static const struct part scripts[] = {  /* in this order: each uses those before it */
    PART(attn_page_data_js), PART(attn_page_words_js), PART(attn_page_colour_js), PART(attn_page_heat_js),
    PART(attn_page_lines_js), PART(attn_page_overview_js), PART(attn_page_choice_js), PART(attn_page_views_js),
    PART(attn_page_page_js),
};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0] };

struct page {
    struct attn_out *out;
    const struct attn_album *album;
    const struct attn_look *look;
};

static int write_version(const struct page *p, struct attn_err *err)
{
    (void)err;
    attn_out_str(p->out, ATTN_VERSION);
    return ATTN_OK;
}

static int write_title(const struct page *p, struct attn_err *err)
{
    (void)err;
    const struct attn_album *a = p->album;
    attn_out_str(p->out, "Attention");
    if (a->text) {
        attn_out_str(p->out, ": ");
        attn_out_markup(p->out, a->text, a->text_len);
    }
    return ATTN_OK;
}

static void write_part(struct attn_out *o, const struct part *p)
{
    attn_out_write(o, p->start, (size_t)(p->end - p->start));
}

static int write_style(const struct page *p, struct attn_err *err)
{
    (void)err;
    write_part(p->out, &style);
    return ATTN_OK;
}

static int write_scripts(const struct page *p, struct attn_err *err)
{
    (void)err;
    for (size_t i = 0; i < SCRIPTS; i++) {
        attn_out_str(p->out, "<script>");
        write_part(p->out, &scripts[i]);
        attn_out_str(p->out, "</script>\n");
    }
    return ATTN_OK;
}

static unsigned digit(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

static void write_digest(struct attn_out *o, const struct part *p)
{
    struct attn_sha256 sha;
    char hex[65];
    unsigned char bytes[32];
    attn_sha256_start(&sha);
    attn_sha256_add(&sha, p->start, (size_t)(p->end - p->start));
    attn_sha256_end(&sha, hex);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    attn_out_str(o, " 'sha256-");
    attn_out_base64(o, bytes, sizeof bytes);
    attn_out_char(o, '\'');
}

static int write_policy(const struct page *p, struct attn_err *err)
{
    (void)err;
    attn_out_str(p->out, "default-src 'none'; base-uri 'none'; form-action 'none'; style-src");
    write_digest(p->out, &style);
    attn_out_str(p->out, "; script-src");
    for (size_t i = 0; i < SCRIPTS; i++)
        write_digest(p->out, &scripts[i]);
    return ATTN_OK;
}

static int write_data(const struct page *p, struct attn_err *err)
{
    return attn_page_data_write(p->out, p->album, p->look, err);
}

/* Writes what replaces {{name}} in the template. */
static const struct slot { const char *name; int (*write)(const struct page *, struct attn_err *); } slots[] = {
    {"policy", write_policy}, {"version", write_version}, {"title", write_title}, {"style", write_style},
    {"data", write_data}, {"scripts", write_scripts},
};

static const struct slot *slot_at(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (strlen(slots[i].name) == len && !memcmp(slots[i].name, name, len))
            return &slots[i];
    assert(!"a name the template has and the table has not");
    return NULL;
}

int attn_html_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct page page = {.out = o, .album = a, .look = look};
    const char *at = (const char *)attn_page_html, *end = (const char *)attn_page_html_end, *open;
    int rc = ATTN_OK;
    while (!rc && (open = memmem(at, (size_t)(end - at), "{{", 2))) {
        const char *close = memmem(open, (size_t)(end - open), "}}", 2);
        attn_out_write(o, at, (size_t)(open - at));
        rc = slot_at(open + 2, (size_t)(close - open - 2))->write(&page, err);
        at = close + 2;
    }
    if (!rc)
        attn_out_write(o, at, (size_t)(end - at));
    return rc;
}

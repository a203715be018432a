/* fuzz_written.c - any text goes in: as a sentence, a token, a name, a cell; what is written must be well-formed.
 *
 * The input is cut into four texts.  Each format is read back by a parser that is not ours (parsers.h), and where a
 * text is valid, it must come back as it went in. */
#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "parsers.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "base/json.h"
#include "explain/derivation.h"
#include "picture/look.h"
#include "sinks/sink_csv.h"
#include "sinks/sink_json.h"

enum { TEXTS = 4, LONGEST = 300 };      /* bytes of a text: labels of thousands of pixels show nothing new */
struct texts { char *s[TEXTS]; size_t len[TEXTS]; };

static struct attn_out *begin(void)
{
    struct attn_out *o = NULL;
    must(attn_out_open_memory(&o, NULL) == ATTN_OK);
    return o;
}

static char *end(struct attn_out *o, size_t *len)
{
    char *text = NULL;
    must(attn_out_take(o, &text, len, NULL) == ATTN_OK);
    attn_out_close(o);
    return text;
}

/* ---- pictures and pages ---------------------------------------------------------------- */

static char *picture(int (*write)(struct attn_out *o, const struct attn_album *a, const struct attn_look *look,
                                  struct attn_err *err),
                     const struct texts *t, size_t *len)
{
    static const float numbers[] = {1, 0, .25f, .75f};
    struct attn_token tok[2] =
        {{.known = true, .text = t->s[0], .raw = t->s[1], .text_len = t->len[0], .raw_len = t->len[1], .end = 1},
                                {.known = true, .text = t->s[2], .raw = t->s[2], .text_len = t->len[2],
                                 .raw_len = t->len[2], .end = 1}};
    struct attn_tokens tokens = {2, tok};
    /* Names of models and of arrays in a dump are made readable where they are read. */
    char *name = attn_utf8_readable(t->s[1], t->len[1]), *title = attn_utf8_readable(t->s[3], t->len[3]);
    struct attn_sheet s = {.kind = title, .title = title, .axes = "", .n = 1, .rows = 2, .cols = 2, .keys = true,
                           .name = name, .data = numbers};
    struct attn_album_next next = {.of = {{t->s[3], t->len[3], 7, 0.5}}, .n = 1}, at[] = {next, {.n = 0}};
    struct attn_album_without without = {0, 1, 0.5, next};
    struct attn_album_lens lens = {0, at};
    struct attn_album a = {.model = name, .text = t->s[2], .text_len = t->len[2], .queries = &tokens, .keys = &tokens,
                           .sheet = &s, .n = 1,
                           .next = next, .without = &without, .n_without = 1, .lens = &lens, .n_lens = 1};
    struct attn_look look;
    struct attn_out *o = begin();
    must(name && title && attn_album_link(&a, NULL) == ATTN_OK);
    must(attn_look_make(&look, &(struct attn_picture_opts){0}, NULL) == ATTN_OK &&
         write(o, &a, &look, NULL) == ATTN_OK);
    free(name);
    free(title);
    return end(o, len);
}

static char *derived(const struct texts *t, const char *format, size_t *len)
{
    struct attn_derivation d = {0};
    struct attn_derivation_style style = {0};
    struct attn_out *o = begin();
    attn_derive_title(&d, "%s", t->s[0]);
    attn_derive_step(&d, "%s", t->s[1]);
    attn_derive_words(&d, "%s", t->s[2]);
    attn_derive_table(&d, 2);
    for (size_t i = 0; i < TEXTS; i++)
        attn_derive_cell(&d, "%s", t->s[i]);
    must(attn_derivation_write(o, &d, format, &style, NULL) == ATTN_OK);
    attn_derivation_free(&d);
    return end(o, len);
}

struct page { char *text; size_t len; };

static void check_page(char *page, size_t len, const struct page *harmless)
{
    char fault[PARSERS_FAULT];
    must(html_fault(fault, page, len, harmless->text, harmless->len) == NULL);
    free(page);
}

static void check_pictures(const struct texts *t)
{
    static char a[] = "a";
    static const struct texts harmless = {{a, a, a, a}, {1, 1, 1, 1}};
    static struct page album, derivation;   /* of these texts, made once */
    char fault[PARSERS_FAULT];
    size_t len;
    if (!album.text) {
        album.text = picture(attn_html_write, &harmless, &album.len);
        derivation.text = derived(&harmless, "html", &derivation.len);
    }
    char *svg = picture(attn_svg_write, t, &len);
    must(xml_fault(fault, svg, len) == NULL);
    free(svg);
    char *page = picture(attn_html_write, t, &len);
    check_page(page, len, &album);
    page = derived(t, "html", &len);
    check_page(page, len, &derivation);
}

/* ---- documents and tables -------------------------------------------------------------- */

/* The text as a reader gets it: what is not UTF-8 is U+FFFD, for CSV also NUL. */
static char *expected(const char *s, size_t len, bool csv, size_t *n)
{
    char *out = malloc(3 * len + 1);
    size_t step;
    *n = 0;
    must(out != NULL);
    for (size_t i = 0; i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        *n += attn_utf8_put(out + *n, csv && !c ? 0xFFFD : c);
    }
    out[*n] = '\0';
    return out;
}

static void check_string(const struct texts *t, size_t i)
{
    struct attn_out *o = begin();
    char fault[PARSERS_FAULT];
    size_t len, n;
    attn_out_json(o, t->s[i], t->len[i]);
    char *json = end(o, &len), *want = expected(t->s[i], t->len[i], false, &n), *got = malloc(len + 1);
    struct attn_json j;
    attn_json_start(&j, json, len, NULL);
    must(got && attn_json_next(&j) == ATTN_JSON_STRING && attn_json_string(&j, got) == n && !memcmp(got, want, n));
    must(json_fault(fault, json, len) == NULL);
    free(json);
    free(want);
    free(got);
}

static void check_document(const struct texts *t)
{
    struct attn_token tok = {.known = true, .text = t->s[0], .raw = t->s[1], .text_len = t->len[0],
                             .raw_len = t->len[1], .end = 1};
    struct attn_tokens tokens = {1, &tok};
    struct attn_info info = {.name = t->s[1], .family = "gpt2"};
    struct attn_record of = {.id = t->s[3], .id_len = t->len[3]};
    struct attn_sink_record record = {&of, "key"};
    struct attn_sink_job job = {.model = &info, .digest = t->s[0], .tokens = &tokens, .cross = &tokens, .text = t->s[2],
                                .text_len = t->len[2],
                                .cross_text = t->s[3], .cross_len = t->len[3], .record = &record};
    struct attn_doc d = {.out = begin(), .job = &job, .eol = ""};
    char fault[PARSERS_FAULT];
    size_t len;
    attn_doc_begin(&d);
    attn_doc_end(&d);
    char *json = end(d.out, &len);
    must(json_fault(fault, json, len) == NULL);
    free(json);
    d.out = begin();
    attn_doc_failed(d.out, &job, t->s[2]);
    json = end(d.out, &len);
    must(json_fault(fault, json, len) == NULL && !memchr(json, '\n', len - 1));
    free(json);
}

/* Reads one field as RFC 4180 has it, into out; returns where it ends. */
static const char *field(const char *s, const char *last, char *out, size_t *n)
{
    bool quoted = s < last && *s == '"';
    *n = 0;
    for (s += quoted; s < last; s++) {
        if (quoted && *s == '"' && (++s == last || *s != '"'))
            return s;
        if (!quoted && (*s == ',' || *s == '\n'))
            return s;
        must(quoted || (*s != '"' && *s != '\r'));
        out[(*n)++] = *s;
    }
    must(!quoted);
    return s;
}

static void check_table(const struct texts *t)
{
    struct attn_out *o = begin();
    size_t len, n, wanted;
    for (size_t i = 0; i < TEXTS; i++) {
        attn_cell_text(o, t->s[i], t->len[i], false);
        attn_out_char(o, i + 1 < TEXTS ? ',' : '\n');
    }
    char *csv = end(o, &len), *got = malloc(len);
    const char *at = csv;
    must(got != NULL);
    for (size_t i = 0; i < TEXTS; i++) {
        char *want = expected(t->s[i], t->len[i], true, &wanted);
        at = field(at, csv + len, got, &n);
        must(n == wanted && !memcmp(got, want, n) && *at == (i + 1 < TEXTS ? ',' : '\n'));
        at++;
        free(want);
    }
    must(at == csv + len);
    free(got);
    free(csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct texts t;
    for (size_t i = 0; i < TEXTS; i++) {
        const uint8_t *cut = i + 1 < TEXTS ? memchr(data, 0x1E, size) : NULL;
        size_t n = cut ? (size_t)(cut - data) : size;
        t.len[i] = n < LONGEST ? n : LONGEST;
        t.s[i] = malloc(t.len[i] + 1);
        must(t.s[i] != NULL);
        memcpy(t.s[i], data, t.len[i]);
        t.s[i][t.len[i]] = '\0';
        data += n + (cut != NULL);
        size -= n + (cut != NULL);
    }
    check_pictures(&t);
    check_document(&t);
    check_table(&t);
    for (size_t i = 0; i < TEXTS; i++)
        check_string(&t, i);
    for (size_t i = 0; i < TEXTS; i++)
        free(t.s[i]);
    return 0;
}

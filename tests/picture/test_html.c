/* test_html.c - the page of an album: its numbers, and text that tries to be markup.  What it does in a browser is
 * tested in tests/browser. */
#include "suites.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include "base/out.h"
#include "base/sha256.h"
#include "base/tree.h"
#include "picture/look.h"
#include "picture/page_data.h"
#include "picture/page_pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Returns an output in memory to write to. */
static struct attn_out *written(void)
{
    struct attn_out *o = NULL;
    ck_assert_int_eq(attn_out_open_memory(&o, NULL), 0);
    return o;
}

static char *taken(struct attn_out *o)
{
    char *text = NULL;
    size_t len;
    ck_assert_int_eq(attn_out_take(o, &text, &len, NULL), 0);
    attn_out_close(o);
    return text;
}

/* The test vectors of RFC 4648, and two with the digits + and /. */
static const char *const base64[][2] = {
    {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd", "//79"}, {"\xfb\xef", "++8="},
};

START_TEST(base64_vectors)
{
    struct attn_out *o = written();
    attn_out_base64(o, base64[_i][0], strlen(base64[_i][0]));
    char *text = taken(o);
    ck_assert_str_eq(text, base64[_i][1]);
    free(text);
}
END_TEST

START_TEST(base64_beyond_one_block)
{
    static unsigned char zeros[5000];
    struct attn_out *o = written();
    attn_out_base64(o, zeros, sizeof zeros);
    char *text = taken(o);
    ck_assert_uint_eq(strlen(text), 6668);
    ck_assert_uint_eq(strspn(text, "A"), 6667);
    ck_assert_str_eq(text + 6667, "=");
    free(text);
}
END_TEST

/* ---- numbers --------------------------------------------------------------------------- */

static struct attn_sheet sheet_of(const float *data, size_t n, size_t rows, size_t cols)
{
    return (struct attn_sheet){.kind = "attn.pattern", .title = "attention pattern", .n = n, .rows = rows, .cols = cols,
                               .keys = true, .data = data};
}

static const unsigned char later[] = {0, 1, 1, 0, 0, 1, 0, 0, 0}, later_of_two[] = {0, 1, 0, 0};

START_TEST(a_causal_sheet_is_its_triangle)
{
    static const float data[] = {1, 0, 0, .5f, .5f, 0, .2f, .3f, .5f,   1, 0, 0, .9f, .1f, 0, 0, 0, 1};
    static const float stored[] = {1, .5f, .5f, .2f, .3f, .5f,   1, .9f, .1f, 0, 0, 1};
    struct attn_sheet s = sheet_of(data, 2, 3, 3);
    struct attn_pack p;
    float out[12];
    attn_pack_plan(&p, &s);
    ck_assert(!p.triangle);             /* zeros alone say nothing of a mask */
    s.mask = later;
    attn_pack_plan(&p, &s);
    ck_assert(p.triangle && p.beyond == 0);
    ck_assert_uint_eq(attn_pack_size(&p), sizeof stored);
    attn_pack_fill(out, &p);
    ck_assert_mem_eq(out, stored, sizeof stored);
}
END_TEST

/* What stands where the mask hides a key is none of what it leaves there. */
static const float whole[][4] = {{1, .1f, .5f, .5f}, {1, NAN, 0, 1}, {1, INFINITY, 0, 1}};

START_TEST(anything_else_is_whole)
{
    struct attn_sheet s = sheet_of(whole[_i], 1, 2, 2);
    struct attn_pack p;
    s.mask = later_of_two;
    attn_pack_plan(&p, &s);
    ck_assert(!p.triangle);
    ck_assert_uint_eq(p.count, 4);
}
END_TEST

START_TEST(scores_hide_minus_infinity)
{
    static const float data[] = {.5f, -INFINITY, -2, 3};
    struct attn_sheet s = sheet_of(data, 1, 2, 2);
    struct attn_pack p;
    s.mask = later_of_two;
    attn_pack_plan(&p, &s);
    ck_assert(p.triangle && p.beyond == -INFINITY);
    ck_assert_uint_eq(p.count, 3);
}
END_TEST

static const unsigned bits_of[] = {ATTN_PACK_FINE, ATTN_PACK_COARSE};

START_TEST(codes_keep_their_word)
{
    enum { N = 5000 };
    static float data[N];
    static uint16_t codes[N];
    for (size_t i = 0; i < N; i++)
        data[i] = sinf((float)i) * 37 + 5;
    data[7] = NAN, data[8] = INFINITY, data[9] = -INFINITY;
    struct attn_sheet s = sheet_of(data, 1, 1, N);
    struct attn_pack p;
    attn_pack_plan(&p, &s);
    attn_pack_narrow(&p, bits_of[_i]);
    ck_assert_uint_eq(attn_pack_size(&p), sizeof codes);
    attn_pack_fill(codes, &p);
    ck_assert_uint_eq(codes[7], ATTN_PACK_NAN);
    ck_assert_uint_eq(codes[8], ATTN_PACK_INF);
    ck_assert_uint_eq(codes[9], ATTN_PACK_MINUS_INF);
    for (size_t i = 10; i < N; i++) {
        ck_assert_uint_lt(codes[i], _i ? 1 << ATTN_PACK_COARSE : ATTN_PACK_MINUS_INF);
        double error = fabs((double)p.low + (double)p.step * codes[i] - data[i]);
        /* 1e-9: the error itself is computed in double */
        ck_assert_msg(error <= 0.5 * (double)p.step * (1 + 1e-9),
                      "number %zu is off by %g of step %g", i, error, p.step);
    }
}
END_TEST

START_TEST(codes_are_deflated_by_planes)
{
    enum { N = 30000 };
    static float data[N];
    static uint16_t codes[N];
    static unsigned char planes[2 * N + 1];
    for (size_t i = 0; i < N; i++)
        data[i] = i % 97 ? 1e-3f * (float)(i % 61) : (float)(i % 11);
    struct attn_sheet s = sheet_of(data, 1, 1, N);
    struct attn_pack p;
    struct attn_err err = {0};
    unsigned char *packed;
    size_t n;
    attn_pack_plan(&p, &s);
    attn_pack_narrow(&p, ATTN_PACK_FINE);
    attn_pack_fill(codes, &p);
    ck_assert_msg(!attn_pack_deflate(&packed, &n, &p, &err), "%s", err.msg);
    ck_assert_uint_lt(n, N * 3 / 2);
    z_stream z = {.next_in = packed, .avail_in = (uInt)n, .next_out = planes, .avail_out = sizeof planes};
    ck_assert_int_eq(inflateInit2(&z, -MAX_WBITS), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.total_out, 2 * N);
    inflateEnd(&z);
    free(packed);
    for (size_t i = 0; i < N; i++)
        ck_assert_uint_eq(codes[i], planes[i] << 8 | planes[N + i]);
}
END_TEST

START_TEST(extents_leave_out_what_is_not_stored)
{
    static const float data[] = {-3, 9, 9, 2, -1, 9, NAN, INFINITY, .5f,   7, 9, 9, 7, 7, 9, 7, 7, 7};
    struct attn_sheet s = sheet_of(data, 2, 3, 3);
    struct attn_pack p = {.sheet = &s, .triangle = true};
    struct attn_pack_extent e = attn_pack_extent(&p, 0, 0), f = attn_pack_extent(&p, 0, 1),
        g = attn_pack_extent(&p, 1, 1);
    ck_assert(e.least == -3 && e.most == 2 && f.least == -1 && f.most == .5f && g.least == 7 && g.most == 7);
    p.triangle = false;
    ck_assert(attn_pack_extent(&p, 0, 0).most == 9);
    ck_assert(attn_pack_extent(&p, 0, 3).most == 0);
}
END_TEST

START_TEST(sixteen_bits_of_one_value)
{
    static const float data[] = {3, 3, 3, 3};
    struct attn_sheet s = sheet_of(data, 1, 2, 2);
    struct attn_pack p;
    uint16_t codes[4];
    attn_pack_plan(&p, &s);
    attn_pack_narrow(&p, ATTN_PACK_FINE);
    attn_pack_fill(codes, &p);
    ck_assert(p.low == 3 && p.step == 0 && codes[0] == 0 && codes[3] == 0);
}
END_TEST

/* ---- pages ----------------------------------------------------------------------------- */

#define HOSTILE "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\xE2\x80\xA8\xE2\x80\xA9\xFF&\"'"

static char *page_of(const struct attn_album *a)
{
    struct attn_look look;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){0}, &err), 0);
    struct attn_out *o = written();
    ck_assert_msg(!attn_html_write(o, a, &look, &err), "%s", err.msg);
    return taken(o);
}

static const float small[] = {1, 0, .25f, .75f};

static char *small_page(const char *text, const struct attn_tokens *tokens)
{
    struct attn_sheet s = sheet_of(small, 1, 2, 2);
    s.mask = later_of_two;
    struct attn_album a = {.model = text, .text = text, .text_len = text ? strlen(text) : 0, .queries = tokens,
                           .keys = tokens, .sheet = &s, .n = 1};
    if (text) {
        a.next = (struct attn_album_next){.of = {{text, strlen(text), 1, 0.5}}, .n = 1};
        s.kind = s.title = text;
    }
    return page_of(&a);
}

static char *hostile_page(void)
{
    struct attn_token t = {.known = true, .text = HOSTILE, .raw = HOSTILE, .text_len = strlen(HOSTILE),
                           .raw_len = strlen(HOSTILE), .end = 9};
    return small_page(HOSTILE, &(struct attn_tokens){.n = 2, .tok = (struct attn_token[]){t, t}});
}

/* The JSON of a page, up to the end of its element. */
static const char *data_of(const char *page, size_t *len)
{
    static const char tag[] = "<script type=\"application/json\" id=\"data\">";
    const char *at = strstr(page, tag);
    ck_assert_ptr_nonnull(at);
    at += sizeof tag - 1;
    *len = (size_t)(strstr(at, "</script>") - at);
    return at;
}

static size_t times(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(hostile_text_stays_text)
{
    struct attn_err err = {0};
    char *page = hostile_page(), *plain = small_page(NULL, NULL);
    size_t len;
    const char *json = data_of(page, &len);
    ck_assert_msg(!attn_json_check(json, len, "the page", 1 << 20, &err), "%s", err.msg);
    ck_assert_ptr_null(memchr(json, '<', len));
    ck_assert(!memmem(json, len, "\u2028", 3) && !memmem(json, len, "\u2029", 3));
    ck_assert_ptr_null(strstr(page, "<img"));
    ck_assert_uint_eq(times(page, "<script"), times(plain, "<script"));
    ck_assert_ptr_nonnull(strstr(page, "<title>Attention: &lt;/script&gt;"));
    ck_assert_ptr_nonnull(strstr(json, "\"text\":\"\\u003c/script>"));
    ck_assert_ptr_nonnull(strstr(json, "\"label\":\"\\u003c/script>"));           /* of a text that is no UTF-8 */
    free(page);
    free(plain);
}
END_TEST

/* A page that has all there can be: what comes next without a head, the lens, edits; all of its text is `text`. */
static char *full_page(const char *text)
{
    struct attn_sheet s = sheet_of(small, 1, 2, 2);
    struct attn_token t = {.known = true, .text = text, .raw = text, .text_len = strlen(text),
                           .raw_len = strlen(text), .end = 9};
    const struct attn_tokens tokens = {.n = 2, .tok = (struct attn_token[]){t, t}};
    const struct attn_album_next next = {.of = {{text, strlen(text), 1, 0.5}, {NULL, 0, 2, 0.25}}, .n = 2},
        none = {.n = 0};
    struct attn_album_without without[] = {{0, 0, 0.125, next}, {0, 1, NAN, none}};
    struct attn_album_next at[] = {next, none};
    struct attn_edits *edits = NULL;
    ck_assert_int_eq(attn_edits_parse(&edits, "L0H0 *= 2", NULL), 0);
    char *page = page_of(&(struct attn_album){
        .model = text, .text = text, .text_len = strlen(text), .queries = &tokens, .keys = &tokens, .sheet = &s, .n = 1,
        .next = next, .edits = edits, .without = without, .n_without = 2, .lens = &(struct attn_album_lens){3, at},
        .n_lens = 1});
    attn_edits_free(edits);
    return page;
}

START_TEST(what_was_asked_for_besides)
{
    char *page = full_page("a");
    size_t len;
    const char *json = data_of(page, &len);
    ck_assert_int_eq(attn_json_check(json, len, "the page", 1 << 20, NULL), 0);
    ck_assert_ptr_nonnull(strstr(json, "\"edits\":[\"L0H0 *= 2\"]"));
    ck_assert_ptr_nonnull(
        strstr(json, "\"without\":[{\"layer\":0,\"head\":0,\"kl\":0.125,\"next\":[{\"id\":1,\"text\":\"a\",\"p\":0.5},"
                                       "{\"id\":2,\"text\":null,\"p\":0.25}]},{\"layer\":0,\"head\":1,\"kl\":null,"
                                       "\"next\":[]}]"));
    ck_assert_ptr_nonnull(strstr(json, "\"lens\":[{\"layer\":3,\"at\":[[{\"id\":1,\"text\":\"a\",\"p\":0.5},"
                                       "{\"id\":2,\"text\":null,\"p\":0.25}],[]]}]"));
    free(page);
}
END_TEST

/* The scripts and styles of what few pages have are in no other page, and neither is a word of their data. */
START_TEST(what_was_not_asked_for_takes_no_bytes)
{
    static const char *const words[] = {"without-line", "page.without", "page.lens", "\"tablist\"", "\"lens\":",
                                        "\"without\":",
                                        "\"edits\":"};
    char *page = small_page(NULL, NULL), *full = full_page("a");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ck_assert_msg(!strstr(page, words[i]), "%s is there", words[i]);
        ck_assert_msg(strstr(full, words[i]) != NULL, "%s is nowhere", words[i]);
    }
    ck_assert_uint_eq(times(full, "<script>"), times(page, "<script>") + 2);
    ck_assert_uint_eq(times(full, "<style>"), times(page, "<style>") + 2);
    free(page);
    free(full);
}
END_TEST

START_TEST(hostile_text_stays_text_everywhere)
{
    char *page = full_page(HOSTILE "\x1b[31m]]>{{data}}\x01"), *plain = full_page("a");
    size_t len;
    const char *json = data_of(page, &len);
    ck_assert_int_eq(attn_json_check(json, len, "the page", 1 << 20, NULL), 0);
    ck_assert_ptr_null(memchr(json, '<', len));
    ck_assert(!memmem(json, len, "\u2028", 3) && !memmem(json, len, "\u2029", 3));
    ck_assert_ptr_null(memchr(json, '\x1b', len));
    ck_assert_ptr_null(memchr(json, '\x01', len));
    ck_assert_ptr_null(strstr(page, "<img"));
    ck_assert_uint_eq(times(page, "<script"), times(plain, "<script"));
    free(page);
    free(plain);
}
END_TEST

START_TEST(without_tokens_or_text)
{
    char *page = small_page(NULL, NULL);
    size_t len;
    const char *json = data_of(page, &len);
    ck_assert_int_eq(attn_json_check(json, len, "the page", 1 << 20, NULL), 0);
    ck_assert_ptr_nonnull(strstr(json, "\"text\":null"));
    ck_assert_ptr_nonnull(strstr(json, "\"queries\":null,\"keys\":null"));
    ck_assert_ptr_nonnull(strstr(json, "\"beyond\":\"0\",\"mask\":0,\"masks\":false,\"type\":\"f32\"}],\"masks\":[[1,1,"
                                 "2]],\"data\":[\"AACAPwAAgD4AAEA/\"]}</script>"));
    ck_assert_ptr_null(strstr(page, "{{"));
    free(page);
}
END_TEST

/* What stands along rows and columns, as the page says it: [axes, in the page's data, the word of its title]. */
static const char *const axes[][3] = {
    {" (rows: queries, columns: keys)", "\"tokens\":true,\"rowAxis\":\"queries\",\"colAxis\":\"keys\"",
     "<title>Attention: a"},
    {" (rows: layers, columns: heads)", "\"tokens\":false,\"rowAxis\":\"layers\",\"colAxis\":\"heads\"",
     "<title>attention pattern: a"},
    {" (columns: token ids)", "\"tokens\":true,\"rowAxis\":null,\"colAxis\":\"token ids\"", "<title>Attention: a"},
    {"", "\"tokens\":true,\"rowAxis\":null,\"colAxis\":null", "<title>Attention: a"},
};

START_TEST(axes_have_their_words)
{
    struct attn_token t = {.id = 1};
    const struct attn_tokens tokens = {.n = 2, .tok = (struct attn_token[]){t, t}};
    struct attn_sheet s = sheet_of(small, 1, 2, 2);
    s.axes = axes[_i][0];
    char *page = page_of(&(struct attn_album){.text = "a", .text_len = 1, .queries = &tokens, .keys = &tokens,
                                              .sheet = &s, .n = 1});
    ck_assert_ptr_nonnull(strstr(page, axes[_i][1]));
    ck_assert_ptr_nonnull(strstr(page, axes[_i][2]));
    free(page);
}
END_TEST

/* Each palette has as many colours as a picture has steps. */
START_TEST(palettes_are_whole)
{
    static const char key[] = "{\"colours\":\"";
    char *page = small_page(NULL, NULL);
    size_t n = 0;
    for (const char *s = page; (s = strstr(s, key)); n++) {
        s += sizeof key - 1;
        ck_assert_uint_eq(strspn(s, "0123456789abcdef"), 6 * ATTN_STEPS);
        ck_assert_int_eq(s[6 * ATTN_STEPS], '"');
    }
    ck_assert_uint_eq(n, 7);
    free(page);
}
END_TEST

START_TEST(a_page_without_data_is_small)
{
    char *page = small_page(NULL, NULL);
    ck_assert_uint_lt(strlen(page), 300000);
    free(page);
}
END_TEST

/* The digest of the text between two tags, in the form that the policy has. */
static char *digest_of(const char *start, const char *end)
{
    struct attn_sha256 sha;
    char hex[65];
    unsigned char bytes[32];
    attn_sha256_start(&sha);
    attn_sha256_add(&sha, start, (size_t)(end - start));
    attn_sha256_end(&sha, hex);
    for (size_t i = 0; i < sizeof bytes; i++)
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
    struct attn_out *o = written();
    attn_out_str(o, "'sha256-");
    attn_out_base64(o, bytes, sizeof bytes);
    attn_out_str(o, "'");
    return taken(o);
}

/* A browser takes a script or a style only if the policy has its digest: those of all of ours must be there,
 * and no others. */
START_TEST(the_policy_knows_each_script)
{
    static const char *const tags[][2] = {{"<script>", "</script>"}, {"<style>", "</style>"}};
    static unsigned char packed[] = "x";
    const struct attn_album_live computes = {packed, sizeof packed};
    char *page = _i == 2 ? page_of(&(struct attn_album){.live = &computes}) :
        _i ? full_page("a") : small_page(NULL, NULL);
    const char *policy_end = strstr(page, "\">\n<meta name=\"viewport\"");
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        for (const char *at = page; (at = strstr(at, tags[i][0])); n++) {
            at += strlen(tags[i][0]);
            char *digest = digest_of(at, strstr(at, tags[i][1]));
            const char *found = strstr(page, digest);
            ck_assert_msg(found && found < policy_end, "the policy lacks number %zu", n);
            free(digest);
        }
    ck_assert_uint_ge(n, 6);
    ck_assert_uint_eq(times(page, "'sha256-"), n);
    ck_assert_uint_eq(times(page, "unsafe"), _i == 2);                  /* 'wasm-unsafe-eval' */
    ck_assert_uint_eq(times(page, "worker-src blob:"), _i == 2);
    free(page);
}
END_TEST

START_TEST(more_than_a_megabyte_is_narrow)
{
    enum { T = 520 };
    float *data = calloc(T * T, sizeof *data);
    ck_assert_ptr_nonnull(data);
    data[1] = 1;                        /* above the diagonal, so that it is no triangle: 1.08 MB of numbers */
    struct attn_sheet s = sheet_of(data, 1, T, T);
    char *page = page_of(&(struct attn_album){.sheet = &s, .n = 1});
    ck_assert_ptr_nonnull(strstr(page, "\"type\":\"u16\",\"low\":0,\"step\":1.5259"));
    ck_assert_uint_lt(strlen(page), 300000 + T * T * 2 * 4 / 3 + 4);
    free(page);
    free(data);
}
END_TEST

START_TEST(what_is_too_wide_is_left_out)
{
    enum { V = 5000 };
    static float logits[V];
    struct attn_sheet s[] = {sheet_of(small, 1, 2, 2),
                             {.kind = "logits", .title = "logits", .layer = -1, .n = 1, .rows = 1,
                                                        .cols = V, .data = logits}};
    char *page = page_of(&(struct attn_album){.sheet = s, .n = 2});
    ck_assert_ptr_nonnull(strstr(page, "\"leftOut\":[\"logits\"]"));
    ck_assert_uint_eq(times(page, "\"title\":"), 1);
    free(page);
}
END_TEST

Suite *suite_html(void)
{
    Suite *s = suite_create("html");
    TCase *t = tcase_create("html");
    tcase_add_loop_test(t, base64_vectors, 0, (int)(sizeof base64 / sizeof base64[0]));
    tcase_add_test(t, base64_beyond_one_block);
    tcase_add_test(t, a_causal_sheet_is_its_triangle);
    tcase_add_loop_test(t, anything_else_is_whole, 0, (int)(sizeof whole / sizeof whole[0]));
    tcase_add_test(t, scores_hide_minus_infinity);
    tcase_add_loop_test(t, codes_keep_their_word, 0, (int)(sizeof bits_of / sizeof *bits_of));
    tcase_add_test(t, codes_are_deflated_by_planes);
    tcase_add_test(t, extents_leave_out_what_is_not_stored);
    tcase_add_test(t, sixteen_bits_of_one_value);
    tcase_add_test(t, hostile_text_stays_text);
    tcase_add_test(t, what_was_asked_for_besides);
    tcase_add_test(t, what_was_not_asked_for_takes_no_bytes);
    tcase_add_test(t, hostile_text_stays_text_everywhere);
    tcase_add_test(t, without_tokens_or_text);
    tcase_add_loop_test(t, axes_have_their_words, 0, (int)(sizeof axes / sizeof axes[0]));
    tcase_add_test(t, palettes_are_whole);
    tcase_add_test(t, a_page_without_data_is_small);
    tcase_add_loop_test(t, the_policy_knows_each_script, 0, 3);
    tcase_add_test(t, more_than_a_megabyte_is_narrow);
    tcase_add_test(t, what_is_too_wide_is_left_out);
    suite_add_tcase(s, t);
    return s;
}

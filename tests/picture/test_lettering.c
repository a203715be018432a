/* Fonts that are read, the letters that texts become, and their pixels. */
#include "suites.h"

#include "corpus.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "picture/lettering.h"
#include "picture/png.h"
#include "picture/subset.h"

#define FONTS "tests/corpus/truetype/"

/* ---- fonts that somebody gave ---- */

static const struct corpus_fault faults[] = {
    {"n_nothing.ttf", "not a TrueType font: it begins with 00000000"},
    {"n_text.ttf", "not a TrueType font: it begins with 54686973"},
    {"n_cff.ttf", "its outlines are CFF"},
    {"n_no_fonts.ttc", "a collection of 0 fonts"},
    {"n_collection_cut.ttc", "not a TrueType font"},
    {"n_no_glyf.ttf", "no table 'glyf'"},
    {"n_no_cmap.ttf", "no table 'cmap'"},
    {"n_no_head.ttf", "no table 'head'"},
    {"n_cut.ttf", "no table '"},
    {"n_header_cut.ttf", "no table 'head'"},
    {"n_symbols.ttf", "no table of characters in Unicode"},
    {"n_format.ttf", "no table of characters in Unicode"},
    {"n_not_embedded.ttf", "does not allow it to be embedded"},
    {"n_units.ttf", "0 units in an em, expected 16 to 16384"},
    {"n_no_widths.ttf", "0 widths for 9 glyphs"},
    {"n_more_widths.ttf", "65535 widths for 9 glyphs"},
    {"n_more_glyphs.ttf", "too few for 65535 glyphs"},
    {"n_widths_cut.ttf", "9 widths for 9 glyphs in 4 bytes"},
    {"n_glyph_beyond.ttf", "glyph 2 lies from byte"},
    {"n_glyph_backwards.ttf", "glyph 2 lies from byte"},
    {"n_glyph_cut.ttf", "glyph 2 is cut off"},
    {"n_ends_cut.ttf", "glyph 2 is cut off"},
    {"n_curves_many.ttf", "glyph 2 is cut off"},
    {"n_instructions_beyond.ttf", "glyph 2 is cut off"},
    {"n_component_cut.ttf", "glyph 2 is cut off"},
    {"n_component_itself.ttf", "glyph 2 is made of glyphs that are made of others, too deep"},
    {"n_deep.ttf", "is made of glyphs that are made of others, too deep"},
    {"n_wide.ttf", "is made of too many others"},
    {"n_joins_nothing.ttf", "joins points that are not there"},
    {"n_repeat_cut.ttf", "glyph 2 is cut off"},
    {NULL, NULL},
};

/* Reads all glyphs. */
static int read_font(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_truetype t;
    struct attn_outline o = {.n = 0};
    int rc = attn_truetype_open(&t, name, bytes, len, 0, err);
    for (unsigned glyph = 0; !rc && glyph < t.glyphs; glyph++) {
        o.n = 0;
        rc = attn_truetype_outline(&t, glyph, &o, err);
    }
    free(o.p);
    return rc;
}

START_TEST(fonts_are_read_or_refused)
{
    corpus_check("tests/corpus/truetype", faults, read_font);
}
END_TEST

struct font { struct attn_truetype t; char *data; struct attn_outline o; };

static struct font font_of(const char *file, size_t index)
{
    struct font f = {.data = NULL};
    struct attn_err err = {0};
    size_t len;
    f.data = corpus_slurp(file, &len);
    ck_assert_msg(attn_truetype_open(&f.t, file, f.data, len, index, &err) == ATTN_OK, "%s", err.msg);
    return f;
}

static void font_close(struct font *f)
{
    free(f->data);
    free(f->o.p);
}

static const struct attn_outline *outline_of(struct font *f, uint32_t c)
{
    struct attn_err err = {0};
    f->o.n = 0;
    ck_assert_msg(attn_truetype_outline(&f->t, attn_truetype_glyph(&f->t, c), &f->o, &err) == ATTN_OK, "%s", err.msg);
    return &f->o;
}

/* The letters of the corpus by make_fonts.py: where each begins and ends, and its points. */
static const struct { char c; size_t points; double left, bottom, right, top; } letters[] = {
    {' ', 0, 0, 0, 0, 0}, {'A', 4, 0, 0, 500, 500}, {'B', 3, 0, 0, 500, 500}, {'C', 7, 0, 100, 600, 1000},
    {'D', 7, 0, 0, 500, 1000}, {'E', 4, 0, 0, 250, 250}, {'F', 11, 0, 0, 600, 1000}, {'O', 8, 0, 0, 1000, 1000},
};

START_TEST(glyphs_are_where_their_font_says)
{
    static const char *const files[] = {"y_plain.ttf", "y_short_loca.ttf", "y_all_planes.ttf", "y_unicode.ttf"};
    struct font f = font_of(printed(FONTS "%s", files[_i]), 0);
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        const struct attn_outline *o = outline_of(&f, (unsigned char)letters[i].c);
        double left = 1e9, right = -1e9, bottom = 1e9, top = -1e9;
        ck_assert_uint_eq(o->n, letters[i].points);
        for (size_t k = 0; k < o->n; k++) {
            left = fmin(left, o->p[k].x);
            right = fmax(right, o->p[k].x);
            bottom = fmin(bottom, o->p[k].y);
            top = fmax(top, o->p[k].y);
        }
        ck_assert_msg(!o->n || (left == letters[i].left && right == letters[i].right && bottom == letters[i].bottom &&
                                top == letters[i].top),
                                "%c: %g to %g, %g to %g", letters[i].c, left, right, bottom, top);
    }
    ck_assert_uint_eq(attn_truetype_glyph(&f.t, 'G'), 0);
    ck_assert_uint_eq(attn_truetype_glyph(&f.t, 0x1F600), _i == 2 ? 2 : 0);
    ck_assert_uint_eq(attn_truetype_advance(&f.t, 3), 630);
    ck_assert_str_eq(f.t.name, "Plain-Test");
    font_close(&f);
}
END_TEST

/* ---- pixels ---- */

static void add_cover(void *ctx, long x, long y, double cover)
{
    (void)x;
    (void)y;
    ck_assert(cover > 0 && cover <= 1);
    *(double *)ctx += cover;
}

static double area_of(struct font *f, uint32_t c, const struct attn_placing *to)
{
    struct attn_raster r = {.room = 0};
    struct attn_err err = {0};
    double area = 0;
    ck_assert_int_eq(attn_raster_fill(&r, outline_of(f, c), to, 1000, add_cover, &area, &err), ATTN_OK);
    attn_raster_free(&r);
    return area;
}

/* What all pixels are covered is the area of the letter, wherever it lies and however it is turned. */
START_TEST(pixels_add_up_to_the_area)
{
    static const struct attn_placing at[] = {
        {0.02, 0, 0, -0.02, 5, 30}, {0.02, 0, 0, -0.02, 5.37, 30.71}, {0.013, 0.004, 0.004, -0.013, 11, 25.5},
        {0, -0.02, -0.02, 0, 30.25, 30}};
    struct font f = font_of(FONTS "y_plain.ttf", 0);
    double unit = fabs(at[_i].xx * at[_i].yy - at[_i].xy * at[_i].yx);         /* pixels of a square unit */
    /* Rounding of a few hundred sums. */
    ck_assert_double_eq_tol(area_of(&f, 'A', &at[_i]), unit * 500 * 500, 1e-9);
    ck_assert_double_eq_tol(area_of(&f, 'G', &at[_i]), unit * (700 * 700 - 500 * 500), 1e-9);
    /* A bend encloses two thirds of its triangle; straight pieces, a little less. */
    ck_assert_double_eq_tol(area_of(&f, 'B', &at[_i]), unit * 500 * 500 / 3, unit * 500 * 500 / 3 * 0.03);
    /* Bends alone make a square of 1000 units whose corners are cut: of each triangle of 250 a third is outside. */
    double ring = unit * (1000 * 1000 - 4 * (250 * 250 / 2.0 / 3));
    ck_assert_double_eq_tol(area_of(&f, 'O', &at[_i]), ring, ring * 0.003);
    font_close(&f);
}
END_TEST

static void mark(void *ctx, long x, long y, double cover)
{
    ck_assert(x >= 2 && x < 12 && y >= 3 && y < 13 && cover == 1);
    ++*(int *)ctx;
}

/* A square on whole pixels covers these and no other. */
START_TEST(edges_on_pixels_are_sharp)
{
    struct font f = font_of(FONTS "y_plain.ttf", 0);
    struct attn_raster r = {.room = 0};
    struct attn_err err = {0};
    struct attn_placing to = {0.02, 0, 0, -0.02, 2, 13};
    int pixels = 0;
    ck_assert_int_eq(attn_raster_fill(&r, outline_of(&f, 'A'), &to, 100, mark, &pixels, &err), ATTN_OK);
    ck_assert_int_eq(pixels, 100);
    attn_raster_free(&r);
    font_close(&f);
}
END_TEST

/* ---- parts of fonts ---- */

START_TEST(a_part_draws_the_same)
{
    struct font f = font_of(FONTS "y_plain.ttf", 0), part = {.data = NULL};
    struct attn_subset_glyph of[] = {{0, 600, 0}, {attn_truetype_glyph(&f.t, 'B'), 630, 'B'},
                                     {attn_truetype_glyph(&f.t, 'F'), 999, 'F'}};
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    size_t len = 0;
    ck_assert_int_eq(attn_out_open_memory(&o, &err), ATTN_OK);
    ck_assert_int_eq(attn_subset_write(o, &f.t, of, 3, true, &err), ATTN_OK);
    ck_assert_int_eq(attn_out_take(o, &part.data, &len, &err), ATTN_OK);
    ck_assert_msg(attn_truetype_open(&part.t, "part", part.data, len, 0, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(part.t.glyphs, 6);                /* with C, E and A, of which F is made */
    ck_assert_uint_eq(attn_truetype_glyph(&part.t, 'F'), 2);
    ck_assert_uint_eq(attn_truetype_glyph(&part.t, 'A'), 0);
    ck_assert_uint_eq(attn_truetype_advance(&part.t, 2), 999);
    for (const char *c = "BF"; *c; c++) {
        outline_of(&f, (unsigned char)*c);
        outline_of(&part, (unsigned char)*c);
        ck_assert_uint_eq(part.o.n, f.o.n);
        for (size_t i = 0; i < f.o.n; i++)
            ck_assert(part.o.p[i].x == f.o.p[i].x && part.o.p[i].y == f.o.p[i].y && part.o.p[i].on == f.o.p[i].on);
    }
    attn_out_close(o);
    font_close(&f);
    font_close(&part);
}
END_TEST

/* ---- texts ---- */

static size_t boxes(struct attn_faces *f, const char *s)
{
    size_t n = 0;
    ck_assert_msg(attn_faces_lay(f, s, strlen(s)), "%s: %s", s, f->failed.msg);
    for (size_t i = 0; i < f->n; i++)
        n += f->letter[i].face < 0;
    return n;
}

/* Every character of GB 2312 and kana is built in, and has something to draw. */
START_TEST(chinese_is_built_in)
{
    struct attn_faces f = {.columns = _i};
    size_t len, step, han = 0;
    char *list = corpus_slurp("data/fonts/chinese.txt", &len);
    for (size_t i = 0; i < len; i += step) {
        char one[5] = "";
        uint32_t c = attn_utf8_next(list + i, len - i, &step);
        memcpy(one, list + i, step);
        if (c < 0x4E00)
            continue;
        han++;
        ck_assert_msg(boxes(&f, one) == 0 && f.n == 1 && f.letter[0].face == ATTN_FACE_CHINESE, "%s", one);
        ck_assert(attn_faces_outline(&f, &f.letter[0]) && f.outline.n > 3);
    }
    ck_assert_uint_eq(han, 6763);       /* as many as GB 2312 has */
    ck_assert_uint_eq(boxes(&f, "ひらがなカタカナー、。「」"), 0);
    free(list);
    attn_faces_free(&f);
}
END_TEST

START_TEST(letters_and_signs_are_built_in)
{
    struct attn_faces f = {.columns = _i};
    ck_assert_uint_eq(boxes(&f, "The quick brown fox 0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), 0);
    ck_assert_uint_eq(boxes(&f, "ÄÖÜäöüß éèêë ñ ł ş ğ Ω αβγδεζηθικλμνξοπρστυφχψω Σ Ж я Ђ ѣ Việt Nguyễn"), 0);
    ck_assert_uint_eq(boxes(&f, "α∑½≠ √∞≈≤≥ → ← ⇒ ∂∇∫∏ · … — „“ ▁Ġ ─│█ ℝ ⊕ ⊗ ∈ ∀ ∃ €"), 0);
    attn_faces_free(&f);
}
END_TEST

/* An accent that follows its letter is joined with it, or stands centred above. */
START_TEST(accents_are_joined)
{
    struct attn_faces f = {.columns = _i};
    ck_assert_uint_eq(boxes(&f, "e\u0301"), 0);
    ck_assert_uint_eq(f.n, 1);
    unsigned joined = f.letter[0].glyph;
    ck_assert_uint_eq(boxes(&f, "\u00E9"), 0);
    ck_assert_uint_eq(f.letter[0].glyph, joined);
    ck_assert_uint_eq(boxes(&f, "xq\u0301"), 0);                 /* no such letter */
    ck_assert_uint_eq(f.n, 3);
    double width = f.width, x = f.letter[2].x;
    ck_assert(x > f.letter[1].x - 1 && x < f.letter[1].x + 1 && f.letter[2].advance == 0);
    ck_assert_uint_eq(boxes(&f, "xq"), 0);
    ck_assert(f.width == width);
    attn_faces_free(&f);
}
END_TEST

START_TEST(columns_stay_columns)
{
    static const struct { const char *s; double columns; } texts[] = {
        {"abc", 3}, {"", 0}, {"é", 1}, {"e\u0301", 1}, {"Ġthe", 4}, {"日本", 4}, {"a日b", 4}, {"ก", 1}, {"🙂", 2},
        {"i W", 3}, {"한", 2}};
    struct attn_faces f = {.columns = true};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        boxes(&f, texts[i].s);
        /* rounding of a few sums */
        ck_assert_msg(fabs(f.width - texts[i].columns * ATTN_COLUMN) < 1e-12,
                      "%s: %g", texts[i].s, f.width / ATTN_COLUMN);
    }
    attn_faces_free(&f);
}
END_TEST

/* What no face has, needs shaping or is an emoji is a frame, and counted once. */
START_TEST(what_cannot_be_drawn_is_framed_and_counted)
{
    struct attn_lacks lacks = {.n = 0};
    struct attn_faces f = {.lacks = &lacks};
    char text[256];
    ck_assert_uint_eq(boxes(&f, "a 한 한 b"), 2);
    attn_lacks_text(text, sizeof text, &lacks, ".svg");
    ck_assert_str_eq(text, "1 character is drawn as a box: it is in none of the faces; take --font FILE, or .svg");
    ck_assert_uint_eq(boxes(&f, "سلام"), 4);
    attn_lacks_text(text, sizeof text, &lacks, ".svg");
    ck_assert_str_eq(text, "5 characters are drawn as boxes: of them 4 need shaping or colours; "
                           "take --font FILE for the others, or .svg for all");
    lacks.n = 0;
    ck_assert_uint_eq(boxes(&f, "🙂\uFE0F"), 1);                 /* the selector of a variant is no letter */
    attn_lacks_text(text, sizeof text, &lacks, ".svg");
    ck_assert_str_eq(text, "1 character is drawn as a box: it needs shaping or colours; take .svg");
    lacks.n = 0;
    attn_lacks_text(text, sizeof text, &lacks, ".svg");
    ck_assert_str_eq(text, "");
    attn_faces_free(&f);
}
END_TEST

/* A file's letters come first; the font of a collection is found by its number. */
START_TEST(a_file_comes_first)
{
    struct attn_faces f = {.path = _i ? FONTS "y_collection.ttc" : FONTS "y_plain.ttf", .index = (size_t)_i};
    boxes(&f, "AZ");
    ck_assert_int_eq(f.letter[0].face, ATTN_FACE_FILE);
    ck_assert_int_eq(f.letter[1].face, ATTN_FACE_LATIN);
    attn_faces_free(&f);
}
END_TEST

/* A damaged glyph ends the picture with a sentence, not with a letter less. */
START_TEST(a_failure_is_kept)
{
    struct attn_faces f = {.path = FONTS "n_glyph_cut.ttf"};
    struct attn_canvas c;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_canvas_new(&c, 40, 20, &err), ATTN_OK);
    ck_assert(!attn_canvas_write(&c, &f, &(struct attn_lettering){"A", 2, 15, 7, ATTN_BEGINS, false}, NULL));
    ck_assert(!attn_canvas_write(&c, &f, &(struct attn_lettering){"B", 2, 15, 7, ATTN_BEGINS, false}, NULL));
    ck_assert_int_eq(attn_faces_failed(&f, &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "glyph 2 is cut off"));
    attn_canvas_free(&c);
    attn_faces_free(&f);
}
END_TEST

/* ---- the command ---- */

#define CAT "\"$A\" run -m tiny -s 'the cat' --layer 1 --head 0 "
static const struct { const char *options, *says; int status; } asked[] = {
    {"--font " FONTS "y_plain.ttf", "", 0},
    {"--font " FONTS "y_collection.ttc --font-index 1", "", 0},
    {"--font " FONTS "y_collection.ttc --font-index 2", "font 2 is asked for, and the file has 2, counted from 0", 2},
    {"--font " FONTS "n_cff.ttf", "its outlines are CFF", 1},
    {"--font " FONTS "n_not_embedded.ttf", "does not allow it to be embedded", 1},
    {"--font /nowhere.ttf", "/nowhere.ttf", 1},
    {"--font README.md", "not a TrueType font", 1},
    {"--font-index 1", "--font-index chooses one of the fonts of a collection: give that with --font FILE", 2},
};

START_TEST(fonts_are_given_by_an_option)
{
    for (const char *const *ending = (const char *const[]){"png", "pdf", NULL}; *ending; ending++) {
        expect(printed(CAT "%s -o $D/x.%s 2>&1", asked[_i].options, *ending), asked[_i].status, asked[_i].says);
        if (asked[_i].status)
            expect_exactly("ls $D | wc -l | tr -d ' '", "0\n");
    }
}
END_TEST

/* A PDF brings along the fonts of what it writes, and its texts are found and copied as they are. */
START_TEST(texts_of_a_pdf_are_copied)
{
    succeed("\"$A\" run -q -m tiny -s 'A' --layer 1 --head 0 --title '我爱自然语言处理 α∑½≠ 한글 سلام (x)' -o $D/x.pdf");
    expect_exactly("$PYTHON -B tests/support/pdf_text.py $D/x.pdf | sed -n 1,11p | tr '\\n' '|'", "我爱自然语言处理| α∑½≠ |한|"
                   "글| |س|ل|ا|م| (x)|layer 1, head 0: attention pattern (rows: queries, columns: keys)|");
    succeed("\"$A\" run -q -m tiny -s A --layer 1 --head 0 --title 'ABC x' --font " FONTS "y_plain.ttf -o $D/y.pdf");
    expect("$PYTHON -B tests/support/pdf_text.py $D/y.pdf", 0, "ABC \nx\n");
    succeed("grep -aq '+Plain-Test/' $D/y.pdf && grep -aq '+DejaVuSans/' $D/y.pdf && "
            "grep -aq '+WenQuanYiMicroHei/' $D/x.pdf");
    succeed("\"$A\" lesson language -o $D/l.pdf");
    expect("$PYTHON -B tests/support/pdf_text.py $D/l.pdf", 0, "\n自然\n");
    if (has_program("pdffonts", "poppler-utils"))
        for (const char *const *name = (const char *const[]){"x", "y", "l", NULL}; *name; name++)
            expect_exactly(printed("pdffonts $D/%s.pdf 2>&1 | tail -n +3 | "
                                   "grep -vc 'CID TrueType *Identity-H *yes yes yes' || true", *name), "0\n");
    if (has_program("pdftotext", "poppler-utils")) {
        expect("pdftotext -layout $D/x.pdf - 2>&1", 0, "我爱自然语言处理 α∑½≠ 한 글");
        expect("pdftotext -layout $D/l.pdf - 2>&1", 0, "语言");
    }
}
END_TEST

Suite *suite_lettering(void)
{
    Suite *s = suite_create("lettering");
    TCase *t = tcase_create("fonts"), *c = tcase_create("command");
    tcase_add_test(t, fonts_are_read_or_refused);
    tcase_add_loop_test(t, glyphs_are_where_their_font_says, 0, 4);
    tcase_add_loop_test(t, pixels_add_up_to_the_area, 0, 4);
    tcase_add_test(t, edges_on_pixels_are_sharp);
    tcase_add_test(t, a_part_draws_the_same);
    tcase_add_loop_test(t, chinese_is_built_in, 0, 2);
    tcase_add_loop_test(t, letters_and_signs_are_built_in, 0, 2);
    tcase_add_loop_test(t, accents_are_joined, 0, 2);
    tcase_add_test(t, columns_stay_columns);
    tcase_add_test(t, what_cannot_be_drawn_is_framed_and_counted);
    tcase_add_loop_test(t, a_file_comes_first, 0, 2);
    tcase_add_test(t, a_failure_is_kept);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, fonts_are_given_by_an_option, 0, sizeof asked / sizeof *asked);
    tcase_add_test(c, texts_of_a_pdf_are_copied);
    suite_add_tcase(s, c);
    return s;
}

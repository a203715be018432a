/* Figures for print: PDF files, a width on paper, labels of a size, titles, numbers in the cells. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD "-m life -s 'Life is short, eat dessert first'"
#define LILY "-m tiny -s 'Lily lost her red ball'"

/* ---- PDF ---- */

struct bytes { char *s; size_t len; };

static struct bytes file_of(const char *name)
{
    struct bytes b = {NULL, 0};
    FILE *f = fopen(scratch_path(name), "rb");
    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    b.len = (size_t)ftell(f);
    rewind(f);
    b.s = malloc(b.len + 1);
    ck_assert_uint_eq(fread(b.s, 1, b.len, f), b.len);
    b.s[b.len] = '\0';
    fclose(f);
    return b;
}

/* The last place of a text in bytes that may have NULs. */
static const char *last_of(struct bytes b, const char *text)
{
    const char *found = NULL, *at = b.s;
    while ((at = memmem(at, b.len - (size_t)(at - b.s), text, strlen(text))))
        found = at++;
    ck_assert_msg(found, "no %s", text);
    return found;
}

/* Each entry of the table of objects points to its object, and each stream is as long as it says. */
static void is_whole(struct bytes b)
{
    size_t table = strtoul(last_of(b, "startxref\n") + 10, NULL, 10), n, objects;
    ck_assert(b.len > 8 && !memcmp(b.s, "%PDF-1.4\n", 9) && !strcmp(b.s + b.len - 6, "%%EOF\n"));
    ck_assert_msg(sscanf(b.s + table, "xref\n0 %zu\n0000000000 65535 f", &objects) == 1, "%.40s", b.s + table);
    const char *entry = strstr(b.s + table, "f \n") + 3;
    for (n = 1; n < objects; n++, entry += 20) {
        size_t at = strtoul(entry, NULL, 10);
        ck_assert_msg(at < b.len && !strncmp(b.s + at, printed("%zu 0 obj\n<<", n),
                                             strlen(printed("%zu 0 obj\n<<", n))), "object %zu", n);
        const char *dict = b.s + at, *stream = memmem(dict, b.len - at, "stream\n", 7),
            *end = memmem(dict, b.len - at, "endobj", 6);
        if (!stream || stream > end)
            continue;
        const char *length = memmem(dict, (size_t)(stream - dict), "/Length ", 8);
        ck_assert_ptr_nonnull(length);
        ck_assert_msg(!strncmp(stream + 7 + strtoul(length + 8, NULL, 10), "\nendstream\nendobj\n", 18),
                      "stream of object %zu", n);
    }
    ck_assert_msg(!strncmp(entry, printed("trailer<</Size %zu/Root 1 0 R", objects), 12), "%.40s", entry);
}

static const char *const drawn[] = {
    CARD, LILY, CARD " --show '*'", LILY " --width 85mm",
    LILY " --columns 3 --title '(50 %) \\ \xC3\x84 \xE2\x86\x92' --annotate --layer 1",
    "-m life -s Life", "-m $D/wide --ids $(seq -s, 0 79)", CARD " --cross 'eat is Life'",
    "-m models/stacked -s 'the cat' --palette ink",
};

START_TEST(files_are_whole)
{
    succeed("\"$A\" init -q -o $D/wide --vocab-size 80 --n-ctx 80 --n-layer 1 --n-head 1 --d-model 8");
    succeed(printed("\"$A\" run %s -o $D/x.pdf", drawn[_i]));
    struct bytes b = file_of("x.pdf");
    is_whole(b);
    ck_assert_int_eq(memmem(b.s, b.len, "/Subtype/Image", 14) != NULL, strstr(drawn[_i], "wide") != NULL);
    const char *image = memmem(b.s, b.len, " cm /I1 Do", 10);
    if (image) {                        /* as large as its 80 x 80 cells, from the origin on */
        while (*image != '\n')
            image--;
        unsigned width, height, top;
        ck_assert_int_eq(sscanf(image, " q %u 0 0 -%u 0 %u cm", &width, &height, &top), 3);
        ck_assert(width % 80 == 0 && height == width && top == height);
    }
    expect(printed("\"$A\" run %s --format pdf >$D/y.pdf && cmp $D/x.pdf $D/y.pdf && echo same", drawn[_i]), 0, "same");
    free(b.s);
}
END_TEST

#define TEXT "$PYTHON -B tests/support/pdf_text.py "

START_TEST(words_and_numbers_are_text)
{
    succeed("\"$A\" run " CARD " -o $D/x.pdf --annotate --title 'A (small) \xC3\xA4 figure'");
    static const char *const texts[] = {"\ndessert\n", "\n0.39\n", "\n1.00\n", "A (small) \xC3\xA4 figure\n",
                                        "hidden by the mask\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(TEXT "$D/x.pdf", 0, texts[i]);
    expect_exactly(TEXT "$D/x.pdf | grep -c '^0.00' || true", "0\n");            /* hidden cells have no number */
    /* What is wider than its columns is written more narrowly: 7 columns of 9 units, less than 7 letters of 14.8. */
    succeed("\"$A\" run " CARD " -o $D/x.pdf --title WWWWWWW");
    expect("grep -ao 'BT .* Tm' $D/x.pdf | head -1", 0, "BT /F1 1 Tf 9.1");
    succeed("\"$A\" run " CARD " -o $D/x.pdf");
    expect(TEXT "$D/x.pdf", 0, "life: Life is short, eat dessert first\n");
}
END_TEST

/* The colours of the cells, in the order in which they are drawn, are those of the SVG, whose squares are
 * sorted by colour. */
START_TEST(cells_have_the_colours_of_other_figures)
{
    succeed("\"$A\" run " CARD " -o $D/x.pdf && \"$A\" run " CARD " -o $D/x.svg");
    struct bytes pdf = file_of("x.pdf"), svg = file_of("x.svg");
    size_t found = 0;
    for (const char *at = strstr(svg.s, "<path fill=\"#"); at; at = strstr(at + 1, "<path fill=\"#")) {
        unsigned rgb = (unsigned)strtoul(at + 13, NULL, 16);
        const char *color = printed("%.3f %.3f %.3f rg ", (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0,
                                    (rgb & 255) / 255.0);
        ck_assert_msg(strstr(pdf.s, color), "no %s", color);
        found++;
    }
    ck_assert_uint_gt(found, 10);
    free(pdf.s);
    free(svg.s);
}
END_TEST

/* What each kind of attention hides has the colour of hidden cells; what is seen and is 0 has the colour of 0. */
static const struct { const char *kind; size_t hidden; } kinds[] = {
    {"causal", 15}, {"window:2", 25}, {"strided:2,2", 19}, {"random:2,1,7", 21}, {"block:2", 15}, {"causal-renorm", 15},
    {"full", 0},
    {"linear", 15}, {"causal --dropout 0.5", 15}, {"causal --edit 'L0.attn.pattern[key=0] = 0'", 15},
};

START_TEST(hidden_cells_are_blank)
{
    succeed(printed("\"$A\" run " CARD " --attention %s -o $D/x.svg", kinds[_i].kind));
    struct bytes b = file_of("x.svg");
    size_t n = 0;
    const char *path = strstr(b.s, "<path fill=\"#ffffff\"");
    for (const char *at = path ? strchr(path, 'M') : NULL; at && *at == 'M'; at = strchr(at, 'z') + 1) {
        size_t x, y, run;
        ck_assert_msg(sscanf(at, "M%zu %zuh%zu", &x, &y, &run) == 3, "%.40s", at);
        n += run;
    }
    ck_assert_uint_eq(n, kinds[_i].hidden);
    ck_assert_int_eq(strstr(b.s, "hidden by the mask") != NULL, n > 0);
    ck_assert_ptr_null(strstr(b.s, "of -inf"));
    free(b.s);
}
END_TEST

START_TEST(batches_hide_them_too)
{
    succeed("echo 'Life is short, eat dessert first' >$D/in; \"$A\" batch -q -m life -f $D/in --attention window:2 "
            "--format svg -o $D/o && \"$A\" run " CARD " --attention window:2 -o $D/x.svg");
    expect_same("grep -o '<path fill=\"#ffffff\".*' $D/o/*/*.svg", "grep -o '<path fill=\"#ffffff\".*' $D/x.svg");
}
END_TEST

/* ---- a picture that shows next to nothing ---- */

#define LONG "-m tiny -s \"$(head -c 300 README.md)\" --show pattern -o $D/x"
static const struct { const char *line, *says; } faint[] = {
    {"run " LONG ".png --color-scale linear",
     "% of the numbers above 0 are below a tenth of the largest and look alike: --color-scale log"},
    {"run " LONG ".svg --color-scale linear", "--color-scale log"},
    {"run " LONG ".npz && \"$A\" plot $D/x.npz --color-scale linear -o $D/x.pdf", "--color-scale log"},
    {"run " LONG ".png", NULL}, {"run " LONG ".png --color-scale log", NULL},
    {"run " LONG ".png --color-scale row", NULL}, {"run " LONG ".png -q", NULL},
    {"run " LONG ".html", NULL}, {"run " LONG ".npz", NULL}, {"run " LILY " -o $D/x.png", NULL},
    {"run " LILY " --show context,scores -o $D/x.png", NULL},
};

START_TEST(a_faint_picture_says_so)
{
    const char *said = succeed(printed("\"$A\" %s 2>&1", faint[_i].line))->text;
    ck_assert_msg(faint[_i].says ? strstr(said, faint[_i].says) && strchr(said, '\n')[1] == '\0' : !*said,
                  "%s\nsays: %s", faint[_i].line, said);
}
END_TEST

/* One key that gets nearly everything makes the others faint, which among themselves are not. */
START_TEST(a_first_key_that_gets_all_is_named)
{
    succeed("{ for i in $(seq 26); do printf '0.98'; for j in $(seq 25); do printf ',0.00%d' $((j % 9 + 1)); done; "
            "echo; done; } >$D/blocks.0.attn.pattern.csv");
    expect("\"$A\" plot $D/blocks.0.attn.pattern.csv --color-scale linear -o $D/x.png 2>&1", 0,
           "96 % of the numbers above 0");
    expect("\"$A\" plot $D/blocks.0.attn.pattern.csv --color-scale linear -o $D/x.png 2>&1 | "
           "grep -c hide-first || true", 0, "1\n");
    expect_exactly("\"$A\" plot $D/blocks.0.attn.pattern.csv --color-scale linear -o $D/x.png --hide-first 2>&1", "");
    /* vectors have no keys, of which one could be hidden */
    expect_exactly("\"$A\" run -m life -s 'Life is short' --show pattern,context --hide-first --format term | "
                   "grep -c 'first key hidden'", "1\n");
}
END_TEST

/* ---- a width on paper ---- */

static const struct { const char *width; double points; } widths[] = {
    {"85mm", 240.945}, {"8.5cm", 240.945}, {"240pt", 240}, {"3.5in", 252}, {"170", 481.890},
};

static unsigned word_at(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    return (unsigned)u[0] << 24 | (unsigned)u[1] << 16 | (unsigned)u[2] << 8 | u[3];
}

/* Points, by what a PNG says of its pixels: how many a metre has. */
static double png_width(struct bytes b)
{
    enum { HEADER = 33 };               /* of a PNG: the size of its pixels stands behind it */
    png_image image = {.version = PNG_IMAGE_VERSION, .format = 0};
    ck_assert_msg(png_image_begin_read_from_memory(&image, b.s, b.len), "%s", image.message);
    image.format = PNG_FORMAT_RGB;
    unsigned char *rgb = malloc(PNG_IMAGE_SIZE(image));
    ck_assert_msg(rgb && png_image_finish_read(&image, NULL, rgb, 0, NULL) && !image.warning_or_error,
                  "%s", image.message);
    free(rgb);
    const char *size = b.s + HEADER;
    ck_assert(!memcmp(size, "\0\0\0\x09pHYs", 8) && word_at(size + 8) == word_at(size + 12) && size[16] == 1);
    return (double)image.width / word_at(size + 8) / 0.0254 * 72;
}

START_TEST(a_figure_is_as_wide_as_asked)
{
    succeed(printed("\"$A\" run " LILY " -o $D/x.pdf --width %s && \"$A\" run " LILY
                    " -o $D/x.svg --width %s && \"$A\" run " LILY
                    " -o $D/x.png --width %s", widths[_i].width, widths[_i].width, widths[_i].width));
    struct bytes b = file_of("x.pdf");
    ck_assert_msg(strstr(b.s, printed("/MediaBox[0 0 %.3f ", widths[_i].points)), "%s", widths[_i].width);
    free(b.s);
    b = file_of("x.svg");
    ck_assert_msg(strstr(b.s, printed(" width=\"%.3fmm\"", widths[_i].points / 72 * 25.4)), "%.300s", b.s);
    free(b.s);
    b = file_of("x.png");                               /* at least 300 pixels to an inch, fewer than 400 */
    unsigned pixels = (unsigned char)b.s[18] << 8 | (unsigned char)b.s[19];
    ck_assert_msg(pixels >= widths[_i].points / 72 * 295 && pixels < widths[_i].points / 72 * 400, "%u pixels", pixels);
    ck_assert_double_eq_tol(png_width(b), widths[_i].points, 0.02);     /* a metre has whole pixels, 14,000 and fewer */
    free(b.s);
    succeed("\"$A\" run " LILY " -o $D/x.png");
    b = file_of("x.png");                               /* nobody has said how wide it is */
    ck_assert_ptr_null(memmem(b.s, b.len, "pHYs", 4));
    free(b.s);
}
END_TEST

/* Without a width, a figure grows with its letters. */
START_TEST(a_figure_is_as_large_as_its_letters)
{
    double size[2][2];
    for (int i = 0; i < 2; i++) {
        succeed(printed("\"$A\" run " LILY " -o $D/x.pdf --font-size %d", 8 << i));
        struct bytes b = file_of("x.pdf");
        ck_assert_int_eq(sscanf(strstr(b.s, "/MediaBox["), "/MediaBox[0 0 %lf %lf", &size[i][0], &size[i][1]), 2);
        free(b.s);
    }
    ck_assert_double_eq_tol(size[1][0], 2 * size[0][0], 0.01);         /* three digits are written */
    ck_assert_double_eq_tol(size[1][1], 2 * size[0][1], 0.01);
}
END_TEST

/* Labels keep the size that was asked for, whatever the width. */
START_TEST(letters_have_the_size_that_was_asked_for)
{
    static const char *const sizes[] = {"5", "7", "9"};
    for (size_t i = 0; i < 3; i++) {
        succeed(printed("\"$A\" run " CARD " -o $D/x.pdf --width 85mm --font-size %s", sizes[i]));
        struct bytes b = file_of("x.pdf");
        double unit = strtod(strstr(b.s, "stream\n") + 7, NULL);
        double size = strtod(succeed(TEXT "-v $D/x.pdf | tail -1")->text, NULL);
        ck_assert_msg(unit * size > 0.98 * atof(sizes[i]) && unit * size < 1.02 * atof(sizes[i]),
                      "%g points, not %s", unit * size, sizes[i]);
        free(b.s);
    }
}
END_TEST

/* Panels that would have no room for labels beside each other stand below each other. */
START_TEST(panels_are_arranged)
{
    expect("\"$A\" run " LILY " --layer 1 --head 2 -o $D/x.svg --width 85mm --font-size 10 --color-scale row "
           "--hide-first && grep -o '>each row divided.*</text>\\|>magnitude' $D/x.svg",
           0, ">each row divided by its largest</text>\n>magnitude\n");
    succeed("\"$A\" run " LILY " --layer 0 -o $D/x.svg --width 85mm --columns 1 && \"$A\" run " LILY
            " --layer 0 -o $D/y.svg --width 85mm");
    expect_exactly("grep -o 'translate([0-9]*' $D/x.svg | sort -u | wc -l", "1\n");
    expect_exactly("grep -o 'translate([0-9]*' $D/y.svg | sort -u | wc -l", "4\n");
    succeed("\"$A\" run " LILY " -o $D/z.svg --columns 8");
    expect_exactly("grep -o 'translate([0-9]*' $D/z.svg | sort -u | wc -l", "8\n");
}
END_TEST

/* Query heads 0 and 1 read the keys of kv head 0. */
START_TEST(heads_that_are_shared_say_so)
{
#define SHARED "\"$A\" run -m models/stacked -s 'The cat sees the moth' --layer 0 --show "
    expect(SHARED "k -o $D/x.svg && cat $D/x.svg", 0, "KV1<");
    expect_exactly(SHARED "q -o $D/x.svg; ends 1 grep -q KV $D/x.svg", "");
    expect_exactly("\"$A\" run -m tests/golden/checkpoints/gpt2-a --ids 1,2 --show k -o $D/x.svg; "
                   "ends 1 grep -q KV $D/x.svg", "");
}
END_TEST

/* Labels that have no room stand at every 2nd, 5th, 10th, 20th... cell. */
START_TEST(labels_keep_apart)
{
    succeed("\"$A\" run -m tiny -s \"$(printf 'dog %.0s' $(seq 200))\" --layer 0 --head 0 -o $D/x.svg");
    succeed("\"$A\" run -m tiny -s \"$(printf 'dog %.0s' $(seq 200))\" -o $D/y.svg");
    static const char count[] =
        "grep -o 'text-anchor=\"end\">[0-9]* ' $D/%s.svg | grep -o '[0-9]*' | head -4 | tr '\\n' ' '";
    expect_exactly(printed(count, "x"), "0 5 10 15 ");
    expect_exactly(printed(count, "y"), "0 10 20 30 ");
    /* So do those of a legend: the ticks between have none. */
    succeed("printf 'token,0,1,2,3\\na,1e-30,1,1,1\\nb,1,1,1,1\\n' >$D/p.csv && "
            "\"$A\" plot $D/p.csv --color-scale log -o $D/p.svg");
    expect_exactly("sed -n 's/.*text-anchor=\"middle\">//p' $D/p.svg | grep -o '^[0-9e.-]*' | tail -5 | tr '\\n' ' '",
                   "1e-06 0.0001 0.01 0.1 1 ");
    /* and who has more than six decades is told so */
    succeed("grep -q '>logarithmic, six decades: smaller numbers look alike</text>' $D/p.svg && "
            "sed -i s/1e-30/1e-06/ $D/p.csv && \"$A\" plot $D/p.csv --color-scale log --format svg | "
            "grep -q '>logarithmic</text>'");
}
END_TEST

static const struct { const char *options, *says; } wrong[] = {
    {"--width wide", "--width: found 'wide', expected a width on paper as in 85mm"},
    {"--width -3mm", "--width: found '-3mm'"},
    {"--width 85em", "--width: found '85em'"},
    {"--width 3mm", "a width of 3 mm: expected 20 to 2000"},
    {"--font-size 100", "letters of 100 points: expected 3 to 72"},
    {"--width 20mm --annotate", "keys or columns do not fit a width of 20 mm"},
    {"--columns 0", "--columns: 0 is not in 1..1000"},
    {"--show logits --annotate", "more than 10000 numbers cannot be read in a picture"},
};

START_TEST(what_does_not_fit_is_said)
{
    expect(printed("\"$A\" run " LILY " %s -o $D/x.pdf 2>&1", wrong[_i].options), 2, wrong[_i].says);
    expect_exactly("ls $D | wc -l", "0\n");
}
END_TEST

/* Small numbers do not all say 0, and a heading ends within the picture. */
START_TEST(numbers_and_headings_fit)
{
    expect("printf '0.0000043,0\\n-9.2e-6,1e-9\\n' >$D/m.csv; \"$A\" plot -q $D/m.csv --annotate --format svg -o - | "
           "grep -o '>[^<]*e-0[^<]*</text' | head -3", 0, ">4.3e-06</text\n>-9.2e-06</text\n>1.0e-09</text\n");
    expect("\"$A\" plot -q $D/m.csv --title \"$(printf '\u05E9\u05DC\u05D5\u05DD%.0s' $(seq 16))\" --format svg -o - | "
           "grep -c 'font-size=\"15.0\".*\u05E9'", 0, "2\n");      /* a word that is too long is broken */
}
END_TEST

/* A title and the lines it is written in: on a width of 85 mm fit 43 letters.  They have 38, 45, 59 and 72. */
static const struct { const char *title, *lines; int further; } titles[] = {
    {"Attention of the last layer, in a head", "Attention of the last layer, in a head\n", 0},
    {"Attention in the last layer, by its only head", "Attention in the last layer, by its only\nhead\n", 1},
    {"Attention in the last layer, by its only head, red and ball", "Attention in the last layer, by its only\n"
     "head, red and ball\n", 1},
    {"Attention in the last layer, by its only head, from each token to others",
     "Attention in the last layer, by its only\nhead, from each token to others\n", 1},
    {"Attention in the last layer, by its only head, from each of the tokens of a text to all that were there before",
     "Attention in the last layer, by its only\nhead, from each of the tokens of a text to\nall that were there "
     "before\n", 2},
    {"  two  spaces  stay", "  two  spaces  stay\n", 0},
    {"Aufmerksamkeitsgewichtsverteilungsdarstellungen in red",
     "Aufmerksamkeitsgewichtsverteilungsdarstellu\nngen in red\n", 1},
};

static int height_of(const char *file)
{
    return atoi(succeed(printed("sed -n 's/.*viewBox=\"0 0 [0-9]* \\([0-9]*\\).*/\\1/p' $D/%s", file))->text);
}

/* The picture grows by what they take. */
START_TEST(a_title_takes_the_lines_that_it_needs)
{
#define ONE_HEAD "\"$A\" run -q " LILY " --layer 1 --head 0 --width 85mm --title "
    succeed(ONE_HEAD "one -o $D/one.svg");
    for (const char *const *ending = (const char *const[]){"svg", "png", "pdf", NULL}; *ending; ending++)
        succeed(printed(ONE_HEAD "\"%s\" -o $D/x.%s", titles[_i].title, *ending));
    expect_exactly("grep -o '<text[^>]*font-size=\"15.0\"[^>]*>[^<]*' $D/x.svg | sed 's/.*>//'", titles[_i].lines);
    int one = height_of("one.svg"), grown = height_of("x.svg");
    ck_assert_int_eq(grown - one, 19 * titles[_i].further);
    expect_exactly("grep -ac 'Tj' $D/x.pdf >$D/n; " ONE_HEAD "one -o $D/one.pdf; "
                   "echo $(($(cat $D/n) - $(grep -ac 'Tj' $D/one.pdf)))", printed("%d\n", titles[_i].further));
}
END_TEST

/* What is drawn as a box is counted, each character once; an SVG, a page and the terminal leave letters to others. */
START_TEST(letters_that_the_font_lacks_are_told)
{
#define CAT "\"$A\" run -m tiny -s '\u5C0F\u732B \uD55C\uAE00\uD55C caf\u00E9' --layer 1 --head 0 "
    for (const char *const *ending = (const char *const[]){"png", "pdf", NULL}; *ending; ending++) {
        expect_exactly(printed(CAT "-o $D/x.%s 2>&1", *ending),
                       "2 characters are drawn as boxes: they are in none of the faces; "
                       "take --font FILE, or .svg or .html\n");
        expect_exactly(printed(CAT "-q -o $D/x.%s 2>&1", *ending), "");
        expect(printed(CAT "--title 'the cat, caf\u00E9' -o $D/x.%s 2>&1", *ending), 0,
               "2 characters are drawn as boxes");
        expect_exactly(printed("\"$A\" run -m tiny -s '\u5C0F\u732B caf\u00E9' --layer 1 --head 0 -o $D/x.%s 2>&1",
                               *ending), "");
    }
    for (const char *const *ending = (const char *const[]){"svg", "html", "npz", NULL}; *ending; ending++)
        expect_exactly(printed(CAT "-o $D/x.%s 2>&1", *ending), "");
    expect_exactly("echo 0.5,0.25 >$D/x.csv; \"$A\" plot $D/x.csv -o $D/y.png --title '\uD55C' 2>&1", "1 character is "
                   "drawn as a box: it is in none of the faces; take --font FILE, or .svg or .html\n");
    expect("many=$(for i in $(seq 128 191); do o=$(printf %o $i); printf '\\352\\260\\'$o' \\352\\261\\'$o' '; done); "
           "\"$A\" plot $D/x.csv -o $D/y.png --title \"$many\" 2>&1", 0, "at least 64 characters are drawn as boxes");
    expect_exactly("\"$A\" explain -m tiny -s 'the \uD55C cat' --all -o $D/x.pdf 2>&1",
                   "1 character is drawn as a box: it is in none of the faces; take --font FILE, or .html or .md\n");
}
END_TEST

Suite *suite_figures(void)
{
    Suite *s = suite_create("figures");
    TCase *t = tcase_create("figures");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, files_are_whole, 0, sizeof drawn / sizeof *drawn);
    tcase_add_test(t, words_and_numbers_are_text);
    tcase_add_test(t, cells_have_the_colours_of_other_figures);
    tcase_add_loop_test(t, hidden_cells_are_blank, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(t, batches_hide_them_too);
    tcase_add_loop_test(t, a_faint_picture_says_so, 0, sizeof faint / sizeof *faint);
    tcase_add_test(t, a_first_key_that_gets_all_is_named);
    tcase_add_loop_test(t, a_figure_is_as_wide_as_asked, 0, sizeof widths / sizeof *widths);
    tcase_add_test(t, a_figure_is_as_large_as_its_letters);
    tcase_add_test(t, letters_have_the_size_that_was_asked_for);
    tcase_add_test(t, panels_are_arranged);
    tcase_add_test(t, heads_that_are_shared_say_so);
    tcase_add_test(t, labels_keep_apart);
    tcase_add_test(t, numbers_and_headings_fit);
    tcase_add_test(t, letters_that_the_font_lacks_are_told);
    tcase_add_loop_test(t, a_title_takes_the_lines_that_it_needs, 0, sizeof titles / sizeof *titles);
    tcase_add_loop_test(t, what_does_not_fit_is_said, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(s, t);
    return s;
}

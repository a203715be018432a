/* test_term.c - heat maps on the terminal, character by character, and pictures of saved matrices. */
#include "suites.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "picture/figure.h"
#include "picture/look.h"
#include "scratch.h"
#include "shell.h"

static const char *const words[] = {"Life", "日本", "e\u0301te\u0301", " is", "dessert"};

struct page { struct attn_album album; struct attn_tokens tokens; struct attn_token tok[64]; float *numbers; };

/* One matrix; each row is a number divided by the sum of the row's and the column's place: 1/1; 1/2, 1/3;
 * 1/3, 1/4, 1/5... */
static void open_page(struct page *p, size_t T)
{
    static const size_t heads[] = {5};
    struct attn_sheet s = {.kind = "attn.pattern", .title = "attention pattern", .axes = "", .layer = 2, .n = 1,
                           .rows = T, .cols = T, .heads = heads, .keys = true};
    *p = (struct page){.album = {.queries = &p->tokens, .keys = &p->tokens}, .tokens = {T, p->tok}};
    for (size_t i = 0; i < T; i++)
        p->tok[i] = (struct attn_token){.id = (int32_t)i, .known = true, .text = words[i % 5],
                                        .text_len = strlen(words[i % 5])};
    ck_assert_int_eq(attn_album_add(&p->album, &s, &p->numbers, NULL), 0);
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j <= i; j++)
            p->numbers[i * T + j] = 1.0f / (float)(1 + i + j);
}

static void hide_later(struct page *p)
{
    struct attn_sheet *s = p->album.sheet;
    unsigned char *hidden;
    ck_assert(!attn_album_mask(&p->album, &hidden, s->rows * s->cols, NULL));
    for (size_t i = 0; i < s->rows * s->cols; i++)
        hidden[i] = i % s->cols > i / s->cols;
    s->mask = hidden;
}

static char *print(struct page *p, int colors, int width, const char *palette)
{
    struct attn_look look;
    struct attn_err err = {0};
    struct attn_out *out;
    char *text;
    size_t len;
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){.palette = palette, .colors = colors}, &err), 0);
    look.width = width;
    ck_assert_int_eq(attn_out_open_memory(&out, &err), 0);
    ck_assert_msg(!attn_album_link(&p->album, &err) && !attn_term_write(out, &p->album, &look, &err), "%s", err.msg);
    ck_assert_int_eq(attn_out_take(out, &text, &len, &err), 0);
    attn_out_close(out);
    attn_album_free(&p->album);
    return text;
}

/* A caption as wide as its matrix, 2 columns per key, is not shortened. */
START_TEST(captions_are_as_long_as_they_fit)
{
    succeed("\"$A\" init -q -o $D/m --vocab-size 20 --n-ctx 16 --n-layer 11 --n-head 2 --d-model 8");
#define CAPTIONS(ids) "\"$A\" run -m $D/m --ids " ids " --show pattern --layer 10 --format term | sed -n 2p"
    expect_exactly(CAPTIONS("1,2,3,4,5,6,7,8"), "   layer 10, head 0  layer 10, head 1\n");
    expect_exactly(CAPTIONS("1,2,3,4,5,6,7"), "   L10 H0          L10 H1        \n");
}
END_TEST

START_TEST(shades_line_up_whatever_the_letters)
{
    struct page p;
    open_page(&p, 5);
    p.numbers[3] = NAN;
    p.numbers[4] = -INFINITY;
    char *text = print(&p, 0, 80, NULL);
    ck_assert_str_eq(text,
                     "attention pattern\n"
                     "         layer 2, head 5\n"
                     "                 d \n"
                     "                 e \n"
                     "                 s \n"
                     "         L       s \n"
                     "         i   e\u0301 · e \n"
                     "         f 日t i r \n"
                     "         e 本e\u0301 s t \n"
                     "   Life  ██    !!··\n"
                     "   日本  ▒▒░░      \n"
                     "    e\u0301te\u0301  ░░░░░░    \n"
                     "    ·is  ░░░░      \n"
                     "dessert  ░░        \n"
                     "\n"
                     "         blank from 0, ░ from 0.2, ▒ from 0.4, ▓ from 0.6, █ from 0.8 to 1\n"
                     "         ·· 1 of -inf; !! 1 NaN\n");
    free(text);
}
END_TEST

/* All lines of a matrix end in the same column, and none is wider than allowed. */
START_TEST(wide_matrices_are_pooled)
{
    struct page p;
    open_page(&p, 64);
    hide_later(&p);
    p.numbers[63 * 64 + 62] = 1;        /* among faint numbers, which share its cell */
    char *text = print(&p, 0, 50, NULL), *save;
    ck_assert_ptr_nonnull(strstr(text, "; a cell is the largest of 4 x 4\n"));
    size_t lines = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), lines++) {
        ck_assert_uint_le(attn_utf8_width(line, strlen(line)), lines ? 50 : 60);
        if (lines == 2)
            ck_assert_ptr_nonnull(strstr(line, "0 4 8 12  20  28  36  44  52  60"));
        if (lines == 18)
            ck_assert_msg(!strcmp(line + strlen(line) - strlen("██"), "██"), "%s", line);
    }
    ck_assert_uint_eq(lines, 3 + 16 + 4);               /* title, axes; legend, shades and square roots */
    free(text);
}
END_TEST

START_TEST(colours_of_24_bits_are_those_of_the_palette)
{
    struct page p;
    struct attn_look look;
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){.palette = "magma"}, NULL), 0);
    open_page(&p, 2);
    hide_later(&p);
    char *text = print(&p, 1 << 24, 80, "magma");
    struct attn_rgb top = attn_palette_color(look.palette, ATTN_STEPS - 1);
    ck_assert_ptr_nonnull(strstr(text, printed("\x1b[48;2;%d;%d;%dm  \x1b[0m··\n", top.r, top.g, top.b)));
    free(text);
}
END_TEST

START_TEST(colours_of_256)
{
    ck_assert_uint_eq(attn_term_256((struct attn_rgb){0, 0, 0}), 16);
    ck_assert_uint_eq(attn_term_256((struct attn_rgb){255, 255, 255}), 231);
    ck_assert_uint_eq(attn_term_256((struct attn_rgb){255, 0, 0}), 196);
    ck_assert_uint_eq(attn_term_256((struct attn_rgb){0x62, 0x62, 0x62}), 241);
    ck_assert_uint_eq(attn_term_256((struct attn_rgb){90, 140, 210}), 68);
}
END_TEST

/* ---- the command ----------------------------------------------------------------------- */

#define LIFE "\"$A\" run -s 'Life is short, eat dessert first' "

START_TEST(every_dump_gives_the_picture_of_the_run)
{
    static const char *const dumps[] = {"--format npy -o $D/n", "--format csv -o $D/c", "--format npz -o $D/a.npz",
                                        "-o $D/a.json",
                                        "--format tidy -o $D/a.tidy"};
    static const char *const paths[] = {"$D/n", "$D/n/manifest.json", "$D/c", "$D/a.json", "$D/a.tidy", "$D/a.npz"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++)
        expect_exactly(printed(LIFE "--show pattern,context,scores %s", dumps[i]), "");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_same(printed("\"$A\" plot \"%s\"", paths[i]), LIFE "--format term");
    expect_same("\"$A\" plot $D/n --show scores,context --format svg | grep -c '<path'",
                LIFE "--show context,scores --format svg | grep -c '<path'");
    expect("\"$A\" plot $D/a.npz -o $D/a.PNG && head -c 4 $D/a.PNG", 0, "\x89PNG");
}
END_TEST

/* A dump says by which kind of attention keys were hidden, or scores of -inf do; where nothing does, a 0 is a 0. */
START_TEST(what_hid_keys_is_told)
{
#define WINDOW "\"$A\" run -s 'Life is short, eat' --attention window:2 --show pattern "
#define GRID "--format term | sed -n '/Life /,/eat /p'"
    static const char *const dumps[] = {"--format npy -o $D/n", "--format csv -o $D/c", "-o $D/a.npz", "-o $D/a.json"};
    static const char *const paths[] = {"$D/n", "$D/c", "$D/a.npz", "$D/a.json"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        expect_exactly(printed(WINDOW "%s", dumps[i]), "");
        expect_same(printed("\"$A\" plot \"%s\" " GRID, paths[i]), WINDOW GRID);
    }
    expect_exactly("\"$A\" plot $D/c/blocks.0.attn.pattern.head0.csv " GRID,
                   " Life  ██      \n   is    ██    \nshort      ██  \n  eat      ▒▒▒▒\n");
    succeed(WINDOW "--format tidy -o $D/a.tidy && " WINDOW "--show pattern,scores --format tidy -o $D/b.tidy");
    expect("\"$A\" plot $D/a.tidy | grep -c '·' || true", 0, "0\n");
    expect_same("\"$A\" plot $D/b.tidy --show pattern " GRID, WINDOW GRID);
    expect_same("\"$A\" plot $D/b.tidy --show scores " GRID,
                "\"$A\" run -s 'Life is short, eat' --attention window:2 --show scores " GRID);
}
END_TEST

/* Without a mask none is drawn, whatever numbers stand above the diagonal; one that is given hides what it says,
 * of each head. */
START_TEST(a_given_mask_hides_what_it_says)
{
#define UNIT "\"$A\" attend --q '1 0; 0 1' --k '1 0; 0 1' --show scores "
    expect_exactly(UNIT "--format term | sed -n '/^[01]/p'", "0  ██  \n1    ██\n");
    expect_exactly(UNIT "--format svg | grep -c 'hidden by the mask' || true", "0\n");
    expect_exactly(UNIT "--kind causal --format term | sed -n '/^[01]/p'", "0  ██··\n1    ██\n");
    expect_exactly(UNIT "--mask '1 1; 0 1' --format term | sed -n '/^[01]/p'", "0  ██  \n1  ··██\n");
    expect_exactly(UNIT "--mask '0 -inf; 0 0' --show pattern --format term | sed -n '/^[01]/p'", "0  ██··\n1  ░░▓▓\n");
    expect_exactly(UNIT "--key-names 'a b' --mask '1 1; 0 1' --format term | sed -n '/^[01]/p'", "0  ██  \n1  ··██\n");
    expect_exactly("\"$A\" run -s 'Life is short' --show mask --format svg | grep -c 'hides\\|the query sees the key\\|"
                   ">0: hidden by the mask'", "2\n");
}
END_TEST

START_TEST(some_heads_and_layers)
{
    expect("\"$A\" run -m models/stacked -s 'the cat sees' -o $D/s.npz && \"$A\" plot $D/s.npz --layer 1 --head 0,2", 0,
           "   L1 H0   L1 H2 \n");
    expect_exactly("\"$A\" run -m models/stacked -s 'the cat sees' --show pattern,q -o $D/d --format npy", "");
    expect_same("\"$A\" plot $D/d --show pattern,q --layer 1 --head 0,2 --format svg | grep '<path'",
                "\"$A\" run -m models/stacked -s 'the cat sees' --show pattern,q --layer 1 --head 0,2 --format svg | "
                "grep '<path'");
}
END_TEST

START_TEST(a_foreign_table_keeps_its_labels)
{
    scratch_put(scratch_path("t.csv"), ",north,south\nred,1,2\nblue,nan,-3\n", 33);
    expect("\"$A\" plot $D/t.csv", 0, "red");
    expect("\"$A\" plot $D/t.csv", 0, "1 NaN");
    expect("\"$A\" plot $D/t.csv --format svg", 0, ">south</text>");
}
END_TEST

static void put_document(const char *leaf, const char *activations)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"activations\":[%s]}", activations);
    scratch_put(scratch_path(leaf), text, strlen(text));
}

/* A dump is drawn in the order of the forward pass, as a run draws it; what other programs wrote comes after. */
START_TEST(sheets_stand_in_the_order_of_the_pass)
{
    expect_exactly("\"$A\" run -m models/stacked -s 'the cat sees' --show '*' -o $D/d --format npy", "");
    expect_same("\"$A\" plot $D/d --show '*'",
                "\"$A\" run -m models/stacked -s 'the cat sees' --show '*' --format term");
    put_document("k.json", "{\"name\":\"zz\",\"shape\":[2],\"data\":[1,2]},{\"name\":\"logits\",\"shape\":[1,2],"
                 "\"data\":[[1,2]]},{\"name\":\"aa\",\"shape\":[2],\"data\":[1,3]},{\"name\":\"blocks.0.attn.q\","
                 "\"shape\":[1,1,2],\"data\":[[[1,2]]]},{\"name\":\"blocks.1.attn.q\",\"shape\":[1,1,3],\"data\":[[[3,"
                 "5,4]]]},{\"name\":\"embed\",\"shape\":[1,2],\"data\":[[1,2]]}");
    expect_exactly("\"$A\" plot $D/k.json --show '*' | grep '^[a-z]'",
                   "token embeddings\nqueries\nblocks.1.attn.q\nlogits (columns: token ids)\nzz\naa\n");
}
END_TEST

START_TEST(arrays_of_any_shape)
{
    put_document("w.json", "{\"name\":\"w\",\"shape\":[1,1,2,3],\"data\":[[[[1,2,3],[4,5,6]]]]}");
    expect("\"$A\" plot $D/w.json", 0, "w\n   head 0\n   0 1 2 \n0    ░░▒▒\n1  ▓▓████\n");
    put_document("w.json", "{\"name\":\"w\",\"shape\":[2,1,1,2],\"data\":[[[[1,2]]],[[[4,5]]]]}");
    expect("\"$A\" plot $D/w.json 2>&1", 1,
           "w.json: 'w' is an array of more than three axes: expected a matrix, or one per head");
    put_document("w.json", "{\"name\":\"w\",\"shape\":[0,2],\"data\":[]}");
    expect("\"$A\" plot $D/w.json 2>&1", 1, "w.json: 'w' is empty: expected a matrix, or one per head");
    put_document("w.json", "{\"name\":\"blocks.1048575.attn.pattern\",\"shape\":[1,1],\"data\":[[1]]}");
    expect("\"$A\" plot $D/w.json --layer 1048575", 0, "   layer 1048575\n   0 \n0  ██\n");
    expect("\"$A\" plot $D/w.json --layer 1048574 2>&1", 2,
           "--show, --layer and --head together leave nothing to draw");
    put_document("w.json", "{\"name\":\"blocks.1048576.attn.pattern\",\"shape\":[1,1],\"data\":[[1]]}");
    expect("\"$A\" plot $D/w.json 2>&1", 1, "w.json: layer 1048577 and head 0 are too many to draw");
}
END_TEST

START_TEST(bad_input)
{
    scratch_put(scratch_path("words.csv"), "a,b\nc,d\n", 8);
    scratch_put(scratch_path("lies.npy"), "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': "
                "(900, 900), }        \n1234", 84);
    expect_exactly(LIFE "-o $D/a.npz", "");
    expect("\"$A\" plot $D/a.npz --show dots 2>&1", 2,
           "has no 'dots'; it has blocks.0.attn.pattern, blocks.0.attn.context");
    expect("\"$A\" plot $D/a.npz --head 1 2>&1", 1, "has 1 head, counted from 0");
    expect("\"$A\" plot $D/words.csv 2>&1", 1, "row 1: 'd' is not a number");
    expect("\"$A\" plot $D/lies.npy 2>&1", 1, "lies.npy");
    expect("\"$A\" plot $D/none.npy 2>&1", 1, "No such file");
    expect("\"$A\" plot $D/a.npz --palette jet 2>&1", 2, "viridis, magma, cividis, gray, balance");
    expect("\"$A\" plot $D/a.npz -o /dev/null/x.png 2>&1", 1, "Not a directory");
    expect("\"$A\" plot $D/a.npz -o $D 2>&1 --format png", 1, "is a directory");
    expect("\"$A\" plot $D/a.npz -o /dev/full --format svg 2>&1", 1, "No space left");
    expect(LIFE "--show tokens --format png -o $D/t.png 2>&1", 2, "only tokens are selected");
    expect("ls $D | grep -c png", 1, "0");
}
END_TEST

/* ---- colours that nobody chose, figures ---- */

static char *print_signed(bool light, int colors)
{
    struct page p;
    struct attn_look look;
    struct attn_err err = {0};
    struct attn_out *out;
    char *text;
    size_t len;
    open_page(&p, 2);
    hide_later(&p);
    p.numbers[2] = -1;
    ck_assert_int_eq(attn_look_make(&look, &(struct attn_picture_opts){.colors = colors, .light = light}, &err), 0);
    ck_assert_int_eq(attn_out_open_memory(&out, &err), 0);
    ck_assert(!attn_album_link(&p.album, &err) && !attn_term_write(out, &p.album, &look, &err) &&
              !attn_out_take(out, &text, &len, &err));
    attn_out_close(out);
    attn_album_free(&p.album);
    return text;
}

static void expect_ground(const char *text, const struct attn_palette *p, unsigned step)
{
    struct attn_rgb c = attn_palette_color(p, step);
    ck_assert_msg(strstr(text, printed("\x1b[48;2;%d;%d;%dm", c.r, c.g, c.b)), "%s", text);
}

/* Both signs have two colours: on a light ground as figures do, else around a dark middle.  Shades
 * have one direction. */
START_TEST(signs_have_two_colours)
{
    for (int light = 0; light < 2; light++) {
        char *text = print_signed(light, 1 << 24);
        const struct attn_palette *p = attn_palette_usual(light, true);
        expect_ground(text, p, 0);
        expect_ground(text, p, ATTN_STEPS - 1);
        free(text);
    }
    char *text = print_signed(false, 0);
    ck_assert_ptr_nonnull(strstr(text, "blank from -1, ░ from -0.6, ▒ from -0.2, ▓ from 0.21, █ from 0.61 to 1;"));
    free(text);
}
END_TEST

/* Colours of a ground: that which the terminal says, else those that stand out from any. */
START_TEST(a_light_ground_has_light_colours)
{
    if (no_terminal())
        return;
#define DRAWN "COLORTERM=truecolor TERM=xterm \"$A\" run -m life -s 'Life is' --format term --no-pager"
    struct attn_rgb most = attn_palette_color(attn_palette_usual(true, false), ATTN_STEPS - 1);
    char light[64];
    snprintf(light, sizeof light, "\x1b[48;2;%d;%d;%dm", most.r, most.g, most.b);
    ck_assert_ptr_nonnull(strstr(on_terminal("COLORFGBG='0;15' " DRAWN, 0), light));
    ck_assert_ptr_null(strstr(on_terminal("COLORFGBG='15;0' " DRAWN, 0), light));
    ck_assert_ptr_null(strstr(on_terminal(DRAWN, 0), light));
}
END_TEST

/* A sentence with percentages below its words, those of the run; the word that looks has brackets. */
START_TEST(words_have_their_weights)
{
    succeed("printf 'token,a,b,c\\na,1,0,0\\nb,0.25,0.75,0\\nc,0.125,0.25,0.625\\n' >$D/blocks.0.attn.pattern.csv");
    expect_exactly("\"$A\" plot $D/blocks.0.attn.pattern.csv --figure words --format term | tail -3",
                   "layer 0: what \"c\" looks at\n  a   b   [c] \n  12  25  62   %\n");
    expect_exactly("\"$A\" plot $D/blocks.0.attn.pattern.csv --figure words --query b --format term | tail -3",
                   "layer 0: what \"b\" looks at\n  a   [b] c   \n  25  75  0    %\n");
    expect("\"$A\" plot $D/blocks.0.attn.pattern.csv --figure words --query d --format term 2>&1", 2,
           "--query: no token reads 'd'");
    if (no_terminal())
        return;
    const char *drawn =
        on_terminal("COLORTERM=truecolor TERM=xterm \"$A\" plot $D/blocks.0.attn.pattern.csv --figure words", 0);
    struct attn_rgb most = attn_palette_color(attn_palette_usual(false, false), ATTN_STEPS - 1);
    ck_assert_ptr_nonnull(strstr(drawn, printed("\x1b[48;2;%d;%d;%dm\x1b[38;5;16m[c]", most.r, most.g, most.b)));
}
END_TEST

Suite *suite_term(void)
{
    Suite *s = suite_create("term");
    TCase *t = tcase_create("term"), *c = tcase_create("command");
    tcase_add_test(t, shades_line_up_whatever_the_letters);
    tcase_add_test(t, wide_matrices_are_pooled);
    tcase_add_test(t, colours_of_24_bits_are_those_of_the_palette);
    tcase_add_test(t, colours_of_256);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_test(c, every_dump_gives_the_picture_of_the_run);
    tcase_add_test(c, what_hid_keys_is_told);
    tcase_add_test(c, a_given_mask_hides_what_it_says);
    tcase_add_test(c, captions_are_as_long_as_they_fit);
    tcase_add_test(c, some_heads_and_layers);
    tcase_add_test(c, a_foreign_table_keeps_its_labels);
    tcase_add_test(c, sheets_stand_in_the_order_of_the_pass);
    tcase_add_test(c, arrays_of_any_shape);
    tcase_add_test(c, bad_input);
    tcase_add_test(t, signs_have_two_colours);
    tcase_add_test(c, a_light_ground_has_light_colours);
    tcase_add_test(c, words_have_their_weights);
    suite_add_tcase(s, t);
    suite_add_tcase(s, c);
    return s;
}

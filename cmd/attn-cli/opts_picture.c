/* opts_picture.c - the options of pictures: their rows, what they go with, and how a picture then looks. */
#include "opts_picture.h"
#include "opts_language.h"
#include "opts_output.h"
#include "say.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *scale, *palette, *width, *title, *font, *figure, *query, *axes;
    struct number cell, columns, font_index;
    struct real letters;
    bool hide_first, numbers;
} look;

static const char *const scales[] = {"linear", "sqrt", "log", "row", NULL};
static const char *const palettes[] = {"viridis", "magma", "cividis", "gray", "balance", "blues", "ink", NULL};

/* "85mm", "8.5cm", "3.35in", "240pt" in millimetres; a number alone is one of millimetres.  0: it is none. */
static double millimetres(const char *width)
{
    static const struct { const char *name; double mm; } units[] = {
        {"", 1}, {"mm", 1}, {"cm", 10}, {"in", 25.4}, {"pt", 25.4 / 72}};
    char *end;
    double x = strtod(width, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units && end != width && isfinite(x) && x > 0; i++)
        if (!strcmp(end, units[i].name))
            return x * units[i].mm;
    return 0;
}

static int check_width(const struct option *o, struct attn_err *err)
{
    return millimetres(look.width) > 0 ? ATTN_OK : attn_fail(err, ATTN_EUSAGE,
                                                             "--%s: found '%s', expected a width on paper as in 85mm, "
                                                             "8.5cm, 3.35in or 240pt", o->name,
                                                             excerpt(look.width).text);
}

static void explain_letters(char help[OPTION_HELP])
{
    snprintf(help, OPTION_HELP, "figures: size of the labels in points, %d to %d (default: 7); png and svg have points "
                                "with --width", ATTN_LETTERS_LEAST, ATTN_LETTERS_MOST);
}

#define FONT_ROWS \
    {0, "font", OPT_FILE, &look.font, "FILE", "png and pdf: a TrueType font (.ttf, .ttc) whose letters are taken " \
     "where it has them; built in are Latin, Greek, Cyrillic, mathematics, kana and the Chinese of GB 2312", \
     .formats = ATTN_FORMAT_LETTERS, .section = OF_PICTURE, .flags = OPT_COUNTS}, \
    {0, "font-index", OPT_NUMBER, &look.font_index, "N", "png and pdf: which font of a collection (.ttc) --font " \
     "takes, from 0 on (default: 0)", .max = 1000, .formats = ATTN_FORMAT_LETTERS, \
     .section = OF_PICTURE, .flags = OPT_COUNTS}

#define PAPER_ROWS \
    {0, "width", OPT_TEXT, &look.width, "W", "figures (png, svg, pdf): exactly so wide on paper, as in 85mm, 3.35in " \
     "or 240pt; a number alone is in mm; cells and the arrangement follow, letters keep their size (default: natural " \
     "size)", .check = check_width, \
     .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS}, \
    {0, "font-size", OPT_REAL, &look.letters, "PT", NULL, .explain = explain_letters, \
     .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS}, \
    {0, "title", OPT_TEXT, &look.title, "TEXT", "figures: in place of the model and the sentence, in as many lines " \
     "as it needs; '' leaves them out", \
     .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS}

const struct option font_options[] = {FONT_ROWS, {.name = NULL}};
const struct option paper_options[] = {PAPER_ROWS, FONT_ROWS, {.name = NULL}};

const struct option picture_options[] = {
    {0, "figure", OPT_CHOICE, &look.figure, "KIND", "figures (png, svg, pdf): heatmap (the default); grid, all "
     "matrices as small panels without labels, a layer a row; lines, from each word to those it looks at, a colour a "
     "head; words, the sentence shaded by what one word looks at, and vectors, of tokens, with the cosines between "
     "them (both also with --format term)",
     .choice = attn_figure_name, .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS},
    {0, "color-scale", OPT_CHOICE, &look.scale, "SCALE",
     "pictures: colours show numbers as they are (linear), their square roots (sqrt), their logarithms (log; of "
     "magnitudes, on either side of 0, where some are negative), or each row divided by its largest number (row) "
     "(default: sqrt for patterns of more than 24 tokens, else linear)",
     .choices = scales, .formats = ATTN_FORMAT_COLOR, .section = OF_PICTURE, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "palette", OPT_CHOICE, &look.palette, "NAME",
     "pictures: viridis, magma, cividis or gray, from dark to light; blues or ink, from light to dark, for paper; "
     "balance, blue below 0 and orange above (default: in figures blues, or balance where numbers have both signs; on "
     "a terminal viridis, or blue and orange around a dark middle; elsewhere viridis)",
     .choices = palettes,
     .formats = ATTN_FORMAT_COLOR, .section = OF_PICTURE, .flags = OPT_COUNTS},
    {0, "cell", OPT_NUMBER, &look.cell, "N", "pictures: size of each number, in pixels or terminal columns (default: "
                                             "chosen to fit)",
     .min = 1, .max = 64, .formats = ATTN_FORMAT_COLOR, .section = OF_PICTURE, .flags = OPT_COUNTS},
    PAPER_ROWS,
    {0, "columns", OPT_NUMBER, &look.columns, "N",
     "figures: matrices per row (default: chosen to fit)", .min = 1, .max = 1000,
     .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS},
    FONT_ROWS,
    {0, "annotate", OPT_FLAG, &look.numbers, NULL, "figures: write the numbers into the cells",
     .formats = ATTN_FORMAT_FIGURE, .section = OF_PICTURE, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option key_picture_options[] = {
    {0, "query", OPT_TEXT, &look.query, "TOKEN", "figures of lines and words: only what this token looks at: its "
     "index, counted from 0, or its text (default: of lines all, of words the last)", .formats = ATTN_FORMAT_COLOR,
     .section = OF_PICTURE,
     .flags = OPT_COUNTS},
    {0, "axes", OPT_TEXT, &look.axes, "AXES", "figures of vectors: which two or three coordinates, as in 0,1 or 2,0,5, "
     "or principal, the two directions in which the vectors are longest (default: all of at most three, else "
     "principal)",
     .formats = ATTN_FORMAT_COLOR, .section = OF_PICTURE, .flags = OPT_COUNTS},
    {0, "hide-first", OPT_FLAG, &look.hide_first, NULL,
     "pictures: leave out the first key, where attention often gathers; "
     "nothing is renormalised", .formats = ATTN_FORMAT_COLOR, .section = OF_PICTURE, .flags = OPT_COUNTS},
    {.name = NULL},
};

/* ---- what they go with ---- */

/* An option of some kinds of figures needs one of them. */
static int check_taken(const char *option, const char *given, const char *figure, struct attn_err *err)
{
    char names[96] = "";
    const char *name;
    if (!given || attn_figure_takes(figure, option))
        return ATTN_OK;
    for (size_t i = 0; (name = attn_figure_name(i)); i++)
        if (attn_figure_takes(name, option))
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s--figure %s", *names ? " or " : "", name);
    return attn_fail(err, ATTN_EUSAGE, "--%s: a figure of kind %s does not use it: add %s", option, figure, names);
}

/* Whether a format uses an option: some kinds of figures are drawn by others than those of all figures. */
static bool uses(const struct attn_format *f, const struct option *o)
{
    return f->flags & o->formats || (o->to == &look.width && !strcmp(f->name, "screen")) ||
           (o->to == &look.figure && attn_figure_draws(look.figure, f->name));
}

/* "png, svg or pdf": what c writes of the formats that use an option; and the ending of one that has one. */
static const char *list_written(char *out, size_t size, const struct command *c, const struct option *o)
{
    enum { MOST = 16 };
    struct pair list[MOST + 1] = {{NULL, NULL}};
    const struct option *row = format_row(c);
    const char *name, *ending = NULL;
    size_t n = 0;
    for (size_t i = 0; row && (name = option_choice(row, i)) && n < MOST; i++) {
        const struct attn_format *f = attn_format_find(name);
        if (!f || !uses(f, o))
            continue;
        ending = ending ? ending : f->ending;
        list[n++] = (struct pair){f->name, NULL};
    }
    list_terms(out, size, list, " or ");
    return ending ? ending : ".png";
}

/* An option that makes no difference is not passed over in silence.  A kind of figure is what was asked for, so that
 * another output would be wrong; how a figure looks is said for all formats by scripts that write several. */
int picture_check(const struct command *c, const char *format, struct attn_err *err)
{
    const struct attn_format *f = attn_format_find(format ? format : "text");
    const struct option *o;
    char names[96];
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        if (!o->formats || !option_given(o) || (f && uses(f, o)))
            continue;
        const char *ending = list_written(names, sizeof names, c, o), *now = f ? f->name : format;
        if (o->to == &look.figure)
            return attn_fail(err, ATTN_EUSAGE, "--%s: only --format %s uses it, not %s: give a path that ends in %s, "
                                               "as in -o figure%s", o->name, names, now, ending, ending);
        say_note("--%s: only --format %s uses it, not %s", o->name, names, now);
    }
    const char *figure = look.figure ? look.figure : attn_figure_name(0);
    int code = check_taken("query", look.query, figure, err);
    return code ? code : check_taken("axes", look.axes, figure, err);
}

const char *picture_default_show(void)
{
    return look.figure ? attn_figure_show(look.figure) : NULL;
}

/* ---- how a picture looks ---- */

static int colors(bool terminal)
{
    const char *more = getenv("COLORTERM");
    bool all = more && (!strcmp(more, "truecolor") || !strcmp(more, "24bit"));
    return !terminal_colored(terminal) ? 0 : all ? 1 << 24 : 256;
}

/* Terminals that say so end this variable with the number of their ground's colour: white, or light grey. */
static bool light_ground(void)
{
    const char *both = getenv("COLORFGBG"), *ground = both ? strrchr(both, ';') : NULL;
    return ground && (!strcmp(ground, ";15") || !strcmp(ground, ";7"));
}

static char note[ATTN_PLOT_NOTE];

void picture_note(void)
{
    if (*note)
        say_note("%s", note);
}

struct attn_picture_opts picture_look(bool terminal)
{
    return (struct attn_picture_opts){.palette = look.palette, .scale = look.scale, .hide_first = look.hide_first,
                                      .cell = (size_t)look.cell.n, .colors = colors(terminal),
                                      .width = look.width ? millimetres(look.width) : 0,
                                      .letters = look.letters.given ? look.letters.x : 0,
                                      .title = look.title, .columns = (size_t)look.columns.n, .numbers = look.numbers,
                                      .font = look.font, .font_index = (size_t)look.font_index.n,
                                      .figure = look.figure, .query = look.query, .axes = look.axes,
                                      .lang = language_of(terminal),
                                      .light = terminal && light_ground(), .note = note};
}

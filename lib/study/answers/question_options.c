/* question_options.c - what is asked of a document, as words: "target= ball", "top=3", "copying".
 *
 * Names and values are those of the commands' options.  An option is a row here: where it goes, and what takes it. */
#include "answers/question.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"

enum type { TEXT, SIZE, SEED, SIGNED, INT, REAL, FLAG, POINTS, WIDTH };

enum {
    LENS = ATTN_OF_LENS, ATTRIBUTE = ATTN_OF_ATTRIBUTE, HEADS = ATTN_OF_HEADS, PATCH = ATTN_OF_PATCH,
    RUN = ATTN_OF_RUN, PLOT = ATTN_OF_PLOT, DRAWN = RUN | LENS | HEADS | PATCH | PLOT, ALL = DRAWN | ATTRIBUTE
};

#define AT(member) offsetof(struct attn_answer_opts, member)
static const struct row { const char *name; size_t at; enum type type; unsigned of; } rows[] = {
    {"format", AT(format), TEXT, ALL},
    {"show", AT(show), TEXT, RUN | PLOT}, {"layer", AT(layers), TEXT, RUN | HEADS | ATTRIBUTE | PLOT},
    {"head", AT(heads), TEXT, RUN | HEADS | ATTRIBUTE | PLOT}, {"words", AT(words), FLAG, RUN | PLOT},
    {"precision", AT(precision), INT, RUN | PATCH},
    {"target", AT(target), TEXT, LENS | ATTRIBUTE}, {"foil", AT(foil), TEXT, ATTRIBUTE},
    {"pos", AT(pos), SIGNED, ATTRIBUTE}, {"neurons", AT(neurons), SIZE, ATTRIBUTE},
    {"top", AT(top), SIZE, LENS | ATTRIBUTE | HEADS}, {"points", AT(all), POINTS, LENS},
    {"by", AT(by), TEXT, HEADS}, {"copying", AT(copying), FLAG, HEADS}, {"repeat", AT(repeat), SIZE, HEADS},
    {"samples", AT(samples), SIZE, HEADS}, {"seed", AT(seed), SEED, HEADS},
    {"what", AT(what), TEXT, PATCH}, {"over", AT(over), TEXT, PATCH}, {"metric", AT(metric), TEXT, PATCH},
    {"method", AT(method), TEXT, PATCH},
    {"figure", AT(picture.figure), TEXT, DRAWN}, {"query", AT(picture.query), TEXT, DRAWN},
    {"palette", AT(picture.palette), TEXT, DRAWN}, {"color-scale", AT(picture.scale), TEXT, DRAWN},
    {"hide-first", AT(picture.hide_first), FLAG, DRAWN}, {"cell", AT(picture.cell), SIZE, DRAWN},
    {"width", AT(picture.width), WIDTH, DRAWN}, {"font-size", AT(picture.letters), REAL, DRAWN},
    {"title", AT(picture.title), TEXT, DRAWN}, {"columns", AT(picture.columns), SIZE, DRAWN},
    {"font", AT(picture.font), TEXT, DRAWN}, {"font-index", AT(picture.font_index), SIZE, DRAWN},
    {"annotate", AT(picture.numbers), FLAG, DRAWN},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *attn_answer_option(size_t i, unsigned of)
{
    for (size_t k = 0; k < ROWS; k++)
        if (rows[k].of & of && rows[k].at < AT(picture) && !i--)
            return rows[k].name;
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------ */

static bool read_size(const char *value, uint64_t most, uint64_t *out)
{
    return attn_num_parse_u64(value, strlen(value), out) && *out <= most;
}

static bool read_signed(const char *value, int64_t *out)
{
    uint64_t n;
    bool minus = *value == '-';
    if (!read_size(value + minus, INT64_MAX, &n))
        return false;
    *out = minus ? -(int64_t)n : (int64_t)n;
    return true;
}

/* On paper: a number with mm (which it also is without), cm, in or pt. */
static bool read_width(const char *value, double *mm)
{
    static const struct { const char *name; double mm; } units[] = {{"mm", 1}, {"cm", 10}, {"in", 25.4},
                                                                    {"pt", 25.4 / 72}, {"", 1}};
    size_t len = strlen(value);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i].name);
        if (len > unit && !strcmp(value + len - unit, units[i].name) &&
            attn_num_parse_f64(value, len - unit, mm) && isfinite(*mm) && *mm > 0) {
            *mm *= units[i].mm;
            return true;
        }
    }
    return false;
}

static const char *const expected[] = {
    [SIZE] = "a whole number", [SEED] = "a whole number",
    [SIGNED] = "a position such as 3 or, from the end, -1", [INT] = "digits after the point",
    [REAL] = "a number", [FLAG] = "no value", [POINTS] = "resid_post or all",
    [WIDTH] = "a width on paper as in 85mm, 8.5cm, 3.35in or 240pt"};

/* value NULL: the name stands alone. */
static bool set(void *to, enum type type, const char *value)
{
    uint64_t n = 0;
    if (!value)
        return type == FLAG && (*(bool *)to = true);
    switch (type) {
    case TEXT:   memcpy(to, &value, sizeof value); return true;
    case FLAG:   return false;
    case SIZE:
        if (!read_size(value, SIZE_MAX, &n))
            return false;
        *(size_t *)to = (size_t)n;
        return true;
    case SEED:   return read_size(value, UINT64_MAX, (uint64_t *)to);
    case SIGNED: return read_signed(value, (int64_t *)to);
    case INT:
        *(int *)to = read_size(value, ATTN_PRECISION_MOST, &n) ? (int)n : -1;
        return *(int *)to >= 0;
    case REAL:   return attn_num_parse_f64(value, strlen(value), (double *)to) && isfinite(*(double *)to);
    case POINTS: return (*(bool *)to = !strcmp(value, "all")) || !strcmp(value, "resid_post");
    case WIDTH:  return read_width(value, (double *)to);
    }
    return false;
}

/* ---- a list of them ---------------------------------------------------------------------- */

static int unknown(const char *option, size_t len, unsigned of, const char *what, struct attn_err *err)
{
    char list[320] = "";
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].of & of)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", rows[i].name);
    return attn_fail(err, ATTN_EUSAGE, "%s: unknown option '%.*s', expected one of %s", what, attn_shown(option, len),
                     option, list);
}

static int read_one(struct attn_answer_opts *o, const char *option, unsigned of, const char *what,
                    struct attn_err *err)
{
    size_t len = strcspn(option, "="), i = 0;
    while (i < ROWS && (!(rows[i].of & of) || strlen(rows[i].name) != len || memcmp(rows[i].name, option, len) != 0))
        i++;
    if (i == ROWS)
        return unknown(option, len, of, what, err);
    const char *value = option[len] ? option + len + 1 : NULL;
    if (set((char *)o + rows[i].at, rows[i].type, value))
        return ATTN_OK;
    if (rows[i].type == TEXT)
        return attn_fail(err, ATTN_EUSAGE, "%s: %s has no value, expected %s=VALUE", what, rows[i].name, rows[i].name);
    if (!value)
        value = "nothing";
    return attn_fail(err, ATTN_EUSAGE, "%s: %s: found %.*s, expected %s", what, rows[i].name,
                     attn_shown(value, strlen(value)), value, expected[rows[i].type]);
}

int attn_answer_read(struct attn_answer_opts *out, const char *const *options, unsigned of, const char *what,
                     struct attn_err *err)
{
    enum { DIGITS = 4, DIGITS_OF_EFFECTS = 2 };
    *out = (struct attn_answer_opts){.pos = -1, .precision = of & PATCH ? DIGITS_OF_EFFECTS : DIGITS};
    int rc = ATTN_OK;
    for (; options && *options && !rc; options++)
        rc = read_one(out, *options, of, what, err);
    return rc;
}

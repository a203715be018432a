/* kind.c - the kinds of attention, as rows: what is read, refused, listed, explained and compared follows from them. */
#include "model/kind.h"

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 3 };

/* A number of a kind: its letter, where it is stored, its smallest and largest value, and, where one of each kind is
 * listed, how many halves of the number of keys to see it is. */
struct number { char letter; size_t at, size; uint64_t least, most; unsigned halves; };
#define NUMBER(letter, member, least, most, halves) \
    {letter, offsetof(struct attn_kind, member), sizeof ((struct attn_kind *)0)->member, least, most, halves}
static const struct number W = NUMBER('W', w, 1, INT32_MAX, 2), S = NUMBER('S', s, 1, INT32_MAX, 2),
                           R = NUMBER('R', r, 0, INT32_MAX, 1), B = NUMBER('B', b, 1, INT32_MAX, 2),
                           SEED = NUMBER('N', seed, 0, UINT64_MAX, 0);

/* What the library knows of a row besides.  seen: what a query sees, in a table: {W} is a number, {s} the plural of the
 * one before it, {mask} what the model's own mask shows; NULL: the model says it. */
struct attn_kind_method { const struct number *number[NUMBERS]; const char *seen; };
#define METHOD(text, ...) &(const struct attn_kind_method){.number = {__VA_ARGS__}, .seen = text}

static const struct attn_kind_row attn_kinds[] = {
    [ATTN_MODEL] = {"model", "the default, the model's own", "the model's own attention", METHOD(NULL, NULL)},
    [ATTN_FULL] = {"full", "no mask",
                   "every query sees every key", METHOD("no mask: all tokens, including later ones", NULL)},
    [ATTN_CAUSAL] = {"causal", NULL, "q sees k up to q; hidden scores are -inf before the softmax",
        METHOD("itself and all before it: hidden scores are -inf", NULL)},
    [ATTN_CAUSAL_RENORM] = {"causal-renorm", NULL,
        "the same keys, computed the other way: a softmax over all keys, then the later ones become 0 and the row "
        "is divided by its sum.  -inf is better: where a later key has the largest score, the weights that stay lose "
        "digits, or all of them (such rows become 0, not NaN); standard error says how much that is on the sentence",
        METHOD("softmax over all, then masked and divided by the row's sum", NULL)},
    [ATTN_WINDOW] = {"window:W", NULL, "q sees the last W keys, including itself: 0 <= q-k < W",
        METHOD("the last {W}, including itself", &W)},
    [ATTN_STRIDED] = {"strided:W,S", NULL, "k <= q, and q-k < W or (q-k) % S == 0",
        METHOD("the last {W}, and earlier ones a multiple of {S} away", &W, &S)},
    [ATTN_RANDOM] = {"random:W,R,SEED", NULL,
        "the window, and min(R, n) of the n = q-W+1 keys before it, the same in every head: the first of a shuffled "
        "list 0, 1, ... n-1, where for i = 0, 1, ... item i is swapped with item i + next % (n-i), and next is the "
        "next number of splitmix64 seeded with SEED + q",
        METHOD("the last {W}, and {R} earlier one{s} drawn at random", &W, &R, &SEED)},
    [ATTN_LINEAR] = {"linear", NULL,
        "weights phi(q).phi(k) divided by their sum, phi(x) = elu(x) + 1: no softmax, no scale, no dots and scores; "
        "causal when the model is.  Time grows with the length of the text, not its square, unless the pattern is "
        "shown",
        METHOD("no softmax: the features of all keys are summed once", NULL)},
    [ATTN_BLOCK] = {"block:B", NULL,
        "the result of causal (or full, where the model has no mask), computed B keys at a time: with a running "
        "maximum and sum instead of a row of scores",
        METHOD("{mask}, {B} at a time, with rescaled sums", &B)},
};
enum { ROWS = sizeof attn_kinds / sizeof *attn_kinds };

const struct attn_kind_row *attn_kind_next(const struct attn_kind_row *row)
{
    const struct attn_kind_row *next = row ? row + 1 : attn_kinds;
    return next < attn_kinds + ROWS ? next : NULL;
}

/* NULL: there is no such kind, or it has no text (ATTN_MASKED). */
static const struct attn_kind_row *row_of(const struct attn_kind *k)
{
    return (size_t)k->form < ROWS ? &attn_kinds[k->form] : NULL;
}

/* The i-th number of a kind; NULL after the last. */
static const struct number *number(const struct attn_kind_row *row, size_t i)
{
    return row && i < NUMBERS ? row->method->number[i] : NULL;
}

static void set(struct attn_kind *k, const struct number *n, uint64_t x)
{
    memcpy((char *)k + n->at, &x, n->size);             /* the lowest bytes come first */
}

static uint64_t get(const struct attn_kind *k, const struct number *n)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)k + n->at, n->size);
    return x;
}

static size_t name_length(const struct attn_kind_row *row)
{
    return strcspn(row->form, ":");
}

static const struct attn_kind_row *find(const char *name, size_t len)
{
    for (size_t i = 0; i < ROWS; i++)
        if (name_length(&attn_kinds[i]) == len && !memcmp(attn_kinds[i].form, name, len))
            return &attn_kinds[i];
    return NULL;
}

static int unknown(const char *text, struct attn_err *err)
{
    char list[160] = "";
    for (size_t i = 0; i < ROWS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", attn_kinds[i].form);
    return attn_fail(err, ATTN_EUSAGE, "attention '%.40s' is unknown, expected one of %s", text, list);
}

/* Reads the numbers after the colon; nothing else may stand there. */
static int read_numbers(struct attn_kind *k, const struct attn_kind_row *row, const char *text, const char *at,
                        struct attn_err *err)
{
    const struct number *n;
    for (size_t i = 0; (n = number(row, i)); i++) {
        size_t len = strcspn(at, ",");
        uint64_t x;
        bool last = !number(row, i + 1);
        if (!attn_num_parse_u64(at, len, &x) || last != (at[len] == '\0'))
            return attn_fail(err, ATTN_EUSAGE,
                             "attention '%.40s' is not of the form %s, in whole numbers", text, row->form);
        if (x < n->least || x > n->most)
            return attn_fail(err, ATTN_EUSAGE,
                             "attention '%.40s': %" PRIu64 " is not in %" PRIu64 "..%" PRIu64 " (%s)", text, x,
                             n->least, n->most, row->form);
        set(k, n, x);
        at += len + 1;
    }
    return ATTN_OK;
}

int attn_kind_parse(struct attn_kind *k, const char *text, struct attn_err *err)
{
    size_t len = strcspn(text, ":");
    const struct attn_kind_row *row = find(text, len);
    struct attn_kind read = *k;
    if (!row)
        return unknown(text, err);
    if ((number(row, 0) != NULL) != (text[len] == ':'))
        return attn_fail(err, ATTN_EUSAGE, "attention '%.40s' is not of the form %s", text, row->form);
    read.form = (enum attn_form)(row - attn_kinds);
    int rc = number(row, 0) ? read_numbers(&read, row, text, text + len + 1, err) : ATTN_OK;
    if (!rc)
        *k = read;
    return rc;
}

/* A larger factor would take the scores of ordinary models out of float32's range. */
static const double LARGEST = 1e30;

int attn_scale_parse(struct attn_kind *k, const char *text, struct attn_err *err)
{
    const size_t len = strlen(text);
    double x = 0;
    const bool none = !strcmp(text, "none"), sqrt = !strcmp(text, "sqrt");
    if (!none && !sqrt && (!attn_num_parse_f64(text, len, &x) || isnan(x)))
        return attn_fail(err, ATTN_EUSAGE,
                         "--scale: '%.*s' is not none, sqrt or a number", attn_shown(text, len), text);
    if (!(fabs(x) <= LARGEST))
        return attn_fail(err, ATTN_EUSAGE,
                         "--scale: %.*s is not in -%g..%g", attn_shown(text, len), text, LARGEST, LARGEST);
    if (k->form == ATTN_LINEAR)
        return attn_fail(err, ATTN_EUSAGE, "--scale and --attention linear do not go together: linear attention has no "
                                           "scale");
    k->scaling = none ? ATTN_SCALE_NONE : sqrt ? ATTN_SCALE_SQRT : ATTN_SCALE_VALUE;
    k->scale = none || sqrt ? 0 : x;
    return ATTN_OK;
}

int attn_kind_check(const struct attn_kind *k, struct attn_err *err)
{
    const struct attn_kind_row *row = row_of(k);
    const struct number *n;
    for (size_t i = 0; (n = number(row, i)); i++)
        if (get(k, n) < n->least)
            return attn_fail(err, ATTN_EUSAGE, "attention %s: its numbers begin at 1", row->form);
    if (!row && k->form != ATTN_MASKED)
        return attn_fail(err, ATTN_EUSAGE, "there is no kind of attention %d", (int)k->form);
    if (k->scaling == ATTN_SCALE_VALUE && !isfinite((float)k->scale))
        return attn_fail(err, ATTN_EUSAGE, "scale %g, expected a finite number", k->scale);
    if (!(k->dropout >= 0 && k->dropout < 1))
        return attn_fail(err, ATTN_EUSAGE, "dropout %g, expected a number from 0 to below 1", k->dropout);
    return ATTN_OK;
}

const char *attn_kind_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k)
{
    const struct attn_kind_row *row = row_of(k);
    const struct number *field;
    int n = row ? snprintf(buf, ATTN_KIND_TEXT,
                           "%.*s", (int)name_length(row), row->form) : snprintf(buf, ATTN_KIND_TEXT, "mask");
    for (size_t i = 0; (field = number(row, i)); i++)
        n += snprintf(buf + n, ATTN_KIND_TEXT - (size_t)n, "%c%" PRIu64, i ? ',' : ':', get(k, field));
    return buf;
}

/* Writes what stands in braces at s; *last is the number written last. */
static int put_seen(char *text, size_t size, const char *s, const struct attn_kind *k, bool causal, uint64_t *last)
{
    const struct number *n;
    if (!strncmp(s, "{s}", 3))
        return snprintf(text, size, "%s", *last == 1 ? "" : "s");
    if (!strncmp(s, "{mask}", 6))
        return snprintf(text, size, "%s", causal ? "itself and all before it" : "all tokens");
    for (size_t i = 0; (n = number(row_of(k), i)) && n->letter != s[1]; i++)
        continue;
    *last = n ? get(k, n) : 0;
    return snprintf(text, size, "%" PRIu64, *last);
}

void attn_kind_seen(char text[ATTN_KIND_SEEN], const struct attn_kind *k, bool causal)
{
    const struct attn_kind_row *row = row_of(k);
    const char *s = row && row->method->seen ? row->method->seen : "";
    uint64_t last = 0;
    size_t n = 0;
    for (; *s && n + 1 < ATTN_KIND_SEEN; s += *s == '{' ? strcspn(s, "}") + 1 : 1)
        n += *s == '{' ? (size_t)put_seen(text + n, ATTN_KIND_SEEN - n, s, k, causal, &last) :
             (text[n] = *s, (size_t)1);
    text[n < ATTN_KIND_SEEN ? n : ATTN_KIND_SEEN - 1] = '\0';
}

void attn_kind_each(char *list, size_t size, size_t keys)
{
    *list = '\0';
    for (size_t i = 0, n = 0; i < ROWS; i++) {
        struct attn_kind k = {.form = (enum attn_form)i};
        char text[ATTN_KIND_TEXT];
        const struct number *field;
        for (size_t j = 0; (field = number(&attn_kinds[i], j)); j++)
            set(&k, field, keys * field->halves / 2);
        n += (size_t)snprintf(list + n, n < size ? size - n : 0, "%s%s", i ? " " : "", attn_kind_text(text, &k));
    }
}

/* "none", "sqrt", "model", or a number that reads back exactly.  Returns buf. */
static const char *scale_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k)
{
    static const char *const names[] = {[ATTN_SCALE_MODEL] = "model", [ATTN_SCALE_NONE] = "none",
                                        [ATTN_SCALE_SQRT] = "sqrt"};
    if (k->scaling == ATTN_SCALE_VALUE)
        buf[attn_num_f64(buf, k->scale)] = '\0';
    else
        snprintf(buf, ATTN_KIND_TEXT, "%s", names[k->scaling]);
    return buf;
}

const char *attn_kind_note(char buf[ATTN_KIND_NOTE], const struct attn_kind *k)
{
    char text[ATTN_KIND_TEXT], p[ATTN_NUM_MAX + 1];
    int n = 0;
    buf[0] = '\0';
    if (k->form != ATTN_MODEL)
        n += snprintf(buf, ATTN_KIND_NOTE, ", %s", attn_kind_text(text, k));
    if (k->scaling != ATTN_SCALE_MODEL)
        n += snprintf(buf + n, ATTN_KIND_NOTE - (size_t)n, ", scale %s", scale_text(text, k));
    p[attn_num_f64(p, k->dropout)] = '\0';
    if (k->dropout > 0)
        snprintf(buf + n, ATTN_KIND_NOTE - (size_t)n, ", dropout %s (seed %" PRIu64 ")", p, k->dropout_seed);
    return buf;
}

void attn_kind_say(struct attn_kind_words *out, const struct attn_kind *k)
{
    out->of = (struct attn_sink_kind){
        .attention = k->form ? attn_kind_text(out->attention, k) : NULL,
        .scale = k->scaling ? scale_text(out->scale, k) : NULL,
        .dropout = k->dropout, .seed = k->dropout_seed, .note = attn_kind_note(out->note, k)};
}

/* kind.c - reads and writes kinds of attention as text: "window:4". */
#include "run/kind.h"

#include "base/err.h"
#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 3 };

/* A number of a kind: the letter of its member, and its smallest and largest value. */
struct field { char letter; uint64_t least, most; };
static const struct field W = {'W', 1, INT32_MAX}, S = {'S', 1, INT32_MAX}, R = {'R', 0, INT32_MAX}, B = {'B', 1, INT32_MAX},
                          SEED = {'s', 0, UINT64_MAX};

static const struct row { const char *name, *form; const struct field *field[NUMBERS]; } rows[] = {
    [ATTN_MODEL]         = {"model", "model", {NULL}},
    [ATTN_FULL]          = {"full", "full", {NULL}},
    [ATTN_CAUSAL]        = {"causal", "causal", {NULL}},
    [ATTN_CAUSAL_RENORM] = {"causal-renorm", "causal-renorm", {NULL}},
    [ATTN_WINDOW]        = {"window", "window:W", {&W}},
    [ATTN_STRIDED]       = {"strided", "strided:W,S", {&W, &S}},
    [ATTN_RANDOM]        = {"random", "random:W,R,SEED", {&W, &R, &SEED}},
    [ATTN_LINEAR]        = {"linear", "linear", {NULL}},
    [ATTN_BLOCK]         = {"block", "block:B", {&B}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void set(struct attn_kind *k, char letter, uint64_t x)
{
    switch (letter) {
    case 'W': k->w = (size_t)x; break;
    case 'S': k->s = (size_t)x; break;
    case 'R': k->r = (size_t)x; break;
    case 'B': k->b = (size_t)x; break;
    default:  k->seed = x;
    }
}

static uint64_t get(const struct attn_kind *k, char letter)
{
    switch (letter) {
    case 'W': return k->w;
    case 'S': return k->s;
    case 'R': return k->r;
    case 'B': return k->b;
    default:  return k->seed;
    }
}

static const struct row *find(const char *name, size_t len)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == len && !memcmp(rows[i].name, name, len))
            return &rows[i];
    return NULL;
}

static int unknown(const char *text, struct attn_err *err)
{
    char list[160] = "";
    for (size_t i = 0; i < ROWS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", rows[i].form);
    return attn_fail(err, ATTN_EUSAGE, "attention '%.40s' is unknown, expected one of %s", text, list);
}

/* Reads the numbers after the colon; nothing else may stand there. */
static int read_numbers(struct attn_kind *k, const struct row *row, const char *text, const char *at, struct attn_err *err)
{
    for (size_t i = 0; i < NUMBERS && row->field[i]; i++) {
        const struct field *f = row->field[i];
        size_t len = strcspn(at, ",");
        uint64_t x;
        bool last = i + 1 == NUMBERS || !row->field[i + 1];
        if (!attn_num_parse_u64(at, len, &x) || last != (at[len] == '\0'))
            return attn_fail(err, ATTN_EUSAGE, "attention '%.40s' is not of the form %s, in whole numbers", text, row->form);
        if (x < f->least || x > f->most)
            return attn_fail(err, ATTN_EUSAGE, "attention '%.40s': %" PRIu64 " is not in %" PRIu64 "..%" PRIu64 " (%s)", text, x,
                             f->least, f->most, row->form);
        set(k, f->letter, x);
        at += len + 1;
    }
    return ATTN_OK;
}

int attn_kind_parse(struct attn_kind *k, const char *text, struct attn_err *err)
{
    size_t len = strcspn(text, ":");
    const struct row *row = find(text, len);
    struct attn_kind read = *k;
    if (!row)
        return unknown(text, err);
    if ((row->field[0] != NULL) != (text[len] == ':'))
        return attn_fail(err, ATTN_EUSAGE, "attention '%.40s' is not of the form %s", text, row->form);
    read.form = (enum attn_form)(row - rows);
    int rc = row->field[0] ? read_numbers(&read, row, text, text + len + 1, err) : ATTN_OK;
    if (!rc)
        *k = read;
    return rc;
}

int attn_kind_check(const struct attn_kind *k, struct attn_err *err)
{
    const struct row *row = (size_t)k->form < ROWS ? &rows[k->form] : NULL;
    for (size_t i = 0; row && i < NUMBERS && row->field[i]; i++)
        if (get(k, row->field[i]->letter) < row->field[i]->least)
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
    const struct row *row = (size_t)k->form < ROWS ? &rows[k->form] : NULL;
    int n = snprintf(buf, ATTN_KIND_TEXT, "%s", row ? row->name : "mask");
    for (size_t i = 0; row && i < NUMBERS && row->field[i]; i++)
        n += snprintf(buf + n, ATTN_KIND_TEXT - (size_t)n, "%c%" PRIu64, i ? ',' : ':', get(k, row->field[i]->letter));
    return buf;
}

/* "none", "sqrt", "model", or a number that reads back exactly.  Returns buf. */
static const char *scale_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k)
{
    static const char *const names[] = {[ATTN_SCALE_MODEL] = "model", [ATTN_SCALE_NONE] = "none", [ATTN_SCALE_SQRT] = "sqrt"};
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

/* plan_text.c - a plan's settings as text. */
#include "attn.h"

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_LONGEST = 127 };

static int wrong(const char *name, const char *value, const char *expected, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "plan: %s=%.*s, expected %s", name, attn_shown(value, strlen(value)), value,
                     expected);
}

static int set_threads(struct attn_plan *p, const char *value, struct attn_err *err)
{
    uint64_t n;
    if (!attn_num_parse_u64(value, strlen(value), &n) || n > INT_MAX)
        return wrong("threads", value, "how many, or 0 for as many as this process may use", err);
    p->threads = (int)n;
    return ATTN_OK;
}

static int set_compute(struct attn_plan *p, const char *value, struct attn_err *err)
{
    p->bf16 = !strcmp(value, "bf16");
    return p->bf16 || !strcmp(value, "f32") ? ATTN_OK : wrong("compute", value, "f32 or bf16", err);
}

static int set_kind(struct attn_plan *p, const char *value, struct attn_err *err)
{
    return attn_kind_parse(&p->kind, value, err);
}

static int set_scale(struct attn_plan *p, const char *value, struct attn_err *err)
{
    double x = 0;
    bool sqrt = !strcmp(value, "sqrt"), none = !strcmp(value, "none");
    if (!sqrt && !none && (!attn_num_parse_f64(value, strlen(value), &x) || !isfinite(x)))
        return wrong("scale", value, "none, sqrt or a number", err);
    p->kind.scaling = sqrt ? ATTN_SCALE_SQRT : none ? ATTN_SCALE_NONE : ATTN_SCALE_VALUE;
    p->kind.scale = x;
    return ATTN_OK;
}

static int set_dropout(struct attn_plan *p, const char *value, struct attn_err *err)
{
    if (!attn_num_parse_f64(value, strlen(value), &p->kind.dropout) ||
        !(p->kind.dropout >= 0 && p->kind.dropout < 1))
        return wrong("dropout", value, "a number from 0 to below 1", err);
    return ATTN_OK;
}

static int set_seed(struct attn_plan *p, const char *value, struct attn_err *err)
{
    return attn_num_parse_u64(value, strlen(value), &p->kind.dropout_seed)
           ? ATTN_OK : wrong("seed", value, "a whole number", err);
}

static const struct { const char *name; int (*set)(struct attn_plan *p, const char *value, struct attn_err *err); }
    settings[] = {{"threads", set_threads}, {"compute", set_compute}, {"kind", set_kind}, {"scale", set_scale},
                  {"dropout", set_dropout}, {"seed", set_seed}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Up to the comma before the next name: a kind has commas of its own, as in strided:2,3. */
static size_t setting_length(const char *text)
{
    size_t len = 0;
    do
        len += text[len] == ',' ? 1 + strcspn(text + len + 1, ",") : strcspn(text, ",");
    while (text[len] && text[len + 1 + strcspn(text + len + 1, "=,")] != '=');
    return len;
}

static int set(struct attn_plan *p, const char *text, size_t len, struct attn_err *err)
{
    char value[VALUE_LONGEST + 1];
    size_t name = strcspn(text, "=");
    for (size_t i = 0; i < SETTINGS && name < len; i++)
        if (strlen(settings[i].name) == name && !memcmp(settings[i].name, text, name)) {
            if (len - name > VALUE_LONGEST)
                break;
            memcpy(value, text + name + 1, len - name - 1);
            value[len - name - 1] = '\0';
            return settings[i].set(p, value, err);
        }
    return attn_fail(err, ATTN_EUSAGE,
                     "plan: '%.*s', expected threads=N, compute=f32|bf16, kind=KIND, scale=none|sqrt|NUMBER, dropout=P "
                     "or seed=N, with commas between them", attn_shown(text, len), text);
}

int attn_plan_parse(struct attn_plan *p, const char *text, struct attn_err *err)
{
    struct attn_plan read = *p;
    int rc = ATTN_OK;
    while (text && *text && !rc) {
        size_t len = setting_length(text);
        rc = set(&read, text, len, err);
        text += len + (text[len] == ',');
    }
    if (!rc)
        *p = read;
    return rc;
}

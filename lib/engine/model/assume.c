#include "model/assume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"

enum { VALUES = 5 };

/* What may be said of each key, as words of a list. */
static const struct { const char *key, *word[VALUES]; } keys[ATTN_AS_KEYS] = {
    [ATTN_AS_SCALE] = {"scale", {"scale=head", "scale=width"}},
    [ATTN_AS_ACT] = {"act", {"act=relu", "act=relu2", "act=gelu", "act=gelu_tanh"}},
    [ATTN_AS_NORM] = {"norm", {"norm=pre", "norm=post"}},
    [ATTN_AS_EMBED] = {"embed", {"embed=plain", "embed=sqrt"}},
    [ATTN_AS_HEADS] = {"heads", {NULL}}};           /* a number */

/* The v-th value of a key; NULL: it has no more. */
static const char *value_of(int key, size_t v)
{
    const char *word = v < VALUES ? keys[key].word[v] : NULL;
    return word ? strchr(word, '=') + 1 : NULL;
}

/* A name may stand for a value, too. */
static const struct { const char *name, *means, *scale; } names[] = {
    {"nanogpt", "nanogpt", NULL}, {"mingpt", "mingpt", NULL}, {"gpt2", "gpt2", NULL}, {"lecture", "lecture", NULL},
    {"lecture-video", "lecture", "width"}};
enum { NAMES = sizeof names / sizeof *names };

const char *attn_as_word(size_t i)
{
    if (i < NAMES)
        return names[i].name;
    i -= NAMES;
    for (int k = 0; k < ATTN_AS_KEYS; k++)
        for (size_t v = 0; value_of(k, v); v++)
            if (!i--)
                return keys[k].word[v];
    return NULL;
}

const char *attn_as_value(const char *key, size_t i)
{
    for (int k = 0; k < ATTN_AS_KEYS; k++)
        if (!strcmp(keys[k].key, key))
            return value_of(k, i);
    return NULL;
}

/* ---- reading a list ---------------------------------------------------------------------- */

/* The word of a list that is looked at. */
struct word { const char *s; size_t len; };

static bool is(struct word w, const char *text) { return w.len == strlen(text) && !memcmp(w.s, text, w.len); }

static int unknown(struct word w, struct attn_err *err)
{
    char list[200] = "";
    for (size_t i = 0; attn_as_word(i); i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s, ", attn_as_word(i));
    return attn_fail(err, ATTN_EUSAGE, "--as: there is no '%.*s', expected words of this list with commas between "
                                       "them: %sheads=N", (int)(w.len < 40 ? w.len : 40), w.s, list);
}

static int twice(const char *key, const char *first, const char *second, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "--as: %s is given twice, as %s and as %s: expected it once", key, first,
                     second);
}

static int take_value(struct attn_as *as, int key, const char *value, struct attn_err *err)
{
    if (as->value[key])
        return twice(keys[key].key, as->value[key], value, err);
    as->value[key] = value;
    return ATTN_OK;
}

static int take_heads(struct attn_as *as, struct word w, struct word value, struct attn_err *err)
{
    char digits[12], before[24];
    if (!value.len || value.len >= sizeof digits || strspn(value.s, "0123456789") < value.len)
        return unknown(w, err);
    snprintf(digits, sizeof digits, "%.*s", (int)value.len, value.s);
    const unsigned long n = strtoul(digits, NULL, 10);
    if (!n || n > INT32_MAX)
        return unknown(w, err);
    snprintf(before, sizeof before, "%zu", as->heads);
    if (as->heads)
        return twice("heads", before, digits, err);
    as->heads = n;
    return ATTN_OK;
}

static int take_name(struct attn_as *as, struct word w, struct attn_err *err)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (!is(w, names[i].name))
            continue;
        if (as->name)
            return twice("the name", as->name, names[i].name, err);
        as->name = names[i].means;
        return names[i].scale ? take_value(as, ATTN_AS_SCALE, names[i].scale, err) : ATTN_OK;
    }
    return unknown(w, err);
}

static int take_word(struct attn_as *as, struct word w, struct attn_err *err)
{
    const char *sign = memchr(w.s, '=', w.len);
    if (!sign)
        return take_name(as, w, err);
    const struct word key = {w.s, (size_t)(sign - w.s)}, value = {sign + 1, w.len - key.len - 1};
    for (int k = 0; k < ATTN_AS_KEYS; k++) {
        if (!is(key, keys[k].key))
            continue;
        if (k == ATTN_AS_HEADS)
            return take_heads(as, w, value, err);
        for (size_t v = 0; value_of(k, v); v++)
            if (is(value, value_of(k, v)))
                return take_value(as, k, value_of(k, v), err);
    }
    return unknown(w, err);
}

int attn_as_read(struct attn_as *out, const char *list, struct attn_err *err)
{
    *out = (struct attn_as){0};
    int rc = ATTN_OK;
    for (const char *at = list; at && !rc; at += *at == ',') {
        const struct word w = {at, strcspn(at, ",")};
        rc = take_word(out, w, err);
        at += w.len;
        if (!*at)
            break;
    }
    return rc;
}

/* ---- what a file means ------------------------------------------------------------------- */

static bool among(const char *list, const char *value)
{
    char word[32];
    snprintf(word, sizeof word, " %s ", value);
    return list && strstr(list, word);
}

int attn_as_settle(const char **value, struct attn_assumptions *assumed, enum attn_as_key key,
                   const struct attn_fact *fact, const struct attn_as *given, const char *path, const char *what,
                   struct attn_err *err)
{
    const char *said = given->value[key], *name = keys[key].key;
    *value = said ? said : fact->value;
    if (!said && fact->guessed)
        assumed->of[assumed->n++] = (struct attn_assumed){name, fact->value};
    if (!said || !strcmp(said, fact->value) || among(fact->others, said))
        return ATTN_OK;
    if (!fact->others)
        return attn_fail(err, ATTN_EUSAGE, "%s: %s, which has %s=%s, and --as says %s=%s", path, what, name,
                         fact->value, name, said);
    return attn_fail(err, ATTN_EUSAGE, "%s: %s, and --as says %s=%s: expected one of%.*s", path, what, name, said,
                     (int)strlen(fact->others) - 1, fact->others);
}

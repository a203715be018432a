#include "trace/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const char blanks[] = " \t";

/* Reads a whole number at *at, which moves behind it; a number too large for 64 bits becomes the largest one. */
static bool whole(const char **at, uint64_t *out)
{
    const char *start = *at;
    for (*out = 0; **at >= '0' && **at <= '9'; ++*at) {
        unsigned digit = (unsigned)(**at - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    return *at > start;
}

static bool word(const char **at, const char *expected)
{
    size_t n = strlen(expected);
    bool is = !strncmp(*at, expected, n);
    *at += is ? n : 0;
    return is;
}

/* One item of a list among n: [lo, hi].  hi is n or more where it is not there. */
static bool item(const char **at, size_t n, uint64_t *lo, uint64_t *hi)
{
    *lo = !n;                           /* all of nothing: none */
    *hi = n ? n - 1 : 0;
    if (word(at, "all") || word(at, "*"))
        return true;
    if (word(at, "last") || word(at, "-")) {
        uint64_t back = 1;
        if ((*at)[-1] == '-' && (!whole(at, &back) || !back))
            return false;
        *lo = *hi = back > n ? UINT64_MAX : n - back;
        return true;
    }
    if (!whole(at, lo))
        return false;
    *hi = *lo;
    if (**at != '-')
        return true;
    ++*at;
    return whole(at, hi) && *hi >= *lo;
}

int attn_spec_parse(bool *keep, const struct attn_spec *sp, struct attn_err *err)
{
    memset(keep, !sp->text, sp->n);
    for (const char *at = sp->text; at; at = *at ? at + 1 : NULL) {
        uint64_t lo, hi;
        at += strspn(at, blanks);
        const char *start = at;
        bool ok = item(&at, sp->n, &lo, &hi);
        int len = (int)(at - start);
        at += strspn(at, blanks);
        if (!ok || (*at && *at != ','))
            return attn_fail(err, ATTN_EUSAGE, "%s '%.80s': expected indices and ascending ranges such as 0,2-4, -1 or "
                             "last for the last one, or all", sp->option, sp->text);
        if (hi >= sp->n && lo <= hi)
            return attn_fail(err, ATTN_EFORMAT, "%s '%.80s': found %.*s, but %s '%s' has %zu %s%s, counted from 0",
                             sp->option, sp->text, len, start, sp->owner, sp->name, sp->n, sp->noun, sp->n == 1 ? "" :
                             "s");
        if (lo <= hi)
            memset(keep + lo, true, hi - lo + 1);
    }
    return ATTN_OK;
}

/* ---- places ---- */

/* How long the list is that the text begins with.  A comma continues it before what can be an item of it. */
static size_t list_len(const char *text)
{
    size_t n = strspn(text, "0123456789-*");
    while (n && text[n] == ',' && text[n + 1] && strchr("0123456789-*", text[n + 1]))
        n += 1 + strspn(text + n + 1, "0123456789-*");
    return n;
}

size_t attn_spec_place(struct attn_spec_place *out, const char *text)
{
    *out = (struct attn_spec_place){.layers = text + 1, .n_layers = *text == 'L' ? list_len(text + 1) : 0};
    size_t n = 1 + out->n_layers;
    if (!out->n_layers || text[n] != 'H')
        return out->n_layers ? n : 0;
    out->heads = text + n + 1;
    out->n_heads = list_len(out->heads);
    return out->n_heads ? n + 1 + out->n_heads : n;
}

/* --head L3H0: the lists in it, which --layer may not leave out. */
static int split(bool *keep_layer, bool *keep_head, const struct attn_spec *layers, const struct attn_spec *heads,
                 const struct attn_spec_place *p, struct attn_err *err)
{
    char *layer = strndup(p->layers, p->n_layers), *head = strndup(p->heads, p->n_heads);
    bool *own = calloc(layers->n + 1, sizeof *own);
    struct attn_spec of[2] = {*layers, *heads};
    int rc = layer && head && own ? ATTN_OK : attn_no_memory(err, NULL, "to select layers and heads");
    of[0].option = of[1].option = heads->option;
    of[0].text = layer;
    of[1].text = head;
    if (!rc)
        rc = attn_spec_parse(keep_head, &of[1], err);
    if (!rc)
        rc = attn_spec_parse(own, &of[0], err);
    if (!rc)
        rc = attn_spec_parse(keep_layer, layers, err);
    for (size_t l = 0; l < layers->n && !rc; l++) {
        if (own[l] && !keep_layer[l])
            rc = attn_fail(err, ATTN_EUSAGE, "%s %.80s is in layer %zu, which %s '%.80s' leaves out: give one of them",
                           heads->option, heads->text, l, layers->option, layers->text);
        keep_layer[l] = own[l];
    }
    free(layer);
    free(head);
    free(own);
    return rc;
}

int attn_spec_both(bool *keep_layer, bool *keep_head, const struct attn_spec *layers, const struct attn_spec *heads,
                   struct attn_err *err)
{
    struct attn_spec_place place = {0};
    const char *text = heads->text ? heads->text + strspn(heads->text, blanks) : "";
    size_t n = attn_spec_place(&place, text);
    if (n && place.heads && !text[n + strspn(text + n, blanks)])
        return split(keep_layer, keep_head, layers, heads, &place, err);
    if (n)
        return attn_fail(err, ATTN_EUSAGE, "%s '%.80s': expected heads such as 0,2-4, or one place such as L3H0 or "
                         "L0-2H1,3%s", heads->option, heads->text, place.heads && text[n] == ','
                         ? "; --show takes several, as in L3H0.pattern,L4H1.pattern" : "");
    int rc = attn_spec_parse(keep_layer, layers, err);
    return rc ? rc : attn_spec_parse(keep_head, heads, err);
}

/* The only one that is kept; its members are named where there are more. */
static int one(size_t *out, const bool *keep, const struct attn_spec *sp, struct attn_err *err)
{
    char list[64] = "";
    size_t found = 0;
    for (size_t i = 0; i < sp->n; i++)
        if (keep[i]) {
            *out = found ? *out : i;
            found++;
            size_t used = strlen(list);
            if (used < sizeof list - 24)
                snprintf(list + used, sizeof list - used, "%s%zu", used ? ", " : "", i);
            else if (list[used - 1] != '.')
                snprintf(list + used, sizeof list - used, ", ...");
        }
    return found == 1 ? ATTN_OK : attn_fail(err, ATTN_EUSAGE, "%s '%.80s': found %zu %ss, %s: expected one of them",
                                            sp->option, sp->text, found, sp->noun, list);
}

int attn_spec_one(size_t *layer, size_t *head, const struct attn_spec *layers, const struct attn_spec *heads,
                  struct attn_err *err)
{
    bool *keep = calloc(layers->n + heads->n + 1, sizeof *keep);
    struct attn_spec of[2] = {*layers, *heads};
    const bool place = heads->text && heads->text[strspn(heads->text, blanks)] == 'L';
    if (!keep)
        return attn_no_memory(err, NULL, "to choose a head");
    if (!of[0].text && !place)
        of[0].text = "0";
    if (!of[1].text)
        of[1].text = "0";
    int rc = attn_spec_both(keep, keep + layers->n, &of[0], &of[1], err);
    if (place)
        of[0] = of[1];
    of[0].noun = layers->noun;
    of[0].n = layers->n;
    if (!rc)
        rc = one(layer, keep, &of[0], err);
    if (!rc)
        rc = one(head, keep + layers->n, &of[1], err);
    free(keep);
    return rc;
}

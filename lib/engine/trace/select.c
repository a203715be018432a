#include "trace/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/near.h"
#include "base/size.h"

static const char default_show[] = "pattern,context";
static const char blanks[] = " \t";

struct attn_select {
    struct attn_hook_points hooks;
    const char *model;                  /* for messages, valid only while the selection is made */
    bool tokens;
    bool (*want)[ATTN_ACTS];            /* [1 + L]: outside the blocks, then each layer */
    size_t *query, n_query, *kv, n_kv;  /* selected query heads and key/value heads, ascending */
    char *show, *layers, *heads;
    char *note;                         /* of a wildcard that found nothing, where another item did; NULL: none */
};

/* ---- layers and heads ------------------------------------------------------------------ */

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

static bool range(const char **at, uint64_t *lo, uint64_t *hi)
{
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
        bool ok = range(&at, &lo, &hi);
        int len = (int)(at - start);
        at += strspn(at, blanks);
        if (!ok || (*at && *at != ','))
            return attn_fail(err, ATTN_EUSAGE, "%s '%.80s': expected indices and ascending ranges such as 0,2-4",
                             sp->option, sp->text);
        if (hi >= sp->n)
            return attn_fail(err, ATTN_EFORMAT, "%s '%.80s': found %.*s, but %s '%s' has %zu %s%s, counted from 0",
                             sp->option, sp->text, len, start, sp->owner, sp->name, sp->n, sp->noun, sp->n == 1 ? "" :
                             "s");
        memset(keep + lo, true, hi - lo + 1);
    }
    return 0;
}

static int keep_layers(struct attn_select *s, struct attn_err *err)
{
    bool *keep = calloc(s->hooks.L + 1, sizeof *keep);
    if (!keep)
        return attn_no_memory(err, NULL, "to select among %zu layers", s->hooks.L);
    int rc = attn_spec_parse(keep, &(struct attn_spec){ "--layer", "layer", s->layers, s->hooks.L,
                                                       "model", s->model }, err);
    for (size_t l = 0; !rc && l < s->hooks.L; l++)
        if (!keep[l])
            memset(s->want[1 + l], 0, sizeof s->want[0]);
    free(keep);
    return rc;
}

static void list_heads(struct attn_select *s, const bool *keep)
{
    for (size_t h = 0; h < s->hooks.H; h++) {
        size_t serves = h * s->hooks.Hkv / s->hooks.H;
        if (!keep[h])
            continue;
        s->query[s->n_query++] = h;
        if (!s->n_kv || s->kv[s->n_kv - 1] != serves)
            s->kv[s->n_kv++] = serves;
    }
}

static int keep_heads(struct attn_select *s, struct attn_err *err)
{
    size_t H = s->hooks.H;
    bool *keep = calloc(H + 1, sizeof *keep);
    s->query = calloc(H + 1, sizeof *s->query);
    s->kv = calloc(H + 1, sizeof *s->kv);
    if (!keep || !s->query || !s->kv) {
        free(keep);
        return attn_no_memory(err, NULL, "to select among %zu heads", H);
    }
    int rc = attn_spec_parse(keep, &(struct attn_spec){ "--head", "head", s->heads, H, "model", s->model }, err);
    if (!rc)
        list_heads(s, keep);
    free(keep);
    return rc;
}

/* ---- names ----------------------------------------------------------------------------- */

struct item { const char *text; int len; bool glob, present, match[ATTN_ACTS]; size_t matches; };

/* How far a mistyped name is from the nearer of the activation's short name and its tail. */
static unsigned distance(struct attn_near *typed, const struct item *it, int act)
{
    const char *name = attn_act_short(act), *tail = attn_act_tail(act);
    size_t n = (size_t)it->len;
    if ((n == strlen(name) && !strncasecmp(it->text, name, n)) || attn_act_meant(it->text, n, name))
        return 0;
    unsigned d = attn_near(typed, name, strlen(name), ATTN_FAR), of_tail = attn_near(typed, tail, strlen(tail), ATTN_FAR);
    return d < of_tail ? d : of_tail;
}

static void append(char *list, size_t size, const char *name)
{
    size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

enum { LIST_MAX = 320 };               /* all names take 250 */

static int fail_unknown(const struct item *it, struct attn_err *err)
{
    char list[LIST_MAX] = "";
    unsigned best = ATTN_FAR;
    struct attn_near typed;
    if (it->len == 3 && !strncasecmp(it->text, "all", 3))
        return attn_fail(err, ATTN_EUSAGE,
                         "--show: unknown activation '%.*s'; all of them are '*', in quotes", it->len, it->text);
    attn_near_start(&typed, it->text, (size_t)it->len);
    for (int act = 0; act < ATTN_ACTS; act++) {
        unsigned d = distance(&typed, it, act);
        best = d < best ? d : best;
    }
    for (int act = 0; act < ATTN_ACTS; act++)
        if (best == ATTN_FAR || distance(&typed, it, act) == best)
            append(list, sizeof list, attn_act_tail(act));
    return attn_fail(err, ATTN_EUSAGE, "--show: unknown activation '%.*s'; %s %s", it->len, it->text,
                     best < ATTN_FAR ? "nearest:" : "names: tokens,", list);
}

static int fail_ambiguous(const struct item *it, struct attn_err *err)
{
    char list[LIST_MAX] = "";
    for (int act = 0; act < ATTN_ACTS; act++)
        if (it->match[act])
            append(list, sizeof list, attn_act_tail(act));
    return attn_fail(err, ATTN_EUSAGE, "--show: '%.*s' is ambiguous: it could be any of %s (in every layer, "
                     "or with blocks.N. before it in layer N)", it->len, it->text, list);
}

static int fail_absent(const struct attn_select *s, const struct item *it, struct attn_err *err)
{
    char list[LIST_MAX] = "";
    for (int act = 0; act < ATTN_ACTS; act++)
        if (s->hooks.has[act])
            append(list, sizeof list, attn_act_tail(act));
    return attn_fail(err, ATTN_EFORMAT, "--show: model '%s' has no '%.*s', as it lacks the part that makes it; "
                     "it has %s", s->model, it->len, it->text, list);
}

/* Whether an item names a layer that the model does not have, like "blocks.7.attn.pattern". */
static bool beyond_layers(const struct attn_select *s, const struct item *it)
{
    static const char prefix[] = "blocks.";
    const char *at = it->text + strlen(prefix), *end = it->text + it->len;
    uint64_t layer;
    if ((size_t)it->len <= strlen(prefix) || memcmp(it->text, prefix, strlen(prefix)) || !whole(&at, &layer) ||
        layer < s->hooks.L || at >= end || *at++ != '.')
        return false;
    for (int act = 0; act < ATTN_ACTS; act++)
        if (attn_act_per_layer(act) && attn_glob(at, (size_t)(end - at), attn_act_tail(act)))
            return true;
    return false;
}

static int fail_item(const struct attn_select *s, const struct item *it, struct attn_err *err)
{
    if (it->matches)
        return fail_absent(s, it, err);
    if (beyond_layers(s, it))
        return attn_fail(err, ATTN_EFORMAT, "--show: '%.*s' is beyond model '%s', which has %zu layer%s, "
                         "counted from 0", it->len, it->text, s->model, s->hooks.L, s->hooks.L == 1 ? "" : "s");
    if (it->glob)
        return attn_fail(err, ATTN_EUSAGE, "--show: nothing matches '%.*s'; names are like embed, "
                         "blocks.0.attn.pattern, logits", it->len, it->text);
    return fail_unknown(it, err);
}

/* Whether the last component of the glob is the activation's own short name, as in "blocks.*.rollout". */
static bool is_named(const char *glob, size_t len, int act)
{
    const char *name = attn_act_short(act);
    size_t n = strlen(name);
    return len >= n && !memcmp(glob + len - n, name, n) && (len == n || glob[len - n - 1] == '.');
}

static void match_item(struct attn_select *s, struct item *it)
{
    for (int act = 0; act < ATTN_ACTS; act++) {
        bool block = attn_act_per_layer(act);
        if (it->glob && attn_act_derived(act) && !is_named(it->text, (size_t)it->len, act))
            continue;
        for (size_t row = block; row <= (block ? s->hooks.L : 0); row++) {
            if (!attn_act_match(it->text, (size_t)it->len, act, (int)row - 1))
                continue;
            it->match[act] = true;
            s->want[row][act] |= s->hooks.has[act];
        }
        it->matches += it->match[act];
        it->present |= it->match[act] && s->hooks.has[act];
    }
}

static int add_item(struct attn_select *s, const char *text, size_t len, struct attn_err *err)
{
    struct item it = { .text = text, .len = (int)len, .glob = memchr(text, '*', len) || memchr(text, '?', len) };
    if (!len)
        return attn_fail(err, ATTN_EUSAGE, "--show '%s': a name is missing", s->show);
    match_item(s, &it);
    if (!it.glob && it.matches > 1)
        return fail_ambiguous(&it, err);
    bool tokens = attn_glob(text, len, "tokens");
    s->tokens |= tokens;
    return it.present || tokens ? 0 : fail_item(s, &it, err);
}

/* A wildcard that finds nothing is an error only if no other item finds anything. */
static int end_names(struct attn_select *s, const struct attn_err *missed, struct attn_err *err)
{
    if (!missed->code)
        return 0;
    if (!s->tokens && !attn_select_activations(s))
        return attn_fail_as(err, missed);
    s->note = strdup(missed->msg);
    return s->note ? 0 : attn_no_memory(err, NULL, "for a note");
}

static int keep_names(struct attn_select *s, struct attn_err *err)
{
    struct attn_err missed = {0};
    for (const char *at = s->show;; at++) {
        struct attn_err why = {0};
        at += strspn(at, blanks);
        size_t width = strcspn(at, ","), len = width;
        while (len && strchr(blanks, at[len - 1]))
            len--;
        if (add_item(s, at, len, &why) && !memchr(at, '*', len) && !memchr(at, '?', len))
            return attn_fail_as(err, &why);
        if (!missed.code)
            missed = why;
        at += width;
        if (!*at)
            return end_names(s, &missed, err);
    }
}

/* ---- the selection --------------------------------------------------------------------- */

static bool copy(char **out, const char *text)
{
    return !text || (*out = strdup(text));
}

static int fill(struct attn_select *s, struct attn_err *err)
{
    int rc = keep_names(s, err);
    if (!rc)
        rc = keep_layers(s, err);
    if (!rc)
        rc = keep_heads(s, err);
    if (!rc && !s->tokens && !attn_select_activations(s))
        rc = attn_fail(err, ATTN_EUSAGE, "--show '%s' with --layer '%s' leaves nothing to show", s->show, s->layers);
    s->model = NULL;
    return rc;
}

int attn_select_make(struct attn_select **out, const struct attn_hook_points *hooks, const char *model,
                     const char *show, const char *layers, const char *heads, struct attn_err *err)
{
    *out = NULL;
    struct attn_select *s = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for a selection");
    s->hooks = *hooks;
    s->model = model;
    s->want = calloc(1 + hooks->L, sizeof *s->want);
    bool copied = copy(&s->show, show ? show : default_show) && copy(&s->layers, layers) && copy(&s->heads, heads);
    int rc = s->want && copied ? fill(s, err)
                               : attn_no_memory(err, NULL, "to select from %zu layers", hooks->L);
    if (rc)
        attn_select_free(s);
    else
        *out = s;
    return rc;
}

void attn_select_free(struct attn_select *s)
{
    if (!s)
        return;
    free(s->want);
    free(s->query);
    free(s->kv);
    free(s->show);
    free(s->layers);
    free(s->heads);
    free(s->note);
    free(s);
}

bool attn_select_wants(const struct attn_select *s, int act, int layer)
{
    return layer >= -1 && (size_t)layer + 1 <= s->hooks.L && s->want[layer + 1][act];
}

const char *attn_select_note(const struct attn_select *s)
{
    return s->note;
}

bool attn_select_tokens(const struct attn_select *s)
{
    return s->tokens;
}

const size_t *attn_select_heads(const struct attn_select *s, int act, size_t *n)
{
    if (!attn_act_heads(&s->hooks, act)) {
        *n = 0;
        return NULL;
    }
    *n = attn_act_kv_heads(act) ? s->n_kv : s->n_query;
    return attn_act_kv_heads(act) ? s->kv : s->query;
}

size_t attn_select_activations(const struct attn_select *s)
{
    size_t n = 0;
    for (size_t row = 0; row <= s->hooks.L; row++)
        for (int act = 0; act < ATTN_ACTS; act++)
            n += s->want[row][act];
    return n;
}

size_t attn_select_matrices(const struct attn_select *s)
{
    size_t n = 0;
    for (size_t row = 0; row <= s->hooks.L; row++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            size_t heads;
            attn_select_heads(s, act, &heads);
            n += s->want[row][act] ? (heads ? heads : 1) : 0;
        }
    return n;
}

bool attn_select_interleaved(const struct attn_select *s, int layer)
{
    int n = 0;
    for (int act = 0; act < ATTN_ACTS; act++)
        n += attn_act_alternates(act) && attn_select_wants(s, act, layer);
    return n > 1;
}

struct attn_asked attn_select_asked(const struct attn_select *s)
{
    return (struct attn_asked){ s->show, s->layers, s->heads };
}

#include "trace/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/near.h"
#include "base/num.h"
#include "base/size.h"
#include "trace/hooks.h"
#include "trace/spec.h"

static const char default_show[] = "pattern,context";
static const char blanks[] = " \t";

struct attn_select {
    struct attn_hook_points hooks;
    const char *model;                  /* for messages, valid only while the selection is made */
    bool tokens;
    bool (*want)[ATTN_ACTS];            /* [1 + L]: outside the blocks, then each layer */
    unsigned (*own)[ATTN_ACTS];         /* [1 + L]: which list says its heads */
    /* list[0]: of --head; selected query heads and key/value heads, ascending */
    struct heads { bool *keep; size_t *query, n_query, *kv, n_kv; } *list;
    size_t lists, room;
    char *show, *layers, *heads;
    char *note;                         /* of a wildcard that found nothing, where another item did; NULL: none */
};

/* ---- layers and heads ------------------------------------------------------------------ */

static int new_list(struct attn_select *s, struct attn_err *err)
{
    struct heads *more = attn_grow(s->list, &s->room, s->lists + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "to select heads");
    s->list = more;
    struct heads *h = &more[s->lists++];
    const size_t n = s->hooks.H + 1;
    *h = (struct heads){.keep = calloc(n, sizeof *h->keep), .query = calloc(n, sizeof *h->query),
                        .kv = calloc(n, sizeof *h->kv)};
    return h->keep && h->query && h->kv ? ATTN_OK
                                        : attn_no_memory(err, NULL, "to select among %zu heads", s->hooks.H);
}

/* From which heads are kept to lists of them. */
static void list_heads(struct attn_select *s, struct heads *list)
{
    for (size_t h = 0; h < s->hooks.H; h++) {
        size_t serves = h * s->hooks.Hkv / s->hooks.H;
        if (!list->keep[h])
            continue;
        list->query[list->n_query++] = h;
        if (!list->n_kv || list->kv[list->n_kv - 1] != serves)
            list->kv[list->n_kv++] = serves;
    }
}

static struct attn_spec layers_of(const struct attn_select *s, const char *option, const char *text)
{
    return (struct attn_spec){option, "layer", text, s->hooks.L, "model", s->model};
}

static struct attn_spec heads_of(const struct attn_select *s, const char *option, const char *text)
{
    return (struct attn_spec){option, "head", text, s->hooks.H, "model", s->model};
}

/* What --layer and --head say. */
static int keep_both(struct attn_select *s, struct attn_err *err)
{
    const struct attn_spec layers = layers_of(s, "--layer", s->layers), heads = heads_of(s, "--head", s->heads);
    bool *keep = calloc(s->hooks.L + 1, sizeof *keep);
    if (!keep)
        return attn_no_memory(err, NULL, "to select among %zu layers", s->hooks.L);
    int rc = attn_spec_both(keep, s->list[0].keep, &layers, &heads, err);
    if (!rc && s->heads && s->lists > 1)
        rc = attn_fail(err, ATTN_EUSAGE, "--show '%.80s' with --head: the heads are given twice, by H and by --head",
                       s->show);
    for (size_t l = 0; !rc && l < s->hooks.L; l++)
        if (!keep[l])
            memset(s->want[1 + l], 0, sizeof s->want[0]);
    free(keep);
    for (size_t i = 0; i < s->lists && !rc; i++)
        list_heads(s, &s->list[i]);
    return rc;
}

/* ---- names ----------------------------------------------------------------------------- */

/* `text` is the name; `all` the item as it was typed, with the place before the name. */
struct item {
    const char *text; int len;
    const char *all; int all_len;
    bool *layer;                        /* [L] of L<n>; NULL: each */
    unsigned list;                      /* of L<n>H<m>; 0: that of --head */
    bool glob, present, match[ATTN_ACTS]; size_t matches;
};

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

/* Whether the model has what an item names, without heads. */
static bool lacks_heads(const struct attn_select *s, const struct item *it)
{
    for (int act = 0; act < ATTN_ACTS; act++)
        if (it->match[act] && s->hooks.has[act])
            return true;
    return false;
}

static int fail_headless(const struct item *it, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "--show: '%.*s': %.*s is not made head by head: leave out H and the heads",
                     it->all_len, it->all, it->len, it->text);
}

/* Whether an item names a layer that the model does not have, like "blocks.7.attn.pattern". */
static bool beyond_layers(const struct attn_select *s, const struct item *it)
{
    static const char prefix[] = "blocks.";
    const char *at = it->text + strlen(prefix), *end = it->text + it->len;
    uint64_t layer;
    if ((size_t)it->len <= strlen(prefix) || memcmp(it->text, prefix, strlen(prefix)))
        return false;
    size_t digits = strspn(at, "0123456789");
    bool fits = attn_num_parse_u64(at, digits, &layer);
    at += digits;
    if (!digits || (fits && layer < s->hooks.L) || at >= end || *at++ != '.')
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

/* Heads that several items name of one activation are shown together. */
static int want(struct attn_select *s, const struct item *it, int act, size_t row, struct attn_err *err)
{
    bool *has = &s->want[row][act];
    unsigned *own = &s->own[row][act];
    if (!*has || !it->list || !*own)
        *own = *has && !*own ? 0 : it->list;
    else if (*own != it->list) {
        size_t mine = *own;
        if (new_list(s, err))
            return err->code;
        *own = (unsigned)(s->lists - 1);
        for (size_t h = 0; h < s->hooks.H; h++)
            s->list[*own].keep[h] = s->list[mine].keep[h] || s->list[it->list].keep[h];
    }
    *has = true;
    return ATTN_OK;
}

static int match_item(struct attn_select *s, struct item *it, struct attn_err *err)
{
    for (int act = 0; act < ATTN_ACTS; act++) {
        bool block = attn_act_per_layer(act), has = s->hooks.has[act] && (!it->list || attn_act_heads(&s->hooks, act));
        if ((it->glob && attn_act_derived(act) && !is_named(it->text, (size_t)it->len, act)) || (it->layer && !block))
            continue;
        for (size_t row = block; row <= (block ? s->hooks.L : 0); row++) {
            if (!attn_act_match(it->text, (size_t)it->len, act, (int)row - 1))
                continue;
            it->match[act] = true;
            if (has && (!it->layer || it->layer[row - 1]) && want(s, it, act, row, err))
                return err->code;
        }
        it->matches += it->match[act];
        it->present |= it->match[act] && has;
    }
    return ATTN_OK;
}

static int find_item(struct attn_select *s, struct item it, struct attn_err *err)
{
    char ours[ATTN_HOOK_ROOM];
    if (attn_hook_translate(ours, it.text, (size_t)it.len, &s->hooks, "--show", err))
        return err->code;
    if (*ours) {
        it.text = ours;
        it.len = (int)strlen(ours);
    }
    it.glob = memchr(it.text, '*', (size_t)it.len) || memchr(it.text, '?', (size_t)it.len);
    if (match_item(s, &it, err))
        return err->code;
    if (!it.glob && it.matches > 1)
        return fail_ambiguous(&it, err);
    bool tokens = !it.layer && attn_glob(it.text, (size_t)it.len, "tokens");
    s->tokens |= tokens;
    if (it.present || tokens)
        return ATTN_OK;
    return it.matches && it.list && !it.glob && lacks_heads(s, &it) ? fail_headless(&it, err)
                                                                    : fail_item(s, &it, err);
}

/* L3H0.pattern, L3.mlp.out, L3H0 or L3: without a name, what is shown of a head or of a layer by itself. */
static int find_place(struct attn_select *s, struct item *it, const struct attn_spec_place *p, size_t len,
                      struct attn_err *err)
{
    char *layers = strndup(p->layers, p->n_layers), *heads = p->heads ? strndup(p->heads, p->n_heads) : NULL;
    const char *rest = it->all + len, *end = it->all + it->all_len;
    const struct attn_spec of = layers_of(s, "--show", layers);
    const bool named = rest < end;
    it->layer = calloc(s->hooks.L + 1, sizeof *it->layer);
    int rc = layers && it->layer && (heads || !p->heads) ? ATTN_OK : attn_no_memory(err, NULL, "to select a place");
    if (!rc)
        rc = attn_spec_parse(it->layer, &of, err);
    if (!rc && heads)
        rc = new_list(s, err);
    if (!rc && heads) {
        const struct attn_spec list = heads_of(s, "--show", heads);
        it->list = (unsigned)s->lists - 1;
        rc = attn_spec_parse(s->list[it->list].keep, &list, err);
    }
    it->text = named ? rest + 1 : "pattern";
    it->len = named ? (int)(end - it->text) : (int)strlen(it->text);
    if (!rc)
        rc = find_item(s, *it, err);
    if (!rc && !named && !heads) {
        it->text = "context";
        it->len = (int)strlen(it->text);
        rc = find_item(s, *it, err);
    }
    free(it->layer);
    free(layers);
    free(heads);
    return rc;
}

static int add_item(struct attn_select *s, const char *text, size_t len, struct attn_err *err)
{
    struct item it = {.text = text, .len = (int)len, .all = text, .all_len = (int)len};
    struct attn_spec_place place;
    size_t before = attn_spec_place(&place, text);
    if (!len)
        return attn_fail(err, ATTN_EUSAGE, "--show '%s': a name is missing", s->show);
    return before && (before == len || text[before] == '.') ? find_place(s, &it, &place, before, err)
                                                            : find_item(s, it, err);
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
        struct attn_spec_place place;
        size_t width = attn_spec_place(&place, at), len;        /* whose lists have commas in them */
        width += strcspn(at + width, ",");
        len = width;
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
    int rc = new_list(s, err);
    if (!rc)
        rc = keep_names(s, err);
    if (!rc)
        rc = keep_both(s, err);
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
    s->own = calloc(1 + hooks->L, sizeof *s->own);
    bool copied = copy(&s->show, show ? show : default_show) && copy(&s->layers, layers) && copy(&s->heads, heads);
    int rc = s->want && s->own && copied ? fill(s, err)
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
    free(s->own);
    for (size_t i = 0; i < s->lists; i++) {
        free(s->list[i].keep);
        free(s->list[i].query);
        free(s->list[i].kv);
    }
    free(s->list);
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

const size_t *attn_select_heads(const struct attn_select *s, int act, int layer, size_t *n)
{
    *n = 0;
    if (!attn_act_heads(&s->hooks, act) || layer < -1 || (size_t)layer + 1 > s->hooks.L)
        return NULL;
    const struct heads *list = &s->list[s->own[layer + 1][act]];
    *n = attn_act_kv_heads(act) ? list->n_kv : list->n_query;
    return attn_act_kv_heads(act) ? list->kv : list->query;
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
            attn_select_heads(s, act, (int)row - 1, &heads);
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

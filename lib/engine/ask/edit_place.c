#include "ask/edit_place.h"

#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/size.h"
#include "base/strings.h"
#include "trace/hooks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int attn_edit_fail(const struct attn_edit *e, struct attn_err *err, const char *fmt, ...)
{
    char why[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    attn_vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return attn_fail(err, ATTN_EFORMAT, "edit '%.*s': %s", attn_shown(e->text, strlen(e->text)), e->text, why);
}

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the places of an edit");
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* ---- indices that must be below n ---- */

/* The list's indices, all of them if it was not written. */
static int indices(struct attn_ranges *out, const struct attn_edit *e, struct attn_indices list, size_t n,
                   const char *noun, const char *owner, struct attn_err *err)
{
    bool ok = list.n || attn_ranges_add(out, 0, n);
    for (size_t i = 0; i < list.n && ok; i++) {
        const struct attn_edit_index *x = &e->index[list.first + i];
        bool back = x->form == ATTN_INDEX_BACK;
        if (back ? x->lo > n : x->form == ATTN_INDEX_RANGE && x->hi >= n)
            return attn_edit_fail(e, err, "%s %s%zu is not there: %s has %zu %s%s, counted from 0", noun,
                back ? "-" : "",
                                  back ? x->lo : x->hi, owner, n, noun, plural(n));
        ok = back ? attn_ranges_add(out, n - x->lo, n - x->lo + 1)
             : x->form == ATTN_INDEX_RANGE ? attn_ranges_add(out, x->lo, x->hi + 1) : attn_ranges_add(out, 0, n);
    }
    attn_ranges_join(out);
    return ok ? ATTN_OK : no_memory(err);
}

/* ---- names ---- */

struct name {
    const struct attn_edit *edit;
    const struct attn_venue *at;
    const char *text; size_t len;
    bool glob;
    char ours[ATTN_HOOK_ROOM];          /* `text`, if it was a name of another library */
    struct attn_ranges layers;          /* of L<n>; else empty */
    bool match[ATTN_ACTS];              /* what the name could mean in some model */
};

static bool matches(const struct name *n, int act, int layer)
{
    if (!n->edit->place.layered)
        return attn_act_match(n->text, n->len, act, layer);
    return layer >= 0 && attn_ranges_has(&n->layers, (size_t)layer) &&
           (attn_glob(n->text, n->len, attn_act_tail(act)) || attn_glob(n->text, n->len, attn_act_short(act)));
}

static void list_acts(char *list, size_t size, const bool *has)
{
    size_t n = 0;
    *list = '\0';
    for (int act = 0; act < ATTN_ACT_DERIVED && n < size; act++)
        if (!has || has[act])
            n += (size_t)snprintf(list + n, size - n, "%s%s", n ? ", " : "", attn_act_tail(act));
}

enum { LIST = 320 };                    /* all names take 210 */

/* The layer of "blocks.7.attn.out" if the model does not have it. */
static bool beyond(const struct name *n, size_t *layer)
{
    size_t digits = n->len > 7 && !strncmp(n->text, "blocks.", 7) ? strspn(n->text + 7, "0123456789") : 0;
    *layer = digits && digits < 10 ? (size_t)strtoul(n->text + 7, NULL, 10) : 0;
    return digits && n->text[7 + digits] == '.' && *layer >= n->at->info.L;
}

/* The name that was probably meant, with or without its "attn." or "mlp."; NULL: none is near. */
static const char *nearest(const struct name *n)
{
    static const char *const parts[][2] = {{"attn", "attn.out"}, {"mlp", "mlp.out"}};   /* what a part ends with */
    const char *typed = n->text;
    if (!n->glob && !strncmp(typed, "blocks.", 7)) {
        typed += 7 + strspn(typed + 7, "0123456789");
        typed += *typed == '.';
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(typed, parts[i][0]))
            return parts[i][1];
    return n->glob ? NULL : attn_act_nearest(typed, ATTN_ACT_DERIVED);
}

static bool of_no_layer(const struct name *n)
{
    for (int act = 0; act < ATTN_ACT_DERIVED; act++)
        if (!attn_act_per_layer(act) && attn_act_match(n->text, n->len, act, -1))
            return true;
    return false;
}

/* Whether it is "l1h2", a head in small letters. */
static bool is_small_head(const char *s)
{
    size_t layer = s[0] == 'l' ? strspn(s + 1, "0123456789") : 0;
    size_t head = layer && s[1 + layer] == 'h' ? strspn(s + 2 + layer, "0123456789") : 0;
    return head && !s[2 + layer + head];
}

static int fail_unknown(const struct name *n, struct attn_err *err)
{
    char list[LIST];
    size_t layer;
    list_acts(list, sizeof list, NULL);
    if (beyond(n, &layer))
        return attn_edit_fail(n->edit, err, "layer %zu is not there: model %s has %zu layer%s, counted from 0", layer,
                              n->at->info.name,
                              n->at->info.L, plural(n->at->info.L));
    const char *last = strrchr(n->text, '.'), *near = nearest(n);
    const int shown = attn_shown(n->text, n->len);
    for (int act = ATTN_ACT_DERIVED; act < ATTN_ACTS; act++)
        if (!strcmp(last ? last + 1 : n->text, attn_act_short(act)))
            return attn_edit_fail(n->edit, err, "'%.*s' is derived from other activations, and cannot be edited: edit "
                                                "those",
                                  shown, n->text);
    if (n->text[0] == 'H' && n->text[1] >= '0' && n->text[1] <= '9' && n->layers.n)
        return attn_edit_fail(n->edit, err, "'%.*s' is a head, before which no full stop stands: in layer %zu it is "
                                            "L%zu%.*s", shown,
                              n->text, n->layers.r[0].lo, n->layers.r[0].lo, shown, n->text);
    if (n->text[0] == 'H' && n->text[1] >= '0' && n->text[1] <= '9')
        return attn_edit_fail(n->edit, err,
                              "'%.*s' is a head without its layer: in layer 0 it is L0%.*s", shown, n->text, shown,
                              n->text);
    if (is_small_head(n->text))
        return attn_edit_fail(n->edit, err,
                              "no activation is called '%.*s'; a head has capital letters: L%.*sH%s", shown, n->text,
                              (int)(strchr(n->text, 'h') - n->text - 1), n->text + 1, strchr(n->text, 'h') + 1);
    if (n->edit->place.layered && of_no_layer(n))
        return attn_edit_fail(n->edit, err, "'%.*s' is in no layer: leave out the layer before it", shown, n->text);
    if (near)
        return attn_edit_fail(n->edit, err,
                              "no activation is called '%.*s'; the nearest is '%s'", shown, n->text, near);
    return attn_edit_fail(n->edit, err, n->glob ? "nothing matches '%.*s'; names: %s" :
                          "no activation is called '%.*s'; names: %s", shown, n->text, list);
}

static int fail_absent(const struct name *n, struct attn_err *err)
{
    char list[LIST];
    bool matrix = n->match[ATTN_ACT_DOTS] || n->match[ATTN_ACT_SCORES];
    list_acts(list, sizeof list, n->at->hooks.has);
    if (n->at->linear && matrix)
        return attn_edit_fail(n->edit, err, "linear attention has neither dots nor scores, only a pattern");
    return attn_edit_fail(n->edit, err,
                          "model %s has no '%.*s', as it lacks the part that makes it; it has %s", n->at->info.name,
                          attn_shown(n->text, n->len), n->text, list);
}

/* Finds the layers in which the name means activation `act`. */
static bool layers_of(struct attn_ranges *out, struct name *n, int act)
{
    bool ok = true, block = attn_act_per_layer(act);
    for (size_t row = block; row <= (block ? n->at->info.L : 0) && ok; row++)
        if (matches(n, act, (int)row - 1)) {
            n->match[act] = true;
            ok = !n->at->hooks.has[act] || attn_ranges_add(out, row, row + 1);
        }
    attn_ranges_join(out);
    return ok;
}

/* ---- heads and columns ---- */

/* From query heads to the key/value heads that serve them, which must serve no others. */
static int share(struct attn_ranges *heads, const struct attn_edit_reach *r, const struct attn_venue *v,
                 struct attn_err *err)
{
    size_t group = v->info.H / v->info.Hkv;
    struct attn_ranges kv = {0};
    bool ok = true;
    for (size_t i = 0; i < heads->n && ok; i++) {
        struct attn_range x = heads->r[i];
        size_t odd = x.lo % group ? x.lo / group : x.hi / group;
        if (x.lo % group || x.hi % group) {
            size_t outside = x.lo % group ? x.lo - 1 : x.hi;
            attn_ranges_free(&kv);
            return attn_edit_fail(r->edit, err,
                                  "key/value head %zu serves query heads %zu-%zu, and head %zu of them is not chosen: "
                                  "choose all, as in [head=%zu-%zu]", odd, odd * group,
                                  odd * group + group - 1, outside, odd * group, odd * group + group - 1);
        }
        ok = attn_ranges_add(&kv, x.lo / group, x.hi / group);
    }
    attn_ranges_join(&kv);
    attn_ranges_free(heads);
    *heads = kv;
    return ok ? ATTN_OK : no_memory(err);
}

/* The columns of some heads that lie side by side; `cols`, if it is written after L<n>H<m>, counts within each head. */
static int columns_of_heads(struct attn_edit_reach *r, const struct attn_ranges *heads, const struct attn_venue *v,
                            struct attn_err *err)
{
    const struct attn_place *p = &r->edit->place;
    size_t dv = v->info.dv;
    bool within = p->heads.n, ok = true;
    struct attn_ranges cols = {0}, own = r->cols;
    for (size_t i = 0; i < heads->n && ok; i++)
        for (size_t h = heads->r[i].lo; h < heads->r[i].hi && ok; h++)
            for (size_t k = 0; k < own.n && ok; k++) {
                size_t lo = h * dv, lo_own = own.r[k].lo, hi_own = own.r[k].hi;
                ok = within ? attn_ranges_add(&cols, lo + lo_own, lo + hi_own)
                            : attn_ranges_add(&cols, larger(lo, lo_own), smaller(lo + dv, hi_own));
            }
    attn_ranges_join(&cols);
    attn_ranges_free(&own);
    r->cols = cols;
    if (ok && !cols.n)
        return attn_edit_fail(r->edit, err,
                              "none of these columns belongs to these heads, which have %zu columns each", dv);
    return ok ? ATTN_OK : no_memory(err);
}

static int find_heads(struct attn_edit_reach *r, const struct attn_venue *v, struct attn_err *err)
{
    const struct attn_place *p = &r->edit->place;
    struct attn_indices list = p->heads.n ? p->heads : p->by[ATTN_BY_HEAD];
    struct attn_ranges heads = {0};
    size_t own = attn_act_heads(&v->hooks, r->act);
    if (p->heads.n && p->by[ATTN_BY_HEAD].n)
        return attn_edit_fail(r->edit, err, "the heads are given twice, by H and by head=");
    if (!list.n)
        return attn_ranges_add(&r->heads, 0, own ? own : 1) ? ATTN_OK : no_memory(err);
    if (!own && r->act != ATTN_ACT_CONTEXT)
        return attn_edit_fail(r->edit, err, "%s has no heads: those of %s are in q, k, v, dots, scores, pattern and "
                                            "context",
                              attn_act_tail(r->act), v->info.name);
    int rc = indices(&heads, r->edit, list, v->info.H, "head", v->info.name, err);
    if (!rc && attn_act_kv_heads(r->act))
        rc = share(&heads, r, v, err);
    if (!rc && r->act == ATTN_ACT_CONTEXT)
        rc = columns_of_heads(r, &heads, v, err);
    if (!rc && r->act == ATTN_ACT_CONTEXT && !attn_ranges_add(&r->heads, 0, 1))
        rc = no_memory(err);
    if (!rc && r->act != ATTN_ACT_CONTEXT) {
        r->heads = heads;
        return ATTN_OK;
    }
    attn_ranges_free(&heads);
    return rc;
}

static int find_columns(struct attn_edit_reach *r, const struct attn_venue *v, struct attn_err *err)
{
    const struct attn_place *p = &r->edit->place;
    const char *tail = attn_act_tail(r->act);
    size_t shape[3];
    int n = attn_act_shape(shape, &v->info, r->act, 1, 1);
    bool square = attn_act_square(r->act);
    if (square && p->by[ATTN_BY_COL].n)
        return attn_edit_fail(r->edit, err, "the columns of %s are keys: key= chooses them, not col=", tail);
    if (!square && p->by[ATTN_BY_KEY].n)
        return attn_edit_fail(r->edit, err,
                              "%s has no keys: key= is for dots, scores and pattern, col= for the columns of others",
                              tail);
    if (square)
        return ATTN_OK;
    if (p->neurons.n && p->by[ATTN_BY_COL].n)
        return attn_edit_fail(r->edit, err, "the neurons are given twice, by N and by col=");
    bool head = r->act == ATTN_ACT_CONTEXT && p->heads.n;
    return indices(&r->cols, r->edit, p->neurons.n ? p->neurons : p->by[ATTN_BY_COL], head ? v->info.dv : shape[n - 1],
                   p->neurons.n ? "neuron" : "column", head ? "a head of attn.context" : tail, err);
}

/* ---- both ---- */

static int add_reach(struct attn_edit_reaches *out, struct name *n, int act, struct attn_err *err)
{
    struct attn_edit_reach r = {.edit = n->edit, .act = act};
    struct attn_edit_reach *more = attn_grow(out->item, &out->room, out->n + 1, sizeof *more);
    if (more)
        out->item = more;
    if (!more || !layers_of(&r.layers, n, act)) {
        attn_ranges_free(&r.layers);
        return no_memory(err);
    }
    if (!r.layers.n)
        return ATTN_OK;
    int rc = find_columns(&r, n->at, err);
    if (!rc)
        rc = find_heads(&r, n->at, err);
    out->item[out->n++] = r;
    return rc;
}

static int find_name(struct name *n, struct attn_err *err)
{
    const struct attn_place *p = &n->edit->place;
    n->text = p->name.at ? attn_edit_at(n->edit, p->name) : p->neurons.n ? "mlp.post" : "attn.context";
    n->len = strlen(n->text);
    char where[sizeof err->msg];
    snprintf(where, sizeof where, "edit '%.*s'", attn_shown(n->edit->text, strlen(n->edit->text)), n->edit->text);
    if (attn_hook_translate(n->ours, n->text, n->len, &n->at->hooks, where, err))
        return err->code;
    if (*n->ours) {
        n->text = n->ours;
        n->len = strlen(n->ours);
    }
    n->glob = strpbrk(n->text, "*?") != NULL;
    return p->layered ? indices(&n->layers, n->edit, p->layers, n->at->info.L,
                                "layer", n->at->info.name, err) : ATTN_OK;
}

/* A plain name must mean one activation. */
static int check_name(const struct name *n, size_t found, struct attn_err *err)
{
    char list[LIST];
    size_t could = 0;
    for (int act = 0; act < ATTN_ACT_DERIVED; act++)
        could += n->match[act];
    list_acts(list, sizeof list, n->match);
    if (could > 1 && !n->glob)
        return attn_edit_fail(n->edit, err,
                              "'%.*s' is ambiguous: it could be any of %s", attn_shown(n->text, n->len), n->text, list);
    return could == 0 ? fail_unknown(n, err) : found == 0 ? fail_absent(n, err) : ATTN_OK;
}

int attn_place_find(struct attn_edit_reaches *out, const struct attn_edit *e, const struct attn_venue *v,
                    struct attn_err *err)
{
    struct name n = {.edit = e, .at = v};
    size_t before = out->n;
    int rc = find_name(&n, err);
    for (int act = 0; act < ATTN_ACT_DERIVED && !rc; act++)
        rc = add_reach(out, &n, act, err);
    if (!rc)
        rc = check_name(&n, out->n - before, err);
    attn_ranges_free(&n.layers);
    return rc;
}

void attn_edit_reaches_free(struct attn_edit_reaches *r)
{
    for (size_t i = 0; i < r->n; i++) {
        attn_ranges_free(&r->item[i].layers);
        attn_ranges_free(&r->item[i].heads);
        attn_ranges_free(&r->item[i].cols);
    }
    free(r->item);
    *r = (struct attn_edit_reaches){0};
}

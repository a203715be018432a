#include "compare/naming.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "io/safetensors.h"
#include "trace/hooks.h"
#include "trace/trace.h"

enum rank { EXACT, BY_RULE, SPELLED, BY_HOOK };     /* then the row of hooks.h */

/* ---- how names are spelled -------------------------------------------------------------- */

bool attn_naming_spell(char out[ATTN_NAMING_ROOM], const char *name, size_t len)
{
    static const char ending[] = ".npy";
    if (len > sizeof ending - 1 && !memcmp(name + len - (sizeof ending - 1), ending, sizeof ending - 1))
        len -= sizeof ending - 1;
    if (len >= ATTN_NAMING_ROOM)
        return false;
    for (size_t i = 0; i < len; i++)
        out[i] = name[i];
    out[len] = '\0';
    for (char *slash = strchr(out, '/'); slash; slash = strchr(slash, '/'))
        *slash = '.';
    return true;
}

const char *attn_naming_tail(const char *name)
{
    size_t number = strncmp(name, "blocks.", 7) ? 0 : !strncmp(name + 7, "{}", 2) ? 2 : strspn(name + 7, "0123456789");
    return number && name[7 + number] == '.' ? name + 7 + number + 1 : name;
}

/* ---- what each array is ------------------------------------------------------------------ */

struct namer { const struct attn_dump *dump; struct attn_names *to; size_t room; char side; struct attn_err *err; };

static int put(struct namer *n, int act, int layer, unsigned rank, size_t item)
{
    struct attn_names *to = n->to;
    struct attn_name_at *more = attn_grow(to->place, &n->room, to->places + 1, sizeof *more);
    if (!more)
        return attn_no_memory(n->err, NULL, "to compare %zu names", to->n);
    to->place = more;
    more[to->places++] = (struct attn_name_at){act, layer, rank, item};
    return ATTN_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct attn_name_at *x = a, *y = b;
    if (x->act != y->act)
        return x->act < y->act ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static bool same_place(const struct attn_name_at *x, const struct attn_name_at *y)
{
    return x->act == y->act && x->layer == y->layer;
}

/* Sorts, and keeps the first of those that are the same activation. */
static void settle(struct attn_names *to)
{
    size_t kept = 0;
    if (to->places)
        qsort(to->place, to->places, sizeof *to->place, by_place);
    for (size_t i = 0; i < to->places; i++)
        if (!kept || !same_place(&to->place[kept - 1], &to->place[i]))
            to->place[kept++] = to->place[i];
    to->places = kept;
}

static int refuse_twice(const struct namer *n, const struct attn_name_at *x, const struct attn_name_at *y)
{
    char name[ATTN_NAME_MAX];
    const char *a = n->dump->item[x->item].name, *b = n->dump->item[y->item].name;
    attn_act_name(name, x->act, x->layer);
    return attn_fail(n->err, ATTN_EUSAGE, "--map makes two arrays of %c the same: '%.*s' and '%.*s' are both %s",
                     n->side, attn_shown(a, strlen(a)), a, attn_shown(b, strlen(b)), b, name);
}

static int refuse_both(const struct namer *n, const char *name, const struct attn_naming_rule *x,
                       const struct attn_naming_rule *y)
{
    return attn_fail(n->err, ATTN_EUSAGE, "'%.*s' of %c fits two rules, %s and %s: leave one out",
                     attn_shown(name, strlen(name)), name, n->side, x->where, y->where);
}

/* What has our name, or one that a rule gives: the user is told where these contradict each other. */
static int name_plainly(struct namer *n, const struct attn_naming *rules, bool *used)
{
    struct attn_names *to = n->to;
    int rc = ATTN_OK;
    for (size_t i = 0; i < to->n && !rc; i++) {
        char name[ATTN_NAMING_ROOM];
        const char *as_is = n->dump->item[i].name;
        bool fits = attn_naming_spell(name, as_is, strlen(as_is));
        const struct attn_naming_rule *ruled = NULL;
        int layer, act = attn_act_find(as_is, &layer);
        if (act >= 0)
            rc = put(n, act, layer, EXACT, i);
        for (size_t k = 0; act < 0 && fits && rules && k < rules->n && !rc; k++)
            if (attn_naming_matches(&rules->rule[k], name, &layer)) {
                rc = ruled ? refuse_both(n, as_is, ruled, &rules->rule[k])
                           : put(n, rules->rule[k].act, layer, BY_RULE, i);
                ruled = &rules->rule[k];
                used[k] = true;
            }
        if (act < 0 && !ruled && fits && !rc && (act = attn_act_find(name, &layer)) >= 0)
            rc = put(n, act, layer, SPELLED, i);
    }
    if (to->places)
        qsort(to->place, to->places, sizeof *to->place, by_place);
    for (size_t i = 1; i < to->places && !rc; i++)
        if (same_place(&to->place[i - 1], &to->place[i]) && to->place[i].rank == BY_RULE)
            rc = refuse_twice(n, &to->place[i - 1], &to->place[i]);
    settle(to);
    return rc;
}

/* The row of hooks.h that the name is, from `row` on, which moves there; NULL: none.  *layer: -1 outside the blocks. */
static const struct attn_hook *find_hook(const char *name, size_t *row, int *layer)
{
    const char *tail = attn_naming_tail(name);
    uint64_t number = 0;
    *layer = -1;
    if (tail != name && (!attn_num_parse_u64(name + 7, (size_t)(tail - name) - 8, &number) || number > INT32_MAX))
        return NULL;
    *layer = tail != name ? (int)number : -1;
    const struct attn_hook *h;
    while ((h = attn_hook_at(*row)) && (attn_act_per_layer(h->act) != (tail != name) || strcmp(h->tail, tail)))
        ++*row;
    return h;
}

/* What TransformerLens calls so and is not known by another name.  `other`: what the other side plainly has. */
static int name_hooks(struct namer *n, const bool *plain, const struct attn_names *other, size_t others)
{
    struct attn_names *to = n->to, seen = {.place = other->place, .places = others};
    int rc = ATTN_OK;
    for (size_t i = 0; i < to->n && !rc; i++) {
        char name[ATTN_NAMING_ROOM];
        int layer;
        const char *as_is = n->dump->item[i].name;
        if (plain[i] || !attn_naming_spell(name, as_is, strlen(as_is)))
            continue;
        size_t row = 0;
        const struct attn_hook *h = find_hook(name, &row, &layer);
        if (h && h->added && attn_names_find(&seen, h->act, layer) == SIZE_MAX) {
            row++;
            h = find_hook(name, &row, &layer);
        }
        if (h)
            rc = put(n, h->act, layer, BY_HOOK + (unsigned)row, i);
    }
    return rc;
}

/* What is known of each array, from where it is. */
static void tell(struct attn_names *to)
{
    for (size_t i = 0; i < to->n; i++)
        to->known[i] = (struct attn_known){.act = -1, .layer = -1};
    for (size_t i = 0; i < to->places; i++) {
        const struct attn_name_at *p = &to->place[i];
        const struct attn_hook *hook = p->rank >= BY_HOOK ? attn_hook_at(p->rank - BY_HOOK) : NULL;
        to->known[p->item] = (struct attn_known){.act = p->act, .layer = p->layer, .exact = p->rank == EXACT,
                                                 .rows_first = hook != NULL, .perhaps_bare = hook && hook->bare};
    }
}

static const char *example(const struct attn_dump *d, const struct attn_names *names)
{
    for (size_t i = 0; i < d->n; i++)
        if (names->known[i].act < 0)
            return d->item[i].name;
    return d->n ? d->item[0].name : "nothing";
}

static int refuse_unused(const struct attn_naming_rule *r, const struct attn_names names[2],
                         const struct attn_dump *const dump[2], struct attn_err *err)
{
    const char *a = example(dump[0], &names[0]), *b = example(dump[1], &names[1]);
    return attn_fail(err, ATTN_EUSAGE,
                     "%s: no array is called like that: A has %zu arrays, such as '%.*s', B %zu, such as '%.*s'",
                     r->where, dump[0]->n, attn_shown(a, strlen(a)), a, dump[1]->n, attn_shown(b, strlen(b)), b);
}

static int name_both(struct namer n[2], const struct attn_naming *rules, bool *used, bool *plain[2],
                     struct attn_err *err)
{
    size_t plainly[2] = {0};
    int rc = ATTN_OK;
    for (int s = 0; s < 2 && !rc; s++) {
        rc = name_plainly(&n[s], rules, used);
        plainly[s] = n[s].to->places;
        for (size_t i = 0; i < plainly[s]; i++)
            plain[s][n[s].to->place[i].item] = true;
    }
    for (int s = 0; s < 2 && !rc; s++)          /* appends: what is plain of the other side stays sorted in front */
        rc = name_hooks(&n[s], plain[s], n[!s].to, plainly[!s]);
    for (int s = 0; s < 2 && !rc; s++) {
        settle(n[s].to);
        tell(n[s].to);
    }
    for (size_t k = 0; rules && k < rules->n && !rc; k++)
        if (!used[k]) {
            const struct attn_dump *const dump[2] = {n[0].dump, n[1].dump};
            const struct attn_names names[2] = {*n[0].to, *n[1].to};
            rc = refuse_unused(&rules->rule[k], names, dump, err);
        }
    return rc;
}

int attn_names_of(struct attn_names out[2], const struct attn_dump *const dump[2], const struct attn_naming *rules,
                  struct attn_err *err)
{
    struct namer n[2];
    bool *plain[2] = {0}, *used = calloc((rules ? rules->n : 0) + 1, sizeof *used), memory = used;
    for (int s = 0; s < 2; s++) {
        out[s] = (struct attn_names){.n = dump[s]->n, .known = calloc(dump[s]->n + 1, sizeof *out[s].known)};
        plain[s] = calloc(dump[s]->n + 1, sizeof *plain[s]);
        memory = memory && out[s].known && plain[s];
        n[s] = (struct namer){dump[s], &out[s], 0, s ? 'B' : 'A', err};
    }
    int rc = memory ? name_both(n, rules, used, plain, err)
             : attn_no_memory(err, NULL, "to compare %zu and %zu arrays", dump[0]->n, dump[1]->n);
    for (int s = 0; s < 2; s++) {
        free(plain[s]);
        if (rc)
            attn_names_free(&out[s]);
    }
    free(used);
    return rc;
}

size_t attn_names_find(const struct attn_names *names, int act, int layer)
{
    size_t low = 0, high = names->places;
    const struct attn_name_at want = {act, layer, 0, 0};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&names->place[middle], &want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->places && same_place(&names->place[low], &want) ? names->place[low].item : SIZE_MAX;
}

void attn_names_free(struct attn_names *names)
{
    free(names->known);
    free(names->place);
    *names = (struct attn_names){0};
}

/* ---- files that may hold weights or activations ------------------------------------------ */

bool attn_diff_takes(const char *path, const struct attn_naming *rules)
{
    struct attn_map m = {0};
    struct attn_st *st = NULL;
    struct attn_err why = {0};
    bool found = false;
    if (!attn_ends_with(path, ".safetensors") ||
        attn_map_open_found(&m, path, ATTN_DUMP_LARGEST, ATTN_LINKS_FOLLOWED, &why))
        return false;
    if (attn_st_open(&st, m.data, m.len, path, &why))
        st = NULL;
    for (size_t i = 0; st && i < attn_st_count(st) && !found; i++) {
        const char *as_is = attn_st_at(st, i)->name;
        char name[ATTN_NAMING_ROOM] = "";
        int layer;
        bool fits = attn_naming_spell(name, as_is, strlen(as_is));
        found = fits && (attn_act_find(name, &layer) >= 0 || find_hook(name, &(size_t){0}, &layer));
        for (size_t k = 0; fits && rules && k < rules->n && !found; k++)
            found = attn_naming_matches(&rules->rule[k], name, &layer);
    }
    attn_st_close(st);
    attn_map_close(&m);
    return found;
}

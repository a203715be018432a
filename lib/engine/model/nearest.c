#include "model/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "model/family.h"

/* How many of a family's keys are in the file, and how many of its tensors, of those of layer 0 and outside of layers;
 * others: how many the file has there besides. */
struct likeness {
    const struct attn_family *family;
    size_t keys, all_keys, tensors, all_tensors, others;
};

/* ---- keys ------------------------------------------------------------------------------ */

static bool is_setting(const struct attn_key *k)
{
    return k->type >= ATTN_KEY_SIZE && k->type <= ATTN_KEY_UNLESS;
}

static void compare_keys(struct likeness *l, const cJSON *root)
{
    for (const struct attn_key *k = l->family->keys; k->name; k++) {
        l->all_keys += is_setting(k);
        l->keys += is_setting(k) && attn_tree_member(root, k->name);
    }
}

/* ---- tensors --------------------------------------------------------------------------- */

/* The name within layer 0, or outside of layers; NULL: it is of another layer. */
static const char *path_of(const char *name)
{
    const char *at = strpbrk(name, "0123456789");
    for (; at; at = strpbrk(at + 1, "0123456789")) {
        size_t digits = strspn(at, "0123456789");
        if (at > name && at[-1] == '.' && at[digits] == '.')
            return digits == 1 && *at == '0' ? at + 2 : NULL;
        at += digits - 1;
    }
    return name;
}

/* Whether a name ends in a path and ".weight", at the beginning or after a dot. */
static bool is_weight_of(const char *name, const char *path)
{
    static const char weight[] = ".weight";
    size_t n = strlen(name), all = strlen(path) + sizeof weight - 1;
    if (n < all || strncmp(name + n - all, path, strlen(path)) || strcmp(name + n - (sizeof weight - 1), weight))
        return false;
    return n == all || name[n - all - 1] == '.';
}

/* A path that parts share counts once. */
static bool is_first(const struct attn_family *f, size_t part)
{
    for (size_t i = 0; i < part; i++)
        if (f->part[i].path && !strcmp(f->part[i].path, f->part[part].path))
            return false;
    return true;
}

static void compare_tensors(struct likeness *l, const struct attn_tensor_names *names)
{
    enum { MOST = 1 << 16 };            /* a file may have millions; those of the first layers say enough */
    const struct attn_family *f = l->family;
    bool found[ATTN_PARTS] = {false};
    const char *name;
    for (size_t i = 0; i < MOST && (name = names->at(names->self, i)); i++) {
        const char *path = path_of(name);
        size_t part = 0;
        while (path && part < ATTN_PARTS && !(f->part[part].path && is_weight_of(path, f->part[part].path)))
            part++;
        if (path && part < ATTN_PARTS)
            found[part] = true;
        else if (path && is_weight_of(path, ""))
            l->others++;
    }
    for (size_t part = 0; part < ATTN_PARTS; part++)
        if (f->part[part].path && is_first(f, part)) {
            l->all_tensors++;
            l->tensors += found[part];
        }
}

/* ---- the nearest ----------------------------------------------------------------------- */

/* Between 0 and 3: the share of keys and twice that of tensors among all that either has. */
static double value_of(const struct likeness *l)
{
    size_t tensors = l->all_tensors + l->others;
    return (l->all_keys ? (double)l->keys / (double)l->all_keys : 0) +
           (tensors ? 2 * (double)l->tensors / (double)tensors : 0);
}

static struct likeness find_nearest(const cJSON *root, const struct attn_tensor_names *names)
{
    struct likeness best = {0};
    for (size_t i = 1; attn_families[i]; i++) {         /* the first is our own */
        struct likeness l = {.family = attn_families[i]};
        compare_keys(&l, root);
        if (names->at)
            compare_tensors(&l, names);
        if (!l.family->section && value_of(&l) > value_of(&best))
            best = l;
    }
    return best;
}

/* The names of families, as many as fit. */
static void list_families(char *out, size_t size)
{
    size_t n = 0, i = 0, more = 0;
    for (; attn_families[i]; i++)
        if (n + strlen(attn_families[i]->name) + 4 < size)
            n += (size_t)snprintf(out + n, size - n, "%s\"%s\"", i ? ", " : "", attn_families[i]->name);
        else
            more++;
    if (more)
        snprintf(out + strlen(out), 64, " or %zu more: see 'attn-cli help init'", more);
}

int attn_nearest_fail(const struct attn_key_reader *r, const cJSON *root, const cJSON *v,
                      const struct attn_tensor_names *names)
{
    char expected[320], found[ATTN_TREE_SHOWN];
    const struct likeness l = find_nearest(root, names);
    if (v && l.tensors > 3 && 2 * l.tensors >= l.all_tensors && 3 * l.keys >= l.all_keys)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"model_type\" is %s, which is not read; nearest is \"%s\": it has "
                                               "%zu of its %zu keys and %zu of its %zu kinds of tensors; if it "
                                               "computes the same, write \"model_type\": \"%s\" in a copy", r->name,
                                               attn_tree_show(v, found), l.family->name, l.keys,
                         l.all_keys, l.tensors, l.all_tensors, l.family->name);
    list_families(expected, sizeof expected - 64);
    if (v)
        return attn_key_unexpected(r, "model_type", v, expected);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"model_type\", expected %s", r->name, expected);
}

/* attn_models_list: the models that can be named without a path, and those in Hugging Face's cache. */
#include "attn_tools.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/grow.h"
#include "model/hub.h"
#include "model/source.h"

struct list { struct attn_listed *of; size_t n, room; };

static bool is_taken(const struct list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->of[i].name, name))
            return true;
    return false;
}

/* Adds a model.  A name that an earlier one has does not open this one, so its path takes the place of the name. */
static int add(struct list *l, const char *name, const char *path, const char *where, struct attn_err *err)
{
    struct attn_listed *all = attn_grow(l->of, &l->room, l->n + 1, sizeof *all);
    if (!all)
        return attn_no_memory(err, NULL, "to list models");
    l->of = all;
    char *own = strdup(path && is_taken(l, name) ? path : name), *at = path ? strdup(path) : NULL;
    if (!own || (path && !at)) {
        free(own);
        free(at);
        return attn_no_memory(err, NULL, "to list models");
    }
    all[l->n++] = (struct attn_listed){.name = own, .path = at, .where = where};
    return ATTN_OK;
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int add_plain(struct list *l, const char *path, const char *name, const char *where, struct attn_err *err)
{
    return attn_folder_has(path, "config.json") ? add(l, name, path, where, err) : ATTN_OK;
}

/* What is installed under a name that is built in is the same model, in files. */
static int add_installed(struct list *l, const char *path, const char *name, const char *where, struct attn_err *err)
{
    for (const char *const *own = attn_model_builtin(); *own; own++)
        if (!strcmp(*own, name))
            return ATTN_OK;
    return add_plain(l, path, name, where, err);
}

/* Adds each snapshot of a model in the cache: the one that the model's name stands for, under that name. */
static int add_cached(struct list *l, const char *path, const char *directory, const char *where, struct attn_err *err)
{
    char *name = attn_hub_name(directory), *base = NULL;
    struct dirent **entry = NULL;
    int n = -1, rc = ATTN_OK;
    if (name && attn_asprintf(&base, "%s/snapshots", path) >= 0)
        n = scandir(base, &entry, is_shown, alphasort);
    int taken = attn_hub_main(path, entry, n);
    for (int i = 0; i < n; i++) {
        char *snapshot = NULL;
        if (!rc && (attn_asprintf(&snapshot, "%s/%s", base, entry[i]->d_name) < 0 || !snapshot))
            rc = attn_no_memory(err, NULL, "for a path");
        if (!rc)
            rc = add_plain(l, snapshot, i == taken ? name : snapshot, where, err);
        free(snapshot);
        free(entry[i]);
    }
    free(entry);
    free(base);
    free(name);
    return rc;
}

static int add_all(struct list *l, const char *dir, const char *where,
                   int (*add_one)(struct list *l, const char *path, const char *name, const char *where,
                   struct attn_err *err),
                   struct attn_err *err)
{
    struct dirent **entry = NULL;
    int n = scandir(dir, &entry, is_shown, alphasort), rc = ATTN_OK;
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (!rc && attn_asprintf(&path, "%s/%s", dir, entry[i]->d_name) < 0)
            rc = attn_no_memory(err, NULL, "for a path");
        if (!rc)
            rc = add_one(l, path, entry[i]->d_name, where, err);
        free(path);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

static int add_listed(struct list *l, const char *dirs, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (const char *at = dirs; at && *at && !rc;) {
        size_t len = strcspn(at, ":");
        char *dir = len ? strndup(at, len) : NULL;
        rc = dir ? add_all(l, dir, "ATTN_MODEL_PATH", add_plain, err) : ATTN_OK;
        free(dir);
        at += len + (at[len] == ':');
    }
    return rc;
}

int attn_models_list(struct attn_listed **out, size_t *n, struct attn_err *err)
{
    struct list l = {0};
    int rc = ATTN_OK;
    for (const char *const *name = attn_model_builtin(); *name && !rc; name++)
        rc = add(&l, *name, NULL, "built in", err);
    if (!rc)
        rc = add_listed(&l, getenv("ATTN_MODEL_PATH"), err);
    if (!rc)
        rc = add_all(&l, attn_source_installed(), "installed", add_installed, err);
    char *hub = attn_hub_root();
    if (!rc && hub)
        rc = add_all(&l, hub, "Hugging Face cache", add_cached, err);
    free(hub);
    if (rc)
        attn_models_free(l.of, l.n);
    *out = rc ? NULL : l.of;
    *n = rc ? 0 : l.n;
    return rc;
}

void attn_models_free(struct attn_listed *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)list[i].name);
        free((char *)list[i].path);
    }
    free(list);
}

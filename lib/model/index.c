#include "model/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/tree.h"

enum { VALUES_MAX = 1 << 17, FILES_MAX = 1024 };

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for its list of tensors", name);
}

static bool is_plain(const char *file)
{
    return *file && *file != '.' && !strchr(file, '/') && !strchr(file, '\\') && strlen(file) < 256;
}

/* Finds a file's index in the list, adding it if it is new. */
static int file_of(struct attn_index *x, struct attn_strings *names, const char *file, size_t *at, const char *name,
                   struct attn_err *err)
{
    *at = attn_strings_add(names, file, strlen(file));
    if (*at == ATTN_STRINGS_NONE)
        return no_memory(name, err);
    if (*at < x->files)
        return ATTN_OK;
    if (x->files == FILES_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: more than %d files, expected fewer", name, FILES_MAX);
    x->file[x->files] = strdup(file);
    return x->file[x->files] ? (x->files++, ATTN_OK) : no_memory(name, err);
}

static int by_tensor(const void *a, const void *b)
{
    const struct attn_index_entry *x = a, *y = b;
    return strcmp(x->tensor, y->tensor);
}

const struct attn_index_entry *attn_index_find(const struct attn_index *x, const char *tensor)
{
    const struct attn_index_entry key = {.tensor = (char *)tensor};
    return x->n ? bsearch(&key, x->entry, x->n, sizeof *x->entry, by_tensor) : NULL;
}

static int add_entry(struct attn_index *x, struct attn_strings *names, const cJSON *v, const char *name,
                     struct attn_err *err)
{
    struct attn_index_entry *e = &x->entry[x->n];
    char found[ATTN_TREE_SHOWN];
    if (!cJSON_IsString(v) || !is_plain(v->valuestring))
        return attn_fail(err, ATTN_EFORMAT, "%s: \"weight_map\" says tensor '%.*s' is in %s, expected the plain name of a "
                         "file beside it", name, attn_shown(v->string, strlen(v->string)), v->string,
                         attn_tree_show(v, found));
    e->tensor = strdup(v->string);
    if (!e->tensor)
        return no_memory(name, err);
    x->n++;
    return file_of(x, names, v->valuestring, &e->file, name, err);
}

static int read_map(struct attn_index *x, const cJSON *map, const char *name, struct attn_err *err)
{
    struct attn_strings names = {0};
    const cJSON *v;
    size_t n = 0;
    int rc = ATTN_OK;
    cJSON_ArrayForEach(v, map)
        n++;
    if (!cJSON_IsObject(map) || n == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no \"weight_map\" with tensors, expected one", name);
    x->entry = calloc(n, sizeof *x->entry);
    x->file = calloc(FILES_MAX, sizeof *x->file);
    if (!x->entry || !x->file)
        return no_memory(name, err);
    cJSON_ArrayForEach(v, map)
        if (!rc)
            rc = add_entry(x, &names, v, name, err);
    if (!rc)
        qsort(x->entry, x->n, sizeof *x->entry, by_tensor);
    attn_strings_free(&names);
    return rc;
}

int attn_index_read(struct attn_index *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    *out = (struct attn_index){0};
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    const cJSON *map = rc ? NULL : root->child;
    while (map && strcmp(map->string, "weight_map") != 0)
        map = map->next;
    if (!rc)
        rc = read_map(out, map, name, err);
    cJSON_Delete(root);
    if (rc)
        attn_index_free(out);
    return rc;
}

void attn_index_free(struct attn_index *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->entry[i].tensor);
    for (size_t i = 0; i < x->files; i++)
        free(x->file[i]);
    free(x->entry);
    free(x->file);
    *x = (struct attn_index){0};
}

#include "io/pickle_tree.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/utf8.h"

struct growing { const struct attn_pickle *p; const struct attn_pickled *without; size_t left; bool no_memory; };

static cJSON *tree_of(struct growing *g, const struct attn_pickled *v, int deep);

/* A copy with a NUL after it; NULL: it cannot be a text of JSON, or there is no memory. */
static char *text_of(struct growing *g, const struct attn_pickled *v)
{
    if (v->type != ATTN_PICKLED_TEXT || memchr(v->is.text, 0, v->len) ||
        attn_utf8_valid(v->is.text, v->len) != v->len)
        return NULL;
    char *text = strndup(v->is.text, v->len);
    g->no_memory |= !text;
    return text;
}

static void add_entry(struct growing *g, cJSON *to, const struct attn_pickled *key, const struct attn_pickled *v,
                      int deep)
{
    char *name = text_of(g, key);
    cJSON *x = name ? tree_of(g, v, deep) : NULL;
    if (x && !cJSON_AddItemToObject(to, name, x)) {
        cJSON_Delete(x);
        g->no_memory = true;
    }
    free(name);
}

static cJSON *dictionary_of(struct growing *g, const struct attn_pickled *v, int deep)
{
    struct attn_pickle_box b = attn_pickle_items(g->p, v);
    cJSON *to = cJSON_CreateObject();
    for (size_t i = 0; to && i + 1 < b.n && g->left; i += 2)
        if (&b.item[i + 1] != g->without)
            add_entry(g, to, &b.item[i], &b.item[i + 1], deep + 1);
    return to;
}

static cJSON *list_of(struct growing *g, const struct attn_pickled *v, int deep)
{
    struct attn_pickle_box b = attn_pickle_items(g->p, v);
    cJSON *to = cJSON_CreateArray();
    for (size_t i = 0; to && i < b.n && g->left; i++) {
        cJSON *x = tree_of(g, &b.item[i], deep + 1);
        if (x)
            cJSON_AddItemToArray(to, x);
    }
    return to;
}

static cJSON *string_of(struct growing *g, const struct attn_pickled *v)
{
    char *text = text_of(g, v);
    cJSON *x = text ? cJSON_CreateString(text) : NULL;
    g->no_memory |= text && !x;
    free(text);
    return x;
}

/* NULL: what has no place in the tree. */
static cJSON *tree_of(struct growing *g, const struct attn_pickled *v, int deep)
{
    cJSON *x = NULL;
    if (deep > ATTN_PICKLE_DEEP || !g->left)
        return NULL;
    g->left--;
    switch (v->type) {
    case ATTN_PICKLED_NONE:  x = cJSON_CreateNull(); break;
    case ATTN_PICKLED_BOOL:  x = cJSON_CreateBool(v->is.whole != 0); break;
    case ATTN_PICKLED_INT:   x = cJSON_CreateNumber((double)v->is.whole); break;
    case ATTN_PICKLED_REAL:  x = cJSON_CreateNumber(v->is.real); break;
    case ATTN_PICKLED_TEXT:  return string_of(g, v);
    case ATTN_PICKLED_TUPLE:
    case ATTN_PICKLED_LIST:  x = list_of(g, v, deep); break;
    case ATTN_PICKLED_DICT:  x = dictionary_of(g, v, deep); break;
    case ATTN_PICKLED_LONG:
    case ATTN_PICKLED_NAME:
    case ATTN_PICKLED_CALL:
    case ATTN_PICKLED_REFERENCE: return NULL;
    }
    g->no_memory |= !x;
    return x;
}

cJSON *attn_pickle_tree(const struct attn_pickle *p, const struct attn_pickled *v, const struct attn_pickled *without)
{
    struct growing g = {.p = p, .without = without, .left = ATTN_PICKLE_VALUES};
    cJSON *x = tree_of(&g, v, 0);
    if (!g.no_memory)
        return x;
    cJSON_Delete(x);
    return NULL;
}

int attn_pickle_read_tree(cJSON **out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err)
{
    static const char *const nothing[] = {NULL};
    struct attn_pickle p;
    *out = NULL;
    int rc = attn_pickle_read(&p, bytes, len, 0, nothing, name, err);
    if (rc)
        return rc;
    if (p.root.type != ATTN_PICKLED_DICT)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the pickle holds %s, expected a dictionary", name,
                       attn_pickle_kind(&p.root));
    else if (!(*out = attn_pickle_tree(&p, &p.root, NULL)))
        rc = attn_no_memory(err, name, "for what its pickle holds");
    attn_pickle_free(&p);
    return rc;
}

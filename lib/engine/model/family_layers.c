/* family_layers.c - which layers have a window, and which do without rotation?
 *
 * A file may list them, as "layer_types" and "no_rope_layers"; otherwise a rule of the family says so. */
#include "model/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { LAYERS_MAX = 1 << 20 };

static int make(const struct attn_key_reader *r, const struct attn_config *c, unsigned char **list)
{
    if (c->L > LAYERS_MAX)
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: \"num_hidden_layers\" is %zu, expected at most %d", r->name, c->L, LAYERS_MAX);
    *list = calloc(c->L, 1);
    return *list ? ATTN_OK : attn_no_memory(r->err, r->name, "for the configuration");
}

static bool given(const cJSON *v) { return v && !cJSON_IsNull(v); }

static int check_length(const struct attn_key_reader *r, const struct attn_config *c, const char *key,
                        const cJSON *list)
{
    size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    if (!cJSON_IsArray(list))
        return attn_key_unexpected(r, key, list, "a list with an entry for each layer");
    if (n == c->L)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: \"%s\" has %zu entries, expected \"num_hidden_layers\" %zu", r->name, key, n, c->L);
}

/* ---- rotation -------------------------------------------------------------------------- */

/* Entries are 1 where a layer rotates, 0 where it does not. */
static int read_still(const struct attn_key_reader *r, struct attn_config *c, const cJSON *list)
{
    const cJSON *v;
    size_t i = 0;
    int rc = check_length(r, c, "no_rope_layers", list);
    if (rc)
        return rc;
    cJSON_ArrayForEach(v, list) {
        double rotates;
        if (!attn_tree_whole(v, 0, 1, &rotates))
            return attn_key_unexpected(r, "no_rope_layers", v, "0 or 1 for each layer");
        c->no_rope[i++] = rotates == 0;
    }
    return ATTN_OK;
}

int attn_family_no_rope(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    const cJSON *list = attn_tree_member(root, "no_rope_layers"),
    *every = attn_tree_member(root, "no_rope_layer_interval");
    double step = 4;
    if (given(every) && !attn_tree_whole(every, 1, INT32_MAX, &step))
        return attn_key_unexpected(r, "no_rope_layer_interval", every, attn_size_from_1);
    int rc = make(r, c, &c->no_rope);
    if (rc)
        return rc;
    if (given(list) && !(cJSON_IsArray(list) && !list->child))
        return read_still(r, c, list);
    for (size_t i = 0; i < c->L; i++)
        c->no_rope[i] = (i + 1) % (size_t)step == 0;
    return ATTN_OK;
}

/* ---- windows --------------------------------------------------------------------------- */

static int read_types(const struct attn_key_reader *r, struct attn_config *c, const cJSON *list)
{
    const cJSON *v;
    size_t i = 0;
    int rc = check_length(r, c, "layer_types", list);
    if (rc)
        return rc;
    cJSON_ArrayForEach(v, list) {
        bool window = cJSON_IsString(v) && !strcmp(v->valuestring, "sliding_attention");
        if (!window && !(cJSON_IsString(v) && !strcmp(v->valuestring, "full_attention")))
            return attn_key_unexpected(r, "layer_types", v,
                                       "\"full_attention\" or \"sliding_attention\" for each layer");
        c->local[i++] = window;
    }
    return ATTN_OK;
}

static bool has_window(const struct attn_config *c, size_t layer)
{
    switch (c->family->windows) {
    case ATTN_WINDOWS_ALL:   return true;
    case ATTN_WINDOWS_FROM:  return layer >= c->window_from;
    case ATTN_WINDOWS_BUT:   return (layer + 1) % c->window_from != 0;
    case ATTN_WINDOWS_NO_ROPE: return c->no_rope && c->no_rope[layer];
    case ATTN_WINDOWS_NEVER: break;
    }
    return false;
}

/* A window that no layer has need not be stored; one that has no size cannot be computed. */
static int settle(const struct attn_key_reader *r, struct attn_config *c)
{
    size_t i = 0;
    while (i < c->L && !c->local[i])
        i++;
    if (i == c->L) {
        free(c->local);
        c->local = NULL;
        return ATTN_OK;
    }
    if (c->window)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: layer %zu has a window (\"sliding_attention\"), but \"sliding_window\" "
                                           "gives no size that counts", r->name, i);
}

/* Layers that see everything do without rotation, in a model that has windows. */
static int still(const struct attn_key_reader *r, struct attn_config *c)
{
    int rc = c->window ? make(r, c, &c->no_rope) : ATTN_OK;
    for (size_t i = 0; i < c->L && c->no_rope && !rc; i++)
        c->no_rope[i] = !c->local[i];
    return rc;
}

int attn_family_layers(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    const struct attn_family *f = c->family;
    const cJSON *types = f->layer_types ? attn_tree_member(root, "layer_types") : NULL;
    if (f->windows == ATTN_WINDOWS_NEVER)
        return ATTN_OK;
    if (!given(types) && (!c->windows || (c->window == 0 && f->windows != ATTN_WINDOWS_BUT)))
        return ATTN_OK;
    int rc = make(r, c, &c->local);
    if (!rc && given(types))
        rc = read_types(r, c, types);
    for (size_t i = 0; i < c->L && !rc && !given(types); i++)
        c->local[i] = has_window(c, i);
    if (!rc && f->full_still)
        rc = still(r, c);
    return rc ? rc : settle(r, c);
}

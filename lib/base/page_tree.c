/* page_tree.c - what the library calls of cJSON, for WebAssembly alone: a tree out of what json.h reads.  Debian has
 * cJSON for machines only. */
#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"

cJSON_bool cJSON_IsNull(const cJSON *v) { return v && v->type == cJSON_NULL; }
cJSON_bool cJSON_IsTrue(const cJSON *v) { return v && v->type == cJSON_True; }
cJSON_bool cJSON_IsFalse(const cJSON *v) { return v && v->type == cJSON_False; }
cJSON_bool cJSON_IsBool(const cJSON *v) { return cJSON_IsTrue(v) || cJSON_IsFalse(v); }
cJSON_bool cJSON_IsNumber(const cJSON *v) { return v && v->type == cJSON_Number; }
cJSON_bool cJSON_IsString(const cJSON *v) { return v && v->type == cJSON_String; }
cJSON_bool cJSON_IsArray(const cJSON *v) { return v && v->type == cJSON_Array; }
cJSON_bool cJSON_IsObject(const cJSON *v) { return v && v->type == cJSON_Object; }

int cJSON_GetArraySize(const cJSON *array)
{
    int n = 0;
    for (const cJSON *v = array ? array->child : NULL; v; v = v->next)
        n++;
    return n;
}

cJSON *cJSON_GetArrayItem(const cJSON *array, int i)
{
    cJSON *v = array && i >= 0 ? array->child : NULL;
    for (; v && i; i--)
        v = v->next;
    return v;
}

void cJSON_Delete(cJSON *v)
{
    while (v) {
        cJSON *next = v->next;
        cJSON_Delete(v->child);
        free(v->valuestring);
        free(v->string);
        free(v);
        v = next;
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

/* What is open, the innermost last, and the key of what comes next. */
struct reading { struct attn_json j; cJSON *open[ATTN_JSON_DEPTH], *last[ATTN_JSON_DEPTH]; size_t depth; char *key; };

static char *copied(const struct attn_json *j)
{
    char *s = malloc(j->token_len + 1);
    if (s)
        s[attn_json_string(j, s)] = '\0';
    return s;
}

static bool fill(cJSON *v, const struct attn_json *j, enum attn_json_event e)
{
    static const int types[] = {
        [ATTN_JSON_OBJECT] = cJSON_Object, [ATTN_JSON_ARRAY] = cJSON_Array, [ATTN_JSON_STRING] = cJSON_String,
        [ATTN_JSON_NUMBER] = cJSON_Number, [ATTN_JSON_TRUE] = cJSON_True, [ATTN_JSON_FALSE] = cJSON_False,
        [ATTN_JSON_NULL] = cJSON_NULL};
    v->type = types[e];
    if (e == ATTN_JSON_NUMBER)
        return attn_num_parse_f64(j->text + j->token, j->token_len, &v->valuedouble);
    return e != ATTN_JSON_STRING || (v->valuestring = copied(j));
}

/* Adds a value to what is open, if anything is. */
static cJSON *add(struct reading *r, enum attn_json_event e)
{
    cJSON *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->string = r->key;
    r->key = NULL;
    if (!fill(v, &r->j, e)) {
        cJSON_Delete(v);
        return NULL;
    }
    if (r->depth) {
        cJSON **last = &r->last[r->depth - 1];
        *(*last ? &(*last)->next : &r->open[r->depth - 1]->child) = v;
        v->prev = *last;
        *last = v;
    }
    if (e == ATTN_JSON_OBJECT || e == ATTN_JSON_ARRAY) {
        r->last[r->depth] = NULL;
        r->open[r->depth++] = v;
    }
    return v;
}

cJSON *cJSON_ParseWithLength(const char *text, size_t len)
{
    struct reading r = {.depth = 0};
    cJSON *root = NULL;
    enum attn_json_event e;
    bool ok = true;
    attn_json_start(&r.j, text, len, NULL);
    while (ok && (e = attn_json_next(&r.j)) != ATTN_JSON_DONE && e != ATTN_JSON_FAILED) {
        if (e == ATTN_JSON_KEY)
            ok = (r.key = copied(&r.j));
        else if (e == ATTN_JSON_OBJECT_END || e == ATTN_JSON_ARRAY_END)
            r.depth--;
        else {
            cJSON *v = add(&r, e);
            ok = v;
            root = root ? root : v;
        }
    }
    free(r.key);
    if (ok && !r.j.failed)
        return root;
    cJSON_Delete(root);
    return NULL;
}

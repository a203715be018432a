/* page_tree.c - what the library calls of cJSON, for WebAssembly alone: a tree out of what json.h reads.  Debian has
 * cJSON for machines only. */
#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/out.h"

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

char *cJSON_GetStringValue(const cJSON *v) { return cJSON_IsString(v) ? v->valuestring : NULL; }

/* ---- making -------------------------------------------------------------------------------- */

static cJSON *made(int type)
{
    cJSON *v = calloc(1, sizeof *v);
    if (v)
        v->type = type;
    return v;
}

cJSON *cJSON_CreateNull(void) { return made(cJSON_NULL); }
cJSON *cJSON_CreateBool(cJSON_bool is) { return made(is ? cJSON_True : cJSON_False); }
cJSON *cJSON_CreateArray(void) { return made(cJSON_Array); }
cJSON *cJSON_CreateObject(void) { return made(cJSON_Object); }

cJSON *cJSON_CreateNumber(double x)
{
    cJSON *v = made(cJSON_Number);
    if (v)
        v->valuedouble = x;
    return v;
}

cJSON *cJSON_CreateString(const char *s)
{
    cJSON *v = made(cJSON_String);
    if (!v || (v->valuestring = strdup(s)))
        return v;
    free(v);
    return NULL;
}

/* The first one's `prev` is the last. */
cJSON_bool cJSON_AddItemToArray(cJSON *array, cJSON *v)
{
    if (!array || !v)
        return false;
    cJSON *last = array->child ? array->child->prev : NULL;
    *(last ? &last->next : &array->child) = v;
    v->prev = last;
    array->child->prev = v;
    return true;
}

cJSON_bool cJSON_AddItemToObject(cJSON *object, const char *name, cJSON *v)
{
    char *own = v ? strdup(name) : NULL;
    if (!own)
        return false;
    free(v->string);
    v->string = own;
    return cJSON_AddItemToArray(object, v);
}

cJSON *cJSON_DetachItemFromObjectCaseSensitive(cJSON *object, const char *name)
{
    cJSON *before = NULL, *v = object ? object->child : NULL;
    for (; v && strcmp(v->string, name); v = v->next)
        before = v;
    if (!v)
        return NULL;
    *(before ? &before->next : &object->child) = v->next;
    if (v->next)
        v->next->prev = before ? before : v->prev;
    else if (before)
        object->child->prev = before;
    v->next = v->prev = NULL;
    return v;
}

static void print(struct attn_out *o, const cJSON *v)
{
    static const char brackets[] = "[]{}";
    const char *open = brackets + (cJSON_IsObject(v) ? 2 : 0);
    if (cJSON_IsString(v))
        attn_out_json(o, v->valuestring, strlen(v->valuestring));
    else if (cJSON_IsNumber(v))
        attn_out_f64(o, v->valuedouble);
    else if (!cJSON_IsArray(v) && !cJSON_IsObject(v))
        attn_out_str(o, cJSON_IsNull(v) ? "null" : cJSON_IsTrue(v) ? "true" : "false");
    else {
        attn_out_write(o, open, 1);
        for (const cJSON *c = v->child; c; c = c->next) {
            attn_out_str(o, c == v->child ? "" : ",");
            if (c->string) {
                attn_out_json(o, c->string, strlen(c->string));
                attn_out_str(o, ":");
            }
            print(o, c);
        }
        attn_out_write(o, open + 1, 1);
    }
}

char *cJSON_Print(const cJSON *v)
{
    struct attn_out *o;
    char *text = NULL;
    size_t n;
    if (attn_out_open_memory(&o, NULL))
        return NULL;
    print(o, v);
    if (attn_out_take(o, &text, &n, NULL))
        text = NULL;
    attn_out_close(o);
    return text;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* What is open, the innermost last, and the key of what comes next. */
struct reading { struct attn_json j; cJSON *open[ATTN_JSON_DEPTH]; size_t depth; char *key; };

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
    if (r->depth)
        cJSON_AddItemToArray(r->open[r->depth - 1], v);
    if (e == ATTN_JSON_OBJECT || e == ATTN_JSON_ARRAY)
        r->open[r->depth++] = v;
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

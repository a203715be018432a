#include "schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };
struct place { char *why; const cJSON *root; const struct place *above; const char *key; int index; int depth; };

static void put_path(char *to, size_t size, const struct place *p)
{
    if (!p->above)
        return;
    put_path(to, size, p->above);
    size_t n = strlen(to);
    if (p->key)
        snprintf(to + n, size - n, "/%s", p->key);
    else
        snprintf(to + n, size - n, "/%d", p->index);
}

static bool fail(const struct place *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const struct place *p, const char *fmt, ...)
{
    va_list args;
    *p->why = '\0';
    put_path(p->why, SCHEMA_WHY / 2, p);
    size_t n = strlen(p->why);
    n += (size_t)snprintf(p->why + n, SCHEMA_WHY - n, ": ");
    va_start(args, fmt);
    vsnprintf(p->why + n, SCHEMA_WHY - n, fmt, args);
    va_end(args);
    return false;
}

/* A name of a pointer, which ends at a slash or NUL. */
static const cJSON *member(const cJSON *of, const char *name, size_t len)
{
    const cJSON *x = of ? of->child : NULL;
    while (x && !(x->string && strlen(x->string) == len && !memcmp(x->string, name, len)))
        x = x->next;
    return x;
}

const cJSON *schema_at(const cJSON *root, const char *pointer)
{
    const cJSON *at = *pointer == '#' ? root : NULL;
    for (pointer += strcspn(pointer, "/"); at && *pointer; pointer += strcspn(pointer, "/")) {
        size_t len = strcspn(++pointer, "/");
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(pointer)) : member(at, pointer, len);
    }
    return at;
}

static const cJSON *get(const cJSON *schema, const char *keyword)
{
    return cJSON_GetObjectItemCaseSensitive(schema, keyword);
}

static const cJSON *referred(const cJSON *schema, const struct place *p)
{
    const cJSON *ref = get(schema, "$ref");
    return ref ? schema_at(p->root, ref->valuestring) : NULL;
}

/* ---- which members an object may have ---- */

static bool declares(const cJSON *schema, const char *key, const struct place *p, int depth)
{
    const cJSON *part, *more = get(schema, "additionalProperties");
    if (depth > DEEPEST)
        return false;
    if (get(get(schema, "properties"), key) || cJSON_IsObject(more))
        return true;
    const cJSON *ref = referred(schema, p);
    if (ref && declares(ref, key, p, depth + 1))
        return true;
    cJSON_ArrayForEach(part, get(schema, "allOf"))
        if (declares(part, key, p, depth + 1))
            return true;
    cJSON_ArrayForEach(part, get(schema, "anyOf"))
        if (declares(part, key, p, depth + 1))
            return true;
    return false;
}

/* ---- keywords ---- */

static bool is_type(const cJSON *value, const char *type)
{
    if (!strcmp(type, "integer"))
        return cJSON_IsNumber(value) && value->valuedouble == (double)(long long)value->valuedouble;
    return (!strcmp(type, "object") && cJSON_IsObject(value)) || (!strcmp(type, "array") && cJSON_IsArray(value)) ||
           (!strcmp(type, "string") && cJSON_IsString(value)) || (!strcmp(type, "number") && cJSON_IsNumber(value)) ||
           (!strcmp(type, "boolean") && cJSON_IsBool(value)) || (!strcmp(type, "null") && cJSON_IsNull(value));
}

static bool fits(const cJSON *value, const cJSON *schema, const struct place *p);

static bool fits_type(const cJSON *value, const cJSON *types, const struct place *p)
{
    const cJSON *one;
    if (cJSON_IsString(types))
        return is_type(value, types->valuestring) || fail(p, "expected %s", types->valuestring);
    cJSON_ArrayForEach(one, types)
        if (is_type(value, one->valuestring))
            return true;
    return fail(p, "is of none of %d types", cJSON_GetArraySize(types));
}

static bool fits_required(const cJSON *value, const cJSON *names, const struct place *p)
{
    const cJSON *name;
    cJSON_ArrayForEach(name, names)
        if (cJSON_IsObject(value) && !get(value, name->valuestring))
            return fail(p, "lacks %s", name->valuestring);
    return true;
}

static bool fits_properties(const cJSON *value, const cJSON *properties, const struct place *p)
{
    const cJSON *x;
    cJSON_ArrayForEach(x, value) {
        const cJSON *schema = cJSON_IsObject(value) ? get(properties, x->string) : NULL;
        if (schema && !fits(x, schema, &(struct place){p->why, p->root, p, x->string, 0, p->depth + 1}))
            return false;
    }
    return true;
}

static bool fits_more(const cJSON *value, const cJSON *schema, const struct place *p)
{
    const cJSON *x, *more = get(schema, "additionalProperties");
    cJSON_ArrayForEach(x, value) {
        if (!cJSON_IsObject(value) || get(get(schema, "properties"), x->string))
            continue;
        if (!fits(x, more, &(struct place){p->why, p->root, p, x->string, 0, p->depth + 1}))
            return false;
    }
    return true;
}

static bool fits_items(const cJSON *value, const cJSON *schema, const struct place *p)
{
    int i = 0;
    const cJSON *x;
    if (!cJSON_IsArray(value))
        return true;
    cJSON_ArrayForEach(x, value)
        if (!fits(x, schema, &(struct place){p->why, p->root, p, NULL, i++, p->depth + 1}))
            return false;
    return true;
}

static bool fits_all(const cJSON *value, const cJSON *schemas, const struct place *p)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, schemas)
        if (!fits(value, one, p))
            return false;
    return true;
}

static bool fits_any(const cJSON *value, const cJSON *schemas, const struct place *p)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, schemas)
        if (fits(value, one, p))
            return true;
    return false;                       /* `why` is that of the last one */
}

static bool fits_enum(const cJSON *value, const cJSON *values, const struct place *p)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, values)
        if (cJSON_Compare(value, one, true))
            return true;
    return fail(p, "is none of the %d values listed", cJSON_GetArraySize(values));
}

static bool fits_const(const cJSON *value, const cJSON *same, const struct place *p)
{
    return cJSON_Compare(value, same, true) || fail(p, "is another value");
}

static bool fits_minimum(const cJSON *value, const cJSON *least, const struct place *p)
{
    return !cJSON_IsNumber(value) || value->valuedouble >= least->valuedouble ||
           fail(p, "%g is below %g", value->valuedouble, least->valuedouble);
}

static bool fits_ref(const cJSON *value, const cJSON *ref, const struct place *p)
{
    const cJSON *schema = schema_at(p->root, ref->valuestring);
    return schema ? fits(value, schema, p) : fail(p, "there is no %s", ref->valuestring);
}

static const struct { const char *name; bool (*fits)(const cJSON *value, const cJSON *of, const struct place *p); }
    keywords[] = {
    {"type", fits_type}, {"required", fits_required}, {"properties", fits_properties}, {"items", fits_items},
    {"allOf", fits_all}, {"anyOf", fits_any}, {"enum", fits_enum}, {"const", fits_const}, {"minimum", fits_minimum},
    {"$ref", fits_ref},
    {"additionalProperties", NULL}, {"$schema", NULL}, {"$defs", NULL}, {"description", NULL}, {"ndjson", NULL}};
enum { KEYWORDS = sizeof keywords / sizeof *keywords };

static bool fits_keyword(const cJSON *value, const cJSON *keyword, const cJSON *schema, const struct place *p)
{
    size_t i = 0;
    while (i < KEYWORDS && strcmp(keywords[i].name, keyword->string) != 0)
        i++;
    if (i == KEYWORDS)
        return fail(p, "the schema has a keyword that is not known: %s", keyword->string);
    if (!strcmp(keyword->string, "additionalProperties"))
        return fits_more(value, schema, p);
    return !keywords[i].fits || keywords[i].fits(value, keyword, p);
}

static bool fits(const cJSON *value, const cJSON *schema, const struct place *p)
{
    const cJSON *keyword;
    if (p->depth > DEEPEST)
        return fail(p, "is nested too deeply");
    if (!cJSON_IsObject(schema))
        return fail(p, "its schema is no object");
    cJSON_ArrayForEach(keyword, schema)
        if (!fits_keyword(value, keyword, schema, p))
            return false;
    return true;
}

/* ---- members that nobody declares ---- */

static bool all_declared(const cJSON *value, const cJSON *schema, const struct place *p);

/* Goes on with a member or an item, in whichever schema has it. */
static bool declared_below(const cJSON *x, const cJSON *schema, const struct place *p)
{
    const cJSON *part, *own = x->string ? get(get(schema, "properties"), x->string) : get(schema, "items");
    if (!own && x->string && cJSON_IsObject(get(schema, "additionalProperties")))
        own = get(schema, "additionalProperties");
    if (own)
        return all_declared(x, own, &(struct place){p->why, p->root, p, x->string, 0, p->depth + 1});
    const cJSON *ref = referred(schema, p);
    if (ref && (!x->string || declares(ref, x->string, p, 0)))
        return declared_below(x, ref, p);
    cJSON_ArrayForEach(part, get(schema, "allOf"))
        if (!x->string || declares(part, x->string, p, 0))
            return declared_below(x, part, p);
    return true;
}

static bool all_declared(const cJSON *value, const cJSON *schema, const struct place *p)
{
    const cJSON *x, *part;
    char ignored[SCHEMA_WHY];
    if (schema->child == NULL)          /* {} is anything */
        return true;
    cJSON_ArrayForEach(part, get(schema, "anyOf"))
        if (fits(value, part, &(struct place){ignored, p->root, NULL, NULL, 0, p->depth}))
            return all_declared(value, part, p);
    cJSON_ArrayForEach(x, value) {
        if (cJSON_IsObject(value) && !declares(schema, x->string, p, 0))
            return fail(p, "%s is not declared", x->string);
        if (!declared_below(x, schema, p))
            return false;
    }
    return true;
}

bool schema_fits(const cJSON *value, const cJSON *schema, const cJSON *root, char why[SCHEMA_WHY])
{
    const struct place top = {.why = why, .root = root};
    *why = '\0';
    return fits(value, schema, &top) && all_declared(value, schema, &top);
}

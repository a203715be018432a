#include "golden.h"

#include "corpus.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *golden_text(const char *path, size_t *len)
{
    size_t n;
    char *bytes = corpus_slurp(path, &n), *text = realloc(bytes, n + 1);
    ck_assert_ptr_nonnull(text);
    text[n] = '\0';
    if (len)
        *len = n;
    return text;
}

cJSON *golden_read(const char *path)
{
    size_t len;
    char *text = golden_text(path, &len);
    cJSON *j = cJSON_ParseWithLength(text, len);
    ck_assert_msg(j != NULL, "%s: not JSON", path);
    free(text);
    return j;
}

const cJSON *golden_find(const cJSON *object, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return v && !cJSON_IsNull(v) ? v : NULL;
}

const cJSON *golden_get(const cJSON *object, const char *key)
{
    const cJSON *v = golden_find(object, key);
    ck_assert_msg(v != NULL, "no '%s'", key);
    return v;
}

double golden_number(const cJSON *object, const char *key)
{
    const cJSON *v = golden_get(object, key);
    ck_assert_msg(cJSON_IsNumber(v), "'%s' is no number", key);
    return v->valuedouble;
}

const char *golden_string(const cJSON *object, const char *key)
{
    const cJSON *v = golden_get(object, key);
    ck_assert_msg(cJSON_IsString(v), "'%s' is no string", key);
    return v->valuestring;
}

static size_t count(const cJSON *v)
{
    size_t n = 0;
    const cJSON *e;
    if (!cJSON_IsArray(v))
        return 1;
    cJSON_ArrayForEach(e, v)
        n += count(e);
    return n;
}

static float value(const cJSON *v)
{
    if (cJSON_IsNumber(v))
        return (float)v->valuedouble;
    ck_assert(cJSON_IsString(v));
    if (strcmp(v->valuestring, "nan") == 0)
        return NAN;
    ck_assert_msg(strcmp(v->valuestring + (v->valuestring[0] == '-'), "inf") == 0, "'%s' is no number", v->valuestring);
    return v->valuestring[0] == '-' ? -INFINITY : INFINITY;
}

static float *flatten(float *out, const cJSON *v)
{
    const cJSON *e;
    if (!cJSON_IsArray(v)) {
        *out = value(v);
        return out + 1;
    }
    cJSON_ArrayForEach(e, v)
        out = flatten(out, e);
    return out;
}

float *golden_floats(const cJSON *array, size_t *n)
{
    *n = count(array);
    float *out = malloc((*n + 1) * sizeof *out);
    ck_assert_ptr_nonnull(out);
    flatten(out, array);
    return out;
}

struct golden_array golden_npy(const char *path)
{
    struct golden_array a = {0};
    size_t len;
    char *file = golden_text(path, &len);
    ck_assert(len > 10 && memcmp(file, "\x93NUMPY\x01", 7) == 0);
    size_t header = (unsigned char)file[8] | (size_t)(unsigned char)file[9] << 8;
    const char *shape = strstr(file + 10, "'shape': (");
    ck_assert_ptr_nonnull(shape);
    ck_assert_ptr_nonnull(strstr(file + 10, "'<f4'"));
    a.n = 1;
    for (char *at = (char *)shape + 10; *at != ')' && a.ndim < 4; at += strspn(at, ", ")) {
        a.shape[a.ndim] = strtoul(at, &at, 10);
        a.n *= a.shape[a.ndim++];
    }
    ck_assert_uint_eq(len, 10 + header + a.n * sizeof(float));
    a.data = malloc(a.n * sizeof *a.data);
    memcpy(a.data, file + 10 + header, a.n * sizeof *a.data);
    free(file);
    return a;
}

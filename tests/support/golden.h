/* golden.h - reads the JSON files of tests/golden.  Anything missing or malformed fails the test. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* A whole file, malloc'd and NUL-terminated; len may be NULL. */
char *golden_text(const char *path, size_t *len);
cJSON *golden_read(const char *path);                               /* free with cJSON_Delete */
const cJSON *golden_get(const cJSON *object, const char *key);      /* fails the test if absent */
const cJSON *golden_find(const cJSON *object, const char *key);     /* NULL: absent, or null */
double golden_number(const cJSON *object, const char *key);
const char *golden_string(const cJSON *object, const char *key);
/* The numbers of nested arrays in one malloc'd array; the strings "nan", "inf" and "-inf" count as numbers. */
float *golden_floats(const cJSON *array, size_t *n);

/* An array of float32 in a .npy file; free data. */
struct golden_array { float *data; size_t n, shape[4]; int ndim; };
struct golden_array golden_npy(const char *path);

#endif

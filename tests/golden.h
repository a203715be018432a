/* golden.h - reading the JSON files of tests/golden.  What is missing or malformed fails the test. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* The whole of a file, malloc'd and NUL-terminated; len may be NULL. */
char *golden_text(const char *path, size_t *len);
cJSON *golden_read(const char *path);                               /* cJSON_Delete it */
const cJSON *golden_get(const cJSON *object, const char *key);      /* must be there */
const cJSON *golden_find(const cJSON *object, const char *key);     /* NULL: not there, or null */
double golden_number(const cJSON *object, const char *key);
const char *golden_string(const cJSON *object, const char *key);
/* The numbers of nested arrays one after the other, malloc'd; "nan", "inf" and "-inf" are numbers. */
float *golden_floats(const cJSON *array, size_t *n);

#endif

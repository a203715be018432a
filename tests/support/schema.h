/* schema.h - a small validator of JSON Schema, for what the program's own schemas use of it.
 *
 * type, enum, const, minimum, required, properties, additionalProperties, items, allOf, anyOf, and $ref to #/$defs.  A
 * keyword that it does not know is an error, so that none is overlooked.  It is stricter than the standard in one
 * point: a member that no schema of its object declares is an error, where the standard lets it pass, so that what is
 * written and what is declared cannot part. */
#ifndef TESTS_SCHEMA_H
#define TESTS_SCHEMA_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether a value is as a schema says; else `why` tells where it is not: "/rows/0/kl: ...".  `root` has definitions. */
enum { SCHEMA_WHY = 512 };
bool schema_fits(const cJSON *value, const cJSON *schema, const cJSON *root, char why[SCHEMA_WHY]);
/* The schema at a pointer such as "#/properties/rows/items"; NULL: there is none. */
const cJSON *schema_at(const cJSON *root, const char *pointer);

#endif

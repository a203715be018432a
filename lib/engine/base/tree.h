/* tree.h - a JSON document as a cJSON tree, after it has passed the strict check.
 *
 * cJSON alone is lax: it accepts trailing text, invalid UTF-8 and duplicate keys.  Walk the children and never call
 * cJSON_GetObjectItem, which ignores case and takes linear time. */
#ifndef ATTN_BASE_TREE_H
#define ATTN_BASE_TREE_H

#include <cjson/cJSON.h>

#include "attn.h"

/* Checks the whole document before cJSON builds a tree: syntax, UTF-8, nesting, no NUL in strings, no duplicate keys in
 * any object, at most max_values values. */
int attn_json_check(const char *text, size_t len, const char *name, size_t max_values, struct attn_err *err);

/* Reads a document whose outermost value must be an object; free it by cJSON_Delete. */
int attn_tree_read(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                   struct attn_err *err);

/* The same for a document of any type. */
int attn_tree_read_any(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                       struct attn_err *err);

/* The member of that name; NULL if it is absent or v is not an object. */
const cJSON *attn_tree_member(const cJSON *v, const char *name);

/* Reads a whole number in any notation (3, 3.0, 3e0); false if it is beyond lo..hi or anything else. */
bool attn_tree_whole(const cJSON *v, double lo, double hi, double *out);

enum { ATTN_TREE_SHOWN = 96 };
/* How messages show a value: a scalar as it is, else "an array" or "an object".  Returns buf. */
const char *attn_tree_show(const cJSON *v, char buf[ATTN_TREE_SHOWN]);

#endif

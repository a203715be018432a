/* tree.h - a JSON document as a cJSON tree, once it has passed the strict check.
 *
 * cJSON alone is lax: it takes trailing text, invalid UTF-8 and the first of two equal keys.  Walk
 * the children, never cJSON_GetObjectItem: it ignores case and takes linear time. */
#ifndef ATTN_IO_TREE_H
#define ATTN_IO_TREE_H

#include <cjson/cJSON.h>

#include "attn.h"

/* The document's outermost value, an object, for cJSON_Delete. */
int attn_tree_read(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                   struct attn_err *err);

/* The same for a document of any kind. */
int attn_tree_read_any(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                       struct attn_err *err);

/* The member of that name; NULL: not there, or v is no object. */
const cJSON *attn_tree_member(const cJSON *v, const char *name);

/* A whole number, however it is written (3, 3.0, 3e0); false beyond lo..hi or for anything else. */
bool attn_tree_whole(const cJSON *v, double lo, double hi, double *out);

enum { ATTN_TREE_SHOWN = 96 };
/* What a message says was found: a scalar as it is, else "an array", "an object".  Returns buf. */
const char *attn_tree_show(const cJSON *v, char buf[ATTN_TREE_SHOWN]);

#endif

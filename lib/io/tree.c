#include "io/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "io/json.h"
#include "io/strings.h"

int attn_tree_read_any(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                       struct attn_err *err)
{
    int rc = attn_json_check(text, len, name, max_values, err);
    if (rc)
        return rc;
    *out = cJSON_ParseWithLength(text, len);
    if (!*out)                          /* cJSON before Debian's fix took numbers of up to 63 characters */
        return attn_fail(err, ATTN_EFORMAT, "%s: no memory for it, or a number in it is too long", name);
    return ATTN_OK;
}

int attn_tree_read(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                   struct attn_err *err)
{
    char found[ATTN_TREE_SHOWN];
    cJSON *root = NULL;
    int rc = attn_tree_read_any(&root, text, len, name, max_values, err);
    if (rc)
        return rc;
    if (!cJSON_IsObject(root)) {
        rc = attn_fail(err, ATTN_EFORMAT, "%s: it is %s, expected an object", name, attn_tree_show(root, found));
        cJSON_Delete(root);
        return rc;
    }
    *out = root;
    return ATTN_OK;
}

const cJSON *attn_tree_member(const cJSON *v, const char *name)
{
    const cJSON *m = cJSON_IsObject(v) ? v->child : NULL;
    while (m && strcmp(m->string, name) != 0)
        m = m->next;
    return m;
}

bool attn_tree_whole(const cJSON *v, double lo, double hi, double *out)
{
    if (!cJSON_IsNumber(v))
        return false;
    *out = v->valuedouble;
    return *out >= lo && *out <= hi && *out == floor(*out);
}

const char *attn_tree_show(const cJSON *v, char buf[ATTN_TREE_SHOWN])
{
    const char *s = v->valuestring;
    if (cJSON_IsNumber(v))
        snprintf(buf, ATTN_TREE_SHOWN, "%.15g", v->valuedouble);
    else if (cJSON_IsString(v))
        snprintf(buf, ATTN_TREE_SHOWN, "\"%.*s\"", attn_shown(s, strlen(s)), s);
    else
        snprintf(buf, ATTN_TREE_SHOWN, "%s", cJSON_IsNull(v) ? "null" : cJSON_IsTrue(v) ? "true" :
                 cJSON_IsFalse(v) ? "false" : cJSON_IsArray(v) ? "an array" : "an object");
    return buf;
}

#include "base/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strings.h"

/* Whether a number, or what looks like one in a string, is longer than the 63 characters that cJSON took before Debian's fix. */
static bool has_long_number(const char *text, size_t len)
{
    size_t run = 0;
    for (size_t i = 0; i < len && run <= 63; i++)
        run = text[i] && strchr("+-.0123456789Ee", text[i]) ? run + 1 : 0;
    return run > 63;
}

int attn_tree_read_any(cJSON **out, const char *text, size_t len, const char *name, size_t max_values,
                       struct attn_err *err)
{
    int rc = attn_json_check(text, len, name, max_values, err);
    if (rc)
        return rc;
    *out = cJSON_ParseWithLength(text, len);
    if (*out)
        return ATTN_OK;
    if (has_long_number(text, len))
        return attn_fail(err, ATTN_EFORMAT, "%s: a number in it is too long", name);
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for it", name);   /* the text is JSON */
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

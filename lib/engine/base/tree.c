#include "base/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"

/* ---- the strict check ------------------------------------------------------------------ */

/* The keys so far of each open object, by depth.  A set keeps its memory for the next object of the same depth;
 * clearing it costs no more than what it held. */
struct open_keys { struct attn_strings at[ATTN_JSON_DEPTH]; };

static int look(struct open_keys *open, const struct attn_json *j, enum attn_json_event e, struct attn_err *err)
{
    if (e == ATTN_JSON_OBJECT)
        attn_strings_clear(&open->at[j->depth - 1]);
    if (e == ATTN_JSON_KEY)
        return attn_json_add_key(&open->at[j->depth - 1], j, err);
    return e == ATTN_JSON_STRING ? attn_json_refuse_nul(j, err) : ATTN_OK;
}

static bool is_value(enum attn_json_event e)
{
    return e != ATTN_JSON_KEY && e != ATTN_JSON_OBJECT_END && e != ATTN_JSON_ARRAY_END;
}

int attn_json_check(const char *text, size_t len, const char *name, size_t max_values, struct attn_err *err)
{
    struct attn_json j;
    struct open_keys open = {0};
    enum attn_json_event e;
    size_t values = 0;
    int rc = ATTN_OK;
    attn_json_start(&j, text, len, name);
    while (!rc && (e = attn_json_next(&j)) != ATTN_JSON_DONE && e != ATTN_JSON_FAILED) {
        rc = look(&open, &j, e, err);
        values += is_value(e);
        if (!rc && values > max_values)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: more than %zu values, expected a smaller document", name,
                           max_values);
    }
    for (size_t i = 0; i < ATTN_JSON_DEPTH; i++)
        attn_strings_free(&open.at[i]);
    return !rc && j.failed ? attn_json_error(&j, err) : rc;
}

/* ---- the tree -------------------------------------------------------------------------- */

/* Whether a number, or what looks like one in a string, is longer than the 63 characters that cJSON could take before
 * it was fixed in Debian. */
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
    return attn_no_memory(err, name, "for it");   /* the text is JSON */
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
        attn_snprintf(buf, ATTN_TREE_SHOWN, "%.15g", v->valuedouble);
    else if (cJSON_IsString(v))
        snprintf(buf, ATTN_TREE_SHOWN, "\"%.*s\"", attn_shown(s, strlen(s)), s);
    else
        snprintf(buf, ATTN_TREE_SHOWN, "%s", cJSON_IsNull(v) ? "null" : cJSON_IsTrue(v) ? "true" :
                 cJSON_IsFalse(v) ? "false" : cJSON_IsArray(v) ? "an array" : "an object");
    return buf;
}

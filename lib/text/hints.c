#include "text/hints.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/tree.h"

enum { VALUES_MAX = 1 << 20 };

static int keep(char **out, const cJSON *v, const char *name, struct attn_err *err)
{
    if (!v || !cJSON_IsString(v))
        return ATTN_OK;
    *out = strdup(v->valuestring);
    return *out ? ATTN_OK : attn_fail(err, ATTN_ENOMEM, "%s: no memory for \"%s\"", name, v->string);
}

int attn_hints_config(struct attn_hints *h, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    double id;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (rc)
        return rc;
    const cJSON *bos = attn_tree_member(root, "bos_token_id");
    if (bos && attn_tree_whole(bos, 0, INT32_MAX, &id))
        h->bos_id = (int32_t)id;
    h->section = attn_tree_member(root, "tokenizer") != NULL;
    rc = keep(&h->model_type, attn_tree_member(root, "model_type"), name, err);
    cJSON_Delete(root);
    return rc;
}

int attn_hints_tokenizer(struct attn_hints *h, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (rc)
        return rc;
    const cJSON *add = attn_tree_member(root, "add_bos_token"), *bos = attn_tree_member(root, "bos_token");
    h->add_bos = add && cJSON_IsTrue(add);
    rc = keep(&h->bos_token, bos && cJSON_IsObject(bos) ? attn_tree_member(bos, "content") : bos, name, err);
    cJSON_Delete(root);
    return rc;
}

void attn_hints_free(struct attn_hints *h)
{
    free(h->model_type);
    free(h->bos_token);
    *h = (struct attn_hints)ATTN_HINTS_NONE;
}

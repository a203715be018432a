#include <cjson/cJSON.h>
#include <string.h>

#include "fuzz.h"
#include "base/json.h"
#include "base/tree.h"

/* Reads all events; false if they end with a failure. */
static bool walk(const char *text, size_t len, char *plain)
{
    struct attn_json j;
    enum attn_json_event e;
    struct attn_err err = {0};
    attn_json_start(&j, text, len, "fuzz.json");
    while ((e = attn_json_next(&j)) > ATTN_JSON_DONE) {
        if (e != ATTN_JSON_KEY && e != ATTN_JSON_STRING)
            continue;
        size_t n = attn_json_string(&j, plain);
        must(n <= j.token_len);
        plain[n] = '\0';
        must(attn_json_is(&j, plain) == (strlen(plain) == n) && (strlen(plain) == n) == (j.nul == 0));
    }
    must((j.failed != NULL) == (e == ATTN_JSON_FAILED));
    if (j.failed)
        must(attn_json_error(&j, &err) == ATTN_EFORMAT && err.msg[0]);
    return !j.failed;
}

/* What passes the check can also be read by the reader and by cJSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_err err = {0};
    const char *text = (const char *)data;
    char *plain = malloc(size + 1);
    bool good = walk(text, size, plain);
    int rc = attn_json_check(text, size, "fuzz.json", 10000, &err);
    must(good || rc != ATTN_OK);
    must(rc == ATTN_OK || err.msg[0]);
    if (rc == ATTN_OK) {
        cJSON *tree = cJSON_ParseWithLength(text, size);
        must(tree != NULL);
        cJSON_Delete(tree);
    }
    free(plain);
    return 0;
}

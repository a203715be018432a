#include "grown.h"

#include "check.h"
#include "golden.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

static cJSON *said(const char *line)
{
    cJSON *doc = cJSON_Parse(succeed(line)->text);
    ck_assert_msg(doc != NULL, "%s: prints no JSON", line);
    return doc;
}

void grown_expect_same(const char *generate, const char *score, int n)
{
    char ids[256] = "", line[2048];
    cJSON *grown = said(generate);
    const cJSON *token, *tokens = golden_get(grown, "tokens");
    ck_assert_int_eq(cJSON_GetArraySize(tokens), n);
    cJSON_ArrayForEach(token, tokens)
        snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%.0f", *ids ? "," : "", golden_number(token, "id"));
    const char *at = strstr(score, "IDS");
    snprintf(line, sizeof line, "%.*s%s%s", (int)(at - score), score, ids, at + 3);
    cJSON *whole = said(line);
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(whole, "tokens")), n);
    for (int t = 1; t < n; t++) {       /* the first has none */
        const cJSON *one = golden_get(cJSON_GetArrayItem(tokens, t), "logprob"),
                    *other = golden_get(cJSON_GetArrayItem(golden_get(whole, "tokens"), t), "logprob");
        ck_assert_msg(one->valuedouble == other->valuedouble,
                      "%s\n%s\ntoken %d has %.9g and %.9g", generate, line, t, one->valuedouble,
                      other->valuedouble);
    }
    cJSON_Delete(grown);
    cJSON_Delete(whole);
}

/* ids.c - tokens as numbers that somebody types. */
#include "attn.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

static int read_one(int32_t *id, const char *s, size_t len, struct attn_err *err)
{
    int64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return attn_fail(err, ATTN_EUSAGE, "'%.*s' is not a token id: ids are whole numbers, as in 5,1,2",
                             attn_shown_of(s, len, 40), s);
        n = n * 10 + (s[i] - '0');
        if (n > INT32_MAX)
            return attn_fail(err, ATTN_EUSAGE, "id %.*s is not in 0..%d", attn_shown_of(s, len, 40), s, INT32_MAX);
    }
    *id = (int32_t)n;
    return ATTN_OK;
}

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* Between brackets, as JSON and Python print a list, or without them. */
static int read_all(int32_t *ids, size_t *n, const char *list, struct attn_err *err)
{
    const char *s = skip_space(list);
    bool comma = false, brackets = *s == '[';
    for (s = skip_space(s + brackets); (*s && !(brackets && *s == ']')) || comma; ) {
        size_t len = strcspn(s, brackets ? ",] \t\r\n" : ", \t\r\n");
        if (len == 0)                                   /* as in a script whose variable is not set */
            return attn_fail(err, ATTN_EUSAGE, "'%.*s': a comma without an id beside it: ids are as in 5,1,2",
                             attn_shown(list, strlen(list)), list);
        int rc = read_one(&ids[*n], s, len, err);
        if (rc)
            return rc;
        ++*n;
        s = skip_space(s + len);
        comma = *s == ',';
        s = skip_space(s + comma);
    }
    if (brackets && (*s != ']' || *skip_space(s + 1)))
        return attn_fail(err, ATTN_EUSAGE, "'%.*s': expected ] at the end of the list", attn_shown(list, strlen(list)),
                         list);
    return ATTN_OK;
}

int attn_ids_parse(int32_t **ids, size_t *n, const char *list, struct attn_err *err)
{
    size_t most = strlen(list) / 2 + 1;                 /* each id takes at least a digit and a comma */
    *n = 0;
    *ids = calloc(most, sizeof **ids);
    if (!*ids)
        return attn_no_memory(err, NULL, "for %zu ids", most);
    int rc = read_all(*ids, n, list, err);
    if (rc) {
        free(*ids);
        *ids = NULL;
        *n = 0;
    }
    return rc;
}

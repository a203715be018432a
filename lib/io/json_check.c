#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/grow.h"
#include "io/json.h"
#include "io/strings.h"

/* The keys so far of each object that is open, by depth.  A set keeps its memory for the next
 * object of its depth, and emptying it costs no more than what was in it. */
struct keys {
    struct attn_strings seen[ATTN_JSON_DEPTH];
    char *plain; size_t plain_room;     /* a string without its escapes */
};

static int no_memory(const struct attn_json *j, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory to check it for duplicate keys", j->name);
}

static int duplicate(const struct attn_json *j, const char *key, size_t len, struct attn_err *err)
{
    size_t line, column;
    attn_json_place(j, j->token - 1, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: key '%.*s' for the second time in one object",
                     j->name, line, column, attn_shown(key, len), key);
}

/* Takes the key just read. */
static int see_key(struct keys *k, const struct attn_json *j, struct attn_err *err)
{
    struct attn_strings *seen = &k->seen[j->depth - 1];
    const char *key = j->text + j->token;
    size_t len = j->token_len, before = seen->n;
    if (j->escaped) {
        char *plain = attn_grow(k->plain, &k->plain_room, len, 1);
        if (!plain)
            return no_memory(j, err);
        k->plain = plain;
        len = attn_json_string(j, plain);
        key = plain;
    }
    size_t number = attn_strings_add(seen, key, len);
    if (number == ATTN_STRINGS_NONE)
        return no_memory(j, err);
    return number < before ? duplicate(j, key, len, err) : ATTN_OK;
}

static int refuse_nul(const struct attn_json *j, struct attn_err *err)
{
    const char *s = j->text + j->token, *end = s + j->token_len;
    size_t line, column;
    if (!j->escaped)
        return ATTN_OK;
    while ((s = memchr(s, '\\', (size_t)(end - s))) != NULL) {
        if (end - s >= 6 && memcmp(s, "\\u0000", 6) == 0) {
            attn_json_place(j, (size_t)(s - j->text), &line, &column);
            return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: \\u0000 in a string is not supported",
                             j->name, line, column);
        }
        s += 2;
    }
    return ATTN_OK;
}

static int look(struct keys *k, const struct attn_json *j, enum attn_json_event e, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (e == ATTN_JSON_OBJECT)
        attn_strings_clear(&k->seen[j->depth - 1]);
    if (e == ATTN_JSON_KEY || e == ATTN_JSON_STRING)
        rc = refuse_nul(j, err);
    if (!rc && e == ATTN_JSON_KEY)
        rc = see_key(k, j, err);
    return rc;
}

static bool is_value(enum attn_json_event e)
{
    return e != ATTN_JSON_KEY && e != ATTN_JSON_OBJECT_END && e != ATTN_JSON_ARRAY_END;
}

static int check(struct keys *k, struct attn_json *j, size_t max_values, struct attn_err *err)
{
    enum attn_json_event e;
    size_t values = 0;
    int rc = ATTN_OK;
    while (!rc && (e = attn_json_next(j)) != ATTN_JSON_DONE && e != ATTN_JSON_FAILED) {
        rc = look(k, j, e, err);
        values += is_value(e);
        if (!rc && values > max_values)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: more than %zu values, expected a smaller document", j->name,
                           max_values);
    }
    return !rc && j->failed ? attn_json_error(j, err) : rc;
}

int attn_json_check_keys(struct attn_strings *keys, const char *text, size_t len, const char *name, size_t max_values,
                         struct attn_err *err)
{
    struct attn_json j;
    struct keys k = {0};
    attn_json_start(&j, text, len, name);
    int rc = check(&k, &j, max_values, err);
    if (!rc) {
        *keys = k.seen[0];
        k.seen[0] = (struct attn_strings){0};
    }
    for (size_t i = 0; i < ATTN_JSON_DEPTH; i++)
        attn_strings_free(&k.seen[i]);
    free(k.plain);
    return rc;
}

int attn_json_check(const char *text, size_t len, const char *name, size_t max_values, struct attn_err *err)
{
    struct attn_strings keys = {0};
    int rc = attn_json_check_keys(&keys, text, len, name, max_values, err);
    attn_strings_free(&keys);
    return rc;
}

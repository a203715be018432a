#include "base/err.h"
#include "base/json.h"
#include "base/strings.h"

int attn_json_refuse_nul(const struct attn_json *j, struct attn_err *err)
{
    size_t line, column;
    if (j->nul == 0)
        return ATTN_OK;
    attn_json_place(j, j->nul, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: \\u0000 in a string is not supported", j->name,
                     line, column);
}

static int duplicate(const struct attn_json *j, const char *key, size_t len, struct attn_err *err)
{
    size_t line, column;
    attn_json_place(j, j->start, &line, &column);
    return attn_fail(err, ATTN_EFORMAT, "%s: line %zu, column %zu: key '%.*s' for the second time in one object",
                     j->name, line, column, attn_shown(key, len), key);
}

static int no_memory(const struct attn_json *j, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for its keys", j->name);
}

int attn_json_add_key(struct attn_strings *keys, const struct attn_json *j, struct attn_err *err)
{
    size_t before = keys->n, len = 0, number = ATTN_STRINGS_NONE;
    int rc = attn_json_refuse_nul(j, err);
    if (rc)
        return rc;
    char *key = attn_strings_draft(keys, j->token_len);
    if (key) {
        len = attn_json_string(j, key);
        number = attn_strings_add(keys, key, len);
    }
    if (number == ATTN_STRINGS_NONE)
        return no_memory(j, err);
    return number == before ? ATTN_OK : duplicate(j, key, len, err);
}

bool attn_json_next_key(struct attn_strings *keys, struct attn_json *j, int *rc, struct attn_err *err)
{
    char *key = j->out = attn_strings_draft(keys, j->len - j->at);
    bool is_key = key && attn_json_next(j) == ATTN_JSON_KEY;
    j->out = NULL;
    *rc = !key ? no_memory(j, err) : is_key ? attn_json_refuse_nul(j, err) : ATTN_OK;
    if (is_key && !*rc && !attn_strings_append(keys, key, j->out_len))
        *rc = no_memory(j, err);
    return is_key && !*rc;
}

int attn_json_index_keys(struct attn_strings *keys, const struct attn_json *before, struct attn_err *err)
{
    struct attn_json j = *before;
    size_t twice, len;
    if (!attn_strings_index(keys, &twice))
        return no_memory(before, err);
    if (twice == ATTN_STRINGS_NONE)
        return ATTN_OK;
    attn_json_next(&j);                 /* reads it once more to find the position */
    for (size_t i = 0; attn_json_next(&j) == ATTN_JSON_KEY && i < twice; i++)
        attn_json_skip(&j, attn_json_next(&j));
    const char *key = attn_strings_at(keys, twice, &len);
    return duplicate(&j, key, len, err);
}

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

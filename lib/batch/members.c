#include "batch/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "batch/sidecar.h"
#include "base/json.h"

/* ---- writing --------------------------------------------------------------------------- */

static void write_text(struct attn_out *o, const char *s)
{
    if (s)
        attn_out_json(o, s, strlen(s));
    else
        attn_out_str(o, "null");
}

static void write_name(struct attn_out *o, const char *name, size_t nth)
{
    attn_out_str(o, nth ? "," : "");
    write_text(o, name);
    attn_out_char(o, ':');
}

static void write_options(struct attn_out *o, const struct attn_sidecar *s)
{
    for (size_t i = 0; i < s->options; i++) {
        write_name(o, s->option[i].name, i);
        write_text(o, s->option[i].value);
    }
}

static void write_value(struct attn_out *o, const struct attn_member *f, const struct attn_sidecar *s)
{
    const char *at = (const char *)s + f->offset;
    switch (f->kind) {
    case ATTN_MEMBER_WHOLE:
        if (*(const uint64_t *)(const void *)at == UINT64_MAX)
            attn_out_str(o, "null");
        else
            attn_out_u64(o, *(const uint64_t *)(const void *)at);
        break;
    case ATTN_MEMBER_FLAG: attn_out_str(o, *(const bool *)at ? "true" : "false"); break;
    case ATTN_MEMBER_TEXT: write_text(o, *(char *const *)(const void *)at); break;
    case ATTN_MEMBER_HEX: write_text(o, at); break;
    default:
        attn_out_char(o, '{');
        if (f->kind == ATTN_MEMBER_OBJECT)
            attn_members_write(o, f->of, s);
        else
            write_options(o, s);
        attn_out_char(o, '}');
    }
}

void attn_members_write(struct attn_out *o, const struct attn_member *table, const struct attn_sidecar *from)
{
    for (size_t i = 0; table[i].name; i++) {
        write_name(o, table[i].name, i);
        write_value(o, &table[i], from);
    }
}

/* ---- reading --------------------------------------------------------------------------- */

struct reader { struct attn_json j; struct attn_sidecar *to; struct attn_err *err; };

static int unexpected(struct reader *r, const char *name, const char *expected)
{
    size_t line, column;
    attn_json_place(&r->j, r->j.start, &line, &column);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: line %zu: \"%s\" is not %s", r->j.name, line, name, expected);
}

/* Copies the last key or string, malloc'd and NUL-terminated. */
static int copy(struct reader *r, char **out)
{
    free(*out);
    *out = malloc(r->j.token_len + 1);
    if (!*out)
        return attn_fail(r->err, ATTN_ENOMEM, "%s: no memory", r->j.name);
    int rc = attn_json_refuse_nul(&r->j, r->err);
    (*out)[attn_json_string(&r->j, *out)] = '\0';
    return rc;
}

enum { OPTIONS = 256 };                 /* most that are read, because they are searched one by one */

static int read_options(struct reader *r)
{
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        char *name = NULL, *value = NULL;
        if (r->to->options == OPTIONS)
            return unexpected(r, "options", "as short as that of any batch");
        rc = copy(r, &name);
        if (!rc && attn_json_next(&r->j) != ATTN_JSON_STRING)
            rc = unexpected(r, name, "a string");
        if (!rc)
            rc = copy(r, &value);
        if (!rc)
            rc = attn_sidecar_add_option(r->to, name, value, r->err);
        free(name);
        free(value);
    }
    return rc;
}

static bool is_hex(const struct attn_json *j)
{
    return j->token_len == 64 && strspn(j->text + j->token, "0123456789abcdef") >= 64;
}

static int read_members(struct reader *r, const struct attn_member *const *tables);

static int read_value(struct reader *r, const struct attn_member *f, enum attn_json_event e)
{
    char *at = (char *)r->to + f->offset;
    const struct attn_member *const tables[] = {f->of, NULL};
    switch (f->kind) {
    case ATTN_MEMBER_WHOLE:
        if (e == ATTN_JSON_NULL)
            return *(uint64_t *)(void *)at = UINT64_MAX, ATTN_OK;
        if (e == ATTN_JSON_NUMBER && r->j.is_whole)
            return *(uint64_t *)(void *)at = r->j.whole, ATTN_OK;
        return unexpected(r, f->name, "a whole number");
    case ATTN_MEMBER_FLAG:
        *(bool *)at = e == ATTN_JSON_TRUE;
        return e == ATTN_JSON_TRUE || e == ATTN_JSON_FALSE ? ATTN_OK : unexpected(r, f->name, "true or false");
    case ATTN_MEMBER_TEXT:
        if (e == ATTN_JSON_NULL)
            return ATTN_OK;
        return e == ATTN_JSON_STRING ? copy(r, (char **)(void *)at) : unexpected(r, f->name, "a string");
    case ATTN_MEMBER_HEX:
        if (e != ATTN_JSON_STRING || !is_hex(&r->j))
            return unexpected(r, f->name, "64 hexadecimal digits");
        memcpy(at, r->j.text + r->j.token, 64);
        return ATTN_OK;
    default:
        if (e != ATTN_JSON_OBJECT)
            return unexpected(r, f->name, "an object");
        return f->kind == ATTN_MEMBER_OBJECT ? read_members(r, tables) : read_options(r);
    }
}

static const struct attn_member *find(const struct attn_json *j, const struct attn_member *const *tables)
{
    for (; *tables; tables++)
        for (const struct attn_member *f = *tables; f->name; f++)
            if (attn_json_is(j, f->name))
                return f;
    return NULL;
}

static int read_members(struct reader *r, const struct attn_member *const *tables)
{
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        const struct attn_member *f = find(&r->j, tables);
        enum attn_json_event e = attn_json_next(&r->j);
        if (f && e != ATTN_JSON_FAILED)
            rc = read_value(r, f, e);
        else
            attn_json_skip(&r->j, e);
    }
    return rc;
}

int attn_members_read(struct attn_sidecar *to, const struct attn_member *const *tables, const char *text, size_t len,
                      const char *path, struct attn_err *err)
{
    struct reader r = {.to = to, .err = err};
    int rc = ATTN_OK;
    attn_json_start(&r.j, text, len, path);
    if (attn_json_next(&r.j) != ATTN_JSON_OBJECT)
        rc = r.j.failed ? attn_json_error(&r.j, err) : attn_fail(err, ATTN_EFORMAT, "%s: is no JSON object", path);
    if (!rc)
        rc = read_members(&r, tables);
    if (!rc)
        attn_json_next(&r.j);
    if (!rc && r.j.failed)
        rc = attn_json_error(&r.j, err);
    return rc;
}

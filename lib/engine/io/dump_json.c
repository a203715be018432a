/* dump_json.c - reads dumps from JSON: the document of a run, or the manifest of a directory.
 *
 * Both list tokens in the same way.  A document has "activations" with their numbers; a manifest has "files" that say
 * which heads an array holds. */
#include "io/dump.h"
#include "attn_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"

struct reader {
    struct attn_json j; struct attn_dump *d; struct attn_dump_list *tokens; bool manifest;
    struct attn_err *err;
};

/* An entry of "activations" or "files" while it is read. */
struct entry {
    char *name; size_t name_len;
    size_t *heads, n_heads, heads_room;
    char mask[ATTN_KIND_TEXT];
    size_t shape[ATTN_ARRAY_DIMS], n_shape;
    size_t nested[ATTN_ARRAY_DIMS], depth;      /* how many items lists of each depth have */
    struct attn_array of; size_t room;
    bool loose;
};

static int unexpected(struct reader *r, const char *expected)
{
    size_t line, column;
    if (r->j.failed)
        return attn_json_error(&r->j, r->err);
    attn_json_position(&r->j, r->j.at, &line, &column);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: line %zu, column %zu: expected %s", r->j.name, line, column, expected);
}

static int no_memory(const struct reader *r)
{
    return attn_no_memory(r->err, r->j.name, "for what it holds");
}

static int skip_value(struct reader *r)
{
    return attn_json_skip(&r->j, attn_json_next(&r->j)) ? ATTN_OK : unexpected(r, "a value");
}

/* Copies the string just read, malloc'd and NUL-terminated. */
static int read_string(struct reader *r, char **out, size_t *len)
{
    char *s = malloc(r->j.token_len + 1);
    if (!s)
        return no_memory(r);
    *len = attn_json_string(&r->j, s);
    s[*len] = '\0';
    free(*out);
    *out = s;
    return ATTN_OK;
}

static bool whole(const struct reader *r, uint64_t most, uint64_t *out)
{
    return attn_num_parse_u64(r->j.text + r->j.token, r->j.token_len, out) && *out <= most;
}

/* Reads a list such as [0, 2], or null. */
static int read_sizes(struct reader *r, size_t **list, size_t *n, size_t *room)
{
    enum attn_json_event e = attn_json_next(&r->j);
    *n = 0;
    if (e == ATTN_JSON_NULL)
        return ATTN_OK;
    if (e != ATTN_JSON_ARRAY)
        return unexpected(r, "a list of whole numbers or null");
    while ((e = attn_json_next(&r->j)) == ATTN_JSON_NUMBER) {
        uint64_t x;
        size_t *more = attn_grow(*list, room, *n + 1, sizeof *more);
        if (!more)
            return no_memory(r);
        *list = more;
        if (!whole(r, SIZE_MAX, &x))
            return unexpected(r, "a whole number");
        more[(*n)++] = (size_t)x;
    }
    return e == ATTN_JSON_ARRAY_END ? ATTN_OK : unexpected(r, "a whole number");
}

static int read_shape(struct reader *r, struct entry *a)
{
    size_t *list = NULL, room = 0, n = 0;
    int rc = read_sizes(r, &list, &n, &room);
    if (!rc && n > ATTN_ARRAY_DIMS)
        rc = unexpected(r, "at most 8 axes");
    if (!rc && n)
        memcpy(a->shape, list, n * sizeof *list);
    a->n_shape = rc ? 0 : n;
    free(list);
    return rc;
}

static int add_number(struct reader *r, struct entry *a, enum attn_json_event e)
{
    double x = NAN;
    if (e == ATTN_JSON_NUMBER && !attn_num_parse_f64(r->j.text + r->j.token, r->j.token_len, &x))
        return unexpected(r, "a number of fewer digits");
    if (!attn_array_add(&a->of, &a->room, x))
        return no_memory(r);
    a->loose |= e == ATTN_JSON_NULL;
    return ATTN_OK;
}

/* Notes how many items a list has that ends; lists side by side must have as many each. */
static bool end_list(struct entry *a, size_t depth, size_t items, bool *ended)
{
    if (!*ended)
        a->nested[depth - 1] = items;
    *ended = true;
    return a->nested[depth - 1] == items;
}

/* Reads the numbers of nested lists in order. */
static int read_data(struct reader *r, struct entry *a)
{
    size_t depth = 0, items[ATTN_ARRAY_DIMS + 1] = {0}, leaf = SIZE_MAX;
    bool ended[ATTN_ARRAY_DIMS + 1] = {false};
    a->of.n = a->depth = 0;
    do {
        enum attn_json_event e = attn_json_next(&r->j);
        bool number = e == ATTN_JSON_NUMBER || e == ATTN_JSON_NULL;
        int rc = ATTN_OK;
        leaf = number && leaf == SIZE_MAX ? depth : leaf;
        items[depth] += e != ATTN_JSON_ARRAY_END;
        if (e == ATTN_JSON_ARRAY && depth == ATTN_ARRAY_DIMS)
            rc = unexpected(r, "at most 8 axes");
        else if (e == ATTN_JSON_ARRAY)
            items[++depth] = 0;
        else if (e == ATTN_JSON_ARRAY_END && !end_list(a, depth, items[depth], &ended[depth]))
            rc = unexpected(r, "as many items as in the lists before it");
        else if (e == ATTN_JSON_ARRAY_END)
            depth--;
        else if (number && depth != leaf)
            rc = unexpected(r, "numbers in lists of one depth");
        else if (number)
            rc = add_number(r, a, e);
        else
            rc = unexpected(r, "numbers in nested lists");
        if (rc)
            return rc;
        a->depth = depth > a->depth ? depth : a->depth;
    } while (depth);
    return ATTN_OK;
}

static int read_name(struct reader *r, struct entry *a)
{
    return attn_json_next(&r->j) == ATTN_JSON_STRING ? read_string(r, &a->name, &a->name_len) : unexpected(r, "a name");
}

/* A text that is too long is no kind's. */
static int read_mask(struct reader *r, struct entry *a)
{
    enum attn_json_event e = attn_json_next(&r->j);
    *a->mask = '\0';
    if (e == ATTN_JSON_STRING && r->j.token_len < sizeof a->mask)
        a->mask[attn_json_string(&r->j, a->mask)] = '\0';
    return attn_json_skip(&r->j, e) ? ATTN_OK : unexpected(r, "the text of a kind of attention");
}

static int read_member(struct reader *r, struct entry *a)
{
    if (attn_json_is(&r->j, "mask"))
        return read_mask(r, a);
    if (attn_json_is(&r->j, "name"))
        return read_name(r, a);
    if (attn_json_is(&r->j, "heads"))
        return read_sizes(r, &a->heads, &a->n_heads, &a->heads_room);
    if (!r->manifest && attn_json_is(&r->j, "shape"))
        return read_shape(r, a);
    if (!r->manifest && attn_json_is(&r->j, "data"))
        return read_data(r, a);
    return skip_value(r);
}

/* Notes which heads an array holds that has already been read, and what hid its keys. */
static int note_entry(struct reader *r, struct entry *a)
{
    struct attn_dumped *known = (struct attn_dumped *)attn_dump_item(r->d, a->name);
    int axis = r->d->steps ? 1 : 0;
    if (known)
        memcpy(known->mask, a->mask, sizeof known->mask);
    if (known && !known->heads && a->n_heads && known->of.ndim == axis + 3 && a->n_heads == known->of.shape[axis]) {
        known->heads = a->heads;
        known->n_heads = a->n_heads;
        a->heads = NULL;
    }
    return ATTN_OK;
}

static int take_array(struct reader *r, struct entry *a)
{
    size_t n = 1;
    bool fits = a->n_shape > 0, nested = a->depth == a->n_shape;
    for (size_t i = 0; i < a->n_shape; i++)
        fits &= !__builtin_mul_overflow(n, a->shape[i], &n) && (!nested || a->nested[i] == a->shape[i]);
    if (!fits || n != a->of.n)
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: '%.*s' has %zu numbers, which is not what its shape says", r->j.name,
                         attn_shown(a->name, a->name_len), a->name, a->of.n);
    if (a->n_heads && (a->n_shape < 3 || a->n_heads != a->shape[a->n_shape - 3]))
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: '%.*s' lists %zu heads, which is not what its shape says", r->j.name,
                         attn_shown(a->name, a->name_len), a->name, a->n_heads);
    if (!a->n_heads) {                  /* a list, and null after it */
        free(a->heads);
        a->heads = NULL;
    }
    struct attn_dumped what = {.of = a->of, .heads = a->heads, .n_heads = a->n_heads, .loose = a->loose};
    what.of.ndim = (int)a->n_shape;
    memcpy(what.of.shape, a->shape, sizeof what.of.shape);
    memcpy(what.mask, a->mask, sizeof what.mask);
    a->of = (struct attn_array){0};
    a->heads = NULL;
    return attn_dump_add(r->d, a->name, a->name_len, &what, r->err);
}

static int read_entry(struct reader *r)
{
    struct entry a = {0};
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY)
        rc = read_member(r, &a);
    if (!rc && r->j.failed)
        rc = unexpected(r, "an object");
    if (!rc && !a.name)
        rc = unexpected(r, "an object with a name");
    if (!rc)
        rc = r->manifest ? note_entry(r, &a) : take_array(r, &a);
    free(a.name);
    free(a.heads);
    attn_array_free(&a.of);
    return rc;
}

static int read_token(struct reader *r)
{
    uint64_t id = 0;
    char *text = NULL;
    size_t len = 0;
    bool none = false;                  /* a word of several tokens has no id */
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        bool is_id = attn_json_is(&r->j, "id"), is_text = attn_json_is(&r->j, "text");
        enum attn_json_event e = attn_json_next(&r->j);
        if (is_id && e == ATTN_JSON_NULL)
            none = true;
        else if (is_id && !(e == ATTN_JSON_NUMBER && whole(r, INT32_MAX, &id)))
            rc = unexpected(r, "a token id");
        else if (is_text && e == ATTN_JSON_STRING)
            rc = read_string(r, &text, &len);
        else if (!attn_json_skip(&r->j, e))
            rc = unexpected(r, "a token");
    }
    if (!rc && r->j.failed)
        rc = unexpected(r, "a token");
    if (!rc)
        rc = attn_dump_add_token(r->d, r->tokens, none ? -1 : (int32_t)id, text, len, r->err);
    free(text);
    return rc;
}

static int read_list(struct reader *r, int (*read)(struct reader *r))
{
    enum attn_json_event e = attn_json_next(&r->j);
    if (e != ATTN_JSON_ARRAY)
        return unexpected(r, "a list of objects");
    int rc = ATTN_OK;
    while (!rc && (e = attn_json_next(&r->j)) == ATTN_JSON_OBJECT)
        rc = read(r);
    return rc || e == ATTN_JSON_ARRAY_END ? rc : unexpected(r, "an object");
}

static int read_all(struct reader *r, const char *text, size_t len, const char *path)
{
    const char *key = r->manifest ? "files" : "activations";
    bool seen = false;
    int rc = ATTN_OK;
    attn_json_start(&r->j, text, len, path);
    if (attn_json_next(&r->j) != ATTN_JSON_OBJECT)
        return unexpected(r, "the document of run --format json");
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY) {
        bool list = attn_json_is(&r->j, key), other = attn_json_is(&r->j, "context_tokens");
        bool tokens = other || attn_json_is(&r->j, "tokens");
        seen |= list;
        r->tokens = other ? &r->d->keys : &r->d->tokens;
        rc = tokens ? read_list(r, read_token) : list ? read_list(r, read_entry) : skip_value(r);
    }
    if (!rc && (r->j.failed || attn_json_next(&r->j) != ATTN_JSON_DONE))
        return unexpected(r, "the end of the document");
    if (!rc && !seen)
        rc = attn_fail(r->err, ATTN_EFORMAT,
                       "%s: has no \"%s\": expected the document of run --format json", path, key);
    return rc;
}

int attn_dump_read_document(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct reader r = {.d = d, .err = err};
    d->path = path;
    return read_all(&r, text, len, path);
}

int attn_dump_read_manifest(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct reader r = {.d = d, .manifest = true, .err = err};
    d->path = path;
    return read_all(&r, text, len, path);
}

static int list_file(struct attn_dump_listing *out, struct reader *r)
{
    struct entry a = {0};
    int rc = ATTN_OK;
    while (!rc && attn_json_next(&r->j) == ATTN_JSON_KEY)
        rc = attn_json_is(&r->j, "file") ? read_name(r, &a) : skip_value(r);
    if (!rc && r->j.failed)
        rc = unexpected(r, "an object");
    if (!rc && a.name && attn_strings_add(&out->files, a.name, a.name_len) == ATTN_STRINGS_NONE)
        rc = no_memory(r);
    free(a.name);
    return rc;
}

static int list_member(struct attn_dump_listing *out, struct reader *r)
{
    bool tool = attn_json_is(&r->j, "tool"), files = attn_json_is(&r->j, "files");
    out->of_run |= attn_json_is(&r->j, "command");
    enum attn_json_event e = attn_json_next(&r->j);
    int rc = ATTN_OK;
    if (tool)
        out->native = e == ATTN_JSON_STRING && attn_json_is(&r->j, "attn-cli");
    if (!files || e != ATTN_JSON_ARRAY)
        return attn_json_skip(&r->j, e) ? ATTN_OK : unexpected(r, "a value");
    out->lists = true;
    /* of another program's manifest, items may be anything */
    while (!rc && (e = attn_json_next(&r->j)) != ATTN_JSON_ARRAY_END) {
        out->lists &= e == ATTN_JSON_OBJECT;
        rc = e == ATTN_JSON_OBJECT ? list_file(out, r) : attn_json_skip(&r->j, e) ? ATTN_OK : unexpected(r, "a value");
    }
    return rc;
}

int attn_dump_read_listing(struct attn_dump_listing *out, const char *text, size_t len, const char *path,
                           struct attn_err *err)
{
    struct reader r = {.err = err};
    int rc = ATTN_OK;
    *out = (struct attn_dump_listing){0};
    attn_json_start(&r.j, text, len, path);
    if (attn_json_next(&r.j) != ATTN_JSON_OBJECT)
        rc = unexpected(&r, "the manifest of a run");
    while (!rc && attn_json_next(&r.j) == ATTN_JSON_KEY)
        rc = list_member(out, &r);
    if (!rc && r.j.failed)
        rc = unexpected(&r, "the end of the manifest");
    if (rc)
        attn_strings_free(&out->files);
    return rc;
}

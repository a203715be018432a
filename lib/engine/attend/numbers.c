#include "attend/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/format.h"
#include "base/utf8.h"
#include "io/fields.h"
#include "trace/trace.h"

void attn_numbers_free(struct attn_labelled *n)
{
    attn_array_free(&n->of);
    free(n->name);
    attn_dump_list_free(&n->rows);
    attn_dump_list_free(&n->cols);
    *n = (struct attn_labelled){0};
}

/* ---- one of several arrays ------------------------------------------------------------- */

/* Whether an array is called so, or is that activation of some layer. */
static bool is_called(const char *name, const char *wanted)
{
    int layer, act = attn_act_find(name, &layer);
    return !strcmp(name, wanted) || (act >= 0 && !strcmp(attn_act_short(act), wanted));
}

static int find(const struct attn_dumped **out, const struct attn_dump *d, const char *path, const char *wanted,
                struct attn_err *err)
{
    size_t found = 0, last = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->n == 1 || is_called(d->item[i].name, wanted)) {
            found++;
            last = i;
        }
    *out = found ? &d->item[last] : NULL;
    if (found == 1 && d->item[last].wrong)
        return attn_fail(err, ATTN_EFORMAT, "%s", d->item[last].wrong);
    if (found == 1)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: %zu of its %zu arrays are called %s: say which one is meant, as in %s:%s",
                     path, found, d->n, wanted, path, d->n ? d->item[found ? last : 0].name : "NAME");
}

/* Copies the array and what its rows and columns are called: of tokens, or of labels of a table. */
static int take(struct attn_labelled *out, struct attn_dump *d, const struct attn_dumped *what, struct attn_err *err)
{
    int layer, act = attn_act_find(what->name, &layer);
    struct attn_dump_list *keys = d->keys.n ? &d->keys : &d->tokens, *rows = act >= 0 && attn_act_of_keys(act) ? keys
                                                                             : &d->tokens;
    if (!attn_array_copy(&out->of, &what->of))
        return attn_no_memory(err, out->name, "for %zu numbers", what->of.n);
    if (act >= 0 && attn_act_square(act)) {
        out->cols = *keys;
        *keys = (struct attn_dump_list){0};
    }
    if (!rows->n)
        rows = &d->rows;
    out->rows = *rows;
    *rows = (struct attn_dump_list){0};
    return ATTN_OK;
}

static int read_dump(struct attn_labelled *out, const char *path, const char *wanted, struct attn_err *err)
{
    struct attn_dump *d;
    const struct attn_dumped *what;
    int rc = attn_dump_open_some(&d, path, err);
    if (rc)
        return rc;
    rc = find(&what, d, path, wanted, err);
    if (!rc)
        rc = take(out, d, what, err);
    attn_dump_free(d);
    return rc;
}

/* ---- a file ---------------------------------------------------------------------------- */

static bool begins(const struct attn_map *m, const char *with)
{
    size_t n = strlen(with);
    return m->len >= n && !memcmp(m->data, with, n);
}

/* Whether the bytes are text that a table may be. */
static bool is_table(const struct attn_map *m)
{
    size_t at = 0;
    while (at < m->len && strchr(" \t\r\n", m->data[at]) && m->data[at])
        at++;
    return m->len && !memchr(m->data, 0, m->len) && !(at < m->len && m->data[at] == '{') &&
           !attn_dump_is_of_several((const char *)m->data, m->len);
}

/* Whether rows of numbers are lines of fields with semicolons between them, as spreadsheets write a table where a comma
 * is the point of a number; rows that end with a semicolon are none. */
static bool is_spreadsheet(const char *s, size_t len)
{
    bool feed = false;
    for (size_t i = 0; i < len; i++) {
        size_t next = i + 1;
        while (s[i] == ';' && next < len && strchr(" \t\r", s[next]) && s[next])
            next++;
        if (s[i] == '[' || (s[i] == ';' && (next == len || s[next] == '\n')))
            return false;
        feed |= s[i] == '\n' && i + 1 < len;
    }
    return feed && attn_fields_comma(s, len) == ';';
}

/* Numbers in rows or lists, or a table with labels, which stay as they are. */
static int read_text(struct attn_labelled *out, const char *text, size_t len, struct attn_err *err)
{
    size_t n = len;
    char *plain = attn_utf8_ascii(text, len) < len ? attn_numbers_plain(text, &n) : NULL;
    const char *s = plain ? plain : text;
    int rc = attn_numbers_typed(s, n) && !is_spreadsheet(s, n) ? attn_numbers_text(&out->of, s, n, out->name, err) :
             attn_numbers_table(out, text, len, out->name, err);
    free(plain);
    return rc;
}

static int read_file(struct attn_labelled *out, const char *path, const char *wanted, struct attn_err *err)
{
    struct attn_map m = {0};
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return read_dump(out, path, wanted, err);
    int rc = attn_map_open(&m, path, ATTN_DUMP_LARGEST, err);
    if (rc)
        return rc;
    if (begins(&m, "\x93NUMPY"))
        rc = attn_npy_read_any(&out->of, m.data, m.len, out->name, err);
    else if (!m.len)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the file is empty, expected numbers", out->name);
    else if (begins(&m, "\xFF\xFE") || begins(&m, "\xFE\xFF"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the text is UTF-16, expected UTF-8: a spreadsheet saves it as \"CSV "
                                          "UTF-8\"", out->name);
    else if (is_table(&m))
        rc = read_text(out, (const char *)m.data, m.len, err);
    else if (!strcmp(path, "-"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: several arrays in one file: expected one, as text or as numpy.save "
                                          "writes it", out->name);
    else
        rc = read_dump(out, path, wanted, err);
    attn_map_close(&m);
    return rc;
}

/* "DUMP:NAME", where there is no such file, but DUMP is there. */
static char *split_name(const char *given, const char **name)
{
    struct stat st;
    const char *colon = strrchr(given, ':');
    char *path = colon && colon > given && stat(given, &st) ? strndup(given, (size_t)(colon - given)) : NULL;
    if (path && stat(path, &st)) {
        free(path);
        return NULL;
    }
    *name = path ? colon + 1 : *name;
    return path;
}

static int missing(const char *given, const char *option, struct attn_err *err)
{
    const char *mask = strcmp(option, "--mask") ? "" : "; the causal mask is --mask causal";
    return attn_fail(err, ATTN_EIO, "%s: there is no file '%s'; numbers are typed as in %s \"1 0 1; 0 2 2\" or %s "
                                    "\"[[1, 0, 1], [0, 2, 2]]\"%s", option, given, option, option, mask);
}

/* What is typed may have been meant for a file.  plain: what is given, in plain marks. */
static int read_typed(struct attn_labelled *out, const char *given, const char *plain, size_t len, const char *option,
                      struct attn_err *err)
{
    struct attn_err why = {0};
    struct stat st;
    int rc = attn_numbers_text(&out->of, plain, len, option, &why);
    if (rc && stat(given, &st) == 0)
        return attn_fail(err, rc, "%s; for the file of that name write ./%s", why.msg, given);
    return attn_fail_as(err, &why);
}

int attn_numbers_read(struct attn_labelled *out, const char *given, const char *option, const char *wanted,
                      struct attn_err *err)
{
    struct stat st;
    size_t len = strlen(given);
    char *plain = attn_numbers_plain(given, &len);
    bool standard = !strcmp(given, "-"), typed = plain && !standard && attn_numbers_typed(plain, len);
    char *path = typed ? NULL : split_name(given, &wanted);
    *out = (struct attn_labelled){.name = strdup(standard ? "standard input" : typed ? option : path ? path : given)};
    int rc = plain && out->name ? ATTN_OK : attn_no_memory(err, option, "for its name");
    if (!rc && typed)
        rc = read_typed(out, given, plain, len, option, err);
    else if (!rc && !standard && !path && stat(given, &st))
        rc = missing(given, option, err);
    else if (!rc)
        rc = path ? read_dump(out, path, wanted, err) : read_file(out, given, wanted, err);
    if (!rc && !attn_array_widen(&out->of))
        rc = attn_no_memory(err, out->name, "for %zu numbers", out->of.n);
    free(plain);
    free(path);
    if (rc)
        attn_numbers_free(out);
    return rc;
}

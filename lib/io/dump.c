#include "io/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/num.h"
#include "io/npy.h"
#include "io/unzip.h"

/* ---- the list -------------------------------------------------------------------------- */

void attn_dump_drop(struct attn_dumped *what)
{
    free(what->name);
    free(what->of.data);
    free(what->heads);
}

const struct attn_dumped *attn_dump_find(const struct attn_dump *d, const char *name)
{
    size_t i = attn_strings_find(&d->names, name, strlen(name));
    return i == ATTN_STRINGS_NONE ? NULL : &d->item[i];
}

static int no_memory(const struct attn_dump *d, size_t n, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory to list %zu arrays", d->path, n);
}

/* Numbers the name of item i, which must be the next one, with i. */
static int enter(struct attn_dump *d, const char *name, size_t i, struct attn_err *err)
{
    size_t number = attn_strings_add(&d->names, name, strlen(name));
    return number == i ? ATTN_OK
           : number == ATTN_STRINGS_NONE ? no_memory(d, i + 1, err)
           : attn_fail(err, ATTN_EFORMAT, "%s: '%s' is there twice", d->path, name);
}

int attn_dump_index(struct attn_dump *d, struct attn_err *err)
{
    int rc = ATTN_OK;
    attn_strings_clear(&d->names);
    for (size_t i = 0; i < d->n && !rc; i++)
        rc = enter(d, d->item[i].name, i, err);
    return rc;
}

int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what, struct attn_err *err)
{
    struct attn_dumped add = *what;
    struct attn_dumped *more = attn_grow(d->item, &d->room, d->n + 1, sizeof *more);
    if (!more) {
        attn_dump_drop(&add);
        return no_memory(d, d->n + 1, err);
    }
    d->item = more;
    add.name = attn_utf8_readable(name, len);
    int rc = add.name ? enter(d, add.name, d->n, err) : no_memory(d, d->n + 1, err);
    if (rc)
        attn_dump_drop(&add);
    else
        more[d->n++] = add;
    return rc;
}

int attn_dump_add_token(struct attn_dump *d, struct attn_dump_list *to, int32_t id, const char *text, size_t len,
                        struct attn_err *err)
{
    struct attn_dump_token *more = attn_grow(to->item, &to->room, to->n + 1, sizeof *more);
    if (more)
        to->item = more;
    char *copy = more && text ? malloc(len + 1) : NULL;
    if (!more || (text && !copy))
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory to list %zu tokens", d->path, to->n + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    to->item[to->n++] = (struct attn_dump_token){id, copy, len};
    return ATTN_OK;
}

const char *attn_dump_warning(const struct attn_dump *d) { return d->warning; }

size_t attn_dump_tokens(const struct attn_dump *d) { return d->tokens.n; }

const char *attn_dump_token(const struct attn_dump *d, size_t i, int32_t *id, size_t *len)
{
    *id = d->tokens.item[i].id;
    *len = d->tokens.item[i].len;
    return d->tokens.item[i].text;
}

static void free_list(struct attn_dump_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->item[i].text);
    free(list->item);
}

void attn_dump_free(struct attn_dump *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        attn_dump_drop(&d->item[i]);
    free_list(&d->tokens);
    free_list(&d->keys);
    free_list(&d->rows);
    free_list(&d->cols);
    attn_strings_free(&d->names);
    free(d->warning);
    free(d->steps);
    free(d->item);
    free(d);
}

/* ---- one file -------------------------------------------------------------------------- */

size_t attn_dump_stem(const char *file, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && !strncasecmp(file + len - n, ending, n) ? len - n : 0;
}

int attn_dump_add_npy(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    struct attn_dumped what = {0};
    int rc = attn_npy_read(&what.of, m->data, m->len, path, err);
    return rc ? rc : attn_dump_add(d, name, len, &what, err);
}

static int read_npz(struct attn_dump *d, const struct attn_map *m, const char *path, struct attn_err *err)
{
    struct attn_unzip z;
    struct attn_unzipped member;
    int rc = attn_unzip_start(&z, m->data, m->len, path, err);
    while (!rc && !(rc = attn_unzip_next(&z, &member, err)) && member.name) {
        char called[256];
        size_t n = attn_dump_stem(member.name, member.name_len, ".npy");
        snprintf(called, sizeof called, "%s: %.*s", path, (int)(member.name_len < 128 ? member.name_len : 128), member.name);
        struct attn_map inside = {.data = member.data, .len = member.size};
        rc = n ? attn_dump_add_npy(d, member.name, n, &inside, called, err)
               : attn_fail(err, ATTN_EFORMAT, "%s: expected arrays in an .npz archive, as in NAME.npy", called);
    }
    return rc;
}

int attn_dump_add_csv(struct attn_dump *d, const char *file, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    const char *text = (const char *)m->data;
    struct attn_dumped what = {0};
    int rc = attn_dump_read_csv(&what.of, text, m->len, path, err);
    if (!rc && !d->n)
        rc = attn_dump_read_labels(d, text, m->len, err);
    if (rc)
        free(what.of.data);
    return rc ? rc : attn_dump_add(d, file, len, &what, err);
}

/* Reads a table: either the long format or one matrix. */
static int read_table(struct attn_dump *d, const char *file, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    if (attn_dump_is_tidy((const char *)m->data, m->len))
        return attn_dump_read_tidy(d, (const char *)m->data, m->len, path, err);
    int rc = attn_dump_add_csv(d, file, len, m, path, err);
    return rc ? rc : attn_dump_join_heads(d, err);
}

static int read_file(struct attn_dump *d, const char *path, struct attn_err *err)
{
    struct attn_map m = {0};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t len = strlen(file), n = attn_dump_stem(file, len, ".npy"), table = attn_dump_stem(file, len, ".csv");
    int rc = attn_map_open(&m, path, ATTN_DUMP_LARGEST, err);
    if (rc)
        return rc;
    d->single = m.len > 6 && !memcmp(m.data, "\x93NUMPY", 6);
    if (d->single)
        rc = attn_dump_add_npy(d, file, n ? n : len, &m, path, err);
    else if (m.len > 4 && !memcmp(m.data, "PK", 2))
        rc = read_npz(d, &m, path, err);
    else if (attn_dump_stem(file, len, ".npy") || attn_dump_stem(file, len, ".npz"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: neither an .npy file nor a zip archive, whatever it is called", path);
    else if (table || attn_dump_is_tidy((const char *)m.data, m.len))
        rc = read_table(d, file, table, &m, path, err);
    else
        rc = attn_dump_read_document(d, (const char *)m.data, m.len, path, err);
    attn_map_close(&m);
    return rc;
}

/* ---- any path -------------------------------------------------------------------------- */

/* The directory of a path that ends in manifest.json, malloc'd.  NULL for other paths, or without memory (then the
 * file is read as a document, and refused). */
static char *manifest_directory(const char *path)
{
    static const char leaf[] = "manifest.json";
    size_t len = strlen(path), n = len < sizeof leaf - 1 ? 0 : len - (sizeof leaf - 1);
    bool manifest = len >= sizeof leaf - 1 && !strcmp(path + n, leaf) && (n == 0 || path[n - 1] == '/');
    return !manifest ? NULL : n ? strndup(path, n) : strdup(".");
}

int attn_dump_open(struct attn_dump **out, const char *path, struct attn_err *err)
{
    struct stat st;
    *out = NULL;
    struct attn_dump *d = calloc(1, sizeof *d);
    if (!d)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a dump", path);
    d->path = path;
    char *around = manifest_directory(path);
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int rc = around || directory ? attn_dump_read_directory(d, around ? around : path, err) : read_file(d, path, err);
    d->path = NULL;
    free(around);
    if (rc)
        attn_dump_free(d);
    else
        *out = d;
    return rc;
}

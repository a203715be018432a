#include "io/dump.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/num.h"
#include "io/npy.h"
#include "io/unzip.h"

static const size_t largest = (size_t)1 << 40;          /* bytes of the largest file we read */

/* ---- the list -------------------------------------------------------------------------- */

void attn_dump_drop(struct attn_dumped *what)
{
    free(what->name);
    free(what->of.data);
    free(what->heads);
}

const struct attn_dumped *attn_dump_find(const struct attn_dump *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->item[i].name, name))
            return &d->item[i];
    return NULL;
}

enum { ARRAYS_MAX = 1 << 16 };          /* a limit, because names are searched one by one */

static int check_name(const struct attn_dump *d, const char *name, struct attn_err *err)
{
    if (d->n == ARRAYS_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: more than %d arrays", d->path, ARRAYS_MAX);
    return attn_dump_find(d, name) ? attn_fail(err, ATTN_EFORMAT, "%s: '%s' is there twice", d->path, name) : ATTN_OK;
}

int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what, struct attn_err *err)
{
    struct attn_dumped add = *what;
    struct attn_dumped *more = attn_grow(d->item, &d->room, d->n + 1, sizeof *more);
    if (more)
        d->item = more;
    char *copy = more ? attn_utf8_readable(name, len) : NULL;
    int rc = copy ? check_name(d, copy, err)
                  : attn_fail(err, ATTN_ENOMEM, "%s: no memory to list %zu arrays", d->path, d->n + 1);
    add.name = copy;
    if (rc || !copy) {
        attn_dump_drop(&add);
        return rc;
    }
    d->item[d->n] = *what;
    d->item[d->n++].name = copy;
    return ATTN_OK;
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
    free(d->steps);
    free(d->item);
    free(d);
}

/* ---- one file -------------------------------------------------------------------------- */

/* Length of "blocks.0.attn.q.npy" without its ending; 0 if it has another ending. */
static size_t stem(const char *file, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && !strncasecmp(file + len - n, ending, n) ? len - n : 0;
}

static int add_npy(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *path,
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
        size_t n = stem(member.name, member.name_len, ".npy");
        snprintf(called, sizeof called, "%s: %.*s", path, (int)(member.name_len < 128 ? member.name_len : 128), member.name);
        struct attn_map inside = {.data = member.data, .len = member.size};
        rc = n ? add_npy(d, member.name, n, &inside, called, err)
               : attn_fail(err, ATTN_EFORMAT, "%s: expected arrays in an .npz archive, as in NAME.npy", called);
    }
    return rc;
}

static int add_csv(struct attn_dump *d, const char *file, size_t len, const struct attn_map *m, const char *path,
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
    int rc = add_csv(d, file, len, m, path, err);
    return rc ? rc : attn_dump_join_heads(d, err);
}

static int read_file(struct attn_dump *d, const char *path, struct attn_err *err)
{
    struct attn_map m = {0};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t len = strlen(file), n = stem(file, len, ".npy"), table = stem(file, len, ".csv");
    int rc = attn_map_open(&m, path, largest, err);
    if (rc)
        return rc;
    d->single = m.len > 6 && !memcmp(m.data, "\x93NUMPY", 6);
    if (d->single)
        rc = add_npy(d, file, n ? n : len, &m, path, err);
    else if (m.len > 4 && !memcmp(m.data, "PK", 2))
        rc = read_npz(d, &m, path, err);
    else if (stem(file, len, ".npy") || stem(file, len, ".npz"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: neither an .npy file nor a zip archive, whatever it is called", path);
    else if (table || attn_dump_is_tidy((const char *)m.data, m.len))
        rc = read_table(d, file, table, &m, path, err);
    else
        rc = attn_dump_read_document(d, (const char *)m.data, m.len, path, err);
    attn_map_close(&m);
    return rc;
}

/* ---- a directory ----------------------------------------------------------------------- */

static int read_entry(struct attn_dump *d, const char *dir, const char *file, const char *ending, struct attn_err *err)
{
    char *path;
    size_t n = stem(file, strlen(file), ending);
    if (asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the path of %s", dir, file);
    struct attn_map m = {0};
    int rc = attn_map_open_found(&m, path, largest, ATTN_LINKS_FOLLOWED, err);      /* git-annex and DVC keep arrays as links */
    if (!rc && !strcmp(ending, ".json"))
        rc = attn_dump_read_manifest(d, (const char *)m.data, m.len, path, err);
    else if (!rc)
        rc = (!strcmp(ending, ".npy") ? add_npy : add_csv)(d, file, n, &m, path, err);
    attn_map_close(&m);
    free(path);
    return rc;
}

static bool is_token_table(const char *file)
{
    return !strcmp(file, "tokens.csv") || !strcmp(file, "context_tokens.csv");
}

static int read_files(struct attn_dump *d, const char *dir, struct dirent **list, int n, const char *ending,
                      struct attn_err *err)
{
    int rc = ATTN_OK;
    for (int i = 0; i < n && !rc; i++) {
        const char *file = list[i]->d_name;
        if (file[0] != '.' && stem(file, strlen(file), ending) && !is_token_table(file))
            rc = read_entry(d, dir, file, ending, err);
    }
    return rc;
}

/* Takes steps.npy out of the list, if it is there and fits the first axis of every other array. */
static void take_steps(struct attn_dump *d)
{
    struct attn_dumped *steps = (struct attn_dumped *)attn_dump_find(d, "steps");
    bool fits = steps && steps->of.ndim == 1 && steps->of.n > 0 && d->n > 1;
    for (size_t i = 0; i < d->n && fits; i++)
        fits = &d->item[i] == steps || (d->item[i].of.ndim > 2 && d->item[i].of.shape[0] == steps->of.n);
    if (!fits)
        return;
    d->steps = steps->of.data;
    d->n_steps = steps->of.n;
    steps->of.data = NULL;
    attn_dump_drop(steps);
    *steps = d->item[--d->n];
}

/* Whether the directory belongs to a training, which is no dump itself but may contain one. */
static bool holds_history(const char *dir)
{
    char *path = NULL;
    bool there = asprintf(&path, "%s/watch/manifest.json", dir) >= 0 && access(path, R_OK) == 0;
    free(path);
    return there;
}

static int read_directory(struct attn_dump *d, const char *path, struct attn_err *err)
{
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);
    if (n < 0)
        return attn_fail_errno(err, path, "list the directory");
    int rc = read_files(d, path, list, n, ".npy", err);
    if (!rc && !d->n && holds_history(path))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: no .npy file in it, but a history of patterns: plot %s/watch", path, path);
    if (!rc && !d->n) {
        rc = read_files(d, path, list, n, ".csv", err);
        if (!rc)
            rc = attn_dump_join_heads(d, err);
    }
    if (!rc)
        take_steps(d);
    for (int i = 0; i < n; i++) {
        if (!rc && !strcmp(list[i]->d_name, "manifest.json"))
            rc = read_entry(d, path, list[i]->d_name, ".json", err);
        free(list[i]);
    }
    free(list);
    if (!rc && !d->n && attn_folder_has(path, "records.ndjson"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: holds a batch, a directory a record: name one of them, as %s/000000", path, path);
    if (!rc && !d->n)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: no .npy and no .csv file in it: expected a dump, as run --format npy -o DIR "
                       "writes it", path);
    return rc;
}

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
    int rc = around || directory ? read_directory(d, around ? around : path, err) : read_file(d, path, err);
    d->path = NULL;
    free(around);
    if (rc)
        attn_dump_free(d);
    else
        *out = d;
    return rc;
}

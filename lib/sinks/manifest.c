#include "sinks/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/map.h"
#include "sinks/doc.h"

static const char file_name[] = "manifest.json";
static const char first[] = "{\"tool\":\"attn-cli\",\n";
static const char files_line[] = "\n\"files\":[";
static const char entry[] = "\n{\"file\":\"";
static const char last[] = "\n]}\n";
enum { OLD_MAX = 1 << 28 };             /* a larger older manifest is not read */

/* ---- writing --------------------------------------------------------------------------- */

static void member(struct attn_out *o, const char *key, const char *value)
{
    attn_out_json(o, key, strlen(key));
    attn_out_char(o, ':');
    attn_doc_string(o, value);
}

static void options(struct attn_out *o, const struct attn_sink_job *job, const char *format)
{
    struct attn_asked asked = attn_select_asked(job->select);
    attn_out_str(o, "\"options\":{");
    member(o, "format", format);
    attn_out_char(o, ',');
    member(o, "show", asked.show);
    attn_out_char(o, ',');
    member(o, "layer", asked.layers);
    attn_out_char(o, ',');
    member(o, "head", asked.heads);
    attn_doc_kind(o, &job->kind, "");
    attn_out_str(o, "},\n");
}

static void write_file(struct attn_out *o, const struct attn_file *f)
{
    attn_out_str(o, entry);
    attn_out_str(o, f->file);           /* made of our own names: nothing to escape */
    attn_out_str(o, "\",");
    member(o, "name", f->name);
    attn_out_str(o, ",\"layer\":");
    attn_doc_index(o, f->layer);
    attn_out_str(o, ",\"head\":");
    attn_doc_index(o, f->head);
    attn_out_str(o, ",\"heads\":");
    if (f->n_heads)
        attn_doc_sizes(o, f->heads, f->n_heads);
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\"shape\":");
    attn_doc_sizes(o, f->shape, (size_t)f->ndim);
    attn_out_char(o, ',');
    member(o, "sha256", f->sha256);
    attn_out_str(o, ",\"bytes\":");
    attn_out_u64(o, f->bytes);
    attn_out_char(o, '}');
}

static void write_all(struct attn_out *o, const struct attn_sink_job *job, const char *format,
                      struct attn_file *const *files, size_t n)
{
    attn_out_str(o, first);
    member(o, "version", ATTN_VERSION);
    attn_out_str(o, ",\n");
    member(o, "command", job->command);
    attn_out_str(o, ",\n\"model\":");
    attn_doc_model(o, job);
    attn_out_str(o, ",\n");
    options(o, job, format);
    member(o, "cpu", job->cpu);
    attn_out_str(o, ",\n\"tokens\":");
    attn_doc_tokens(o, job->tokens, "\n");
    if (job->cross) {
        attn_out_str(o, ",\n\"context_tokens\":");
        attn_doc_tokens(o, job->cross, "\n");
    }
    attn_out_char(o, ',');
    attn_out_str(o, files_line);
    for (size_t i = 0; i < n; i++) {
        attn_out_str(o, i ? "," : "");
        write_file(o, files[i]);
    }
    attn_out_str(o, last);
}

static int write_manifest(const struct attn_sink_job *job, const char *format,
                          struct attn_file *const *files, size_t n, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_folder_open(&o, job->path, file_name, err);
    if (rc)
        return rc;
    write_all(o, job, format, files, n);
    rc = attn_out_commit(o, err);
    attn_out_close(o);
    return rc;
}

/* ---- files of an older manifest -------------------------------------------------------- */

static bool begins(const char *at, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - at) >= n && !memcmp(at, with, n);
}

/* A listed file: its name of `len` bytes, not terminated, and its size. */
struct listed { const char *name; size_t len; uint64_t bytes; };

/* The number before the bracket that ends a line. */
static uint64_t number_before(const char *bracket)
{
    const char *p = bracket;
    while (p[-1] >= '0' && p[-1] <= '9')
        p--;
    return strtoull(p, NULL, 10);
}

/* Reads the next listed file; false at the end of the list or if the format is not ours. */
static bool next_file(const char **at, const char *end, struct listed *f)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *p = *at;
    if (!begins(p, end, entry))
        return false;
    f->name = p += strlen(entry);
    while (p < end && *p && strchr(allowed, *p))
        p++;
    f->len = (size_t)(p - f->name);
    if (!f->len || *f->name == '.' || !begins(p, end, "\",\"name\":"))
        return false;
    p = memchr(p, '\n', (size_t)(end - p));
    bool more = p && !begins(p, end, last);
    if (!p || more != (p[-1] == ','))
        return false;
    f->bytes = number_before(p - (more ? 2 : 1));
    *at = p;
    return true;
}

/* Where the list begins, if the manifest is in our format from the first to the last byte; else NULL. */
static const char *list_in(const struct attn_map *manifest)
{
    const char *text = (const char *)manifest->data, *end = text + manifest->len;
    struct listed f;
    if (!manifest->len || !begins(text, end, first))
        return NULL;
    const char *list = memmem(text, manifest->len, files_line, strlen(files_line));
    if (!list)
        return NULL;
    list += strlen(files_line);
    const char *at = list;
    while (next_file(&at, end, &f))
        continue;
    return (size_t)(end - at) == strlen(last) && begins(at, end, last) ? list : NULL;
}

static bool rewritten(const struct listed *f, struct attn_file *const *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(files[i]->file) == f->len && !memcmp(files[i]->file, f->name, f->len))
            return true;
    return f->len == strlen(file_name) && !memcmp(f->name, file_name, f->len);
}

static char *path_in(const char *dir, const struct listed *f)
{
    char *path;
    return asprintf(&path, "%s/%.*s", dir, (int)f->len, f->name) < 0 ? NULL : path;
}

/* Removes the files that the older manifest lists and that are not among `files`. */
static void remove_stale(const char *dir, const struct attn_map *old, struct attn_file *const *files, size_t n)
{
    const char *at = list_in(old), *end = (const char *)old->data + old->len;
    struct listed f;
    while (at && next_file(&at, end, &f)) {
        char *path = rewritten(&f, files, n) ? NULL : path_in(dir, &f);
        if (path)
            unlink(path);               /* may fail: it can be gone, or be a directory by now */
        free(path);
    }
}

/* No link: what it lists is removed or copied.  If it cannot be read, for whatever reason, there is nothing to remove. */
static int read_old(struct attn_map *old, const char *dir, struct attn_err *err)
{
    char *path;
    *old = (struct attn_map){0};
    if (asprintf(&path, "%s/%s", dir, file_name) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
    int rc = attn_map_open_found(old, path, OLD_MAX, ATTN_LINKS_REFUSED, err);
    free(path);
    return rc;
}

void attn_manifest_remove(const char *dir)
{
    struct attn_map old;
    read_old(&old, dir, NULL);
    const struct listed itself = {file_name, strlen(file_name), 0};
    char *path = list_in(&old) ? path_in(dir, &itself) : NULL;
    remove_stale(dir, &old, NULL, 0);
    attn_map_close(&old);
    if (path)
        unlink(path);
    free(path);
}

static int hand_out(const struct listed *f, const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    char *name = strndup(f->name, f->len);
    int rc = name ? with(self, name, f->bytes, err) : attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
    free(name);
    return rc;
}

int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    struct attn_map made;
    struct listed f;
    int rc = read_old(&made, dir, err);
    const char *at = list_in(&made), *end = (const char *)made.data + made.len;
    if (!rc && !at)
        rc = attn_fail(err, ATTN_EFORMAT, "%s/%s: is not as it was written", dir, file_name);
    while (!rc && at && next_file(&at, end, &f))
        rc = hand_out(&f, dir, with, self, err);
    attn_map_close(&made);
    return rc;
}

int attn_manifest_replace(const struct attn_sink_job *job, const char *format, struct attn_file *const *files,
                          size_t n, struct attn_err *err)
{
    struct attn_map old;
    read_old(&old, job->path, NULL);
    int rc = write_manifest(job, format, files, n, err);
    if (!rc)
        remove_stale(job->path, &old, files, n);
    attn_map_close(&old);
    return rc;
}

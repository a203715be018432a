#include "sinks/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "sinks/doc.h"

static const char file_name[] = "manifest.json";
static const char first[] = "{\"tool\":\"attn-cli\",\n";
static const char files_line[] = "\n\"files\":[";
static const char entry[] = "\n{\"file\":\"";
static const char last[] = "\n]}\n";
enum { OLD_MAX = 1 << 28 };             /* bytes of an older manifest we are willing to look at */

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

static int write_manifest(const char *path, const struct attn_sink_job *job, const char *format,
                          struct attn_file *const *files, size_t n, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_out_open(&o, path, err);
    if (rc)
        return rc;
    write_all(o, job, format, files, n);
    rc = attn_out_commit(o, err);
    attn_out_close(o);
    return rc;
}

/* ---- what an older one listed ---------------------------------------------------------- */

static bool begins(const char *at, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - at) >= n && !memcmp(at, with, n);
}

/* The next name listed; false at the end of the list or at anything unexpected. */
static bool next_name(const char **at, const char *end, const char **name, size_t *len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *p = *at;
    if (!begins(p, end, entry))
        return false;
    *name = p += strlen(entry);
    while (p < end && *p && strchr(allowed, *p))
        p++;
    *len = (size_t)(p - *name);
    if (!*len || **name == '.' || !begins(p, end, "\",\"name\":"))
        return false;
    p = memchr(p, '\n', (size_t)(end - p));
    bool more = p && !begins(p, end, last);
    if (!p || more != (p[-1] == ','))
        return false;
    *at = p;
    return true;
}

/* Where the list begins in a manifest that is ours from first to last byte of it, else NULL. */
static const char *listed(const char *text, size_t len)
{
    const char *end = text + len, *name;
    size_t name_len;
    if (!begins(text, end, first))
        return NULL;
    const char *list = memmem(text, len, files_line, strlen(files_line));
    if (!list)
        return NULL;
    list += strlen(files_line);
    const char *at = list;
    while (next_name(&at, end, &name, &name_len))
        continue;
    return (size_t)(end - at) == strlen(last) && begins(at, end, last) ? list : NULL;
}

static bool rewritten(const char *name, size_t len, struct attn_file *const *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(files[i]->file) == len && !memcmp(files[i]->file, name, len))
            return true;
    return len == strlen(file_name) && !memcmp(name, file_name, len);
}

static void remove_stale(const char *dir, const struct attn_map *old, struct attn_file *const *files, size_t n)
{
    const char *end = (const char *)old->data + old->len, *name;
    const char *at = old->len ? listed((const char *)old->data, old->len) : NULL;
    size_t len;
    while (at && next_name(&at, end, &name, &len)) {
        char *path;
        if (rewritten(name, len, files, n) || asprintf(&path, "%s/%.*s", dir, (int)len, name) < 0)
            continue;
        unlink(path);                   /* gone already, or a directory now: fine */
        free(path);
    }
}

/* Anything in the way of reading it means there is nothing to remove. */
static void read_old(struct attn_map *old, const char *path)
{
    struct stat st;
    if (lstat(path, &st) || !S_ISREG(st.st_mode) || attn_map_open(old, path, OLD_MAX, NULL))
        *old = (struct attn_map){ 0 };
}

int attn_manifest_replace(const struct attn_sink_job *job, const char *format, struct attn_file *const *files,
                          size_t n, struct attn_err *err)
{
    char *path;
    if (asprintf(&path, "%s/%s", job->path, file_name) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the path of %s", job->path, file_name);
    struct attn_map old;
    read_old(&old, path);
    int rc = write_manifest(path, job, format, files, n, err);
    if (!rc)
        remove_stale(job->path, &old, files, n);
    attn_map_close(&old);
    free(path);
    return rc;
}

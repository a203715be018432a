#include "sinks/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "sinks/json.h"

static const char file_name[] = "manifest.json";

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
    attn_out_str(o, ATTN_LISTED_FILE);
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
    attn_out_str(o, ATTN_LISTED_TOOL);
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
    attn_out_str(o, ATTN_LISTED_FILES);
    for (size_t i = 0; i < n; i++) {
        attn_out_str(o, i ? "," : "");
        write_file(o, files[i]);
    }
    attn_out_str(o, ATTN_LISTED_END);
}

int attn_manifest_write(const struct attn_sink_job *job, const char *format, struct attn_file *const *files, size_t n,
                        struct attn_err *err)
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

/* ---- reading --------------------------------------------------------------------------- */

enum { OLD_MAX = 1 << 28, HEX = 64 };   /* a larger older manifest is not read; digits of a SHA-256 */

static bool begins(const char *at, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - at) >= n && !memcmp(at, with, n);
}

/* Whether `what` stands before *at; if so, *at goes back to its start. */
static bool back(const char **at, const char *start, const char *what)
{
    size_t n = strlen(what);
    if ((size_t)(*at - start) < n || memcmp(*at - n, what, n) != 0)
        return false;
    *at -= n;
    return true;
}

static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }

/* Takes apart the end of a line, "sha256":"...","bytes":14}, between start and end. */
static bool read_end(struct attn_listed *f, const char *start, const char *end)
{
    if (!back(&end, start, "}"))
        return false;
    while (end > start && is_one_of(end[-1], "0123456789"))
        end--;
    f->bytes = strtoull(end, NULL, 10);
    if (*end == '}' || !back(&end, start, "\",\"bytes\":") || end - start < HEX)
        return false;
    f->sha256 = end -= HEX;
    return strspn(f->sha256, "0123456789abcdef") == HEX && back(&end, start, ",\"sha256\":\"");
}

/* Reads the line of a file at *at, which then is at its end; false if it is none. */
static bool read_line(const char **at, const char *end, struct attn_listed *f)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *p = *at, *eol;
    if (!begins(p, end, ATTN_LISTED_FILE))
        return false;
    f->name = p += strlen(ATTN_LISTED_FILE);
    while (p < end && is_one_of(*p, allowed))
        p++;
    f->len = (size_t)(p - f->name);
    if (!f->len || *f->name == '.' || !begins(p, end, "\",\"") || !(eol = memchr(p, '\n', (size_t)(end - p))))
        return false;
    *at = eol;
    return read_end(f, p, eol - (eol[-1] == ','));
}

bool attn_listed_next(const char **at, const char *end, struct attn_listed *f)
{
    const char *eol = *at;
    if (!read_line(&eol, end, f) || begins(eol, end, ATTN_LISTED_END) == (eol[-1] == ','))
        return false;
    *at = eol;
    return true;
}

bool attn_listed_find(const char **at, const char *end, struct attn_listed *f)
{
    const char *p = *at;
    for (*at = end; (p = memmem(p, (size_t)(end - p), ATTN_LISTED_FILE, strlen(ATTN_LISTED_FILE))); p++) {
        const char *next = p;
        if (read_line(&next, end, f)) {
            *at = next;
            return true;
        }
    }
    return false;
}

const char *attn_listed_in(const struct attn_map *manifest)
{
    const char *text = (const char *)manifest->data, *end = text + manifest->len;
    struct attn_listed f;
    if (!manifest->len || !begins(text, end, ATTN_LISTED_TOOL))
        return NULL;
    const char *list = memmem(text, manifest->len, ATTN_LISTED_FILES, strlen(ATTN_LISTED_FILES));
    if (!list)
        return NULL;
    list += strlen(ATTN_LISTED_FILES);
    const char *at = list;
    while (attn_listed_next(&at, end, &f))
        continue;
    return (size_t)(end - at) == strlen(ATTN_LISTED_END) && begins(at, end, ATTN_LISTED_END) ? list : NULL;
}

int attn_listed_open(struct attn_map *out, const char *dir, const char *file, struct attn_err *err)
{
    char *path;
    *out = (struct attn_map){0};
    if (asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
    int rc = attn_map_open_found(out, path, OLD_MAX, ATTN_LINKS_REFUSED, err);
    free(path);
    return rc;
}

char *attn_listed_path(const char *dir, const struct attn_listed *f)
{
    char *path;
    return asprintf(&path, "%s/%.*s", dir, (int)f->len, f->name) < 0 ? NULL : path;
}

static int hand_out(const struct attn_listed *f, const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    char *name = strndup(f->name, f->len);
    int rc = name ? with(self, name, f->bytes, err) : attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
    free(name);
    return rc;
}

int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    struct attn_map made;
    struct attn_listed f;
    int rc = attn_listed_open(&made, dir, file_name, err);
    const char *at = attn_listed_in(&made), *end = (const char *)made.data + made.len;
    if (!rc && !at)
        rc = attn_fail(err, ATTN_EFORMAT, "%s/%s: is not as it was written", dir, file_name);
    while (!rc && at && attn_listed_next(&at, end, &f))
        rc = hand_out(&f, dir, with, self, err);
    attn_map_close(&made);
    return rc;
}

#include "sinks/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "sinks/doc.h"
#include "sinks/listed.h"

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

/* ---- checking ------------------------------------------------------------------------- */

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

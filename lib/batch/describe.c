#include "batch/describe.h"

#include <string.h>

#include "base/err.h"

static int copy(char **to, const char *s, struct attn_err *err)
{
    *to = s ? strdup(s) : NULL;
    return s && !*to ? attn_fail(err, ATTN_ENOMEM, "no memory for '%s'", s) : ATTN_OK;
}

int attn_sidecar_describe(struct attn_sidecar *s, const struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    const struct attn_records_opts *r = o->records;
    const char *format = attn_records_format(e->in);
    bool table = !strcmp(format, "csv") || !strcmp(format, "tsv");
    *s = (struct attn_sidecar){.total = UINT64_MAX, .header = table && !r->headless, .shard = r->share};
    memset(s->now.keys, '0', sizeof s->now.keys - 1);
    s->synced = s->now;
    if (!s->shard.count)
        s->shard = (struct attn_share){.count = 1};
    int rc = copy(&s->version, ATTN_VERSION, err);
    const struct { char **to; const char *from; } texts[] = {
        {&s->format, e->how.writer->name}, {&s->model, e->digest}, {&s->cpu, e->how.job.cpu}, {&s->command, o->command},
        {&s->input_format, format}, {&s->column, table ? r->column : NULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !rc; i++)
        rc = copy(texts[i].to, texts[i].from, err);
    for (size_t i = 0; i < o->n_options && !rc; i++)
        rc = attn_sidecar_add_option(s, o->options[i].name, o->options[i].value, err);
    return !rc && o->summary ? attn_sidecar_set_summary(s, o->summary, o->path, err) : rc;
}

#include "sinks/sink.h"

#include <string.h>

#include "base/out.h"

static const struct attn_format *const formats[] = {
    &attn_format_text, &attn_format_json, &attn_format_ndjson, &attn_format_csv, &attn_format_tidy, &attn_format_npy,
    &attn_format_npz, &attn_format_term, &attn_format_png, &attn_format_svg, &attn_format_html,
};

const struct attn_format *attn_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

const char *attn_format_list(void)
{
    return "text, json, ndjson, csv, tidy, npy, npz, term, png, svg, html";
}

int attn_sink_stream(struct attn_out **out, const struct attn_sink_job *job, struct attn_err *err)
{
    *out = job->to;
    return job->to ? ATTN_OK : attn_out_open(out, job->path, err);
}

int attn_sink_stream_end(struct attn_out *out, const struct attn_sink_job *job, struct attn_err *err)
{
    return job->to ? ATTN_OK : attn_out_commit(out, err);
}

void attn_sink_stream_close(struct attn_out *out, const struct attn_sink_job *job)
{
    if (!job->to)
        attn_out_close(out);
}

const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job)
{
    return job->cross ? job->cross : job->tokens;
}

const struct attn_tokens *attn_sink_rows(const struct attn_sink_job *job, int act)
{
    return attn_act_kv(act) ? attn_sink_keys(job) : job->tokens;
}

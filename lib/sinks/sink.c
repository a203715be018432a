#include "sinks/sink.h"

#include <string.h>

static const struct attn_format *const formats[] = {
    &attn_format_text, &attn_format_json, &attn_format_csv, &attn_format_tidy, &attn_format_npy, &attn_format_npz,
    &attn_format_term, &attn_format_png, &attn_format_svg, &attn_format_html,
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
    return "text, json, csv, tidy, npy, npz, term, png, svg, html";
}

const struct attn_tokens *attn_sink_keys(const struct attn_sink_job *job)
{
    return job->cross ? job->cross : job->tokens;
}

const struct attn_tokens *attn_sink_rows(const struct attn_sink_job *job, int act)
{
    return attn_act_kv(act) ? attn_sink_keys(job) : job->tokens;
}

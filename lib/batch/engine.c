#include "batch/engine.h"

#include <string.h>

#include "base/err.h"
#include "compute/vec.h"

/* Starts the hash with what the keys of all records have in common. */
static void start_keys(struct attn_engine *e)
{
    struct attn_sha256 *sha = &e->reading.context;
    attn_sha256_start(sha);
    const char *parts[] = {"attn-cli ", ATTN_VERSION, "\n", e->digest, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        attn_sha256_add(sha, parts[i], strlen(parts[i]));
    for (size_t i = 0; i < e->o->n_options; i++) {      /* with their NULs, which separate them */
        attn_sha256_add(sha, e->o->options[i].name, strlen(e->o->options[i].name) + 1);
        attn_sha256_add(sha, e->o->options[i].value, strlen(e->o->options[i].value) + 1);
    }
}

static int open_input(struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    int rc = attn_records_open(&e->in, o->records, err);
    if (!rc)
        rc = attn_team_new(&e->team, o->plan.threads > 0 ? o->plan.threads : attn_threads_available(), err);
    start_keys(e);
    e->reading.model = o->model;
    e->reading.name = o->tokenizer;
    e->reading.encode = o->encode;
    e->reading.n_ctx = e->info.n_ctx;
    e->reading.team = e->team;
    return rc;
}

static const char *token_text(void *reading, int32_t id, size_t *len)
{
    const struct attn_tokenizer *t = ((struct attn_reading *)reading)->tokenizer;
    return t ? attn_tokenizer_text(t, id, len) : NULL;
}

static int open_writing(struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    int rc = attn_capture_new(&e->capture, &e->info, o->select, err);
    if (!rc && (o->summary || !e->how.writer->stream))
        rc = attn_summary_new(&e->summary, o->model, &o->plan.kind, o->select, e->team, err);
    attn_kind_say(&e->kind, &o->plan.kind);
    e->how.job = (struct attn_sink_job){
        .kind = e->kind.of, .model = &e->info, .digest = e->digest, .select = o->select,
        .cpu = o->plan.bf16 ? attn_cpu_target() : attn_vec_target(),
        .command = o->command, .picture = o->picture, .token_text = token_text, .token_ctx = &e->reading};
    e->how.capture = e->capture;
    e->how.summary = e->summary;
    e->runner = (struct attn_runner){.model = o->model, .how = o->plan, .summary = e->summary,
                                     .capture = e->how.writer->stream ? e->capture : NULL};
    attn_runner_start(&e->runner);
    return rc;
}

int attn_engine_open(struct attn_engine *e, const struct attn_batch_opts *o, struct attn_err *err)
{
    const char *format = o->format ? o->format : "ndjson";
    *e = (struct attn_engine){.o = o, .how.writer = attn_writer_find(format)};
    if (!e->how.writer)
        return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of %s", format, attn_writer_list());
    attn_model_info(o->model, &e->info);
    int rc = attn_model_digest(o->model, false, e->digest, err);
    if (!rc)
        rc = open_input(e, err);
    return rc ? rc : open_writing(e, err);
}

void attn_engine_close(struct attn_engine *e)
{
    attn_group_free(&e->group);
    attn_runner_end(&e->runner);
    attn_summary_free(e->summary);
    attn_capture_free(e->capture);
    attn_tokenizer_close(e->reading.tokenizer);
    attn_records_close(e->in);
    attn_team_free(e->team);
}

/* document.c - what the tables of lens, attribution, patching and heads have in common. */
#include "answers/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "sinks/sink_json.h"
#include "table/columns.h"

int attn_subject_begin(struct attn_out *o, const struct attn_subject *r, struct attn_err *err)
{
    struct attn_subject_job j;
    int rc = attn_subject_job(&j, r, err);
    if (!rc)
        attn_doc_opening(o, &j.job, "\n");
    return rc;
}

int attn_subject_job(struct attn_subject_job *j, const struct attn_subject *r, struct attn_err *err)
{
    attn_model_info(r->model, &j->info);
    attn_kind_say(&j->kind, &r->kind);
    j->job = (struct attn_sink_job){.model = &j->info, .digest = j->digest, .text = r->text, .text_len = r->text_len,
                                    .tokens = r->tokens, .kind = j->kind.of, .edits = r->edits};
    return attn_model_digest(r->model, false, j->digest, err);
}

struct attn_token attn_subject_spelled(const struct attn_subject *r, int32_t id)
{
    struct attn_token t = {.id = id};
    t.text = r->tokenizer ? attn_tokenizer_text(r->tokenizer, id, &t.text_len) : NULL;
    t.known = t.text != NULL;
    return t;
}

void attn_subject_token(struct attn_out *o, const struct attn_subject *r, int32_t id)
{
    struct attn_token t = attn_subject_spelled(r, id);
    attn_out_printf(o, "\"id\":%d,\"text\":", (int)id);
    if (t.known)
        attn_out_json(o, t.text, t.text_len);
    else
        attn_out_str(o, "null");
}

void attn_subject_member(struct attn_out *o, const char *name, double x)
{
    attn_out_printf(o, ",\"%s\":", name);
    attn_out_f64(o, x);
}

bool attn_subject_is_table(const char *format)
{
    return attn_table_writes(format) && strcmp(format, "text") != 0;
}

/* ---- names in the place of tokens ---- */

int attn_named_new(struct attn_named *out, size_t n, struct attn_err *err)
{
    *out = (struct attn_named){{n, calloc(n + 1, sizeof *out->tokens.tok)}, calloc(n + 1, sizeof *out->name)};
    return out->tokens.tok && out->name ? ATTN_OK : attn_no_memory(err, NULL, "to name %zu rows or columns", n);
}

void attn_named_set(struct attn_named *a, size_t i, int32_t id, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    attn_vsnprintf(a->name[i], sizeof a->name[i], fmt, args);
    va_end(args);
    a->tokens.tok[i] = (struct attn_token){.id = id, .known = true, .text = a->name[i], .text_len = strlen(a->name[i]),
                                           .raw = ""};
}

void attn_named_free(struct attn_named *a)
{
    free(a->tokens.tok);
    free(a->name);
}

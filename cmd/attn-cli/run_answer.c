#include "run_answer.h"

#include "cli_print.h"
#include "opts_attention.h"

#include "base/err.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

static void write_tokens(FILE *f, const char *name, const struct attn_tokens *tokens)
{
    fprintf(f, ",\n \"%s\": [", name);
    for (size_t i = 0; i < tokens->n; i++) {
        fputs(i ? ",\n  {" : "\n  {", f);
        json_token(f, &tokens->tok[i]);
        fputc('}', f);
    }
    fputc(']', f);
}

/* What the document says before its rows. */
static int write_head(FILE *f, const struct session *s, struct attn_err *err)
{
    fprintf(f, "{\"version\": \"%s\",\n \"model\": ", attn_version());
    if (json_model(f, s->model, err))
        return err->code;
    fputs(",\n \"text\": ", f);
    json_string(f, s->in.text, s->in.len);
    json_kind(f, attention_kind());
    write_tokens(f, "tokens", s->tokens);
    json_edits(f, s->edits.list);
    if (s->cross) {
        fputs(",\n \"context_text\": ", f);
        json_string(f, s->other.text, s->other.len);
        write_tokens(f, "context_tokens", s->cross);
    }
    fputs(",\n \"rows\": [", f);
    return ATTN_OK;
}

static int write_json(struct attn_out *out, const struct run_answer *a, const struct attn_table *t,
                      struct attn_err *err)
{
    char *head = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&head, &len);
    int code = f ? write_head(f, a->of, err) : attn_no_memory(err, NULL, "for a document");
    if (f && fclose(f) && !code)
        code = attn_no_memory(err, NULL, "for a document");
    if (!code)
        attn_out_write(out, head, len);
    free(head);
    if (!code)
        code = attn_table_objects(out, t, "\n  ", "\n  ", err);
    attn_out_str(out, "]}\n");
    return code;
}

int run_answer_write(const struct run_answer *a, const struct attn_table *t, struct attn_err *err)
{
    const char *format = a->format ? a->format : "text";
    struct attn_out *out;
    if (attn_out_open(&out, a->path, err))
        return err->code;
    int code = strcmp(format, "json") ? attn_table_write(out, t, format, err) : write_json(out, a, t, err);
    return attn_out_end(out, code, err);
}

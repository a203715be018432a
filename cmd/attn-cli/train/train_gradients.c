#include "train/train_gradients.h"

#include "input.h"
#include "json.h"
#include "open.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    const char *path;
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;
    struct attn_tokens *tokens;
    int32_t *ids;
    struct attn_info info;
    struct attn_gradient *gradient;
    double loss;
};

static int print_json(const struct session *s, struct attn_err *err)
{
    fputs("{\"version\": \"" ATTN_VERSION "\",\n \"model\": ", stdout);
    if (json_model(stdout, s->model, err))
        return err->code;
    fputs(",\n \"ids\": [", stdout);
    for (size_t i = 0; i < s->tokens->n; i++)
        printf("%s%d", i ? ", " : "", s->tokens->tok[i].id);
    fputs("],\n \"loss\": ", stdout);
    json_real(stdout, s->loss);
    printf(",\n \"n\": %zu,\n \"gradients\": ", s->tokens->n - 1);
    json_text(stdout, s->path);
    printf(",\n \"tensors\": %zu,\n \"norm\": ", s->info.tensors);
    json_real(stdout, attn_gradient_norm(s->gradient));
    fputs("}\n", stdout);
    return ATTN_OK;
}

static int differentiate(struct session *s, const struct input *in, struct attn_err *err)
{
    if (open_model(&s->model, &train_command, err) || input_tokens(&s->tokens, &s->tokenizer, in, err) ||
        input_ids(&s->ids, s->tokens, err) ||
        attn_gradient_new(&s->gradient, s->model, s->tokens->n, (int)common.threads.n, err) ||
        attn_gradient_run(s->gradient, &s->loss, s->ids, &s->tokens->n, 1, err) ||
        attn_gradient_save(s->gradient, s->path, err))
        return err->code;
    attn_model_info(s->model, &s->info);
    return print_json(s, err);
}

static void end(struct session *s)
{
    attn_gradient_free(s->gradient);
    free(s->ids);
    attn_tokens_free(s->tokens);
    attn_tokenizer_close(s->tokenizer);
    attn_model_close(s->model);
}

int train_gradients(const char *path, struct attn_err *err)
{
    struct session s = {.path = path};
    struct input in = {0};
    if (!strcmp(path, "-"))
        return fail(err, ATTN_EUSAGE, "--gradients: - is standard output, where the loss goes: give a file");
    int code = input_read(&in, err);
    if (!code)
        code = differentiate(&s, &in, err);
    end(&s);
    input_free(&in);
    return code;
}

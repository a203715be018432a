/* train.c - the loss of a model on a text, and its gradient by every weight. */
#include "input.h"
#include "json.h"
#include "open.h"
#include "say.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *gradients; } o;

struct session {
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;
    struct attn_tokens *tokens;
    int32_t *ids;
    struct attn_gradients result;
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
    json_real(stdout, s->result.loss);
    printf(",\n \"n\": %zu,\n \"gradients\": ", s->tokens->n - 1);
    json_text(stdout, o.gradients);
    printf(",\n \"tensors\": %zu,\n \"norm\": ", s->result.tensors);
    json_real(stdout, s->result.norm);
    fputs("}\n", stdout);
    return ATTN_OK;
}

static int differentiate(struct session *s, const struct input *in, struct attn_err *err)
{
    if (open_model(&s->model, &train_command, err) || input_tokens(&s->tokens, &s->tokenizer, in, err) ||
        input_ids(&s->ids, s->tokens, err) ||
        attn_gradients(&s->result, o.gradients, s->model, s->ids, s->tokens->n, (int)common.threads.n, err))
        return err->code;
    return print_json(s, err);
}

static void end(struct session *s)
{
    free(s->ids);
    attn_tokens_free(s->tokens);
    attn_tokenizer_close(s->tokenizer);
    attn_model_close(s->model);
}

static int train(struct attn_err *err)
{
    struct session s = {0};
    struct input in = {0};
    if (!o.gradients)
        return fail(err, ATTN_EUSAGE, "what to do? give --gradients FILE");
    if (!strcmp(o.gradients, "-"))
        return fail(err, ATTN_EUSAGE, "--gradients: - is standard output, where the loss goes: give a file");
    int code = input_read(&in, err);
    if (!code)
        code = differentiate(&s, &in, err);
    end(&s);
    input_free(&in);
    return code;
}

static const struct option options[] = {
    {0, "gradients", OPT_FILE, &o.gradients, "FILE", "write the gradient of the loss by each tensor of the model to this "
     ".safetensors file: float32, under the checkpoint's own names and in its own layout; nothing is updated", .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct command train_command = {
    .name = "train",
    .run = train,
    .usage = "train -m DIR|NAME --ids IDS --gradients FILE",
    .summary = "the loss of a model on a text, and its gradient by every weight",
    .about = "With --gradients, prints as JSON the mean over all tokens but the first of -log p(token given those before it), "
             "and writes its gradient: what an optimizer would read, to hold another implementation against.  A tied "
             "embedding is one tensor and gets the sum of what both of its uses ask for.",
    .examples = (const struct pair[]){
        {"attn-cli train -m ./gpt2 --ids 5,1,2,7 --gradients grad.safetensors", "loss and gradients of one sequence"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, encode_options, ids_options, options, thread_options,
                                             general_options, NULL},
};

/* cmd_train.c - trains a model on a text, or computes a model's loss and its gradient. */
#include "attn_tools.h"
#include "cli_print.h"
#include "session.h"
#include "train/cmd_train.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* ---- the gradient alone ------------------------------------------------------------------ */

struct slopes {
    struct session of;
    const char *path;
    int32_t *ids;
    struct attn_info info;
    struct attn_gradient *gradient;
    double loss;
};

static int print_json(const struct slopes *s, struct attn_err *err)
{
    printf("{\"version\": \"%s\",\n \"model\": ", attn_version());
    if (json_model(stdout, s->of.model, err))
        return err->code;
    fputs(",\n \"ids\": [", stdout);
    for (size_t i = 0; i < s->of.tokens->n; i++)
        printf("%s%d", i ? ", " : "", s->of.tokens->tok[i].id);
    fputs("],\n \"loss\": ", stdout);
    json_real(stdout, s->loss);
    printf(",\n \"n\": %zu,\n \"gradients\": ", s->of.tokens->n - 1);
    json_text(stdout, s->path);
    printf(",\n \"tensors\": %zu,\n \"norm\": ", s->info.tensors);
    json_real(stdout, attn_gradient_norm(s->gradient));
    fputs("}\n", stdout);
    return ATTN_OK;
}

static int differentiate(struct slopes *s, struct attn_err *err)
{
    if (session_open(&s->of, &train_command, "json", NULL, SESSION_EMPTY, err) ||
        attn_tokens_to_ids(&s->ids, s->of.tokens, err) ||
        attn_gradient_new(&s->gradient, s->of.model, s->of.tokens->n, (int)common.threads.n, err) ||
        attn_gradient_run(s->gradient, &s->loss, s->ids, &s->of.tokens->n, 1, err) ||
        attn_gradient_save(s->gradient, s->path, err))
        return err->code;
    attn_model_info(s->of.model, &s->info);
    return print_json(s, err);
}

/* Prints the loss of a model on a text and writes its gradient by every weight. */
static int write_gradients(const char *path, struct attn_err *err)
{
    struct slopes s = {.path = path};
    if (!strcmp(path, "-"))
        return attn_fail(err, ATTN_EUSAGE, "--gradients: - is standard output, where the loss goes: give a file");
    int code = differentiate(&s, err);
    attn_gradient_free(s.gradient);
    free(s.ids);
    session_close(&s.of);
    return code;
}

/* ---- the command ------------------------------------------------------------------------- */

static const char *gradients;

/* The first given option of some groups: training and --gradients would silently ignore options of each other's. */
static const struct option *given_among(const struct option *const *groups)
{
    for (; *groups; groups++)
        for (const struct option *row = *groups; row->name; row++)
            if (option_given(row))
                return row;
    return NULL;
}

static int check_purpose(struct attn_err *err)
{
    static const struct option *const training[] = {train_file_options, train_model_options, train_step_options,
                                                    train_run_options, NULL};
    const struct option *row = gradients ? given_among(training) : NULL;
    if (row)
        return attn_fail(err, ATTN_EUSAGE, "--gradients and --%s do not go together: nothing is trained", row->name);
    return ATTN_OK;
}

/* Checked here and not by the rows' OPT_INPUT, because the rules differ: with --gradients -s, -f and --ids are
 * alternatives; without, -f is the text to train on, -s goes beside it, and --ids has no meaning. */
static int check_input(struct attn_err *err)
{
    int n = (common.sentence != NULL) + (common.file != NULL) + (common.ids != NULL);
    if (gradients && n > 1)
        return attn_fail(err, ATTN_EUSAGE, "more than one input: give one of -s, -f and --ids");
    if (gradients && (selection.show || selection.layer || selection.head))
        return attn_fail(err, ATTN_EUSAGE, "--show, --layer and --head are for --watch-every, not for --gradients");
    if (!gradients && common.ids)
        return attn_fail(err, ATTN_EUSAGE, "--ids is for --gradients: a model is trained on a text, -f PATH");
    return ATTN_OK;
}

static int train(struct attn_err *err)
{
    if (check_purpose(err) || check_input(err))
        return err->code;
    /* a usual model is no wish to change it */
    const char *from = common.model == getenv("ATTN_MODEL") ? NULL : common.model;
    if (!from && !gradients && common.as)
        return attn_fail(err, ATTN_EUSAGE, "--as is for the model that a training begins with: give it with -m FILE");
    return gradients ? write_gradients(gradients, err) : train_loop(common.file, from, err);
}

static const struct option options[] = {
    {'f', "file", OPT_FILE, &common.file, "PATH",
     "the text to train on, - is standard input; <|endoftext|>, best alone on a "
     "line, separates documents", .section = OF_INPUT, .flags = OPT_USUAL},
    {.name = NULL},
};

static const struct option gradient_options[] = {
    {0, "gradients", OPT_FILE, &gradients, "FILE",
     "train nothing: print the loss of a model on a text, and write its gradient with respect to each tensor of the "
     "model to this .safetensors file: float32, under the checkpoint's own names and in its own layout",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT},
    {0, "ids", OPT_TEXT, &common.ids, "IDS",
     "with --gradients: token ids in place of a text, as in 5,1,2; they need no tokenizer",
     .section = OF_INPUT},
    {'s', "sentence", OPT_TEXT, &common.sentence, "TEXT", "the sentence to watch; with --gradients the text itself",
     .section = OF_INPUT},
    {0, "raw", OPT_FLAG, &common.raw, NULL, "keep the byte order mark of a file and, with --gradients, its final "
                                            "newline, which is dropped",
     .section = OF_INPUT},
    {.name = NULL},
};

const struct command train_command = {
    .name = "train",
    .schemas = (const char *const[]){"settings", "manifest", "config", "vocabulary", NULL},
    .run = train,
    .product = true,
    .usage = "train -f PATH -o DIR [--steps N] [--n-layer N] [--d-model N] ... [--resume] | train -m DIR|NAME -f PATH "
             "-o DIR ... | train -m DIR|NAME --ids IDS --gradients FILE",
    .section = IN_MODELS,
    .summary = "train a tiny model on text",
    .about = "Trains a language model, in the native format or any --family, on a text, or continues "
             "training an existing one on another text (-m; the original is not changed): AdamW with warm-up and "
             "cosine decay, gradient clipping, and the end of the text held out and measured.  DIR always holds a "
             "complete model for run and generate, loss.csv and loss.png, train.json with all settings, and "
             "checkpoint.safetensors: after SIGINT, SIGTERM or --max-seconds (status 75), or a crash, the same command "
             "with --resume continues, to the same bits.  The same seed gives the same bits at any number of threads.  "
             "With --gradients it trains nothing, prints as JSON the mean over all tokens but the first of -log "
             "p(token given those before it), and writes its gradient, which an optimizer would read, so that another "
             "implementation can be checked.  A tied embedding is one tensor and gets the sum of the gradients of its "
             "two uses.",
    .examples = (const struct pair[]){
        {"attn-cli train -f stories.txt -o ./tiny --steps 5000", "a model with a vocabulary of its own"},
        {"attn-cli train -f stories.txt -o ./tiny --steps 5000 --resume --max-seconds 3600",
         "an hour of it, or one more"},
        {"attn-cli train -f stories.txt -o ./tiny --max-seconds 600",
         "as many steps as ten minutes hold, and how many that were"},
        {"attn-cli train -f stories.txt -o ./gpt --vocab ./tiny --position learned --norm layernorm --mlp gelu_new "
         "--bias true",
         "another kind of model, the same vocabulary"},
        {"attn-cli train -f stories.txt -o ./qwen --family qwen3 --steps 5000",
         "a family's own layout, which its own library reads, too"},
        {"attn-cli train -m ./tiny -f letters.txt -o ./letters --steps 500 --lr 0.0002",
         "continue training an existing model on another text"},
        {"attn-cli train -f stories.txt -o ./tiny --watch-every 100 -s \"The cat sat on the mat\"",
         "see how heads form: plot ./tiny/watch"},
        {"attn-cli generate -m ./tiny -s \"Once upon a time\" -n 50", "what it has learned"},
        {"attn-cli train -m ./gpt2 --ids 5,1,2,7 --gradients grad.safetensors", "loss and gradients of one sequence"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, train_file_options, train_model_options, train_step_options,
                                             train_run_options, select_watched_options, thread_options,
                                             gradient_options, model_options, encode_options, general_options, NULL},
};

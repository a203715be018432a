/* cmd_convert.c - writes any model that can be opened as a Hugging Face directory with safetensors. */
#include "attn_tools.h"
#include "input.h"
#include "opts_output.h"
#include "say.h"

#include "base/err.h"

#include <string.h>

static const char *const types[] = {"f32", "f16", "bf16", NULL};
static struct { const char *path, *type, *as, *vocab, *activation; struct number n_head; bool force; } o;

/* What options say of a file without a config.json; NULL: nothing. */
static const struct attn_lacking *given(void)
{
    static struct attn_lacking g;
    g = (struct attn_lacking){.as = o.as, .vocab = o.vocab, .activation = o.activation,
                              .n_head = o.n_head.given ? (size_t)o.n_head.n : 0};
    return o.as || o.vocab || o.activation || o.n_head.given ? &g : NULL;
}

static int say_step(void *self, uint64_t done, uint64_t all, struct attn_err *err)
{
    (void)err;
    steps_say(self, "%.0f of %.0f MB", (double)done / 1e6, (double)all / 1e6);
    return ATTN_OK;
}

static int convert(struct attn_err *err)
{
    struct attn_model *m;
    struct steps steps = {0};
    static const struct { const char *word, *dtype; } stored[] = {{"f32", "F32"}, {"f16", "F16"}, {"bf16", "BF16"}};
    struct attn_save_opts opts = {.replace = o.force, .step = say_step, .self = &steps};
    size_t tensors = 0;
    for (size_t i = 0; o.type && i < sizeof stored / sizeof *stored; i++)
        opts.dtype = strcmp(o.type, stored[i].word) ? opts.dtype : stored[i].dtype;
    if (!o.path)
        return attn_fail(err, ATTN_EUSAGE, "where to? give a directory with -o DIR");
    if (protect_training(o.path, err) || open_model_with(&m, &convert_command, given(), err))
        return err->code;
    int code = attn_model_save(m, o.path, &opts, &tensors, err);
    erase_line(&steps.shown);
    if (!code)
        say_note("%zu tensors", tensors);
    attn_model_close(m);
    return code;
}

static const char *const formats[] = {"nanogpt", "mingpt", "gpt2", "lecture", "lecture-video", NULL};
static const char *const activations[] = {"gelu", "gelu_new", "relu", "relu2", NULL};

static const struct option options[] = {
    {'o', "output", OPT_DIR, &o.path, "DIR", "the directory to write, which must not hold a model or a training; other "
                                             "files in it are left alone", .flags = 0},
    {0, "type", OPT_CHOICE, &o.type, "TYPE", "write all numbers as f32, f16 or bf16 (default: as they are stored, and "
                                              "quantised ones as f16)", .choices = types, .flags = 0},
    {0, "force", OPT_FLAG, &o.force, NULL, "replace the files of an existing model", .flags = 0},
    {0, "as", OPT_CHOICE, &o.as, "NAME", "what wrote a checkpoint that does not tell: nanogpt, mingpt, gpt2, lecture, "
                                         "or lecture-video, which divides scores by the root of the width (default: as "
                                         "its tensors say)",
     .choices = formats, .section = OF_MODEL},
    {0, "n-head", OPT_NUMBER, &o.n_head, "N", "how many heads a checkpoint has that does not say it", .min = 1,
     .max = INT32_MAX, .section = OF_MODEL},
    {0, "vocab", OPT_FILE, &o.vocab, "PATH", "the vocabulary of a file that has none: characters and their ids as JSON "
                                             "or as nanoGPT's meta.pkl, a tokenizer's file, or a directory with such "
                                             "files", .section = OF_MODEL},
    {0, "activation", OPT_CHOICE, &o.activation, "NAME", "that of the MLP: gelu, gelu_new, relu or relu2 (default: "
                                                         "that of the course)",
     .choices = activations, .section = OF_MODEL},
    {.name = NULL},
};

const struct command convert_command = {
    .name = "convert",
    .run = convert,
    .usage = "convert [-m DIR|FILE|NAME] -o DIR [--type f32|f16|bf16] [--force] [--as NAME] [--n-head N] [--vocab "
             "PATH] [--activation NAME]",
    .section = IN_MODELS,
    .summary = "write a model as a Hugging Face directory with safetensors",
    .schemas = (const char *const[]){"config", "vocabulary", NULL},
    .about = "Reads a model, pytorch_model.bin and several files of weights included, and writes config.json and the "
             "files of its tokenizer as they are, and one model.safetensors: every tensor with its name, type and "
             "bits.  A GGUF file becomes the directory that it was made from: names, shapes and rows in its family's "
             "order, config.json and tokenizer.json from its metadata, quantised tensors as F16.  An output layer that "
             "PyTorch saved as a second name of the embedding is left out, as safe files "
             "may not share bytes.  A model of our own format stays one: other libraries read its tensors, but do not "
             "know its config.json.  A file that a course's program wrote (nanoGPT, minGPT, the lecture \"Let's build "
             "GPT\", llama2.c, llm.c, microgpt) becomes such a directory, too, with what the options say where the "
             "file does not; a directory that MLX has quantised becomes one in float32.  Nothing is overwritten "
             "without --force, and files appear when all of them are complete.",
    .examples = (const struct pair[]){
        {"attn-cli convert -m ./old -o ./new", "from pytorch_model.bin, which only PyTorch reads quickly, to "
                                               "model.safetensors"},
        {"attn-cli convert -m ./sharded -o ./whole", "many files of weights to one"},
        {"attn-cli convert -m model.gguf -o ./model", "a file of llama.cpp to what other libraries read and 'train' "
                                                      "continues"},
        {"attn-cli convert -m model.pt -o ./mine --n-head 6 --vocab chars.json",
         "a state_dict of nanoGPT alone, which says neither heads nor characters"},
        {"attn-cli convert -m tiny -o ./tiny", "a built-in model, to look into it with other tools"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, model_options, general_options, NULL},
};

/* cmd_convert.c - writes any model that can be opened as a Hugging Face directory with safetensors. */
#include "attn_tools.h"
#include "input.h"
#include "opts_output.h"
#include "say.h"

#include "base/err.h"

#include <string.h>

static struct { const char *path, *type; bool force; } o;

static const char *const types[] = {"f32", "f16", "bf16", NULL};

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
    if (protect_training(o.path, err) || open_model(&m, &convert_command, err))
        return err->code;
    int code = attn_model_save(m, o.path, &opts, &tensors, err);
    erase_line(&steps.shown);
    if (!code)
        say_note("%zu tensors", tensors);
    attn_model_close(m);
    return code;
}

static const struct option options[] = {
    {'o', "output", OPT_DIR, &o.path, "DIR", "the directory to write, which must not hold a model or a training; other "
                                             "files in it are left alone", .flags = 0},
    {0, "type", OPT_CHOICE, &o.type, "TYPE", "write all numbers as f32, f16 or bf16 (default: as they are stored, and "
                                              "quantised ones as f16)", .choices = types, .flags = 0},
    {0, "force", OPT_FLAG, &o.force, NULL, "replace the files of an existing model", .flags = 0},
    {.name = NULL},
};

const struct command convert_command = {
    .name = "convert",
    .run = convert,
    .usage = "convert [-m DIR|NAME] -o DIR [--type f32|f16|bf16] [--force]",
    .summary = "write a model as a Hugging Face directory with safetensors",
    .about = "Reads a model, pytorch_model.bin and several files of weights included, and writes config.json and the "
             "files of its tokenizer as they are, and one model.safetensors: every tensor with its name, type and "
             "bits.  A GGUF file becomes the directory that it was made from: names, shapes and rows in its family's "
             "order, config.json and tokenizer.json from its metadata, quantised tensors as F16.  An output layer that PyTorch saved as a second name of the embedding is left out, as safe files "
             "may not share bytes.  A model of our own format stays one: other libraries read its tensors, but do not "
             "know its config.json.  Nothing is overwritten without --force, and files appear when all of them are "
             "complete.",
    .examples = (const struct pair[]){
        {"attn-cli convert -m ./old -o ./new", "from pytorch_model.bin, which only PyTorch reads quickly, to "
                                               "model.safetensors"},
        {"attn-cli convert -m ./sharded -o ./whole", "many files of weights to one"},
        {"attn-cli convert -m model.gguf -o ./model", "a file of llama.cpp to what other libraries read and 'train' "
                                                      "continues"},
        {"attn-cli convert -m tiny -o ./tiny", "a built-in model, to look into it with other tools"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, model_options, general_options, NULL},
};

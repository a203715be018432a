/* cmd_convert.c - writes any model that can be opened as a Hugging Face directory with safetensors. */
#include "attn_tools.h"
#include "input.h"
#include "opts_output.h"
#include "say.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const types[] = {"f32", "f16", "bf16", NULL};
static struct { const char *path, *type, *vocab; bool force; } o;

/* What options say of a file without a config.json, with this list for --as. */
static struct attn_lacking given(const char *as)
{
    return (struct attn_lacking){.as = as, .vocab = o.vocab};
}

/* ---- --as auto --------------------------------------------------------------------------- */

enum { WORDS = 128 };

/* The i-th of all readings: a value of each key that is assumed; false: there are fewer. */
static bool reading_at(char words[WORDS], const struct attn_assumed *assumed, size_t n, size_t i)
{
    *words = '\0';
    for (size_t k = 0; k < n; k++) {
        size_t values = 1, len = strlen(words);
        while (attn_as_value(assumed[k].key, values))
            values++;
        snprintf(words + len, WORDS - len, "%s%s=%s", k ? "," : "", assumed[k].key,
                 attn_as_value(assumed[k].key, i % values));
        i /= values;
    }
    return i == 0;
}

static int loss_of(double *loss, const struct attn_model *m, const struct input *text, struct attn_err *err)
{
    struct attn_tokenizer *t = NULL;
    int32_t *ids = NULL;
    double *logprob = NULL;
    size_t n = 0;
    int code = attn_model_tokenizer(&t, m, err);
    if (!code)
        code = attn_encode_ids(&ids, &n, t, text->text, text->len, NULL, err);
    if (!code && n < 2)
        code = attn_fail(err, ATTN_EFORMAT, "%s: found %zu tokens, expected at least 2 to tell readings apart by their "
                                            "loss", common.file, n);
    if (!code && !(logprob = calloc(n, sizeof *logprob)))
        code = attn_no_memory(err, NULL, "for %zu tokens", n);
    if (!code)
        code = attn_score(logprob, m, ids, n, NULL, err);
    *loss = 0;
    for (size_t i = 1; i < n && !code; i++)
        *loss -= logprob[i] / (double)(n - 1);
    free(logprob);
    free(ids);
    attn_tokenizer_close(t);
    return code;
}

static int try_reading(double *loss, const char *words, const struct input *text, struct attn_err *err)
{
    struct attn_model *m;
    const struct attn_lacking as = given(words);
    if (attn_model_open_with(&m, common.model, &as, err))
        return err->code;
    int code = loss_of(loss, m, text, err);
    attn_model_close(m);
    if (!code)
        say_note("%s: loss %.4f on %s", words, *loss, common.file);
    return code;
}

/* Tries what may be assumed of m on a text; best becomes the words of the reading with the smallest loss. */
static int try_readings(char best[WORDS], const struct attn_model *m, const struct input *text, struct attn_err *err)
{
    size_t n;
    const struct attn_assumed *assumed = attn_model_assumed(m, &n);
    char words[WORDS];
    double least = INFINITY, loss = 0;
    if (!n)
        return attn_fail(err, ATTN_EUSAGE, "nothing is assumed of %s, so --as auto has nothing to try: leave it out",
                         common.model);
    reading_at(best, assumed, n, 0);
    for (size_t i = 0; reading_at(words, assumed, n, i); i++) {
        if (try_reading(&loss, words, text, err))
            return err->code;
        if (loss < least) {
            least = loss;
            memcpy(best, words, WORDS);
        }
    }
    say_note("taken: %s", best);
    return ATTN_OK;
}

static bool is_auto(void) { return common.as && !strcmp(common.as, "auto"); }

static int find_reading(char best[WORDS], struct attn_err *err)
{
    struct input text = {0};
    struct attn_model *m = NULL;
    const struct attn_lacking as = given(NULL);
    int code = input_read(&text, err);
    if (!code)
        code = attn_model_open_with(&m, common.model, &as, err);
    if (!code)
        code = try_readings(best, m, &text, err);
    attn_model_close(m);
    input_free(&text);
    return code;
}

static int check_usage(struct attn_err *err)
{
    if (!o.path)
        return attn_fail(err, ATTN_EUSAGE, "where to? give a directory with -o DIR");
    if (is_auto() && !common.file)
        return attn_fail(err, ATTN_EUSAGE, "--as auto tries readings on a text like those it was trained on: give one "
                                           "with -f FILE");
    if (common.file && !is_auto())
        return attn_fail(err, ATTN_EUSAGE, "-f is the text that --as auto tries: give that, too, or leave it out");
    return ATTN_OK;
}

/* ---- writing it -------------------------------------------------------------------------- */

static int say_step(void *self, uint64_t done, uint64_t all, struct attn_err *err)
{
    (void)err;
    steps_say(self, "%.0f of %.0f MB", (double)done / 1e6, (double)all / 1e6);
    return ATTN_OK;
}

/* What is written is a directory: a name that ends as files of weights do was meant for one. */
static int check_path(struct attn_err *err)
{
    static const char *const files[] = {".gguf", ".safetensors", ".bin", ".pt", ".pth", ".npz", ".json"};
    const char *ending = strrchr(o.path, '.');
    for (size_t i = 0; ending && i < sizeof files / sizeof *files; i++)
        if (!strcasecmp(ending, files[i]))
            return attn_fail(err, ATTN_EUSAGE, "%s: convert writes a directory of Hugging Face's form, and no %s file: "
                                               "-o %.*s", o.path, files[i], (int)(ending - o.path), o.path);
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
    char words[WORDS];
    if (check_usage(err) || check_path(err) || protect_training(o.path, err) ||
        (is_auto() && find_reading(words, err)))
        return err->code;
    const struct attn_lacking as = given(is_auto() ? words : common.as);
    if (open_model_with(&m, &convert_command, &as, err))
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
    {'f', "file", OPT_FILE, &common.file, "FILE", "with --as auto: a text like those that the model was trained on; of "
                                                  "all readings of its file, the one with the smallest loss on it is "
                                                  "taken", .section = OF_INPUT},
    {0, "vocab", OPT_FILE, &o.vocab, "PATH", "the vocabulary of a file that has none: characters and their ids as JSON "
                                             "or as nanoGPT's meta.pkl, a tokenizer's file, or a directory with such "
                                             "files", .section = OF_MODEL},
    {.name = NULL},
};

const struct command convert_command = {
    .name = "convert",
    .run = convert,
    .product = true,
    .model = true,
    .usage = "convert [-m DIR|FILE|NAME] -o DIR [--type f32|f16|bf16] [--force] [--as LIST|auto [-f FILE]] "
             "[--vocab PATH]",
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
             "GPT\", llama2.c, llm.c, microgpt) becomes such a directory, too, which says what --as and --vocab "
             "say, or what was assumed, where the file does not; a directory that MLX has quantised becomes one in "
             "float32.  Nothing is overwritten without --force, and files appear when all of them are complete.",
    .examples = (const struct pair[]){
        {"attn-cli convert -m ./old -o ./new", "from pytorch_model.bin, which only PyTorch reads quickly, to "
                                               "model.safetensors"},
        {"attn-cli convert -m ./sharded -o ./whole", "many files of weights to one"},
        {"attn-cli convert -m model.gguf -o ./model", "a file of llama.cpp to what other libraries read and 'train' "
                                                      "continues"},
        {"attn-cli convert -m model.pt --as heads=6 --vocab chars.json -o ./mine",
         "a state_dict of nanoGPT alone, which says neither heads nor characters"},
        {"attn-cli convert -m lecture.pt --as auto -f input.txt -o ./mine",
         "a model of the lecture: which root are its scores divided by?"},
        {"attn-cli convert -m tiny -o ./tiny", "a built-in model, to look into it with other tools"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, model_options, general_options, NULL},
};

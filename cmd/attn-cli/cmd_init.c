/* cmd_init.c - makes a model directory with seeded weights. */
#include "attn_tools.h"
#include "families.h"
#include "input.h"
#include "opts_output.h"
#include "cli_print.h"
#include "say.h"

#include "base/err.h"
#include "base/folder.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static void explain_families(char help[OPTION_HELP])
{
    char names[OPTION_HELP / 2];
    family_list(names, sizeof names);
    snprintf(help, OPTION_HELP,
             "write a model of this family in Hugging Face's layout, with its own config.json: %s (2 layers of 4 "
             "heads, 64 wide); norms multiply by one, biases are zeros, all else normal with 0.02 (default: our own "
             "format)", names);
}

/* ---- the configuration ------------------------------------------------------------------- */

static struct { const char *path, *config, *family, *draw, *dtype, *vocab, *rng; struct number seed; bool force; } o;

/* A value for each key of config.json; the rows are in `keys`. */
static struct {
    struct number vocab_size, n_ctx, n_layer, n_head, n_kv_head, d_model, d_head, d_value, d_mlp;
    const char *position, *norm, *mlp, *mask, *scale;
    struct real norm_eps, rope_theta;
    const char *norm_weight, *norm_embed, *final_norm, *residual, *output_projection, *bias, *tied, *unembed;
} k;

enum { N_CTX = 1024 };

static const char *const rngs[] = {"avx2", "scalar", NULL};

static void explain_mlps(char help[OPTION_HELP])
{
    char list[OPTION_HELP / 2];
    list_terms(list, sizeof list, mlp_terms(false, "default"), " or ");
    snprintf(help, OPTION_HELP, "the kind of mlp: %s", list);
}

static const struct option keys[] = {
    SIZE_OPTION("vocab-size", &k.vocab_size, "tokens (default: the entries of --vocab)", .section = OF_NEW),
    SIZE_OPTION("n-ctx", &k.n_ctx, "the longest sentence (default: 1024, or 128 for the small families)",
                .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-layer", &k.n_layer, "blocks; without --family this has no default",
     .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-head", &k.n_head, "query heads; without --family this has no default",
     .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("n-kv-head", &k.n_kv_head, "key and value heads (default: one for each query head)", .section = OF_NEW),
    SIZE_OPTION("d-model", &k.d_model, "width of a token's vector; without --family this has no default",
     .section = OF_NEW, .flags = OPT_USUAL),
    SIZE_OPTION("d-head", &k.d_head,
                "width of a head's queries and keys (default: d_model over n_head)", .section = OF_NEW),
    SIZE_OPTION("d-value", &k.d_value, "width of a head's values (default: d_head)", .section = OF_NEW),
    COUNT_OPTION("d-mlp", &k.d_mlp, "width of the mlp; our own format needs it with --mlp", .section = OF_NEW),
    CHOICE_OPTION("position", &k.position, key_positions, "how positions are encoded: none (default), learned or rope",
     .section = OF_NEW),
    CHOICE_OPTION("norm", &k.norm, key_norms, "the norm before each branch: none (default), layernorm or rmsnorm",
     .section = OF_NEW),
    REAL_OPTION("norm-eps", &k.norm_eps, "what the norms add to the variance (default: 1e-5)", .section = OF_NEW),
    SWITCH_OPTION("norm-weight", &k.norm_weight, "norms have weights, and biases with layernorm (default: true)",
                  .section = OF_NEW),
    SWITCH_OPTION("norm-embed", &k.norm_embed, "what enters the first block is normalised, too (default: false)",
                  .section = OF_NEW),
    SWITCH_OPTION("final-norm", &k.final_norm, "the norm after the last block, if there are norms (default: true)",
                  .section = OF_NEW),
    {0, "mlp", OPT_CHOICE, &k.mlp, "KIND", NULL, .choice = mlp_choice, .explain = explain_mlps, .section = OF_NEW},
    CHOICE_OPTION("mask", &k.mask, key_masks, "who sees whom: causal (default), or none (every token sees all)",
     .section = OF_NEW),
    CHOICE_OPTION("scale", &k.scale, key_scales,
                  "how dot products become scores: sqrt (default) divides them by sqrt(d_head), none leaves them as "
                  "they are", .section = OF_NEW),
    SWITCH_OPTION("residual", &k.residual, "add each branch to the stream instead of replacing it (default: false)",
     .section = OF_NEW),
    SWITCH_OPTION("output-projection", &k.output_projection,
                  "an output projection after the heads (default: false)", .section = OF_NEW),
    SWITCH_OPTION("bias", &k.bias, "biases on q, k, v, o and the mlp (default: false)", .section = OF_NEW),
    SWITCH_OPTION("tied", &k.tied, "the output layer is the embedding, transposed (default: true, or what the --family "
                                   "has)",
     .section = OF_NEW),
    SWITCH_OPTION("unembed", &k.unembed, "an output layer, so that there are logits (default: false)",
                  .section = OF_NEW, .flags = OPT_USUAL),
    REAL_OPTION("rope-theta", &k.rope_theta, "base of the rotary frequencies (default: 10000)", .section = OF_NEW),
    {.name = NULL},
};

struct source { char *config, *vocab; size_t config_len, vocab_len; };

/* Counts the entries of {"Life": 0, ...} by the colons outside its strings.  The library parses and checks it later. */
static size_t entries(const char *json)
{
    size_t n = 0;
    bool in_string = false;
    for (; *json; json++)
        if (in_string && *json == '\\' && json[1])
            json++;
        else if (*json == '"')
            in_string = !in_string;
        else if (!in_string && *json == ':')
            n++;
    return n;
}

static void write_config(FILE *f, const struct source *in)
{
    fputs("{\"model_type\": \"attn-decoder\", ", f);
    if (!k.vocab_size.given)
        fprintf(f, "\"vocab_size\": %zu, ", entries(in->vocab));
    if (!k.n_ctx.given)
        fprintf(f, "\"n_ctx\": %d, ", N_CTX);
    opts_write_keys(f, keys);
    fprintf(f, "\"tokenizer\": {\"type\": \"%s\", \"drop\": ", word_rule.chars ? "char" : "word");
    json_text(f, word_rule.drop ? word_rule.drop : "");
    fprintf(f, ", \"lowercase\": %s, \"unknown\": ", word_rule.lowercase ? "true" : "false");
    json_text(f, word_rule.unknown);
    fputs("}}\n", f);
}

/* Asks here for sizes without a default: the library would name keys of a file that the user never wrote. */
static int check_sizes(const struct source *in, struct attn_err *err)
{
    static const struct { const char *what, *option; const struct number *to; } sizes[] = {
        {"blocks", "--n-layer N", &k.n_layer}, {"heads", "--n-head N", &k.n_head},
        {"numbers a token", "--d-model N", &k.d_model}};
    char what[64] = "", give[64] = "";
    if (o.family)
        return ATTN_OK;
    if (!k.vocab_size.given && !in->vocab)
        return attn_fail(err, ATTN_EUSAGE, "how many tokens? give --vocab FILE, --vocab-size N or --config FILE");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!sizes[i].to->given) {
            snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", *what ? ", " : "", sizes[i].what);
            snprintf(give + strlen(give), sizeof give - strlen(give), "%s%s", *give ? " " : "", sizes[i].option);
        }
    return !*what ? ATTN_OK
         : attn_fail(err, ATTN_EUSAGE, "how many %s? give %s, --family NAME or --config FILE", what, give);
}

static int build_config(struct source *in, struct attn_err *err)
{
    if (check_sizes(in, err))
        return err->code;
    FILE *f = open_memstream(&in->config, &in->config_len);
    if (!f)
        return attn_no_memory(err, NULL, "for the configuration");
    int code = ATTN_OK;
    if (o.family)
        code = family_write(f, o.family, keys, in->vocab ? entries(in->vocab) : 0, err);
    else
        write_config(f, in);
    bool bad = ferror(f) != 0;
    bad |= fclose(f) != 0 || !in->config;
    return bad ? attn_no_memory(err, NULL, "for the configuration") : code;
}

/* --config FILE is complete, so options that it would override are refused rather than ignored. */
static int check_usage(struct attn_err *err)
{
    static const struct option *const groups[] = {keys, word_options};
    if (!o.path)
        return attn_fail(err, ATTN_EUSAGE, "where to? give a directory with -o DIR");
    if (o.config && o.family)
        return attn_fail(err, ATTN_EUSAGE, "--config and --family do not go together: the file says it all");
    if (o.family && o.draw)
        return attn_fail(err, ATTN_EUSAGE, "--draw and --family do not go together: recipes draw models of our own "
                                           "format");
    for (const struct option *row = word_options; o.family && row->name; row++)
        if (option_given(row))
            return attn_fail(err, ATTN_EUSAGE, "--family and --%s do not go together: only our own format splits words",
                             row->name);
    for (size_t g = 0; o.config && g < sizeof groups / sizeof *groups; g++)
        for (const struct option *row = groups[g]; row->name; row++)
            if (option_given(row))
                return attn_fail(err, ATTN_EUSAGE,
                                 "--config and --%s do not go together: the file says it all", row->name);
    return ATTN_OK;
}

/* Before its entries are counted, which those of a list are not. */
static int check_object(const struct source *in, struct attn_err *err)
{
    const char *json = in->vocab + attn_utf8_mark(in->vocab, in->vocab_len);
    json += strspn(json, " \t\r\n");
    return *json != '[' ? ATTN_OK
         : attn_fail(err, ATTN_EFORMAT, "%s: is a list, expected an object, as in {\"a\": 0, \"b\": 1}", o.vocab);
}

static int read_source(struct source *in, struct attn_err *err)
{
    if (o.vocab && (file_read(&in->vocab, &in->vocab_len, o.vocab, err) || check_object(in, err)))
        return err->code;
    return o.config ? file_read(&in->config, &in->config_len, o.config, err) : build_config(in, err);
}

static int make(const struct source *in, struct attn_err *err)
{
    struct attn_init_opts opts = {
        .config = in->config, .config_len = in->config_len, .config_name = o.config ? o.config :
                  "options", .draw = o.draw,
        .seed = o.seed.n,
        .scalar = o.rng && !strcmp(o.rng, "scalar"), .dtype = o.dtype ? o.dtype : "F32",
        .vocab = in->vocab, .vocab_len = in->vocab_len, .vocab_name = o.vocab};
    return attn_init(o.path, &opts, err);
}

/* A model that was downloaded or converted has files that init does not make; it cannot be drawn again. */
static int protect_model(const char *dir, struct attn_err *err)
{
    static const char *const signs[] = {"tokenizer.json", "merges.txt", "tokenizer.model", "tokenizer.bin",
                                        "tokenizer_config.json",
                                        "special_tokens_map.json", "added_tokens.json", "generation_config.json",
                                        "pytorch_model.bin",
                                        "pytorch_model.bin.index.json", "model.safetensors.index.json"};
    for (size_t i = 0; !o.force && i < sizeof signs / sizeof *signs; i++)
        if (attn_folder_has(dir, signs[i]) && attn_folder_has(dir, "config.json"))
            return attn_fail(err, ATTN_EUSAGE, "%s: holds a model that init did not make (%s): choose another "
                                               "directory, or replace its weights with --force", dir, signs[i]);
    return ATTN_OK;
}

static int init(struct attn_err *err)
{
    struct source in = {0};
    int code = check_usage(err);
    if (!code)
        code = read_source(&in, err);
    if (!code)
        code = protect_training(o.path, err);
    if (!code)
        code = protect_model(o.path, err);
    if (!code)
        code = make(&in, err);
    if (!code && o.family && o.vocab && !attn_folder_has(o.path, "merges.txt"))
        say_note("models of this family read vocab.json beside merges.txt, which is not there: texts cannot be read "
                 "yet, only --ids");
    free(in.config);
    free(in.vocab);
    return code;
}

static const struct option options[] = {
    {'o', "output", OPT_DIR, &o.path, "DIR", "the model directory to write; it must not hold a training run or, "
     "without --force, a model that was downloaded or converted; other files in it are left alone",
     .section = OF_OUTPUT, .flags = OPT_USUAL},
    {0, "force", OPT_FLAG, &o.force, NULL, "replace the weights of a model that was downloaded or converted",
     .section = OF_OUTPUT},
    {0, "seed", OPT_NUMBER, &o.seed, "N",
     "torch.manual_seed(N) before the first number (default: 0)", .max = UINT64_MAX,
     .flags = OPT_USUAL},
    {0, "draw", OPT_TEXT, &o.draw, "RECIPE", "which tensor gets which numbers, in what order, see below (default: as "
                                             "torch's modules draw them when they are built in the order of the model)",
     .flags = 0},
    {0, "dtype", OPT_CHOICE, &o.dtype, "TYPE",
     "how numbers are stored: F32, F16 or BF16 (default: F32)", .choices = key_dtypes,
     .section = OF_OUTPUT, .flags = OPT_USUAL},
    {0, "rng", OPT_CHOICE, &o.rng, "KIND", "which of torch's code paths (their last bits differ): avx2, which nearly "
                                           "every machine runs, or scalar (default: avx2)", .choices = rngs},
    {0, "family", OPT_CHOICE, &o.family, "NAME", NULL, .choice = family_choice, .explain = explain_families,
     .section = OF_NEW, .flags = OPT_USUAL},
    {0, "vocab", OPT_FILE, &o.vocab, "FILE", "the vocabulary, a JSON object from word to id",
     .section = OF_INPUT, .flags = OPT_USUAL},
    {0, "config", OPT_FILE, &o.config, "FILE", "the whole configuration, in place of the options below",
     .section = OF_NEW, .flags = OPT_USUAL},
    {.name = NULL},
};

const struct command init_command = {
    .name = "init",
    .run = init,
    .product = true,
    .usage = "init -o DIR [--family NAME] [--vocab FILE] [--seed N] [--n-layer N] [--d-model N] ...",
    .section = IN_MODELS,
    .summary = "make a model directory with seeded weights",
    .schemas = (const char *const[]){"config", "vocabulary", NULL},
    .about = "Writes config.json, model.safetensors and, if one is given, vocab.json.  The weights are bit for bit "
             "those that torch draws from the same seed.  Each key of our config.json is an option; with --family, "
             "only the sizes and --tied can be given.",
    .examples = (const struct pair[]){
        {"attn-cli init -o ./tiny --vocab vocab.json --n-layer 2 --n-head 2 --d-model 48", "the words of a vocabulary"},
        {"attn-cli init -o ./tiny --config config.json --seed 7", "an existing configuration"},
        {"attn-cli init -o ./large --family gpt2 --dtype F16",
         "as large as GPT-2, for measurements; no tokenizer, so use --ids"},
        {"attn-cli init -o ./seeded --vocab-size 6 --n-layer 1 --n-head 1 --d-model 3 --d-head 2 --d-value 4 --seed "
         "123 --draw 'embed:randn q:rand k:rand v:rand'", "numbers drawn in an order of your own"},
        {NULL, NULL}},
    .list_title = "Recipes (steps separated by white space or ;, done from left to right)",
    .list = (const struct pair[]){
        {"seed:N", "torch.manual_seed(N)"},
        {"skip:N", "draw N words from the generator and discard them"},
        {"NAME:DIST", "one tensor, or one of every layer, layer 0 first; NAME is embed, pos_embed, q, k, v, o, norm1, "
         "norm2, mlp.in, mlp.gate, mlp.out, norm_final, unembed, one of them with .bias, or a tensor's full name"},
        {"heads(NAME:DIST,...)", "draws q, k, v head by head, each as a matrix of its own"},
        {"DIST", "rand, randn, uniform(A,B), normal(MEAN,STD), linear (as torch.nn.Linear), zeros, ones, identity or "
                 "file(PATH): numbers separated by commas, without labels, one line per input, as tensors are [in, "
                 "out]; /ROWS after a random one draws that many rows and keeps the first"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, keys, word_options, general_options, NULL},
};

#include "attn_tools.h"
#include "table.h"

#include "say.h"

#include "base/err.h"

#include <string.h>

struct common common;
struct word_rule word_rule;
struct selection selection;
struct crossing crossing;
struct sourcing sourcing;
struct record_form record_form;

#define LIST_COMMAND(name) &name##_command,
const struct command *const commands[] = {COMMANDS(LIST_COMMAND) NULL};

const char *const command_sections[] = {
    [IN_SENTENCE] = "One sentence, and every number on the way",
    [IN_HEADS] = "What heads and layers do",
    [IN_TEXTS] = "Texts: their tokens, what comes next, how likely they are",
    [IN_MANY] = "Thousands of texts",
    [IN_TWO] = "Two models or saved runs: where they differ, and why",
    [IN_MODELS] = "Models: which are there, what is in them, new ones",
    [IN_REST] = "This machine's speed, and help",
    NULL,
};

const struct option model_options[] = {
    {'m', "model", OPT_MODEL, &common.model, "DIR|NAME",
     "a path (if it contains a slash) to a model directory, .gguf file or course checkpoint; else the name of a "
     "built-in, installed or cached model, or of one in ATTN_MODEL_PATH (default: the first built-in one)",
     .env = "ATTN_MODEL", .section = OF_MODEL, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "as", OPT_LIST, &common.as, "LIST",
     "what the file of the model before it does not say: scale=head or width (scores are divided by its root), "
     "act=relu, relu2, gelu or gelu_tanh, norm=pre or post, embed=plain or sqrt, heads=N; or what wrote it: nanogpt, "
     "mingpt, gpt2, lecture or lecture-video",
     .choice = attn_as_word, .section = OF_MODEL, .flags = OPT_COUNTS | OPT_AS},
    {.name = NULL},
};

#define SENTENCE_ROW                                                                                                   \
    {'s', "sentence", OPT_TEXT, &common.sentence, "TEXT", "the text itself", .section = OF_INPUT,                      \
     .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL}

const struct option text_options[] = {
    SENTENCE_ROW,
    {'f', "file", OPT_FILE, &common.file, "PATH", "a text in each line of a file, - is standard input; records of "
     "NDJSON, CSV or TSV by the ending of the path; blank lines are skipped", .section = OF_INPUT,
     .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL},
    {0, "raw", OPT_FLAG, &common.raw, NULL, "as --whole, with the byte order mark and the final newline of the file",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option corpus_options[] = {
    SENTENCE_ROW,
    {'f', "file", OPT_FILE, &common.file, "PATH", "read the text from a file, as a whole, - is standard input; a UTF-8 "
     "byte order mark and one final newline are dropped", .section = OF_INPUT,
     .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL},
    {0, "raw", OPT_FLAG, &common.raw, NULL, "keep the byte order mark and the final newline of the file",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

static const char *const bos_choices[] = {"auto", "yes", "no", NULL};

const struct option encode_options[] = {
    {0, "special", OPT_FLAG, &common.special, NULL,
     "recognise special tokens such as <|endoftext|> in the text (default: they "
     "are ordinary text)", .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "bos", OPT_CHOICE, &common.bos, "WHEN", "put the beginning-of-text token in front: auto, yes or no; auto does "
                                                "what the tokenizer's own files say (default: auto)",
     .choices = bos_choices, .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

static const char *const record_inputs[] = {"text", "ndjson", "csv", "tsv", NULL};

const struct option record_options[] = {
    {0, "input", OPT_CHOICE, &record_form.input, "FORMAT",
     "format of the input: text, one sentence per line; ndjson, one {\"id\": ..., \"text\": ...} or {\"ids\": [...]} "
     "per line; csv or tsv (default: by the ending of the path, else text)",
     .choices = record_inputs, .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "column", OPT_TEXT, &record_form.column, "NAME|N",
     "csv, tsv: the column with the text, by name or counted from 0 "
     "(default: the one called text, or the only one)", .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "no-header", OPT_FLAG, &record_form.headless, NULL,
     "csv, tsv: the first row is a sentence, too; without it a note says "
     "so where the only column is not called text",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option ids_options[] = {
    {0, "ids", OPT_TEXT, &common.ids, "IDS", "token ids in place of a text, as in 5,1,2; they need no tokenizer",
     .section = OF_INPUT, .flags = OPT_INPUT | OPT_COUNTS},
    {.name = NULL},
};

const struct option thread_options[] = {
    {'t', "threads", OPT_NUMBER, &common.threads, "N",
     "how many threads compute (default: the cores this process may use); the "
     "numbers are the same for any N", .min = 1, .max = THREADS_MOST, .section = OF_PROCESS},
    {.name = NULL},
};

const char *const compute_choices[] = {"f32", "bf16", NULL};

const struct option compute_options[] = {
    {0, "compute", OPT_CHOICE, &common.compute, "TYPE",
     "type in which products are computed: f32, exact; or bf16, which rounds weights, and the numbers they are "
     "multiplied with, to 8 significant bits and sums in f32, for processors that are faster at it; activations then "
     "change by up to 3 % of their spread, mostly below 1 % (default: f32)",
     .choices = compute_choices, .section = OF_MODEL, .flags = OPT_COUNTS},
    {.name = NULL},
};

bool compute_bf16(void)
{
    return common.compute && !strcmp(common.compute, "bf16");
}

const struct option general_options[] = {
    {'q', "quiet", OPT_FLAG, &common.quiet, NULL, "no notes or progress on standard error, only errors",
     .section = OF_PROCESS},
    {0, "no-pager", OPT_FLAG, &common.no_pager, NULL, "print long reports on a terminal as they are, without a pager",
     .section = OF_PROCESS},
    {'h', "help", OPT_FLAG, &common.help, NULL, "print help and exit", .section = OF_PROCESS},
    {'V', "version", OPT_FLAG, &common.version, NULL,
     "print the version, its commit, and how it was built, and exit", .section = OF_PROCESS},
    {.name = NULL},
};

const struct option word_options[] = {
    {0, "drop", OPT_TEXT, &word_rule.drop, "CHARS", "characters to remove from the text before it is split into words",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "lowercase", OPT_FLAG, &word_rule.lowercase, NULL, "convert words to lower case",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "chars", OPT_FLAG, &word_rule.chars, NULL, "each character is a token, white space too, instead of each word",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "unknown", OPT_TEXT, &word_rule.unknown, "TOKEN", "the token that stands for words that are not in the "
     "vocabulary (default: such a word is an error)", .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

/* The token table, then every activation. */
static const char *show_choice(size_t i)
{
    static char text[ATTN_ACT_TEXT];
    return i == 0 ? "tokens" : i <= ATTN_ACTS ? attn_act_text(text, (int)i - 1) : NULL;
}

#define PLACE_ROWS \
    {0, "layer", OPT_TEXT, &selection.layer, "SPEC", "only these layers, counted from 0: 0,2-4, from the end as in " \
     "-1, last, or all (default: all)", .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL}, \
    {0, "head", OPT_TEXT, &selection.head, "SPEC", "only these query heads: the same, or one place such as L3H0; of " \
     "what has heads, and of k and v the heads that these use (default: all)", \
     .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL}

const struct option place_options[] = {PLACE_ROWS, {.name = NULL}};

/* otherwise: what is shown without --show */
#define SELECT_OPTIONS(otherwise) \
    {0, "show", OPT_LIST, &selection.show, "LIST", "activations to show, separated by commas: full names " \
     "(blocks.0.attn.pattern), wildcards (blocks.*.attn.*), short names (pattern), places (L3H0, L2.mlp.out), names " \
     "of TransformerLens (hook_z), tokens, or * for all (default: " \
     otherwise ")", .choice = show_choice, .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL}, \
    PLACE_ROWS, \
    {.name = NULL}

const struct option select_options[] = {SELECT_OPTIONS("pattern,context; pattern in pictures")};
const struct option select_compared_options[] = {SELECT_OPTIONS("all")};
const struct option select_watched_options[] = {SELECT_OPTIONS("pattern")};

const struct option cross_options[] = {
    {0, "cross", OPT_TEXT, &crossing.text, "TEXT",
     "cross-attention: the sentence looks at all tokens of this other text instead of its own.  The other text runs "
     "through the same blocks with the model's own attention (--scale and --dropout apply to both), and in each layer "
     "the sentence looks at its keys and values; both start at position 0, and nothing is masked",
     .section = OF_INPUT, .flags = OPT_OTHER | OPT_COUNTS},
    {0, "cross-file", OPT_FILE, &crossing.file, "PATH", "the same with the text of a file, - is standard input",
     .section = OF_INPUT, .flags = OPT_OTHER | OPT_COUNTS},
    {0, "cross-ids", OPT_TEXT, &crossing.ids, "IDS", "the same with token ids",
     .section = OF_INPUT, .flags = OPT_OTHER | OPT_COUNTS},
    {.name = NULL},
};

const char *const key_truths[] = {"true", "false", NULL};
const char *const key_positions[] = {"none", "learned", "rope", NULL};
const char *const key_norms[] = {"none", "layernorm", "rmsnorm", NULL};
const char *const key_masks[] = {"causal", "none", NULL};
const char *const key_scales[] = {"sqrt", "none", NULL};
const char *const key_dtypes[] = {"F32", "F16", "BF16", NULL};

enum { MLPS_MOST = 32 };

const struct pair *mlp_terms(bool gated, const char *none)
{
    static struct pair list[MLPS_MOST + 1];
    size_t n = 0;
    for (const struct attn_mlp_row *m = NULL; (m = attn_mlp_next(m)) && n < MLPS_MOST;)
        if (m->own && (!gated || m->gated))
            list[n++] = (struct pair){m->name, strcmp(m->name, "none") ? m->note : none};
    list[n] = (struct pair){NULL, NULL};
    return list;
}

const char *mlp_choice(size_t i) { return mlp_terms(false, NULL)[i].term; }

const char tool_summary[] = "run GPT-style decoders and see everything attention does";

const char tool_description[] =
    "Loads a JSON vocabulary and binary weights, turns a sentence into tokens, embeds it, runs stacked causal "
    "multi-head attention blocks, and shows or dumps every number on the way: attention matrices and context vectors "
    "first.  Data goes to standard output, everything else to standard error.  Options may come in any order after the "
    "command; \"-\" is standard input or output; all indices count from 0.  The same command gives the same bits at "
    "any number of threads.";

const struct pair tool_examples[] = {
    {"attn-cli run -s \"Life is short, eat dessert first\"", "who attends to whom, and the context vectors, with the "
     "model built into the binary"},
    {"attn-cli run -m ./gpt2 -f note.txt --show pattern --layer 5 --format csv -o out", "every attention matrix of one "
     "layer as a CSV file"},
    {"attn-cli tokenize -s \"eat dessert first\" --format ids", "text to token ids"},
    {"attn-cli info -m ./gpt2 --check", "what a model is, and whether all of its weights are finite"},
    {NULL, NULL},
};

const struct pair tool_environment[] = {
    {"ATTN_MODEL", "the model when -m is not given"},
    {"ATTN_MODEL_PATH", "directories that hold model directories, separated by colons"},
    {"NO_COLOR", "when it is not empty, no output is coloured"},
    {"ATTN_PAGER, PAGER", "the pager for reports longer than the terminal (default: less, with LESS=FRX unless LESS is "
                          "set); empty or cat: nothing"},
    {"LIBXSMM_TARGET", "the instruction set to compute with: hsw is AVX2, generic is none in particular (default: the "
                       "machine's best)"},
    {"ATTN_SIMD", "the same for what is computed without libxsmm: avx512, avx2, or generic, which has no kernels of "
                  "libxsmm and other last digits; on AArch64 neon or generic (default: the machine's best)"},
    {NULL, NULL},
};

const struct pair tool_files[] = {
    {"DIR/config.json", "sizes and kind of a model"},
    {"DIR/vocab.json", "its vocabulary: an object from token to id"},
    {"DIR/merges.txt", "beside it: the rules of byte-level BPE, as GPT-2 has them"},
    {"DIR/tokenizer.json", "or all of a tokenizer, as Hugging Face writes it"},
    {"DIR/tokenizer.model", "or as sentencepiece writes it; DIR/tokenizer.bin, as llama2.c does"},
    {"DIR/tokenizer_config.json",
     "which token begins a text, and whether it is added; by which pattern merges.txt cuts a text"},
    {"DIR/model.safetensors", "its weights"},
    {"DIR/pytorch_model.bin", "its weights as PyTorch saved them, where there is no model.safetensors"},
    {NULL, NULL},
};

const struct pair tool_statuses[] = {
    {"0", "success, also when the reader closes the pipe"},
    {"1", "bad input, model or environment, or a failed write; diff: the two differ"},
    {"2", "wrong usage; diff: any error"},
    {"3", "batch, heads: done, but some records failed"},
    {"75", "batch, train: ended early at a record or checkpoint, by SIGINT, SIGTERM or --max-seconds; --resume "
           "continues"},
    {"130, 143", "ended by SIGINT, SIGTERM; batch, train: by a second one"},
    {NULL, NULL},
};

static const struct option *option_of(const struct command *c, const char *name)
{
    const struct option *o = NULL;
    for (size_t i = 0; (o = option_at(c, i)) && strcmp(o->name, name);)
        i++;
    return o;
}

/* The first example of a command that uses the option; NULL: none does. */
static const char *example_of(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; commands[i]; i++)
        for (const struct pair *e = commands[i]->examples; e->term && option_of(commands[i], name); e++)
            for (const char *at = e->term; (at = strstr(at, " --")); at += 3)
                if (!strncmp(at + 3, name, len) && strchr(" =", at[3 + len]))
                    return e->term;
    return NULL;
}

/* An option in place of a command, as in `attn-cli ablate`: the first command that has it, and how it is used. */
static int option_as_command(const char *name, struct attn_err *err)
{
    const struct option *o = NULL;
    size_t i = 0;
    while (commands[i] && !(o = option_of(commands[i], name)))
        i++;
    if (!o)
        return ATTN_OK;
    const char *example = example_of(name), *of = option_of(&help_command, name) ? "" : commands[i]->name;
    return attn_fail(err, ATTN_EUSAGE, "unknown command '%s': it is an option: attn-cli %s%s--%s%s%s%s%s", name, of,
                     *of ? " " : "", name, o->arg ? " " : "", o->arg ? o->arg : "", example ? ", as in " : "",
                     example ? example : "");
}

/* What people look for under other names, and the line that does it. */
static const struct pair wishes[] = {
    {"dump", "attn-cli run TEXT --show '*' -o all.npz"}, {"cache", "attn-cli run TEXT --show '*' -o all.npz"},
    {"embed", "attn-cli run TEXT --show embed"}, {"embedding", "attn-cli run TEXT --show embed"},
    {"logits", "attn-cli run TEXT --show logits"}, {"hidden", "attn-cli run TEXT --show resid_post"},
    {"list", "attn-cli models, or --show '*' for activations"}, {"ls", "attn-cli models"},
    {"mean-ablate", "--ablate mean:PLACES"}, {"zero-ablate", "--ablate PLACES"}, {"knockout", "--ablate PLACES"},
    {"hooks", "--show NAMES and --edit 'NAME = VALUE'"},
    {NULL, NULL},
};

const char *wish_of(const char *name)
{
    for (const struct pair *w = wishes; w->term; w++)
        if (!strcmp(w->term, name))
            return w->text;
    return NULL;
}

const struct command *command_find(const char *name, const char *const *words, struct attn_err *err)
{
    struct nearest near = {.typed = name};
    for (size_t i = 0; commands[i]; i++) {
        if (!strcmp(commands[i]->name, name))
            return commands[i];
        nearest_offer(&near, commands[i]->name);
    }
    for (; words && *words; words++)
        nearest_offer(&near, *words);
    if (wish_of(name)) {
        attn_fail(err, ATTN_EUSAGE, "unknown command '%s': type %s", name, wish_of(name));
        return NULL;
    }
    if (!near.means && !near.best && option_as_command(name, err))
        return NULL;
    attn_fail(err, ATTN_EUSAGE, "unknown command '%s'%s", excerpt(name).text, nearest_hint(&near, "").text);
    return NULL;
}

const struct option *option_at(const struct command *c, size_t i)
{
    for (const struct option *const *g = c->groups; *g; g++)
        for (const struct option *o = *g; o->name; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

const char *option_choice(const struct option *o, size_t i)
{
    return o->choice ? o->choice(i) : o->choices[i];
}

const char *option_help(const struct option *o)
{
    static char help[OPTION_HELP];
    if (o->explain)
        o->explain(help);
    return o->explain ? help : o->help;
}

void list_terms(char *out, size_t size, const struct pair *list, const char *last)
{
    size_t n = 0;
    *out = '\0';
    for (const struct pair *p = list; p->term && n < size; p++) {
        const char *before = p == list ? "" : p[1].term ? ", " : last, *words = p->text;
        n += (size_t)snprintf(out + n, size - n, "%s%s%s%s%s", before, p->term, words ? " (" : "", words ? words : "",
                              words ? ")" : "");
    }
}

static const char *first_of(const struct many *list, const struct option *o)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].of == o)
            return list->item[i].value;
    return NULL;
}

const char *option_given(const struct option *o)
{
    switch (o->type) {
    case OPT_FLAG: return *(const bool *)o->to ? "" : NULL;
    case OPT_NUMBER: return ((const struct number *)o->to)->given;
    case OPT_REAL: return ((const struct real *)o->to)->given;
    case OPT_MANY:
    case OPT_MANY_FILES: return first_of(o->to, o);
    default: return *(const char *const *)o->to;
    }
}

bool option_each(struct given *out, const struct command *c, const struct option *o, size_t i)
{
    const struct option *first = o;
    const struct many *list = o->to;
    if (o->type != OPT_MANY && o->type != OPT_MANY_FILES) {
        *out = (struct given){o, i ? NULL : option_given(o)};
        return out->value;
    }
    for (size_t k = 0; (first = option_at(c, k)) && first->to != o->to; k++)
        continue;
    if (first != o || i >= list->n)
        return false;
    *out = list->item[i];
    return true;
}

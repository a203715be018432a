/* topics.c - what several commands share, each on a screen of its own: attn-cli help texts, places and so on. */
#include "help.h"
#include "opts_attention.h"
#include "opts_edits.h"
#include "run_page.h"

#include <string.h>

static const struct pair *texts(void)
{
    static const struct pair list[] = {
        {"TEXT...", "arguments, each in quotes; several are several texts.  After -- they may begin with a dash.  One "
         "that names a file is refused"},
        {"-s TEXT", "the same, any number of times"},
        {"-f FILE", "a text in each line, - is standard input.  Blank lines are skipped"},
        {"FILE.ndjson", "one {\"text\": \"...\"} or {\"ids\": [5, 1]} in each line, with or without an \"id\""},
        {"FILE.csv, FILE.tsv", "rows under a header: the column called text, or the only one; --column names another.  "
         "--input says the format where the path does not end in it"},
        {"... | attn-cli", "a pipe is read where no text is given; heads, info, diff and train read one with -f -"},
        {"--whole, --nth K", "the file as one text; only text K of many, counted from 0"},
        {"--ids 5,1,2", "token ids in place of a text; also '5 1 2' and '[5, 1, 2]'"},
        {"answers", "to several texts are one table whose first column is record, the number of the text; JSON has a "
         "list of records; for people they follow one another.  A text that cannot be run has its reason, and the exit "
         "status is 3"},
        {NULL, NULL}};
    return list;
}

static const struct pair *places(void)
{
    static const struct pair list[] = {
        {"L3, L-1, L0-2", "a layer, counted from 0; the last; the first three"},
        {"L3H0, L*H-1", "head 0 of layer 3; the last head of each layer"},
        {"L3.mlp.out, L3H0.q", "an activation of a layer, or of a head"},
        {"pattern, mlp.*", "an activation in each layer, by its short name or with wildcards; full names are as "
         "blocks.3.attn.pattern.  'attn-cli help activations' lists them"},
        {"--layer, --head", "0,2-4, from the end -1, last, or all; --head also one place such as L3H0"},
        {"[pos=-1], [key=0]", "of edits: some rows, keys, columns or heads; see 'attn-cli help edits'"},
        {"hook_z, blocks.3.hook_mlp_out", "names of TransformerLens"},
        {"model.layers.3.mlp, transformer.h.3.attn.c_proj", "modules of Hugging Face's models, for what comes out of "
         "them.  Names whose numbers no activation here has are refused with the reason"},
        {NULL, NULL}};
    return list;
}

static const struct pair *tables(void)
{
    static const struct pair list[] = {
        {"text", "aligned columns for people, numbers rounded"},
        {"csv", "RFC 4180 with a header; all digits, and nothing where there is no number.  Of activations it is a file for "
         "each matrix, and the long table of all of them has a name of its own"},
        {"tsv", "the same with tabs, never quoted: a tab, a line end and a backslash in a text are \\t, \\n and \\\\"},
        {"ndjson", "an object for each row"},
        {"json", "a document, with the model and what was asked, and the rows in a list"},
        {"md", "a table of Markdown"},
        {"-o PATH", "the ending says the format, also of several paths: -o x.csv -o x.json; directories are made.  A "
         "--format that contradicts it is refused"},
        {"record", "the first column of answers to several texts: the number of the text, from 0"},
        {"numbers", "are the shortest that read back the same; counts of layers, heads, positions and records begin at "
         "0"},
        {NULL, NULL}};
    return list;
}

static const struct pair *edits(void) { return edit_terms; }

const struct help_topic help_topics[HELP_TOPICS] = {
    {"texts", "TEXTS", "Texts that a command is asked about", nth_options, texts, false},
    {"places", "PLACES", "Places: layers, heads and activations", place_options, places, false},
    {"activations", "ACTIVATIONS", "Activations (short names; H heads, T tokens, N layers)", NULL, run_activations,
     false},
    {"edits", "EDITS", edit_title, edit_options, edits, true},
    {"kinds", "ATTENTION", attention_title, attention_options, attention_kinds, true},
    {"tables", "TABLES", "Tables and where they go", NULL, tables, false},
};
const char *const help_words[] = {"all", "texts", "places", "activations", "edits", "kinds", "tables", NULL};
_Static_assert(sizeof help_words / sizeof *help_words == HELP_TOPICS + 2, "each topic is one of the words");
